package glsync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// maker makes journals from entries, as one general ledger wants them.
type maker struct {
	connection connection.Connection
	books      *snapshot.Books
	there      books
	mappings   table
	tags       map[string]tagged
}

// newMaker reads what journals are made of. It returns an error of kind NotFound if the accounts of the general ledger were never read. It
// runs in the caller's transaction.
func newMaker(ctx context.Context, tx *db.Tx, c connection.Connection, b *snapshot.Books) (*maker, error) {
	there, err := selectBooks(ctx, tx, c.ID)
	if err != nil {
		return nil, err
	}
	mappings, err := loadTable(ctx, tx, c.ID)
	if err != nil {
		return nil, err
	}
	tags, err := loadTagged(ctx, tx, c.ID)
	return &maker{connection: c, books: b, there: there, mappings: mappings, tags: tags}, err
}

// covered returns the lines of an entry that are sent, and the legal entity that they are of if others are not sent.
func (m *maker) covered(e journal.Entry) (lines []journal.Line, part string) {
	if m.connection.LegalEntityID == "" {
		return e.Lines, ""
	}
	for _, l := range e.Lines {
		if l.LegalEntityID == m.connection.LegalEntityID {
			lines = append(lines, l)
		}
	}
	if len(lines) < len(e.Lines) {
		part = m.connection.LegalEntityID
	}
	return lines, part
}

// build returns the journal for a posted entry, in the base currency of its legal entity, without a key, and what speaks against it. It has
// no lines if nothing of the entry has a value in that currency.
func (m *maker) build(e journal.Entry) (j Journal, part string, problems []Blocker) {
	lines, part := m.covered(e)
	j = Journal{Number: e.SequenceNumber(), Date: calendar.DateOf(e.AccountingDate, m.books.Zone), Memo: e.Memo}
	for _, l := range lines {
		j.LegalEntityIDs = with(j.LegalEntityIDs, []string{l.LegalEntityID})
		currency := m.books.Entities[l.LegalEntityID].BaseCurrency
		switch {
		case j.Currency == "":
			j.Currency = currency
		case j.Currency != currency:
			problems = add(problems, Blocker{Code: MixedCurrencies, LegalEntityID: l.LegalEntityID,
				Message: fmt.Sprintf("the entry has lines of legal entities with the base currencies %s and %s", j.Currency, currency)})
			continue
		}
		if l.Base == nil || l.Base.IsZero() {
			continue
		}
		line, found := m.line(e, l)
		for _, problem := range found {
			problems = add(problems, problem)
		}
		places, _ := money.MinorUnits(currency)
		if !line.Amount.Equal(line.Amount.Round(places)) {
			problems = add(problems, Blocker{Code: BadAmount, Message: tooFine(line.Amount.String(), currency)})
		}
		j.Lines = append(j.Lines, line)
	}
	if len(j.Lines) > 0 && j.Currency != m.there.Currency && !m.there.Foreign {
		problems = add(problems, Blocker{Code: OtherCurrency, LegalEntityID: lines[0].LegalEntityID,
			Message: fmt.Sprintf("the books of %s are in %s, and the general ledger takes journals in %s only",
				m.books.Entities[lines[0].LegalEntityID].Name, j.Currency, m.there.Currency)})
	}
	return j, part, problems
}

// line returns a line of a journal, and why it cannot be sent.
func (m *maker) line(e journal.Entry, l journal.Line) (out JournalLine, problems []Blocker) {
	out = JournalLine{Debit: (l.Side == book.Debit) == (l.Base.Sign() > 0), Amount: l.Base.Abs(), Memo: l.Memo}
	out.Dimensions, problems = m.dimensions(e, l)
	a, to := m.books.Accounts[l.LedgerAccountID], m.mappings.mapped[l.LedgerAccountID]
	there, known := m.mappings.accounts[to.AccountID]
	switch why := there.Unusable(); {
	case !known:
		problems = append(problems, Blocker{Code: UnmappedAccount, LedgerAccountID: a.ID,
			Message: "the account " + a.String() + " is not mapped to one of the general ledger"})
	case why != "":
		problems = append(problems, Blocker{Code: UnusableAccount, LedgerAccountID: a.ID, AccountID: there.ID,
			Message: "the account " + a.String() + " is mapped to " + there.Label() + ", which cannot be used: " + why})
	}
	out.Account = there.ExternalID
	return out, problems
}

