package notation_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

func TestAnHledgerJournalIsReadable(t *testing.T) {
	t.Parallel()
	base := money.MustParse("1100")
	j := journal{
		accounts: []notation.Account{{Path: []string{"Aktiva", "Bank: EUR"}, Type: notation.Asset, Code: "1200"}},
		prices:   []notation.Price{{Date: "2024-01-31", Base: "EUR", Quote: "USD", Rate: money.MustParse("1.1")}},
		entries: []notation.Entry{{
			ID: "je_1", Number: "JE-12", Date: "2024-01-31", Instant: "2024-01-31T12:00:00Z", Posted: true, Memo: "January rent",
			Entity: "Acme Inc", Tags: []notation.Tag{{Kind: "Department", Name: "R&D"}, {Kind: "Cost Center", Name: "A, B"}},
			Postings: []notation.Posting{
				{Account: []string{"Expenses", "Rent"}, Debit: true, Amount: base, Currency: "USD", Memo: "office"},
				{Account: []string{"Aktiva", "Bank: EUR"}, Amount: money.MustParse("1000.125"), Currency: "EUR", Base: &base, BaseCurrency: "USD",
					Memo: "see: wire", Entity: "Acme GmbH"},
			},
		}, {
			Date: "2024-02-01", Memo: "100% ours",
			Postings: []notation.Posting{
				{Account: []string{"Aktiva", "Wallet"}, Debit: true, Amount: money.MustParse("0.5"), Currency: "1INCH"},
				{Account: []string{"Erträge"}, Amount: money.MustParse("0.5"), Currency: "1INCH"},
			},
		}},
	}
	want := `decimal-mark .

account Aktiva:Bank%3A EUR  ; type:A, code:1200, escaped:percent
P 2024-01-31 EUR 1.1 USD

2024-01-31 * (JE-12) January rent
    ; id:je_1, entry-of:Acme Inc, instant:2024-01-31T12:00:00Z, escaped:percent
    ; Department:R&D, Cost%20Center:A%2C B
    Expenses:Rent  1100.00 USD  ; office, entity:Acme Inc
    Aktiva:Bank%3A EUR  -1000.125 EUR @@ 1100.00 USD  ; memo:see: wire, entity:Acme GmbH

2024-02-01 ! 100% ours
    Aktiva:Wallet  0.5 "1INCH"
    Erträge  -0.5 "1INCH"

commodity 1000.00 USD
commodity 1000.000 EUR
commodity 1000.0 "1INCH"
`
	if got := write(t, notation.Hledger, j); got != want {
		t.Errorf("%s", got)
	}
}

