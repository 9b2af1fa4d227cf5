package brex_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/brex"
	"github.com/bursarhq/bursar/internal/provider/brex/brextest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// The order of transactions is not documented, so that both are tested.
func TestItConforms(t *testing.T) {
	t.Parallel()
	for _, oldestFirst := range []bool{false, true} {
		t.Run(fmt.Sprint("oldest first ", oldestFirst), func(t *testing.T) {
			t.Parallel()
			fake := func() providertest.Fake {
				f := brextest.New()
				f.OldestFirst = oldestFirst
				return f
			}
			providertest.Conforms(t, providertest.Suite{Connector: brex.Connector{}, Fake: fake, PageSize: 100, Quiet: 4, Money: "USD", Days: true})
		})
	}
}

// open returns a fake and a session at it.
func open(t *testing.T) (*brextest.Server, *provider.Session) {
	t.Helper()
	fake, now := brextest.New(), clock.NewManual(time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC))
	providertest.Start(t, fake, now.Now)
	d := provider.NewDialer(brex.Connector{}.Describe(), provider.Config{URL: fake.URL, AllowPrivate: true, Clock: now,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	return fake, d.Open(provider.Credentials{provider.APIKey: secret.New(fake.Credentials()[provider.APIKey])}, false)
}

// put adds a transaction of an amount in cents.
func put(fake *brextest.Server, account, id, posted, kind string, cents int64) map[string]any {
	tx := map[string]any{"id": id, "description": "Something", "amount": map[string]any{"amount": cents, "currency": "USD"},
		"initiated_at_date": posted, "posted_at_date": posted, "type": kind}
	fake.Put(account, tx)
	return tx
}

// read reads a page and describes it.
func read(t *testing.T, s *provider.Session, ledger, cursor string) (string, provider.Page) {
	t.Helper()
	p, err := brex.Connector{}.Read(t.Context(), s, ledger, cursor)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range p.Records {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s", r.Timestamp.Format(time.DateOnly), r.ExternalID, r.Moved(), r.Currency,
			cmp.Or(r.Type, "?"), r.ProviderCategory))
	}
	for _, o := range p.Omitted {
		lines = append(lines, "left out "+o.ID+": "+o.Reason)
	}
	return strings.Join(lines, "\n"), p
}

func TestCardsAndCashAccountsAreBookedAsAnAccountantWould(t *testing.T) {
	t.Parallel()
	fake, s := open(t)
	for i, kind := range []string{"PURCHASE", "COLLECTION", "REFUND", "REFUND", "CHARGEBACK", "REWARDS_CREDIT", "BNPL_FEE", ""} {
		put(fake, brextest.CardAccount, fmt.Sprint("c", i), "2026-10-0"+fmt.Sprint(i+1), kind, []int64{1050, -1, -2, 3, -4, -5, 6, 7}[i])
	}
	text, p := read(t, s, "card", "")
	want := `2026-10-01 c0 -10.5 USD ? PURCHASE
2026-10-02 c1 0.01 USD INTERNAL TRANSFER COLLECTION
2026-10-03 c2 0.02 USD REFUND REFUND
2026-10-04 c3 -0.03 USD ? REFUND
2026-10-05 c4 0.04 USD CHARGEBACK CHARGEBACK
2026-10-06 c5 0.05 USD ? REWARDS_CREDIT
2026-10-07 c6 -0.06 USD FEE BNPL_FEE
2026-10-08 c7 -0.07 USD ? unspecified`
	if text != want || p.Records[0].Part != "card" || p.Records[0].Card == nil || p.Records[0].Bank != nil {
		t.Errorf("%s\n%+v", text, p.Records[0])
	}
	put(fake, brextest.Reserve, "d0", "2026-10-01", "PAYMENT", -100_00)
	put(fake, brextest.Checking, "d1", "2026-10-02", "INTEREST", 1_25)
	put(fake, brextest.Checking, "d2", "2026-10-03", "INTRA_CUSTOMER_ACCOUNT_BOOK_TRANSFER", -7)
	put(fake, brextest.Checking, "d3", "2026-10-04", "FEE", 7)
	text, p = read(t, s, "cash", "")
	want = `2026-10-01 d0 -100 USD ? PAYMENT
2026-10-02 d1 1.25 USD INCOME INTEREST
2026-10-03 d2 -0.07 USD INTERNAL TRANSFER INTRA_CUSTOMER_ACCOUNT_BOOK_TRANSFER
2026-10-04 d3 0.07 USD ? FEE`
	if text != want || p.Records[0].Part != brextest.Reserve || p.Records[0].Bank.AccountLast4 != "1235" || p.Records[0].Card != nil {
		t.Errorf("%s\n%+v", text, p.Records[0])
	}
}

func TestAmountsThatAreNotClearAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field string
		value any
		want  string
	}{
		"no amount":      {"amount", nil, "left out a: it does not state its amount"},
		"half a cent":    {"amount", map[string]any{"amount": 1.5, "currency": "USD"}, "left out a: it does not state its amount"},
		"no currency":    {"amount", map[string]any{"amount": 150, "currency": nil}, "2026-10-01 a -1.5 USD ? PURCHASE"},
		"yen":            {"amount", map[string]any{"amount": 150, "currency": "JPY"}, "2026-10-01 a -150 JPY ? PURCHASE"},
		"dinars":         {"amount", map[string]any{"amount": 1501, "currency": "KWD"}, "2026-10-01 a -1.501 KWD ? PURCHASE"},
		"an unknown one": {"amount", map[string]any{"amount": 1, "currency": "BTC"}, "left out a: the smallest unit of its currency is not known"},
		"nothing":        {"amount", map[string]any{"amount": 0, "currency": "USD"}, ""},
		"no date":        {"posted_at_date", nil, "left out a: it has no date on which it was posted"},
		"no id":          {"id", "", "left out : it has no id"},
		"another form":   {"type", 7, "left out a: it is not in the form of Brex's transactions"},
	} {
		fake, s := open(t)
		put(fake, brextest.CardAccount, "a", "2026-10-01", "PURCHASE", 150)[c.field] = c.value
		if text, _ := read(t, s, "card", ""); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

func TestWhatIsShownLateIsRead(t *testing.T) {
	t.Parallel()
	fake, s := open(t)
	put(fake, brextest.CardAccount, "a", "2026-10-20", "PURCHASE", 1)
	_, p := read(t, s, "card", "")
	put(fake, brextest.CardAccount, "late", "2026-10-16", "PURCHASE", 2)
	put(fake, brextest.CardAccount, "future", "2027-10-16", "PURCHASE", 3)
	_, p = read(t, s, "card", p.Cursor)
	if len(p.Records) != 3 {
		t.Errorf("%+v", p.Records)
	}
	put(fake, brextest.CardAccount, "today", "2026-11-02", "PURCHASE", 4) // a day in the future does not hide it
	if _, p = read(t, s, "card", p.Cursor); len(p.Records) != 2 || p.Records[0].ExternalID != "today" {
		t.Errorf("%+v", p.Records)
	}
}

func TestALongHistoryIsReadInPartsAlsoIfAPositionIsNotValidAnyMore(t *testing.T) {
	t.Parallel()
	fake, s := open(t)
	fake.PageSize = 2
	for i := range 30 {
		put(fake, []string{brextest.Checking, brextest.Reserve}[i%2], fmt.Sprint("d", i), fmt.Sprintf("2026-10-%02d", i+1), "PAYMENT", 1)
	}
	seen, cursor, pages := map[string]bool{}, "", 0
	for more := true; more; pages++ {
		before := fake.Requests()
		_, p := read(t, s, "cash", cursor)
		for _, r := range p.Records {
			seen[r.ExternalID] = true
		}
		if n := fake.Requests() - before; n > 11 {
			t.Errorf("%d requests", n)
		}
		if cursor, more = p.Cursor, p.More; pages == 0 {
			fake.Mu.Lock()
			fake.Forget()
			fake.Mu.Unlock()
		}
	}
	if len(seen) != 30 || pages != 2 {
		t.Errorf("%d transactions in %d pages", len(seen), pages)
	}
}

func TestACompanyHasCardsAndCashAccounts(t *testing.T) {
	t.Parallel()
	fake, s := open(t)
	put(fake, brextest.CardAccount, "a", "2026-10-01", "PURCHASE", 12345)
	put(fake, brextest.Reserve, "b", "2026-10-01", "PAYMENT", 99)
	parts, err := brex.Connector{}.Parts(t.Context(), s)
	want := []provider.Part{
		{ID: "card", Name: "Brex cards", Kind: provider.CardAccount, Currency: "USD"},
		{ID: brextest.Checking, Name: "Operating", Kind: provider.BankAccount, Currency: "USD", Last4: "1234"},
		{ID: brextest.Reserve, Name: "Reserve", Kind: provider.BankAccount, Currency: "USD", Last4: "1235"},
	}
	if err != nil || !slices.Equal(parts, want) {
		t.Errorf("%+v %v", parts, err)
	}
	held, err := brex.Connector{}.Balances(t.Context(), s)
	if got := fmt.Sprint(held.Balances); held.Complete || err != nil ||
		got != "[{USD -123.45 card} {USD 0 "+brextest.Checking+"} {USD 0.99 "+brextest.Reserve+"}]" {
		t.Errorf("%s %v", got, err)
	}
	account, err := brex.Connector{}.Check(t.Context(), s)
	if err != nil || account.ID != brextest.CardAccount || account.Grants != nil {
		t.Errorf("%+v %v", account, err)
	}
	for _, path := range []string{"/v2/accounts/card", "/v2/accounts/cash", "/v2/transactions/card/primary"} {
		fake.Lacks = path
		if _, err := (brex.Connector{}).Check(t.Context(), s); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("without %s: %v", path, err)
		}
	}
}

func TestABalanceThatIsNotStatedIsNotZero(t *testing.T) {
	t.Parallel()
	fake, s := open(t)
	put(fake, brextest.CardAccount, "a", "2026-10-01", "PURCHASE", 12345)
	put(fake, brextest.Checking, "b", "2026-10-01", "PAYMENT", 100)
	put(fake, brextest.Reserve, "c", "2026-10-01", "PAYMENT", 99)
	put(fake, brextest.Reserve, "d", "2026-10-01", "PAYMENT", -99)
	unstated := providertest.Changed(func(body []byte) []byte {
		return regexp.MustCompile(`"current_balance":\{"amount":(12345|100),`).ReplaceAll(body, []byte(`"current_balance":{"other":1,`))
	})
	fake.FailAt(1, unstated)
	fake.FailAt(2, unstated)
	held, err := brex.Connector{}.Balances(t.Context(), s)
	if got := fmt.Sprint(held.Balances); held.Complete || err != nil || got != "[{USD 0 "+brextest.Reserve+"}]" {
		t.Errorf("%s %v", got, err)
	}
}
