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
	lots.Lot
	Averaged   bool     // RemainingBasis is its share of the basis of its pool
	Term       lot.Term // of a disposal at that time
	UnitCost   money.Decimal
	Worth      Worth
	Unrealized *money.Decimal
}

// unitPlaces is the number of decimal places of the cost of one unit.
const unitPlaces = 18

// AssetTaxLots returns a page of the lots that were open, by legal entity, asset and date of acquisition.
func (s *Service) AssetTaxLots(ctx context.Context, p TaxLotsParams, pr page.Request) (page.Page[TaxLot], error) {
	key := func(l TaxLot) []string { return lotKey(l.Lot) }
	read := func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]TaxLot, error) {
		end := s.endOf(p.AsOf, tx.Now())
		w := lotReader{filter: s.Filter, end: end}
		held, err := w.readPage(ctx, tx, after, limit)
		if err != nil {
			return nil, err
		}
		positions := func(f Filter) ([]Position, error) { return s.positionsAt(ctx, tx, end, f, nil, 0) }
		averaged, err := applyAverages(ctx, tx, end, held, positions)
		if err != nil {
			return nil, err
		}
		return s.taxLots(ctx, tx, end, held, averaged)
	}
	return report(ctx, s, "asset-tax-lots", p, pr, key, read)
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
		l, there, err := lots.GetHeld(ctx, tx, lotID, end)
		if err != nil {
			return err
		}
		if !there {
			return fault.Missing("asset")
		}
		held := []lots.Lot{l}
		var averaged map[string]bool
		if l.RemainingQuantity.IsZero() {
			held[0].RemainingBasis = money.Decimal{}
		} else if averaged, err = applyAverages(ctx, tx, end, held, func(f Filter) ([]Position, error) {
			return covered.positionsAt(ctx, tx, end, f, nil, 0)
		}); err != nil {
			return err
		}
		taxLots, err := covered.taxLots(ctx, tx, end, held, averaged)
		if err == nil {
			out = taxLots[0]
		}
		return err
	})
	return out, end, err
}

// taxLots adds values and terms to lots.
func (s *scope) taxLots(ctx context.Context, tx *db.Tx, end time.Time, held []lots.Lot, averaged map[string]bool) ([]TaxLot, error) {
	at := end.Add(-time.Millisecond)
	var wanted []assetCurrency
	for _, l := range held {
		wanted = append(wanted, assetCurrency{l.AssetType, l.Currency})
	}
	prices, err := pricesAt(ctx, tx, at, wanted)
	if err != nil {
		return nil, err
	}
	out := make([]TaxLot, len(held))
	for i, l := range held {
		t := TaxLot{Lot: l, Averaged: averaged[l.ID],
			Worth: worthOf(at, prices[assetCurrency{l.AssetType, l.Currency}], l.RemainingQuantity, l.Currency)}
		_, t.Term = lot.HoldingPeriod(l.AcquiredAt, at, s.zone)
		if !l.Quantity.IsZero() {
			t.UnitCost = l.CostBasis.Quo(l.Quantity, unitPlaces)
		}
		t.Unrealized = t.Worth.minus(l.RemainingBasis)
		out[i] = t
	}
	return out, lots.BlankHiddenParents(ctx, tx, out, func(t *TaxLot) *string { return &t.ParentID })
}

// lotKey returns the sort key of lots.
func lotKey(l lots.Lot) []string {
	return []string{l.LegalEntityID, l.AssetType, clock.Format(l.AcquiredAt), l.ID}
}

// lotReader reads the lots that were held at a time: asset by asset, and of each asset those at the few interval nodes that contain the
// time (see calendar.IntervalNode).
type lotReader struct {
	filter Filter
	end    time.Time // the first instant after that time; zero to read the lots of now
	nodes  []string  // interval nodes of lots that were emptied since
}

// readPage reads up to limit lots after a key, or all of them without a limit.
func (w *lotReader) readPage(ctx context.Context, tx *db.Tx, after []string, limit int) ([]lots.Lot, error) {
	if err := w.findNodes(ctx, tx); err != nil {
		return nil, err
	}
	var from *lots.HeldCursor
	o := entityAsset{}
	if after != nil {
		at, err := time.Parse(time.RFC3339, after[2])
		if err != nil {
			return nil, fault.Invalidf("cursor", "is not a cursor of this list")
		}
		from, o = &lots.HeldCursor{AcquiredAt: at, LotID: after[3]}, entityAsset{after[0], after[1]}
	}
	var out []lots.Lot
	for {
		if from == nil {
			var err error
			if o, err = selectNextAsset(ctx, tx, w.filter, o); errors.Is(err, errNoMore) {
				return out, nil
			} else if err != nil {
				return nil, err
			}
		}
		held, err := w.readAsset(ctx, tx, o, from, limit-len(out))
		if err != nil {
			return nil, err
		}
		if out = append(out, held...); limit > 0 && len(out) >= limit {
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

// readAsset reads the lots of one asset of a legal entity. It reads each node in order and merges the results.
func (w *lotReader) readAsset(ctx context.Context, tx *db.Tx, o entityAsset, from *lots.HeldCursor, limit int) ([]lots.Lot, error) {
	nodes := []string{lots.OpenNode}
	if len(w.nodes) > 0 {
		some, err := selectNodes(ctx, tx, o, w.nodes, w.end)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, some...)
	}
	var out []lots.Lot
	for _, node := range nodes {
		held, err := w.readNode(ctx, tx, o, node, from, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, held...)
	}
	slices.SortFunc(out, func(a, b lots.Lot) int {
		if c := a.AcquiredAt.Compare(b.AcquiredAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return atMost(out, limit), nil
}

// readNode reads the lots at one node. Lots that were empty are left out, so it reads on until there are enough.
func (w *lotReader) readNode(ctx context.Context, tx *db.Tx, o entityAsset, node string, from *lots.HeldCursor,
	limit int) ([]lots.Lot, error) {
	filter := lots.HeldFilter{LegalEntityID: o.legalEntityID, AssetType: o.asset, SourceIDs: w.filter.SourceIDs, IntervalNode: node,
		Before: w.end}
	var out []lots.Lot
	for {
		rows, err := lots.ListHeld(ctx, tx, filter, from, limit)
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
		from = &lots.HeldCursor{AcquiredAt: last.AcquiredAt, LotID: last.ID}
	}
}
