package intake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

func TestOlderAndNewerLayoutsOfAPlatformAreReadToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, preset, file, want string }{
		{"Kraken with values and the currency of the fee", "kraken",
			`"txid","refid","time","type","subtype","aclass","subclass","asset","wallet","amount","fee","balance","amountusd","feeusd","balanceusd","feecurrency"
"L1","T1","2026-05-12 09:14:41","trade","tradespot","currency","crypto","BTC","spot / main","-0.5","0.001","0","-50000","100","0",""
"L2","T1","2026-05-12 09:14:41","trade","tradespot","currency","crypto","ETH","spot / main","20","5","20","50000","5","0","KFEE"
"L3","T2","2026-05-12 09:14:41","deposit","","currency","crypto","ETH","spot / main","20","0","20","50000","0","0",""
`, `
out 0.501 BTC (50100-100=50000 USD) fee 0.001 SWAP
in 20 ETH SWAP + out 5 KFEE FEE
in 20 ETH (50000-0=50000 USD) DEPOSIT`},
		{"Kraken without wallets", "kraken", `"txid","refid","time","type","subtype","aclass","asset","amount","fee","balance"
"L1","T1","2021-01-15 09:30:00.1234","trade","","currency","XXDG",-200.00,0.32,500.00
`, `
out 200.32 DOGE fee 0.32 SWAP`},
		{"Coinbase before 2024", "coinbase", `"You can use this transaction report to inform your likely tax obligations."

Timestamp,Transaction Type,Asset,Quantity Transacted,Spot Price Currency,Spot Price at Transaction,Subtotal,Total (inclusive of fees and/or spread),Fees and/or Spread,Notes
2022-01-01T12:00:00Z,Buy,SOL,2,USD,170.00,340.00,345.00,5.00,Bought 2 SOL for $345.00 USD
2022-01-02T12:00:00Z,Send,SOL,1,USD,170.00,"","","",Sent 1 SOL
2022-01-03T12:00:00Z,Convert,BTC,0.00363125,EUR,96847.40,338.92698,351.66322,,Converted 0.00363125 BTC to 156.145683 XRP
2022-01-04T12:00:00Z,Convert,ETH,0.17305191,EUR,1723.885226,298.32163,298.21913,,Converted 0.17305191 ETH to 0.17305191 ETH2
2022-01-05T12:00:00Z,Convert,BTC,1,EUR,1,1,1,0,Converted 2 BTC to 3 XRP
2022-01-06T12:00:00Z,Buy,SOL,2,USD,170.00,340.00,345.02,5.00,Bought 2 SOL for $345.00 USD
`, `
out 345 USD (345-5=340 USD) SWAP + in 2 SOL (340-0=340 USD) SWAP
out 1 SOL
out 0.00363125 BTC (351.66322-12.73624=338.92698 EUR) SWAP + in 156.145683 XRP (338.92698-0=338.92698 EUR) SWAP
out 0.17305191 ETH (298.21913-0=298.21913 EUR) SWAP + in 0.17305191 ETH2 (298.32163-0=298.32163 EUR) SWAP
fault Notes: "Converted 2 BTC to 3 XRP" does not describe a conversion of 1 BTC
fault Total (inclusive of fees and/or spread): 345.02 before the fee, a fee of 5 and 340 after it do not add up`},
		{"Etherscan's older names, on another chain", "etherscan",
			`"Txhash","Blockno","UnixTimestamp","DateTime","From","To","ContractAddress","Value_IN(BNB)","Value_OUT(BNB)","CurrentValue @ $300/BNB","TxnFee(BNB)","TxnFee(USD)","Historical $Price/BNB","Status","ErrCode"
"0x1","1","1705399200","1/16/2024 10:00:00 AM","0xabcdef0000000000000000000000000000000001","0xb","","0","2","600","0.01","3","250","",""
`, `
out 2.01 BNB (502.5-2.5=500 USD) fee 0.01`},
		{"Etherscan's internal transactions", "etherscan",
			`"Transaction Hash","Blockno","UnixTimestamp","DateTime (UTC)","ParentTxFrom","ParentTxTo","ParentTxETH_Value","From","TxTo","ContractAddress","Value_IN(ETH)","Value_OUT(ETH)","CurrentValue @ $3100/Eth","Historical $Price/Eth","Status","ErrCode","Type"
"0x1","1","1705399200","2024-01-16 10:00:00","0xabcdef0000000000000000000000000000000001","0xc","0","0xc","0xabcdef0000000000000000000000000000000001","","0.25","0","775","2500","0","","call"
"0x1","1","1705399200","2024-01-16 10:00:00","0xabcdef0000000000000000000000000000000001","0xc","0","0xc","0xabcdef0000000000000000000000000000000001","","0.25","0","775","2500","","","call"
"0x2","1","1705399200","2024-01-16 10:00:00","0xabcdef0000000000000000000000000000000001","0xc","0","0xc","0xabcdef0000000000000000000000000000000001","","0.25","0","775","2500","1","","call"
"0x3","1","1705399200","2024-01-16 10:00:00","0xabcdef0000000000000000000000000000000001","0xc","0","0xc","0xabcdef0000000000000000000000000000000001","","0.25","0","775","2500","Error(1)","","call"
`, `
in 0.25 ETH (625-0=625 USD)
in 0.25 ETH (625-0=625 USD)
fault Status: "1" does not show whether the transaction failed
skipped it failed, so nothing arrived`},
		{"Etherscan's NFTs", "etherscan_nfts",
			`"Transaction Hash","Blockno","UnixTimestamp","DateTime (UTC)","From","To","ContractAddress","TokenId","TokenName","TokenSymbol"
"0x1","1","1705399200","2024-01-16 10:00:00","0xb","0xabcdef0000000000000000000000000000000001","0xc","17","Example Punks","PUNK"
`, `
in 1 PUNK`},
		{"Stripe's report of activity", "stripe",
			`balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,description
txn_1,2026-01-05 10:00:00,2026-01-07 00:00:00,usd,100.00,3.20,96.80,charge,Order
txn_2,2026-01-05 10:00:00,2026-01-07 00:00:00,usd,-250.00,15.00,-265.00,dispute,Lost
txn_3,2026-01-05 10:00:00,2026-01-07 00:00:00,usd,0.00,1.00,-1.00,fee,Radar
`, `
in 100 USD (100-3.2=96.8 USD)
out 265 USD (265-15=250 USD) CHARGEBACK
out 1 USD (1-0=1 USD) FEE`},
		{"Mercury's first columns", "mercury",
			"Date (UTC),Description,Amount,Status,Source Account,Bank Description,Reference,Note\n01-02-2022,Rent,-5.5,Sent,Checking,RENT,,\n", `
out 5.5 USD (5.5-0=5.5 USD)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := intake.Detect("", []byte(c.file)); d.Preset != c.preset {
				t.Errorf("detected as %+v", d)
			}
			all := rows(t, strings.NewReader(c.file), intake.Options{OwnAddresses: []string{strings.ToUpper(wallet)}})
			validateRecords(t, all)
			if got := "\n" + brief(all); got != c.want {
				t.Errorf("reads%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestBinanceTimesAreOfTheZoneInTheNameOfTheFile(t *testing.T) {
	t.Parallel()
	const file = "\ufeffUser ID,Time,Account,Operation,Coin,Change,Remark\n1,25-11-11 13:06:16,Spot,Deposit,BTC,1,\n"
	for _, c := range []struct{ name, zone, want string }{
		{"Binance-Transaction-History-202512(UTC+1).csv", "", "12:06:16"},
		{"Binance-Transaction-History-202512(UTC--3).csv", "", "13:06:16"},
		{"Binance-Transaction-History-202512(UTC-3).csv", "", "16:06:16"},
		{"Binance-Transaction-History-202512(UTC).csv", "", "13:06:16"},
		{"Binance-Transaction-History-202512(UTC+1).csv", "Asia/Tokyo", "04:06:16"},
		{"history.csv", "Asia/Tokyo", "04:06:16"},
	} {
		all := rows(t, strings.NewReader(file), intake.Options{Name: c.name, Mapping: intake.Mapping{TimeZone: c.zone}})
		if len(all) != 1 || len(all[0].Records) != 1 || all[0].Records[0].Timestamp.Format(time.TimeOnly) != c.want {
			t.Errorf("%s in %q: %+v, want %s", c.name, c.zone, all, c.want)
		}
	}
	p, err := intake.Guess([]byte(file))
	if err != nil || p.Mapping.Preset != "binance" || len(p.Undecided) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestExportsWithoutDirectionNeedTheAddressOfTheWallet(t *testing.T) {
	t.Parallel()
	const tokens = "Txhash,UnixTimestamp,From,To,TokenValue,ContractAddress,TokenName,TokenSymbol\n0x1,1705399200,0xa,0xb,5,0xc," +
		"Coin,USDC\n0x1,1705399200,0xa,0xa,5,0xc,Coin,USDC\n"
	const calls = "Txhash,Blockno,UnixTimestamp,From,To,Value_IN(ETH),Value_OUT(ETH),TxnFee(ETH),Status\n0x1,1,1705399200,0xa,0xb,0,0,0.1,\n"
	for _, c := range []struct {
		file string
		own  []string
		want string
	}{
		{tokens, nil, "fault From: the token export does not show the direction; state the address of the wallet\nfault From: the " +
			"token export does not show the direction; state the address of the wallet"},
		{tokens, []string{"0xA"}, "out 5 USDC\nskipped sender and recipient are the same address"},
		{tokens, []string{" 0xb "}, "in 5 USDC\nskipped sender and recipient are the same address"},
		{tokens, []string{"0xa", "0xb"},
			"fault From: both addresses are yours; state only the one this file was exported for\n" +
				"skipped sender and recipient are the same address"},
		{calls, nil, "fault From: moves nothing, so only the sender shows whether you paid the fee; state the address of the wallet"},
		{calls, []string{"0xa"}, "out 0.1 ETH FEE"},
		{calls, []string{"0xb"}, "skipped nothing moved: neither value nor fee"},
	} {
		all := rows(t, strings.NewReader(c.file), intake.Options{OwnAddresses: c.own})
		if got := brief(all); got != c.want {
			t.Errorf("with %q reads\n%s\nwant\n%s", c.own, got, c.want)
		}
	}
}

func TestOFXOfOldProgramsIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, mapping, body, want string }{
		{"letters of Windows", `{}`, "<STMTTRN><DTPOSTED>20240105<TRNAMT>-5<FITID>1<NAME>Caf\xe9 \x80</STMTTRN>", "out 5 EUR (5-0=5 EUR)"},
		{"a value twice", `{}`, "<STMTTRN><DTPOSTED>20240105<TRNAMT>-5<TRNAMT>-6<FITID>1</STMTTRN>",
			`fault TRNAMT: occurs twice, as "-5" and as "-6"`},
		{"nothing but faults", `{}`, "<STMTTRN><DTPOSTED>20240105100000[-99:X]<FITID>1</STMTTRN>",
			`fault DTPOSTED: "20240105100000[-99:X]" has the time zone "-99:X]", which does not exist & TRNAMT: is missing`},
		{"an amount that may mean two", `{}`, "<STMTTRN><DTPOSTED>20240105<TRNAMT>1,234<FITID>1</STMTTRN>",
			`fault TRNAMT: "1,234" may mean 1.234 or 1234; state the decimal separator of the column in the mapping`},
		{"the same with the separator stated", `{"decimal":"."}`, "<STMTTRN><DTPOSTED>20240105<TRNAMT>1,234<FITID>1</STMTTRN>",
			"in 1234 EUR (1234-0=1234 EUR)"},
		{"a card that turns signs", `{"flip_sign":true}`, "<STMTTRN><TRNTYPE>FEE<DTPOSTED>20240105<TRNAMT>5<FITID>1</STMTTRN>",
			"out 5 EUR (5-0=5 EUR) FEE"},
		{"ids that are not unique", `{"ignore_ids":true}`,
			"<STMTTRN><DTPOSTED>20240105<TRNAMT>5<FITID>0</STMTTRN><STMTTRN><DTPOSTED>20240105<TRNAMT>5<FITID>0</STMTTRN>",
			"in 5 EUR (5-0=5 EUR)\nin 5 EUR (5-0=5 EUR)"},
		{"nothing moved", `{}`, "<STMTTRN><DTPOSTED>20240105<TRNAMT>0.00<FITID>1</STMTTRN>", "skipped nothing moved: the amount is zero"},
		{"a code beside the amount", `{}`, "<STMTTRN><DTPOSTED>20240105<TRNAMT>5 USD<FITID>1</STMTTRN>", `fault TRNAMT: "5 USD" is not a number`},
	} {
		file := "OFXHEADER:100\r\nENCODING:USASCII\r\nCHARSET:1252\r\n\r\n<OFX><STMTRS><CURDEF>EUR<BANKTRANLIST>" + c.body +
			"</BANKTRANLIST></STMTRS></OFX>"
		all := rows(t, strings.NewReader(file), intake.Options{Name: "f.ofx", Mapping: mapping(t, c.mapping)})
		validateRecords(t, all)
		if got := brief(all); got != c.want {
			t.Errorf("%s reads\n%s\nwant\n%s", c.name, got, c.want)
		}
		if c.name == "letters of Windows" && all[0].Records[0].Description != "Café €" {
			t.Errorf("%q", all[0].Records[0].Description)
		}
	}
}

// idle never returns any bytes.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestAFileThatNeverReturnsBytesIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := intake.Open(idle{}, intake.Options{}); err == nil {
		t.Error("no error")
	}
}
