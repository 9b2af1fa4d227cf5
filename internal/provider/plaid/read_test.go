package plaid_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/plaid"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// open returns a fake and a session at it, with the registration that it accepts.
func open(t *testing.T, patient bool) (*plaidtest.Server, *provider.Session) {
	t.Helper()
	fake, now := plaidtest.New(), clock.NewManual(time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC))
	providertest.Start(t, fake, now.Now)
	return fake, dial(fake, now, plaidtest.Client).Open(texts(provider.AccessToken, fake.Credentials()[provider.AccessToken],
		provider.AccountID, plaidtest.ItemID), patient)
}

func dial(fake *plaidtest.Server, now clock.Clock, c provider.Client) *provider.Dialer {
	return provider.NewDialer(plaid.Connector{}.Describe(), provider.Config{URL: fake.URL, AllowPrivate: true, Clock: now, Client: c,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
}

// read reads a page and describes it.
func read(t *testing.T, s *provider.Session, cursor string) (text string, p provider.Page) {
	t.Helper()
	p, err := plaid.Connector{}.Read(t.Context(), s, "transactions", cursor)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range p.Records {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s", r.Timestamp.Format(time.DateOnly), r.ExternalID, r.Moved(), r.Currency, r.Part[:2]))
	}
	for _, o := range p.Omitted {
		lines = append(lines, "left out "+o.ID+": "+o.Reason)
	}
	if len(p.Removed) > 0 {
		lines = append(lines, "removed "+strings.Join(p.Removed, " "))
	}
	return strings.Join(lines, "\n"), p
}

func wants(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.ReplaceAll(strings.TrimSpace(want), "\t", ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAChangedTransactionReplacesTheFormerOne(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	fake.Put("added", fake.Transaction("a", plaidtest.Checking, "2026-10-01", "10.10"))
	fake.Put("added", fake.Transaction("b", plaidtest.Card, "2026-10-02", "-3"))
	text, p := read(t, s, "")
	wants(t, text, `2026-10-01 a -10.1 USD Bx
		2026-10-02 b 3 USD 8q`)
	fake.Put("modified", fake.Transaction("a", plaidtest.Checking, "2026-10-03", "12.50"))
	fake.Put("removed", fake.Transaction("b", plaidtest.Card, "2026-10-02", "-3"))
	fake.Put("added", fake.Transaction("c", plaidtest.Card, "2026-10-01", "4"))
	for range 2 { // the same cursor leads to the same page
		text, _ = read(t, s, p.Cursor)
		wants(t, text, `2026-10-01 c -4 USD 8q
			2026-10-03 a -12.5 USD Bx
			removed a b`)
	}
}

func TestWhatChangesSeveralTimesIsReadInItsLastState(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	fake.PageSize = 1
	fake.Put("added", fake.Transaction("a", plaidtest.Checking, "2026-10-01", "1"))
	fake.Put("added", fake.Transaction("b", plaidtest.Checking, "2026-10-01", "1"))
	fake.Put("added", fake.Transaction("c", plaidtest.Checking, "2026-10-01", "1"))
	fake.Put("modified", fake.Transaction("a", plaidtest.Checking, "2026-10-01", "2"))
	fake.Put("removed", fake.Transaction("b", plaidtest.Checking, "2026-10-01", "1"))
	fake.Put("removed", fake.Transaction("c", plaidtest.Checking, "2026-10-01", "1"))
	fake.Put("added", fake.Transaction("c", plaidtest.Checking, "2026-10-01", "3"))
	text, _ := read(t, s, "")
	wants(t, text, `2026-10-01 a -2 USD Bx
		2026-10-01 c -3 USD Bx
		removed a b c`)
}

func TestAPendingTransactionIsReadOnceItIsPosted(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	pending := fake.Transaction("p", plaidtest.Card, "2026-10-01", "20")
	pending["pending"] = true
	fake.Put("added", pending)
	text, p := read(t, s, "")
	wants(t, text, "")
	fake.Put("removed", pending)
	fake.Put("added", fake.Transaction("t", plaidtest.Card, "2026-10-02", "23.40"))
	text, p = read(t, s, p.Cursor)
	wants(t, text, `2026-10-02 t -23.4 USD 8q
		removed p`)
	fake.Put("modified", pending)
	if text, _ = read(t, s, p.Cursor); text != "removed p" {
		t.Error(text)
	}
}

func TestBeforePlaidHasReadTheBankNothingIsReadAndTheCursorStays(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	fake.Put("added", fake.Transaction("a", plaidtest.Checking, "2026-10-01", "1"))
	fake.NotReady = true
	text, p := read(t, s, "")
	if text != "" || p.More {
		t.Errorf("%q %+v", text, p)
	}
	fake.NotReady = false
	text, p = read(t, s, p.Cursor)
	wants(t, text, "2026-10-01 a -1 USD Bx")
	fake.NotReady = true
	if _, again := read(t, s, p.Cursor); again.Cursor != p.Cursor {
		t.Errorf("%s, want %s", again.Cursor, p.Cursor)
	}
}

func TestALongHistoryIsReadInPartsThatSurviveAChange(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	fake.PageSize = 1
	for i := range 201 {
		fake.Put("added", fake.Transaction(fmt.Sprintf("t%03d", i), plaidtest.Checking, "2026-10-01", "1"))
	}
	_, first := read(t, s, "")
	if len(first.Records) != 200 || !first.More {
		t.Fatalf("%d records, more: %t", len(first.Records), first.More)
	}
	_, rest := read(t, s, first.Cursor)
	if len(rest.Records) != 1 || rest.More || len(rest.Removed) != 0 {
		t.Errorf("%d records, more: %t, removed: %v", len(rest.Records), rest.More, rest.Removed)
	}
	fake.PageSize = 2
	fake.Put("added", fake.Transaction("late", plaidtest.Checking, "2026-10-01", "1"))
	_, again := read(t, s, first.Cursor) // Plaid refuses the position between two pages now
	if len(again.Records) != 202 || again.More || len(again.Removed) != 202 {
		t.Errorf("%d records, more: %t, removed: %d", len(again.Records), again.More, len(again.Removed))
	}
}

func TestTransactionsThatNeverStopChangingAreReadLater(t *testing.T) {
	t.Parallel()
	fake, s := open(t, false)
	fake.PageSize = 1
	for i := range 3 {
		fake.Put("added", fake.Transaction(fmt.Sprint(i), plaidtest.Checking, "2026-10-01", "1"))
	}
	for n := range 20 {
		fake.BeforeRequest(n+1, func() {
			fake.Mu.Lock()
			defer fake.Mu.Unlock()
			fake.Put("added", fake.Transaction(fmt.Sprint("late", n), plaidtest.Checking, "2026-10-01", "1"))
		})
	}
	_, err := plaid.Connector{}.Read(t.Context(), s, "transactions", "")
	if fault.KindOf(err) != fault.Unavailable || fake.Requests() != 10 {
		t.Errorf("%v after %d requests", err, fake.Requests())
	}
}

func TestTransactionsAreReadAsTheyAreStated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		account, field string
		value          any
		want           string
	}{
		"no amount":               {plaidtest.Checking, "amount", nil, "left out a: it does not state its amount"},
		"an amount that is none":  {plaidtest.Checking, "amount", "1.5", "left out a: it is not in the form of Plaid's transactions"},
		"an exponent":             {plaidtest.Checking, "amount", json.Number("1e5"), "left out a: it is not in the form of Plaid's transactions"},
		"nothing moved":           {plaidtest.Checking, "amount", json.Number("0"), ""},
		"more digits than cents":  {plaidtest.Checking, "amount", json.Number("1.0005"), "2026-10-01 a -1.0005 USD Bx"},
		"no currency":             {plaidtest.Checking, "iso_currency_code", nil, "left out a: it does not state its currency"},
		"no date":                 {plaidtest.Checking, "date", nil, "left out a: it has no date"},
		"not whether it is final": {plaidtest.Checking, "pending", nil, "left out a: it does not say whether it is posted"},
		"no account":              {plaidtest.Checking, "account_id", "", "left out a: it does not say which account it belongs to"},
		"no id":                   {plaidtest.Checking, "transaction_id", nil, "left out : it has no id"},
		"of a loan":               {plaidtest.Student, "name", "Payment", ""},
		"of an unknown account":   {"another", "name", "Payment", "2026-10-01 a -1.5 USD an"},
	} {
		fake, s := open(t, true)
		tx := fake.Transaction("a", c.account, "2026-10-01", "1.50")
		fake.Put("added", tx)
		tx[c.field] = c.value
		if text, _ := read(t, s, ""); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func TestRecordsSayWhatPlaidSays(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	fake.Put("added", fake.Transaction("a", plaidtest.Card, "2026-10-01", "1.50"))
	check := fake.Transaction("b", plaidtest.Checking, "2026-10-02", "2")
	check["merchant_name"], check["check_number"], check["transaction_code"] = nil, "1021", "bank charge"
	check["payment_meta"] = map[string]any{"payee": "Acme Ltd", "payer": "Us"}
	check["iso_currency_code"], check["unofficial_currency_code"] = nil, "usdc"
	fake.Put("added", check)
	_, p := read(t, s, "")
	a, b := p.Records[0], p.Records[1]
	if a.Description != "PURCHASE WM SUPERCENTER #1700 BURBANK" || a.Vendor != "Walmart" || a.Card.MerchantName != "Walmart" ||
		a.Card.Last4 != "3333" || a.ProviderCategory != "GENERAL_MERCHANDISE_SUPERSTORES" || a.Type != "" || a.Value.Gross.String() != "1.5" {
		t.Errorf("%+v %+v", a, a.Card)
	}
	if b.Memo != "Check 1021" || b.Card != nil || b.Bank.CounterpartyName != "Acme Ltd" || b.Bank.AccountLast4 != "0000" || b.Type != "FEE" ||
		b.Currency != "USDC" || b.Value != nil || b.Crypto.AssetType != "USDC" {
		t.Errorf("%+v %+v", b, b.Bank)
	}
	if !json.Valid(b.Original) || !strings.Contains(string(b.Original), `"check_number":"1021"`) {
		t.Errorf("%s", b.Original)
	}
}

func TestBankAccountsAndCardsAreParts(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	fake.Put("added", fake.Transaction("a", plaidtest.Checking, "2026-10-01", "-110.94"))
	fake.Put("added", fake.Transaction("b", plaidtest.Card, "2026-10-01", "410"))
	parts, err := plaid.Connector{}.Parts(t.Context(), s)
	want := []provider.Part{
		{ID: plaidtest.Checking, Name: "Plaid Checking", Kind: provider.BankAccount, Currency: "USD", Last4: "0000"},
		{ID: plaidtest.Card, Name: "Plaid Credit Card", Kind: provider.CardAccount, Currency: "USD", Last4: "3333"},
	}
	if err != nil || !slices.Equal(parts, want) {
		t.Errorf("%+v %v", parts, err)
	}
	held, err := plaid.Connector{}.Balances(t.Context(), s)
	if got := fmt.Sprint(held.Balances); held.Complete || err != nil ||
		got != fmt.Sprintf("[{USD 110.94 %s} {USD -410 %s}]", plaidtest.Checking, plaidtest.Card) {
		t.Errorf("%s %v", got, err)
	}
}

func TestABalanceThatIsNotStatedIsNotZero(t *testing.T) {
	t.Parallel()
	fake, s := open(t, false)
	fake.Put("added", fake.Transaction("a", plaidtest.Checking, "2026-10-01", "-110.94"))
	fake.FailAt(1, providertest.Changed(func(body []byte) []byte {
		return bytes.Replace(body, []byte(`"current":110.94`), []byte(`"current":null`), 1)
	}))
	held, err := plaid.Connector{}.Balances(t.Context(), s)
	if got := fmt.Sprint(held.Balances); held.Complete || err != nil || got != fmt.Sprintf("[{USD 0 %s}]", plaidtest.Card) {
		t.Errorf("%s %v", got, err)
	}
}
