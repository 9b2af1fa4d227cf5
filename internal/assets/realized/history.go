package realized

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// History is how an asset of a legal entity was measured by lot before some period.
type History struct {
	LegalEntityID, Kind, Unit, Currency string
	Runs                                []Run // in force, the latest first
	// From is when the legal entity was measured last, if there are no runs: the asset was taken over since.
	From time.Time
	// booked is the run that followed, if it is known what was disposed of until then. Late events may have replaced lots since.
	booked []Run
}

// Since returns the end of the latest run. What happened from then on changes the lots that it measured.
func (h History) Since() time.Time {
	if len(h.Runs) == 0 {
		return h.From
	}
	return h.Runs[0].End
}

// Run is a revaluation of a period that ends at an instant.
type Run struct {
	ID  string
	End time.Time
}

// Released is a disposal since the latest run, and the share of the adjustment of its lot that it releases.
type Released struct {
	lots.Use
	State *measure.State // the state that it has a share of; nil if its lot was not measured before
	measure.Release
	Lost  bool // nothing is known of its lot: it does not exist any more, or took over from another one than it did then
	Later bool // it was booked after the run that followed, which released nothing for it
}

// Releases returns what was disposed of since the latest run and before an instant, in the order of dates; those booked after
// the following run come last. current are the lots after the latest run and after handovers.
//
// What leaves releases its share of the adjustment that is in the books. If a disposal of before is corrected, because it consumed
// another lot, the units come back as they left: with their share of the adjustment before the disposal. It is a building block.
func (h History) Releases(ctx context.Context, tx *db.Tx, current map[string]measure.State, before time.Time) ([]Released, error) {
	var out []Released
	err := eachUse(ctx, tx, lots.UseFilter{LegalEntityIDs: []string{h.LegalEntityID}, AssetTypes: []string{h.Unit},
		From: h.Since(), Until: before, Realized: true}, func(uses []lots.Use) error {
		for _, u := range uses {
			out = append(out, Released{Use: u})
		}
		return nil
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	out, later := h.splitLater(out)
	t, err := h.trace(ctx, tx, current, out)
	if err != nil {
		return nil, err
	}
	places, _ := money.MinorUnits(h.Currency)
	groups := map[*measure.State][]int{}
	corrected := correctedUses(out)
	for i, r := range out {
		switch booked := t.booked[releaseKey{r.LotID, r.OrderKey}]; {
		case booked != nil:
			out[i].State = booked
		case corrected[consumedLot(r.Use)]:
			out[i].State = t.stateBefore(r.Use)
		default:
			out[i].State = t.state(r.LotID)
		}
		if out[i].Lost = out[i].State == nil && r.LotID != "" && t.isUnknown(r.LotID); out[i].State != nil {
			groups[out[i].State] = append(groups[out[i].State], i)
		}
	}
	for s, indexes := range groups {
		disposed := make([]money.Decimal, len(indexes))
		for n, i := range indexes {
			disposed[n] = out[i].Quantity
		}
		for n, release := range s.Shares(disposed, places) {
			out[indexes[n]].Release = release
		}
	}
	return append(out, later...), nil
}

// splitLater separates disposals that were booked after the run that followed, if that is known.
func (h History) splitLater(all []Released) (before, later []Released) {
	for _, r := range all {
		if r.Later = len(h.booked) > 0 && id.Later(r.ID, h.booked[0].ID); r.Later {
			later = append(later, r)
		} else {
			before = append(before, r)
		}
	}
	return before, later
}

// useKey identifies what a consumption took from a lot.
type useKey struct {
	pool  string
	at    lot.OrderKey
	lotID string
}

func consumedLot(u lots.Use) useKey { return useKey{u.Pool, u.OrderKey, u.LotID} }

// correctedUses returns what was taken back from consumptions.
func correctedUses(all []Released) map[useKey]bool {
	out := map[useKey]bool{}
	for _, r := range all {
		if r.Quantity.Sign() < 0 {
			out[consumedLot(r.Use)] = true
		}
	}
	return out
}

// Earlier returns the last state of lots before the latest run, as far as they were measured, and the run. It is a building block.
func (h History) Earlier(ctx context.Context, tx *db.Tx, lotIDs []string) (map[string]measure.State, map[string]Run, error) {
	t := trace{history: h, measured: map[string][]measuredLot{}}
	if err := t.read(ctx, tx, lotIDs); err != nil {
		return nil, nil, err
	}
	states, runs := map[string]measure.State{}, map[string]Run{}
	for lotID, measured := range t.measured {
		states[lotID], runs[lotID] = *measured[0].state, measured[0].run
	}
	return states, runs, nil
}

// trace is what is known of lots that were disposed of.
type trace struct {
	history  History
	current  map[string]*measure.State
	exists   map[string]bool
	parents  map[string]string             // by lot, the one that it was moved from within the legal entity
	foreign  map[string]bool               // by lot, whether it was another asset before, or of another legal entity
	measured map[string][]measuredLot      // by lot, by runs before the latest, the latest first
	released map[releaseKey]*measure.State // by earlier runs
	booked   map[releaseKey]*measure.State // by the run that followed
}

// measuredLot is a lot as a run left it.
type measuredLot struct {
	run   Run
	state *measure.State
}

// trace reads what is known of the lots of disposals.
func (h History) trace(ctx context.Context, tx *db.Tx, current map[string]measure.State, disposals []Released) (*trace, error) {
	t := &trace{history: h, current: map[string]*measure.State{}, exists: map[string]bool{}, parents: map[string]string{},
		foreign: map[string]bool{}, measured: map[string][]measuredLot{}}
	for lotID, s := range current {
		t.current[lotID], t.exists[lotID] = &s, true
	}
	corrected, earlier, next := correctedUses(disposals), map[string]bool{}, map[string]bool{}
	var all, restored []string // lots, and those of disposals of before the latest run
	for _, r := range disposals {
		all = append(all, r.LotID)
		if r.LotID != "" && (t.current[r.LotID] == nil || corrected[consumedLot(r.Use)]) {
			next[r.LotID] = true
			if r.AcquiredAt.Before(h.Since()) { // or no run can have measured it
				earlier[r.LotID] = true
			}
		}
		if corrected[consumedLot(r.Use)] && r.DisposedAt.Before(h.Since()) {
			restored = append(restored, r.LotID)
		}
	}
	for range lots.GenerationsMax {
		found, err := lots.ByID(ctx, tx, slices.Sorted(maps.Keys(next)))
		if err != nil {
			return nil, err
		}
		clear(next)
		for _, l := range found {
			t.exists[l.ID] = true
			t.foreign[l.ID] = l.LegalEntityID != h.LegalEntityID || l.AssetType != h.Unit
			if l.ParentID != "" && l.LegalEntityID == h.LegalEntityID && l.AssetType == h.Unit {
				t.parents[l.ID] = l.ParentID
				next[l.ParentID] = t.parents[l.ParentID] == ""
				if earlier[l.ID] {
					earlier[l.ParentID] = true
				}
			}
		}
		if maps.DeleteFunc(next, func(_ string, look bool) bool { return !look }); len(next) == 0 {
			break
		}
	}
	err := t.read(ctx, tx, slices.Sorted(maps.Keys(earlier)))
	if err != nil {
		return nil, err
	}
	if t.released, err = selectReleases(ctx, tx, h, h.Runs, distinct(restored)); err != nil {
		return nil, err
	}
	t.booked, err = selectReleases(ctx, tx, h, h.booked, distinct(all))
	return t, err
}

// read reads the states of lots after the runs before the latest one.
func (t *trace) read(ctx context.Context, tx *db.Tx, lotIDs []string) error {
	if len(t.history.Runs) < 2 || len(lotIDs) == 0 {
		return nil
	}
	rows, err := selectRows(ctx, tx, t.history, t.history.Runs[1:], lotIDs)
	if err != nil {
		return err
	}
	for _, run := range t.history.Runs[1:] {
		for _, r := range rows {
			if r.RunID == run.ID {
				s := r.state()
				s.Gone = true
				t.measured[r.LotID] = append(t.measured[r.LotID], measuredLot{run, &s})
			}
		}
	}
	return nil
}

// chain returns a lot and the lots that it was moved from, itself first.
func (t *trace) chain(lotID string) []string {
	out := []string{lotID}
	for len(out) < lots.GenerationsMax && t.parents[lotID] != "" {
		lotID = t.parents[lotID]
		out = append(out, lotID)
	}
	return out
}

// isUnknown reports whether a lot does not exist any more, or came from another asset or legal entity.
func (t *trace) isUnknown(lotID string) bool {
	chain := t.chain(lotID)
	return !t.exists[lotID] || t.foreign[chain[len(chain)-1]]
}

// state returns the state of a lot, or of the lot that it was moved from: after the latest run or, if it was not held then, after
// the last run that measured it. It returns nil if there is none.
func (t *trace) state(lotID string) *measure.State {
	for _, at := range t.chain(lotID) {
		if s := t.current[at]; s != nil {
			return s
		}
	}
	for _, at := range t.chain(lotID) {
		if measured := t.measured[at]; len(measured) > 0 {
			return measured[0].state
		}
	}
	return nil
}

// stateBefore returns the state of a lot, or of the lot that it was moved from, at the time of a disposal, nil if there is none. What was
// moved or taken over in the month of the disposal was not measured as that lot, which may not exist any more; what the run of that month
// released is known.
func (t *trace) stateBefore(u lots.Use) *measure.State {
	if !u.DisposedAt.Before(t.history.Since()) {
		return t.state(u.LotID)
	}
	for _, at := range t.chain(u.LotID) {
		for _, m := range t.measured[at] {
			if !u.DisposedAt.Before(m.run.End) {
				return m.state
			}
		}
	}
	return t.released[releaseKey{u.LotID, u.OrderKey}]
}
