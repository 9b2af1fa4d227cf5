package binance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

// line describes a record: what the balance changes by, of what, the type, the category, the id and the group.
func line(r intake.Record) string {
	sign := ""
	if r.Moved().Sign() > 0 {
		sign = "+"
	}
	out := fmt.Sprintf("%s %s%s %s | %s | %s | %s", r.Timestamp.Format("2006-01-02 15:04:05.000"), sign, r.Moved(), r.Currency, r.Type,
		r.ProviderCategory, r.ExternalID)
	if r.Group != "" {
		out += " of " + r.Group
	}
	if r.Crypto != nil && r.Crypto.FeeQuantity != nil {
		out += " | fee " + r.Crypto.FeeQuantity.String()
	}
	if r.Value != nil {
		out += fmt.Sprintf(" | worth %s less %s is %s %s", r.Value.Gross, r.Value.Fee, r.Value.Net, r.Value.Currency)
	}
	return out
}

// mapping is what a row means.
type mapping struct {
	name string
	read func(json.RawMessage) ([]intake.Record, error)
	row  string
	want string // the records, a line each, or why there are none
}

// bnbbtc reads trades in a market.
func bnbbtc(row json.RawMessage) ([]intake.Record, error) {
	_, _, records, err := market{Symbol: "BNBBTC", Base: "BNB", Quote: "BTC"}.trade(row)
	return records, err
}

func TestRowsMeanTheseRecords(t *testing.T) {
	t.Parallel()
	for _, m := range mappings {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			records, err := m.read(json.RawMessage(m.row))
			var lines []string
			for _, r := range records {
				lines = append(lines, line(r))
			}
			got := strings.Join(lines, "\n")
			if err != nil {
				got = err.Error()
			}
			if got != m.want {
				t.Errorf("\n%s\nwant\n%s", got, m.want)
			}
		})
	}
}

