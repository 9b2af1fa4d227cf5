package app_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

const (
	histories     = 2 // on each engine, in every run
	soakHistories = 20
	steps         = "50" // of a history, on average
)

func TestMain(m *testing.M) {
	count := strconv.Itoa(dbtest.Repeats(histories, soakHistories))
	for name, value := range map[string]string{"rapid.checks": count, "rapid.steps": steps, "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// history is an organization to which random operations are applied, and the model of its books.
type history struct {
	*rapid.T
	app      *app.App
	ctx      context.Context
	now      *clock.Manual
	org      string
	entities []string
	accounts []string
	tags     []string
	model    *model
}

func TestSoakBooksWithARandomHistoryAgreeWithTheModelAndVerifyAtEveryStep(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		a := app.New(dbtest.Open(t, c), nil)
		rapid.Check(t, func(r *rapid.T) {
			h := newHistory(r, t.Context(), a, now)
			r.Repeat(map[string]func(*rapid.T){
				"":          func(r *rapid.T) { h.step(r).compareWithModel() },
				"create":    func(r *rapid.T) { h.step(r).createEntries(1, false) },
				"create 2":  func(r *rapid.T) { h.step(r).createEntries(1, false) },
				"batch":     func(r *rapid.T) { h.step(r).createEntries(4, false) },
				"dry run":   func(r *rapid.T) { h.step(r).createEntries(2, true) },
				"edit":      func(r *rapid.T) { h.step(r).edit() },
				"delete":    func(r *rapid.T) { h.step(r).deleteEntry() },
				"post":      func(r *rapid.T) { h.step(r).post() },
				"unpost":    func(r *rapid.T) { h.step(r).unpost() },
				"reverse":   func(r *rapid.T) { h.step(r).reverse() },
				"correct":   func(r *rapid.T) { h.step(r).correct() },
				"close":     func(r *rapid.T) { h.step(r).close() },
				"reopen":    func(r *rapid.T) { h.step(r).reopen() },
				"zone":      func(r *rapid.T) { h.step(r).changeZone() },
				"archive":   func(r *rapid.T) { h.step(r).archive() },
				"unarchive": func(r *rapid.T) { h.step(r).unarchive() },
				"rate":      func(r *rapid.T) { h.step(r).storeRate() },
				"wait":      func(r *rapid.T) { now.Advance(time.Duration(rapid.IntRange(1, 240).Draw(r, "hours")) * time.Hour) },
			})
		})
	})
}

// newHistory creates an organization with two legal entities, some accounts, tags, rates and entries.
func newHistory(r *rapid.T, ctx context.Context, a *app.App, now *clock.Manual) *history {
	f, err := a.Org.Create(ctx, organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		r.Fatal(err)
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes})
	h := &history{T: r, app: a, ctx: ctx, now: now, org: f.Organization.ID, entities: []string{f.LegalEntity.ID}}
	de, err := a.Entities.Create(ctx, entity.CreateParams{Name: "DE", BaseCurrency: "EUR"})
	if err != nil {
		r.Fatal(err)
	}
	h.entities = append(h.entities, de.ID)
	for i := range 4 {
		made, err := a.Accounts.Create(ctx, account.CreateParams{Name: fmt.Sprint("Account ", i), Type: account.Asset})
		if err != nil {
			r.Fatal(err)
		}
		h.accounts = append(h.accounts, made.ID)
	}
	for i := range 2 {
		made, err := a.Tags.Create(ctx, tag.Project, fmt.Sprint("Tag ", i))
		if err != nil {
			r.Fatal(err)
		}
		h.tags = append(h.tags, made.ID)
	}
	h.model = &model{
		zone: time.UTC, now: now.Now, currencies: []string{"USD", "EUR"}, closed: make([][]string, 2),
		archived: make([]bool, len(h.accounts)), rates: map[string]int64{},
	}
	h.storeRates()
	for range 10 { // rapid discards a history whose first operations find no entries
		h.createEntries(1, false)
	}
	return h
}

// storeRates stores rates for most days.
func (h *history) storeRates() {
	var all []fx.StoreParams
	for day := -180; day < 60; day++ {
		if day%8 == 0 {
			continue
		}
		date, rate := h.now.Now().AddDate(0, 0, day).Format(time.DateOnly), int64(7000+(day+180)*37%9000)
		for i, base := range h.model.currencies {
			quote := h.model.currencies[1-i]
			all = append(all, fx.StoreParams{Base: base, Quote: quote, Date: date, Rate: tenThousandths(rate + int64(i))})
			h.model.rates[base+quote+date] = rate + int64(i)
		}
	}
	if _, err := h.app.FX.Store(h.ctx, all); err != nil {
		h.Fatal(err)
	}
}

func tenThousandths(n int64) string { return money.FromInt(n).Quo(money.FromInt(10_000), 4).String() }

// randomAccount returns the index of an account, most often of one that is not archived.
func (h *history) randomAccount() int {
	return rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3}).Draw(h.T, "account")
}

