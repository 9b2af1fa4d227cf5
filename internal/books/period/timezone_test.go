package period_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func (b *books) changeTimezone(zone string) error {
	_, err := b.orgs.Update(b.ctx, organization.UpdateParams{Timezone: &zone})
	return err
}

type filed struct {
	Number  int64     `db:"number"`
	Key     *string   `db:"key"`
	Date    time.Time `db:"accounting_date"`
	Updated time.Time `db:"updated_at"`
}

// filed returns every entry with its period.
func (b *books) filed(t *testing.T) (out []filed) {
	t.Helper()
	b.read(t, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.All[filed](ctx, tx, `SELECT e.number, p.key, e.accounting_date, e.updated_at FROM journal_entries e
			LEFT JOIN accounting_periods p ON p.organization_id = e.organization_id AND p.accounting_period_id = e.accounting_period_id
			WHERE e.organization_id = @org ORDER BY e.number`)
		return err
	})
	return out
}

// filing formats the periods of all entries as text: "1:2026-01 2:2026-02".
func (b *books) filing(t *testing.T) string {
	t.Helper()
	var out []string
	for _, f := range b.filed(t) {
		out = append(out, fmt.Sprintf("%d:%s", f.Number, db.OrEmpty(f.Key)))
	}
	return strings.Join(out, " ")
}

func TestEntriesFollowTheBoundariesOfTheirMonths(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		red, blue := b.tag(t, "red"), b.tag(t, "blue")
		// 1 the first instant there is
		b.post(t, "2026-01-01", sale)
		b.post(t, "2026-01-31T23:59:59Z", sale)                                                                     // 2
		b.post(t, "2026-02-01T00:00:00Z", "us Dr 1010 5 #"+red+" #"+blue+"\nus Cr 4010 5\n#"+red)                   // 3
		b.post(t, "2026-02-01T04:59:59.999Z", "us Dr 1010 7 #"+blue+"\nus Cr 4010 6\nus Cr 4010 1 #"+red+"\n#"+red) // 4
		b.post(t, "2026-02-01T05:00:00Z", sale)                                                                     // 5 New York's February
		b.make(t, b.draft("2026-02-01T01:00:00Z", sale))                                                            // 6
		b.make(t, b.draft("2026-01-31T15:00:00Z", sale))                                                            // 7
		b.make(t, b.draft("2025-06-01T00:00:00Z", sale))                                                            // 8 in no month there is
		b.post(t, "2026-03-31T20:00:00Z", sale)                                                                     // 9 Tokyo's April
		if err := b.journal.Delete(b.ctx, b.make(t, b.draft("2026-02-01T02:00:00Z", sale)).ID); err != nil {        // 10
			t.Fatal(err)
		}
		expect := func(zone, filing, months string) {
			t.Helper()
			before := b.filed(t)
			b.now.Advance(time.Minute)
			if err := b.changeTimezone(zone); err != nil {
				t.Fatal(err)
			}
			if got := b.filing(t); got != filing {
				t.Errorf("in %s: %s, want %s", zone, got, filing)
			}
			if got := keys(b.all(t)); got != months {
				t.Errorf("in %s: months %s, want %s", zone, got, months)
			}
			for i, f := range b.filed(t) {
				moved := db.OrEmpty(f.Key) != db.OrEmpty(before[i].Key)
				if !f.Date.Equal(before[i].Date) || moved != !f.Updated.Equal(before[i].Updated) {
					t.Errorf("in %s: %+v was %+v", zone, f, before[i])
				}
			}
			for _, text := range b.verify(t) {
				t.Errorf("in %s: %s", zone, text)
			}
		}
		expect("America/New_York", "1:2025-12 2:2026-01 3:2026-01 4:2026-01 5:2026-02 6:2026-01 7:2026-01 8: 9:2026-03 10:2026-01",
			"2025-12 2026-01 2026-02 2026-03")
		expect("Asia/Tokyo", "1:2026-01 2:2026-02 3:2026-02 4:2026-02 5:2026-02 6:2026-02 7:2026-02 8: 9:2026-04 10:2026-02",
			"2025-12 2026-01 2026-02 2026-03 2026-04")
		expect("Etc/UTC", "1:2026-01 2:2026-01 3:2026-02 4:2026-02 5:2026-02 6:2026-02 7:2026-01 8: 9:2026-03 10:2026-02",
			"2025-12 2026-01 2026-02 2026-03 2026-04")
		changes := b.recorded(t, "accounting_period.moved")
		expect("Atlantic/Reykjavik", b.filing(t), keys(b.all(t))) // the same months under another name
		if got := b.recorded(t, "accounting_period.moved"); got != changes || changes == 0 {
			t.Errorf("%d moves recorded, then %d", changes, got)
		}
	})
}

func (b *books) recorded(t *testing.T, action string) (n int64) {
	t.Helper()
	b.read(t, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", "SELECT count(*) FROM audit_log WHERE organization_id = @org AND action = ?", action)
		return err
	})
	return n
}

func TestChangingTheTimeZoneCreatesTheCurrentMonthThere(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		b.at("2026-03-31T20:00:00Z")
		if err := b.changeTimezone("Asia/Tokyo"); err != nil || keys(b.all(t)) != "2026-03 2026-04" {
			t.Errorf("%s %v", keys(b.all(t)), err)
		}
	})
}

