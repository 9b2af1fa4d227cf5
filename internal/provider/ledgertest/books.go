// Package ledgertest tests connectors to general ledgers. Conforms is the suite that every such connector passes, against a fake of its
// system: a server that speaks the wire format, verifies credentials, and keeps books.
package ledgertest

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

// Books are the general ledger of a fake. They are guarded by the server that has them.
type Books struct {
	provider.Chart
	TextMax   int           // the characters of a memo, as UTF-16 code units
	LineMax   int           // those of the memo of a line
	Remembers time.Duration // for how long a repeated request is recognized
	Entries   []*Entry      // deleted ones included

	answers map[string]answer
	number  int
}

// Entry is a journal in the books. Its texts are as they came over the wire.
type Entry struct {
	provider.Journal
	ID      string
	Version int
	Created time.Time
	Changed time.Time
	Gone    bool // deleted or void
}

// answer is what was answered to a request with a key of idempotency.
type answer struct {
	at    time.Time
	entry *Entry
}

// Code says why books refuse something.
type Code string

// The codes.
const (
	LockedPeriod     Code = "locked period"
	UnknownAccount   Code = "unknown account"
	InactiveAccount  Code = "inactive account"
	RefusingAccount  Code = "refusing account"
	UnknownDimension Code = "unknown dimension"
	Unbalanced       Code = "unbalanced"
	OtherCurrency    Code = "other currency"
	TooLong          Code = "too long"
	BadAmount        Code = "bad amount"
)

// Refusal is why books refuse a journal.
type Refusal struct {
	Code Code
	Line int    // from 0
	What string // the id of the account or value
}

// New adds a journal to the books, and returns it, or why not.
func (b *Books) New(j provider.Journal, id func(n int) string, at time.Time) (*Entry, *Refusal) {
	if refused := b.refuses(j); refused != nil {
		return nil, refused
	}
	b.number++
	e := &Entry{Journal: j, ID: id(b.number), Version: 1, Created: at, Changed: at}
	b.Entries = append(b.Entries, e)
	return e, nil
}

// refuses returns why a journal cannot be in the books.
func (b *Books) refuses(j provider.Journal) *Refusal {
	balance := money.Decimal{}
	for i, line := range j.Lines {
		if line.Debit {
			balance = balance.Add(line.Amount)
		} else {
			balance = balance.Sub(line.Amount)
		}
		if refused := b.refusesLine(i, line, j.Currency); refused != nil {
			return refused
		}
	}
	switch {
	case j.Date <= b.LockedThrough:
		return &Refusal{Code: LockedPeriod}
	case !balance.IsZero() || len(j.Lines) < 2:
		return &Refusal{Code: Unbalanced}
	case j.Currency != b.Currency && !b.Foreign:
		return &Refusal{Code: OtherCurrency, What: j.Currency}
	case units(j.Memo) > b.TextMax:
		return &Refusal{Code: TooLong}
	}
	return nil
}

// refusesLine returns why a line cannot be in the books.
func (b *Books) refusesLine(i int, line provider.JournalLine, currency string) *Refusal {
	places, _ := money.MinorUnits(currency)
	at := slices.IndexFunc(b.Accounts, func(a provider.LedgerAccount) bool { return a.ID == line.Account })
	switch {
	case at < 0:
		return &Refusal{UnknownAccount, i, line.Account}
	case !b.Accounts[at].Active:
		return &Refusal{InactiveAccount, i, line.Account}
	case b.Accounts[at].Refuses != "":
		return &Refusal{RefusingAccount, i, line.Account}
	case line.Amount.Sign() <= 0 || !line.Amount.Equal(line.Amount.Round(places)):
		return &Refusal{BadAmount, i, line.Amount.String()}
	case units(line.Memo) > b.LineMax:
		return &Refusal{TooLong, i, ""}
	}
	for dimension, value := range line.Dimensions {
		known := slices.ContainsFunc(b.Dimensions, func(d provider.Dimension) bool {
			return d.ID == dimension && slices.ContainsFunc(d.Values, func(v provider.DimensionValue) bool { return v.ID == value && v.Active })
		})
		if !known {
			return &Refusal{UnknownDimension, i, value}
		}
	}
	return nil
}

// units returns the length of a text in UTF-16 code units.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

// Answered returns what a request with a key of idempotency was answered with, or nil if it is new or too old.
func (b *Books) Answered(key string, now time.Time) *Entry {
	if a, found := b.answers[key]; found && key != "" && now.Sub(a.at) < b.Remembers {
		return a.entry
	}
	return nil
}

// Remember keeps what a request with a key of idempotency was answered with.
func (b *Books) Remember(key string, e *Entry, now time.Time) {
	if b.answers == nil {
		b.answers = map[string]answer{}
	}
	b.answers[key] = answer{now, e}
}

// Forget makes every request a new one.
func (b *Books) Forget() { b.answers = nil }

// Get returns a journal that is not deleted, or nil.
func (b *Books) Get(id string) *Entry {
	for _, e := range b.Entries {
		if e.ID == id && !e.Gone {
			return e
		}
	}
	return nil
}

// Delete takes a journal out of the books, or says why not.
func (b *Books) Delete(e *Entry, at time.Time) *Refusal {
	if e.Date <= b.LockedThrough {
		return &Refusal{Code: LockedPeriod}
	}
	e.Gone, e.Version, e.Changed = true, e.Version+1, at
	return nil
}

// Keyed returns the journals with a key that are not deleted.
func (b *Books) Keyed(key string) (out []*Entry) {
	for _, e := range b.Entries {
		if !e.Gone && (e.Key == key || strings.Contains(e.Memo, " "+key+"]")) {
			out = append(out, e)
		}
	}
	return out
}

// Standard returns accounts of every kind, with ids that the fake makes. Those of the last one, for receivables, refuse journals if the
// system has such accounts.
func Standard(id func(n int) string, refuses string) []provider.LedgerAccount {
	all := []provider.LedgerAccount{
		{Code: "1000", Name: "Checking", Type: "Asset", Active: true},
		{Code: "1200", Name: "Digital assets", Type: "Asset", Active: true},
		{Code: "4000", Name: "Sales", Type: "Revenue", Active: true},
		{Code: "6000", Name: "Network fees", Type: "Expense", Active: true},
		{Code: "3000", Name: "Equity of the owners", Type: "Equity", Active: true},
		{Code: "2500", Name: "Loans", Type: "Liability", Active: true},
		{Code: "1900", Name: "Old clearing", Type: "Asset"},
		{Code: "1100", Name: "Receivables", Type: "Asset", Active: true, Refuses: refuses},
	}
	for i := range all {
		all[i].ID = id(i + 1)
	}
	return all
}

// UUID returns ids of the form of a UUID.
func UUID(group int) func(n int) string {
	return func(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", group, n) }
}