// step makes the next operation draw its values from r.
func (h *history) step(r *rapid.T) *history {
	h.T = r
	return h
}

// expect compares the error of an operation with the fault that the model predicts, and reports whether there was none.
func (h *history) expect(what string, err error, want fault.Kind) bool {
	h.Helper()
	if err == nil != (want == fine) || err != nil && fault.KindOf(err) != want {
		h.Fatalf("%s: %v, the model says %v", what, err, want)
	}
	return err == nil
}

// randomDate returns a date between four months ago and twenty days from now, often close to the beginning of a month.
func (h *history) randomDate() time.Time {
	hours := rapid.IntRange(-4*31*24, 24*20).Draw(h.T, "hours from now")
	at := clock.Stamp(h.now.Now().Add(time.Duration(hours) * time.Hour))
	if rapid.Bool().Draw(h.T, "at an edge") {
		at = time.Date(at.Year(), at.Month(), 1, rapid.IntRange(-13, 13).Draw(h.T, "hour"), 0, 0, 0, time.UTC)
	}
	return at
}

func (h *history) randomTags() (out []int) {
	for i := range h.tags {
		if rapid.IntRange(0, 3).Draw(h.T, "tag") == 0 {
			out = append(out, i)
		}
	}
	return out
}

// randomLines returns lines of one to three legal entities and currencies that balance, except for an occasional flaw.
func (h *history) randomLines() (out []modelLine) {
	for range rapid.IntRange(1, 3).Draw(h.T, "groups") {
		line := modelLine{entity: rapid.SampledFrom([]int{0, 0, 1}).Draw(h.T, "entity"), debit: rapid.Bool().Draw(h.T, "debit")}
		line.currency = h.model.currencies[line.entity]
		if rapid.IntRange(0, 4).Draw(h.T, "foreign") == 0 {
			line.currency = h.model.currencies[1-line.entity]
		}
		sum := int64(0)
		for range rapid.IntRange(1, 3).Draw(h.T, "parts") {
			part := line
			part.account, part.cents, part.tags = h.randomAccount(), rapid.Int64Range(1, 99_999).Draw(h.T, "cents"), h.randomTags()
			out, sum = append(out, part), sum+part.cents
		}
		line.debit, line.cents, line.account = !line.debit, sum, h.randomAccount()
		out = append(out, line)
	}
	switch rapid.IntRange(0, 49).Draw(h.T, "flaw") {
	case 0:
		out[0].cents++
	case 1:
		out[0].account = -1
	}
	return out
}

func (h *history) randomEntry() *modelEntry {
	e := &modelEntry{status: "draft", origin: "manual", date: h.randomDate(), tags: h.randomTags(), lines: h.randomLines()}
	e.entity = e.lines[0].entity
	return e
}

// pickEntry returns an entry that is not deleted, most often a preferred one, and its number.
func (h *history) pickEntry(prefer func(*modelEntry) bool) (*modelEntry, int) {
	var fit, rest []int
	for i, e := range h.model.entries {
		if e.status == "deleted" {
			continue
		}
		if rest = append(rest, i); prefer(e) {
			fit = append(fit, i)
		}
	}
	if len(fit) > 0 && rapid.IntRange(0, 5).Draw(h.T, "fitting") > 0 {
		rest = fit
	}
	if len(rest) == 0 {
		h.Skip("no entries")
	}
	i := rapid.SampledFrom(rest).Draw(h.T, "entry")
	return h.model.entries[i], i + 1
}

func (h *history) tagIDs(tags []int) []string {
	out := []string{}
	for _, i := range tags {
		out = append(out, h.tags[i])
	}
	return out
}

func cents(n int64) string {
	return money.FromInt(n).Quo(money.FromInt(100), 2).String()
}

func (h *history) lineParams(lines []modelLine) (out []journal.LineParams) {
	for _, line := range lines {
		p := journal.LineParams{LedgerAccountID: "lac_unknown", Side: book.Credit, Amount: cents(line.cents), Currency: line.currency,
			LegalEntityID: h.entities[line.entity], TagIDs: h.tagIDs(line.tags)}
		if line.account >= 0 {
			p.LedgerAccountID = h.accounts[line.account]
		}
		if line.debit {
			p.Side = book.Debit
		}
		out = append(out, p)
	}
	return out
}

// state describes an entry of the model in the form of stateOf.
func (e *modelEntry) state(h *history, number int) string {
	text := fmt.Sprint(number, " ", e.status, " ", e.origin, " ", e.date.UTC().Format(time.RFC3339), " ", h.entities[e.entity], " ",
		h.tagIDs(e.tags), " ", e.prev, " ", e.next)
	if e.status == "posted" {
		text += " in " + e.month
	}
	if e.intended != nil {
		text += " for " + e.intended.UTC().Format(time.RFC3339)
	}
	for _, line := range e.lines {
		text += fmt.Sprint("\n  ", line.debit, " ", h.accounts[line.account], " ", h.entities[line.entity], " ", cents(line.cents), " ",
			line.currency, " ", h.tagIDs(line.tags))
		if e.status == "posted" {
			text += " = " + cents(line.base)
		}
	}
	return text
}

