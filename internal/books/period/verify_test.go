package period_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

func TestVerifyReportsEveryChangeToAClosedPeriod(t *testing.T) {
	t.Parallel()
	const (
		entries  = "its entries are not those that were closed"
		balances = "its balances are not those that were closed"
		lines    = "its lines do not add up to what was closed"
	)
	damages := []struct{ statement, finding string }{
		{"UPDATE journal_lines SET amount = '101' WHERE organization_id = ? AND number = 2 AND position = 0", entries},
		{"UPDATE journal_lines SET base_amount = '101' WHERE organization_id = ? AND number = 2 AND position = 0", lines},
		{"UPDATE journal_lines SET currency = 'EUR' WHERE organization_id = ? AND number = 2 AND position = 1", entries},
		{"UPDATE journal_lines SET ledger_account_id = 'lac_x' WHERE organization_id = ? AND number = 2 AND position = 1", entries},
		{"UPDATE journal_lines SET credit_or_debit = 'DEBIT' WHERE organization_id = ? AND number = 2 AND position = 1", entries},
		{"UPDATE journal_lines SET journal_line_id = 'jel_x' WHERE organization_id = ? AND number = 2 AND position = 1", entries},
		{"UPDATE journal_lines SET position = 7 WHERE organization_id = ? AND number = 2 AND position = 1", entries},
		{"DELETE FROM journal_lines WHERE organization_id = ? AND number = 2 AND position = 1", entries},
		{"UPDATE journal_entries SET number = 99 WHERE organization_id = ? AND number = 2", entries},
		{"UPDATE journal_entries SET accounting_date = created_at WHERE organization_id = ? AND number = 2", "it had 2 entries and has 1"},
		{"UPDATE journal_entries SET legal_entity_id = 'le_x' WHERE organization_id = ? AND number = 2", entries},
		{"UPDATE journal_entries SET status = 'draft' WHERE organization_id = ? AND number = 2", "it had 2 entries and has 1"},
		{"DELETE FROM journal_entries WHERE organization_id = ? AND number = 2", "it had 2 entries and has 1"},
		{"UPDATE account_balances SET credits = '1' WHERE organization_id = ? AND credits = '0'", balances},
		{"DELETE FROM account_balances WHERE organization_id = ?", balances},
		{"UPDATE period_closing_balances SET opening_balance = '1' WHERE organization_id = ?", balances},
		{"UPDATE period_closing_balances SET debits = '1' WHERE organization_id = ?", balances},
		{"UPDATE period_closing_balances SET closing_balance = '1' WHERE organization_id = ?", balances},
		{"DELETE FROM period_closing_balances WHERE organization_id = ?", balances},
		{"UPDATE period_closings SET hash = 'x' WHERE organization_id = ?", entries},
		{"UPDATE period_closings SET entry_count = 3 WHERE organization_id = ?", "it had 3 entries and has 2"},
		{"UPDATE period_closings SET reopened_at = closed_at WHERE organization_id = ? AND accounting_period_id IN (SELECT " +
			"accounting_period_id FROM accounting_periods WHERE key = '2025-12')",
			"2026-01 is closed for le_"},
		{"UPDATE accounting_periods SET start_date_utc = created_at WHERE organization_id = ? AND key = '2026-03'",
			"2026-03 does not begin and end with the month in the time zone UTC"},
		{"UPDATE accounting_periods SET end_date_utc = created_at WHERE organization_id = ? AND key = '2026-01'",
			"2026-01 does not begin and end"},
		{"DELETE FROM accounting_periods WHERE organization_id = ? AND key = '2026-02'", "months are missing between 2026-01 and 2026-03"},
		{"UPDATE journal_entries SET accounting_period_id = NULL WHERE organization_id = ? AND number = 3", "JE-3 is not dated in its period"},
		{"UPDATE journal_entries SET accounting_date = created_at WHERE organization_id = ? AND number = 1", "JE-1 is not dated in its period"},
	}
	each(t, "UTC", func(t *testing.T, first *books) {
		for _, c := range damages {
			b := open(t, first.db, first.now, "UTC")
			b.post(t, "2026-01-09", sale)
			b.post(t, "2026-01-10", sale)
			b.post(t, "2026-03-10", sale)
			b.id(t, "2025-11")
			for _, key := range []string{"2025-11", "2025-12", "2026-01"} {
				b.close(t, key, "")
			}
			if texts := b.verify(t); len(texts) > 0 {
				t.Fatalf("before anything is altered: %v", texts)
			}
			b.damage(t, c.statement, b.org)
			b.broken = true
			b.read(t, func(ctx context.Context, tx *db.Tx) error {
				texts, err := period.Verify(ctx, tx)
				if !strings.Contains(strings.Join(texts, "\n"), c.finding) {
					t.Errorf("%s: verify returns %v, want %q", c.statement, texts, c.finding)
				}
				return err
			})
		}
	})
}

// Memos and tags may change after the close: the digest does not include them.
func TestVerifyAcceptsAChangedMemoInAClosedPeriod(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.post(t, "2026-01-09", sale)
		b.close(t, "2026-01", "")
		b.damage(t, "UPDATE journal_entries SET memo = 'clearer', search = 'je-1\nclearer', updated_at = created_at WHERE "+
			"organization_id = ? AND number = 1", b.org)
	})
}
