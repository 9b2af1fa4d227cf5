package calendar

import (
	_ "embed"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // the test must not depend on the zones of the machine it runs on
)

// zoneNames is every name of the IANA database, links included.
//
//go:embed testdata/zones.txt
var zoneNames string

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestAMonthBeginsAtTheFirstInstantOfItsFirstDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, month, start, why string }{
		{"UTC", "2024-04", "2024-04-01T00:00:00Z", ""},
		{"America/New_York", "2024-04", "2024-04-01T04:00:00Z", ""},
		{"America/Asuncion", "2017-10", "2017-10-01T04:00:00Z", "midnight is skipped"},
		{"America/Asuncion", "2023-10", "2023-10-01T04:00:00Z", "midnight is skipped"},
		{"America/Havana", "2012-04", "2012-04-01T05:00:00Z", "midnight is skipped"},
		{"America/Havana", "2015-11", "2015-11-01T04:00:00Z", "there are two midnights"},
		{"America/St_Johns", "2009-11", "2009-11-01T02:30:00Z", "clocks go back to the day before one minute later"},
		{"Asia/Kathmandu", "1986-01", "1985-12-31T18:30:00Z", "clocks skip the first quarter of an hour"},
		{"Africa/Monrovia", "1972-01", "1972-01-01T00:44:30Z", "an offset with seconds"},
		{"Pacific/Apia", "2011-12", "2011-12-01T10:00:00Z", "the month loses a day later"},
		{"Pacific/Apia", "2012-01", "2011-12-31T10:00:00Z", "the month before lost a day"},
		{"Pacific/Kiritimati", "1995-01", "1994-12-31T10:00:00Z", "the day before is skipped"},
		{"Pacific/Kwajalein", "1993-09", "1993-08-31T12:00:00Z", "the month before lost a day"},
	} {
		m, err := ParseKey(c.month)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Start(zone(t, c.zone)); !got.Equal(instant(t, c.start)) || got.Location() != time.UTC {
			t.Errorf("%s in %s begins %s, want %s: %s", c.month, c.zone, got.Format(time.RFC3339), c.start, c.why)
		}
	}
}

func TestAnInstantIsInTheMonthWhoseBoundsHoldIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, month string }{
		{"America/New_York", "2024-04-01T03:30:00Z", "2024-03"},
		{"UTC", "2024-04-01T03:30:00Z", "2024-04"},
		{"UTC", "2024-03-31T23:59:59.999Z", "2024-03"},
		{"UTC", "2024-04-01T00:00:00Z", "2024-04"},
		{"America/St_Johns", "2009-11-01T02:29:59Z", "2009-10"},
		{"America/St_Johns", "2009-11-01T02:30:30Z", "2009-11"},
		{"America/St_Johns", "2009-11-01T02:45:00Z", "2009-11"}, // the wall shows October again
		{"America/St_Johns", "2009-11-01T04:00:00Z", "2009-11"},
	} {
		if got := MonthOf(instant(t, c.at), zone(t, c.zone)).Key(); got != c.month {
			t.Errorf("%s in %s is in %s, want %s", c.at, c.zone, got, c.month)
		}
	}
}

func TestADayBeginsAtItsFirstInstantAlsoOneThatWasSkipped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, date, start string }{
		{"UTC", "2024-02-29", "2024-02-29T00:00:00Z"},
		{"Europe/Berlin", "2024-03-31", "2024-03-30T23:00:00Z"},
		{"America/Asuncion", "2017-10-01", "2017-10-01T04:00:00Z"},
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"}, // no clock showed it
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},
		{"Pacific/Kwajalein", "1993-08-21", "1993-08-21T12:00:00Z"},
		{"Pacific/Kwajalein", "1993-08-22", "1993-08-21T12:00:00Z"},
	} {
		got, err := StartOfDay(c.date, zone(t, c.zone))
		if err != nil || !got.Equal(instant(t, c.start)) {
			t.Errorf("%s in %s begins %s, want %s (%v)", c.date, c.zone, got.Format(time.RFC3339), c.start, err)
		}
	}
	for _, bad := range []string{"", "2024-02-30", "2024-2-3", "2024-02", "2024-02-03T00:00:00Z"} {
		if at, err := StartOfDay(bad, time.UTC); err == nil {
			t.Errorf("%q was taken for %s", bad, at)
		}
	}
	if got := DateOf(instant(t, "2024-04-01T03:30:00Z"), zone(t, "America/New_York")); got != "2024-03-31" {
		t.Errorf("the wall shows %s", got)
	}
}

