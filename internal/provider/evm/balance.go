package evm

import (
	"context"
	"maps"
	"math/big"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

// Balances returns what the wallet held after the last block that was read: coins, and the tokens that were found there. If the node no
// longer has that state, it is what the wallet held after the newest block. A token whose contract does not tell is left out.
func (c Connector) Balances(ctx context.Context, s *provider.Session) (provider.Holdings, error) {
	r := &reader{}
	var err error
	if r.wallet, err = c.open(s); err != nil {
		return provider.Holdings{}, err
	}
	if r.client, err = dial(s, r.wallet); err != nil {
		return provider.Holdings{}, err
	}
	if err := provider.ParseCursor(s.Cursors[ledger], &r.at); err != nil {
		return provider.Holdings{}, err
	}
	at := "finalized"
	if r.at.Deep {
		at = "latest"
	}
	if len(r.at.Marks) > 0 {
		at = quantity(r.at.Next - 1)
	}
	out, told, err := r.balances(ctx, at)
	if err == nil && !told && at != "latest" {
		out, told, err = r.balances(ctx, "latest")
	}
	if err == nil && !told {
		err = fault.Conflictf("the node of %s does not tell the balance", r.title)
	}
	return out, err
}

// balances returns what the wallet held after a block, and whether the node still has that state.
func (r *reader) balances(ctx context.Context, tag string) (out provider.Holdings, told bool, err error) {
	var after *block
	header := blockOf(tag, false, -1, &after)
	if err := r.do(ctx, header); err != nil || header.refused != nil || after == nil {
		return out, false, err
	}
	var coins *big.Int
	at := quantity(int64(after.Number))
	calls := []*call{amountIn("eth_getBalance", []any{r.address, at}, &coins)}
	results := make([]string, len(r.at.Tokens))
	for i, t := range r.at.Tokens {
		calls = append(calls, ask(t.Contract, methodBalance+padded(r.address)[2:], at, &results[i]))
	}
	if err := r.do(ctx, calls...); err != nil {
		return out, false, err
	}
	for _, one := range calls {
		if one.refused != nil && !one.refused.reverted() {
			return out, false, nil
		}
	}
	own, err := decimal(coins, coinPlaces)
	if err != nil {
		return out, false, r.nonsense("%w", err)
	}
	sums, unknown := map[string]money.Decimal{r.symbol: own}, map[string]bool{}
	for i, t := range r.at.Tokens {
		currency := r.currencyOf(t.Contract)
		amount, ok := t.amount(results[i])
		unknown[currency] = unknown[currency] || !ok
		sums[currency] = sums[currency].Add(amount)
	}
	out.At = after.at()
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		if !unknown[currency] {
			out.Balances = append(out.Balances, provider.Balance{Currency: currency, Amount: sums[currency]})
		}
	}
	return out, true, nil
}

// amount returns the balance in the result of a contract, and whether there is one. A contract that fails, or that is gone, returns none.
func (t token) amount(result string) (money.Decimal, bool) {
	data := words(result)
	if len(data) != 1 || t.Places < 0 {
		return money.Decimal{}, false
	}
	amount, err := decimal(amountOf(data[0]), t.Places)
	return amount, err == nil
}
