// Package binance reads accounts at Binance. Binance has no ledger of an account: what changes its balances is put together from lists of
// deposits, withdrawals, orders, conversions, payouts, trades and so on, which add up to what the spot wallet, the funding wallet and
// Simple Earn hold.
package binance

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	title = "Binance"

	// spot is the ledger of the spot and the funding wallet.
	spot = "spot"
	// earn is the ledger of Simple Earn.
	earn = "earn"
	// transfers is the ledger of what moves between these wallets and those for margin, futures and options.
	transfers = "transfers"
)

// Connector reads accounts at Binance.
type Connector struct{}

// Describe says what Binance is and what is needed to connect an account there.
func (Connector) Describe() provider.Description {
	return provider.Description{
		Name: "binance", Title: title, Kind: provider.Exchange, URL: "https://api.binance.com",
		Fields: []provider.Field{
			{Name: provider.APIKey, Title: "API key", Max: 200},
			{Name: provider.APISecret, Title: "Secret key", Help: "Binance shows it once, together with the API key. Keys that Binance calls " +
				"self-generated cannot be used.", Secret: true, Max: 200},
		},
		Advice: "In Binance, under API Management, create a system-generated key with the permission Enable Reading, and no other. Binance " +
			"has no list of all trades, only one for each market, such as BTCUSDT. A market is read if the account holds both of its assets " +
			"or has received, paid out or converted them; BTC, ETH, BNB, USDT, USDC, FDUSD, BUSD and EUR always count as such. Import a " +
			"file for trades in an asset that was only bought and sold again in full, for trades in markets that Binance has removed, and " +
			"for P2P trades, Binance Pay, Binance Card, loans, ETH and SOL staking, transfers between an account and its sub-accounts, and " +
			"what happens within the wallets for margin, futures and options.",
		Ledgers: []string{spot, earn, transfers},
		// The limit is 6000 units in a minute for each address of the internet. Costs are stated in its units.
		Rate: provider.Rate{Burst: 1500, Every: 12 * time.Millisecond, Shared: true},
		Unverified: []string{
			"trades in assets that no balance and no other list shows, and in markets that were removed, are not found; removed markets " +
				"are taken to be those that Binance calls invalid",
			"whether the list of prices, by which existing markets are known, has markets in which trading has ended",
			"what goes through P2P trades, Binance Pay, Binance Card, loans, staking, mining and sub-accounts is not read, although it " +
				"changes the balances",
			"whether the ends of ranges of time are inclusive: they are read twice",
			"whether the fee of a fiat withdrawal is paid on top of its amount, as assumed, and that of a fiat deposit before it",
			"whether the money of a crypto sale through fiat payments stays in the account: it is taken to leave it",
			"whether a purchase out of the cash balance is also among the conversions",
			"whether payouts list the bonus and the locked rewards of Simple Earn, as assumed: otherwise those are missing",
			"rewards of flexible products of the present day, which the balance has before the list of rewards",
			"amounts that are being redeemed from Simple Earn, and those that serve as collateral",
			"old withdrawals and deposits that were completed more than 75 days after they were created",
			"how far the lists of fiat orders and fiat payments reach back, and the longest range of time that they accept",
		},
	}
}

// Check asks for the permissions of an API key, and for the account.
func (Connector) Check(ctx context.Context, s *provider.Session) (out provider.Account, err error) {
	var key map[string]json.RawMessage
	if err := get(ctx, s, request{path: "/sapi/v1/account/apiRestrictions", signed: true}, &key); err != nil {
		return out, err
	}
	if !allows(key, "enableReading") {
		return out, fault.Forbiddenf("the API key lacks the permission Enable Reading at Binance")
	}
	out.Grants = []provider.Grant{provider.Read}
	if allows(key, "enableSpotAndMarginTrading", "enableMargin", "enableFutures", "enableVanillaOptions", "enablePortfolioMarginTrading",
		"enableFixApiTrade") {
		out.Grants = append(out.Grants, provider.Trade)
	}
	if allows(key, "enableWithdrawals", "enableInternalTransfer", "permitsUniversalTransfer") {
		out.Grants = append(out.Grants, provider.Withdraw)
	}
	var account struct {
		UID identifier `json:"uid"`
	}
	if err := get(ctx, s, request{path: accountPath, query: "omitZeroBalances=true", signed: true, cost: accountCost}, &account); err != nil {
		return out, err
	}
	out.ID = string(account.UID)
	return out, nil
}

// allows reports whether an API key has one of some permissions.
func allows(key map[string]json.RawMessage, permissions ...string) bool {
	for _, name := range permissions {
		if string(key[name]) == "true" {
			return true
		}
	}
	return false
}
