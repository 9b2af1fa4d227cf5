package realized

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// The kinds of revaluation that adjust lots, as package revaluation stores them.
const (
	fairValue   = "fair_value"
	revaluation = "revaluation"
	impairment  = "impairment"
	adoption    = "adoption"
)

// Handover is a part of a lot that became a lot of another asset, or of another legal entity, at its cost. It takes its share of the
// adjustment along, so that the new lot is carried at the same amount and nothing is realized.
type Handover struct {
	From  Key
	Kind  string        // by which the lot was measured
	State string        // the lot that was measured: the one that was handed over, or one that it was moved from
	Units money.Decimal // of that lot
	Share money.Decimal // in the currency of the legal entity that gave it
	// Surplus is the part of the share that was in the equity of the legal entity that gave it.
	Surplus money.Decimal

	To    lots.Lot
	As    string        // the kind by which the legal entity that took it over measures it
	Taken money.Decimal // the share in the currency of that legal entity
	// TakenOver is the part of it that is in no surplus: all of it, unless both measure by revaluation. TakenSurplus is the part that is.
	TakenOver, TakenSurplus money.Decimal
	Date                    time.Time // accounting date
}

// Key returns the asset and the legal entity that the handover goes to.
func (h Handover) Key() Key { return Key{h.To.LegalEntityID, h.To.AssetType} }

// Adopted is what a legal entity held of an asset when it adopted fair value, in a run that is not stored yet.
type Adopted struct {
	Key
	At     time.Time
	States []measure.State
}

