package account_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

func TestAnUnusedAccountIsDeletedWithAllBelowIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := names(w.chart())
		w.grow(account.Asset, `
			Top
				Left
					Leaf
				Right`)
		if _, err := w.s.Archive(w.ctx, w.named("Right").ID); err != nil { // archived or not
			t.Fatal(err)
		}
		top, leaf := w.named("Top").ID, w.named("Leaf").ID
		version := w.state().BooksVersion
		if err := w.s.Delete(w.ctx, top); err != nil {
			t.Fatal(err)
		}
		if got := names(w.chart()); got != before || w.state().BooksVersion <= version {
			t.Errorf("left: %s; version %d after %d", got, w.state().BooksVersion, version)
		}
		for _, gone := range []string{top, leaf} {
			if got := w.logged(gone); got != "ledger_account.created, ledger_account.deleted" {
				t.Errorf("the audit has %s", got)
			}
			_, err := w.s.Get(w.ctx, gone)
			refused(t, "what is gone", err, fault.NotFound)
			refused(t, "deleting it again", w.s.Delete(w.ctx, gone), fault.NotFound)
		}
	})
}

// closed makes a balance that was stored when a period was closed.
func (w *world) closed(name string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		closing := tx.NewID(id.PeriodClosing)
		_, err := tx.Exec(ctx, "INSERT INTO period_closings (organization_id, period_closing_id, accounting_period_id, "+
			"legal_entity_id, closed_at, entry_count, hash) VALUES (@org, ?, 'ap_x', ?, ?, 0, '')", closing, w.entity, tx.Now())
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO period_closing_balances (organization_id, period_closing_id, ledger_account_id, "+
			"opening_balance, debits, credits, closing_balance) VALUES (@org, ?, ?, '0', '0', '0', '0')", closing, w.named(name).ID)
		return err
	})
}

func TestAnythingThatRefersToAnAccountOrOneBelowItKeepsIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for what, c := range map[string]struct {
			use   func(leaf string)
			words []string
		}{
			"a draft": {func(leaf string) {
				w.post("draft", map[string]string{leaf: "1", "Sales": "-1"})
			}, []string{"is used by 1 journal line, for example of JE-"}},
			"a posted line": {func(leaf string) {
				w.post("posted", map[string]string{leaf: "1", "Sales": "-1"})
			}, []string{"is used by 1 journal line, for example of JE-", "1 balance of an accounting period, for example of ap_"}},
			"many lines": {func(leaf string) {
				for range 3 {
					w.post("draft", map[string]string{leaf: "1", "Sales": "-1"})
				}
			}, []string{"is used by 3 journal lines, for example of JE-"}},
			"a closing": {func(leaf string) { w.closed(leaf) }, []string{"is used by 1 balance of a closed period, for example of apc_"}},
		} {
			top, leaf := "Top of "+what, "Leaf of "+what
			w.grow(account.Asset, "\n"+top+"\n\tMiddle\n\t\t"+leaf+"\n\tOther")
			c.use(leaf)
			before := names(w.chart())
			for _, name := range []string{top, leaf} {
				err := w.s.Delete(w.ctx, w.named(name).ID)
				refused(t, what+" against "+name, err, fault.Conflict, append(c.words, "the account "+name+" cannot be deleted: "+leaf+" is used")...)
			}
			if got := names(w.chart()); got != before {
				t.Errorf("%s: %s is left", what, got)
			}
		}
	})
}

type line struct {
	EntryID   string        `db:"journal_entry_id"`
	Position  int64         `db:"position"`
	ID        string        `db:"journal_line_id"`
	AccountID string        `db:"ledger_account_id"`
	EntityID  string        `db:"legal_entity_id"`
	Side      string        `db:"credit_or_debit"`
	Currency  string        `db:"currency"`
	TagIDs    string        `db:"tag_ids"`
	Date      time.Time     `db:"accounting_date"`
	Number    int64         `db:"number"`
	Posted    bool          `db:"is_posted"`
	Amount    money.Decimal `db:"amount"`
}

func TestAMessageAboutManyUsesStaysShort(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Asset, "Top\n A\n B\n C\n D\n E\n F\n G")
		w.post("draft", map[string]string{"A": "1", "B": "1", "C": "1", "D": "1", "E": "1", "F": "1", "G": "-6"})
		refused(t, "seven uses", w.s.Delete(w.ctx, w.named("Top").ID), fault.Conflict, "A is used", "E is used", "and 2 more")
		w.write(func(ctx context.Context, tx *db.Tx) (err error) {
			lines := make([]line, 1001)
			for i := range lines {
				lines[i] = line{EntryID: "je_many", Position: int64(i), ID: "jel_x", AccountID: w.named("Bank accounts").ID, EntityID: w.entity,
					Side: "DEBIT", Currency: "USD", TagIDs: "[]", Date: tx.Now(), Number: 77, Posted: true, Amount: money.FromInt(1)}
			}
			return db.Insert(ctx, tx, "journal_lines", lines...)
		})
		refused(t, "very many lines", w.s.Delete(w.ctx, w.named("Bank accounts").ID), fault.Conflict,
			"is used by at least 1000 journal lines, for example of JE-77")
	})
}

