package intake

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // The test must not depend on the zones of the machine it runs on.
)

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestDatesAreReadAsPlatformsWriteThem(t *testing.T) {
	t.Parallel()
	berlin := zoneOf(t, "Europe/Berlin")
	for _, c := range []struct {
		text    string
		order   dayOrder
		zone    *time.Location
		layouts string
		want    string
	}{
		{"2024-03-05", 0, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"2024-03-05T10:11:12Z", 0, time.UTC, "", "2024-03-05T10:11:12Z"},
		{"2024-03-05T10:11:12.345Z", 0, time.UTC, "", "2024-03-05T10:11:12.345Z"},
		{"2024-03-05T10:11:12+02:00", 0, time.UTC, "", "2024-03-05T08:11:12Z"},
		{"2024-03-05T10:11:12.123456789-0530", 0, time.UTC, "", "2024-03-05T15:41:12.123456789Z"},
		{"2024-03-05 10:11:12", 0, time.UTC, "", "2024-03-05T10:11:12Z"},
		{"2024-03-05 10:11:12 UTC", 0, berlin, "", "2024-03-05T10:11:12Z"},
		{"2024-03-05 10:11:12 +0100", 0, time.UTC, "", "2024-03-05T09:11:12Z"},
		{"2024-03-05 10:11:12 UTC+1", 0, time.UTC, "", "2024-03-05T09:11:12Z"},
		{"2024-03-05 10:11:12 EST", 0, time.UTC, "", "2024-03-05T15:11:12Z"},
		{"2024-03-05 10:11:12.5", 0, time.UTC, "", "2024-03-05T10:11:12.5Z"},
		{"2024-03-05 10:11", 0, time.UTC, "", "2024-03-05T10:11:00Z"},
		{"2024/03/05 10:11", 0, time.UTC, "", "2024-03-05T10:11:00Z"},
		{"20240305", 0, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"20240305101112", 0, time.UTC, "", "2024-03-05T10:11:12Z"},
		{"1709633472", 0, berlin, "", "2024-03-05T10:11:12Z"},
		{"1709633472.25", 0, time.UTC, "", "2024-03-05T10:11:12.25Z"},
		{"1709633472123", 0, time.UTC, "", "2024-03-05T10:11:12.123Z"},
		{"03/05/2024", monthFirst, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"03/05/2024", dayFirst, time.UTC, "", "2024-05-03T00:00:00Z"},
		{"3/5/2024 9:06 PM", monthFirst, time.UTC, "", "2024-03-05T21:06:00Z"},
		{"12/31/2024 12:00:00 AM", 0, time.UTC, "", "2024-12-31T00:00:00Z"},
		{"31/12/2024 12:30 pm", 0, time.UTC, "", "2024-12-31T12:30:00Z"},
		{"05/05/2024", 0, time.UTC, "", "2024-05-05T00:00:00Z"},
		{"05.03.2024", 0, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"05.03.24", 0, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"5.3.2024, 10:11", 0, time.UTC, "", "2024-03-05T10:11:00Z"},
		{"Mar 5, 2024", 0, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"March 5 2024 at 10:11 PM", 0, time.UTC, "", "2024-03-05T22:11:00Z"},
		{"5 Mar 2024", 0, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"05-Mar-2024 10:11:12", 0, time.UTC, "", "2024-03-05T10:11:12Z"},
		{"Tue, 5 Mar 2024 10:11:12 GMT", 0, time.UTC, "", "2024-03-05T10:11:12Z"},
		{"5. März 2024", 0, time.UTC, "", "2024-03-05T00:00:00Z"},
		{"5 août 2024", 0, time.UTC, "", "2024-08-05T00:00:00Z"},
		{"5 dic 2024", 0, time.UTC, "", "2024-12-05T00:00:00Z"},
		{"2024-07-05 10:11:12", 0, berlin, "", "2024-07-05T08:11:12Z"},
		{"2024-07-05", 0, berlin, "", "2024-07-05T00:00:00Z"}, // A day stays the day it is.
		{"2024-10-27 02:30:00", 0, berlin, "", "2024-10-27T00:30:00Z"},
		{"24-03-05 10:11:12", 0, time.UTC, "YY-MM-DD HH:mm:ss", "2024-03-05T10:11:12Z"},
		{"03-05-2024", 0, time.UTC, "MM-DD-YYYY", "2024-03-05T00:00:00Z"},
		{"03-05-2024 10:11", 0, berlin, "MM-DD-YYYY|MM-DD-YYYY HH:mm", "2024-03-05T09:11:00Z"},
		{"5/3/2024 9:06", 0, time.UTC, "D/M/YYYY H:mm", "2024-03-05T09:06:00Z"},
		{"5/3/2024 9:06 PM", 0, time.UTC, "D/M/YYYY h:mm A", "2024-03-05T21:06:00Z"},
		{"2024-03-05T10:11:12.5+02:00", 0, time.UTC, "YYYY-MM-DDTHH:mm:ss.SSSZ", "2024-03-05T08:11:12.5Z"},
		{"1709633472", 0, time.UTC, "unix", "2024-03-05T10:11:12Z"},
		{"99", 0, time.UTC, "unix", "1970-01-01T00:01:39Z"},
	} {
		clk := clock{zone: c.zone, order: c.order}
		if c.layouts != "" {
			for _, name := range strings.Split(c.layouts, "|") {
				l, err := parseLayout(name)
				if err != nil {
					t.Fatal(err)
				}
				clk.layouts = append(clk.layouts, l)
			}
		}
		got, err := clk.parse(c.text)
		if err != nil || got.Format(time.RFC3339Nano) != c.want {
			t.Errorf("%q in %s by %q reads %s, %v, want %s", c.text, c.zone, c.layouts, got.Format(time.RFC3339Nano), err, c.want)
		}
	}
}

func TestInvalidAndAmbiguousDatesAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, zone, want string }{
		{"02/03/2024", "UTC", "may mean 3 February 2024 or 2 March 2024; state the date layout in the mapping"},
		{"02-03-2024 10:00", "UTC", "may mean"},
		{"13/13/2024", "UTC", "does not exist"},
		{"2024-02-30", "UTC", "does not exist"},
		{"2023-02-29", "UTC", "does not exist"},
		{"31.04.2024", "UTC", "does not exist"},
		{"2024-13-01", "UTC", "does not exist"},
		{"2024-01-01 24:00:00", "UTC", "time of day that does not exist"},
		{"2024-01-01 10:60", "UTC", "time of day that does not exist"},
		{"2024-03-31 02:30:00", "Europe/Berlin", "does not exist in Europe/Berlin, because the clocks were set forward"},
		{"2024-03-10 02:30:00", "America/New_York", "the clocks were set forward"},
		{"1969-12-31", "UTC", "year 1969"},
		{"2101-01-01", "UTC", "year 2101"},
		{"0001-01-01", "UTC", "year 1;"},
		{"02/03/24", "UTC", "two digits"},
		{"2024-03-05 10:11:12 CST", "UTC", "is unknown or ambiguous"},
		{"2024-03-05 13:00 PM", "UTC", "hour 13"},
		{"2024-03-05 10:11:12 +99:00", "UTC", "does not exist"},
		{"2024-03-05 10:11:12 +-3:00", "UTC", "does not exist"},
		{"yesterday", "UTC", "is not a date"},
		{"", "UTC", "is not a date"},
		{"12345", "UTC", "is not a date"},
		{"2024-03-05x", "UTC", "is not a date"},
		{"2024-03-05 10", "UTC", "is not a date"},
		{"45000", "UTC", "is not a date"},
		{"#VALUE!", "UTC", "is not a date"},
		{"Jan 2", "UTC", "is not a date"},
		{"/", "UTC", "is not a date"},
	} {
		clk := clock{zone: zoneOf(t, c.zone)}
		if got, err := clk.parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q reads %s, %v, want %q", c.text, got, err, c.want)
		}
	}
	if _, err := parseLayouts("2024-03-05", []layout{{name: "DD/MM/YYYY", text: "02/01/2006"}}); err == nil {
		t.Error("a date of another layout passes")
	}
}

func TestLayoutsAreValidated(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"DD/MM":      "must have a year",
		"dd/MM/YYYY": `has 'd' at "dd/MM/YYYY"`,
		"":           "must have a year",
		"02/01/2006": "has '0'",
	} {
		if _, err := parseLayout(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q says %v, want %q", name, err, want)
		}
	}
}

func TestAColumnDecidesTheOrderOfItsDates(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]dayOrder{
		"01/02/2024 03/04/2024":            orderUnknown,
		"01/02/2024 03/04/2024 13/04/2024": dayFirst,
		"01/02/2024 03/14/2024":            monthFirst,
		"13/02/2024 02/13/2024":            orderUnknown,
		"13.02.2024 01.02.2024":            orderUnknown,
		"2024-01-13 2024-02-01":            orderUnknown,
		"01-02-2024 01-31-2024":            monthFirst,
	} {
		var e dateEvidence
		for v := range strings.FieldsSeq(values) {
			e.observe(v)
		}
		if got := e.order(); got != want {
			t.Errorf("%s settle on %d, want %d", values, got, want)
		}
	}
}

func FuzzADateNeverPanics(f *testing.F) {
	for _, seed := range []string{"2024-03-05T10:11:12Z", "3/5/2024 9:06 PM", "Tue, 5 Mar 2024", "1709633472.25", "5. März 2024", "−"} {
		f.Add(seed, byte(0), "DD.MM.YYYY")
	}
	f.Fuzz(func(t *testing.T, text string, order byte, name string) {
		var e dateEvidence
		e.observe(text)
		clk := clock{zone: time.UTC, order: dayOrder(order % 3)}
		if at, err := clk.parse(text); err == nil && (at.Year() < yearMin || at.Year() > yearMax || at.Location() != time.UTC) {
			t.Errorf("%q reads %s", text, at)
		}
		if l, err := parseLayout(name); err == nil {
			clk.layouts = []layout{l}
			_, _ = clk.parse(text)
		}
	})
}
