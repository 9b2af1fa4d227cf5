package audit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// company creates an organization with a chart, rates that were stored twice, and a month that was closed.
func company(t *testing.T, d *db.DB) (organizationID string) {
	t.Helper()
	made, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	organizationID = made.Organization.ID
	for _, rate := range []string{"1.08", "1.09"} {
		err := d.Write(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) error {
			_, err := fx.Store(ctx, tx, []fx.Quotation{{Base: "EUR", Quote: "USD", Date: "2026-01-31", Rate: money.MustParse(rate)},
				{Base: "EUR", Quote: "USD", Date: "2026-02-28", Rate: money.MustParse("1.10")}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: organizationID, UserID: made.Owner.UserID, Role: actor.Owner})
	var months []period.Period
	err = d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		months, err = period.Ensure(ctx, tx, calendar.Month{Year: 2026, Month: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := period.NewService(d).Close(ctx, months[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	return organizationID
}

const changedType = "UPDATE ledger_accounts SET type = 'Expense' WHERE organization_id = @org AND code = '1010'"

var errRolledBack = errors.New("rolled back by the test")

// after returns what verification finds after statements, which are rolled back.
func after(t *testing.T, d *db.DB, organizationID string, statements ...string) (found string) {
	t.Helper()
	err := d.WriteAlone(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) error {
		for _, s := range statements {
			if n, err := tx.Exec(ctx, s); err != nil || n == 0 {
				t.Fatalf("%s: %d rows, %v", s, n, err)
			}
		}
		texts, err := audit.VerifySince(ctx, tx, 0, nil)
		found = strings.Join(texts, "\n")
		return errors.Join(errRolledBack, err)
	})
	if !errors.Is(err, errRolledBack) {
		t.Fatal(err)
	}
	return found
}

func TestWhatIsStoredIsComparedWithTheLastRecordThatStatesIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := company(t, d)
		for _, version := range []string{"this version", "an earlier version"} {
			if found := after(t, d, org, "UPDATE organization_state SET books_version = books_version WHERE organization_id = @org"); found != "" {
				t.Errorf("%s: %s", version, found)
			}
			for statement, says := range map[string]string{
				changedType: `type of ledger_accounts is "Expense"`,
				"DELETE FROM ledger_accounts WHERE organization_id = @org AND code = '1010'":             "does not exist, but the audit record",
				"UPDATE fx_rates SET rate = '1.08' WHERE organization_id = @org AND date = '2026-01-31'": `states "1.09"`,
				"UPDATE fx_rates SET rate = '1.11' WHERE organization_id = @org AND date = '2026-02-28'": `states "1.1`,
				"DELETE FROM fx_rates WHERE organization_id = @org AND date = '2026-02-28'":              "fx rate EUR/USD 2026-02-28 does not exist",
				"DELETE FROM period_closings WHERE organization_id = @org":                               "period closing apc_",
				"UPDATE period_closings SET hash = 'x' WHERE organization_id = @org":                     `hash of period_closings is "x"`,
				"UPDATE organizations SET name = 'yours' WHERE organization_id = @org":                   `states "mine"`,
				"UPDATE api_keys SET last_four = 'abcd' WHERE organization_id = @org":                    `last_four of api_keys is "abcd"`,
				"INSERT INTO tags (organization_id, tag_id, name, kind, created_at) SELECT @org, 'tag_x', 'x', 'project', created_at " +
					"FROM organizations WHERE organization_id = @org": "tag tag_x has rows in tags, but no audit record states it",
			} {
				if found := after(t, d, org, statement); !strings.Contains(found, says) {
					t.Errorf("%s: %s: want %q in %q", version, statement, says, found)
				}
			}
			if err := d.WriteAlone(t.Context(), org, audit.RemoveStates); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// bookingRow is a row of a table of which records of other resources state a digest.
type bookingRow struct {
	EntryID       string  `db:"journal_entry_id"`
	TransactionID string  `db:"transaction_id"`
	PartnerID     *string `db:"partner_id"`
	Type          string  `db:"transaction_type"`
	AccountID     *string `db:"ledger_account_id"`
	OffsetID      *string `db:"offset_ledger_account_id"`
	Input         string  `db:"input"`
	RuleID        *string `db:"rule_id"`
	RuleVersion   *int64  `db:"rule_version"`
}

// What StoresRow is told is stated as it is, until StoresOther says that it may have changed.
func TestARowThatIsAboutToBeStoredIsStatedWithoutReadingIt(t *testing.T) {
	t.Parallel()
	const change = "UPDATE bookings SET input = 'changed' WHERE organization_id = @org"
	for name, c := range map[string]struct {
		then func(ctx context.Context, tx *db.Tx) error
		says string
	}{
		"stored": {func(context.Context, *db.Tx) error { return nil }, ""},
		"changed, and said so": {func(ctx context.Context, tx *db.Tx) error {
			audit.StoresOther(tx, "booking", "jrn_x")
			return tx.Queue(ctx, change)
		}, ""},
		"changed": {func(ctx context.Context, tx *db.Tx) error { return tx.Queue(ctx, change) }, "booking jrn_x"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				org := company(t, d)
				err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
					audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x", PartsOnly: true,
						Parts: []audit.Part{{Type: "booking", ID: "jrn_x"}}})
					row := bookingRow{EntryID: "jrn_x", TransactionID: "txn_x", Type: "invoice", Input: "{}"}
					audit.StoresRow(tx, "booking", "jrn_x", "bookings", row)
					if err := db.Insert(ctx, tx, "bookings", row); err != nil {
						return err
					}
					return c.then(ctx, tx)
				})
				if err != nil {
					t.Fatal(err)
				}
				found := after(t, d, org, "UPDATE organization_state SET books_version = books_version WHERE organization_id = @org")
				if (found == "") != (c.says == "") || !strings.Contains(found, c.says) {
					t.Errorf("%q, want %q", found, c.says)
				}
			})
		})
	}
}

