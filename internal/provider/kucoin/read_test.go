package kucoin_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/kucoin"
	"github.com/bursarhq/bursar/internal/provider/kucoin/kucointest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// reader reads a ledger of a fake.
type reader struct {
	*testing.T
	fake    *kucointest.Server
	now     *clock.Manual
	session *provider.Session
	cursor  string
	order   []provider.Record
	known   map[string]bool
	gaps    []provider.Gap
	twice   int // how many records were read again
}

func newReader(t *testing.T) *reader {
	r := &reader{T: t, fake: kucointest.New(), now: clock.NewManual(time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)), known: map[string]bool{}}
	providertest.Start(t, r.fake, r.now.Now)
	credentials := provider.Credentials{}
	for name, text := range r.fake.Credentials() {
		credentials[name] = secret.New(text)
	}
	sleep := func(_ context.Context, d time.Duration) error {
		r.now.Advance(d)
		return nil
	}
	config := provider.Config{URL: r.fake.URL, AllowPrivate: true, Clock: r.now, Sleep: sleep}
	r.session = provider.NewDialer(kucoin.Connector{}.Describe(), config).Open(credentials, true)
	return r
}

// read reads a ledger to its end and returns how many records are new.
func (r *reader) read(ledger string) (added int) {
	r.Helper()
	for {
		p, err := kucoin.Connector{}.Read(r.Context(), r.session, ledger, r.cursor)
		if err != nil {
			r.Fatal(err)
		}
		r.gaps = append(r.gaps, p.Gaps...)
		for _, one := range p.Records {
			if r.known[one.ExternalID] {
				r.twice++
			} else {
				r.known[one.ExternalID] = true
				r.order = append(r.order, one)
				added++
			}
		}
		if len(p.Omitted) > 0 {
			r.Errorf("left out: %+v", p.Omitted)
		}
		if r.cursor = p.Cursor; !p.More {
			return added
		}
	}
}

// dates writes gaps by their dates.
func dates(gaps []provider.Gap) string {
	all := make([]string, len(gaps))
	for i, g := range gaps {
		all[i] = g.From.Format(time.DateOnly) + " " + g.Through.Format(time.DateOnly)
	}
	return strings.Join(all, ", ")
}

// requireOrder requires that a number of records was read, each once, and the oldest first.
func (r *reader) requireOrder(n int) {
	r.Helper()
	if len(r.order) != n || r.twice > 0 {
		r.Errorf("%d entries of %d, %d of them twice", len(r.order), n, r.twice)
	}
	for i, one := range r.order[1:] {
		if one.Timestamp.Before(r.order[i].Timestamp) {
			r.Fatalf("%s after %s", one.Timestamp, r.order[i].Timestamp)
		}
	}
}

// fill adds entries to an account: three every so often, each a millisecond before the next, the last ones some time ago.
func (r *reader) fill(account string, n int, every, ago time.Duration) {
	for i := n - 1; i >= 0; i-- {
		at := r.now.Now().Add(-ago - time.Duration(i/3)*every - time.Duration(i%3)*time.Millisecond)
		r.fake.Move(at, account, "TRADE_EXCHANGE", "BTC", money.MustParse("0.001"), money.Decimal{}, "")
	}
}

func TestManyEntriesAreReadInRangesOfTimeTheOldestFirst(t *testing.T) {
	t.Parallel()
	for name, inclusive := range map[string]bool{"without the ends of ranges": false, "with the ends of ranges": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, every := range []time.Duration{4 * time.Minute, 2 * time.Second, time.Millisecond} {
				r := newReader(t)
				r.fake.Inclusive = inclusive
				r.fill(kucointest.Main, 5300, every, time.Second)
				r.read("account")
				r.requireOrder(5300)
			}
			for ledger, account := range map[string]string{"trade_hf": kucointest.HighFrequency, "margin_hf": kucointest.Isolated} {
				r := newReader(t)
				r.fake.Inclusive = inclusive
				r.fill(account, 4300, 2*time.Second, time.Second)
				r.read(ledger)
				r.requireOrder(4300)
				if n := r.fake.Requests(); n > 60 {
					t.Errorf("%s: %d requests", ledger, n)
				}
			}
		})
	}
}

func TestNothingNewTakesOneRequestAndKeepsTheCursorForADay(t *testing.T) {
	t.Parallel()
	for ledger, account := range map[string]string{"account": kucointest.Main, "trade_hf": kucointest.HighFrequency} {
		r := newReader(t)
		r.fill(account, 3, time.Minute, 3*time.Hour)
		r.read(ledger)
		cursor := r.cursor
		for range 5 {
			r.now.Advance(3 * time.Hour)
			before := r.fake.Requests()
			if added := r.read(ledger); added != 0 || r.cursor != cursor || r.fake.Requests() != before+1 {
				t.Errorf("%s: %d records, the cursor %s after %s, %d requests", ledger, added, r.cursor, cursor, r.fake.Requests()-before)
			}
		}
		r.now.Advance(3 * 24 * time.Hour)
		r.fill(account, 1, time.Minute, 30*time.Hour)
		r.fill(account, 1, time.Minute, time.Minute)
		if added := r.read(ledger); added != 2 {
			t.Errorf("%s: %d entries after some days", ledger, added)
		}
		if len(r.gaps) != 1 {
			t.Errorf("%s: %+v", ledger, r.gaps)
		}
	}
}

