package application

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// The limits of what is read for one deposit.
const (
	lookedUpMax   = 1000 // invoices with a number that its memo may name
	sameAmountMax = 1000 // invoices with its amount
	samePaidMax   = 100  // paid invoices with its amount: so many identify none
)

// batchRowsMax is how many invoices of each kind are read for several deposits.
const batchRowsMax = 20_000

// errTooMany says that deposits have to be matched with fewer others at a time.
var errTooMany = errors.New("application: too many invoices for one batch")

// matching matches deposits with invoices. It reads only the invoices that can be part of a suggestion, or of a doubt about one: those that
// the memos may name, those of the customers that the deposits point to, and those with their amounts. Each deposit is compared with the
// invoices that were read for it and with no others, so that the result does not depend on the deposits that it is matched with.
type matching struct {
	payers    *match.Matcher // without invoices
	tolerance money.Decimal
	reserved  map[string]string // by invoice: the application that waits for a review of its payment
	paid      map[string]bool   // invoices that are paid by deposits which were matched before
	who       actor.Actor

	deposits   []match.Deposit
	history    [][]match.Earlier
	lookups    []match.Lookup
	customers  [][]string // that a deposit points to
	candidates [][]match.Invoice
	cut        []bool // there are more candidates
}

func newMatching(payers *match.Matcher, tolerance money.Decimal, reserved map[string]string) *matching {
	return &matching{payers: payers, tolerance: tolerance, reserved: reserved, paid: map[string]bool{}}
}

// NotVisible is the code of a doubt about a suggestion that others would not be certain of who see more invoices.
const NotVisible match.Code = "invoices_not_visible"

// match returns what one of the prepared deposits may pay with invoices that the actor sees. Who is limited to legal entities does not see
// invoices of none, but a suggestion is certain only if they do not speak against it.
func (m *matching) match(n int) match.Result {
	m.update(n)
	all := m.compare(n, m.candidates[n])
	if !m.who.Limited() {
		return all
	}
	seen := slices.DeleteFunc(slices.Clone(m.candidates[n]), func(v match.Invoice) bool { return v.LegalEntityID == "" })
	if len(seen) == len(m.candidates[n]) {
		return all
	}
	out := m.compare(n, seen)
	if len(out.Suggestions) == 0 || !out.Suggestions[0].Certain() {
		return out
	}
	first := &out.Suggestions[0]
	if len(all.Suggestions) == 0 || !all.Suggestions[0].Certain() || !slices.Equal(invoicesOf(*first), invoicesOf(all.Suggestions[0])) {
		first.Doubts = append(first.Doubts, match.Reason{Code: NotVisible,
			Text: "The deposit may pay other invoices, which are visible to API keys for all legal entities only."})
	}
	return out
}

// invoicesOf returns the ids of the invoices that a suggestion pays.
func invoicesOf(s match.Suggestion) []string {
	out := make([]string, len(s.Allocations))
	for n, l := range s.Allocations {
		out[n] = l.InvoiceID
	}
	return out
}

// compare compares a deposit with invoices. A suggestion that pays more of them than an application can is cut to the oldest ones.
func (m *matching) compare(n int, candidates []match.Invoice) match.Result {
	out := m.payersOf(n).With(candidates).Match(m.deposits[n], match.Policy{Tolerance: m.tolerance})
	out.Truncated = out.Truncated || m.cut[n]
	for k := range out.Suggestions {
		if g := &out.Suggestions[k]; len(g.Allocations) > allocationsMax {
			g.Doubts = append(g.Doubts, match.Reason{Code: match.SearchIncomplete, Text: fmt.Sprintf("It pays %d invoices, and a cash application "+
				"at most %d: these are the oldest. Apply the rest of the deposit to the others afterwards.", len(g.Allocations), allocationsMax)})
			g.Allocations = g.Allocations[:allocationsMax]
			g.Total = money.Decimal{}
			for _, l := range g.Allocations {
				g.Total = g.Total.Add(l.Amount)
			}
			g.Delta, out.Truncated = m.deposits[n].Amount.Sub(g.Total), true
		}
	}
	return out
}

// update sets what has changed about the candidates of a deposit since they were read.
func (m *matching) update(n int) {
	for i := range m.candidates[n] {
		v := &m.candidates[n][i]
		v.Reserved = m.reserved[v.ID] != ""
		if m.paid[v.ID] {
			v.Status, v.AmountDue = match.Paid, money.Decimal{}
		}
	}
}

// payersOf returns the matcher of payers for a deposit, with the history of its payer.
func (m *matching) payersOf(n int) *match.Matcher {
	if len(m.history[n]) == 0 {
		return m.payers
	}
	return m.payers.WithHistory(m.history[n])
}

