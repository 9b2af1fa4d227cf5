package revaluation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// planner computes what a run does.
type planner struct {
	tx       *db.Tx
	books    *snapshot.Books
	period   period.Period
	asOf     time.Time
	kinds    []Kind // all if empty
	withLots bool   // with the lots of assets at fair value, which nothing but the record needs

	roles     map[string]string  // accounts by role
	missing   []fault.Field      // prices and rates
	unpriced  []string           // assets without a price
	adoptions []realized.Adopted // that are not booked yet
	parts     []Part
	items     []Item
	rows      []Row
	releases  []release
}

func newPlanner(tx *db.Tx, b *snapshot.Books, p period.Period, kinds []Kind) *planner {
	out := &planner{tx: tx, books: b, period: p, asOf: p.End.Add(-time.Millisecond), kinds: kinds, roles: map[string]string{}}
	for _, a := range b.Accounts {
		if a.Role != "" {
			out.roles[a.Role] = a.ID
		}
	}
	return out
}

func (p *planner) includes(k Kind) bool { return len(p.kinds) == 0 || slices.Contains(p.kinds, k) }

// err returns an error with every missing price and exchange rate, or nil.
func (p *planner) err() error {
	if len(p.missing) == 0 {
		return nil
	}
	return fault.ConflictAt(p.missing, "prices or rates at the end of %s are missing", p.period.Key)
}

// addMissing notes a pair of an asset or currency and the base currency that has no price or rate.
func (p *planner) addMissing(pair fault.Field) {
	if !slices.Contains(p.missing, pair) {
		p.missing = append(p.missing, pair)
	}
}

// subject is a legal entity that is being measured.
type subject struct {
	*planner
	entity.LegalEntity
	digits int32

	held     map[string]holding
	units    []balance.ClosingUnits // read when they are needed
	policies map[string]assetpolicy.Policy
	balances map[string]money.Decimal   // of adjustment accounts, by account
	own      map[[2]string]postedItem   // items of the last run of the period, by kind and unit
	earlier  map[[2]string][]postedItem // items of the last runs of earlier periods, the latest first
	entries  map[string][]Line          // the lines of own entries
	lots     []lots.Lot                 // read when they are needed
	lotsRead bool
	former   map[string]holding       // by asset: what was held in lots that do not exist any more, if it is more than nothing
	adopted  map[string]money.Decimal // by role of an adjustment account: what an adoption that is not booked yet adds to it
	opening  map[string][]Row         // by asset: the lots as they were measured when fair value was adopted

	handovers    []realized.Handover
	corrected    []string                    // assets of which disposals were corrected since the last measurement
	measuredLast map[Kind]time.Time          // end of the last period that was measured before, zero if there is none
	planned      map[[2]string]money.Decimal // by account and unit: what handovers debit to balances that are measured themselves
}

// holding is the quantity and the cost of an asset.
type holding struct{ quantity, cost money.Decimal }

