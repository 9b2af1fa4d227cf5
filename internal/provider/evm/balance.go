package evm

import (
	"context"
	"math/big"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

// Balances returns what the wallet held after the last block that was read: coins, and the tokens that were found there. If the node no
// longer has that state, it is what the wallet holds now.
func (c Connector) Balances(ctx context.Context, s *provider.Session) ([]provider.Balance, error) {
	r := &reader{}
	var err error
	if r.wallet, err = c.open(s); err != nil {
		return nil, err
	}
	if r.client, err = dial(s, r.wallet); err != nil {
		return nil, err
	}
	if err := provider.ParseCursor(s.Cursors[ledger], &r.at); err != nil {
		return nil, err
	}
	at := "finalized"
	if r.at.Deep {
		at = "latest"
	}
	if len(r.at.Marks) > 0 {
		at = quantity(r.at.Next - 1)
	}
	out, held, err := r.balances(ctx, at)
	if err == nil && !held && at != "latest" {
		out, held, err = r.balances(ctx, "latest")
	}
	if err == nil && !held {
		return nil, fault.Conflictf("the node of %s does not tell the balance", r.title)
	}
	return out, err
}

// balances returns what the wallet held after a block, and whether the node still has that state.
func (r *reader) balances(ctx context.Context, at string) ([]provider.Balance, bool, error) {
	var coins *big.Int
	calls := []*call{amountIn("eth_getBalance", []any{r.address, at}, &coins)}
	results := make([]string, len(r.at.Tokens))
	for i, t := range r.at.Tokens {
		calls = append(calls, ask(t.Contract, methodBalance+padded(r.address)[2:], at, &results[i]))
	}
	if err := r.do(ctx, calls...); err != nil {
		return nil, false, err
	}
	for _, one := range calls {
		if one.refused != nil && !one.refused.reverted() {
			return nil, false, nil
		}
	}
	sums := map[string]money.Decimal{}
	own, err := decimal(coins, coinPlaces)
	if err != nil {
		return nil, false, r.nonsense("%w", err)
	}
	sums[r.symbol] = own
	for i, t := range r.at.Tokens {
		data := words(results[i])
		if len(data) != 1 || t.Places < 0 {
			continue // it is no token any more
		}
		if amount, err := decimal(amountOf(data[0]), t.Places); err == nil {
			currency := r.currencyOf(t.Contract)
			sums[currency] = sums[currency].Add(amount)
		}
	}
	return provider.Holdings(sums), true, nil
}