// The rows are those of Binance's documentation, with other statuses where these have moved nothing.
var mappings = []mapping{
	{"a deposit", deposit, `{"id":"769800519366885376","amount":"0.001","coin":"BNB","network":"BNB","status":1,"address":"bnb136",
		"txId":"98A3EA","insertTime":1661493146000,"completeTime":1661493146000,"transferType":0,"walletType":0}`,
		"2022-08-26 05:52:26.000 +0.001 BNB | DEPOSIT | deposit | deposit:769800519366885376"},
	{"a deposit that cannot be withdrawn yet", deposit, `{"id":"7","amount":0.5,"coin":"BNB","status":6,"insertTime":1661493146000}`,
		"2022-08-26 05:52:26.000 +0.5 BNB | DEPOSIT | deposit | deposit:7"},
	{"an old deposit without an id, from another account at Binance", deposit, `{"amount":"0.5","coin":"BNB","status":1,
		"txId":"Internal transfer 12345","insertTime":1661493146000}`,
		"2022-08-26 05:52:26.000 +0.5 BNB | DEPOSIT | deposit | deposit:Internal-transfer-12345:BNB"},
	{"a pending deposit", deposit, `{"id":"7","amount":"0.5","coin":"BNB","status":0,"insertTime":1661493146000}`, "nothing has moved"},
	{"a deposit of an unknown status", deposit, `{"id":"7","amount":"0.5","coin":"BNB","status":44,"insertTime":1661493146000}`,
		`its status "44" is not known`},
	{"a deposit without an amount", deposit, `{"id":"7","amount":null,"coin":"BNB","status":1,"insertTime":1661493146000}`,
		"it does not state its amount"},
	{"a withdrawal", withdrawal, `{"id":"b6ae22b3aa844210a7041aee7589627c","amount":"8.91000000","transactionFee":"0.004","coin":"USDT",
		"status":6,"address":"0x94df","txId":"0xb5ef","applyTime":"2019-10-12 11:12:02","network":"ETH","transferType":0,"walletType":1}`,
		"2019-10-12 11:12:02.000 -8.914 USDT | WITHDRAWAL | withdrawal | withdrawal:b6ae22b3aa844210a7041aee7589627c | fee 0.004"},
	{"a withdrawal that failed", withdrawal, `{"id":"b6","amount":"8.9","transactionFee":"0.004","coin":"USDT","status":5,
		"applyTime":"2019-10-12 11:12:02"}`, "nothing has moved"},
	{"a fiat deposit", fiatOrder(false), `{"orderNo":"7d76d611-0568-4f43-afb6-24cac7767365","fiatCurrency":"BRL","indicatedAmount":"10.00",
		"amount":"9.50","totalFee":"0.50","method":"BankAccount","status":"Successful","createTime":1626144956000,"updateTime":1626400907000}`,
		"2021-07-13 02:55:56.000 +9.5 BRL | DEPOSIT | fiat deposit | fiat:7d76d611-0568-4f43-afb6-24cac7767365 | worth 10 less 0.5 is 9.5 BRL"},
	{"a fiat withdrawal", fiatOrder(true), `{"orderNo":"CJ2","fiatCurrency":"EUR","indicatedAmount":"10.00","amount":"10.00",
		"totalFee":"0.80","method":"BankAccount","status":"Finished","createTime":1626144956000}`,
		"2021-07-13 02:55:56.000 -10.8 EUR | WITHDRAWAL | fiat withdrawal | fiat:CJ2 | worth 10.8 less 0.8 is 10 EUR"},
	{"a fiat deposit that expired", fiatOrder(false), `{"orderNo":"7d","fiatCurrency":"BRL","amount":"10.00","totalFee":"0.00",
		"status":"Expired","createTime":1626144956000}`, "nothing has moved"},
	{"a purchase by card", payment(false), `{"orderNo":"353fca","sourceAmount":"20.0","fiatCurrency":"EUR","obtainAmount":"4.462",
		"cryptoCurrency":"LUNA","totalFee":"0.2","price":"4.437472","status":"Completed","paymentMethod":"Credit Card",
		"createTime":1624529919000}`,
		"2021-06-24 10:18:39.000 +4.462 LUNA |  | fiat buy | payment:353fca | worth 20 less 0.2 is 19.8 EUR"},
	{"a purchase out of the balance", payment(false), `{"orderNo":"353fca","sourceAmount":"20.0","fiatCurrency":"EUR","obtainAmount":"4.462",
		"cryptoCurrency":"LUNA","totalFee":"0.2","price":"4.437472","status":"Completed","paymentMethod":"Cash Balance",
		"createTime":1624529919000}`,
		"2021-06-24 10:18:39.000 +4.462 LUNA | SWAP | fiat buy | payment:353fca:crypto of payment:353fca\n" +
			"2021-06-24 10:18:39.000 -20 EUR | SWAP | fiat buy | payment:353fca:fiat of payment:353fca | worth 20 less 0.2 is 19.8 EUR"},
	{"a conversion", conversion, `{"quoteId":"f3b9","orderId":940708407462087195,"orderStatus":"SUCCESS","fromAsset":"USDT","fromAmount":"20",
		"toAsset":"BNB","toAmount":"0.06154036","ratio":"0.00307702","inverseRatio":"324.99","createTime":1624248872184}`,
		"2021-06-21 04:14:32.184 -20 USDT | SWAP | convert | convert:940708407462087195:out of convert:940708407462087195\n" +
			"2021-06-21 04:14:32.184 +0.06154036 BNB | SWAP | convert | convert:940708407462087195:in of convert:940708407462087195"},
	{"a payout of an unknown kind", payout, `{"id":1637366104,"amount":"10.00000000","asset":"BHFT","divTime":1563189166000,
		"enInfo":"BHFT distribution","tranId":2968885920,"direction":1}`,
		"2019-07-15 11:12:46.000 +10 BHFT |  | BHFT distribution | dividend:1637366104"},
	{"a payout of staking", payout, `{"id":16,"amount":"1E-8","asset":"BETH","divTime":1563189166000,"enInfo":"ETH 2.0 Staking"}`,
		"2019-07-15 11:12:46.000 +0.00000001 BETH | STAKING_REWARD | ETH 2.0 Staking | dividend:16"},
	{"a payout that is taken back", payout, `{"id":16,"amount":"2","asset":"BETH","divTime":1563189166000,"enInfo":"Staking","direction":-1}`,
		"2019-07-15 11:12:46.000 -2 BETH |  | Staking | dividend:16"},
	{"a conversion of small amounts", dust, `{"operateTime":1615985535000,"totalTransferedAmount":"0.00132256",
		"totalServiceChargeAmount":"0.00002699","transId":45178372831,"userAssetDribbletDetails":[{"transId":4359321,
		"serviceChargeAmount":"0.000009","amount":"0.0009","operateTime":1615985535000,"transferedAmount":"0.000441","fromAsset":"USDT"},
		{"transId":4359322,"serviceChargeAmount":"0.00001","amount":"7","transferedAmount":"0.00049","fromAsset":"DOGE",
		"targetAsset":"USDC"}]}`,
		"2021-03-17 12:52:15.000 -0.0009 USDT | SWAP | dribblet | dust:45178372831:USDT:out of dust:45178372831\n" +
			"2021-03-17 12:52:15.000 +0.000441 BNB | SWAP | dribblet | dust:45178372831:USDT:in of dust:45178372831 | fee 0.000009\n" +
			"2021-03-17 12:52:15.000 -7 DOGE | SWAP | dribblet | dust:45178372831:DOGE:out of dust:45178372831\n" +
			"2021-03-17 12:52:15.000 +0.00049 USDC | SWAP | dribblet | dust:45178372831:DOGE:in of dust:45178372831 | fee 0.00001"},
	{"a transfer to futures", transfer("MAIN_UMFUTURE", true), `{"asset":"USDT","amount":"1","type":"MAIN_UMFUTURE","status":"CONFIRMED",
		"tranId":11415955596,"timestamp":1544433328000}`,
		"2018-12-10 09:15:28.000 -1 USDT | INTERNAL TRANSFER | MAIN_UMFUTURE | transfer:11415955596"},
	{"a transfer from futures", transfer("UMFUTURE_MAIN", false), `{"asset":"USDT","amount":"1","type":"UMFUTURE_MAIN","status":"CONFIRMED",
		"tranId":2,"timestamp":1544433328000}`, "2018-12-10 09:15:28.000 +1 USDT | INTERNAL TRANSFER | UMFUTURE_MAIN | transfer:2"},
	{"a subscription", subscription("flexible"), `{"amount":"100.00000000","asset":"USDT","time":1575018510000,"purchaseId":26055,
		"productId":"USDT001","type":"AUTO","sourceAccount":"SPOT","status":"SUCCESS"}`,
		flexible("2019-11-29 09:08:30.000 ", "100 USDT", "100 USDT", "flexible subscription", "flexible-subscription:26055")},
	{"a redemption", redemption("flexible"), `{"amount":"10.54000000","asset":"USDT","time":1577257222000,"projectId":"USDT001",
		"redeemId":40607,"destAccount":"SPOT","status":"PAID"}`,
		flexible("2019-12-25 07:00:22.000 ", "10.54 USDT", "10.54 USDT", "flexible redemption", "flexible-redemption:40607")},
	{"an early redemption with a loss", redemption("locked"), `{"positionId":123123,"redeemId":40607,"time":1575018510000,"asset":"BNB",
		"amount":"21.5","originalAmount":"22","type":"REDEEM","lossAmount":"0.5","status":"PAID"}`,
		flexible("2019-11-29 09:08:30.000 ", "22 BNB", "21.5 BNB", "locked redemption", "locked-redemption:40607")},
	{"a real-time reward", realTime, `{"asset":"BUSD","rewards":"0.00006408","projectId":"USDT001","type":"REALTIME","time":1577233578000}`,
		"2019-12-25 00:26:18.000 +0.00006408 BUSD |  | REALTIME | realtime-reward:USDT001:BUSD:20191225T002618.000:0.00006408"},
	{"a bonus, which is among the payouts", realTime, `{"asset":"BUSD","rewards":"0.1","projectId":"USDT001","type":"BONUS",
		"time":1577233578000}`,
		"it is a reward of another kind than the one that was asked for"},
	{"a purchase in a market, with a fee in another asset", bnbbtc, strings.Replace(trade, "BNB\"", "USDC\"", 1),
		traded("+12 BNB", "-48.000012 BTC", "buy", "") + "\n" +
			"2019-07-11 17:19:09.590 -10.1 USDC | FEE | buy | trade:BNBBTC:28457:fee of trade:BNBBTC:28457"},
	{"a purchase in a market, with a fee in what was bought", bnbbtc, trade, traded("+1.9 BNB", "-48.000012 BTC", "buy", " | fee 10.1")},
	{"a sale in a market, with a fee in what was sold", bnbbtc, strings.Replace(trade, "true", "false", 1),
		traded("-22.1 BNB", "+48.000012 BTC", "sell", " | fee 10.1")},
}

