package binance_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/binance"
	"github.com/bursarhq/bursar/internal/provider/binance/binancetest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

var now = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// account is an account at a fake of Binance, and what was read of it.
type account struct {
	*testing.T
	*binancetest.Server
	clock   *clock.Manual
	dialer  *provider.Dialer
	cursors map[string]string
	records map[string]provider.Record
	omitted []provider.Omission
	gaps    []provider.Gap
}

func newAccount(t *testing.T) *account {
	a := &account{T: t, Server: binancetest.New(), clock: clock.NewManual(now), cursors: map[string]string{},
		records: map[string]provider.Record{}}
	providertest.Start(t, a.Server, a.clock.Now)
	a.dialer = provider.NewDialer(binance.Connector{}.Describe(), provider.Config{URL: a.URL, AllowPrivate: true, Clock: a.clock,
		Sleep: func(ctx context.Context, d time.Duration) error {
			a.clock.Advance(d)
			return ctx.Err()
		}})
	return a
}

func (a *account) session() *provider.Session {
	c := provider.Credentials{}
	for name, value := range a.Credentials() {
		c[name] = secret.New(value)
	}
	return a.dialer.Open(c, false)
}

// sync reads all ledgers to their ends and returns how many records are new.
func (a *account) sync() (added int) {
	a.Helper()
	s := a.session()
	for _, ledger := range (binance.Connector{}).Describe().Ledgers {
		for more := true; more; {
			p, err := binance.Connector{}.Read(a.Context(), s, ledger, a.cursors[ledger])
			if err != nil {
				a.Fatal(err)
			}
			for _, r := range p.Records {
				if _, known := a.records[r.ExternalID]; !known {
					added++
				}
				a.records[r.ExternalID] = r
			}
			a.omitted, a.gaps = append(a.omitted, p.Omitted...), append(a.gaps, p.Gaps...)
			if p.Cursor != "" {
				a.cursors[ledger] = p.Cursor
			}
			more = p.More
		}
	}
	return added
}

// addsUp requires that the records add up to the balances.
func (a *account) addsUp() {
	a.Helper()
	sums := map[string]money.Decimal{}
	for _, r := range a.records {
		sums[r.Currency] = sums[r.Currency].Add(*r.Moved())
	}
	held, err := binance.Connector{}.Balances(a.Context(), a.session())
	if got := provider.Complete(sums); err != nil || fmt.Sprint(got) != fmt.Sprint(held) {
		a.Errorf("the records add up to\n%v\nand the account holds\n%v %v", got, held, err)
	}
	if len(a.omitted) > 0 {
		a.Errorf("left out: %+v", a.omitted)
	}
}

func receive(asset, amount string, at time.Time) providertest.Movement {
	return providertest.Movement{At: at, Kind: providertest.Deposit, Asset: asset, Amount: amount}
}

func TestAllThatChangesTheBalancesIsRead(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	first := time.Date(2017, 8, 1, 12, 0, 0, 0, time.UTC)
	a.OpenWallets()
	for i := range 60 { // over nine years
		at := first.Add(time.Duration(i) * 56 * 24 * time.Hour)
		a.Add(receive("ETH", "10.5", at), receive("EUR", "5000", at.Add(time.Hour)))
		a.Payout(at, "Locked Staking", "SOL", "0.25")
	}
	later := now.Add(-500 * 24 * time.Hour)
	a.Convert(later, "ETH", "2.5", "USDT", "5000")
	a.Dust(later, "SOL", "0.001", "0.0000294", "0.0000006")
	a.Purchase(later, "100", "2", "BTC", "0.002")
	a.Trade(later, "BTC", "USDT", true, "0.01", "600", "0.0007", "BNB")
	a.Subscribe(later, "flexible", "ETH", "5")
	a.Reward(later.Add(24*time.Hour), "ETH", "0.0000123")
	a.Bonus(later.Add(24*time.Hour), "ETH", "0.0000456")
	a.Redeem(later.Add(48*time.Hour), "flexible", "ETH", "3", "3")
	a.Subscribe(later, "locked", "SOL", "4")
	a.Redeem(later.Add(48*time.Hour), "locked", "SOL", "4", "3.9")
	a.Transfer(now.Add(-24*time.Hour), "MAIN_UMFUTURE", "USDT", "900", true)
	a.Transfer(now.Add(-2*time.Hour), "UMFUTURE_MAIN", "USDT", "950", false)
	a.Fund("EUR", "1234")
	a.sync()
	a.addsUp()
	if added := a.sync(); added != 0 {
		t.Errorf("%d records are new although nothing is", added)
	}
}

