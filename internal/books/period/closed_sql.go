package period

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// ClosedBalance is the balance of an account when a period was closed.
type ClosedBalance struct {
	ClosingID, LedgerAccountID string
	Balance                    money.Decimal
}

// ClosedBalances returns the balances of some closings. The database sends one row for each closing, because a row for each account
// would cost more than the text. It runs in the caller's transaction.
func ClosedBalances(ctx context.Context, tx *db.Tx, closings []string) ([]ClosedBalance, error) {
	type row struct {
		ClosingID string `db:"period_closing_id"`
		Texts     string `db:"texts"`
	}
	rows, err := db.All[row](ctx, tx,
		`SELECT period_closing_id, string_agg(ledger_account_id || ' ' || closing_balance, ';') AS texts FROM period_closing_balances
		WHERE organization_id = @org AND period_closing_id {any} GROUP BY period_closing_id`, closings)
	if err != nil {
		return nil, err
	}
	var out []ClosedBalance
	for _, r := range rows {
		for text := range strings.SplitSeq(r.Texts, ";") {
			account, balance, _ := strings.Cut(text, " ")
			c := ClosedBalance{ClosingID: r.ClosingID, LedgerAccountID: account}
			if err := c.Balance.Scan(balance); err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}