// prepare reads the candidates of deposits. It returns errTooMany if there are too many for several deposits.
func (m *matching) prepare(ctx context.Context, tx *db.Tx, deposits []match.Deposit) error {
	n := len(deposits)
	m.who = actor.From(ctx)
	m.deposits, m.lookups, m.customers, m.cut = deposits, make([]match.Lookup, n), make([][]string, n), make([]bool, n)
	m.candidates = make([][]match.Invoice, n)
	if err := m.readHistory(ctx, tx); err != nil {
		return err
	}
	if err := m.readNamed(ctx, tx); err != nil {
		return err
	}
	for n, d := range deposits {
		if payer := m.payersOf(n).Match(d, match.Policy{}).Customer; payer != nil && !slices.Contains(m.customers[n], payer.CustomerID) {
			m.customers[n] = append(m.customers[n], payer.CustomerID)
		}
	}
	byCurrency := map[string][]int{}
	for n, d := range deposits {
		byCurrency[d.Currency] = append(byCurrency[d.Currency], n)
	}
	for _, currency := range slices.Sorted(maps.Keys(byCurrency)) {
		if err := m.readOfCustomers(ctx, tx, currency, byCurrency[currency]); err != nil {
			return err
		}
		if err := m.readSameAmount(ctx, tx, currency, byCurrency[currency]); err != nil {
			return err
		}
	}
	return nil
}

// limit returns how many rows are read: so many for one deposit, or as many as a batch has.
func (m *matching) limit(one int) int {
	if len(m.deposits) == 1 {
		return one
	}
	return batchRowsMax
}

// full returns errTooMany if a query for several deposits has reached its limit.
func (m *matching) full(rows int) error {
	if len(m.deposits) > 1 && rows >= batchRowsMax {
		return errTooMany
	}
	return nil
}

// readHistory reads to whose invoices earlier deposits of the payers were applied.
func (m *matching) readHistory(ctx context.Context, tx *db.Tx) error {
	names, addresses := map[string]bool{}, map[string]bool{}
	for _, d := range m.deposits {
		names[d.PayerName], addresses[d.PayerAddress] = true, true
	}
	known := func(column string, values map[string]bool) (map[string]bool, error) {
		delete(values, "")
		found, err := selectKnownPayers(ctx, tx, column, slices.Sorted(maps.Keys(values)))
		out := make(map[string]bool, len(found))
		for _, value := range found {
			out[value] = true
		}
		return out, err
	}
	knownNames, err := known("payer_name", names)
	if err != nil {
		return err
	}
	knownAddresses, err := known("payer_address", addresses)
	if err != nil {
		return err
	}
	m.history = make([][]match.Earlier, len(m.deposits))
	read := map[[2]string][]match.Earlier{}
	for n, d := range m.deposits {
		payer := [2]string{}
		if knownNames[d.PayerName] {
			payer[0] = d.PayerName
		}
		if knownAddresses[d.PayerAddress] {
			payer[1] = d.PayerAddress
		}
		if payer == [2]string{} {
			continue
		}
		if _, done := read[payer]; !done {
			if read[payer], err = selectEarlier(ctx, tx, payer[0], payer[1]); err != nil {
				return err
			}
		}
		m.history[n] = read[payer]
	}
	return nil
}

// readNamed reads the invoices whose numbers the memos may name.
func (m *matching) readNamed(ctx context.Context, tx *db.Tx) error {
	keys, tails, prefixes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for n, d := range m.deposits {
		m.lookups[n] = match.Lookups(d.Memo)
		for _, k := range m.lookups[n].Keys {
			keys[k] = true
		}
		for _, t := range m.lookups[n].Tails {
			tails[t] = true
		}
		for _, p := range m.lookups[n].Prefixes {
			prefixes[p] = true
		}
	}
	all := match.Lookup{Keys: slices.Sorted(maps.Keys(keys)), Tails: slices.Sorted(maps.Keys(tails)),
		Prefixes: slices.Sorted(maps.Keys(prefixes))}
	found, more, err := invoice.Numbered(ctx, tx, all, m.limit(lookedUpMax))
	if err != nil {
		return err
	}
	if err := m.full(len(found)); err != nil || more && len(m.deposits) > 1 {
		return cmp.Or(err, errTooMany)
	}
	named := newNumbered(found)
	for n, l := range m.lookups {
		m.candidates[n], m.cut[n] = named.of(l), more
		for _, v := range m.candidates[n] {
			if !slices.Contains(m.customers[n], v.CustomerID) {
				m.customers[n] = append(m.customers[n], v.CustomerID)
			}
		}
	}
	return nil
}

// numbered finds invoices by what memos may name them. Of those with a prefix it knows the first only, by key and id.
type numbered struct {
	byKey, byTail map[string][]match.Invoice
	byPrefix      map[string]match.Invoice
}

