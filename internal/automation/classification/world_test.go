package classification_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/tenancy/companytest"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is a company with accounts for its rules.
type world struct {
	*companytest.Company
	*classification.Service
	memory   *memory.Service
	periods  *period.Service
	accounts map[string]string // ids by name
	names    map[string]string // of accounts, rules and tags, by id
	tags     map[string]string
}

// each runs a test in a world of each engine, and verifies the data at the end.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	companytest.Each(t, func(c *companytest.Company) {
		w := newWorld(c)
		test(w)
		w.sound()
	})
}

func newWorld(c *companytest.Company) *world {
	c.Helper()
	w := &world{
		Company: c, Service: classification.NewService(c.DB, c.Bookings), memory: memory.NewService(c.DB),
		periods:  period.NewService(c.DB).WithTransit(holdings.InTransit),
		accounts: map[string]string{}, names: map[string]string{}, tags: map[string]string{},
	}
	chart := account.NewService(c.DB)
	for _, a := range []struct {
		name string
		kind account.Type
	}{{"Software", account.Expense}, {"Rent", account.Expense}, {"Travel", account.Expense}, {"Sales", account.Revenue},
		{"Loans", account.Liability}} {
		made, err := chart.Create(w.Ctx, account.CreateParams{Name: a.name + " of tests", Type: a.kind})
		w.Must(err)
		w.accounts[a.name], w.names[made.ID] = made.ID, a.name
	}
	return w
}

// addTransactions adds transactions, one per line: the source, the day, an amount with its sign and currency, and
// further fields as name=value with _ for a blank: text, memo, vendor, category, merchant, payee, from, to, type.
func (w *world) addTransactions(lines ...string) (ids []string) {
	w.Helper()
	for _, line := range lines {
		f := strings.Fields(line)
		sign, amount := f[2][:1], money.MustParse(f[2][1:])
		p := transaction.Params{Quantity: &amount, Currency: f[3], Direction: transaction.Debit}
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
		ids = append(ids, w.AddTransaction(f[0], f[1], p).ID)
	}
	return ids
}

// rule writes a rule under a name: a line of name=value with _ for a blank, to= naming the account.
func (w *world) rule(name, line string) string {
	w.Helper()
	r, err := w.memory.PutRule(w.Ctx, memory.PutRuleParams{Rule: w.ruleParams(line)})
	w.Must(err)
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
			w.Must(err)
			var priority int64
			_, err = fmt.Sscan(n.String(), &priority)
			w.Must(err)
			p.Priority = &priority
		case "enabled":
			p.Enabled = new(value == "true")
		case "split": // Rent:60+Travel:40
			for part := range strings.SplitSeq(value, "+") {
				name, percent, _ := strings.Cut(part, ":")
				p.Splits = append(p.Splits, classify.Split{LedgerAccountID: cmp.Or(w.accounts[name], name), Percent: percent, Memo: "share"})
			}
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
		made, err := tag.NewService(w.DB).Create(w.Ctx, tag.Department, name)
		w.Must(err)
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
	r, err := w.Create(w.Ctx, p)
	w.Must(err)
	done, err := w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, nil)
	w.Must(err)
	if done.Status != batchrun.Completed {
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
		got, err := w.Results(w.Ctx, classification.ResultFilter{RunID: runID}, page.Request{Limit: 100, Cursor: cursor})
		w.Must(err)
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
	return w.Book(transactionID, kind, w.accounts[to])
}

// get returns a transaction.
func (w *world) get(transactionID string) transaction.Transaction {
	w.Helper()
	t, err := w.Transactions.Get(w.Ctx, transactionID)
	w.Must(err)
	return t
}

// sound fails the test unless all invariants hold.
func (w *world) sound() {
	w.Helper()
	err := w.DB.Read(w.T.Context(), w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
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
	w.Must(err)
}