func TestArchivingIsRefusedWhileTheAccountIsInUse(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Asset, `
			Top
				Leaf
			Held
			Drafted
			Even`)
		w.post("posted", map[string]string{"Held": "1200.5", "Even": "-1200.5"})
		w.post("posted", map[string]string{"Even": "1200.50", "Sales": "-1200.50"})
		w.post("draft", map[string]string{"Drafted": "1", "Held": "-1"})
		for name, words := range map[string][]string{
			"Top":     {"the account Top cannot be archived: 1 account below it is not archived, for example Leaf"},
			"Held":    {"it has a balance of 1200.50 USD in Acme", "1 draft has lines on it, for example JE-3"},
			"Drafted": {"the account Drafted cannot be archived: 1 draft has lines on it, for example JE-3"},
		} {
			_, err := w.s.Archive(w.ctx, w.named(name).ID)
			refused(t, name, err, fault.Conflict, words...)
			if w.named(name).Archived() {
				t.Errorf("%s is archived", name)
			}
		}
		limited := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{"le_other"}})
		_, err := w.s.Archive(limited, w.named("Held").ID)
		refused(t, "by a key for another entity", err, fault.Conflict, "it has a balance in a legal entity that this API key has no access to")
		if strings.Contains(err.Error(), "Acme") || strings.Contains(err.Error(), "1200") {
			t.Errorf("it gives away %q", err)
		}
		for _, name := range []string{"Even", "Leaf", "Top"} {
			got, err := w.s.Archive(w.ctx, w.named(name).ID)
			if err != nil || got.ArchivedAt == nil || got.UpdatedAt == nil || !w.named(name).Archived() {
				t.Errorf("%s: %+v %v", name, got, err)
			}
		}
	})
}

func TestArchivingAndUnarchivingTwiceChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Asset, "Top\n Leaf")
		top, leaf := w.named("Top").ID, w.named("Leaf").ID
		do := func(what string, act func(context.Context, string) (account.Account, error), accountID string, archived bool) {
			got, err := act(w.ctx, accountID)
			again, err2 := act(w.ctx, accountID)
			if err != nil || err2 != nil || got.Archived() != archived || again.Archived() != archived || archived &&
				!again.ArchivedAt.Equal(*got.ArchivedAt) {
				t.Errorf("%s: %+v %v, then %+v %v", what, got, err, again, err2)
			}
		}
		do("unarchive what is not", w.s.Unarchive, leaf, false)
		do("archive", w.s.Archive, leaf, true)
		do("archive above", w.s.Archive, top, true)
		_, err := w.s.Unarchive(w.ctx, leaf)
		refused(t, "unarchiving below an archived account", err, fault.Conflict, "the parent account Top is archived")
		do("unarchive above", w.s.Unarchive, top, false)
		do("unarchive", w.s.Unarchive, leaf, false)
		if got := w.logged(leaf); got != "ledger_account.created, ledger_account.archived, ledger_account.unarchived" {
			t.Errorf("the audit has %s", got)
		}
		for _, act := range []func(context.Context, string) (account.Account, error){w.s.Archive, w.s.Unarchive} {
			_, err := act(w.ctx, "lac_x")
			refused(t, "what is not there", err, fault.NotFound)
		}
	})
}

// Posting locks the organization state, looks the account up and writes the line: the account must not be deleted in between.
func TestNoLineSlipsInWhileAnAccountIsDeleted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const rounds = 25
		for n := range rounds {
			w.grow(account.Asset, "Prey")
			prey := w.named("Prey").ID
			var wg sync.WaitGroup
			var deleted, posted error
			wg.Go(func() { deleted = w.s.Delete(w.ctx, prey) })
			wg.Go(func() {
				posted = w.d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
					if _, err := orgstate.Lock(ctx, tx); err != nil {
						return err
					}
					if _, err := account.Get(ctx, tx, prey); err != nil {
						return err
					}
					audit.Record(ctx, tx, audit.Change{Action: "test.posted", ResourceType: "test", ResourceID: prey, After: map[string]any{}})
					_, err := tx.Exec(ctx, `INSERT INTO journal_lines (organization_id, journal_entry_id, position, journal_line_id,
						ledger_account_id, legal_entity_id, credit_or_debit, amount,
						currency, tag_ids, accounting_date, number, is_posted) VALUES (@org, ?, 0, 'jel_x', ?, ?, 'DEBIT', '1', 'USD', '[]', ?, ?,
						?)`, tx.NewID(id.JournalEntry), prey, w.entity, tx.Now(), n, true)
					return err
				})
			})
			wg.Wait()
			if (deleted == nil) == (posted == nil) {
				t.Errorf("deleted: %v; posted: %v", deleted, posted)
			}
			if posted == nil { // out of the way of the next round
				w.rename(prey)
			}
		}
	})
}