// total returns the debits of a journal.
func (j Journal) total() (sum money.Decimal) {
	for _, l := range j.Lines {
		if l.Debit {
			sum = sum.Add(l.Amount)
		}
	}
	return sum
}

// same reports whether two journals say the same, whatever their keys.
func (j Journal) same(other Journal) bool {
	return j.Number == other.Number && j.Date == other.Date && j.Memo == other.Memo && j.Currency == other.Currency &&
		slices.EqualFunc(j.Lines, other.Lines, func(a, b JournalLine) bool {
			return a.Account == b.Account && a.Debit == b.Debit && a.Memo == b.Memo && a.Amount.Equal(b.Amount) &&
				maps.Equal(a.Dimensions, b.Dimensions)
		})
}

// keyOf returns what identifies a revision of an entry in a general ledger for ever.
func keyOf(entryID, part string, revision int64) string {
	_, bare, _ := strings.Cut(entryID, "_")
	key := fmt.Sprintf("%s-%d", bare, revision)
	if _, entity, limited := strings.Cut(part, "_"); limited {
		key += "-" + entity[len(entity)-8:]
	}
	return key
}

// Action is what is done with an entry.
type Action string

// The actions.
const (
	Create    Action = "create"
	Replace   Action = "replace" // what was sent differs, so that it is removed and sent again
	Remove    Action = "remove"  // it is no longer posted
	CheckOnly Action = "check"
)

// Actions lists the actions.
var Actions = []Action{Create, Replace, Remove, CheckOnly}

// decision is what is to be done with an entry, or a part of it.
type decision struct {
	Action   Action // empty if nothing is to be done
	empty    bool   // because the entry has no value
	part     string
	journal  Journal
	row      *journalRow // nil if nothing was ever sent
	problems []Blocker
}

// decide returns what is to be done with an entry, given what was sent of it.
func (m *maker) decide(e journal.Entry, rows []journalRow) (out []decision) {
	wanted := e.Status == journal.Posted && m.coversAny(e)
	var d decision
	if wanted {
		d.journal, d.part, d.problems = m.build(e)
		d.empty = len(d.journal.Lines) == 0 && len(d.problems) == 0
		wanted = !d.empty
	}
	for n, r := range rows {
		switch {
		case m.connection.LegalEntityID != "" && r.Part != "" && r.Part != m.connection.LegalEntityID: // another connection sends it
		case wanted && r.Part == d.part:
			d.row = &rows[n]
		case r.State != absent:
			out = append(out, decision{Action: Remove, part: r.Part, row: &rows[n]})
		}
	}
	if d.empty && len(out) == 0 {
		return []decision{d}
	}
	if !wanted {
		return out
	}
	switch {
	case d.row == nil || d.row.State == absent:
		d.Action = Create
	case d.row.State == present && decode[Journal](db.OrEmpty(d.row.Content)).same(d.journal):
	case d.row.State == uncertain && d.row.ExternalID == nil && d.row.Strays == nil &&
		decode[Journal](db.OrEmpty(d.row.Next)).same(d.journal):
		d.Action = Create
	default:
		d.Action = Replace
	}
	return append(out, d)
}

// coversAny reports whether an entry has a line that is sent.
func (m *maker) coversAny(e journal.Entry) bool {
	lines, _ := m.covered(e)
	return len(lines) > 0
}

// lockedBy returns the blocker of a decision whose journals are in a locked period.
func (m *maker) lockedBy(d decision) (Blocker, bool) {
	for _, date := range []string{d.journal.Date, dateOf(d.row)} {
		if date != "" && date <= m.there.LockedThrough {
			return Blocker{Code: LockedPeriod, Message: "the periods through " + m.there.LockedThrough +
				" are locked in the general ledger: reopen them there, or date the entry later"}, true
		}
	}
	return Blocker{}, false
}

// dateOf returns the date of what was sent, which must be changed; empty if nothing was.
func dateOf(r *journalRow) string {
	if r == nil || r.ExternalID == nil {
		return ""
	}
	return r.Date
}
