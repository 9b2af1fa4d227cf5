package account_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is an organization with its chart.
type world struct {
	t       *testing.T
	d       *db.DB
	s       *account.Service
	ctx     context.Context
	org     string
	entity  string
	entries int64
}

// each runs a test on each database and verifies the chart when it ends.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := found(t, d)
		test(t, w)
		if texts := w.verify(); len(texts) > 0 {
			t.Errorf("the test left a damaged chart: %s", strings.Join(texts, "; "))
		}
	})
}

func found(t *testing.T, d *db.DB) *world {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "Acme", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
	return &world{t: t, d: d, s: account.NewService(d), ctx: ctx, org: f.Organization.ID, entity: f.LegalEntity.ID}
}

func (w *world) read(fn db.Func) {
	w.t.Helper()
	if err := w.d.Read(w.ctx, w.org, fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) verify() (texts []string) {
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		texts, err = account.Verify(ctx, tx)
		return err
	})
	return texts
}

func (w *world) chart() (chart []account.Account) {
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		chart, err = account.All(ctx, tx)
		return err
	})
	return chart
}

// named finds the first account of a name.
func (w *world) named(name string) account.Account {
	w.t.Helper()
	for _, a := range w.chart() {
		if a.Name == name {
			return a
		}
	}
	w.t.Fatalf("no account is called %s", name)
	return account.Account{}
}

// grow makes accounts of a type from a notation: a name a line, below the line with less space before it.
func (w *world) grow(kind account.Type, tree string) {
	w.t.Helper()
	type step struct {
		depth int
		id    string
	}
	var way []step
	for line := range strings.Lines(strings.Trim(tree, "\n")) {
		name := strings.TrimSpace(line)
		depth := strings.Index(line, name)
		for len(way) > 0 && way[len(way)-1].depth >= depth {
			way = way[:len(way)-1]
		}
		p := account.CreateParams{Name: name, Type: kind}
		if len(way) > 0 {
			p.ParentID = way[len(way)-1].id
		}
		a, err := w.s.Create(w.ctx, p)
		if err != nil {
			w.t.Fatal(err)
		}
		way = append(way, step{depth, a.ID})
	}
}

// names lists the names of accounts.
func names(accounts []account.Account) string {
	list := make([]string, len(accounts))
	for i, a := range accounts {
		list[i] = a.Name
	}
	return strings.Join(list, ", ")
}

// post writes an entry behind the journal's back. A line is an account and a signed amount, debits positive; a posted
// one is in the balances.
func (w *world) post(status string, lines map[string]string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		w.entries++
		entryID, posted := tx.NewID(id.JournalEntry), status == "posted"
		_, err := tx.Exec(ctx, `INSERT INTO journal_entries (organization_id, journal_entry_id, number, status, originated_by,
			legal_entity_id, legal_entity_auto_assigned, accounting_date,
			period_auto_reassigned, classification, tag_ids, search, created_at, updated_at) VALUES (@org, ?, ?, ?, 'x', ?, ?, ?, ?,
			'UNKNOWN', '[]', '', ?, ?)`,
			entryID, w.entries, status, w.entity, false, tx.Now(), false, tx.Now(), tx.Now())
		position := 0
		for name, amount := range lines {
			side, size, debits, credits := "DEBIT", amount, amount, "0"
			if rest, negative := strings.CutPrefix(amount, "-"); negative {
				side, size, debits, credits = "CREDIT", rest, "0", rest
			}
			accountID := w.named(name).ID
			if err == nil {
				_, err = tx.Exec(ctx, `INSERT INTO journal_lines (organization_id, journal_entry_id, position, journal_line_id,
					ledger_account_id, legal_entity_id, credit_or_debit, amount, currency,
					tag_ids, accounting_date, number, is_posted) VALUES (@org, ?, ?, ?, ?, ?, ?, ?, 'USD', '[]', ?, ?, ?)`,
					entryID, position, tx.NewID(id.JournalLine), accountID, w.entity, side, size, tx.Now(), w.entries, posted)
			}
			if err == nil && posted {
				_, err = tx.Exec(ctx, `INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id,
					accounting_period_id, debits, credits) VALUES (@org, '', ?, ?, ?, ?, ?)`,
					w.entity, accountID, tx.NewID(id.Period), debits, credits)
			}
			position++
		}
		return err
	})
}

func (w *world) write(fn db.Func) {
	w.t.Helper()
	err := w.d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x", After: map[string]any{}})
		return fn(ctx, tx)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// logged lists the actions the audit has of a thing, the first one first.
func (w *world) logged(resourceID string) string {
	w.t.Helper()
	var actions []string
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		actions, err = db.All[string](ctx, tx,
			"SELECT action FROM audit_log WHERE organization_id = @org AND resource_id = ? ORDER BY sequence", resourceID)
		return err
	})
	return strings.Join(actions, ", ")
}

// state reads the organization state.
func (w *world) state() (state orgstate.State) {
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		state, err = orgstate.Read(ctx, tx)
		return err
	})
	return state
}

// refused checks that a change is refused with a kind and that its message has certain words.
func refused(t *testing.T, what string, err error, kind fault.Kind, words ...string) {
	t.Helper()
	if fault.KindOf(err) != kind || err == nil {
		t.Errorf("%s: %v, want it %s", what, err, kind)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %q does not say %q", what, err, word)
		}
	}
}
