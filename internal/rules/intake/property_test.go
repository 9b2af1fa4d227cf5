package intake_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// fact is the content of a row.
type fact struct {
	at       time.Time
	amount   money.Decimal // Below zero for an outflow.
	currency string
	text, id string
}

func drawFact(t *rapid.T, n int) fact {
	f := fact{
		at:       time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "at"), 0).UTC(),
		currency: rapid.SampledFrom([]string{"USD", "EUR", "JPY", "BTC", "USDC"}).Draw(t, "currency"),
		text:     strings.TrimSpace(rapid.StringOf(rapid.SampledFrom([]rune("ab ,;|\t\"'\n€äÜ日🎉0.-"))).Draw(t, "text")),
		id:       "id" + string(rune('a'+n%26)) + strings.Repeat("x", n/26),
	}
	digits := rapid.StringMatching(`-?[1-9][0-9]{0,11}(\.[0-9]{0,9}[1-9])?`).Draw(t, "amount")
	f.amount = money.MustParse(digits)
	return f
}

// dialect is a way to write a file.
type dialect struct {
	delimiter, group, decimal, layout, lineEnd, encoding, direction string
	quoteAll, preamble                                              bool
	zone                                                            *time.Location
}

func drawDialect(t *rapid.T) dialect {
	d := dialect{
		delimiter: rapid.SampledFrom([]string{",", ";", "\t", "|"}).Draw(t, "delimiter"),
		decimal:   rapid.SampledFrom([]string{".", ","}).Draw(t, "decimal"),
		layout: rapid.SampledFrom([]string{"YYYY-MM-DD HH:mm:ss", "DD/MM/YYYY HH:mm:ss", "MM/DD/YYYY hh:mm:ss A",
			"DD.MM.YYYY HH:mm:ss", "D MMM YYYY HH:mm:ss", "unix", "YYYY-MM-DDTHH:mm:ssZ"}).Draw(t, "layout"),
		lineEnd:   rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end"),
		encoding:  rapid.SampledFrom([]string{"utf-8", "bom", "utf-16le", "utf-16be"}).Draw(t, "encoding"),
		direction: rapid.SampledFrom([]string{"sign", "flipped", "columns", "words"}).Draw(t, "direction"),
		quoteAll:  rapid.Bool().Draw(t, "quote all"),
		preamble:  rapid.Bool().Draw(t, "preamble"),
	}
	groups := []string{"", "'", " ", "\u00a0", "\u202f", map[string]string{".": ",", ",": "."}[d.decimal]}
	d.group = rapid.SampledFrom(groups).Draw(t, "group")
	name := rapid.SampledFrom([]string{"UTC", "Asia/Kolkata", "Africa/Lagos"}).Draw(t, "zone") // None that turns its clocks in these years.
	d.zone, _ = time.LoadLocation(name)
	return d
}

// number formats a decimal with groups of three digits.
func (d dialect) number(n money.Decimal) string {
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	whole, fraction, pointed := strings.Cut(n.Abs().String(), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + d.group + whole[at:]
	}
	if pointed {
		whole += d.decimal + fraction
	}
	return sign + whole
}

func (d dialect) time(t time.Time) string {
	standard := map[string]string{"YYYY-MM-DD HH:mm:ss": "2006-01-02 15:04:05", "DD/MM/YYYY HH:mm:ss": "02/01/2006 15:04:05",
		"MM/DD/YYYY hh:mm:ss A": "01/02/2006 03:04:05 PM", "DD.MM.YYYY HH:mm:ss": "02.01.2006 15:04:05",
		"D MMM YYYY HH:mm:ss":  "2 Jan 2006 15:04:05",
		"YYYY-MM-DDTHH:mm:ssZ": "2006-01-02T15:04:05Z07:00"}[d.layout]
	if standard == "" {
		return money.FromInt(t.Unix()).String()
	}
	return t.In(d.zone).Format(standard)
}

