package bitget_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/bitget"
	"github.com/bursarhq/bursar/internal/provider/bitget/bitgettest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// registered is before all that the suite puts into accounts.
var registered = time.Date(2026, 4, 20, 0, 0, 0, 0, time.UTC)

func TestItConformsWithClassicAccounts(t *testing.T) {
	t.Parallel()
	fake := func() providertest.Fake { return bitgettest.New(false, registered) }
	providertest.Conforms(t, providertest.Suite{Connector: bitget.Connector{}, Fake: fake, Timed: true, PageSize: 500, Quiet: 1})
}

// A synchronization asks for each of the seven sections.
func TestItConformsWithUnifiedAccounts(t *testing.T) {
	t.Parallel()
	fake := func() providertest.Fake { return bitgettest.New(true, registered) }
	providertest.Conforms(t, providertest.Suite{Connector: bitget.Connector{}, Fake: fake, Timed: true, PageSize: 500, Quiet: 7})
}

var start = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// open starts a fake and returns a session with it, and its clock.
func open(t *testing.T, fake *bitgettest.Server) (*provider.Session, *clock.Manual) {
	now := clock.NewManual(start)
	providertest.Start(t, fake, now.Now)
	credentials := provider.Credentials{}
	for name, text := range fake.Credentials() {
		credentials[name] = secret.New(text)
	}
	config := provider.Config{URL: fake.URL, AllowPrivate: true, Clock: now, Sleep: func(ctx context.Context, d time.Duration) error {
		now.Advance(d)
		return ctx.Err()
	}}
	return provider.NewDialer(bitget.Connector{}.Describe(), config).Open(credentials, false), now
}

// result is what was read, with the times of gaps as days.
type result struct {
	ids     map[string]bool
	gaps    []string
	cursor  string
	largest int // how many records the largest page has
}

// read reads from a cursor to the end.
func read(t *testing.T, s *provider.Session, cursor string) (out result) {
	t.Helper()
	out = result{ids: map[string]bool{}, cursor: cursor}
	for range 1000 {
		p, err := bitget.Connector{}.Read(t.Context(), s, "records", out.cursor)
		if err != nil || len(p.Omitted) > 0 {
			t.Fatal(p.Omitted, err)
		}
		out.largest = max(out.largest, len(p.Records))
		for _, r := range p.Records {
			out.ids[r.ExternalID] = true
		}
		for _, g := range p.Gaps {
			out.gaps = append(out.gaps, g.From.Format(time.DateOnly)+" to "+g.Through.Format(time.DateOnly))
		}
		if out.cursor = p.Cursor; !p.More {
			return out
		}
	}
	t.Fatal("it has no end")
	return out
}

func TestTheKindOfTheAccountIsFound(t *testing.T) {
	t.Parallel()
	for _, unified := range []bool{false, true} {
		s, _ := open(t, bitgettest.New(unified, registered))
		got, err := bitget.Connector{}.Check(t.Context(), s)
		if err != nil || got.ID != "8714012345" || (len(got.Warnings) == 0) != unified {
			t.Errorf("unified %v: %+v %v", unified, got, err)
		}
	}
}

func TestAnAccountMayBecomeOneOfTheOtherKind(t *testing.T) {
	t.Parallel()
	for _, unified := range []bool{false, true} {
		fake := bitgettest.New(unified, registered)
		s, now := open(t, fake)
		fake.AddRow("OTHER", start.Add(-time.Hour), "Deposit", "EUR", "10", "", "0")
		before := read(t, s, "")
		now.Advance(24 * time.Hour)
		fake.Unified = !unified
		fake.AddRow("OTHER", start.Add(time.Hour), "Deposit", "EUR", "20", "", "0")
		after := read(t, s, before.cursor)
		if len(before.ids) != 1 || len(after.ids) != 1 || after.gaps != nil {
			t.Errorf("unified %v: %+v and then %+v", unified, before, after)
		}
	}
}

func TestARefusalAsOneOfTheOtherKindThatIsNotTrueIsAnError(t *testing.T) {
	t.Parallel()
	fake := bitgettest.New(false, registered)
	s, _ := open(t, fake)
	at := read(t, s, "")
	fake.FailAt(1, providertest.Status(http.StatusBadRequest, "Content-Type", "application/json", `{"code":"40085","msg":"no","data":null}`))
	if p, err := (bitget.Connector{}).Read(t.Context(), s, "records", at.cursor); fault.KindOf(err) != fault.Conflict || p.More {
		t.Errorf("%+v %v", p, err)
	}
}