func TestFullPagesAreFollowed(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	at := now.Add(-10 * 24 * time.Hour)
	a.Subscribe(at, "flexible", "BTC", "0")
	for i := range 2_300 {
		at = at.Add(17 * time.Second)
		a.Trade(at, "BTC", "USDT", true, "0.01", "600.25", "0.00001", "BTC")
		a.Convert(at.Truncate(time.Minute), "BTC", "0.001", "USDT", "60")
		if i < 1_200 {
			a.Add(receive("EUR", "1.01", at.Truncate(time.Hour)))
			a.Payout(at.Truncate(time.Minute), "Airdrop", "SOL", "0.3")
		}
		if i < 250 {
			a.Reward(at, "BTC", fmt.Sprintf("0.00000%03d", i+1))
		}
	}
	a.sync()
	a.addsUp()
	if len(a.gaps) > 0 {
		t.Errorf("gaps: %+v", a.gaps)
	}
}

func TestADepositIsReadWhenItIsCredited(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.Add(receive("ETH", "1", now.Add(-time.Hour)))
	a.SetStatus(0)
	if added := a.sync(); added != 0 {
		t.Errorf("%d records of a pending deposit", added)
	}
	a.clock.Advance(40 * 24 * time.Hour)
	a.sync()
	a.SetStatus(1)
	if added := a.sync(); added != 1 {
		t.Errorf("%d records", added)
	}
	a.addsUp()
}

func TestAConversionThatWaitedForItsPriceIsRead(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.Convert(now.Add(-time.Hour), "ETH", "1", "USDT", "3000")
	a.SetOrderStatus("PROCESS")
	if added := a.sync(); added != 0 {
		t.Errorf("%d records of an order that waits", added)
	}
	for range 3 {
		a.clock.Advance(10 * 24 * time.Hour)
		a.sync()
	}
	a.SetOrderStatus("SUCCESS")
	if added := a.sync(); added != 2 {
		t.Errorf("%d records", added)
	}
	a.addsUp()
}

func TestCursorsStayForAWhileIfNothingHappens(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.Add(receive("ETH", "1", now.Add(-time.Hour)))
	a.sync()
	before := fmt.Sprint(a.cursors)
	a.clock.Advance(10 * 24 * time.Hour)
	a.sync()
	if after := fmt.Sprint(a.cursors); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
	requests := a.Requests()
	for range 40 {
		a.clock.Advance(10 * 24 * time.Hour)
		a.sync()
	}
	if n := (a.Requests() - requests) / 40; n > 35 {
		t.Errorf("%d requests in a synchronization on average", n)
	}
	a.Add(receive("ETH", "2", a.clock.Now().Add(-time.Hour)))
	a.sync()
	a.addsUp()
}

func TestMarketsAreThoseOfAssetsThatWereSeen(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	want := func(markets ...string) {
		t.Helper()
		if got := a.Asked(); !slices.Equal(got, markets) {
			t.Errorf("asked for %v, want %v", got, markets)
		}
	}
	a.sync()
	want("BNBUSDT", "BTCEUR", "BTCUSDT") // ETHEUR was removed
	a.Add(receive("SOL", "1", a.clock.Now()))
	a.sync()
	want("BNBUSDT", "BTCEUR", "BTCUSDT", "SOLETH")
	a.Payout(a.clock.Now(), "Airdrop", "AR", "1")
	a.Payout(a.clock.Now(), "Airdrop", "BETH", "1")
	a.sync()
	want("BNBUSDT", "BTCEUR", "BTCUSDT", "SOLETH") // not ARBETH, which is the market for ARB in ETH
	a.Trade(a.clock.Now(), "DOGE", "TRY", true, "100", "300", "", "BNB")
	a.sync()
	want("BNBUSDT", "BTCEUR", "BTCUSDT", "DOGETRY", "SOLETH")
}

func TestMarketsOfAssetsThatWereSeenAndAreNoLongerHeldAreRead(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	at := now.Add(-300 * 24 * time.Hour)
	a.Add(receive("DOGE", "100", at))
	a.Trade(at.Add(time.Hour), "DOGE", "TRY", false, "100", "300", "0.5", "TRY")
	a.Convert(at.Add(2*time.Hour), "TRY", "299.5", "EUR", "9")
	a.sync()
	a.addsUp()
	if len(a.records) != 5 {
		t.Errorf("%d records", len(a.records))
	}
}

