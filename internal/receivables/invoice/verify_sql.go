package invoice

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// forEach calls do for every invoice in the order of ids, reading them in chunks.
func forEach(ctx context.Context, tx *db.Tx, do func([]Invoice) error) error {
	const chunk = 1000
	for last := ""; ; {
		rows, err := db.All[row](ctx, tx, selectRows+" AND invoice_id > ? ORDER BY invoice_id LIMIT ?", last, chunk)
		if err != nil {
			return err
		}
		found, err := invoicesOf(ctx, tx, rows)
		if err != nil {
			return err
		}
		if err := do(found); err != nil || len(rows) < chunk {
			return err
		}
		last = rows[chunk-1].ID
	}
}

// forEachMirrored calls do for every mirrored invoice, without its lines, reading them in chunks.
func forEachMirrored(ctx context.Context, tx *db.Tx, do func(Invoice)) error {
	const chunk = 1000
	for last := ""; ; {
		rows, err := db.All[row](ctx, tx, selectRows+" AND invoice_id > ? AND external_id IS NOT NULL ORDER BY invoice_id LIMIT ?", last, chunk)
		if err != nil {
			return err
		}
		for _, r := range rows {
			do(r.invoice())
			last = r.ID
		}
		if len(rows) < chunk {
			return nil
		}
	}
}

// balanceRow is one side of the balance of an account of a legal entity, in the unit of its lines: null is the base currency.
type balanceRow struct {
	LegalEntityID string        `db:"legal_entity_id"`
	Unit          *string       `db:"unit"`
	Side          string        `db:"credit_or_debit"`
	Amount        money.Decimal `db:"amount"`
}

func selectControl(ctx context.Context, tx *db.Tx, accountID string) ([]balanceRow, error) {
	return db.All[balanceRow](ctx, tx, `SELECT legal_entity_id, unit, credit_or_debit,
		{dec_sum}(CASE WHEN unit IS NULL THEN amount ELSE quantity END) AS amount
		FROM journal_lines WHERE organization_id = @org AND ledger_account_id = ? AND is_posted = ?
		GROUP BY legal_entity_id, unit, credit_or_debit`, accountID, true)
}
