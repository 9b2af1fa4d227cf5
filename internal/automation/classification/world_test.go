package classification_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is a company with a bank, a card and a wallet, and the rules it wrote.
type world struct {
	*testing.T
	*classification.Service
	db           *db.DB
	clock        *clock.Manual
	ctx          context.Context
	org          organization.Created
	memory       *memory.Service
	transactions *transaction.Service
	journal      *journal.Service
	bookings     *booking.Service
	periods      *period.Service
	all          *source.Service
	sources      map[string]source.Source
	accounts     map[string]string // ids by name
	names        map[string]string // of accounts, rules and tags, by id
	tags         map[string]string
	count        int
}

var today = time.Date(2025, 12, 15, 12, 0, 0, 0, time.UTC)

// each runs a test in a world of each engine, and verifies the data at the end.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(today)
		c.Clock = now
		w := newWorld(t, dbtest.Open(t, c), now)
		test(w)
		w.sound()
	})
}

func newWorld(t *testing.T, d *db.DB, now *clock.Manual) *world {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	w := &world{
		T: t, db: d, clock: now, org: f, memory: memory.NewService(d), transactions: transaction.NewService(d),
		journal: journal.NewService(d), periods: period.NewService(d).WithTransit(holdings.InTransit), all: source.NewService(d, nil, nil),
		sources: map[string]source.Source{}, accounts: map[string]string{}, names: map[string]string{}, tags: map[string]string{},
	}
	w.fine(err)
	w.bookings = booking.NewService(d, w.journal)
	w.Service = classification.NewService(d, w.bookings)
	w.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID})
	chart := account.NewService(d)
	for _, a := range []struct {
		name string
		kind account.Type
	}{{"Software", account.Expense}, {"Rent", account.Expense}, {"Travel", account.Expense}, {"Sales", account.Revenue},
		{"Loans", account.Liability}} {
		made, err := chart.Create(w.ctx, account.CreateParams{Name: a.name + " of tests", Type: a.kind})
		w.fine(err)
		w.accounts[a.name], w.names[made.ID] = made.ID, a.name
	}
	return w
}

