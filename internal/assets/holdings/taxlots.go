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

// TaxLotsParams are the parameters of tax lots. AsOf is a date or an instant; the default is now.
type TaxLotsParams struct {
	Filter
	AsOf string
}

func (p TaxLotsParams) validate(faults *fault.List) { validateTime(faults, "as_of", p.AsOf) }

// TaxLot is an open lot with its value.
type TaxLot struct {
	LotState
	Term       lot.Term // of a disposal at that time
	UnitCost   money.Decimal
	Worth      Worth
	Unrealized *money.Decimal
}

// unitPlaces is the number of decimal places of the cost of one unit.
const unitPlaces = 18

// AssetTaxLots returns a page of the lots that were open, by legal entity, asset and date of acquisition.
func (s *Service) AssetTaxLots(ctx context.Context, p TaxLotsParams, pr page.Request) (page.Page[TaxLot], error) {
	key := func(l TaxLot) []string { return l.LotState.key() }
	return report(ctx, s, "asset-tax-lots", p, pr, key, func(ctx context.Context, tx *db.Tx, s *scope, after []string,
		limit int) ([]TaxLot, error) {
		end := s.endOf(p.AsOf, tx.Now())
		w := lotReader{filter: s.Filter, end: end}
		lots, err := w.readPage(ctx, tx, after, limit)
		if err != nil {
			return nil, err
		}
		err = applyAverages(ctx, tx, end, lots, func(f Filter) ([]Position, error) { return s.positionsAt(ctx, tx, end, f, nil, 0) })
		if err != nil {
			return nil, err
		}
		return s.taxLots(ctx, tx, end, lots)
	})
}

// TaxLot returns one lot as AssetTaxLots would list it, even if it was empty. It returns an error of kind NotFound for a lot
// that did not exist yet.
func (s *Service) TaxLot(ctx context.Context, lotID, asOf string) (out TaxLot, end time.Time, err error) {
	var faults fault.List
	if validateTime(&faults, "as_of", asOf); faults.Err() != nil {
		return out, end, faults.Err()
	}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		kept, err := lots.Find(ctx, tx, lotID)
		if err != nil {
			return err
		}
		covered, err := newScope(ctx, tx, Filter{LegalEntityIDs: []string{kept.LegalEntityID}})
		if err != nil {
			return err
		}
		end = covered.endOf(asOf, tx.Now())
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
		} else if err := applyAverages(ctx, tx, end, lots, func(f Filter) ([]Position, error) {
			return covered.positionsAt(ctx, tx, end, f, nil, 0)
		}); err != nil {
			return err
		}
		taxLots, err := covered.taxLots(ctx, tx, end, lots)
		if err == nil {
			out = taxLots[0]
		}
		return err
	})
	return out, end, err
}

// taxLots adds values and terms to lots.
func (s *scope) taxLots(ctx context.Context, tx *db.Tx, end time.Time, lots []LotState) ([]TaxLot, error) {
	at := end.Add(-time.Millisecond)
	var wanted []assetCurrency
	for _, l := range lots {
		wanted = append(wanted, assetCurrency{l.AssetType, l.Currency})
	}
	prices, err := pricesAt(ctx, tx, at, wanted)
	if err != nil {
		return nil, err
	}
	out := make([]TaxLot, len(lots))
	for i, l := range lots {
		t := TaxLot{LotState: l, Worth: worthOf(at, prices[assetCurrency{l.AssetType, l.Currency}], l.RemainingQuantity, l.Currency)}
		_, t.Term = lot.HoldingPeriod(l.AcquiredAt, at, s.zone)
		if !l.Quantity.IsZero() {
			t.UnitCost = l.CostBasis.Quo(l.Quantity, unitPlaces)
		}
		t.Unrealized = t.Worth.minus(l.RemainingBasis)
		out[i] = t
	}
	return out, nil
}

// key returns the sort key of lots.
func (l LotState) key() []string {
	return []string{l.LegalEntityID, l.AssetType, clock.Format(l.AcquiredAt), l.LotID}
}

// lotReader reads the lots that were held at a time: asset by asset, and of each asset those at the few interval nodes that contain the
// time (see calendar.IntervalNode; the column is life).
type lotReader struct {
	filter Filter
	end    time.Time // the first instant after that time; zero to read the lots of now
	nodes  []string  // interval nodes of lots that were emptied since
}

// readPage reads up to limit lots after a key, or all of them without a limit.
func (w *lotReader) readPage(ctx context.Context, tx *db.Tx, after []string, limit int) ([]LotState, error) {
	if err := w.findNodes(ctx, tx); err != nil {
		return nil, err
	}
	var from *lotCursor
	o := entityAsset{}
	if after != nil {
		at, err := time.Parse(time.RFC3339, after[2])
		if err != nil {
			return nil, fault.Invalidf("cursor", "is not a cursor of this list")
		}
		from, o = &lotCursor{at, after[3]}, entityAsset{after[0], after[1]}
	}
	var out []LotState
	for {
		if from == nil {
			var err error
			if o, err = selectNextAsset(ctx, tx, w.filter, o); errors.Is(err, errNoMore) {
				return out, nil
			} else if err != nil {
				return nil, err
			}
		}
		lots, err := w.readAsset(ctx, tx, o, from, limit-len(out))
		if err != nil {
			return nil, err
		}
		if out = append(out, lots...); limit > 0 && len(out) >= limit {
			return out, nil
		}
		from = nil
	}
}

// findNodes sets the nodes to read. If nothing was consumed since, there are none: the lots that are open now were open then.
func (w *lotReader) findNodes(ctx context.Context, tx *db.Tx) error {
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

// openNode is the node of open lots.
const openNode = "0"

// lotCursor is a position among the lots of an asset.
type lotCursor struct {
	acquiredAt time.Time
	lotID      string
}

// readAsset reads the lots of one asset of a legal entity. It reads each node in order and merges the results.
func (w *lotReader) readAsset(ctx context.Context, tx *db.Tx, o entityAsset, from *lotCursor, limit int) ([]LotState, error) {
	nodes := []string{openNode}
	if len(w.nodes) > 0 {
		some, err := selectNodes(ctx, tx, o, w.nodes, w.end)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, some...)
	}
	var out []LotState
	for _, node := range nodes {
		lots, err := w.readNode(ctx, tx, o, node, from, limit)
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

// readNode reads the lots at one node. Lots that were empty are left out, so it reads on until there are enough.
func (w *lotReader) readNode(ctx context.Context, tx *db.Tx, o entityAsset, node string, from *lotCursor, limit int) ([]LotState, error) {
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
		from = &lotCursor{last.AcquiredAt, last.LotID}
	}
}
