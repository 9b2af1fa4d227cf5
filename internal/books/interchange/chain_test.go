package interchange

import (
	"reflect"
	"testing"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// golden is an entry with every field, and the id that is derived from it.
func golden() (*notation.Entry, string) {
	base := money.MustParse("108.50")
	return &notation.Entry{
		ID: "17", Number: "JE-4", Date: "2026-01-31", Instant: "2026-01-31T12:00:00Z", Intended: "2025-12-31T12:00:00Z", Posted: true,
		Memo: "Rent", Entity: "Acme GmbH", Tags: []notation.Tag{{Kind: "Department", Name: "Research"}}, Classification: "RENT",
		OriginatedBy: "correction", Previous: "JE-3", Next: "JE-5", Line: 12,
		Postings: []notation.Posting{
			{Account: []string{"Expenses", "Rent"}, Debit: true, Amount: money.MustParse("100.00"), Currency: "EUR", Base: &base,
				BaseCurrency: "USD", Memo: "January", Entity: "Acme GmbH", Tags: []notation.Tag{{Kind: "Floor", Name: "2"}}, Line: 13},
			{Account: []string{"Assets", "Bank"}, Amount: money.MustParse("108.50"), Currency: "USD", Line: 14},
		},
	}, "je_78kkfjdy4fgbbrk0qs3x2wx3g5"
}

func TestDerivedIDsOfEntriesNeverChange(t *testing.T) {
	t.Parallel()
	e, want := golden()
	if got := id.Derive(id.JournalEntry, contentOf(e, e.Entity)); got != want {
		t.Errorf("the id is %s, want %s: importing a file again would book it twice", got, want)
	}
	e.Line, e.Postings[0].Line = 99, 100
	if got := id.Derive(id.JournalEntry, contentOf(e, e.Entity)); got != want {
		t.Errorf("on other lines of the file, the id is %s, want %s", got, want)
	}
}

func TestEveryFieldOfAnEntryChangesItsDerivedID(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	expectNew := func(field string, e *notation.Entry, legalEntity string) {
		derived := id.Derive(id.JournalEntry, contentOf(e, legalEntity))
		if other, there := seen[derived]; there {
			t.Errorf("a change of %s gives the same id as %s", field, other)
		}
		seen[derived] = field
	}
	plain, _ := golden()
	expectNew("nothing", plain, plain.Entity)
	expectNew("Entity", plain, "Acme Ltd")
	fields := reflect.TypeFor[notation.Entry]()
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; name != "Line" && name != "Entity" { // the legal entity is a parameter
			e, _ := golden()
			reflect.ValueOf(e).Elem().Field(i).SetZero()
			expectNew(name, e, e.Entity)
		}
	}
	fields = reflect.TypeFor[notation.Posting]()
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; name != "Line" {
			e, _ := golden()
			reflect.ValueOf(&e.Postings[0]).Elem().Field(i).SetZero()
			expectNew("Postings."+name, e, e.Entity)
		}
	}
}
