package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// ledger is what the bookkeepers of an organization know about its books.
type ledger struct {
	mu         sync.Mutex
	accounts   []string
	entries    map[string]bookedEntry // by id, as they were answered last
	numbers    map[string]bool        // of all entries that were ever created
	closed     map[string]string      // by period id: the hash of the closing, or empty if it was not read yet
	reopenings map[string]int         // by period id: how often it was reopened
	months     map[string]string      // keys by period id
	closings   int
}

// bookedEntry is an entry as the service returns it.
type bookedEntry struct {
	ID       string  `json:"id"`
	Number   string  `json:"sequence_number"`
	Status   string  `json:"status"`
	Date     string  `json:"accounting_date"`
	PeriodID *string `json:"accounting_period_id"`
	Memo     *string `json:"memo"`
	Chain    struct {
		Previous *string `json:"previous_entry_id"`
		Next     *string `json:"next_entry_id"`
	} `json:"reversal_chain"`
	Lines []struct {
		LedgerAccountID string `json:"ledger_account_id"`
		CreditOrDebit   string `json:"credit_or_debit"`
		Amount          string `json:"amount"`
	} `json:"lines"`
}

// bookkeeper posts and changes entries of its own in books that all bookkeepers share. The first one also closes periods.
type bookkeeper struct {
	sender
	*ledger
	first bool
	own   []string // entries
}

const bookkeepers = 5

