package holdings

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// TaxLotsParams say as of when lots are listed: a date or an instant, now without one.
type TaxLotsParams struct {
	Filter
	AsOf string
}

func (p TaxLotsParams) check(faults *fault.List) { checkTime(faults, "as_of", p.AsOf) }

// TaxLot is a lot of which something was left.
type TaxLot struct {
	LotState
	Term       lot.Term // had it been disposed of then
	UnitCost   money.Decimal
	Worth      Worth
	Unrealized *money.Decimal
}

// unitPlaces is to how many digits the cost of one unit is shown.
const unitPlaces = 18

// AssetTaxLots lists lots of which something was left, by legal entity, asset and the date they were acquired.
func (s *Service) AssetTaxLots(ctx context.Context, p TaxLotsParams, pr page.Request) (page.Page[TaxLot], error) {
	key := func(l TaxLot) []string { return l.LotState.key() }
	return report(ctx, s, "asset-tax-lots", p, pr, key, func(ctx context.Context, tx *db.Tx, s *scope, after []string,
		limit int) ([]TaxLot, error) {
		end := s.until(p.AsOf, tx.Now())
		w := walk{filter: s.Filter, end: end}
		lots, err := w.page(ctx, tx, after, limit)
		if err != nil {
			return nil, err
		}
		err = average(ctx, tx, end, lots, func(f Filter) ([]Position, error) { return s.positionsAt(ctx, tx, end, f, nil, 0) })
		if err != nil {
			return nil, err
		}
		return s.taxed(ctx, tx, end, lots)
	})
}

// TaxLot gives one lot as AssetTaxLots would list it, also when nothing of it was left. One that had not come yet is missing.
func (s *Service) TaxLot(ctx context.Context, lotID, asOf string) (out TaxLot, end time.Time, err error) {
	var faults fault.List
	if checkTime(&faults, "as_of", asOf); faults.Err() != nil {
		return out, end, faults.Err()
	}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		kept, err := lots.Find(ctx, tx, lotID)
		if err != nil {
			return err
		}
		covered, err := cover(ctx, tx, Filter{LegalEntityIDs: []string{kept.LegalEntityID}})
		if err != nil {
			return err
		}
		end = covered.until(asOf, tx.Now())
		l, there, err := selectLot(ctx, tx, lotID, end)
		if err != nil {
			return err
		}
		if !there {
			return fault.Missing("asset")
		}
		lots := []LotState{l}
		if l.RemainingQuantity.IsZero() {
			lots[0].RemainingBasis = money.Decimal{}
		} else if err := average(ctx, tx, end, lots, func(f Filter) ([]Position, error) {
			return covered.positionsAt(ctx, tx, end, f, nil, 0)
		}); err != nil {
			return err
		}
		taxed, err := covered.taxed(ctx, tx, end, lots)
		if err == nil {
			out = taxed[0]
		}
		return err
	})
	return out, end, err
}

// taxed says what lots are worth, and what they would be taxed as.
func (s *scope) taxed(ctx context.Context, tx *db.Tx, end time.Time, lots []LotState) ([]TaxLot, error) {
	at := end.Add(-time.Millisecond)
	var wanted []named
	for _, l := range lots {
		wanted = append(wanted, named{l.AssetType, l.Currency})
	}
	prices, err := pricesAt(ctx, tx, at, wanted)
	if err != nil {
		return nil, err
	}
	out := make([]TaxLot, len(lots))
	for i, l := range lots {
		t := TaxLot{LotState: l, Worth: worthOf(at, prices[named{l.AssetType, l.Currency}], l.RemainingQuantity, l.Currency)}
		_, t.Term = lot.HoldingPeriod(l.AcquiredAt, at, s.zone)
		if !l.Quantity.IsZero() {
			t.UnitCost = l.CostBasis.Quo(l.Quantity, unitPlaces)
		}
		t.Unrealized = t.Worth.less(l.RemainingBasis)
		out[i] = t
	}
	return out, nil
}

// key is the order of lots.
func (l LotState) key() []string {
	return []string{l.LegalEntityID, l.AssetType, clock.Format(l.AcquiredAt), l.LotID}
}

// walk reads the lots held at a time: asset by asset, and of each asset those at the few interval nodes that contain the
// time (see calendar.IntervalNode; the column is life).
type walk struct {
	filter Filter
	end    time.Time // the first instant after; zero where nothing is
	nodes  []string  // interval nodes of lots that were emptied since
}

// page reads up to limit lots after a key, or all after it where there is no limit.
func (w *walk) page(ctx context.Context, tx *db.Tx, after []string, limit int) ([]LotState, error) {
	if err := w.begin(ctx, tx); err != nil {
		return nil, err
	}
	var from *mark
	o := owned{}
	if after != nil {
		at, err := time.Parse(time.RFC3339, after[2])
		if err != nil {
			return nil, fault.Invalidf("cursor", "is not a cursor of this list")
		}
		from, o = &mark{at, after[3]}, owned{after[0], after[1]}
	}
	var out []LotState
	for {
		if from == nil {
			var err error
			if o, err = selectOwned(ctx, tx, w.filter, o); errors.Is(err, errNone) {
				return out, nil
			} else if err != nil {
				return nil, err
			}
		}
		lots, err := w.asset(ctx, tx, o, from, limit-len(out))
		if err != nil {
			return nil, err
		}
		if out = append(out, lots...); limit > 0 && len(out) >= limit {
			return out, nil
		}
		from = nil
	}
}

// begin finds the nodes to read. If nothing was consumed since, what is left now is what was left then.
func (w *walk) begin(ctx context.Context, tx *db.Tx) error {
	if w.end.IsZero() {
		return nil
	}
	later, err := anyUseSince(ctx, tx, w.end)
	if err != nil || !later {
		return err
	}
	for _, node := range calendar.NodesContaining(w.end.Add(-time.Millisecond)) {
		w.nodes = append(w.nodes, strconv.FormatInt(node, 10))
	}
	return nil
}

// open is the node of lots of which something is left.
const open = "0"

// mark is a place among the lots of an asset.
type mark struct {
	acquiredAt time.Time
	lotID      string
}

// asset reads lots of one asset of a legal entity. Each node is read in order, and the pages are merged.
func (w *walk) asset(ctx context.Context, tx *db.Tx, o owned, from *mark, limit int) ([]LotState, error) {
	nodes := []string{open}
	if len(w.nodes) > 0 {
		some, err := selectNodes(ctx, tx, o, w.nodes, w.end)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, some...)
	}
	var out []LotState
	for _, node := range nodes {
		lots, err := w.node(ctx, tx, o, node, from, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, lots...)
	}
	slices.SortFunc(out, func(a, b LotState) int {
		if c := a.AcquiredAt.Compare(b.AcquiredAt); c != 0 {
			return c
		}
		return strings.Compare(a.LotID, b.LotID)
	})
	return atMost(out, limit), nil
}

// node reads lots at one node. Some had nothing left, so that it goes on until there are enough.
func (w *walk) node(ctx context.Context, tx *db.Tx, o owned, node string, from *mark, limit int) ([]LotState, error) {
	var out []LotState
	for {
		rows, err := selectLots(ctx, tx, w, o, node, from, limit)
		if err != nil {
			return nil, err
		}
		for _, l := range rows {
			if l.RemainingQuantity.Sign() != 0 {
				out = append(out, l)
			}
		}
		if n := len(rows); limit <= 0 || n < limit || len(out) >= limit {
			return out, nil
		}
		last := rows[len(rows)-1]
		from = &mark{last.AcquiredAt, last.LotID}
	}
}