func TestWhatAUnifiedAccountDoesNotShowAnyMoreIsToldOnce(t *testing.T) {
	t.Parallel()
	fake := bitgettest.New(true, start.AddDate(-2, 0, 0))
	s, now := open(t, fake)
	got := read(t, s, "")
	if fmt.Sprint(got.gaps) != "[2024-11-02 to 2025-11-02]" {
		t.Errorf("%v", got.gaps)
	}
	now.Advance(30 * 24 * time.Hour)
	if got = read(t, s, got.cursor); got.gaps != nil {
		t.Errorf("again: %v", got.gaps)
	}
}

func TestRecordsFromShortlyBeforeTheStatedRegistrationAreRead(t *testing.T) {
	t.Parallel()
	for _, unified := range []bool{false, true} {
		fake := bitgettest.New(unified, start.AddDate(0, 0, -100))
		s, _ := open(t, fake)
		fake.AddRow("OTHER", start.AddDate(0, 0, -101), "Deposit", "EUR", "10", "", "0")
		if got := read(t, s, ""); len(got.ids) != 1 || got.gaps != nil {
			t.Errorf("unified %t: %+v", unified, got)
		}
	}
}

func TestWhatAClassicAccountMayNotShowAnyMoreIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		opened    int // days ago
		movements []int
		want      string
	}{
		{"nothing at all", 1000, nil, "[2024-02-06 to 2024-11-02]"},
		{"records of late", 1000, []int{700, 3}, "[2024-02-06 to 2024-11-02]"},
		{"records in the same range as the limit", 1000, []int{731, 729}, "[]"},
		{"old records", 1000, []int{990, 3}, "[]"},
		{"an account that is not older", 720, []int{3}, "[]"},
		{"an account that says nothing about its age", 20000, []int{3}, "[2018-04-01 to 2024-11-02]"},
	} {
		fake := bitgettest.New(false, start.AddDate(0, 0, -c.opened))
		s, _ := open(t, fake)
		for _, days := range c.movements {
			fake.AddRow("", start.AddDate(0, 0, -days), "Deposit", "EUR", "10", "", "0")
		}
		got := read(t, s, "")
		if fmt.Sprint(got.gaps) != c.want || len(got.ids) != len(c.movements) {
			t.Errorf("%s: %d records, and no others for %v, want %s", c.name, len(got.ids), got.gaps, c.want)
		}
		if again := read(t, s, got.cursor); again.gaps != nil {
			t.Errorf("%s, again: %v", c.name, again.gaps)
		}
	}
}

// A range of 30 days with more than 20 pages is divided.
func TestAsManyRecordsAsThereAreFitIntoPages(t *testing.T) {
	t.Parallel()
	fake := bitgettest.New(false, start.AddDate(0, 0, -29))
	s, _ := open(t, fake)
	const n = 20*500 + 10
	for i := range n {
		at := start.AddDate(0, 0, -28).Add(time.Duration(i/100) * time.Minute)
		fake.AddRow("", at, "Deposit", "EUR", "10", "", "0")
	}
	if got := read(t, s, ""); len(got.ids) != n || got.largest >= n {
		t.Errorf("%d records, %d of them in a page, want %d", len(got.ids), got.largest, n)
	}
}

// So many at the same time cannot be divided.
func TestAsManyRecordsOfOneMomentAsThereAreFitIntoAPage(t *testing.T) {
	t.Parallel()
	fake := bitgettest.New(false, start.Add(-time.Hour))
	s, _ := open(t, fake)
	const n = 20*500 + 10
	for range n {
		fake.AddRow("", start.Add(-time.Minute), "Deposit", "EUR", "10", "", "0")
	}
	if got := read(t, s, ""); len(got.ids) != n {
		t.Errorf("%d records, want %d", len(got.ids), n)
	}
}

func TestTheEndsOfRangesAreRead(t *testing.T) {
	t.Parallel()
	opened := start.AddDate(0, 0, -100)
	fake := bitgettest.New(false, opened)
	s, _ := open(t, fake)
	n := 0
	for at := opened.AddDate(0, 0, 30); at.Before(start); at = at.AddDate(0, 0, 30).Add(-time.Second) { // the ranges overlap by a second
		for _, off := range []time.Duration{-1001, -1000, -999, -2, -1, 0, 1, 2} {
			fake.AddRow("", at.Add(off*time.Millisecond), "Deposit", "EUR", "10", "", "0")
			n++
		}
	}
	if got := read(t, s, ""); len(got.ids) != n {
		t.Errorf("%d records, want %d", len(got.ids), n)
	}
}