// newTenant creates an organization while no fault happens.
func (w *world) newTenant(name string) *apitest.Tenant {
	w.Helper()
	f, err := w.nodes[0].service.App.Org.Create(w.Context(), organization.CreateParams{Name: name, Email: name + "@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		w.Fatal(err)
	}
	return &apitest.Tenant{Created: f, Key: f.KeyText.Reveal()}
}

// newBookkeepers creates an organization with accounts and entries in several months.
func (w *world) newBookkeepers() (out []user) {
	n := w.newTenant("books")
	l := &ledger{entries: map[string]bookedEntry{}, numbers: map[string]bool{}, closed: map[string]string{}, reopenings: map[string]int{},
		months: map[string]string{}}
	r := w.random(0)
	for i := range bookkeepers {
		b := &bookkeeper{sender: sender{world: w, key: n.Key, name: fmt.Sprint("bookkeeper ", i)}, ledger: l, first: i == 0}
		out = append(out, b)
		if !b.first {
			continue
		}
		for j := range 4 {
			b.do(r, &operation{method: http.MethodPost, path: "/v1/ledger-accounts", body: fmt.Sprintf(`{"name":"Account %d","type":"Asset"}`, j),
				known: func(a apitest.Answer) { l.accounts = append(l.accounts, decode[withID](b.world, a.Body).ID) }})
			b.settle(r)
		}
	}
	return out
}

// withID is a record of which only the id is of interest.
type withID struct {
	ID string `json:"id"`
}

// decode returns the data of an answer.
func decode[T any](w *world, body []byte) T {
	w.Helper()
	var out struct{ Data T }
	if err := json.Unmarshal(body, &out); err != nil {
		w.Errorf("seed %d, round %d: %s: %v", w.seed, w.round, body, err)
	}
	return out.Data
}

func (b *bookkeeper) act(r *rand.Rand) {
	for range 1 + r.IntN(3) {
		if b.pending != nil {
			return
		}
		b.operate(r)
	}
}

// operate performs one random operation.
func (b *bookkeeper) operate(r *rand.Rand) {
	if b.first && r.IntN(2) == 0 {
		b.closeOrReopen(r)
		return
	}
	var e bookedEntry
	if len(b.own) > 0 {
		b.ledger.mu.Lock()
		e = b.entries[b.own[r.IntN(len(b.own))]]
		b.ledger.mu.Unlock()
	}
	act := func(action, body string, allowed ...int) {
		o := b.posting("/v1/journal-entries/"+e.ID+"/"+action, body, append(allowed, http.StatusOK, http.StatusCreated)...)
		know := o.known
		o.known = func(a apitest.Answer) {
			if know(a); a.Status < 300 && (action == "reverse" || action == "correct") {
				b.ledger.mu.Lock()
				defer b.ledger.mu.Unlock()
				e.Chain.Next = &e.ID // somebody follows
				b.entries[e.ID] = e
			}
		}
		b.do(r, o)
	}
	switch n := r.IntN(20); {
	case e.ID == "" || n < 8:
		b.do(r, b.posting("/v1/journal-entries", b.randomEntry(r), http.StatusCreated))
	case n < 11:
		b.do(r, b.posting("/v1/journal-entries/batch", `{"journal_entries":[`+b.randomEntry(r)+","+b.randomEntry(r)+`]}`, http.StatusCreated))
	case e.Status == "draft" && n < 14:
		b.delete(r, e)
	case e.Status == "draft":
		act("post", "")
	case e.Chain.Next != nil || e.Chain.Previous != nil:
		b.get(r, "/v1/journal-entries/"+e.ID)
	case n < 14 && e.Date >= b.today.Format("2006-01"): // for the same reason
		act("unpost", "", http.StatusConflict) // its period may be closed
	case n < 17:
		act("reverse", `{"memo":"a mistake"}`)
	default:
		act("correct", `{"memo":"`+fmt.Sprint("corrected ", b.sent)+`"}`)
	}
}

// randomEntry returns the body of an entry in one of the last months. Drafts are of today, because they keep their month from being closed.
func (b *bookkeeper) randomEntry(r *rand.Rand) string {
	from, to := r.IntN(len(b.accounts)), r.IntN(len(b.accounts))
	amount := fmt.Sprintf("%d.%02d", r.IntN(5000), 1+r.IntN(99))
	line := func(account int, side string) string {
		return fmt.Sprintf(`{"ledger_account_id":"%s","credit_or_debit":"%s","amount":"%s","currency":"USD"}`, b.accounts[account], side, amount)
	}
	date, status := b.today.AddDate(0, 0, -r.IntN(100)), "posted"
	if r.IntN(4) == 0 {
		date, status = b.today, "draft"
	}
	return fmt.Sprintf(`{"accounting_date":"%s","status":"%s","memo":"%s %d","lines":[%s,%s]}`, date.Format(time.DateOnly), status,
		b.name, b.sent, line(from, "DEBIT"), line(to, "CREDIT"))
}

// posting returns an operation that creates or changes entries. An answer with one of the statuses is expected.
func (b *bookkeeper) posting(path, body string, allowed ...int) *operation {
	closedBefore := b.closedPeriods()
	return &operation{method: http.MethodPost, path: path, body: body, known: func(a apitest.Answer) {
		if !slices.Contains(allowed, a.Status) {
			b.Errorf("seed %d, round %d: POST %s %s is answered %d %s", b.seed, b.round, path, body, a.Status, a.Body)
		}
		if a.Status >= 300 {
			return
		}
		var made []bookedEntry
		if strings.HasSuffix(path, "/batch") {
			made = decode[[]bookedEntry](b.world, a.Body)
		} else {
			made = []bookedEntry{decode[bookedEntry](b.world, a.Body)}
		}
		for _, e := range made {
			b.know(e, closedBefore)
		}
	}}
}

// know remembers an entry as it was answered.
func (b *bookkeeper) know(e bookedEntry, closedBefore map[string]int) {
	b.ledger.mu.Lock()
	defer b.ledger.mu.Unlock()
	if _, known := b.entries[e.ID]; !known {
		if b.numbers[e.Number] {
			b.Errorf("seed %d, round %d: %s has the number %s, which another entry has or had", b.seed, b.round, e.ID, e.Number)
		}
		b.numbers[e.Number] = true
		b.own = append(b.own, e.ID)
	}
	b.entries[e.ID] = e
	if e.Status != "posted" || e.PeriodID == nil {
		return
	}
	times, before := closedBefore[*e.PeriodID]
	if _, still := b.closed[*e.PeriodID]; before && still && times == b.reopenings[*e.PeriodID] {
		b.Errorf("seed %d, round %d: %s was posted to %s, which was closed before", b.seed, b.round, e.Number, b.months[*e.PeriodID])
	}
}

// closedPeriods returns the periods that are known to be closed, with how often each was reopened so far.
func (b *bookkeeper) closedPeriods() map[string]int {
	b.ledger.mu.Lock()
	defer b.ledger.mu.Unlock()
	out := map[string]int{}
	for id := range b.closed {
		out[id] = b.reopenings[id]
	}
	return out
}

// delete deletes a draft. Sent again, it is not found.
func (b *bookkeeper) delete(r *rand.Rand, e bookedEntry) {
	b.do(r, &operation{method: http.MethodDelete, path: "/v1/journal-entries/" + e.ID, known: func(a apitest.Answer) {
		if a.Status != http.StatusOK && a.Status != http.StatusNotFound {
			b.Errorf("seed %d, round %d: DELETE of a draft is answered %d %s", b.seed, b.round, a.Status, a.Body)
		}
		b.own = slices.DeleteFunc(b.own, func(id string) bool { return id == e.ID })
		b.ledger.mu.Lock()
		defer b.ledger.mu.Unlock()
		delete(b.entries, e.ID)
	}})
}

// periodView is a period as the service returns it.
type periodView struct {
	ID, Key, Status string
}

// closeOrReopen closes the first open period that is over, or reopens the last closed one.
func (b *bookkeeper) closeOrReopen(r *rand.Rand) {
	body, known := b.get(r, "/v1/accounting-periods?limit=100")
	if !known {
		return
	}
	all := b.periods(body)
	first := slices.IndexFunc(all, func(p periodView) bool { return p.Status != "closed" })
	if first > 0 && r.IntN(3) == 0 {
		b.reopen(r, all[first-1])
	} else if first >= 0 && all[first].Key < b.today.AddDate(0, 0, -1).Format("2006-01") {
		b.close(r, all[first])
	}
}

// periods returns the periods of an answer, the earliest first.
func (b *bookkeeper) periods(body []byte) []periodView {
	all := decode[[]periodView](b.world, body)
	slices.SortFunc(all, func(x, y periodView) int { return cmp.Compare(x.Key, y.Key) })
	b.ledger.mu.Lock()
	defer b.ledger.mu.Unlock()
	for _, p := range all {
		b.months[p.ID] = p.Key
	}
	return all
}

func (b *bookkeeper) close(r *rand.Rand, p periodView) {
	b.do(r, &operation{method: http.MethodPost, path: "/v1/accounting-periods/" + p.ID + "/close", body: `{}`, known: func(a apitest.Answer) {
		switch a.Status {
		case http.StatusOK:
			b.ledger.mu.Lock()
			defer b.ledger.mu.Unlock()
			b.closed[p.ID] = ""
			b.closings++
		case http.StatusConflict: // there are drafts in it
		default:
			b.Errorf("seed %d, round %d: the close of %s is answered %d %s", b.seed, b.round, p.Key, a.Status, a.Body)
		}
	}})
}

func (b *bookkeeper) reopen(r *rand.Rand, p periodView) {
	b.ledger.mu.Lock()
	delete(b.closed, p.ID) // from now on it may be open
	b.reopenings[p.ID]++
	b.ledger.mu.Unlock()
	b.do(r, &operation{method: http.MethodPost, path: "/v1/accounting-periods/" + p.ID + "/reopen", body: `{"reason":"forgotten"}`,
		known: func(a apitest.Answer) {
			if a.Status != http.StatusOK {
				b.Errorf("seed %d, round %d: reopening %s is answered %d %s", b.seed, b.round, p.Key, a.Status, a.Body)
			}
		}})
}

// check compares the entries, their numbers, the balances and the closed periods with what was answered.
func (b *bookkeeper) check() {
	b.Helper()
	if !b.first {
		return
	}
	stored := map[string]bookedEntry{}
	for cursor := ""; ; {
		var page struct {
			Data       []bookedEntry `json:"data"`
			NextCursor *string       `json:"next_cursor"`
		}
		if err := json.Unmarshal(b.mustGet("/v1/journal-entries?limit=100"+cursor), &page); err != nil {
			b.Fatal(err)
		}
		for _, e := range page.Data {
			stored[e.ID] = e
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	b.addNeighbors(stored)
	for id, e := range b.entries {
		if x, y := apitest.JSON(b.T, lasting(e)), apitest.JSON(b.T, lasting(stored[id])); x != y {
			b.Errorf("seed %d, round %d: an entry was answered as\n%s\nand is\n%s", b.seed, b.round, x, y)
		}
	}
	for id, e := range stored {
		if _, known := b.entries[id]; !known {
			b.Errorf("seed %d, round %d: %s %s is of nobody's making", b.seed, b.round, e.Number, id)
		}
	}
	for i := range len(b.numbers) {
		if number := "JE-" + strconv.Itoa(i+1); !b.numbers[number] {
			b.Errorf("seed %d, round %d: of %d entries none has the number %s", b.seed, b.round, len(b.numbers), number)
		}
	}
	b.checkBalances()
	b.checkClosed()
}

// lasting returns an entry without what may change although nobody changes the entry: its chain continues when another one is made from
// it, and a draft has a period as soon as its month has one.
func lasting(e bookedEntry) bookedEntry {
	e.Chain.Next = nil
	if e.Status == "draft" {
		e.PeriodID = nil
	}
	return e
}

// addNeighbors adds the reversals that were made with corrections, which no answer contains: they are the entries before a correction.
func (b *bookkeeper) addNeighbors(stored map[string]bookedEntry) {
	for _, e := range slices.Collect(maps.Values(b.entries)) {
		if e.Chain.Previous == nil {
			continue
		}
		reversal, found := stored[*e.Chain.Previous]
		if _, known := b.entries[reversal.ID]; found && !known {
			b.entries[reversal.ID], b.numbers[reversal.Number] = reversal, true
		}
	}
}

// checkBalances compares the trial balance of each month with the sum of the lines that were answered.
func (b *bookkeeper) checkBalances() {
	b.Helper()
	type cell struct{ Debits, Credits string }
	type balances struct {
		Balances map[string]map[string]cell `json:"balances"`
	}
	all := b.periods(b.mustGet("/v1/accounting-periods?limit=100"))
	got := decode[balances](b.world, b.mustGet("/v1/reports/trial-balance?from_inception=true&end_date="+all[len(all)-1].Key+"-01"))
	want := map[string][2]money.Decimal{}
	for _, e := range b.entries {
		if e.Status != "posted" {
			continue
		}
		for _, line := range e.Lines {
			amount, err := money.Parse(line.Amount)
			if err != nil {
				b.Fatal(err)
			}
			at := line.LedgerAccountID + " " + b.months[*e.PeriodID]
			sums := want[at]
			side := map[string]int{"DEBIT": 0, "CREDIT": 1}[line.CreditOrDebit]
			sums[side] = sums[side].Add(amount)
			want[at] = sums
		}
	}
	for account, months := range got.Balances {
		for month, c := range months {
			sums := want[account+" "+month]
			delete(want, account+" "+month)
			text := sums[0].Fixed("USD") + " " + sums[1].Fixed("USD")
			if slices.Contains(b.accounts, account) && text != c.Debits+" "+c.Credits {
				b.Errorf("seed %d, round %d: account %s has debits and credits of %s %s in %s, the answers say %s", b.seed, b.round, account,
					c.Debits, c.Credits, month, text)
			}
		}
	}
	for at, sums := range want {
		b.Errorf("seed %d, round %d: the trial balance has nothing for %s, the answers say %v", b.seed, b.round, at, sums)
	}
}

// checkClosed compares the closings of periods that have remained closed with those read before.
func (b *bookkeeper) checkClosed() {
	b.Helper()
	for id, before := range b.closed {
		type entity struct {
			Closing *struct{ ID, Hash string }
		}
		all := decode[struct {
			LegalEntities []entity `json:"legal_entities"`
		}](b.world, b.mustGet("/v1/accounting-periods/"+id+"/close-package")).LegalEntities
		if len(all) == 0 || all[0].Closing == nil {
			b.Errorf("seed %d, round %d: the period %s was closed and is not", b.seed, b.round, b.months[id])
			continue
		}
		now := all[0].Closing.ID + " " + all[0].Closing.Hash
		if before != "" && before != now {
			b.Errorf("seed %d, round %d: the closed period %s has changed from %s to %s", b.seed, b.round, b.months[id], before, now)
		}
		b.closed[id] = now
	}
}