func TestADayEndsWhenTheNextOneBegins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, date, end string }{
		{"UTC", "2024-02-28", "2024-02-29T00:00:00Z"},
		{"UTC", "2024-12-31", "2025-01-01T00:00:00Z"},
		{"America/New_York", "2024-03-10", "2024-03-11T04:00:00Z"},
		{"America/Santiago", "2025-09-06", "2025-09-07T04:00:00Z"}, // clocks skip the midnight after it
		{"America/Santiago", "2025-09-07", "2025-09-08T03:00:00Z"}, // and the one before
		{"Pacific/Apia", "2011-12-29", "2011-12-30T10:00:00Z"},
		{"UTC", "9999-12-30", "9999-12-31T00:00:00Z"},
	} {
		got, err := EndOfDay(c.date, zone(t, c.zone))
		if err != nil || !got.Equal(instant(t, c.end)) || got.Location() != time.UTC {
			t.Errorf("%s in %s ends %s, want %s (%v)", c.date, c.zone, got.Format(time.RFC3339), c.end, err)
		}
	}
	for _, bad := range []string{"", "2024-02-30", "2024-2-3", "2024-02-03T00:00:00Z", "9999-12-31"} {
		if at, err := EndOfDay(bad, time.UTC); err == nil {
			t.Errorf("%q ends %s", bad, at)
		}
	}
}

func TestKeysAreReadAsTheyAreWrittenAndSortAsTimeDoes(t *testing.T) {
	t.Parallel()
	for m := (Month{1999, time.November}); m.Year < 2002; m = m.Next() {
		if got, err := ParseKey(m.Key()); err != nil || got != m || m.Next().Prev() != m || m.Key() >= m.Next().Key() ||
			m.Compare(m.Next()) != -1 || m.Next().Compare(m) != 1 || m.Compare(m) != 0 {
			t.Errorf("%v: %s is read as %v, %v", m, m.Key(), got, err)
		}
	}
	for _, bad := range []string{"", "2024", "2024-13", "2024-00", "2024-1", "24-01", "2024-01-01", "2024/01", " 2024-01"} {
		if m, err := ParseKey(bad); err == nil {
			t.Errorf("%q was taken for %v", bad, m)
		}
	}
	if got := (Month{2024, time.January}).Add(-13); got != (Month{2022, time.December}) {
		t.Errorf("%v", got)
	}
}

// In every zone there is, every month of 71 years begins where a search through the instants around finds it, and
// ends where the next begins.
func TestEveryMonthOfEveryZoneBeginsWhereASearchFindsIt(t *testing.T) {
	t.Parallel()
	names := make(chan string)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for name := range names {
				searchZone(t, name)
			}
		})
	}
	lines := strings.Fields(zoneNames)
	if len(lines) < 590 {
		t.Errorf("only %d zones", len(lines))
	}
	for _, name := range lines {
		names <- name
	}
	close(names)
	wg.Wait()
}

func searchZone(t *testing.T, name string) {
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Error(err)
		return
	}
	first := Month{1970, time.January}
	end := first.Start(loc)
	for m := first; m.Year <= 2040; m = m.Next() {
		start := search(m, loc)
		if got := m.Start(loc); !got.Equal(start) || !got.Equal(end) {
			t.Errorf("%s in %s begins %s, the search finds %s and the month before ends %s", m.Key(), name, got.Format(time.RFC3339),
				start.Format(time.RFC3339), end.Format(time.RFC3339))
		}
		if _, end = m.Bounds(loc); !end.After(start) {
			t.Errorf("%s in %s ends before it begins", m.Key(), name)
		}
		if MonthOf(start, loc) != m || MonthOf(start.Add(-1), loc) != m.Prev() || MonthOf(end.Add(-1), loc) != m {
			t.Errorf("%s in %s: instants at its bounds are in %v, %v, %v", m.Key(), name, MonthOf(start.Add(-1), loc), MonthOf(start, loc),
				MonthOf(end.Add(-1), loc))
		}
	}
}

// search finds the first instant that shows the first of the month by looking at instants one after the other.
func search(m Month, loc *time.Location) time.Time {
	wall := time.Date(m.Year, m.Month, 1, 0, 0, 0, 0, time.UTC).Unix()
	begun := func(at int64) bool { return at+offsetAt(at, loc) >= wall }
	at := wall - 15*3600
	if offset := offsetAt(at, loc); quiet(at, wall+13*3600, loc) {
		return time.Unix(wall-offset, 0)
	}
	for ; !begun(at); at += 60 {
	}
	for at -= 60; !begun(at); at++ {
	}
	return time.Unix(at, 0)
}

// quiet tells that clocks were not set in a span. None was ever set twice within an hour.
func quiet(from, to int64, loc *time.Location) bool {
	for at := from; at <= to; at += 3600 {
		if offsetAt(at, loc) != offsetAt(from, loc) {
			return false
		}
	}
	return true
}

func offsetAt(at int64, loc *time.Location) int64 {
	_, offset := time.Unix(at, 0).In(loc).Zone()
	return int64(offset)
}

func TestAMonthHasItsFirstAndItsLastDay(t *testing.T) {
	t.Parallel()
	for key, last := range map[string]string{"2024-02": "2024-02-29", "2025-02": "2025-02-28", "2025-12": "2025-12-31"} {
		m, err := ParseKey(key)
		if err != nil || m.FirstDay() != key+"-01" || m.LastDay() != last {
			t.Errorf("%s: %s to %s %v", key, m.FirstDay(), m.LastDay(), err)
		}
	}
}
