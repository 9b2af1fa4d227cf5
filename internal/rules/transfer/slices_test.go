package transfer_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/rules/transfer"
)

func TestDaysWithAReachAroundThemGiveWhatAllLegsGive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var legs []transfer.Leg
		for n := range rapid.IntRange(1, 6).Draw(t, "crowds") {
			at := time.Duration(rapid.IntRange(0, 30*24).Draw(t, "hour")) * time.Hour
			for _, l := range drawLegs(t) {
				l.ID, l.At = fmt.Sprint(n, l.ID), l.At.Add(at)
				for i := range l.Excluded {
					l.Excluded[i] = fmt.Sprint(n, l.Excluded[i])
				}
				// One hash stands on legs of one time.
				l.Hash, l.GroupKey = named(l.Hash, n, l.At), named(l.GroupKey, n, l.At)
				legs = append(legs, l)
			}
		}
		whole := transfer.Match(legs)
		at := map[string]time.Time{}
		for _, l := range legs {
			at[l.ID] = l.At
		}
		days := time.Duration(rapid.IntRange(1, 9).Draw(t, "days")) * 24 * time.Hour
		for from := start; from.Before(start.Add(40 * 24 * time.Hour)); from = from.Add(days) {
			to := from.Add(days)
			var some []transfer.Leg
			for _, l := range legs {
				if !l.At.Before(from.Add(-transfer.Reach)) && l.At.Before(to.Add(transfer.Reach)) {
					some = append(some, l)
				}
			}
			within := func(r transfer.Result) (out transfer.Result) {
				for _, p := range r.Pairs {
					if !at[p.Out].Before(from) && at[p.Out].Before(to) {
						out.Pairs = append(out.Pairs, p)
					}
				}
				for _, a := range r.Ambiguous {
					if !at[a.Leg].Before(from) && at[a.Leg].Before(to) {
						out.Ambiguous = append(out.Ambiguous, a)
					}
				}
				return out
			}
			if got, want := within(transfer.Match(some)), within(whole); !reflect.DeepEqual(got, want) {
				t.Fatalf("from %s to %s: %+v, want %+v", from, to, got, want)
			}
		}
	})
}

func named(name string, crowd int, at time.Time) string {
	if name == "" {
		return ""
	}
	return fmt.Sprint(name, crowd, "-", at.Unix()/7200)
}

func TestMatchingTheRestLinksNothingMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		legs := drawLegs(t)
		first := transfer.Match(legs)
		linked := map[string]bool{}
		for _, p := range first.Pairs {
			linked[p.Out], linked[p.In] = true, true
		}
		var rest []transfer.Leg
		for _, l := range legs {
			if !linked[l.ID] {
				rest = append(rest, l)
			}
		}
		if second := transfer.Match(rest); len(second.Pairs) != 0 || !reflect.DeepEqual(second.Ambiguous, first.Ambiguous) {
			t.Fatalf("%+v after %+v", second, first)
		}
	})
}
