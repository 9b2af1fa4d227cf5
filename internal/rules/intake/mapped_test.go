package intake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // The test must not depend on the zones of the machine it runs on.

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// mapping parses a mapping as sent to the API.
func mapping(tb testing.TB, text string) intake.Mapping {
	tb.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var m intake.Mapping
	if err := d.Decode(&m); err != nil {
		tb.Fatal(err)
	}
	return m
}

// brief formats rows in one line each.
func brief(all []intake.Row) string {
	var lines []string
	for _, row := range all {
		line := ""
		switch {
		case row.Skipped != "":
			line = "skipped " + row.Skipped
		case len(row.Faults) > 0:
			var faults []string
			for _, f := range row.Faults {
				faults = append(faults, f.Column+": "+f.Message)
			}
			line = "fault " + strings.Join(faults, " & ")
		}
		var legs []string
		for _, r := range row.Records {
			leg := map[bool]string{true: "in ", false: "out "}[r.Inflow] + r.Quantity.String() + " " + r.Currency
			if v := r.Value; v != nil {
				leg += fmt.Sprintf(" (%s-%s=%s %s)", v.Gross, v.Fee, v.Net, v.Currency)
			}
			if r.Crypto != nil && r.Crypto.FeeQuantity != nil {
				leg += " fee " + r.Crypto.FeeQuantity.String()
			}
			if r.Type != "" {
				leg += " " + r.Type
			}
			legs = append(legs, leg)
		}
		lines = append(lines, line+strings.Join(legs, " + "))
	}
	return strings.Join(lines, "\n")
}

