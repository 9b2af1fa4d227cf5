package posting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// class determines the position of a line in its entry.
type class int

const (
	targetLine class = iota
	feeLine
	sourceLine
	gainLine
)

// writer collects the lines and lots that steps write. Entities lists the legal entities in the order of their first line.
type writer struct {
	books    Books
	entities []string
	entity   string
	currency string
	lines    []orderedLine
	lots     []Lot
	err      error
}

// orderedLine is a line with what determines its position and its effect on unit balances.
type orderedLine struct {
	Line
	class class
	// oppositeAccount is the account of the balance the other way between the same legal entities, which the line settles first.
	oppositeAccount string
	// stated is the quantity of the split that the line was written for, nil if it has none.
	stated *money.Decimal
	// exact marks a line that keeps its units as they are, whether or not a balance in them is outstanding.
	exact bool
	// repays marks the line of a REPAYMENT in the base currency, which needs something outstanding as one in units does.
	repays bool
}

// setEntity selects the legal entity of the lines that follow.
func (w *writer) setEntity(entity, currency string) {
	w.entity, w.currency = entity, currency
	if !slices.Contains(w.entities, entity) {
		w.entities = append(w.entities, entity)
	}
}

// writeLine writes a line, unless it is zero.
func (w *writer) writeLine(c class, side book.Side, account string, amount money.Decimal, memo string) {
	if amount.IsZero() {
		return
	}
	next := orderedLine{class: c,
		Line: Line{Entity: w.entity, Account: account, Side: side, Amount: amount, Currency: w.currency, Memo: memo}}
	if c == feeLine || c == gainLine { // merged into one line per account
		for i, l := range w.lines {
			if l.class == c && l.Entity == next.Entity && l.Account == account && l.Side == side {
				w.lines[i].Amount = l.Amount.Add(amount)
				return
			}
		}
	}
	w.lines = append(w.lines, next)
}

// writeHolding writes a line with the quantity of the asset or foreign currency that it books.
func (w *writer) writeHolding(
	c class, side book.Side, account string, amount money.Decimal, memo string, asset Asset, quantity money.Decimal,
) {
	if amount.IsZero() {
		return
	}
	w.writeLine(c, side, account, amount, memo)
	if asset.Lots || asset.Symbol != w.currency && asset.Symbol != "" {
		last := &w.lines[len(w.lines)-1]
		last.Unit, last.Quantity = asset.Symbol, quantity
	}
}

// writeRole writes a line to the account that has a role.
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

// writeFees writes fees as expenses.
func (w *writer) writeFees(costs []cost) {
	for _, c := range costs {
		w.writeRole(feeLine, book.Debit, c.role, c.amount)
	}
}

// writeGain writes a gain or, if the amount is negative, a loss.
func (w *writer) writeGain(amount money.Decimal, gain, loss string) {
	if amount.Sign() < 0 {
		w.writeRole(gainLine, book.Debit, loss, amount.Neg())
		return
	}
	w.writeRole(gainLine, book.Credit, gain, amount)
}

// creditSource credits the accounts of an outflow's lots with their basis and returns the total.
func (w *writer) creditSource(leg *Leg, a Answer) money.Decimal {
	return w.creditLots(sourceLine, leg.account(), leg.Offset != "", leg.Asset, a, uncovered{})
}

// uncovered is what leaves an account without a lot.
type uncovered struct{ amount, quantity money.Decimal }

// creditLots credits the accounts that carry the slices, or the named account, with their basis, and the account of the
// source with what no lot covers. It returns the total.
func (w *writer) creditLots(c class, account string, named bool, asset Asset, a Answer, extra uncovered) money.Decimal {
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
	add(account, extra.amount)
	var total money.Decimal
	for _, at := range accounts {
		total = total.Add(amounts[at])
		quantity := totalQuantity(parts[at])
		if at == account {
			quantity = quantity.Add(extra.quantity)
		}
		w.writeHolding(c, book.Credit, at, amounts[at], memo(a.Method, parts[at]), asset, quantity)
	}
	return total
}

func totalQuantity(parts []Slice) (sum money.Decimal) {
	for _, s := range parts {
		sum = sum.Add(s.Quantity)
	}
	return sum
}

// memoSlices is how many slices a memo lists at most; the rest can be found in the lots.
const memoSlices = 20

// memo lists the lots consumed, such as "FIFO: 2.0 @ 2025-01-10, 0.5 @ 2025-06-01". Slices of one lot for the fee and for
// the principal are listed together.
func memo(method string, consumed []Slice) string {
	var merged []Slice
	for _, s := range consumed {
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
	if more := countLots(consumed) - len(merged); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

func countLots(consumed []Slice) int {
	lots := map[string]bool{}
	for _, s := range consumed {
		lots[s.Lot] = true
	}
	return len(lots)
}

// entry returns the entry with its lines in order. It panics if they do not balance.
func (w *writer) entry() (Entry, error) {
	if w.err != nil {
		return Entry{}, w.err
	}
	e := Entry{Lots: w.lots}
	slices.SortStableFunc(w.lines, func(a, b orderedLine) int {
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
