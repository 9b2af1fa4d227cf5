package period_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/area/head"
	"github.com/bursarhq/bursar/internal/area/org"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// each runs a test on both engines, at the middle of March 2026 until the clock is moved.
func each(t *testing.T, zone string, test func(t *testing.T, d *db.DB, now *clock.Manual, f org.Founded)) {
	t.Helper()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		d := dbtest.Open(t, c)
		f, err := org.NewService(d).Found(t.Context(), org.FoundParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: zone})
		if err != nil {
			t.Fatal(err)
		}
		test(t, d, now, f)
	})
}

func month(t *testing.T, key string) calendar.Month {
	t.Helper()
	m, err := calendar.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ensure(t *testing.T, d *db.DB, organizationID string, months ...calendar.Month) (out []period.Period, version int64, err error) {
	t.Helper()
	err = d.Write(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) error {
		if out, err = period.Ensure(ctx, tx, months...); err != nil {
			return err
		}
		stored, err := period.All(ctx, tx)
		if !slices.Equal(stored, out) {
			t.Errorf("gave %v, stored %v", out, stored)
		}
		return err
	})
	if err == nil {
		err = d.Read(t.Context(), organizationID, func(ctx context.Context, tx *db.Tx) error {
			h, err := head.Read(ctx, tx)
			version = h.BooksVersion
			return err
		})
	}
	return out, version, err
}

func keys(periods []period.Period) string {
	var out []string
	for _, p := range periods {
		out = append(out, p.Key)
	}
	return strings.Join(out, " ")
}

func TestMonthsAreMadeOnDemandAndWithoutGaps(t *testing.T) {
	t.Parallel()
	each(t, "America/New_York", func(t *testing.T, d *db.DB, now *clock.Manual, f org.Founded) {
		got, first, err := ensure(t, d, f.Organization.ID)
		if err != nil || keys(got) != "2026-03" {
			t.Fatal(keys(got), err)
		}
		start, end := month(t, "2026-03").Bounds(time.UTC)
		if got[0].Start.Equal(start) || got[0].Start.Sub(start) != 5*time.Hour || got[0].End.Sub(end) != 4*time.Hour || !strings.HasPrefix(got[0].ID, "ap_") {
			t.Errorf("%+v", got[0])
		}
		for _, step := range []struct {
			ask   []string
			want  string
			bumps int64
		}{
			{[]string{"2026-03"}, "2026-03", 0},
			{[]string{"2026-01"}, "2026-01 2026-02 2026-03", 1},
			{[]string{"2026-02", "2026-05"}, "2026-01 2026-02 2026-03 2026-04 2026-05", 1},
			{[]string{"2026-04"}, "2026-01 2026-02 2026-03 2026-04 2026-05", 0},
			{[]string{"2025-11", "2026-06"}, "2025-11 2025-12 2026-01 2026-02 2026-03 2026-04 2026-05 2026-06", 1},
		} {
			var ask []calendar.Month
			for _, key := range step.ask {
				ask = append(ask, month(t, key))
			}
			got, version, err := ensure(t, d, f.Organization.ID, ask...)
			if err != nil || keys(got) != step.want || version != first+step.bumps {
				t.Errorf("asked for %v: %s, version %d after %d, %v", step.ask, keys(got), version, first, err)
			}
			first = version
		}
		now.Advance(150 * 24 * time.Hour)
		if got, _, err := ensure(t, d, f.Organization.ID); err != nil || !strings.HasSuffix(keys(got), "2026-06 2026-07 2026-08") {
			t.Errorf("later: %s %v", keys(got), err)
		}
		for _, key := range []string{"1899-12", "2200-01"} {
			if _, _, err := ensure(t, d, f.Organization.ID, month(t, key)); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", key, err)
			}
		}
	})
}
