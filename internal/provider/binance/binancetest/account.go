package binancetest

import (
	"cmp"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// change changes what a wallet holds.
func (s *Server) change(wallet, asset, by string) {
	held := s.wallets[wallet]
	held[asset] = held[asset].Add(money.MustParse(cmp.Or(by, "0")))
}

func (s *Server) reduce(wallet, asset, by string) {
	held := s.wallets[wallet]
	held[asset] = held[asset].Sub(money.MustParse(cmp.Or(by, "0")))
}

func (s *Server) add(path string, at time.Time, kind string, body map[string]any) {
	s.lists[path] = append(s.lists[path], row{at, kind, body})
}

// Add adds movements to the account.
func (s *Server) Add(all ...providertest.Movement) {
	for _, m := range all {
		switch m.Kind {
		case providertest.Deposit:
			s.deposit(m)
		case providertest.Withdrawal:
			s.withdraw(m)
		case providertest.Trade:
			if m.Asset == "EUR" {
				s.Trade(m.At, m.For, m.Asset, true, m.Gets, m.Amount, m.Fee, m.Asset)
			} else {
				s.Trade(m.At, m.Asset, m.For, false, m.Amount, m.Gets, m.Fee, m.Asset)
			}
		case providertest.Reward:
			s.Payout(m.At, "ETH 2.0 Staking", m.Asset, m.Amount)
		default:
			s.Payout(m.At, string(m.Kind), m.Asset, m.Amount)
		}
	}
}

func (s *Server) deposit(m providertest.Movement) {
	id := strconv.FormatInt(s.id(), 10)
	s.change("spot", m.Asset, m.Amount)
	if m.Asset == "EUR" {
		s.add(fiatOrders, m.At, "0", map[string]any{"orderNo": "7d76d611-0568-" + id, "fiatCurrency": m.Asset, "indicatedAmount": m.Amount,
			"amount": m.Amount, "totalFee": "0.00", "method": "BankAccount", "status": "Successful", "createTime": millis(m.At),
			"updateTime": millis(m.At)})
		return
	}
	s.add(deposits, m.At, "", map[string]any{"id": id, "amount": m.Amount, "coin": m.Asset, "network": m.Asset, "status": 1,
		"address": "0xhere", "addressTag": "", "txId": "0x" + id, "insertTime": millis(m.At), "completeTime": millis(m.At), "transferType": 0,
		"confirmTimes": "1/1", "unlockConfirm": 0, "walletType": 0, "sourceAddress": "0xthere"})
}

// SetStatus sets the status of all deposits.
func (s *Server) SetStatus(status int) {
	for _, one := range s.lists[deposits] {
		one.body["status"] = status
	}
}

func (s *Server) withdraw(m providertest.Movement) {
	id := strconv.FormatInt(s.id(), 16) + "844210a7041aee7589627c"
	s.reduce("spot", m.Asset, m.Amount)
	s.reduce("spot", m.Asset, m.Fee)
	s.add(withdrawals, m.At, "", map[string]any{"id": id, "amount": m.Amount, "transactionFee": cmp.Or(m.Fee, "0"), "coin": m.Asset,
		"status": 6, "address": "0xthere", "txId": "0x" + id, "applyTime": m.At.UTC().Format(time.DateTime), "network": m.Asset,
		"transferType": 0, "confirmNo": 3, "walletType": 0})
}

// Trade adds a trade in a market.
func (s *Server) Trade(at time.Time, base, quote string, bought bool, quantity, cost, commission, charged string) {
	symbol := base + quote
	s.trades[symbol] = append(s.trades[symbol], map[string]any{"symbol": symbol, "id": int64(28_457 + len(s.trades[symbol])),
		"orderId": 100_234, "orderListId": -1,
		"price": "4.00000100", "qty": quantity, "quoteQty": cost, "commission": cmp.Or(commission, "0.00000000"), "commissionAsset": charged,
		"time": millis(at), "isBuyer": bought, "isMaker": false, "isBestMatch": true})
	if bought {
		s.change("spot", base, quantity)
		s.reduce("spot", quote, cost)
	} else {
		s.reduce("spot", base, quantity)
		s.change("spot", quote, cost)
	}
	s.reduce("spot", charged, commission)
}

// Payout adds what Binance calls an asset dividend.
func (s *Server) Payout(at time.Time, info, asset, amount string) {
	s.change("spot", asset, amount)
	s.add(dividends, at, "", map[string]any{"id": s.id(), "amount": amount, "asset": asset, "divTime": millis(at), "enInfo": info,
		"tranId": 2_968_885_920, "direction": 1})
}

// Convert adds a conversion.
func (s *Server) Convert(at time.Time, from, spent, to, received string) {
	s.reduce("spot", from, spent)
	s.change("spot", to, received)
	s.add(conversions, at, "", map[string]any{"quoteId": "f3b91c525b2644c7bc1e1cd31b6e1aa6", "orderId": s.id(), "orderStatus": "SUCCESS",
		"fromAsset": from, "fromAmount": spent, "toAsset": to, "toAmount": received, "createTime": millis(at)})
}

// SetOrderStatus sets the status of all conversions.
func (s *Server) SetOrderStatus(status string) {
	for _, one := range s.lists[conversions] {
		one.body["orderStatus"] = status
	}
}

// Dust adds a conversion of a small amount to BNB, of which a fee is deducted.
func (s *Server) Dust(at time.Time, from, spent, received, fee string) {
	s.reduce("spot", from, spent)
	s.change("spot", "BNB", received)
	id := s.id()
	s.add(dribblets, at, "", map[string]any{"operateTime": millis(at), "totalTransferedAmount": received, "totalServiceChargeAmount": fee,
		"transId": id, "userAssetDribbletDetails": []map[string]any{{"transId": id + 1, "serviceChargeAmount": fee, "amount": spent,
			"operateTime": millis(at), "transferedAmount": received, "fromAsset": from, "targetAsset": "BNB"}}})
}

// Purchase adds a purchase of crypto by card.
func (s *Server) Purchase(at time.Time, paid, fee, asset, obtained string) {
	s.change("spot", asset, obtained)
	s.add(fiatPayments, at, "0", map[string]any{"orderNo": strconv.FormatInt(s.id(), 10), "sourceAmount": paid, "fiatCurrency": "EUR",
		"obtainAmount": obtained, "cryptoCurrency": asset, "totalFee": fee, "price": "4.437472", "status": "Completed",
		"paymentMethod": "Credit Card", "createTime": millis(at), "updateTime": millis(at)})
}

// Transfer adds a transfer between the spot wallet and one that is not read.
func (s *Server) Transfer(at time.Time, kind, asset, amount string, out bool) {
	if out {
		s.reduce("spot", asset, amount)
	} else {
		s.change("spot", asset, amount)
	}
	s.add(moves, at, kind, map[string]any{"asset": asset, "amount": amount, "type": kind, "status": "CONFIRMED", "tranId": s.id(),
		"timestamp": millis(at)})
}

// Fund moves an amount from the spot to the funding wallet.
func (s *Server) Fund(asset, amount string) {
	s.reduce("spot", asset, amount)
	s.change("funding", asset, amount)
}

// Subscribe moves an amount into a product of Simple Earn, which is flexible or locked.
func (s *Server) Subscribe(at time.Time, product, asset, amount string) {
	s.reduce("spot", asset, amount)
	s.change(product, asset, amount)
	s.add(products+product+"/history/subscriptionRecord", at, "", map[string]any{"amount": amount, "asset": asset, "time": millis(at),
		"purchaseId": s.id(), "type": "NORMAL", "sourceAccount": "SPOT", "status": "SUCCESS"})
}

// Redeem moves an amount out of a product of Simple Earn, of which less may arrive.
func (s *Server) Redeem(at time.Time, product, asset, amount, arrives string) {
	s.reduce(product, asset, amount)
	s.change("spot", asset, arrives)
	s.add(products+product+"/history/redemptionRecord", at, "", map[string]any{"amount": arrives, "originalAmount": amount, "asset": asset,
		"time": millis(at), "redeemId": s.id(), "status": "PAID"})
}

// Reward adds a reward to a position in a flexible product.
func (s *Server) Reward(at time.Time, asset, amount string) {
	s.change("flexible", asset, amount)
	s.rewarded(at, "REALTIME", asset, amount)
}

// Bonus adds a bonus of a flexible product, which Binance pays into the spot wallet and lists twice.
func (s *Server) Bonus(at time.Time, asset, amount string) {
	s.Payout(at, "Flexible", asset, amount)
	s.rewarded(at, "BONUS", asset, amount)
}

func (s *Server) rewarded(at time.Time, kind, asset, amount string) {
	s.add(products+"flexible/history/rewardsRecord", at, kind, map[string]any{"asset": asset, "rewards": amount, "projectId": asset + "001",
		"type": kind, "time": millis(at)})
}