func (w *world) rename(accountID string) {
	w.t.Helper()
	if _, err := w.s.Update(w.ctx, accountID, account.UpdateParams{Name: ptr("Spared")}); err != nil {
		w.t.Fatal(err)
	}
}

func TestVerifyReportsEveryKindOfDamage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for damage, want := range map[string]string{
			"UPDATE ledger_accounts SET parent_account_id = 'lac_x' WHERE organization_id = @org AND code = '1010'":           "is below lac_x, which does not exist",
			"UPDATE ledger_accounts SET parent_account_id = ledger_account_id WHERE organization_id = @org AND code = '1010'": "is below itself",
			"UPDATE ledger_accounts SET type = 'Equity' WHERE organization_id = @org AND code = '1010'":                       "of type Equity is below",
			"UPDATE ledger_accounts SET type = 'Odd' WHERE organization_id = @org AND code = '1610'":                          "type must be Asset",
			"UPDATE ledger_accounts SET normal_balance = 'up' WHERE organization_id = @org AND code = '1010'":                 "normal_balance must be",
			"UPDATE ledger_accounts SET name = '' WHERE organization_id = @org AND code = '1010'": "name must " +
				"not be empty",
			"UPDATE ledger_accounts SET archived_at = created_at WHERE organization_id = @org AND code = '1000'": "is not archived, but",
			"UPDATE ledger_accounts SET archived_at = created_at WHERE organization_id = @org AND role = 'rounding'": "with the role " +
				"rounding is archived",
			"UPDATE ledger_accounts SET role = NULL WHERE organization_id = @org AND role = 'rounding'": "no account has the role rounding",
			"UPDATE ledger_accounts SET role = NULL WHERE organization_id = @org AND role LIKE 'due_to:%'": "no account has the " +
				"role due_to:le_",
			"UPDATE ledger_accounts SET role = 'due_from:le_x' WHERE organization_id = @org AND code = '1010'": "there is no such legal entity",
			"UPDATE ledger_accounts SET sequence_number = 100000 WHERE organization_id = @org AND code = '1010'": "has the number 100000, " +
				"but the last one assigned is",
			"DELETE FROM ledger_accounts WHERE organization_id = @org AND code = '7060'": "no account has the role rounding",
			"INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits, " +
				"credits) VALUES (@org, '', 'le_x', 'lac_x', 'ap_x', '0', '0')": "account_balances names the account lac_x, which does not exist",
			"INSERT INTO period_closing_balances (organization_id, period_closing_id, ledger_account_id, opening_balance, debits, " +
				"credits, closing_balance) VALUES (@org, 'x', 'lac_x', '0', '0', '0', '0')": "period_closing_balances names the account lac_x",
		} {
			w := found(t, d)
			if texts := w.verify(); len(texts) > 0 {
				t.Fatalf("a new chart: %v", texts)
			}
			w.write(func(ctx context.Context, tx *db.Tx) error {
				n, err := tx.Exec(ctx, damage)
				if n == 0 {
					t.Errorf("%s did nothing", damage)
				}
				return err
			})
			texts := w.verify()
			if !slices.ContainsFunc(texts, func(text string) bool {
				return strings.HasPrefix(text, "ledger accounts: ") && strings.Contains(text, want)
			}) {
				t.Errorf("%s: %v, want %q", damage, texts, want)
			}
		}
	})
}

func TestVerifyReportsACounterThatWasSetBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := found(t, d)
		w.write(func(ctx context.Context, tx *db.Tx) error {
			state, err := orgstate.Lock(ctx, tx)
			state.AccountNumber--
			return err
		})
		if texts := w.verify(); len(texts) != 1 || !strings.Contains(texts[0], "but the last one assigned is") {
			t.Errorf("%v", texts)
		}
	})
}

func TestVerifyReportsACycleOfSeveralAccounts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := found(t, d)
		w.grow(account.Asset, "A\n B\n  C")
		w.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE ledger_accounts SET parent_account_id = ? WHERE organization_id = @org AND ledger_account_id = ?",
				w.named("C").ID, w.named("A").ID)
			return err
		})
		if texts := w.verify(); len(texts) != 3 || !strings.Contains(strings.Join(texts, " "), w.named("B").ID+" is below itself") {
			t.Errorf("%v", texts)
		}
	})
}