func TestAMappingSaysWhatTheColumnsMean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, mapping, file, want string }{
		{"the sign tells the direction", `{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"USD"}`,
			"Date,Amount\n2024-01-05,12.50\n2024-01-06,-3\n2024-01-07,0\n2024-01-08,\n", `
in 12.5 USD (12.5-0=12.5 USD)
out 3 USD (3-0=3 USD)
skipped nothing moved: the amount is zero
fault Amount: is empty; every row needs an amount`},
		{"the sign is turned", `{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"USD","flip_sign":true}`,
			"Date,Amount\n2024-01-05,12.50\n2024-01-06,-3\n", `
out 12.5 USD (12.5-0=12.5 USD)
in 3 USD (3-0=3 USD)`},
		{"two columns tell the direction", `{"columns":{"timestamp":"Date","debit":"Out","credit":"In","currency":"Ccy"}}`,
			"Date,Out,In,Ccy\n2024-01-05,1,,usd\n2024-01-05,,2,EUR\n2024-01-05,3,4,EUR\n2024-01-05,,,EUR\n2024-01-05,0.00,5,EUR\n2024-01-05,-6,,EUR\n2024-01-05,-,7,EUR\n", `
out 1 USD (1-0=1 USD)
in 2 EUR (2-0=2 EUR)
fault Out: debit and credit are both filled in
fault Out: is empty; every row needs an amount
in 5 EUR (5-0=5 EUR)
fault Out: -6 is below zero, unlike the rest of its column
in 7 EUR (7-0=7 EUR)`},
		{"debits with a minus throughout", `{"columns":{"timestamp":"Date","debit":"Out","credit":"In"},"currency":"EUR"}`,
			"Date,Out,In\n2024-01-05,-1,\n2024-01-05,,2\n2024-01-05,-3,\n", `
out 1 EUR (1-0=1 EUR)
in 2 EUR (2-0=2 EUR)
out 3 EUR (3-0=3 EUR)`},
		{"words tell the direction",
			`{"columns":{"timestamp":"Date","amount":"Amount","direction":"D/C"},"currency":"EUR","inflow_words":["Zugang"]}`,
			"Date,Amount,D/C\n2024-01-05,1,Debit\n2024-01-05,2,zugang\n2024-01-05,3,H\n2024-01-05,4,what\n2024-01-05,-5,credit\n2024-01-05,6,\n", `
fault Amount: 1 has another sign than the other outflows, but "Debit" is an outflow
in 2 EUR (2-0=2 EUR)
in 3 EUR (3-0=3 EUR)
fault D/C: "what" is not a known direction; add it to inflow_words or outflow_words
fault Amount: -5 is below zero, but "credit" is an inflow
fault D/C: "" is not a known direction; add it to inflow_words or outflow_words`},
		{"amount, fee and net", `{"columns":{"timestamp":"Date","amount":"Gross","fee":"Fee","net":"Net"},"currency":"USD"}`,
			"Date,Gross,Fee,Net\n2024-01-05,500.00,-14.80,485.20\n2024-01-05,100,3,97\n2024-01-05,-54.99,0,-54.99\n2024-01-05,-20.00,0.59,-19.41\n2024-01-05,-100,1.5,-101.5\n2024-01-05,100,3,96\n2024-01-05,100,,97\n", `
in 500 USD (500-14.8=485.2 USD)
in 100 USD (100-3=97 USD)
out 54.99 USD (54.99-0=54.99 USD)
out 20 USD (20-0=20 USD) + in 0.59 USD (0.59-0=0.59 USD) REFUND
out 101.5 USD (101.5-1.5=100 USD)
fault Net: the amount 100 and the fee 3 do not yield the net 96
in 100 USD (100-3=97 USD)`},
		{"an amount before the fee", `{"columns":{"timestamp":"Date","amount":"Amount","fee":"Fee"},"currency":"BTC","amount_is":"before_fee"}`,
			"Date,Amount,Fee\n2024-01-05,1,0.1\n2024-01-05,-1,0.1\n2024-01-05,0,0.1\n2024-01-05,0.05,0.1\n2024-01-05,-1,\n", `
in 1 BTC fee 0.1
out 1.1 BTC fee 0.1
out 0.1 BTC FEE
in 0.05 BTC + out 0.1 BTC FEE
out 1 BTC`},
		{"an amount after the fee",
			`{"columns":{"timestamp":"Date","amount":"Amount","fee":"Fee"},"currency":"USD","amount_is":"after_fee","fee_negative":true}`,
			"Date,Amount,Fee\n2024-01-05,97,-3\n2024-01-05,-103,-3\n2024-01-05,-1,-3\n", `
in 100 USD (100-3=97 USD)
out 103 USD (103-3=100 USD)
fault Fee: the fee of 3 is more than the 1 that left with it`},
		{"a fee in another asset",
			`{"columns":{"timestamp":"Date","amount":"Amount","currency":"Coin","fee":"Fee","fee_currency":"Fee Coin"},"amount_is":"before_fee"}`,
			"Date,Amount,Coin,Fee,Fee Coin\n2024-01-05,-100,USDC,0.001,ETH\n2024-01-05,100,USDC,0.002,USDC\n", `
out 100 USDC + out 0.001 ETH FEE
in 100 USDC fee 0.002`},
		{"a value in fiat",
			`{"columns":{"timestamp":"Date","amount":"Amount","currency":"Coin","value_gross":"Worth","value_fee":"Fee","value_net":"Net"},"value_currency":"USD"}`,
			"Date,Amount,Coin,Worth,Fee,Net\n2024-01-05,-1,ETH,\"$2,500.00\",5,2495\n2024-01-05,1,ETH,,,\n2024-01-05,1,ETH,2500,,\n2024-01-05,1,ETH,2500,5,2490\n2024-01-05,1,ETH,2500,5,2494.99\n2024-01-05,1,ETH,2500.004,0,2500\n2024-01-05,1,ETH,,5,2495\n2024-01-05,1,ETH,€2500,,\n", `
out 1 ETH (2500-5=2495 USD)
in 1 ETH
in 1 ETH (2500-0=2500 USD)
fault Worth: 2500 before the fee, a fee of 5 and 2490 after it do not add up
fault Worth: 2500 before the fee, a fee of 5 and 2494.99 after it do not add up
in 1 ETH (2500.004-0.004=2500 USD)
in 1 ETH (2500-5=2495 USD)
fault Worth: "€2500" is not in USD, the currency of the row`},
		{"columns by number, without a header", `{"header_row":-1,"columns":{"timestamp":"#1","amount":"3"},"currency":"CHF"}`,
			"05.01.2024;x;1'234.50\n06.01.2024;y;-2\n", `
in 1234.5 CHF (1234.5-0=1234.5 CHF)
out 2 CHF (2-0=2 CHF)`},
		{"rows that lost or gained a cell", `{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"USD"}`,
			"Date,Text,Amount,\n2024-01-05,a,1\n2024-01-05,a,b,2\n2024-01-05,3\n2024-01-05,a,4,,\n", `
in 1 USD (1-0=1 USD)
fault : the row has 4 cells, but there are 3 columns; a cell that contains the delimiter must be in quotes
fault : the row has 2 cells, but there are 3 columns; a cell that contains the delimiter must be in quotes
in 4 USD (4-0=4 USD)`},
		{"every fault of a row", `{"columns":{"timestamp":"Date","amount":"Amount","currency":"Ccy","type":"Type","block_number":"Block"}}`,
			"Date,Amount,Ccy,Type,Block\nx,y,,z,w\n", `
fault Date: "x" is not a date; state its layout in the mapping & Ccy: "" is not a currency & Amount: "y" is not a number & Type: "Z" is not a transaction type & Block: "w" is not a block number`},
		{"ambiguous values", `{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"USD"}`,
			"Date,Amount\n02/03/2024,\"1,234\"\n", `
fault Date: "02/03/2024" may mean 3 February 2024 or 2 March 2024; state the date layout in the mapping & Amount: "1,234" may mean 1.234 or 1234; state the decimal separator of the column in the mapping`},
		{"values that others of the column settle", `{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"USD"}`,
			"Date;Amount\n02/03/2024;1.234\n13/03/2024;0,5\n", `
in 1234 USD (1234-0=1234 USD)
in 0.5 USD (0.5-0=0.5 USD)`},
		{"a currency beside the number", `{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"EUR"}`,
			"Date;Amount\n2024-01-05;1,50 €\n2024-01-05;EUR 2,50\n2024-01-05;3,50 USD\n2024-01-05;$4,50\n2024-01-05;£5,50\n2024-01-05;MAY12\n", `
in 1.5 EUR (1.5-0=1.5 EUR)
in 2.5 EUR (2.5-0=2.5 EUR)
fault Amount: "3,50 USD" is not in EUR, the currency of the row
in 4.5 EUR (4.5-0=4.5 EUR)
fault Amount: "£5,50" is not in EUR, the currency of the row
fault Amount: "MAY12" is not in EUR, the currency of the row`},
		{"a token that calls itself money",
			`{"columns":{"timestamp":"Date","amount":"Amount","currency":"Token","contract_address":"Contract"},"chain":"ethereum"}`,
			"Date,Amount,Token,Contract\n2024-01-05,1000000,USD,0xBAD\n", `
in 1000000 0xbad`},
		{"duplicate ids", `{"columns":{"timestamp":"Date","amount":"Amount","id":"Ref"},"currency":"USD"}`,
			"Date,Amount,Ref\n2024-01-05,1,a\n2024-01-05,2,a\n2024-01-05,3,\n2024-01-05,3,\n", `
in 1 USD (1-0=1 USD)
fault Ref: the id "a" occurs earlier in the file; if the rows are two transactions, do not map the column as id, or set ignore_ids
in 3 USD (3-0=3 USD)
in 3 USD (3-0=3 USD)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := rows(t, strings.NewReader(c.file), intake.Options{Name: "f.csv", Mapping: mapping(t, c.mapping)})
			validateRecords(t, all)
			if got := "\n" + brief(all); got != c.want {
				t.Errorf("reads%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestEveryFieldOfARecordCanBeMapped(t *testing.T) {
	t.Parallel()
	m := intake.Mapping{Columns: map[intake.Field]string{}, TimeZone: "America/New_York"}
	values := map[intake.Field]string{
		intake.FieldTimestamp: "2024-07-05", intake.FieldTime: "10:30 PM", intake.FieldAmount: "-5", intake.FieldCurrency: "ETH",
		intake.FieldType:        "bill",
		intake.FieldBlockNumber: "17", intake.FieldFee: "1", intake.FieldFeeCurrency: "ETH", intake.FieldNet: "-6", intake.FieldValueGross: "100",
		intake.FieldValueFee: "20", intake.FieldValueNet: "80", intake.FieldValueCurrency: "USD", intake.FieldAccount: "DE89 3704 0044 " +
			"0532 0130 00",
		intake.FieldCardLast4: "**** 4321",
	}
	var header, cells []string
	for _, f := range intake.Fields {
		if f == intake.FieldDebit || f == intake.FieldCredit || f == intake.FieldDirection {
			continue
		}
		m.Columns[f] = "col " + string(f)
		header = append(header, m.Columns[f])
		value := values[f]
		if value == "" {
			value = "<" + string(f) + ">"
		}
		cells = append(cells, value)
	}
	all := rows(t, strings.NewReader(strings.Join(header, ";")+"\n"+strings.Join(cells, ";")+"\n"), intake.Options{Mapping: m})
	if len(all) != 1 || len(all[0].Records) != 1 {
		t.Fatalf("%+v", all)
	}
	six := money.MustParse("6")
	r := all[0].Records[0]
	got := fmt.Sprintf("%+v %+v %+v %+v", *r.Crypto, *r.Bank, *r.Card, *r.Value)
	want := fmt.Sprintf("%+v %+v %+v %+v",
		intake.Crypto{Chain: "<chain>", TransactionHash: "<transaction_hash>", BlockNumber: 17, From: "<from_address>",
			To: "<to_address>", AssetType: "ETH",
			ContractAddress: "<contract_address>", TokenID: "<token_id>", FeeQuantity: r.Crypto.FeeQuantity, FeeAssetType: "ETH"},
		intake.Bank{BankName: "<bank_name>", AccountLast4: "3000", CounterpartyName: "<counterparty>"},
		intake.Card{MerchantName: "<merchant>", MerchantCategory: "<merchant_category>", CardholderName: "<cardholder>", Last4: "4321"},
		intake.Value{Gross: money.MustParse("100"), Fee: money.MustParse("20"), Net: money.MustParse("80"), Currency: "USD"})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Crypto, r.Bank, r.Card, r.Value = nil, nil, nil, nil
	if !r.Quantity.Equal(six) || r.Inflow || r.Line != 2 || !r.Timestamp.Equal(time.Date(2024, 7, 6, 2, 30, 0, 0, time.UTC)) {
		t.Errorf("%+v", r)
	}
	if r.ExternalID != "<id>" || r.Description != "<description>" || r.ProviderCategory != "<provider_category>" ||
		r.Vendor != "<vendor>" || r.Memo != "<memo>" || r.Type != "BILL" || r.Group != "<group>" || r.Currency != "ETH" {
		t.Errorf("%+v", r)
	}
}

func TestAMappingReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mapping, want string }{
		{`{}`, ""},
		{`{"preset":"kraken","time_zone":"Europe/Berlin"}`, ""},
		{`{"columns":{"timestamp":"a","amount":"b"},"currency":"USD","delimiter":"|","decimal":",","date_layouts":["DD/MM/YYYY","unix"]}`, ""},
		{`{"format":"xls","preset":"x","encoding":"ebcdic","delimiter":":","header_row":-2,"date_layouts":["auto","nope"],"time_zone":"Mars","decimal":"'"}`,
			"mapping.format must be csv, json or ofx; mapping.preset must be one of coinbase, kraken, binance, etherscan_tokens, " +
				"etherscan_nfts, etherscan, mercury, stripe; " +
				"mapping.encoding must be utf-8, utf-16le, utf-16be or windows-1252; mapping.delimiter must be a comma, a semicolon, a tab or a bar; " +
				"mapping.header_row must be the line of the header, 0 to find it, or -1 for none; mapping.date_layouts[1] has 'n' at " +
				"\"nope\"; use YYYY, YY, MM, M, MMM, DD, D, HH, hh, mm, ss, .SSS, A, Z, or auto, unix, unix_ms; " +
				"mapping.time_zone must be the IANA name of a time zone, such as Europe/Berlin; mapping.decimal must be auto, a point or a comma"},
		{`{"direction":"up","amount_is":"net","currency":"usd","account_last4":"12345","inflow_words":["in"],"outflow_words":["IN"]}`,
			`mapping.direction must be sign, columns or words; mapping.amount_is must be before_fee or after_fee; mapping.currency must be an upper-case code or symbol such as USD or BTC; ` +
				`mapping.account_last4 must be the last four characters of the account; mapping.outflow_words has "in", which is an inflow word too`},
		{`{"columns":{"colour":"a"}}`, "mapping.columns.colour is not a field of a record; mapping.columns.timestamp must be mapped; " +
			"mapping.columns.amount must be mapped, or debit and credit must be; mapping.currency must be stated, " +
			"or a currency column must be mapped"},
		{`{"preset":"etherscan","header_row":-1}`, "mapping.header_row must not be -1 with a preset, which finds its columns by name"},
		{`{"preset":"stripe","columns":{"amount":"a"}}`, "mapping.columns must be empty with a preset, which knows its columns"},
		{`{"format":"ofx","columns":{"amount":"a"}}`, "mapping.columns must be empty for OFX, which has no columns"},
		{`{"header_row":-1,"columns":{"timestamp":"#1","amount":"Amount"},"currency":"USD"}`,
			"mapping.columns.amount must be the number of a column, such as #3, because there is no header"},
		{`{"columns":{"timestamp":"#1","amount":"3"},"currency":"USD"}`,
			"mapping.header_row must be stated, because all columns are given by number"},
		{`{"columns":{"timestamp":"a","debit":"b","amount":"c"},"currency":"USD"}`,
			"mapping.columns.debit must be mapped together with credit; mapping.columns.amount must not be mapped beside debit and credit"},
		{`{"columns":{"timestamp":"a","amount":"c","fee":"d"},"currency":"USD","direction":"words"}`,
			"mapping.columns.direction must be mapped, because direction is words; mapping.amount_is must say whether the amount is " +
				"before_fee or after_fee, because a fee is mapped"},
		{`{"columns":{"timestamp":"a","amount":"c","net":"d","direction":"e","value_fee":"f"},"currency":"USD","direction":"sign","amount_is":"after_fee"}`,
			"mapping.columns.direction must not be mapped, because direction is sign; mapping.amount_is cannot be after_fee " +
				"beside net, which is the amount after the fee; " +
				"mapping.columns.value_gross or value_net must be mapped, because value_fee is"},
		{`{"columns":{"timestamp":"a","amount":" ","value_net":"f"},"currency":"USD"}`,
			"mapping.columns.amount must name a column; mapping.value_currency must be stated, or a currency column must be mapped"},
		{`{"time_zone":"Local"}`, "mapping.time_zone must be the IANA name of a time zone, such as Europe/Berlin"},
	} {
		m := mapping(t, c.mapping)
		got := ""
		if err := m.Validate(); err != nil {
			got = strings.TrimPrefix(err.Error(), "the request is not valid: ")
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.mapping, got, c.want)
		}
	}
}

func TestAMappingIsValidatedAgainstTheFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mapping, file, want string }{
		{`{"columns":{"timestamp":"Date","amount":"Sum"},"currency":"USD"}`, "Date,Amount\n2024-01-05,1\n",
			`mapping.columns.amount is "Sum", but the file has no such column; its columns are Date, Amount`},
		{`{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"USD"}`, "Date,Amount,Amount\n2024-01-05,1,2\n",
			`mapping.columns.amount is "Amount", but 2 columns have that name; give a number such as #2`},
		{`{"columns":{"timestamp":"Date","amount":"#9"},"currency":"USD","header_row":1}`, "Date,Amount\n2024-01-05,1\n",
			"mapping.columns.amount is column 9, but the file has 2"},
		{`{"columns":{"timestamp":"Date","amount":"Amount"},"currency":"USD","header_row":9}`, "Date,Amount\n2024-01-05,1\n",
			"mapping.header_row is line 9, but the file has no row there"},
		{`{"preset":"kraken"}`, "Date,Amount\n2024-01-05,1\n", "mapping.preset is kraken, but no row among the first 60 has its columns"},
		{`{"preset":"kraken","header_row":1}`, "Date,Amount\n2024-01-05,1\n",
			"mapping.preset is kraken, but the header on line 1 is of another layout"},
		{`{}`, "Date,Amount\n2024-01-05,1\n", "mapping.columns must be stated, because the layout of the file is unknown"},
		{`{}`, "", "mapping.columns must be stated, because the layout of the file is unknown"},
		{`{"preset":"kraken"}`, `[{"a":1}]`, "mapping.preset must be empty for JSON; presets are layouts of CSV"},
		{`{"columns":{"timestamp":"when","amount":"a"},"currency":"USD"}`, `[{"a":1}]`,
			`mapping.columns.timestamp is "when", but the file has no such column; its columns are a`},
		{`{"format":"ofx"}`, "Date,Amount\n", "f:1: the file is not OFX: it has no <OFX> tag"},
		{`{"format":"json"}`, "Date,Amount\n", `f:1: begins with "D", which starts neither a JSON array nor a JSON object`},
		{`{"format":"json"}`, " ", "f:1: the file is empty"},
	} {
		_, err := intake.Open(strings.NewReader(c.file), intake.Options{Name: "f", Mapping: mapping(t, c.mapping)})
		if err == nil || strings.TrimPrefix(err.Error(), "the request is not valid: ") != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.mapping, err, c.want)
		}
	}
}
