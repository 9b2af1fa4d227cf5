package posting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// class is the place of a line in its entry.
type class int

const (
	targetLine class = iota
	feeLine
	sourceLine
	gainLine
)

// writer collects what steps leave. The legal entities stand in the order in which they were first written for.
type writer struct {
	books    Books
	entities []string
	entity   string
	currency string
	lines    []written
	lots     []Lot
	err      error
}

type written struct {
	Line
	class class
}

// at says whose lines come next.
func (w *writer) setEntity(entity, currency string) {
	w.entity, w.currency = entity, currency
	if !slices.Contains(w.entities, entity) {
		w.entities = append(w.entities, entity)
	}
}

// line writes a line, unless it is zero.
func (w *writer) writeLine(c class, side book.Side, account string, amount money.Decimal, memo string) {
	if amount.IsZero() {
		return
	}
	next := written{Line{Entity: w.entity, Account: account, Side: side, Amount: amount, Currency: w.currency, Memo: memo}, c}
	if c == feeLine || c == gainLine { // one line for each account is enough
		for i, l := range w.lines {
			if l.class == c && l.Entity == next.Entity && l.Account == account && l.Side == side {
				w.lines[i].Amount = l.Amount.Add(amount)
				return
			}
		}
	}
	w.lines = append(w.lines, next)
}

// holding writes a line of an account that holds something, and how much of it.
func (w *writer) writeHolding(c class, side book.Side, account string, amount money.Decimal, memo string, asset Asset, quantity money.Decimal) {
	if amount.IsZero() {
		return
	}
	w.writeLine(c, side, account, amount, memo)
	if asset.Lots || asset.Symbol != w.currency {
		last := &w.lines[len(w.lines)-1]
		last.Unit, last.Quantity = asset.Symbol, quantity
	}
}

// byRole writes a line to the account that has a role.
func (w *writer) writeRole(c class, side book.Side, role string, amount money.Decimal) {
	if amount.IsZero() {
		return
	}
	account, err := w.books.role(role)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.writeLine(c, side, account, amount, "")
}

// expense writes the lines of fees.
func (w *writer) writeFees(costs []cost) {
	for _, c := range costs {
		w.writeRole(feeLine, book.Debit, c.role, c.amount)
	}
}

// gain writes what was gained, or lost.
func (w *writer) writeGain(amount money.Decimal, gain, loss string) {
	if amount.Sign() < 0 {
		w.writeRole(gainLine, book.Debit, loss, amount.Neg())
		return
	}
	w.writeRole(gainLine, book.Credit, gain, amount)
}

// source writes what lots leave their accounts at, and gives the whole.
func (w *writer) creditSource(leg *Leg, a Answer) money.Decimal {
	return w.creditLots(sourceLine, leg.account(), leg.Offset != "", leg.Asset, a, money.Decimal{})
}

// takeFrom credits the accounts that carry the slices, or the one that was named, and that of the source with an
// extra amount that no lot carries.
func (w *writer) creditLots(c class, account string, named bool, asset Asset, a Answer, extra money.Decimal) money.Decimal {
	var accounts []string
	amounts, parts := map[string]money.Decimal{}, map[string][]Slice{}
	add := func(account string, amount money.Decimal) {
		if !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
		amounts[account] = amounts[account].Add(amount)
	}
	for _, s := range a.Slices {
		at := account
		if !named && s.Account != "" {
			at = s.Account
		}
		add(at, s.Basis)
		parts[at] = append(parts[at], s)
	}
	add(account, extra)
	var total money.Decimal
	for _, at := range accounts {
		total = total.Add(amounts[at])
		w.writeHolding(c, book.Credit, at, amounts[at], memo(a.Method, parts[at]), asset, quantityOf(parts[at]))
	}
	return total
}

func quantityOf(parts []Slice) (sum money.Decimal) {
	for _, s := range parts {
		sum = sum.Add(s.Quantity)
	}
	return sum
}

// memoSlices bounds the slices a memo names; the rest are in the rows of the lots.
const memoSlices = 20

// memo says which lots left, such as "FIFO: 2.0 @ 2025-01-10, 0.5 @ 2025-06-01". What one lot paid for the fee and
// for the rest is one part.
func memo(method string, taken []Slice) string {
	var merged []Slice
	for _, s := range taken {
		i := slices.IndexFunc(merged, func(m Slice) bool { return m.Lot == s.Lot })
		if i < 0 {
			if len(merged) == memoSlices {
				break
			}
			merged = append(merged, s)
			continue
		}
		merged[i].Quantity = merged[i].Quantity.Add(s.Quantity)
	}
	if len(merged) == 0 {
		return ""
	}
	parts := make([]string, len(merged))
	for i, s := range merged {
		parts[i] = string(s.Quantity.AppendFixed(nil, 1)) + " @ " + s.AcquiredAt.Format("2006-01-02")
	}
	text := strings.Join(parts, ", ")
	if method != "" {
		text = method + ": " + text
	}
	if more := lotsOf(taken) - len(merged); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

func lotsOf(taken []Slice) int {
	lots := map[string]bool{}
	for _, s := range taken {
		lots[s.Lot] = true
	}
	return len(lots)
}

// entry puts the lines in order.
func (w *writer) entry() (Entry, error) {
	if w.err != nil {
		return Entry{}, w.err
	}
	e := Entry{Lots: w.lots}
	slices.SortStableFunc(w.lines, func(a, b written) int {
		if a.Entity != b.Entity {
			return slices.Index(w.entities, a.Entity) - slices.Index(w.entities, b.Entity)
		}
		return int(a.class) - int(b.class)
	})
	check := make([]book.Line, len(w.lines))
	for i, l := range w.lines {
		e.Lines = append(e.Lines, l.Line)
		check[i] = book.Line{Entity: l.Entity, Account: l.Account, Side: l.Side, Amount: l.Amount, Currency: l.Currency, Base: l.Amount}
	}
	book.MustBalance(check)
	return e, nil
}
