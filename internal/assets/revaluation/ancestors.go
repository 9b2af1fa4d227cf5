package revaluation

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// ancestor is the lot that a lot was when it was measured last. One unit of the lot was factor units of the ancestor.
type ancestor struct {
	lot    string
	factor money.Decimal
}

// generationsMax bounds how often a lot can have been moved since it was measured; more would be a cycle.
const generationsMax = 1000

// factorDigits is the number of decimal places of the ratio of a conversion.
const factorDigits = 30

// ancestors returns the ancestor of each lot: itself, or the lot that it was moved or converted from since.
func (l *lotMeasurer) ancestors(ctx context.Context) (map[string]ancestor, error) {
	out, histories := map[string]ancestor{}, l.histories()
	if len(l.units) == 0 && len(histories) == 0 {
		return out, nil
	}
	known, err := l.origins(ctx)
	if err != nil {
		return nil, err
	}
	ratios, err := l.ratios(ctx, known)
	if err != nil {
		return nil, err
	}
	for _, held := range l.subject.lots {
		at, factor := held.ID, money.FromInt(1)
		for range generationsMax {
			if _, measured := l.units[at]; measured {
				out[held.ID] = ancestor{at, factor}
				break
			}
			o, there := known[at]
			if !there || o.ParentID == "" || o.LegalEntityID != l.ID {
				break
			}
			if known[o.ParentID].AssetType != o.AssetType {
				ratio, told := ratios[at]
				if !told {
					break
				}
				factor = factor.Mul(ratio).Round(factorDigits)
			}
			at = o.ParentID
		}
	}
	for _, h := range histories {
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
	for key, items := range l.earlier {
		h := realized.History{LegalEntityID: l.ID, Kind: key[0], Unit: key[1], Currency: l.BaseCurrency}
		for _, at := range items {
			if month, there := l.books.Period(at.Key); there && !l.precedes(at) {
				h.Runs = append(h.Runs, realized.Run{ID: at.RunID, End: month.End})
			}
		}
		if key[0] == string(l.group.kind) && len(h.Runs) > 0 {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b realized.History) int { return strings.Compare(a.Unit, b.Unit) })
	return out
}

// restore adds the ancestors of lots that are held again. Nothing was left of them at the last measurement, because a disposal had
// consumed them that consumes another lot now. Each unit has the adjustment that it had when it was measured last, and prices since
// then count. For a lot of before that was never measured, because it was booked late, prices since the first measurement count.
func (l *lotMeasurer) restore(ctx context.Context, h realized.History, known map[string]lots.Lot, out map[string]ancestor) error {
	chains, all := map[string][]string{}, []string{}
	for _, held := range l.subject.lots {
		if _, there := out[held.ID]; there || held.AssetType != h.Unit || !held.AcquiredAt.Before(h.Runs[0].End) {
			continue
		}
		var acquired bool
		chains[held.ID], acquired = l.chain(held.ID, known)
		if all = append(all, chains[held.ID]...); acquired {
			l.since[held.ID] = l.firstMeasured(h)
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
		out[heldID], l.since[heldID] = ancestor{state.Lot, money.FromInt(1)}, runs[state.Lot].End
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
	for len(out) < generationsMax {
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
			s.Released = append(s.Released, measure.Release{Units: r.Quantity, Share: r.Share})
		}
	}
	return nil
}

// releaseReplaced releases units that are not held as the lot any more that they were, without any share of its adjustment: a transfer
// moves another lot now, and they are held as that one. Units that became another asset or went to another legal entity are not
// among them.
func (l *lotMeasurer) releaseReplaced(ctx context.Context) error {
	for _, h := range l.histories() {
		missing := measure.Missing(l.states[h.Unit], l.lots[h.Unit])
		replaced := money.Sum(missing...)
		if replaced.Sign() <= 0 {
			continue
		}
		left, err := l.left(ctx, h)
		if err != nil {
			return err
		}
		replaced = replaced.Sub(left)
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
	return nil
}

// usesMax is how many uses are read at once.
const usesMax = 1000

// left returns how many units became another asset or went to another legal entity since the last measurement.
func (l *lotMeasurer) left(ctx context.Context, h realized.History) (sum money.Decimal, err error) {
	byEntry := map[string]money.Decimal{}
	f := lots.UseFilter{LegalEntityIDs: []string{l.ID}, AssetTypes: []string{h.Unit}, From: h.Runs[0].End, Until: l.asOf.Add(time.Millisecond)}
	for after := (*lots.UseCursor)(nil); ; {
		uses, err := lots.ListUses(ctx, l.tx, f, after, usesMax)
		if err != nil {
			return sum, err
		}
		for _, u := range uses {
			if !u.Realizes() && u.Kind != lots.Relocated && u.LotID != "" {
				byEntry[u.JournalEntryID] = byEntry[u.JournalEntryID].Add(u.Quantity)
			}
			after = &lots.UseCursor{Date: u.AccountingDate, ID: u.ID}
		}
		if len(uses) < usesMax {
			break
		}
	}
	created, err := lots.OfEntries(ctx, l.tx, slices.Sorted(maps.Keys(byEntry))...)
	for _, o := range created {
		if o.LegalEntityID == l.ID && o.AssetType == h.Unit {
			delete(byEntry, o.JournalEntryID)
		}
	}
	for _, units := range byEntry {
		sum = sum.Add(units)
	}
	if sum.Sign() < 0 {
		sum = money.Decimal{}
	}
	return sum, err
}

// origins reads the chain of lots from those that are held to those that were measured.
func (l *lotMeasurer) origins(ctx context.Context) (map[string]lots.Lot, error) {
	known := map[string]lots.Lot{}
	var next []string
	for _, held := range l.subject.lots {
		if _, measured := l.units[held.ID]; !measured && held.ParentID != "" {
			next = append(next, held.ID)
		}
	}
	for range generationsMax {
		if len(next) == 0 {
			break
		}
		found, err := lots.ByID(ctx, l.tx, next)
		if err != nil {
			return nil, err
		}
		above := map[string]bool{}
		for _, o := range found {
			known[o.ID] = o
			if _, measured := l.units[o.ID]; !measured && o.ParentID != "" {
				above[o.ParentID] = true
			}
		}
		next = nil
		for lotID := range above {
			if _, there := known[lotID]; !there {
				next = append(next, lotID)
			}
		}
	}
	return known, nil
}

// ratios returns, for lots that were created by a conversion, how much of the other asset one unit of them was.
func (l *lotMeasurer) ratios(ctx context.Context, known map[string]lots.Lot) (map[string]money.Decimal, error) {
	var parents []string
	for _, o := range known {
		if above, there := known[o.ParentID]; there && above.AssetType != o.AssetType {
			parents = append(parents, above.ID)
		}
	}
	if len(parents) == 0 {
		return nil, nil
	}
	uses, err := selectConverted(ctx, l.tx, parents)
	if err != nil {
		return nil, err
	}
	used := map[[2]string]money.Decimal{}
	for _, u := range uses {
		used[[2]string{u.LotID, u.EntryID}] = u.Quantity
	}
	out := map[string]money.Decimal{}
	for _, o := range known {
		above, there := known[o.ParentID]
		if quantity, converted := used[[2]string{above.ID, o.JournalEntryID}]; there && converted && above.AssetType != o.AssetType &&
			!o.Quantity.IsZero() {
			out[o.ID] = quantity.Quo(o.Quantity, factorDigits)
		}
	}
	return out, nil
}