func TestEntriesThatAreShownLateAreRead(t *testing.T) {
	t.Parallel()
	for ledger, account := range map[string]string{"account": kucointest.Main, "trade_hf": kucointest.HighFrequency} {
		r := newReader(t)
		r.fill(account, 2500, time.Second, 0)
		r.read(ledger)
		r.fill(account, 1, 0, 12*time.Minute)
		if added := r.read(ledger); added != 1 {
			t.Errorf("%s: %d entries", ledger, added)
		}
	}
}

// The last of the ranges of a year begins 19 hours ago.
func TestRangesWithoutEntriesAreLeftBehindExceptForTheirEnd(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.read("account")
	for range 20 {
		r.now.Advance(3 * time.Hour)
		before := r.fake.Requests()
		if r.read("account"); r.fake.Requests() != before+1 {
			t.Fatalf("%d requests", r.fake.Requests()-before)
		}
	}
	late := newReader(t)
	late.read("account")
	late.now.Advance(3 * time.Hour)
	late.read("account")
	late.fill(kucointest.Main, 1, 0, 25*time.Minute)
	if added := late.read("account"); added != 1 {
		t.Errorf("%d entries", added)
	}
}

func TestWhatIsNoLongerShownIsAGap(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.fill(kucointest.HighFrequency, 1, 0, 8*24*time.Hour)
	r.fill(kucointest.HighFrequency, 1, 0, 6*24*time.Hour)
	if added := r.read("trade_hf"); added != 1 || len(r.gaps) != 1 || r.gaps[0].Through.Format(time.DateOnly) != "2026-10-26" {
		t.Errorf("%d entries, %+v", added, r.gaps)
	}
	r.now.Advance(6 * 24 * time.Hour)
	if r.read("trade_hf"); len(r.gaps) != 1 {
		t.Errorf("%+v", r.gaps)
	}
	r.now.Advance(9 * 24 * time.Hour) // for two days nobody can tell
	r.read("trade_hf")
	if got, want := dates(r.gaps), "2017-01-01 2026-10-26, 2026-11-08 2026-11-10"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r.read("trade_hf"); len(r.gaps) != 2 {
		t.Errorf("%+v", r.gaps)
	}
	old := newReader(t)
	old.fill(kucointest.Main, 1, 0, 363*24*time.Hour)
	old.fill(kucointest.Main, 1, 0, 400*24*time.Hour)
	if added := old.read("account"); added != 1 || len(old.gaps) != 1 || old.gaps[0].Through.Format(time.DateOnly) != "2025-11-03" {
		t.Errorf("%d entries, %+v", added, old.gaps)
	}
}

// Thousands of entries divide the first day that is shown. When reading goes on, some of them are no longer shown.
func TestWhatIsNoLongerShownWhenReadingGoesOnIsAGap(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int{10 * time.Minute: 6012, 40 * time.Minute: 3613, 2 * time.Hour: 12} {
		r := newReader(t)
		r.fill(kucointest.HighFrequency, 6000, time.Second, 6*24*time.Hour+22*time.Hour)
		p, err := kucoin.Connector{}.Read(t.Context(), r.session, "trade_hf", "")
		if err != nil || !p.More || len(p.Records) > 0 || len(p.Gaps) != 1 {
			t.Fatalf("%+v %v", p, err)
		}
		r.cursor = p.Cursor
		r.now.Advance(after)
		r.fill(kucointest.HighFrequency, 12, time.Minute, time.Minute)
		if added := r.read("trade_hf"); added != want {
			t.Errorf("%d entries after %s, want %d", added, after, want)
		}
		if after < 30*time.Minute {
			if len(r.gaps) > 0 {
				t.Errorf("after %s: %+v", after, r.gaps)
			}
			continue
		}
		if len(r.gaps) != 1 || !r.gaps[0].From.Equal(p.Gaps[0].Through) || r.gaps[0].Through.Sub(r.gaps[0].From).Round(time.Minute) != after {
			t.Errorf("after %s: %+v, before %+v", after, r.gaps, p.Gaps)
		}
	}
}

// An earlier version divided ranges of several days, and noted at the beginning that the ledger was read.
func TestACursorWithALongRangeIsRead(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]string{0: "15 records, gaps: ", 3: "9 records, gaps: 2026-10-27 2026-10-29"} {
		r := newReader(t)
		r.fill(kucointest.HighFrequency, 15, 24*time.Hour, 24*time.Hour)
		day := func(ago int) int64 { return r.now.Now().Add(-time.Duration(ago) * 24 * time.Hour).UnixMilli() }
		r.cursor = fmt.Sprintf(`{"from":%d,"ends":[{"at":%d,"id":""},{"at":%d,"id":""}],"seen":%d}`, day(6), day(1)+1, day(2)+1, day(0))
		r.now.Advance(time.Duration(days) * 24 * time.Hour)
		if got := fmt.Sprintf("%d records, gaps: %s", r.read("trade_hf"), dates(r.gaps)); got != want {
			t.Errorf("after %d days: %s, want %s", days, got, want)
		}
	}
}

