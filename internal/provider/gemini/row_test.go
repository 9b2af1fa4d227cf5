package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// note writes an item as an accountant would: what moved, of which the fee, the type and the chain, or why there is nothing.
func note(i item) string {
	var lines []string
	for _, r := range i.records {
		line := fmt.Sprintf("%s %s %s %s", r.ExternalID, r.Moved(), r.Currency, r.Type)
		if c := r.Crypto; c != nil && c.FeeQuantity != nil {
			line += fmt.Sprintf(" fee %s %s", c.FeeQuantity, c.FeeAssetType)
		}
		if v := r.Value; v != nil && !v.Fee.IsZero() {
			line += fmt.Sprintf(" fee %s %s", v.Fee, v.Currency)
		}
		if c := r.Crypto; c != nil && c.Chain+c.TransactionHash+c.To != "" {
			line += fmt.Sprintf(" on %s %s >%s", c.Chain, c.TransactionHash, c.To)
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if i.open {
		lines = append(lines, "open")
	}
	if i.removed != nil {
		lines = append(lines, fmt.Sprint("removed ", i.removed))
	}
	if i.err != nil {
		lines = append(lines, i.err.Error())
	}
	return strings.Join(lines, "\n")
}

// Most rows are examples of Gemini's documentation.
func TestRowsBecomeRecords(t *testing.T) {
	t.Parallel()
	const day = `,"timestampms":1793577600000,"dateTime":1793577600000}` // 2026-11-02
	for name, c := range map[string]struct{ ledger, row, want string }{
		"a purchase": {ledgerTrades, `{"price":"3648.09","amount":"0.0027343246","timestamp":1547232911,"type":"Buy","aggressor":true,
			"fee_currency":"USD","fee_amount":"0.024937655575035","tid":107317526,"order_id":"107317524","exchange":"gemini","symbol":"BTCUSD"`,
			"trade:107317526:out -9.999999885589035 USD SWAP fee 0.024937655575035 USD\ntrade:107317526:in 0.0027343246 BTC SWAP"},
		"a sale": {ledgerTrades, `{"price":"42000.00","amount":"0.5","type":"Sell","fee_currency":"USD","fee_amount":"52.50","tid":"1","symbol":"btcusd"`,
			"trade:1:out -0.5 BTC SWAP\ntrade:1:in 20947.5 USD SWAP fee 52.5 USD"},
		"a purchase with a fee in what is bought": {ledgerTrades, `{"price":"2000","amount":"0.5","type":"Buy","fee_currency":"ETH","fee_amount":"0.001",
			"tid":144115199446910513,"symbol":"ETHGUSD"`,
			"trade:144115199446910513:out -1000 GUSD SWAP\ntrade:144115199446910513:in 0.499 ETH SWAP fee 0.001 ETH"},
		"a sale with a fee in what is sold": {ledgerTrades, `{"price":"2000","amount":"0.5","type":"Sell","fee_currency":"ETH","fee_amount":"0.001",
			"tid":2,"symbol":"ETHUSDT"`, "trade:2:out -0.501 ETH SWAP fee 0.001 ETH\ntrade:2:in 1000 USDT SWAP"},
		"a fee in a third currency": {ledgerTrades, `{"price":"0.05","amount":"2","type":"Buy","fee_currency":"GUSD","fee_amount":"1.5","tid":3,
			"symbol":"ETHBTC"`, "trade:3:out -0.1 BTC SWAP\ntrade:3:in 2 ETH SWAP\ntrade:3:fee -1.5 GUSD FEE"},
		"a trade that was reversed by hand": {ledgerTrades, `{"price":"2","amount":"2","type":"Buy","tid":4,"symbol":"PAXGUSD","break":"manual"`,
			"trade:4:out -4 USD SWAP\ntrade:4:in 2 PAXG SWAP"},
		"a trade that is void": {ledgerTrades, `{"price":"2","amount":"2","type":"Buy","tid":4,"symbol":"PAXGGUSD","break":"full"`,
			"removed [trade:4:out trade:4:in]"},
		"a perpetual contract": {ledgerTrades, `{"price":"2","amount":"2","type":"Buy","tid":5,"symbol":"BTCGUSDPERP"`,
			"trades of perpetual contracts are not read: enter their profit or loss by hand"},
		"an unknown pair": {ledgerTrades, `{"price":"2","amount":"2","type":"Buy","tid":5,"symbol":"BTCXYZ"`, `"BTCXYZ" is not a known pair of assets`},
		"neither bought nor sold": {ledgerTrades, `{"price":"2","amount":"2","type":"Swap","tid":5,"symbol":"BTCUSD"`,
			`"Swap" is neither a purchase nor a sale`},
		"more than there is": {ledgerTrades, `{"price":"1e30","amount":"1e30","type":"Buy","tid":5,"symbol":"BTCUSD"`,
			"must have at most 38 digits before the point"},
		"no amount": {ledgerTrades, `{"price":"2","type":"Buy","tid":5,"symbol":"BTCUSD"`, `must be a decimal string such as "1200.50"`},
		"a withdrawal": {ledgerTransfers, `{"type":"Withdrawal","status":"Complete","eid":368598436530,"currency":"USDC","amount":"0.01",
			"network":"ethereum","feeAmount":"0.118856","feeCurrency":"USDC","txHash":"714a","destination":"0x83c","withdrawalId":"69ab"`,
			"transfer:368598436530 -0.128856 USDC WITHDRAWAL fee 0.118856 USDC on ethereum 714a >0x83c"},
		"a withdrawal with a fee in another currency": {ledgerTransfers, `{"type":"Withdrawal","status":"Complete","eid":7,"currency":"USDC",
			"amount":"5","feeAmount":"0.001","feeCurrency":"ETH"`, "transfer:7 -5 USDC WITHDRAWAL\ntransfer:7:fee -0.001 ETH FEE"},
		"a deposit": {ledgerTransfers, `{"type":"Deposit","status":"Complete","eid":8,"currency":"ETH","amount":"100","network":"ethereum",
			"feeAmount":"0","feeCurrency":"ETH","txHash":"605c"`, "transfer:8 100 ETH DEPOSIT on ethereum 605c >"},
		"a deposit that was credited in advance": {ledgerTransfers, `{"type":"Deposit","status":"Complete","eid":10,"advanceEid":9,"currency":"USD",
			"amount":"36.00","method":"ACH"`, "transfer:9 36 USD DEPOSIT"},
		"a deposit that is credited in advance": {ledgerTransfers, `{"type":"Deposit","status":"Advanced","eid":9,"currency":"USD","amount":"36.00"`, "open"},
		"a pending deposit":                     {ledgerTransfers, `{"type":"Deposit","status":"Pending","eid":9,"currency":"USD","amount":"36.00"`, "open"},
		"a reward":                              {ledgerTransfers, `{"type":"Reward","status":"Complete","eid":11,"currency":"BTC","amount":"0.001"`, "transfer:11 0.001 BTC"},
		"a debit": {ledgerTransfers, `{"type":"AdminDebit","status":"Complete","eid":1001248356,"currency":"BTC","amount":"6",
			"purpose":"Administrative debit"`, "transfer:1001248356 -6 BTC"},
		"a transfer without a direction": {ledgerTransfers, `{"type":"Novelty","status":"Complete","eid":12,"currency":"BTC","amount":"6"`,
			`"Novelty" does not say whether it was received or sent: enter it by hand`},
		"a transfer below zero": {ledgerTransfers, `{"type":"Deposit","status":"Complete","eid":12,"currency":"BTC","amount":"-6"`,
			"its amount is not above zero"},
		"a reward for staking": {ledgerStaking, `{"transactionId":"TQN9OPN","transactionType":"Interest","amountCurrency":"MATIC","amount":0.01,
			"priceCurrency":"USD","priceAmount":0.1`, "staking:TQN9OPN 0.01 MATIC STAKING_REWARD"},
		"a very small reward": {ledgerStaking, `{"transactionId":"T","transactionType":"Interest","amountCurrency":"ETH","amount":1.5E-7`,
			"staking:T 0.00000015 ETH STAKING_REWARD"},
		"staked":   {ledgerStaking, `{"transactionId":"65QN4XM5","transactionType":"Deposit","amountCurrency":"MATIC","amount":30`, ""},
		"redeemed": {ledgerStaking, `{"transactionId":"MPZ7LDD8","transactionType":"Redeem","amountCurrency":"MATIC","amount":20`, ""},
		"a correction": {ledgerStaking, `{"transactionId":"A","transactionType":"AdminDebitAdjustment","amountCurrency":"MATIC","amount":2`,
			"staking:A -2 MATIC"},
		"a new kind of staking": {ledgerStaking, `{"transactionId":"A","transactionType":"Slashing","amountCurrency":"MATIC","amount":2`,
			`"Slashing" does not say whether it was received or paid: enter it by hand`},
	} {
		got := feeds[c.ledger].parse(json.RawMessage(c.row+day), noon)
		if note(got) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, note(got), c.want)
		}
		for _, r := range got.records {
			if !r.Timestamp.Equal(time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)) || r.ProviderCategory == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

func TestTransfersThatStayPendingAreLeftToPeople(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"Pending":  "it has been pending for 30 days: enter it by hand if it takes place",
		"Advanced": "transfer:9 36 USD DEPOSIT",
	} {
		row := fmt.Sprintf(`{"type":"Deposit","status":%q,"eid":9,"currency":"USD","amount":"36.00","timestampms":%d}`, status,
			noon.Add(-31*24*time.Hour).UnixMilli())
		if got := note(parseTransfer(json.RawMessage(row), noon)); got != want {
			t.Errorf("%s: %s, want %s", status, got, want)
		}
	}
}

func TestSymbolsAreSplitIntoAssets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"btcusd": "BTC USD", "BTCGUSD": "BTC GUSD", "paxgusd": "PAXG USD", "paxggusd": "PAXG GUSD",
		"moodengusd": "MOODENG USD", "moodenggusd": "MOODENG GUSD", "gusdusd": "GUSD USD", "rlusdusd": "RLUSD USD", "usdtgusd": "USDT GUSD",
		"efilfil": "EFIL FIL", "dogebtc": "DOGE BTC", "1inchusd": "1INCH USD", "btcrlusd": "BTC RLUSD", "btcusdt": "BTC USDT", "ethsgd": "ETH SGD"} {
		if base, quote, err := pair(name); base+" "+quote != want || err != nil {
			t.Errorf("%s: %s %s %v, want %s", name, base, quote, err, want)
		}
	}
}
