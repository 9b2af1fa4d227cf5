package journal_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// sampleJournal creates a small journal: JE-1 is reversed by JE-2 and replaced by JE-3, JE-4 is a draft, JE-5 a deleted draft, and
// JE-6 is posted.
func sampleJournal(t *testing.T, d *db.DB) (organizationID string) {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	marked, err := tag.NewService(d).Create(ctx, tag.Project, "a")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	err = d.Read(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			ids[a.Code] = a.ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s := journal.NewService(d)
	entry := func(status journal.Status) journal.Guided {
		e, err := s.Create(ctx, journal.CreateParams{AccountingDate: "2026-01-05", Status: status, OriginatedBy: journal.ByHand,
			Memo: "test", TagIDs: []string{marked.ID}, Lines: []journal.LineParams{
				{LedgerAccountID: ids["1010"], Side: book.Debit, Amount: "100"}, {LedgerAccountID: ids["4010"], Side: book.Credit, Amount: "100"},
			}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := entry(journal.Posted)
	if _, err := s.Correct(ctx, first.ID, journal.UpdateParams{Memo: new("better")}); err != nil {
		t.Fatal(err)
	}
	entry(journal.Draft)
	if err := s.Delete(ctx, entry(journal.Draft).ID); err != nil {
		t.Fatal(err)
	}
	entry(journal.Posted)
	return f.Organization.ID
}

func verify(t *testing.T, d *db.DB, organizationID string) (out []string) {
	t.Helper()
	err := d.Read(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = journal.Verify(ctx, tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// addShare lists an entry for a legal entity that it has no lines of.
const addShare = `INSERT INTO journal_shares (organization_id, journal_entry_id, legal_entity_id, accounting_date, number)
	SELECT organization_id, journal_entry_id, 'le_x', accounting_date, number FROM journal_entries WHERE organization_id = ? AND number = 6`

func TestVerifyReportsEveryKindOfDamageToTheJournal(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if got := verify(t, d, sampleJournal(t, d)); len(got) > 0 {
			t.Fatalf("found in undamaged books: %v", got)
		}
		for damage, says := range map[string]string{
			"UPDATE account_balances SET debits = '99' WHERE organization_id = ? AND tag_id = ''":                            `(tag "") is 99/`,
			"UPDATE account_balances SET credits = '1' WHERE organization_id = ? AND tag_id <> ''":                           `(tag "tag_`,
			"DELETE FROM account_balances WHERE organization_id = ? AND tag_id <> ''":                                        "has lines but no balance",
			"UPDATE account_balances SET accounting_period_id = 'ap_x' WHERE organization_id = ?":                            "has lines but no balance",
			"UPDATE journal_lines SET amount = '99' WHERE organization_id = ? AND number = 4 AND position = 0":               "the entry JE-4 does not balance",
			"UPDATE journal_lines SET credit_or_debit = 'DEBIT' WHERE organization_id = ? AND number = 4":                    "the entry JE-4 does not balance",
			"DELETE FROM journal_lines WHERE organization_id = ? AND number = 4":                                             "the entry JE-4 does not balance",
			"UPDATE journal_lines SET amount = '0' WHERE organization_id = ? AND number = 4":                                 "a line of JE-4 has an amount that is not positive",
			"UPDATE journal_lines SET ledger_account_id = 'lac_x' WHERE organization_id = ? AND number = 4":                  "a line of JE-4 has an amount that is not positive, or an account",
			"UPDATE journal_lines SET legal_entity_id = 'le_x' WHERE organization_id = ? AND number = 4":                     "or an account or legal entity that does not exist",
			"UPDATE journal_lines SET base_amount = '99' WHERE organization_id = ? AND number = 6 AND position = 0":          "the entry JE-6 does not balance in its legal entity's currency",
			"UPDATE journal_lines SET base_amount = '99' WHERE organization_id = ? AND number = 6":                           "a line of JE-6 has no amount in its legal entity's currency, or a wrong one",
			"UPDATE journal_lines SET base_amount = NULL WHERE organization_id = ? AND number = 6":                           "a line of JE-6 has no amount in its legal entity's currency, or a wrong one",
			"UPDATE journal_lines SET accounting_date = '2026-01-06T00:00:00.000Z' WHERE organization_id = ? AND number = 6": "the lines of JE-6 do not have its date, number and state",
			"UPDATE journal_lines SET is_posted = (1 = 0) WHERE organization_id = ? AND number = 6":                          "the lines of JE-6 do not have its date, number and state",
			"UPDATE journal_lines SET position = position + 1 WHERE organization_id = ? AND number = 6 AND position = 1":     "the lines of JE-6 do not have its date, number and state",
			"UPDATE journal_lines SET number = 7 WHERE organization_id = ? AND number = 6":                                   "the lines of JE-6 do not have its date, number and state",
			"UPDATE journal_lines SET journal_entry_id = 'je_x' WHERE organization_id = ? AND number = 6":                    "2 rows of journal_lines belong to no entry",
			"UPDATE journal_tags SET journal_entry_id = 'je_x' WHERE organization_id = ? AND number = 6":                     "1 rows of journal_tags belong to no entry",
			"UPDATE journal_tags SET accounting_date = '2026-01-06T00:00:00.000Z' WHERE organization_id = ? AND number = 6":  "1 rows of journal_tags belong to no entry, or not to its date",
			"UPDATE journal_tags SET tag_id = 'tag_x' WHERE organization_id = ? AND number = 6":                              "the tag tag_x has 1 rows in the index, but is on 0 entries",
			"DELETE FROM journal_tags WHERE organization_id = ? AND number = 6":                                              "has 4 rows in the index, but is on 5 entries",
			"UPDATE journal_entries SET legal_entity_id = 'le_x' WHERE organization_id = ? AND number = 6":                   "the entry JE-6 is not found by exactly the legal entities",
			addShare: "the entry JE-6 is not found by exactly the legal entities of its lines",
			"UPDATE journal_entries SET search = 'je-6' WHERE organization_id = ? AND number = 6":                               "the entry JE-6 cannot be found by its text",
			"UPDATE journal_entries SET number = 9 WHERE organization_id = ? AND number = 6":                                    "the entries JE-6 to JE-8 are missing",
			"DELETE FROM journal_entries WHERE organization_id = ? AND number = 5":                                              "the entries JE-5 to JE-5 are missing",
			"UPDATE organization_state SET entry_number = 7 WHERE organization_id = ?":                                          "the last entry is JE-6, but the organization state says JE-7",
			"UPDATE journal_entries SET accounting_period_id = 'ap_x' WHERE organization_id = ? AND number = 6":                 "the entry JE-6 is not in its period",
			"UPDATE journal_entries SET accounting_date = '2026-02-06T00:00:00.000Z' WHERE organization_id = ? AND number = 6":  "the entry JE-6 is not in its period",
			"UPDATE journal_entries SET status = 'deleted' WHERE organization_id = ? AND number = 4":                            "the deleted entry JE-4 has lines",
			"UPDATE journal_entries SET next_entry_id = NULL WHERE organization_id = ? AND number = 1":                          "the chain of reversals is broken at JE-2",
			"UPDATE journal_entries SET previous_entry_id = NULL WHERE organization_id = ? AND number = 2":                      "the chain of reversals is broken at JE-1",
			"UPDATE journal_entries SET next_entry_id = 'je_x' WHERE organization_id = ? AND number = 6":                        "the chain of reversals is broken at JE-6",
			"UPDATE journal_entries SET originated_by = 'manual' WHERE organization_id = ? AND number = 2":                      "the chain of reversals is broken at JE-3",
			"UPDATE journal_entries SET originated_by = 'reversal' WHERE organization_id = ? AND number = 6":                    "the chain of reversals is broken at JE-6",
			"UPDATE journal_entries SET status = 'draft', accounting_period_id = NULL WHERE organization_id = ? AND number = 2": "the chain of reversals is broken at JE-1",
		} {
			organizationID := sampleJournal(t, d)
			err := d.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
				n, err := tx.Exec(ctx, damage, organizationID)
				if n == 0 {
					t.Errorf("%s did nothing", damage)
				}
				return err
			})
			if err != nil {
				t.Fatalf("%s: %v", damage, err)
			}
			if got := strings.Join(verify(t, d, organizationID), "\n"); !strings.Contains(got, says) {
				t.Errorf("%s\nis reported as\n%s\nwant %s", damage, got, says)
			}
		}
	})
}

func TestVerifyListsAFewFindingsOfAKindAndCountsTheRest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		organizationID := sampleJournal(t, d)
		err := d.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE journal_lines SET amount = '0', base_amount = '0' WHERE organization_id = ?", organizationID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(verify(t, d, organizationID), "\n")
		if strings.Count(got, "an amount that is not positive") != 5 || !strings.Contains(got, "5 more faulty lines") {
			t.Errorf("%s", got)
		}
	})
}