// compareWithModel compares the entries and totals of the books with the model, and verifies the books.
func (h *history) compareWithModel() {
	var got []string
	totals := map[string]string{}
	err := h.app.DB.Read(h.ctx, h.org, func(ctx context.Context, tx *db.Tx) error {
		months, numbers := map[string]string{}, map[string]int64{"": 0}
		all, err := period.All(ctx, tx)
		if err != nil {
			return err
		}
		for _, p := range all {
			months[p.ID] = p.Key
		}
		var entries []journal.Entry
		if err := journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
			entries, numbers[e.ID] = append(entries, e), e.Number
			return nil
		}); err != nil {
			return err
		}
		for _, e := range entries {
			got = append(got, stateOf(e, months, numbers))
		}
		totals, err = storedTotals(ctx, tx)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	var want []string
	for i, e := range h.model.entries {
		if e.status != "deleted" {
			want = append(want, e.state(h, i+1))
		}
	}
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				h.Fatalf("entry %d of %d and %d:\n%s\nthe model says\n%s", i, len(got), len(want),
					slices.Concat(got, []string{"none"})[min(i, len(got))], slices.Concat(want, []string{"none"})[min(i, len(want))])
			}
		}
	}
	sums := map[string]string{}
	for k, total := range h.model.totals() {
		name := "all"
		if k.tag >= 0 {
			name = h.tags[k.tag]
		}
		if total == ([2]int64{}) { // of amounts so small that they are translated to zero
			continue
		}
		sums[fmt.Sprint(name, " ", h.entities[k.entity], " ", h.accounts[k.account], " ", k.month)] = cents(total[0]) + " " + cents(total[1])
	}
	if !maps.Equal(totals, sums) {
		h.Fatalf("the totals are\n%v\nthe model says\n%v", totals, sums)
	}
	findings, err := h.app.VerifyOrganization(h.ctx, h.org)
	if err != nil || len(findings) > 0 {
		h.Fatalf("verify: %v %v", findings, err)
	}
}

// stateOf describes a stored entry.
func stateOf(e journal.Entry, months map[string]string, numbers map[string]int64) string {
	text := fmt.Sprint(e.Number, " ", e.Status, " ", e.OriginatedBy, " ", e.AccountingDate.Format(time.RFC3339), " ", e.LegalEntityID,
		" ", e.TagIDs, " ", numbers[e.PreviousID], " ", numbers[e.NextID])
	if e.Status == journal.Posted {
		text += " in " + months[e.PeriodID]
	}
	if e.IntendedDate != nil {
		text += " for " + e.IntendedDate.Format(time.RFC3339)
	}
	for _, line := range e.Lines {
		text += fmt.Sprint("\n  ", line.Side == book.Debit, " ", line.LedgerAccountID, " ", line.LegalEntityID, " ", line.Amount, " ",
			line.Currency, " ", line.TagIDs)
		if line.Base != nil {
			text += " = " + line.Base.String()
		}
	}
	return text
}

// storedTotals reads the stored totals that are not zero.
func storedTotals(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	rows, err := db.All[struct {
		Tag     string        `db:"tag_id"`
		Entity  string        `db:"legal_entity_id"`
		Account string        `db:"ledger_account_id"`
		Key     string        `db:"key"`
		Debits  money.Decimal `db:"debits"`
		Credits money.Decimal `db:"credits"`
	}](ctx, tx, `SELECT b.tag_id, b.legal_entity_id, b.ledger_account_id, p.key, b.debits, b.credits FROM account_balances b
		JOIN accounting_periods p ON p.organization_id = b.organization_id AND p.accounting_period_id = b.accounting_period_id WHERE
		b.organization_id = @org`)
	out := map[string]string{}
	for _, r := range rows {
		if r.Tag == "" {
			r.Tag = "all"
		}
		if !r.Debits.IsZero() || !r.Credits.IsZero() {
			out[fmt.Sprint(r.Tag, " ", r.Entity, " ", r.Account, " ", r.Key)] = r.Debits.String() + " " + r.Credits.String()
		}
	}
	return out, err
}

func (h *history) storeRate() {
	day, rate := h.randomDate().Format(time.DateOnly), rapid.Int64Range(1, 50_000).Draw(h.T, "rate")
	pair := rapid.SampledFrom([][2]string{{"USD", "EUR"}, {"EUR", "USD"}}).Draw(h.T, "pair")
	_, err := h.app.FX.Store(h.ctx, []fx.StoreParams{{Base: pair[0], Quote: pair[1], Date: day, Rate: tenThousandths(rate)}})
	h.expect("store a rate", err, fine)
	h.model.rates[pair[0]+pair[1]+day] = rate
}