func TestAListThatIsRefusedIsReportedOnceAndReadLater(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.Add(receive("EUR", "7", now.Add(-400*24*time.Hour)), receive("ETH", "1", now.Add(-time.Hour)))
	a.Refuse("/sapi/v1/fiat/orders", true)
	if added := a.sync(); added != 1 {
		t.Errorf("%d records", added)
	}
	a.sync()
	if len(a.gaps) != 2 || !strings.Contains(a.gaps[0].Reason, "show the fiat deposits: Binance refuses the request: This service is") {
		t.Errorf("gaps: %+v", a.gaps)
	}
	a.Refuse("/sapi/v1/fiat/orders", false)
	a.sync()
	a.addsUp()
}

func TestHistoryThatIsNoLongerShownIsReportedOnce(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.OpenWallets()
	for i := range 101 {
		a.Dust(now.Add(-time.Duration(i)*25*time.Hour), "SOL", "0.001", "0.0000294", "0.0000006")
	}
	a.sync()
	a.sync()
	if len(a.gaps) != 2 || !strings.Contains(a.gaps[0].Reason, "last 100 conversions") ||
		!a.gaps[0].Through.Equal(now.Add(-99*25*time.Hour)) || !strings.Contains(a.gaps[1].Reason, "six months") {
		t.Errorf("gaps: %+v", a.gaps)
	}
}

func TestReceiptsOfSimpleEarnAreNoAssets(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.Add(receive("LDO", "3", now.Add(-time.Hour)), receive("BTC", "2", now.Add(-time.Hour)))
	a.Subscribe(now.Add(-time.Minute), "flexible", "BTC", "0.5")
	held, err := binance.Connector{}.Balances(t.Context(), a.session())
	if err != nil || !held.Complete || fmt.Sprint(held.Balances) != "[{BTC 2 } {LDO 3 }]" {
		t.Errorf("%v %v", held, err)
	}
}

func TestPermissionsAreTold(t *testing.T) {
	t.Parallel()
	for permission, want := range map[string]string{
		"":                             "[read]",
		"enableMargin":                 "[read trade]",
		"enableFutures":                "[read trade]",
		"enableVanillaOptions":         "[read trade]",
		"enablePortfolioMarginTrading": "[read trade]",
		"enableFixReadOnly":            "[read]",
		"enableWithdrawals":            "[read withdraw]",
		"enableInternalTransfer":       "[read withdraw]",
	} {
		a := newAccount(t)
		a.Permit(permission, true)
		got, err := binance.Connector{}.Check(t.Context(), a.session())
		if err != nil || fmt.Sprint(got.Grants) != want || got.ID != "354937868" {
			t.Errorf("%s: %+v %v", permission, got, err)
		}
	}
	a := newAccount(t)
	a.Permit("enableReading", false)
	if _, err := (binance.Connector{}).Check(t.Context(), a.session()); fault.KindOf(err) != fault.Forbidden {
		t.Error(err)
	}
}

func TestErrorsAreToldApart(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	for _, c := range []struct {
		status int
		body   string
		want   fault.Kind
	}{
		{http.StatusBadRequest, `{"code":-1022,"msg":"Signature for this request is not valid."}`, fault.Unauthorized},
		{http.StatusUnauthorized, `{"code":-2014,"msg":"API-key format invalid."}`, fault.Unauthorized},
		{http.StatusUnauthorized, `{"code":-1002,"msg":"You are not authorized to execute this request."}`, fault.Forbidden},
		{http.StatusBadRequest, `{"code":-1003,"msg":"Too many requests queued."}`, fault.Unavailable},
		{http.StatusBadRequest, `{"code":-1008,"msg":"Server is currently overloaded with other requests."}`, fault.Unavailable},
		{http.StatusForbidden, `<html><h2>The request could not be satisfied.</h2></html>`, fault.Unavailable},
		{http.StatusTeapot, `{"code":-1003,"msg":"Way too much request weight used; IP banned until 1659146400000."}`, fault.Unavailable},
		{http.StatusUnavailableForLegalReasons, `{"code":0,"msg":"Service unavailable from a restricted location"}`, fault.Conflict},
		{http.StatusBadRequest, `{"code":-1100,"msg":"Illegal characters found in a parameter."}`, fault.Conflict},
		{http.StatusOK, `{"code":"100001","message":"system error","success":false}`, fault.Conflict},
		{http.StatusNotFound, ``, fault.Unavailable},
	} {
		a.FailAt(1, providertest.Status(c.status, "", "", c.body))
		_, err := binance.Connector{}.Check(t.Context(), a.session())
		if fault.KindOf(err) != c.want {
			t.Errorf("%d %s: %s: %v", c.status, c.body, fault.KindOf(err), err)
		}
		var f *fault.Error
		if c.status == http.StatusForbidden && (!errors.As(err, &f) || f.RetryAfter < 5*time.Second) {
			t.Errorf("%v does not say how long to wait", err)
		}
	}
}
