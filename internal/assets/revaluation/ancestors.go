package revaluation

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// ancestors returns, by lot, the lot that it was when it was measured last, or took over an adjustment: itself, or the lot that it was
// moved from since.
func (l *lotMeasurer) ancestors(ctx context.Context) (map[string]string, error) {
	out, histories := map[string]string{}, l.histories()
	if len(l.units) == 0 && len(histories) == 0 {
		return out, nil
	}
	known, err := l.origins(ctx)
	if err != nil {
		return nil, err
	}
	for _, held := range l.subject.lots {
		chain, _ := l.chain(held.ID, known)
		for _, at := range chain {
			if _, measured := l.units[at]; measured {
				out[held.ID] = at
				break
			}
		}
	}
	for _, h := range histories {
		if len(h.Runs) == 0 {
			continue
		}
		if err := l.restore(ctx, h, known, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// histories returns how the assets of the group were measured before. At fair value it does not matter: no adjustment is released.
func (l *lotMeasurer) histories() (out []realized.History) {
	if l.group.kind == FairValue {
		return nil
	}
	units := map[string]bool{}
	for _, unit := range l.handedOver(l.group.kind) {
		units[unit] = true
	}
	for key := range l.earlier {
		if h := l.history(l.group.kind, key[1]); key[0] == string(l.group.kind) && len(h.Runs) > 0 {
			units[key[1]] = true
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		out = append(out, l.history(l.group.kind, unit))
	}
	return out
}

// restore adds the ancestors of lots that are held again. Nothing was left of them at the last measurement, because a disposal had
// consumed them that consumes another lot now. Each unit has the adjustment that it had when it was measured last, and prices since
// then count. For a lot of before that was never measured, because it was booked or taken over late, prices since the first measurement
// count; those of before it was taken over only if they counted where it was then.
func (l *lotMeasurer) restore(ctx context.Context, h realized.History, known map[string]lots.Lot, out map[string]string) error {
	chains, all := map[string][]string{}, []string{}
	for _, held := range l.subject.lots {
		if _, there := out[held.ID]; there || held.AssetType != h.Unit || !held.AcquiredAt.Before(h.Runs[0].End) {
			continue
		}
		var acquired bool
		chains[held.ID], acquired = l.chain(held.ID, known)
		all = append(all, chains[held.ID]...)
		first := known[chains[held.ID][len(chains[held.ID])-1]].Entered()
		switch measured := l.firstMeasured(h); {
		case acquired || first.Before(measured): // also if it is not known when it was taken over
			l.since[held.ID] = measured
		case first.Before(h.Runs[0].End):
			l.since[held.ID] = first
		}
		if !acquired {
			if err := l.inheritLow(ctx, held.ID, known, l.lowOfGiver); err != nil {
				return err
			}
		}
	}
	states, runs, err := h.Earlier(ctx, l.tx, all)
	if err != nil {
		return err
	}
	for _, heldID := range slices.Sorted(maps.Keys(chains)) {
		n := slices.IndexFunc(chains[heldID], func(at string) bool { _, is := states[at]; return is })
		if n < 0 {
			continue
		}
		state := states[chains[heldID][n]]
		out[heldID], l.since[heldID] = state.Lot, runs[state.Lot].End
		delete(l.inherited, heldID)
		if _, added := l.units[state.Lot]; !added {
			l.units[state.Lot] = h.Unit
			l.states[h.Unit] = append(l.states[h.Unit], state)
		}
	}
	return nil
}

// chain returns a lot and the lots of the same asset that it was moved from within the legal entity, itself first. It reports whether
// the legal entity acquired the last of them.
func (l *lotMeasurer) chain(lotID string, known map[string]lots.Lot) (out []string, acquired bool) {
	for len(out) < lots.GenerationsMax {
		out = append(out, lotID)
		o := known[lotID]
		if o.ParentID == "" {
			return out, true
		}
		if o.LegalEntityID != l.ID || known[o.ParentID].LegalEntityID != l.ID || known[o.ParentID].AssetType != o.AssetType {
			return out, false
		}
		lotID = o.ParentID
	}
	return out, false
}

// firstMeasured returns the beginning of the first period of a history.
func (l *lotMeasurer) firstMeasured(h realized.History) time.Time {
	items := l.earlier[[2]string{h.Kind, h.Unit}]
	for n := len(items) - 1; n >= 0; n-- {
		if first, there := l.books.Period(items[n].Key); there && !l.precedes(items[n]) {
			return first.Start
		}
	}
	return l.period.Start
}

// readReleases reads what disposals since the last measurement release.
func (l *lotMeasurer) readReleases(ctx context.Context) error {
	for _, h := range l.histories() {
		current, index := map[string]measure.State{}, map[string]int{}
		for n, s := range l.states[h.Unit] {
			if index[s.Lot] = n; !s.Gone {
				current[s.Lot] = s
			}
		}
		releases, err := h.Releases(ctx, l.tx, current, l.asOf.Add(time.Millisecond))
		if err != nil {
			return err
		}
		for _, r := range releases {
			if r.State == nil {
				continue
			}
			n, there := index[r.State.Lot]
			if !there {
				n = len(l.states[h.Unit])
				index[r.State.Lot], l.states[h.Unit] = n, append(l.states[h.Unit], *r.State)
			}
			s := &l.states[h.Unit][n]
			s.Released = append(s.Released, r.Release)
			l.noteRelease(h.Unit, r)
		}
	}
	return nil
}

// noteRelease keeps what a disposal releases of a lot that no run has measured as such: it was moved or taken over since. If the disposal
// is corrected later, the lot may not exist any more.
func (l *lotMeasurer) noteRelease(unit string, r realized.Released) {
	if r.Units.Sign() <= 0 || r.State.Lot == r.LotID && (r.State.Gone || l.stored[r.LotID]) {
		return
	}
	l.released[unit] = append(l.released[unit], release{LegalEntityID: l.ID, Kind: l.group.kind, Unit: unit, LotID: r.LotID,
		OrderKey: r.OrderKey, Release: r.Release})
}

// releaseReplaced releases units that are not held as the lot any more that they were, without any share of its adjustment: a transfer
// moves another lot now, and they are held as that one.
func (l *lotMeasurer) releaseReplaced() {
	for _, h := range l.histories() {
		missing := measure.Missing(l.states[h.Unit], l.lots[h.Unit])
		replaced := money.Sum(missing...)
		for n, units := range missing {
			if units.Cmp(replaced) > 0 {
				units = replaced
			}
			if units.Sign() > 0 {
				s := &l.states[h.Unit][n]
				s.Released, replaced = append(s.Released, measure.Release{Units: units}), replaced.Sub(units)
			}
		}
	}
}

// origins reads the chain of lots from those that are held to those that were measured.
func (l *lotMeasurer) origins(ctx context.Context) (map[string]lots.Lot, error) {
	unmeasured := func(o lots.Lot) bool {
		_, measured := l.units[o.ID]
		return !measured
	}
	var ids []string
	for _, held := range l.subject.lots {
		if held.ParentID != "" && unmeasured(held) {
			ids = append(ids, held.ID)
		}
	}
	return lots.Ancestry(ctx, l.tx, ids, unmeasured)
}