func (d dialect) row(cells ...string) string {
	for i, c := range cells {
		if d.quoteAll || strings.ContainsAny(c, d.delimiter+"\"\n\r") {
			cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
	}
	return strings.Join(cells, d.delimiter) + d.lineEnd
}

func (d dialect) write(facts []fact) ([]byte, intake.Mapping) {
	m := intake.Mapping{Decimal: d.decimal, DateLayouts: []string{d.layout}, TimeZone: d.zone.String(), Columns: map[intake.Field]string{
		intake.FieldTimestamp: "When", intake.FieldCurrency: "Ccy", intake.FieldDescription: "Text, or so", intake.FieldID: "Id"}}
	var b strings.Builder
	if d.preamble {
		b.WriteString(d.row("My bank", "Ada"))
	}
	switch d.direction {
	case "columns":
		m.Columns[intake.FieldDebit], m.Columns[intake.FieldCredit] = "Out", "In"
		b.WriteString(d.row("When", "Out", "In", "Ccy", "Text, or so", "Id"))
	default:
		m.Columns[intake.FieldAmount], m.FlipSign = "Amount", d.direction == "flipped"
		if d.direction == "words" {
			m.Columns[intake.FieldDirection], m.InflowWords, m.OutflowWords = "Dir", []string{"up"}, []string{"down"}
		}
		b.WriteString(d.row("When", "Amount", "Dir", "Ccy", "Text, or so", "Id"))
	}
	for _, f := range facts {
		first, second := d.number(f.amount), "up"
		switch {
		case d.direction == "flipped":
			first = d.number(f.amount.Neg())
		case d.direction == "columns" && f.amount.Sign() < 0:
			first, second = d.number(f.amount.Neg()), ""
		case d.direction == "columns":
			first, second = "", d.number(f.amount)
		case d.direction == "words":
			first = d.number(f.amount.Abs())
			if f.amount.Sign() < 0 {
				second = "down"
			}
		}
		b.WriteString(d.row(d.time(f.at), first, second, f.currency, strings.ReplaceAll(f.text, "\n", d.lineEnd), f.id))
	}
	return encode(b.String(), d.encoding), m
}

func encode(text, encoding string) []byte {
	switch encoding {
	case "utf-8":
		return []byte(text)
	case "bom":
		return []byte("\ufeff" + text)
	}
	var out []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		pair := []byte{byte(u), byte(u >> 8)}
		if encoding == "utf-16be" {
			slices.Reverse(pair)
		}
		out = append(out, pair...)
	}
	return out
}

func TestWhatIsWrittenInAnyDialectReadsBackExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var facts []fact
		for n := range rapid.IntRange(1, 12).Draw(t, "rows") {
			facts = append(facts, drawFact(t, n))
		}
		d := drawDialect(t)
		content, m := d.write(facts)
		in, err := intake.Open(bytes.NewReader(content), intake.Options{Name: "f.csv", Mapping: m})
		if err != nil {
			t.Fatalf("%v\n%s", err, content)
		}
		for i := 0; ; i++ {
			row, err := in.Next()
			if errors.Is(err, io.EOF) {
				if i != len(facts) {
					t.Fatalf("%d rows of %d\n%s", i, len(facts), content)
				}
				break
			}
			if err != nil || len(row.Records) != 1 {
				t.Fatalf("row %d: %+v, %v\n%s", i, row, err, content)
			}
			r, f := row.Records[0], facts[i]
			if !r.Timestamp.Equal(f.at) || !r.Quantity.Equal(f.amount.Abs()) || r.Inflow != (f.amount.Sign() > 0) || r.Currency != f.currency ||
				r.Description != f.text || r.ExternalID != f.id {
				t.Fatalf("row %d reads %+v, want %+v\n%s", i, r, f, content)
			}
		}
		if in.Offset() != int64(len(content)) {
			t.Fatalf("offset %d of %d", in.Offset(), len(content))
		}
	})
}