func TestAMonthCreatedWhileTheTimeZoneChangesHasTheNewBounds(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		zone, moved, release := "Asia/Tokyo", make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			err := b.db.Write(b.ctx, b.org, func(ctx context.Context, _ *db.Tx) error {
				_, err := b.orgs.Update(ctx, organization.UpdateParams{Timezone: &zone})
				close(moved)
				<-release
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-moved
		wg.Go(func() { b.id(t, "2025-12") }) // reads the old zone, then waits for the head
		time.Sleep(200 * time.Millisecond)
		close(release)
		wg.Wait()
		if all := b.all(t); keys(all) != "2025-12 2026-01 2026-02 2026-03" || !all[0].Start.Equal(time.Date(2025, 11, 30, 15, 0, 0, 0,
			time.UTC)) {
			t.Errorf("%+v", all)
		}
	})
}

func TestNoPostedEntryLeavesOrEntersAClosedPeriod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone string
		closed     []string
		count      int // of entries in the way
	}{
		{"nothing is closed", "America/New_York", nil, 0},
		{"entries would enter January", "America/New_York", []string{"2026-01"}, 2},
		{"entries would leave January and enter February", "Asia/Tokyo", []string{"2026-01", "2026-02"}, 1},
		{"an entry would leave January", "Asia/Tokyo", []string{"2026-01"}, 1},
		{"entries would leave February and enter January", "America/New_York", []string{"2026-01", "2026-02"}, 2},
		{"no entry is near enough", "Etc/GMT+1", []string{"2026-01", "2026-02"}, 0},
		{"the same months", "Etc/UTC", []string{"2026-01", "2026-02"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			each(t, "UTC", func(t *testing.T, b *books) {
				b.addGermany(t)
				b.post(t, "2026-01-31T20:00:00Z", sale)
				b.post(t, "2026-02-01T02:00:00Z", sale)
				b.post(t, "2026-02-01T03:00:00Z", sale+"\nde Dr 1010 5\nde Cr 4010 5")
				p := b.draft("2026-02-01T04:00:00Z", "de Dr 1010 5\nde Cr 4010 5") // of the other, for which nothing is closed
				p.LegalEntityID, p.Status = b.de, journal.Posted
				b.make(t, p)
				for _, key := range c.closed {
					b.close(t, key, b.us)
				}
				before, version := b.filing(t), b.version(t)
				err := b.changeTimezone(c.zone)
				if c.count == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				want := fmt.Sprintf("%d posted entries would leave or enter a closed period", c.count)
				if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
				if o, err := b.orgs.Get(b.ctx); err != nil || o.Timezone != "UTC" || b.filing(t) != before || b.version(t) != version {
					t.Errorf("something changed: %s %v", o.Timezone, err)
				}
			})
		})
	}
}

func TestEveryEntryIsInItsMonthAfterAnySequenceOfTimeZones(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "America/New_York", "Asia/Tokyo", "Pacific/Apia", "Pacific/Kiritimati", "Pacific/Pago_Pago",
		"America/Asuncion", "Asia/Kathmandu", "America/St_Johns", "Europe/Berlin"}
	boundaries := []string{"2023-10-01T04:00:00Z", "2024-04-01T00:00:00Z", "2026-03-01T00:00:00Z"}
	each(t, "UTC", func(t *testing.T, b *books) {
		tags := []string{"", " #" + b.tag(t, "red"), " #" + b.tag(t, "blue")}
		rapid.Check(t, func(r *rapid.T) { // the entries of one run are there in the next
			for range rapid.IntRange(1, 4).Draw(r, "entries") {
				at, _ := time.Parse(time.RFC3339, rapid.SampledFrom(boundaries).Draw(r, "boundary"))
				at = at.Add(time.Duration(rapid.IntRange(-20*60, 20*60).Draw(r, "minutes")) * time.Minute)
				amount := fmt.Sprint(rapid.IntRange(1, 999).Draw(r, "amount"))
				p := b.draft(at.Format(time.RFC3339), "us Dr 1010 "+amount+rapid.SampledFrom(tags).Draw(r, "tag")+"\nus Cr 4010 "+amount+
					rapid.SampledFrom(tags).Draw(r, "tag"))
				if tag := rapid.SampledFrom(tags).Draw(r, "tag"); tag != "" {
					p.TagIDs = []string{tag[2:]}
				}
				p.Status = rapid.SampledFrom([]journal.Status{journal.Posted, journal.Posted, journal.Draft}).Draw(r, "status")
				b.make(t, p)
			}
			for range 2 {
				name := rapid.SampledFrom(zones).Draw(r, "to")
				if err := b.changeTimezone(name); err != nil {
					r.Fatal(err)
				}
				loc, _ := time.LoadLocation(name)
				for _, f := range b.filed(t) {
					if f.Key != nil && *f.Key != calendar.MonthOf(f.Date, loc).Key() {
						r.Fatalf("in %s: %+v", name, f)
					}
				}
			}
			for _, text := range b.verify(t) {
				r.Fatal(text)
			}
		})
	})
}

func TestAPeriodThatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	each(t, "UTC", func(t *testing.T, b *books) {
		if _, err := b.periods.Get(b.ctx, "ap_x"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
		if _, err := b.periods.Close(b.ctx, "ap_x", ""); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
		if _, err := b.periods.Reopen(b.ctx, "ap_x", period.ReopenParams{Reason: "x"}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
	})
}
