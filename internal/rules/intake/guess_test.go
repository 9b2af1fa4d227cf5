package intake_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

func TestKnownFilesAreDetected(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]intake.Detection{
		"coinbase.csv":         {Format: intake.CSV, Preset: "coinbase", Mapped: true},
		"kraken.csv":           {Format: intake.CSV, Preset: "kraken", Mapped: true},
		"binance.csv":          {Format: intake.CSV, Preset: "binance", Mapped: true},
		"etherscan.csv":        {Format: intake.CSV, Preset: "etherscan", Mapped: true},
		"etherscan_tokens.csv": {Format: intake.CSV, Preset: "etherscan_tokens", Mapped: true},
		"mercury.csv":          {Format: intake.CSV, Preset: "mercury", Mapped: true},
		"stripe.csv":           {Format: intake.CSV, Preset: "stripe", Mapped: true},
		"bank.ofx":             {Format: intake.OFX, Mapped: true},
		"card.ofx":             {Format: intake.OFX, Mapped: true},
		"transactions.json":    {Format: intake.JSON, Mapped: true},
	} {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		// The name has no meaning here, and the file may be cut anywhere after its first rows.
		for _, head := range [][]byte{content, content[:min(len(content), 1200)]} {
			if got := intake.Detect("upload", head); got != want {
				t.Errorf("%s is detected as %+v, want %+v", file, got, want)
			}
		}
		p, err := intake.Guess(content)
		if err != nil || p.Mapping.Preset != want.Preset || len(p.Undecided) > 0 || len(p.Reasons) == 0 {
			t.Errorf("%s: guess %+v, %v", file, p, err)
		}
	}
	for _, c := range []struct {
		name, head string
		want       intake.Detection
	}{
		{"a.csv", "Date,Amount\n", intake.Detection{Format: intake.CSV}},
		{"a.json", "", intake.Detection{Format: intake.JSON}},
		{"a.txt", `[{"when":"2024-01-05","amount":1}]`, intake.Detection{Format: intake.JSON}},
		{"a.QBO", "", intake.Detection{Format: intake.OFX, Mapped: true}},
		{"a.csv", "\xff\xfet\x00x\x00i\x00d\x00\n\x00", intake.Detection{Format: intake.CSV}},
		{"", "", intake.Detection{Format: intake.CSV}},
	} {
		if got := intake.Detect(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s %q: %+v", c.name, c.head, got)
		}
	}
}

func TestBankFilesInFourLanguagesAreGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, mapping, undecided, reads string }{
		{"English, signed", "Account statement\nPeriod: January\n\nTransaction " +
			"Date,Description,Amount,Balance\n01/13/2024,Coffee,-4.50,95.50\n01/14/2024,Salary,\"1,000.00\",1095.50\n",
			`{"format":"csv","delimiter":",","header_row":4,"columns":{"amount":"Amount","balance":"Balance","description":"Description","timestamp":"Transaction Date"},"direction":"sign"}`,
			"the file does not say its currency; state currency", ""},
		{"English, two columns", "Date|Details|Money Out|Money In|Currency\n05/01/2024|Rent|1200.00||GBP\n25/01/2024|Pay||3000.00|GBP\n",
			`{"format":"csv","delimiter":"|","header_row":1,"columns":{"credit":"Money In","currency":"Currency","debit":"Money Out","description":"Details","timestamp":"Date"},"direction":"columns"}`,
			"", "out 1200 GBP (1200-0=1200 GBP)\nin 3000 GBP (3000-0=3000 GBP)"},
		{"German", "\"Kontonummer:\";\"DE02 " +
			"1203\";\n\n\"Buchungstag\";\"Wertstellung\";\"Buchungstext\";\"Auftraggeber/Empfänger\";\"Verwendungszweck\";\"Betrag (EUR)\";\n" +
			"\"31.01.2024\";\"31.01.2024\";\"Lastschrift\";\"Vermieter\";\"Miete\";\"-1.200,00\";\n\"01.02.2024\";\"01.02.2024\";" +
			"\"Gutschrift\";\"Kunde\";\"Rechnung 17\";\"2.500,5\";\n",
			`{"format":"csv","delimiter":";","header_row":3,"columns":{"amount":"Betrag (EUR)","counterparty":"Auftraggeber/Empfänger","description":"Verwendungszweck","timestamp":"Buchungstag"},"direction":"sign","currency":"EUR"}`,
			"", "out 1200 EUR (1200-0=1200 EUR)\nin 2500.5 EUR (2500.5-0=2500.5 EUR)"},
		{"French", "Date opération;Libellé;Débit;Crédit;Devise\n13/01/2024;Loyer;1 200,00;;EUR\n02/02/2024;Client;;2\u202f500,00;EUR\n",
			`{"format":"csv","delimiter":";","header_row":1,"columns":{"credit":"Crédit","currency":"Devise","debit":"Débit","description":"Libellé","timestamp":"Date opération"},"direction":"columns"}`,
			"", "out 1200 EUR (1200-0=1200 EUR)\nin 2500 EUR (2500-0=2500 EUR)"},
		{"Spanish", "Fecha\tConcepto\tImporte\tDivisa\n13/01/2024\tAlquiler\t-1.200,00\tEUR\n02/02/2024\tCliente\t2.500,00\tEUR\n",
			`{"format":"csv","delimiter":"\t","header_row":1,"columns":{"amount":"Importe","currency":"Divisa","description":"Concepto","timestamp":"Fecha"},"direction":"sign"}`,
			"", "out 1200 EUR (1200-0=1200 EUR)\nin 2500 EUR (2500-0=2500 EUR)"},
		{"words for the direction",
			"Datum;Betrag;Währung;Soll/Haben\n31.01.2024;1.200,00;EUR;S\n01.02.2024;2.500,00;EUR;H\n02.02.2024;1,00;EUR;X\n",
			`{"format":"csv","delimiter":";","header_row":1,"columns":{"amount":"Betrag","currency":"Währung","direction":"Soll/Haben","timestamp":"Datum"},"direction":"words"}`,
			`the direction column says "X"; add it to inflow_words or outflow_words`, ""},
		{"nothing settled", "Date,Amount\n02/03/2024,\"1,234\"\n",
			`{"format":"csv","delimiter":",","header_row":1,"columns":{"amount":"Amount","timestamp":"Date"},"direction":"sign"}`,
			"all amounts are above zero; check that each is an inflow, or map a column that tells the direction|dates may have the day or " +
				"the month first; state date_layouts, such as DD/MM/YYYY|" +
				"amounts such as 1,234 may have decimals or thousands; state decimal|the file does not say its currency; state currency", ""},
		{"a sign and words", "Date,Amount,Currency,Direction\n2024-01-05,-4.50,USD,out\n2024-01-06,3.50,USD,in\n",
			`{"format":"csv","delimiter":",","header_row":1,"columns":{"amount":"Amount","currency":"Currency","timestamp":"Date"},"direction":"sign"}`, "",
			"out 4.5 USD (4.5-0=4.5 USD)\nin 3.5 USD (3.5-0=3.5 USD)"},
		{"a head that ends within a number", "Date;Amount;Currency\n2024-01-05;-1.234;USD\n2024-01-06;-1.23",
			`{"format":"csv","delimiter":";","header_row":1,"columns":{"amount":"Amount","currency":"Currency","timestamp":"Date"},"direction":"sign"}`,
			"amounts such as 1,234 may have decimals or thousands; state decimal", ""},
		{"wide letters without a mark",
			"D\x00a\x00t\x00e\x00,\x00A\x00m\x00o\x00u\x00n\x00t\x00,\x00C\x00o\x00i\x00n\x00\n" +
				"\x002\x000\x002\x004\x00-\x000\x001\x00-\x000\x005\x00,\x00-\x001\x00,\x00B\x00T\x00C\x00\n\x00",
			`{"format":"csv","encoding":"utf-16le","delimiter":",","header_row":1,"columns":{"amount":"Amount","currency":"Coin","timestamp":"Date"},"direction":"sign"}`, "",
			"out 1 BTC"},
		{"no header", "2024-01-05,Coffee,-4.50,USD\n2024-01-06,Tea,-3.50,USD\n",
			`{"format":"csv","delimiter":",","header_row":-1,"columns":{"amount":"#3","currency":"#4","timestamp":"#1"},"direction":"sign"}`, "",
			"out 4.5 USD (4.5-0=4.5 USD)\nout 3.5 USD (3.5-0=3.5 USD)"},
		{"Windows letters", "Datum;Empf\xe4nger;Betrag;W\xe4hrung\n31.01.2024;B\xe4cker;-1,50;EUR\n",
			`{"format":"csv","encoding":"windows-1252","delimiter":";","header_row":1,"columns":{"amount":"Betrag","counterparty":"Empfänger","currency":"Währung","timestamp":"Datum"},"direction":"sign"}`,
			"", "out 1.5 EUR (1.5-0=1.5 EUR)"},
		{"processor", "Date,Time,Name,Type,Currency,Gross,Fee,Net,Transaction " +
			"ID\n2024-01-05,10:00:00,Jane,Payment,USD,500.00,-14.80,485.20,A1\n2024-01-06,10:00:00,Tool,Payment,USD,-54.99,0.00,-54.99,A2\n",
			`{"format":"csv","delimiter":",","header_row":1,"columns":{"amount":"Gross","counterparty":"Name","currency":"Currency","fee":"Fee","id":"Transaction ID","net":"Net","provider_category":"Type","time":"Time","timestamp":"Date"},"direction":"sign"}`,
			"", "in 500 USD (500-14.8=485.2 USD)\nout 54.99 USD (54.99-0=54.99 USD)"},
		{"flat JSON",
			`[{"id":"a","created_at":"2024-01-05T10:00:00Z","amount":-5.25,"currency":"USD","details":{"note":"x"}},{"id":"b","created_at":"2024-01-05T10:00:00Z","amount":"7","currency":"USD"}]`,
			`{"format":"json","columns":{"amount":"amount","currency":"currency","id":"id","timestamp":"created_at"},"direction":"sign"}`,
			"", "out 5.25 USD (5.25-0=5.25 USD)\nin 7 USD (7-0=7 USD)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := intake.Guess([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			encode := json.NewEncoder(&text)
			encode.SetEscapeHTML(false)
			if err := encode.Encode(p.Mapping); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(text.String()); got != c.mapping {
				t.Errorf("got  %s\nwant %s", got, c.mapping)
			}
			if got := strings.Join(p.Undecided, "|"); got != c.undecided {
				t.Errorf("undecided %q, want %q", got, c.undecided)
			}
			if len(p.Reasons) == 0 || len(p.Columns) == 0 {
				t.Errorf("no reasons or columns: %+v", p)
			}
			if c.undecided != "" {
				return
			}
			all := rows(t, strings.NewReader(c.file), intake.Options{Mapping: p.Mapping})
			validateRecords(t, all)
			if got := brief(all); got != c.reads {
				t.Errorf("reads\n%s\nwant\n%s", got, c.reads)
			}
		})
	}
	if _, err := intake.Guess(nil); err == nil {
		t.Error("an empty file is guessed")
	}
}

func TestAFileOfInvoicesIsNotTakenForTransactions(t *testing.T) {
	t.Parallel()
	for file, invoices := range map[string]bool{
		"Date,Transaction Type,Num,Name,Due Date,Amount,Open Balance\n2026-01-31,Invoice,1,One,2026-02-28,5.00,5.00\n": true,
		"ContactName,InvoiceNumber,InvoiceDate,UnitAmount,Currency\nOne,1,2026-01-31,5.00,USD\n":                       true,
		"Date,Type,No.,Customer,Amount,Status\n2026-01-31,Invoice,1,One,5.00,Open\n":                                   true,
		"Date,Number,Description,Amount,Currency\n2026-01-31,17,Cheque,-5.00,USD\n":                                    false,
		"Date,Invoice Number,Payee,Amount,Currency\n2026-01-31,17,One,-5.00,USD\n":                                     false,
	} {
		p, err := intake.Guess([]byte(file))
		if err != nil || strings.Contains(strings.Join(p.Undecided, "|"), "bursar import invoices") != invoices {
			t.Errorf("%q: %v %v", file, p.Undecided, err)
		}
	}
}
