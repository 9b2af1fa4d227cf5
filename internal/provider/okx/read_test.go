package okx_test

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
	"github.com/bursarhq/bursar/internal/provider/okx"
	"github.com/bursarhq/bursar/internal/provider/okx/okxtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// reader reads a ledger of a fake.
type reader struct {
	*testing.T
	fake    *okxtest.Server
	now     *clock.Manual
	session *provider.Session
	cursor  string
	order   []provider.Record
	known   map[string]bool
	gaps    []provider.Gap
	pages   int
	twice   int // how many records were read again
}

func newReader(t *testing.T) *reader {
	r := &reader{T: t, fake: okxtest.New(), now: clock.NewManual(time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)), known: map[string]bool{}}
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
	r.session = provider.NewDialer(okx.Connector{}.Describe(), config).Open(credentials, true)
	return r
}

// read reads a ledger to its end and returns how many records are new.
func (r *reader) read(ledger string) (added int) {
	r.Helper()
	for {
		p, err := okx.Connector{}.Read(r.Context(), r.session, ledger, r.cursor)
		if err != nil {
			r.Fatal(err)
		}
		r.pages++
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

// buys adds bills to the trading account, three every so often, each a millisecond before the next, and the last ones now.
func (r *reader) buys(n int, every time.Duration) {
	for i := n - 1; i >= 0; i-- {
		at := r.now.Now().Add(-time.Duration(i/3)*every - time.Duration(i%3)*time.Millisecond)
		r.fake.Trade(at, "BTC", money.MustParse("0.001"), okxtest.Bill{"type": "30", "subType": "320"})
	}
}

func TestManyBillsAreReadInRangesOfTimeTheOldestFirst(t *testing.T) {
	t.Parallel()
	for name, exclusive := range map[string]bool{"with the ends of ranges": false, "without the ends of ranges": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, every := range []time.Duration{time.Hour, 2 * time.Second, time.Millisecond} {
				r := newReader(t)
				r.fake.Exclusive = exclusive
				r.buys(2345, every)
				if got := r.read("trading"); got != 2345 {
					t.Errorf("one every %s: %d bills of 2345", every, got)
				}
				for i, one := range r.order[1:] {
					if one.Timestamp.Before(r.order[i].Timestamp) {
						t.Fatalf("one every %s: %s after %s", every, one.Timestamp, r.order[i].Timestamp)
					}
				}
				if r.twice > 0 {
					t.Errorf("one every %s: %d bills were read twice", every, r.twice)
				}
				if n := r.fake.Requests(); n > 70 {
					t.Errorf("one every %s: %d requests, %d pages", every, n, r.pages)
				}
			}
		})
	}
}

func TestManyBillsOfTheFundingAccountAreReadToo(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for i := range 3210 { // some of them at the same time
		at := time.Date(2022, 5, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i/7) * 3 * time.Hour)
		r.fake.Fund(at, "1", "EUR", money.MustParse(fmt.Sprintf("%d.5", i)))
	}
	if got := r.read("funding"); got != 3210 {
		t.Errorf("%d bills of 3210", got)
	}
	for i, one := range r.order[1:] {
		if one.Timestamp.Before(r.order[i].Timestamp) {
			t.Fatalf("%s after %s", one.Timestamp, r.order[i].Timestamp)
		}
	}
	if r.twice > 0 {
		t.Errorf("%d bills were read twice", r.twice)
	}
	before, cursor := r.fake.Requests(), r.cursor
	r.now.Advance(6 * 24 * time.Hour)
	if added := r.read("funding"); added != 0 || r.cursor != cursor || r.fake.Requests() != before+1 {
		t.Errorf("nothing new: %d records, the cursor %s after %s, %d requests", added, r.cursor, cursor, r.fake.Requests()-before)
	}
}

func TestBillsThatAreShownLateAreRead(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.fake.Delay = 30 * time.Second
	r.fake.Fund(r.now.Now().Add(-time.Minute), "1", "EUR", money.MustParse("5"))
	if added := r.read("funding"); added != 1 {
		t.Errorf("%d bills", added)
	}
	r.fake.Fund(r.now.Now().Add(-2*time.Minute), "1", "EUR", money.MustParse("6")) // which was not there before
	r.fake.Fund(r.now.Now().Add(-time.Second), "1", "EUR", money.MustParse("7"))
	if added := r.read("funding"); added != 1 {
		t.Errorf("%d bills", added)
	}
	r.now.Advance(time.Minute)
	if added := r.read("funding"); added != 1 {
		t.Errorf("%d bills", added)
	}
}

