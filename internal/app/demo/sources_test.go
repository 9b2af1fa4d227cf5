package demo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

func (w *world) hasSources(t *testing.T) {
	const want = `bank plaid Operating account: 1010 Bank accounts, Demo Company, Inc., USD
card ramp Company cards: 1030 Prepaid company cards, Demo Company, Inc., USD
other stripe Card payments: 1020 Payment processor balances, Demo Company, Inc., USD
exchange coinbase Coinbase: Coinbase below 1100 Exchange balances, Demo Company, Inc., 
exchange kraken Kraken: Kraken below 1100 Exchange balances, Demo Company GmbH, 
wallet ethereum Treasury: 1210 Digital assets at cost, Demo Company, Inc., 
wallet arbitrum Grants on Arbitrum: Grants on Arbitrum below 1200 Digital assets, Demo Company, Inc., 
bank plaid Geschäftskonto: 1010 Bank accounts, Demo Company GmbH, EUR
`
	var got strings.Builder
	w.read(t, func(ctx context.Context, tx *db.Tx) error {
		for _, s := range w.sources {
			a, err := account.Get(ctx, tx, s.LedgerAccountID)
			if err != nil {
				return err
			}
			name := a.String()
			if a.Code == "" {
				above, err := account.Get(ctx, tx, a.ParentID)
				if err != nil {
					return err
				}
				name += " below " + above.String()
			}
			e, err := entity.Get(ctx, tx, s.LegalEntityID)
			if err != nil {
				return err
			}
			got.WriteString(strings.Join([]string{string(s.Type), s.Provider, s.Name}, " ") + ": " + name + ", " + e.Name + ", " + s.Currency + "\n")
		}
		return nil
	})
	if got.String() != want {
		t.Error(got.String())
	}
}