func (w *world) fine(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// source returns a source by its name, and creates it on first use.
func (w *world) source(name string) source.Source {
	w.Helper()
	if s, there := w.sources[name]; there {
		return s
	}
	p := source.CreateParams{Name: name, Type: source.Bank, Currency: "USD", LegalEntityID: w.org.LegalEntity.ID}
	switch name {
	case "Card":
		p.Type = source.Card
	case "Wallet":
		p.Type, p.Currency, p.Chain, p.Address = source.Wallet, "", "ethereum", "0xaaaa000000000000000000000000000000000001"
	}
	made, err := w.all.Create(w.ctx, p)
	w.fine(err)
	w.sources[name] = made.Source
	return made.Source
}

// addTransactions adds transactions, one per line: the source, the day, an amount with its sign and currency, and
// further fields as name=value with _ for a blank: text, memo, vendor, category, merchant, payee, from, to, type.
func (w *world) addTransactions(lines ...string) (ids []string) {
	w.Helper()
	for _, line := range lines {
		f := strings.Fields(line)
		at, err := time.Parse(time.DateOnly, f[1])
		w.fine(err)
		w.count++
		sign, amount := f[2][:1], money.MustParse(f[2][1:])
		p := transaction.Params{ExternalID: fmt.Sprint("x", w.count), At: at.Add(12 * time.Hour), Quantity: &amount, Currency: f[3],
			Direction: transaction.Debit}
		if sign == "+" {
			p.Direction = transaction.Credit
		}
		if !money.IsFiat(p.Currency) {
			p.Crypto = &transaction.Crypto{Chain: "ethereum", AssetType: p.Currency}
			p.Value = &transaction.ValueParams{Gross: amount, Net: amount, Currency: "USD"}
		}
		for _, said := range f[4:] {
			name, plain, _ := strings.Cut(said, "=")
			value := strings.ReplaceAll(plain, "_", " ")
			switch name {
			case "text":
				p.Description = value
			case "memo":
				p.Memo = value
			case "vendor":
				p.Vendor = value
			case "category":
				p.Category = value
			case "merchant":
				p.Card = &transaction.Card{MerchantName: value}
			case "payee":
				p.Bank = &transaction.Bank{CounterpartyName: value}
			case "from":
				p.Crypto.From = value
			case "to":
				p.Crypto.To = value
			case "type":
				p.Type = transaction.Type(plain)
			default:
				w.Fatalf("%q says nothing", said)
			}
		}
		made, err := w.transactions.Create(w.ctx, []transaction.CreateParams{{SourceID: w.source(f[0]).ID, Params: p}})
		w.fine(err)
		ids = append(ids, made.Transactions[0].ID)
	}
	return ids
}

// rule writes a rule under a name: a line of name=value with _ for a blank, to= naming the account.
func (w *world) rule(name, line string) string {
	w.Helper()
	r, err := w.memory.PutRule(w.ctx, memory.PutRuleParams{Rule: w.ruleParams(line)})
	w.fine(err)
	w.names[r.ID] = name
	return r.ID
}

func (w *world) ruleParams(line string) memory.RuleParams {
	p := memory.RuleParams{Type: memory.Classification}
	for _, said := range strings.Fields(line) {
		name, value, _ := strings.Cut(said, "=")
		value = strings.ReplaceAll(value, "_", " ")
		switch name {
		case "memo":
			p.MemoContains = &value
		case "category":
			p.ProviderCategory = &value
		case "merchant":
			p.Merchant = &value
		case "address":
			p.Address = &value
		case "asset":
			p.AssetType = &value
		case "direction":
			p.Direction = &value
		case "type":
			p.TransactionType = &value
		case "payee":
			p.PayeeName = &value
		case "tag":
			p.TagID = new(w.tag(value))
		case "priority":
			n, err := money.Parse(value)
			w.fine(err)
			var priority int64
			_, err = fmt.Sscan(n.String(), &priority)
			w.fine(err)
			p.Priority = &priority
		case "enabled":
			p.Enabled = new(value == "true")
		case "to":
			p.LedgerAccountID = new(cmp.Or(w.accounts[value], value))
		default:
			w.Fatalf("%q says nothing", said)
		}
	}
	return p
}

func (w *world) tag(name string) string {
	w.Helper()
	if w.tags[name] == "" {
		made, err := tag.NewService(w.db).Create(w.ctx, tag.Department, name)
		w.fine(err)
		w.tags[name], w.names[made.ID] = made.ID, name
	}
	return w.tags[name]
}

// classify creates a run over all transactions and executes it.
func (w *world) classify(p classification.CreateParams) classification.Run {
	w.Helper()
	if p.Filter == nil && p.TransactionIDs == nil {
		p.Filter = &transaction.Filter{}
	}
	p.Action = cmp.Or(p.Action, classification.Suggest)
	r, err := w.Create(w.ctx, p)
	w.fine(err)
	done, err := w.Service.Run(w.T.Context(), w.org.Organization.ID, r.ID, nil)
	w.fine(err)
	if done.Status != classification.Completed {
		w.Fatalf("the run is %s: %s", done.Status, done.Error)
	}
	return done
}

// resultLines returns the results of a run as lines: number, outcome, type and account, rule, other rules, confidence
// and message.
func (w *world) resultLines(runID string) (lines []string) {
	w.Helper()
	for _, r := range w.results(runID) {
		parts := []string{transaction.SequenceNumber(r.Number), string(r.Outcome)}
		if r.Type != "" {
			parts = append(parts, r.Type, cmp.Or(w.names[r.LedgerAccountID], r.LedgerAccountID))
		}
		if r.RuleID != "" {
			parts = append(parts, fmt.Sprintf("by %s.%d", w.names[r.RuleID], r.RuleVersion))
		}
		for _, o := range r.Others {
			parts = append(parts, "not "+w.names[o.RuleID])
		}
		if r.Message != "" {
			parts = append(parts, "because "+r.Message)
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

func (w *world) results(runID string) (out []classification.Result) {
	w.Helper()
	cursor := ""
	for {
		got, err := w.Results(w.ctx, classification.ResultFilter{RunID: runID}, page.Request{Limit: 100, Cursor: cursor})
		w.fine(err)
		out = append(out, got.Items...)
		if cursor = got.NextCursor; cursor == "" {
			return out
		}
	}
}

func (w *world) says(name string, got []string, want ...string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("%s:\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// book posts the entry of a transaction.
func (w *world) book(transactionID, kind, to string) string {
	w.Helper()
	made, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: transactionID, Type: kind, LedgerAccountID: w.accounts[to],
		AutoPost: true}}, func(int) string {
		return ""
	}, false)
	w.fine(err)
	return made[0].ID
}

// get returns a transaction.
func (w *world) get(transactionID string) transaction.Transaction {
	w.Helper()
	t, err := w.transactions.Get(w.ctx, transactionID)
	w.fine(err)
	return t
}

// sound fails the test unless all invariants hold.
func (w *world) sound() {
	w.Helper()
	err := w.db.Read(w.T.Context(), w.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		for _, check := range []func(context.Context, *db.Tx) ([]string, error){classification.Verify, booking.Verify, transaction.Verify} {
			found, err := check(ctx, tx)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				w.Errorf("check: %v", found)
			}
		}
		return nil
	})
	w.fine(err)
}