func FuzzNoFileMakesAReaderPanicOrAnUnsoundRecord(f *testing.F) {
	for _, seed := range []string{
		"Date,Amount,Fee,Net,Debit,Credit,Currency,Id\n2024-01-05,1.5,0.1,1.4,,,USD,a\n",
		"\nTransactions\nID,Timestamp,Transaction Type,Asset,Quantity Transacted,Price Currency,Price at Transaction,Subtotal,Total " +
			"(inclusive of fees and/or spread),Fees and/or Spread,Notes\na,2025-01-03 10:11:12 " +
			"UTC,Convert,BTC,-1,USD,$1,$2,$3,$1,Converted 1 BTC to 2 ETH\n",
		"txid,refid,time,type,subtype,aclass,asset,wallet,amount,fee,balance\nL,T,2025-03-19 19:43:31,trade,,currency,ZEUR,spot,-100,0.18,1\n",
		"id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On " +
			"(UTC),Description\nt,refund,r,-249.00,-7.52,-241.48,usd,2026-07-25 15:34,2026-07-25 15:34,x\n",
		"Transaction Hash,Blockno,UnixTimestamp,From,To,Value_IN(ETH),Value_OUT(ETH),TxnFee(ETH),Historical " +
			"$Price/Eth,Status\n0x,1,1705399200,0xa,0xb,1.5,0,0.1,2585.91,\n",
		"OFXHEADER:100\n<OFX><STMTRS><CURDEF>USD<STMTTRN><DTPOSTED>20240105[-5:EST]<TRNAMT>-5<FITID>1</STMTTRN></OFX>",
		`{"transactions":[{"external":{"timestamp":"2026-01-05T10:00:00Z","direction":"credit","quantity":1e3,"currency":"USD","value_fiat":{"gross":"3","fee":"1","net":"2","currency":"USD"}}}]}`,
		`[{"Date":"2024-01-05","Amount":1.5,"Currency":"USD"}]`,
	} {
		f.Add([]byte(seed), byte(0))
		f.Add([]byte(seed), byte(3))
	}
	mappings := []intake.Mapping{
		{}, {Currency: "USD", Columns: map[intake.Field]string{intake.FieldTimestamp: "Date", intake.FieldAmount: "Amount"}},
		{AmountIs: intake.AfterFee, Columns: map[intake.Field]string{intake.FieldTimestamp: "Date", intake.FieldAmount: "Amount",
			intake.FieldFee: "Fee", intake.FieldCurrency: "Currency"}},
		{Columns: map[intake.Field]string{intake.FieldTimestamp: "Date", intake.FieldAmount: "Amount", intake.FieldFee: "Fee",
			intake.FieldNet: "Net", intake.FieldCurrency: "Currency", intake.FieldID: "Id"}},
		{HeaderRow: -1, Currency: "BTC", Decimal: ",", Columns: map[intake.Field]string{intake.FieldTimestamp: "1",
			intake.FieldDebit: "#2", intake.FieldCredit: "#3"}},
		{Preset: "binance"}, {Preset: "mercury", Encoding: "windows-1252"}, {Preset: "etherscan_tokens"},
	}
	f.Fuzz(func(t *testing.T, content []byte, which byte) {
		intake.Detect("f", content)
		options := slices.Clone(mappings)
		if p, err := intake.Guess(content); err == nil {
			_ = p.Mapping.Validate()
			if p.Mapping.Currency == "" && p.Mapping.Columns[intake.FieldCurrency] == "" {
				p.Mapping.Currency = "USD"
			}
			options = append(options, p.Mapping)
		}
		in, err := intake.Open(bytes.NewReader(content), intake.Options{Name: "f", Mapping: options[int(which)%len(options)],
			OwnAddresses: []string{"0xa"}})
		if err != nil {
			return
		}
		var all []intake.Row
		for {
			row, err := in.Next()
			if err != nil {
				break
			}
			all = append(all, row)
		}
		validateRecords(t, all)
		if in.Offset() > int64(len(content)) {
			t.Errorf("offset %d of %d", in.Offset(), len(content))
		}
	})
}

func TestNoDamageToAKnownFileMakesAnUnsoundRecord(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".golden") })
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "file")
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 8).Draw(t, "damages") {
			at := rapid.IntRange(0, len(content)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				content = slices.Insert(content, at, rapid.SampledFrom([]byte("\"',.;-<>{}[]\n\r\x00\xff0eE()$")).Draw(t, "byte"))
			case 1:
				content = slices.Delete(content, at, min(len(content), at+rapid.IntRange(1, 9).Draw(t, "length")))
			case 2:
				content[at] = rapid.SampledFrom([]byte("\"',.;-<>{}[]\n\r\x00\xff0eE()$")).Draw(t, "byte")
			default:
				content = slices.Insert(content, at, content[at:min(len(content), at+40)]...)
			}
			if len(content) == 0 {
				return
			}
		}
		in, err := intake.Open(bytes.NewReader(content), intake.Options{Name: filepath.Base(name), OwnAddresses: []string{wallet}})
		if err != nil {
			return
		}
		var all []intake.Row
		for {
			row, err := in.Next()
			if err != nil {
				break
			}
			all = append(all, row)
		}
		validateRows(t, all)
	})
}
