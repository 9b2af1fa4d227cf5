package apitest

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
)

// Ledger creates entries from an accountant's notation: "Dr 1010 100.00; Cr 4010 100.00 EUR DE #rent". Accounts are codes
// of the default chart; legal entities and tags are referred to by name.
type Ledger struct {
	*Tenant
	Accounts map[string]string // ids by code
	Names    map[string]string // ids of legal entities and, with #, of tags
}

// OpenLedger returns a ledger that knows the accounts of the organization. Its first legal entity is US in the notation.
func (n *Tenant) OpenLedger(t *testing.T) *Ledger {
	t.Helper()
	l := &Ledger{n, map[string]string{}, map[string]string{"US": n.LegalEntity.ID}}
	n.read(t, func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			if a.Code != "" {
				l.Accounts[a.Code] = a.ID
			}
		}
		return err
	})
	return l
}

// AddEntity creates a legal entity with a name for the notation.
func (l *Ledger) AddEntity(t *testing.T, name, currency string) {
	t.Helper()
	l.Names[name] = l.NewLegalEntity(t, client.CreateLegalEntity{Name: name, BaseCurrency: currency}).ID
}

// AddTag creates a tag with a name for the notation and returns its id.
func (l *Ledger) AddTag(t *testing.T, name string) string {
	t.Helper()
	l.Names[name] = l.NewTag(t).ID
	return l.Names[name]
}

// AddAccount creates an asset account with a code and returns its id.
func (l *Ledger) AddAccount(t *testing.T, code string) string {
	t.Helper()
	l.Accounts[code] = l.NewAccount(t, client.CreateLedgerAccount{Name: "Account " + code, Code: code}).ID
	return l.Accounts[code]
}

var currencyName = regexp.MustCompile(`^[A-Z]{3,}$`)

// Lines parses lines in the notation. It panics if a word is unknown.
func (l *Ledger) Lines(text string) (out []client.CreateJournalLine) {
	for part := range strings.SplitSeq(text, ";") {
		f := strings.Fields(part)
		line := client.CreateJournalLine{LedgerAccountID: f[1], CreditOrDebit: map[string]string{"Dr": "DEBIT", "Cr": "CREDIT"}[f[0]],
			Amount: f[2]}
		if id, ok := l.Accounts[f[1]]; ok {
			line.LedgerAccountID = id
		}
		for _, extra := range f[3:] {
			id, named := l.Names[extra]
			switch {
			case named && strings.HasPrefix(extra, "#"):
				line.TagIDs = append(line.TagIDs, id)
			case named:
				line.LegalEntityID = id
			case strings.HasPrefix(extra, "tag_"):
				line.TagIDs = append(line.TagIDs, extra)
			case strings.HasPrefix(extra, "le_"):
				line.LegalEntityID = extra
			case currencyName.MatchString(extra):
				line.Currency = extra
			default:
				panic(extra + " is no name of a legal entity, a tag or a currency")
			}
		}
		out = append(out, line)
	}
	return out
}

// Entry returns an entry with lines in the notation, to be changed or sent.
func (l *Ledger) Entry(date, status, text string) client.CreateJournalEntry {
	return client.CreateJournalEntry{AccountingDate: date, Status: status, Memo: "test", Lines: l.Lines(text)}
}

// Create sends an entry and returns the one that was created.
func (l *Ledger) Create(t *testing.T, e client.CreateJournalEntry) client.JournalEntry {
	t.Helper()
	made, err := l.Client.CreateJournalEntry(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Post creates a posted entry.
func (l *Ledger) Post(t *testing.T, date, text string) client.JournalEntry {
	t.Helper()
	return l.Create(t, l.Entry(date, "posted", text))
}

// Draft creates a draft.
func (l *Ledger) Draft(t *testing.T, date, text string) client.JournalEntry {
	t.Helper()
	return l.Create(t, l.Entry(date, "draft", text))
}

// Find returns an entry by its id.
func (l *Ledger) Find(t *testing.T, id string) client.JournalEntry {
	t.Helper()
	e, err := l.Client.JournalEntry(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Sale is the simplest entry in the notation.
const Sale = "Dr 1010 100.00; Cr 4010 100.00"

// PostTo posts to the books of one of several legal entities.
func (l *Ledger) PostTo(t *testing.T, legalEntityID, date, text string) client.JournalEntry {
	t.Helper()
	e := l.Entry(date, "posted", text)
	e.LegalEntityID = legalEntityID
	return l.Create(t, e)
}

// Period returns an accounting period by its key, such as 2026-01.
func (l *Ledger) Period(t *testing.T, key string) client.AccountingPeriod {
	t.Helper()
	for _, p := range l.Periods(t) {
		if p.Key == key {
			return p
		}
	}
	t.Fatalf("there is no month %s", key)
	return client.AccountingPeriod{}
}

// Close closes periods by their keys for a legal entity of the notation, or for all of them if its name is empty.
func (l *Ledger) Close(t *testing.T, entity string, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := l.Client.CloseAccountingPeriod(t.Context(), l.Period(t, key).ID, l.Names[entity]); err != nil {
			t.Fatal(err)
		}
	}
}