func TestWhatIsNoLongerShownIsAGapThatIsReportedOnce(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.fake.Trade(r.now.Now().AddDate(0, -4, 0), "BTC", money.MustParse("1"))
	r.fake.Trade(r.now.Now().AddDate(0, -2, 0), "BTC", money.MustParse("2"), okxtest.Bill{"type": "30"})
	if added := r.read("trading"); added != 1 || len(r.gaps) != 1 || r.gaps[0].Through.Format(time.DateOnly) != "2026-08-02" {
		t.Errorf("%d bills, %+v", added, r.gaps)
	}
	r.fake.Trade(r.now.Now(), "BTC", money.MustParse("3"), okxtest.Bill{"type": "30"})
	if added := r.read("trading"); added != 1 || len(r.gaps) != 1 {
		t.Errorf("%d bills, %+v", added, r.gaps)
	}
	r.now.Advance(80 * 24 * time.Hour)
	if r.read("trading"); len(r.gaps) != 1 {
		t.Errorf("%+v", r.gaps)
	}
	r.now.Advance(100 * 24 * time.Hour) // for some days nobody can tell
	r.read("trading")
	if got, want := dates(r.gaps), "2017-01-01 2026-08-02, 2027-01-21 2027-02-01"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r.read("trading"); len(r.gaps) != 2 {
		t.Errorf("%+v", r.gaps)
	}
	old := newReader(t)
	old.fake.Fund(time.Date(2021, 1, 31, 0, 0, 0, 0, time.UTC), "1", "EUR", money.MustParse("5"))
	old.fake.Fund(time.Date(2021, 2, 14, 0, 0, 0, 0, time.UTC), "1", "EUR", money.MustParse("5"))
	if added := old.read("funding"); added != 1 || len(old.gaps) != 1 || old.gaps[0].Through.Format(time.DateOnly) != "2021-02-01" {
		t.Errorf("%d bills, %+v", added, old.gaps)
	}
	if old.read("funding"); len(old.gaps) != 1 {
		t.Errorf("%+v", old.gaps)
	}
}

func TestABillWithATimeInTheFutureDoesNotHideLaterOnes(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.fake.Trade(r.now.Now().AddDate(50, 0, 0), "BTC", money.MustParse("1"), okxtest.Bill{"type": "30"})
	r.read("trading")
	r.fake.Trade(r.now.Now(), "BTC", money.MustParse("2"), okxtest.Bill{"type": "30"})
	if added := r.read("trading"); added != 1 {
		t.Errorf("%d bills", added)
	}
}

func TestAPageOfBillsWithoutIdsIsNotReadForEver(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for _, data := range []string{"[{}" + strings.Repeat(",{}", 99) + "]", "null", "{}"} {
		for n := range 9 {
			r.fake.FailAt(n+1, providertest.Status(http.StatusOK, "", "", `{"code":"0","data":`+data+`}`))
		}
		if _, err := (okx.Connector{}).Read(t.Context(), r.session, "funding", ""); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
	}
}

func TestABillThatIsShownLateIsReadAlsoAmongMany(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for i := range 1500 {
		r.fake.Fund(r.now.Now().Add(time.Duration(i-1500)*100*time.Millisecond), "1", "EUR", money.MustParse("5"))
	}
	r.read("funding")
	r.fake.Fund(r.now.Now().Add(-4*time.Minute), "1", "EUR", money.MustParse("6"))
	if added := r.read("funding"); added != 1 {
		t.Errorf("%d bills", added)
	}
}

func TestErrorsOfOKXHaveTheKindThatFits(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]fault.Kind{
		`401 {"msg":"Your IP 1.2.3.4 is not included in your API key's IP whitelist.","code":"50110"}`:    fault.Forbidden,
		`200 {"msg":"This API key doesn't have permission to use this function","code":"50120"}`:          fault.Forbidden,
		`401 {"msg":"APIKey does not match current environment.","code":"50101"}`:                         fault.Unauthorized,
		`400 {"msg":"API frozen, please contact customer service.","code":"50100"}`:                       fault.Unauthorized,
		`200 {"msg":"API key doesn't exist","code":"50119"}`:                                              fault.Unauthorized,
		`401 {"msg":"Timestamp request expired.","code":"50102"}`:                                         fault.Unavailable, // the clock agrees
		`429 {"msg":"Systems are busy. Please try again later.","code":"50013"}`:                          fault.Unavailable,
		`400 {"msg":"API endpoint request timeout.","code":"50004"}`:                                      fault.Unavailable,
		`503 {"msg":"Service temporarily unavailable. Please try again later.","code":"50001"}`:           fault.Unavailable,
		`200 {"msg":"","code":"0","data":null}`:                                                           fault.Unavailable,
		`404 {"msg":"Not Found"}`:                                                                         fault.Unavailable,
		`200 {"msg":"User blocked.","code":"50007"}`:                                                      fault.Conflict,
		`200 {"msg":"The API doesn't support cross site trading feature","code":"50067"}`:                 fault.Conflict,
		`200 {"code":"0","data":[{"uid":"7","perm":""}],"msg":"no permission, which is no answer"}`:       fault.Unavailable,
		`200 {"code":"0","data":[{"uid":"7","perm":"something_new"}],"msg":"a permission of the future"}`: fault.Unavailable,
	} {
		r := newReader(t)
		var status int
		if _, err := fmt.Sscanf(answer, "%d", &status); err != nil {
			t.Fatal(err)
		}
		for n := range 9 {
			r.fake.FailAt(n+1, providertest.Status(status, "", "", answer[4:]))
		}
		_, err := okx.Connector{}.Check(t.Context(), r.session)
		if got := fault.KindOf(err); err == nil || got != want {
			t.Errorf("%s: %v, which is %s and not %s", answer, err, got, want)
		}
	}
}