func TestWhatCannotBeWrittenIsRefusedAndTheNextItemIsNot(t *testing.T) {
	t.Parallel()
	one, minus := money.FromInt(1), money.FromInt(-1)
	long := money.MustParse(strings.Repeat("9", 38)).Mul(money.FromInt(10))
	line := func(change func(p *notation.Posting)) *notation.Entry {
		p := notation.Posting{Account: []string{"Assets"}, Debit: true, Amount: one, Currency: "USD"}
		change(&p)
		return &notation.Entry{Number: "JE-1", Date: "2024-01-31", Postings: []notation.Posting{p}}
	}
	for _, format := range notation.Formats {
		w := notation.NewWriter(format, io.Discard)
		for want, e := range map[string]*notation.Entry{
			`JE-1: the date "2024-1-31" must be written like 2006-01-31`: {Number: "JE-1", Date: "2024-1-31"},
			`entry je_1: the date "0999-01-01" must be`:                  {ID: "je_1", Date: "0999-01-01"},
			`entry of 2024-01-31 "x\xff": the text "x\xff" is not UTF-8`: {Date: "2024-01-31", Memo: "x\xff"},
			`the text "\xff" is not UTF-8`:                               {Date: "2024-01-31", Tags: []notation.Tag{{Name: "\xff"}}},
			`JE-1: line 1: the amount -1 must be above zero`:             line(func(p *notation.Posting) { p.Amount = minus }),
			`the amount 0 must be above zero`:                            line(func(p *notation.Posting) { p.Amount = money.Decimal{} }),
			`the amount 1 has no currency`:                               line(func(p *notation.Posting) { p.Currency = "" }),
			`the account has no name`:                                    line(func(p *notation.Posting) { p.Account = nil }),
			`must have at most 38 digits before the point`:               line(func(p *notation.Posting) { p.Amount = long }),
			`there is a base currency but no base amount`:                line(func(p *notation.Posting) { p.BaseCurrency = "EUR" }),
			`the base amount -1 is below zero`: line(func(p *notation.Posting) {
				p.Base, p.BaseCurrency = &minus, "EUR"
			}),
			`a base amount must be in another currency than the amount's USD`: line(func(p *notation.Posting) {
				p.Base, p.BaseCurrency = &one, "USD"
			}),
		} {
			if err := w.Entry(e); err == nil || !strings.Contains(err.Error(), want) || fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v, want %q", format, err, want)
			}
		}
		if err := w.Account(&notation.Account{Path: []string{"Assets"}, Type: "Cash"}); err == nil || !strings.Contains(err.Error(),
			`the type "Cash"`) {
			t.Error(err)
		}
		if err := w.Price(&notation.Price{Date: "2024-01-31", Base: "EUR"}); err == nil || !strings.Contains(err.Error(), "names no currency") {
			t.Error(err)
		}
		for _, want := range []string{"", "is declared twice"} {
			err := w.Account(&notation.Account{Path: []string{"Assets"}, Type: notation.Asset})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", format, err, want)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnEntryThatDoesNotBalanceIsForCSVAlone(t *testing.T) {
	t.Parallel()
	e := &notation.Entry{Number: "JE-1", Date: "2024-01-31", Postings: []notation.Posting{
		{Account: []string{"Assets"}, Debit: true, Amount: money.MustParse("1.000000000000000001"), Currency: "ETH"},
		{Account: []string{"Equity"}, Amount: money.FromInt(1), Currency: "ETH"},
	}}
	for _, format := range notation.Formats {
		err := notation.NewWriter(format, io.Discard).Entry(e)
		if format == notation.CSV {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		const want = "entry JE-1 does not balance: debits less credits are 0.000000000000000001 ETH"
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestBeancountNeedsToKnowTheTypeOfAnAccount(t *testing.T) {
	t.Parallel()
	w := notation.NewWriter(notation.Beancount, io.Discard)
	e := &notation.Entry{Date: "2024-01-31", Postings: []notation.Posting{
		{Account: []string{"Aktiva"}, Debit: true, Amount: money.FromInt(1), Currency: "USD"},
		{Account: []string{"Assets", "Cash"}, Amount: money.FromInt(1), Currency: "USD"},
	}}
	if err := w.Entry(e); err == nil || !strings.Contains(err.Error(), "beancount needs the type of account Aktiva") {
		t.Error(err)
	}
	if err := w.Account(&notation.Account{Path: []string{"Aktiva"}, Type: notation.Asset}); err != nil {
		t.Error(err)
	}
	if err := w.Entry(e); err != nil {
		t.Error(err)
	}
	if err := w.Account(&notation.Account{Path: []string{"Assets", "Cash"}, Type: notation.Asset}); err == nil ||
		!strings.Contains(err.Error(), "Assets:Cash was used before it was declared") {
		t.Error(err)
	}
}

func TestAFormatThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	const want = `there is no format "xls"; use one of hledger, beancount, csv`
	if _, err := notation.ParseFormat("xls"); err == nil || err.Error() != want {
		t.Error(err)
	}
	if err := notation.NewWriter("xls", io.Discard).Close(); err == nil || err.Error() != want {
		t.Error(err)
	}
	for _, err := range notation.Read("xls", "x", strings.NewReader("")) {
		if err == nil || err.Error() != want {
			t.Error(err)
		}
	}
	if format, err := notation.ParseFormat("csv"); format != notation.CSV || err != nil {
		t.Error(format, err)
	}
}

var errDisk = errors.New("the disk is full")

// broken fails on every use.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errDisk }
func (broken) Read([]byte) (int, error)  { return 0, errDisk }

func TestErrorsOfTheFileAreReturned(t *testing.T) {
	t.Parallel()
	for _, format := range notation.Formats {
		w := notation.NewWriter(format, broken{})
		if err := w.Close(); !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", format, err)
		}
		if err := w.Entry(ordinary(1)); !errors.Is(err, errDisk) {
			t.Errorf("%s: %v after a failure", format, err)
		}
		for _, err := range notation.Read(format, "x", broken{}) {
			if !errors.Is(err, errDisk) {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}