func TestAnAnchorHoldsUntilTheLogIsCutShortOrRewritten(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := company(t, d)
		var a audit.Anchor
		read := func(do func(ctx context.Context, tx *db.Tx) error) {
			if err := d.Read(t.Context(), org, do); err != nil {
				t.Fatal(err)
			}
		}
		read(func(ctx context.Context, tx *db.Tx) (err error) { a, err = audit.NewAnchor(ctx, tx); return err })
		for name, x := range map[string]struct {
			change func(*audit.Anchor)
			says   string
		}{
			"as it is":          {func(*audit.Anchor) {}, ""},
			"a later record":    {func(a *audit.Anchor) { a.Sequence++ }, "it ends at record"},
			"another hash":      {func(a *audit.Anchor) { a.Hash = strings.Repeat("0", 64) }, "the log was rewritten"},
			"more entries":      {func(a *audit.Anchor) { a.Entries++ }, "the last number is JE-0"},
			"more transactions": {func(a *audit.Anchor) { a.Transactions++ }, "the last number is OT-0"},
		} {
			read(func(ctx context.Context, tx *db.Tx) error {
				anchor := a
				x.change(&anchor)
				found, err := anchor.Verify(ctx, tx)
				if text := strings.Join(found, "\n"); (x.says == "") != (text == "") || !strings.Contains(text, x.says) {
					t.Errorf("%s: %q, want %q", name, text, x.says)
				}
				return err
			})
		}
		read(func(ctx context.Context, tx *db.Tx) error {
			first, err := audit.SequenceBefore(ctx, tx, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
			if first != 0 {
				t.Errorf("%d records are older than all", first)
			}
			return err
		})
	})
}

// Records of earlier versions state the rows of invoices and cash applications, of which later ones state a digest.
func TestRowsThatARecordStatesAreComparedThoughOthersStateADigest(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	stored := db.TextRow{"invoice_id": {Value: text("1")}, "amount_due": {Value: text("20")}}
	for stated, want := range map[string]int{"20": 0, "30": 1} {
		found := audit.CompareRows("invoice", "invoices", map[string]*string{"invoice_id": text("1"), "amount_due": text(stated)}, stored)
		if len(found) != want || want > 0 && !strings.Contains(found[0], "amount_due of invoices is") {
			t.Errorf("with %s stated: %q", stated, found)
		}
	}
}