func TestAnAccountInWhichNothingHappensIsReadWithOneRequest(t *testing.T) {
	t.Parallel()
	fake := bitgettest.New(false, start.AddDate(0, 0, -300))
	s, now := open(t, fake)
	fake.AddRow("", start.AddDate(0, 0, -200), "Deposit", "EUR", "10", "", "0")
	cursors := map[string]bool{}
	at := read(t, s, "")
	for range 40 { // days
		before := fake.Requests()
		if at = read(t, s, at.cursor); fake.Requests()-before != 1 {
			t.Errorf("%d requests from %s", fake.Requests()-before, at.cursor)
		}
		cursors[at.cursor] = true
		now.Advance(24 * time.Hour)
	}
	if len(cursors) > 11 {
		t.Errorf("%d positions in 40 days", len(cursors))
	}
	fake.AddRow("", now.Now().AddDate(0, 0, -20), "Deposit", "EUR", "10", "", "0")
	if at = read(t, s, at.cursor); len(at.ids) != 1 {
		t.Errorf("%d records that were shown 20 days late, want 1", len(at.ids))
	}
}

func TestARecordThatIsShownLateIsRead(t *testing.T) {
	t.Parallel()
	fake := bitgettest.New(false, registered)
	s, _ := open(t, fake)
	fake.AddRow("", start.Add(-time.Minute), "Deposit", "EUR", "10", "", "0")
	at := read(t, s, "")
	fake.AddRow("", start.Add(-14*time.Minute), "Deposit", "EUR", "10", "", "0")
	if got := read(t, s, at.cursor); len(got.ids) != 2 {
		t.Errorf("%d records, want 2", len(got.ids))
	}
}

func TestAFullPageWithoutIDsIsNotReadForEver(t *testing.T) {
	t.Parallel()
	fake := bitgettest.New(false, start.Add(-time.Hour))
	s, _ := open(t, fake)
	for range 500 {
		fake.AddRow("", start.Add(-time.Minute), "Deposit", "EUR", "10", "", "0")
	}
	fake.FailAt(3, providertest.Changed(func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(`"id":`), []byte(`"no":`)) }))
	if p, err := (bitget.Connector{}).Read(t.Context(), s, "records", ""); fault.KindOf(err) != fault.Unavailable || p.More {
		t.Errorf("%v %v", p.More, err)
	}
}

func TestAMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	for path, unified := range map[string]bool{"/api/v2/tax/spot-record": false, "/api/v2/spot/account/info": false,
		"/api/v2/spot/account/assets": false, "/api/v3/tax/records": true, "/api/v3/account/assets": true} {
		fake := bitgettest.New(unified, registered)
		s, _ := open(t, fake)
		fake.Missing[path] = true
		_, err := bitget.Connector{}.Check(t.Context(), s)
		if fault.KindOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "Reading taxes is needed") ||
			!strings.Contains(err.Error(), "need tax read permissions") {
			t.Errorf("without %s: %v", path, err)
		}
	}
}

func TestRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct {
		kind fault.Kind
		text string
	}{
		"40018": {fault.Forbidden, "address of this service"},
		"40037": {fault.Unauthorized, "passphrase"},
		"40010": {fault.Unavailable, "at present"},
		"40015": {fault.Unavailable, "at present"},
		"429":   {fault.Unavailable, "no more requests"},
		"40013": {fault.Conflict, "something is wrong (code 40013)"},
		"40085": {fault.Conflict, "unified"},
		"":      {fault.Unavailable, "cannot be understood"},
	} {
		fake := bitgettest.New(false, registered)
		s, _ := open(t, fake)
		fake.FailAt(1, providertest.Status(http.StatusBadRequest, "Content-Type", "application/json",
			`{"code":"`+code+`","msg":"something is wrong","requestTime":1744617600000,"data":null}`))
		_, err := bitget.Connector{}.Balances(t.Context(), s)
		if fault.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %s error: %v", code, fault.KindOf(err), err)
		}
	}
}