func newNumbered(found []match.Invoice) numbered {
	out := numbered{map[string][]match.Invoice{}, map[string][]match.Invoice{}, map[string]match.Invoice{}}
	seen := make(map[string]bool, len(found))
	for _, v := range found {
		if seen[v.ID] {
			continue
		}
		seen[v.ID] = true
		keys := match.KeysOf(v.Number)
		out.byKey[keys.Key] = append(out.byKey[keys.Key], v)
		if keys.Tail != "" {
			out.byTail[keys.Tail] = append(out.byTail[keys.Tail], v)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(out.byKey)) {
		first := slices.MinFunc(out.byKey[key], func(a, b match.Invoice) int { return cmp.Compare(a.ID, b.ID) })
		if prefix := match.KeysOf(first.Number).Prefix; prefix != "" && out.byPrefix[prefix].ID == "" {
			out.byPrefix[prefix] = first
		}
	}
	return out
}

// of returns the invoices that a memo may name. Some may occur more than once.
func (n numbered) of(l match.Lookup) (out []match.Invoice) {
	for _, k := range l.Keys {
		out = append(out, n.byKey[k]...)
	}
	for _, t := range l.Tails {
		out = append(out, n.byTail[t]...)
	}
	for _, p := range l.Prefixes {
		if v, there := n.byPrefix[p]; there {
			out = append(out, v)
		}
	}
	return out
}

// readOfCustomers reads the open invoices of the customers that deposits in a currency point to, and their paid ones with the same amount.
func (m *matching) readOfCustomers(ctx context.Context, tx *db.Tx, currency string, deposits []int) error {
	customers := map[string]bool{}
	totals := map[string]invoice.CustomerTotal{}
	for _, n := range deposits {
		for _, id := range m.customers[n] {
			customers[id] = true
			totals[id+" "+m.deposits[n].Amount.String()] = invoice.CustomerTotal{CustomerID: id, Total: m.deposits[n].Amount}
		}
	}
	open, err := invoice.OpenOf(ctx, tx, slices.Sorted(maps.Keys(customers)), currency, m.limit(match.PoolMax+1))
	if err != nil {
		return err
	}
	pairs := make([]invoice.CustomerTotal, 0, len(totals))
	for _, key := range slices.Sorted(maps.Keys(totals)) {
		pairs = append(pairs, totals[key])
	}
	paid, err := invoice.PaidWith(ctx, tx, pairs, currency, m.limit(samePaidMax))
	if err != nil {
		return err
	}
	if err := cmp.Or(m.full(len(open)), m.full(len(paid))); err != nil {
		return err
	}
	byCustomer := map[string][]match.Invoice{}
	for _, v := range append(open, paid...) {
		byCustomer[v.CustomerID] = append(byCustomer[v.CustomerID], v)
	}
	for _, n := range deposits {
		for _, id := range m.customers[n] {
			if m.candidates[n] == nil { // deposits of one customer share its invoices
				m.candidates[n] = slices.Clip(byCustomer[id])
			} else {
				m.candidates[n] = append(m.candidates[n], byCustomer[id]...)
			}
		}
		m.cut[n] = m.cut[n] || len(open) > match.PoolMax && len(m.deposits) == 1
	}
	return nil
}

// readSameAmount reads the open invoices with the amounts of deposits in a currency.
func (m *matching) readSameAmount(ctx context.Context, tx *db.Tx, currency string, deposits []int) error {
	entities, until := map[string]bool{}, time.Time{}
	ranges := map[string]invoice.Range{}
	for _, n := range deposits {
		d := m.deposits[n]
		entities[d.LegalEntityID] = true
		if last := d.LatestIssue(); last.After(until) {
			until = last
		}
		ranges[d.Amount.String()] = invoice.Range{Low: d.Amount.Sub(m.tolerance), High: d.Amount.Add(m.tolerance)}
	}
	bounds := make([]invoice.Range, 0, len(ranges))
	for _, key := range slices.Sorted(maps.Keys(ranges)) {
		bounds = append(bounds, ranges[key])
	}
	pool := invoice.Pool{LegalEntityIDs: slices.Sorted(maps.Keys(entities)), Currency: currency, Until: until}
	found, err := invoice.WithAmountDue(ctx, tx, pool, bounds, m.limit(sameAmountMax))
	if err != nil {
		return err
	}
	if err := m.full(len(found)); err != nil {
		return err
	}
	for _, n := range deposits {
		m.addSameAmount(n, found)
	}
	return nil
}

// addSameAmount adds those of some invoices, which are sorted by what is due, whose amount is that of a deposit.
func (m *matching) addSameAmount(n int, sorted []match.Invoice) {
	d := m.deposits[n]
	low, high, until := d.Amount.Sub(m.tolerance), d.Amount.Add(m.tolerance), d.LatestIssue()
	at, _ := slices.BinarySearchFunc(sorted, low, func(v match.Invoice, low money.Decimal) int {
		if v.AmountDue.Cmp(low) < 0 {
			return -1
		}
		return 1
	})
	added := 0
	for ; at < len(sorted) && sorted[at].AmountDue.Cmp(high) <= 0; at++ {
		v := sorted[at]
		if v.IssueDate.After(until) || v.LegalEntityID != "" && v.LegalEntityID != d.LegalEntityID ||
			!m.cut[n] && slices.Contains(m.customers[n], v.CustomerID) { // all that its customers have to pay is there already
			continue
		}
		m.candidates[n] = append(m.candidates[n], v)
		if added++; added == sameAmountMax {
			m.cut[n] = true
			return
		}
	}
}