// measure plans the items of legal entities. All adopt fair value first, because a lot that one of them gives to another takes along what
// the adoption made of it.
func (p *planner) measure(ctx context.Context, entities ...entity.LegalEntity) error {
	subjects := make([]*subject, len(entities))
	for n, e := range entities {
		s, err := p.read(ctx, e)
		if err != nil {
			return err
		}
		if err := s.adopt(ctx); err != nil {
			return err
		}
		subjects[n], p.adoptions = s, append(p.adoptions, s.adoptedStates()...)
	}
	for _, s := range subjects {
		if err := s.measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measure plans the items of the legal entity.
func (s *subject) measure(ctx context.Context) error {
	if err := s.readHandovers(ctx); err != nil {
		return err
	}
	for _, group := range s.groups() {
		if !s.includes(group.kind) {
			continue
		}
		planned, err := s.assets(ctx, group)
		if err != nil {
			return err
		}
		if planned || group.applies {
			s.parts = append(s.parts, Part{s.ID, group.kind, Posted})
		}
	}
	for _, kind := range []Kind{UnitBalance, Exchange} {
		if !s.includes(kind) {
			continue
		}
		planned, err := s.remeasure(ctx, kind)
		if err != nil {
			return err
		}
		if planned || kind == Exchange {
			s.parts = append(s.parts, Part{s.ID, kind, Posted})
		}
	}
	return nil
}

// read reads what there is to measure of a legal entity, under the measurement of the period.
func (p *planner) read(ctx context.Context, e entity.LegalEntity) (*subject, error) {
	places, _ := money.MinorUnits(e.BaseCurrency)
	s := &subject{planner: p, LegalEntity: e, digits: places, adopted: map[string]money.Decimal{}, opening: map[string][]Row{},
		planned: map[[2]string]money.Decimal{}}
	var err error
	if s.Measurement, s.MeasurementFrom, err = entity.MeasurementOn(ctx, p.tx, e, p.period.Key+"-01"); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{s.readHoldings, s.readBalances, s.readPosted, s.readPolicies} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readHoldings sums up the positions by asset. NFTs have no price of their own and stay at cost.
func (s *subject) readHoldings(ctx context.Context) error {
	positions, err := holdings.Positions(ctx, s.tx, s.period.Key, holdings.Filter{LegalEntityIDs: []string{s.ID}})
	s.held = map[string]holding{}
	for _, p := range positions {
		if p.TokenID == "" {
			h := s.held[p.AssetType]
			s.held[p.AssetType] = holding{h.quantity.Add(p.Quantity), h.cost.Add(p.Basis)}
		}
	}
	return err
}

func (s *subject) readBalances(ctx context.Context) (err error) {
	var ids []string
	for _, prefix := range account.AdjustmentRoles("") {
		for role, id := range s.roles {
			if strings.HasPrefix(role, prefix) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	s.balances, err = balance.Through(ctx, s.tx, s.ID, s.period.Key, ids)
	return err
}

func (s *subject) readPosted(ctx context.Context) error {
	all, err := selectPosted(ctx, s.tx, s.ID, s.period.Key)
	if err != nil {
		return err
	}
	s.own, s.earlier = map[[2]string]postedItem{}, map[[2]string][]postedItem{}
	var entries []string
	for _, at := range all {
		key := [2]string{at.Kind, at.Unit}
		switch {
		case !at.inForce():
		case at.Key == s.period.Key:
			// A change of time zone may have moved the entry to another period, in which it counts now.
			if at.EntryID == nil || db.OrEmpty(at.EntryPeriodID) == s.period.ID {
				s.own[key] = at
			}
			if at.EntryID != nil {
				entries = append(entries, *at.EntryID)
			}
		default:
			s.earlier[key] = append(s.earlier[key], at)
		}
	}
	s.entries, err = selectLines(ctx, s.tx, entries)
	return err
}

// assetGroup is the assets that are measured in the same way, with adjustment accounts of one role.
type assetGroup struct {
	kind    Kind
	role    func(asset string) string
	upward  func(asset string) string // of the accounts for what is above cost, nil if they are the same
	model   measure.Model
	applies bool // under the current policy of the legal entity, and not only because of earlier adjustments
}

// roles returns the roles of the adjustment accounts of an asset.
func (f assetGroup) roles(asset string) []string {
	if f.upward == nil {
		return []string{f.role(asset)}
	}
	return []string{f.role(asset), f.upward(asset)}
}

// groups returns the groups of assets of a legal entity. One that measures at fair value measures assets out of scope at cost less
// impairment.
func (s *subject) groups() []assetGroup {
	fair := assetGroup{kind: FairValue, role: account.RoleFairValueAdjustment, model: measure.Revalued,
		applies: s.Measurement == entity.MeasuredAtFairValue}
	impaired := assetGroup{kind: Impairment, role: account.RoleAccumulatedImpairment, upward: account.RoleTakenOverAdjustment,
		model: measure.WrittenOff, applies: s.Measurement != entity.MeasuredAtCost}
	if s.Framework == entity.FrameworkIFRS {
		fair.kind, impaired.model = Revaluation, measure.Impaired
	}
	return []assetGroup{fair, impaired}
}

// isMeasured reports whether an asset belongs to a group. Tokens that the organization issued are not assets, and stay at cost.
func (s *subject) isMeasured(f assetGroup, asset string) bool {
	policy := s.policies[asset]
	// The scope of ASC 350-60 applies under US GAAP only.
	fair := s.Measurement == entity.MeasuredAtFairValue && (policy.InScope || s.Framework == entity.FrameworkIFRS)
	return f.applies && !policy.OwnToken && fair == (f.kind != Impairment)
}

func (s *subject) readPolicies(ctx context.Context) (err error) {
	s.policies, err = assetpolicy.ForAssets(ctx, s.tx, slices.Sorted(maps.Keys(s.held)))
	return err
}

// accountFor returns a line on the account of a role, without an account ID if the account does not exist yet.
func (s *subject) accountFor(role string) Line { return Line{AccountID: s.roles[role], Role: role} }

// lines converts an effect to lines. adjustment is the role of the account for measure.Adjustment.
func (s *subject) lines(e measure.Effect, adjustment string) (out []Line) {
	for _, l := range e.Lines() {
		role := string(l.Account)
		if l.Account == measure.Adjustment {
			role = adjustment
		}
		line := s.accountFor(role)
		line.Side, line.Amount = l.Side, l.Amount
		out = append(out, line)
	}
	return out
}

// setOutcome compares the lines of an item with those that an earlier run of the period booked, sets the outcome, and adds the
// item and its rows to the plan.
func (s *subject) setOutcome(i Item, rows []Row) {
	own, there := s.own[[2]string{string(i.Kind), i.Unit}]
	booked := there && own.EntryID != nil
	switch {
	case booked && sameLines(s.entries[*own.EntryID], i.Lines):
		i.Outcome, i.EntryID = EntryKept, *own.EntryID
	case booked && len(i.Lines) == 0:
		i.Outcome, i.ReplacedID = EntryWithdrawn, *own.EntryID
	case booked:
		i.Outcome, i.ReplacedID = EntryReplaced, *own.EntryID
	case len(i.Lines) == 0:
		i.Outcome = Nothing
	default:
		i.Outcome = EntryPosted
	}
	i.LegalEntityID, i.Currency = s.ID, s.BaseCurrency
	for n := range rows {
		rows[n].LegalEntityID, rows[n].Kind, rows[n].Unit, rows[n].Currency = s.ID, i.Kind, i.Unit, s.BaseCurrency
	}
	s.items, s.rows = append(s.items, i), append(s.rows, rows...)
}

func sameLines(booked, wanted []Line) bool {
	return slices.EqualFunc(booked, wanted, func(a, b Line) bool {
		return a.AccountID == b.AccountID && a.Side == b.Side && a.Amount.Equal(b.Amount)
	})
}

// ownOn returns the amount that the earlier run of the period booked on an account for an item, debits less credits.
func (s *subject) ownOn(kind Kind, unit, accountID string) (sum money.Decimal) {
	own, there := s.own[[2]string{string(kind), unit}]
	if !there || own.EntryID == nil {
		return sum
	}
	for _, l := range s.entries[*own.EntryID] {
		if l.AccountID == accountID && accountID != "" {
			sum = sum.Add(l.signedAmount())
		}
	}
	return sum
}

// adjustment returns the balance of the adjustment account of a role, with an adoption that is not booked yet.
func (s *subject) adjustment(role string) money.Decimal {
	if id := s.roles[role]; id != "" {
		return s.balances[id].Add(s.adopted[role])
	}
	return s.adopted[role]
}

// signedAmount returns the amount, negative for a credit.
func (l Line) signedAmount() money.Decimal {
	if l.Side == book.Credit {
		return l.Amount.Neg()
	}
	return l.Amount
}

// sort sorts everything into the order in which it is stored.
func (p *planner) sort() {
	slices.SortFunc(p.parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.LegalEntityID, b.LegalEntityID), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortFunc(p.items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.LegalEntityID, b.LegalEntityID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Unit, b.Unit))
	})
	slices.SortFunc(p.rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.LegalEntityID, b.LegalEntityID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Unit, b.Unit),
			cmp.Compare(a.SubjectID, b.SubjectID))
	})
}

func (p *planner) addMissingPrice(q price.Query) {
	p.addMissing(fault.Field{Name: q.AssetType + "/" + q.Currency, Message: "has no price at " + clock.Format(q.At) +
		": store one with POST /v1/prices"})
	if !slices.Contains(p.unpriced, q.AssetType) {
		p.unpriced = append(p.unpriced, q.AssetType)
	}
}
