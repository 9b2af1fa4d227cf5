package period_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

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
			state, err := orgstate.Read(ctx, tx)
			version = state.BooksVersion
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

func TestMonthsAreCreatedOnDemandAndWithoutGaps(t *testing.T) {
	t.Parallel()
	each(t, "America/New_York", func(t *testing.T, b *books) {
		d := b.db
		got, first, err := ensure(t, d, b.org)
		if err != nil || keys(got) != "2026-03" {
			t.Fatal(keys(got), err)
		}
		start, end := month(t, "2026-03").Bounds(time.UTC)
		if got[0].Start.Equal(start) || got[0].Start.Sub(start) != 5*time.Hour || got[0].End.Sub(end) != 4*time.Hour ||
			!strings.HasPrefix(got[0].ID, "ap_") {
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
			got, version, err := ensure(t, d, b.org, ask...)
			if err != nil || keys(got) != step.want || version != first+step.bumps {
				t.Errorf("asked for %v: %s, version %d after %d, %v", step.ask, keys(got), version, first, err)
			}
			first = version
		}
		b.now.Advance(150 * 24 * time.Hour)
		if got, _, err := ensure(t, d, b.org); err != nil || !strings.HasSuffix(keys(got), "2026-06 2026-07 2026-08") {
			t.Errorf("later: %s %v", keys(got), err)
		}
		for _, key := range []string{"1899-12", "2200-01"} {
			if _, _, err := ensure(t, d, b.org, month(t, key)); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", key, err)
			}
		}
	})
}

func TestTheNextMonthIsCreatedBeforeItBeginsAndOnlyWhereItIsMissing(t *testing.T) {
	t.Parallel()
	each(t, "Pacific/Auckland", func(t *testing.T, b *books) {
		turn := func(want string) {
			t.Helper()
			if err := period.CreateNextMonths(t.Context(), b.db); err != nil {
				t.Fatal(err)
			}
			if got := keys(b.all(t)); got != want {
				t.Errorf("at %s there are %s, want %s", b.now.Now(), got, want)
			}
		}
		b.at("2026-03-30T10:59:59Z") // April begins 2026-03-31T11:00Z there
		turn("2026-03")
		b.at("2026-03-30T11:00:00Z")
		turn("2026-03 2026-04")
		version := b.version(t)
		turn("2026-03 2026-04")
		if got := b.version(t); got != version {
			t.Errorf("a run that creates nothing raises the version from %d to %d", version, got)
		}
		b.at("2026-07-01T00:00:00Z") // after a long sleep
		turn("2026-03 2026-04 2026-05 2026-06 2026-07")
	})
}