// Handovers returns the handovers of adjusted lots with an accounting date from one instant on and before another, in order. What a lot
// was adjusted by is what the last run before the handover stored, less earlier handovers, or what the lot took over itself since.
// It is a building block.
func Handovers(ctx context.Context, tx *db.Tx, from, until time.Time, adopted []Adopted) ([]Handover, error) {
	t := handoverTrace{tx: tx, adopted: adopted, done: map[string]bool{}, states: map[stateKey]*measure.State{},
		stored: map[stateKey]map[string]measure.State{}}
	if err := t.read(ctx, from, until); err != nil || len(t.all) == 0 {
		return nil, err
	}
	for _, h := range t.all {
		if err := t.resolve(ctx, h); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(t.out, func(h Handover) bool { return h.Date.Before(from) }), nil
}

// Apply returns the states of an asset after handovers: less what was given, with what was taken over.
func (h History) Apply(states []measure.State, all []Handover) []measure.State {
	out, places := slices.Clone(states), places(h.Currency)
	index := func(lotID string) int {
		return slices.IndexFunc(out, func(s measure.State) bool { return s.Lot == lotID })
	}
	for _, x := range all {
		if h.Took(x) {
			if n := index(x.To.ID); n >= 0 {
				out[n].Adjustment, out[n].TakenOver = out[n].Adjustment.Add(x.Taken), out[n].TakenOver.Add(x.TakenOver)
			} else {
				out = append(out, measure.State{Lot: x.To.ID, Quantity: x.To.Quantity, Adjustment: x.Taken, TakenOver: x.TakenOver})
			}
		}
		if n := index(x.State); h.Gave(x) && n >= 0 {
			out[n].HandOver(x.Units, places)
		}
	}
	return out
}

// Gave reports whether a handover takes something out of what the history measures.
func (h History) Gave(x Handover) bool {
	return x.From == Key{h.LegalEntityID, h.Unit} && x.Kind == h.Kind && !x.Date.Before(h.Since())
}

// Took reports whether a handover adds something to what the history measures.
func (h History) Took(x Handover) bool {
	return x.Key() == Key{h.LegalEntityID, h.Unit} && x.As == h.Kind && !x.Date.Before(h.Since())
}

func places(currency string) int32 {
	n, _ := money.MinorUnits(currency)
	return n
}

// handoverTrace finds out what lots were adjusted by when they were handed over.
type handoverTrace struct {
	tx      *db.Tx
	books   *snapshot.Books
	adopted []Adopted

	all      []lots.Handover
	byLot    map[string]lots.Handover // by the lot that took over
	lots     map[string]lots.Lot
	items    []item // of all kinds that adjust lots
	policies map[string]assetpolicy.Policy

	done   map[string]bool // by the lot that took over
	states map[stateKey]*measure.State
	stored map[stateKey]map[string]measure.State // by run, kind and asset of a legal entity
	out    []Handover
}

// stateKey identifies the state of a lot: after a run, or, without a run, as it was taken over.
type stateKey struct{ run, kind, lotID string }

// measuredRun is a run and the kind by which it measured.
type measuredRun struct {
	Run
	kind string
}

// read reads the handovers and the lots that they are of. It begins earlier if something was handed over that was measured last before
// that.
func (t *handoverTrace) read(ctx context.Context, from, until time.Time) (err error) {
	if t.books, err = snapshot.Read(ctx, t.tx); err != nil {
		return err
	}
	for {
		if t.all, err = lots.Handovers(ctx, t.tx, from, until); err != nil || len(t.all) == 0 {
			return err
		}
		if err := t.readItems(ctx); err != nil {
			return err
		}
		earliest := from
		for _, h := range t.all {
			for _, kind := range []string{fairValue, revaluation, impairment} {
				if run, there := t.runBefore(kind, Key{h.LegalEntityID, h.AssetType}, h.Date); there && run.End.Before(earliest) {
					earliest = run.End
				}
			}
		}
		if !earliest.Before(from) {
			break
		}
		from = earliest
	}
	return t.readLots(ctx)
}

// readItems reads the measurements of what was handed over.
func (t *handoverTrace) readItems(ctx context.Context) (err error) {
	f := itemFilter{kinds: []string{fairValue, revaluation, impairment, adoption}}
	for _, h := range t.all {
		f.entities, f.units = append(f.entities, h.LegalEntityID), append(f.units, h.AssetType)
	}
	f.entities, f.units = distinct(f.entities), distinct(f.units)
	t.items, err = selectItems(ctx, t.tx, f)
	return err
}

func distinct(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// readLots reads the lots that were handed over with those that they were moved from, and the lots that they became.
func (t *handoverTrace) readLots(ctx context.Context) error {
	t.byLot = map[string]lots.Handover{}
	var ids []string
	for _, h := range t.all {
		t.byLot[h.ToID] = h
		ids = append(ids, h.ToID, h.FromID)
	}
	var err error
	if t.lots, err = lots.Ancestry(ctx, t.tx, ids, nil); err != nil {
		return err
	}
	var assets []string
	for _, l := range t.lots {
		assets = append(assets, l.AssetType)
	}
	t.policies, err = assetpolicy.ForAssets(ctx, t.tx, distinct(assets))
	return err
}

// resolve adds a handover to the result, once for each kind by which what was handed over had been measured. What the lot took over
// itself comes first.
func (t *handoverTrace) resolve(ctx context.Context, h lots.Handover) error {
	if t.done[h.ToID] {
		return nil
	}
	t.done[h.ToID] = true
	for at := t.lots[h.FromID]; at.ID != ""; at = t.lots[at.ParentID] {
		if earlier, there := t.byLot[at.ID]; there {
			if err := t.resolve(ctx, earlier); err != nil {
				return err
			}
		}
	}
	to := t.lots[h.ToID]
	as, err := t.kindOf(ctx, to, h.Date)
	if err != nil {
		return err
	}
	for _, kind := range []string{fairValue, revaluation, impairment} {
		state, err := t.stateOf(ctx, kind, h)
		if err != nil {
			return err
		}
		if state == nil || state.Quantity.IsZero() {
			continue
		}
		x := Handover{From: Key{h.LegalEntityID, h.AssetType}, Kind: kind, State: state.Lot, Units: h.Quantity, To: to, As: as, Date: h.Date}
		if state.Quantity.Cmp(x.Units) < 0 {
			x.Units = state.Quantity // the rest was not held when it was measured
		}
		if err := t.handOver(ctx, &x, state, h.At); err != nil {
			return err
		}
		t.out = append(t.out, x)
	}
	return nil
}

// handOver moves the share of the adjustment from the state of the lot to the one that it became. What was in earnings stays there, and
// only between revalued lots a surplus goes along.
func (t *handoverTrace) handOver(ctx context.Context, x *Handover, state *measure.State, at time.Time) (err error) {
	from, to := t.books.Entities[x.From.LegalEntityID].BaseCurrency, t.books.Entities[x.To.LegalEntityID].BaseCurrency
	surplus := state.Surplus()
	given := state.HandOver(x.Units, places(from))
	if x.Share = given.Share; x.Kind == revaluation {
		x.Surplus = surplus.Sub(state.Surplus())
	}
	if x.Taken, err = t.convert(ctx, x.Share, from, to, at); err != nil {
		return err
	}
	x.TakenOver = x.Taken
	if x.Kind == revaluation && x.As == revaluation {
		if x.TakenOver, err = t.convert(ctx, given.TakenOver, from, to, at); err != nil {
			return err
		}
	}
	t.takeOver(x)
	return nil
}

// takeOver adds what a lot took over to its state.
func (t *handoverTrace) takeOver(x *Handover) {
	key := stateKey{kind: x.As, lotID: x.To.ID}
	if t.states[key] == nil {
		t.states[key] = &measure.State{Lot: x.To.ID, Quantity: x.To.Quantity}
	}
	s := t.states[key]
	surplus := s.Surplus()
	s.Adjustment, s.TakenOver = s.Adjustment.Add(x.Taken), s.TakenOver.Add(x.TakenOver)
	if x.As == revaluation {
		x.TakenSurplus = s.Surplus().Sub(surplus)
	}
}

// kindOf returns the kind by which a legal entity measures a lot that it took over on a day. One that measures nothing keeps it on
// the account of impairments.
func (t *handoverTrace) kindOf(ctx context.Context, to lots.Lot, date time.Time) (string, error) {
	e := t.books.Entities[to.LegalEntityID]
	key := calendar.MonthOf(date, t.books.Zone).Key()
	measurement, _, err := entity.MeasurementOn(ctx, t.tx, e, key+"-01")
	switch {
	case measurement != entity.MeasuredAtFairValue:
		return impairment, err
	case e.Framework == entity.FrameworkIFRS:
		return revaluation, err
	case t.policies[to.AssetType].InScope:
		return fairValue, err
	}
	return impairment, err
}

// convert converts an amount at the rate of the day on which a lot was handed over, at which its cost was converted too.
func (t *handoverTrace) convert(ctx context.Context, amount money.Decimal, from, to string, at time.Time) (money.Decimal, error) {
	if from == to || amount.IsZero() {
		return amount, nil
	}
	day := calendar.DateOf(at, t.books.Zone)
	rate, there, err := fx.Rate(ctx, t.tx, from, to, day)
	if err == nil && !there {
		err = fmt.Errorf("there is no exchange rate from %s to %s of %s, at which an intercompany transfer was booked", from, to, day)
	}
	return amount.Mul(rate).Round(places(to)), err
}

// stateOf returns the state of what was handed over: that of the lot, or of the one that it was moved from, after the last run before
// the handover, or as it was taken over since. It returns nil if it was not measured by the kind.
func (t *handoverTrace) stateOf(ctx context.Context, kind string, h lots.Handover) (*measure.State, error) {
	of := Key{h.LegalEntityID, h.AssetType}
	run, measured := t.runBefore(kind, of, h.Date)
	var stored map[string]measure.State
	if measured {
		var err error
		if stored, err = t.storedStates(ctx, run, of); err != nil {
			return nil, err
		}
	}
	for at := t.lots[h.FromID]; at.LegalEntityID == of.LegalEntityID && at.AssetType == of.AssetType; at = t.lots[at.ParentID] {
		if s, there := stored[at.ID]; there {
			key := stateKey{run.ID, run.kind, at.ID}
			if t.states[key] == nil {
				t.states[key] = &s
			}
			return t.states[key], nil
		}
		if earlier, there := t.byLot[at.ID]; there {
			if measured && earlier.Date.Before(run.End) {
				return nil, nil
			}
			return t.states[stateKey{kind: kind, lotID: at.ID}], nil
		}
	}
	return nil, nil
}

// runBefore returns the last run of a kind that measured an asset before an instant, and whether there is one. The adoption of fair
// value is a run at the beginning of its period, and ends how the asset was measured before.
func (t *handoverTrace) runBefore(kind string, of Key, before time.Time) (out measuredRun, there bool) {
	consider := func(runID, by string, end time.Time) {
		if !end.After(before) && !end.Before(out.End) {
			out, there = measuredRun{Run{runID, end}, by}, by == kind || kind == fairValue
		}
	}
	for _, i := range t.items {
		month, known := t.books.Period(i.key)
		switch {
		case Key{i.legalEntityID, i.unit} != of || !known:
		case i.kind == kind:
			consider(i.runID, i.kind, month.End)
		case i.kind == adoption && kind != revaluation:
			consider(i.runID, i.kind, month.Start)
		}
	}
	for _, a := range t.adopted {
		if a.Key == of && kind != revaluation {
			consider("", adoption, a.At)
		}
	}
	return out, there
}

// storedStates returns the lots of an asset as a run left them.
func (t *handoverTrace) storedStates(ctx context.Context, run measuredRun, of Key) (map[string]measure.State, error) {
	key := stateKey{run.ID, run.kind, of.LegalEntityID + " " + of.AssetType}
	if known, there := t.stored[key]; there {
		return known, nil
	}
	out := map[string]measure.State{}
	for _, a := range t.adopted {
		if run.ID == "" && a.Key == of {
			for _, s := range a.States {
				out[s.Lot] = s
			}
		}
	}
	if run.ID != "" {
		var err error
		h := History{LegalEntityID: of.LegalEntityID, Kind: run.kind, Unit: of.AssetType, Runs: []Run{run.Run}}
		if out, err = selectStates(ctx, t.tx, h); err != nil {
			return nil, err
		}
	}
	t.stored[key] = out
	return out, nil
}