func TestBalancesAreThoseOfAllAccountsThatAreRead(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for i, account := range []string{kucointest.Main, kucointest.Trade, kucointest.HighFrequency, kucointest.Margin, kucointest.Isolated} {
		r.fake.Move(r.now.Now(), account, "Deposit", "BTC", money.MustParse(fmt.Sprintf("%d", 1<<i)), money.Decimal{}, "")
	}
	r.fake.Move(r.now.Now(), kucointest.Isolated, "Borrowings", "USDT", money.MustParse("7"), money.Decimal{}, "")
	got, err := kucoin.Connector{}.Balances(t.Context(), r.session)
	if err != nil || !got.Complete || fmt.Sprint(got.Balances) != "[{BTC 31 } {USDT 7 }]" {
		t.Errorf("%v %v", got, err)
	}
}

func TestAPageOfEntriesWithoutIdsIsNotReadForEver(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	many := "[{}" + strings.Repeat(",{}", 499) + "]"
	for ledger, answers := range map[string][]string{"account": {`{"items":` + many + `}`, `{"items":null}`, `[]`, `{}`},
		"trade_hf": {many, "null", "{}", `""`}} {
		for _, data := range answers {
			for n := range 9 {
				r.fake.FailAt(n+1, providertest.Status(http.StatusOK, "", "", `{"code":"200000","data":`+data+`}`))
			}
			if _, err := (kucoin.Connector{}).Read(t.Context(), r.session, ledger, ""); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s %.30s: %v", ledger, data, err)
			}
		}
	}
}

func TestAnEntryWithATimeInTheFutureDoesNotHideLaterOnes(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.fake.FailAt(1, providertest.Status(http.StatusOK, "", "", `{"code":"200000","data":[{"id":"7","createdAt":"4102444800000",
		"currency":"BTC","amount":"5","fee":"0","bizType":"TRANSFER","direction":"in"}]}`))
	r.read("trade_hf")
	r.fill(kucointest.HighFrequency, 1, 0, time.Second)
	if added := r.read("trade_hf"); added != 1 {
		t.Errorf("%d entries", added)
	}
}

func TestErrorsOfKuCoinHaveTheKindThatFits(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]fault.Kind{
		`400 {"code":"400006","msg":"The requested ip address is not in the api whitelist"}`:           fault.Forbidden,
		`403 {"code":"400007","msg":"Access denied, require more permission."}`:                        fault.Forbidden,
		`401 {"code":"400003","msg":"KC-API-KEY not exists"}`:                                          fault.Unauthorized,
		`401 {"code":"400004","msg":"Invalid KC-API-PASSPHRASE"}`:                                      fault.Unauthorized,
		`401 {"code":"400005","msg":"Invalid KC-API-SIGN"}`:                                            fault.Unauthorized,
		`400 {"code":"400002","msg":"Invalid KC-API-TIMESTAMP"}`:                                       fault.Unavailable, // the clock agrees
		`403 {"code":"200002","msg":"Too many requests"}`:                                              fault.Unavailable,
		`429 {"code":"429000","msg":"Too Many Requests"}`:                                              fault.Unavailable,
		`200 {"code":"500000","msg":"Internal Server Error"}`:                                          fault.Unavailable,
		`403 <html>The request could not be satisfied</html>`:                                          fault.Unavailable,
		`200 {"code":"200000","data":null}`:                                                            fault.Unavailable,
		`200 {"code":"411100","msg":"User are frozen"}`:                                                fault.Conflict,
		`400 {"code":"400100","msg":"The start and end time range cannot exceed 24 hours"}`:            fault.Conflict,
		`200 {"code":"200000","data":{"uid":7,"permission":""}}`:                                       fault.Unavailable,
		`200 {"code":"200000","data":{"permission":"General"}}`:                                        fault.Unavailable,
		`200 {"code":"200000","data":{"uid":"7;","permission":"General","note":"which is no number"}}`: fault.Unavailable,
	} {
		r := newReader(t)
		var status int
		if _, err := fmt.Sscanf(answer, "%d", &status); err != nil {
			t.Fatal(err)
		}
		times := 9
		if strings.Contains(answer, `"permission"`) && !strings.Contains(answer, "7;") {
			times = 1 // the answers to other requests are right
		}
		for n := range times {
			r.fake.FailAt(n+1, providertest.Status(status, "", "", answer[4:]))
		}
		_, err := kucoin.Connector{}.Check(t.Context(), r.session)
		if got := fault.KindOf(err); err == nil || got != want {
			t.Errorf("%s: %v, which is %s and not %s", answer, err, got, want)
		}
	}
}