// flexible returns the lines of what moves between the wallets and Simple Earn.
func flexible(at, out, in, category, id string) string {
	return at + "-" + out + " | INTERNAL TRANSFER | " + category + " | " + id + ":out of " + id + "\n" +
		at + "+" + in + " | INTERNAL TRANSFER | " + category + " | " + id + ":in of " + id
}

const trade = `{"symbol":"BNBBTC","id":28457,"orderId":100234,"orderListId":-1,"price":"4.00000100","qty":"12.00000000",
	"quoteQty":"48.000012",
	"commission":"10.10000000","commissionAsset":"BNB","time":1562865549590,"isBuyer":true,"isMaker":false,"isBestMatch":true}`

// traded returns the lines of a trade.
func traded(base, quote, side, fee string) string {
	return fmt.Sprintf("2019-07-11 17:19:09.590 %s | SWAP | %s | trade:BNBBTC:28457:base of trade:BNBBTC:28457%s\n"+
		"2019-07-11 17:19:09.590 %s | SWAP | %s | trade:BNBBTC:28457:quote of trade:BNBBTC:28457", base, side, fee, quote, side)
}

// nonsense are values that replace others in rows.
var nonsense = []string{"null", "true", `""`, `"x"`, `"-"`, `"1e400"`, `"NaN"`, `"９"`, "-1", "1e300", "0", "[]", "{}", "[null]",
	`"\u0000"`, `"99999999999999999999999999999999999999999999"`, `{"":null}`}

func TestNoValueMakesAnIncompleteRecord(t *testing.T) {
	t.Parallel()
	for _, m := range mappings {
		var row map[string]json.RawMessage
		if err := json.Unmarshal([]byte(m.row), &row); err != nil {
			t.Fatal(err)
		}
		for key, before := range row {
			for _, other := range nonsense {
				row[key] = json.RawMessage(other)
				changed, err := json.Marshal(row)
				if err != nil {
					t.Fatal(err)
				}
				records, err := m.read(changed)
				if err == nil && len(records) == 0 {
					t.Errorf("%s: neither a record nor a reason: %s", m.name, changed)
				}
				for _, r := range records {
					if r.ExternalID == "" || r.Quantity == nil || r.Quantity.Sign() < 0 || r.Currency == "" || r.Timestamp.IsZero() ||
						r.ProviderCategory == "" || strings.ContainsRune(r.ExternalID, 0) {
						t.Errorf("%s: incomplete: %+v of %s", m.name, r, changed)
					}
				}
			}
			row[key] = before
		}
	}
}
