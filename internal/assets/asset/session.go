package asset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// session is a pool from some place on: what happened there is taken back and happens again, with what is new in
// between. Only the lots it can come to are at hand: those that were used since, and of the others as many as may be
// asked for.
type session struct {
	*pool
	from   Place
	before Place // the last thing that had happened
	config lot.Config
	engine *lot.Pool
	lots   map[string]*Lot // at hand, those that enter on the way too
	stored map[string]Lot  // as the database has them
	events []*event        // from here on, in order
	next   int
	seq    int64
	last   Place
	busy   bool
	ahead  int // how many plans were brought at once
}

// event is one thing that happens to a pool: a request, or lots that enter.
type event struct {
	place Place
	work  *work
	take  *taken // nil where lots enter
	enter []*Lot // those that are stored, or entered by hand
}

// taken is a request and its answers: the one that is written down, and the one there is now.
type taken struct {
	take
	rows     []Use // as written down, corrections too
	old, new []Use
	done     bool
	to       posting.Place // of a relocation, once it is known
	toChain  string
}

// aimed tells that it is known where a relocation goes, as it is where it was written down.
func (k *taken) aimed() bool {
	for _, u := range k.old {
		if u.Kind == string(relocate) && u.Quantity.Sign() < 0 {
			k.to, k.toChain = posting.Place{Source: u.SourceID, Account: u.LedgerAccountID, Entity: u.LegalEntityID}, u.Chain
		}
	}
	return k.to.Account != ""
}

// aim finds where a relocation goes.
func (k *taken) aim(w *Work) {
	k.to, k.toChain = w.Plan.Takes[k.position].To, k.chain
	if w.Input.In != nil {
		k.toChain = w.Input.In.Asset.Chain
	}
}

// activate opens a pool from a place on.
func (r *Replay) activate(ctx context.Context, p pool, from Place) (*session, error) {
	if s := r.sessions[p.Key]; s != nil {
		if s.from > from && !s.begun() {
			delete(r.sessions, p.Key) // It begins earlier than it was thought.
		} else {
			return s, nil
		}
	}
	stored, err := selectPool(ctx, r.tx, p.Key)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		fresh := p
		stored = &fresh
	}
	s := &session{pool: stored, config: stored.config(r.books, r.lenient), lots: map[string]*Lot{}, stored: map[string]Lot{},
		last: stored.LastPlace, before: stored.LastPlace}
	s.from = s.start(from)
	r.sessions[p.Key] = s
	if err := r.rewind(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *session) begun() bool { return s.next > 0 || s.busy }

// passed tells that a place is over.
func (s *session) passed(place Place) bool {
	return place < s.from || s.next > 0 && place <= s.events[s.next-1].place || s.next < len(s.events) && s.busy &&
		place < s.events[s.next].place
}

// start is where a replay must begin. A weighted average leaves nothing to go back by, so that whatever crosses its
// beginning or its end starts over.
func (s *session) start(from Place) Place {
	if s.LastPlace == "" || len(s.config.Elections) < 2 {
		return from
	}
	first, last := min(from, s.LastPlace), max(from, s.LastPlace)
	methods := s.methodsBetween(first, last)
	if len(methods) > 1 && slices.Contains(methods, lot.WeightedAverage) {
		return ""
	}
	return from
}

// methodsBetween lists the methods that hold somewhere between two places.
func (s *session) methodsBetween(first, last Place) []lot.Method {
	current, out := lot.FIFO, []lot.Method{}
	for _, e := range s.config.Elections {
		at := placeOf(e.From, lot.Acquire, 0, 0, 0)
		if e.From.IsZero() || at <= first {
			current = e.Method
		} else if at <= last {
			out = append(out, e.Method)
		}
	}
	out = append([]lot.Method{current}, out...)
	return slices.Compact(out)
}

// rewind takes back what happened to the pool since, and finds the lots that can be asked for.
func (r *Replay) rewind(ctx context.Context, s *session) error {
	quantity, basis := s.Quantity, s.Basis
	s.seq = s.Seq
	var touched []string
	given := map[string]Use{}
	if s.from <= s.LastPlace {
		entered, err := selectEntered(ctx, r.tx, s.Key, s.from)
		if err != nil {
			return err
		}
		for _, l := range entered {
			quantity, basis, s.seq = quantity.Sub(l.Quantity), basis.Sub(l.CostBasis), s.seq-1
		}
		r.enterStored(s, entered)
		uses, err := r.requestsSince(ctx, s)
		if err != nil {
			return err
		}
		for _, u := range uses {
			if u.LotID == "" {
				continue
			}
			quantity, basis = quantity.Add(u.Quantity), basis.Add(u.Basis)
			if _, known := given[u.LotID]; !known && s.lots[u.LotID] == nil {
				touched = append(touched, u.LotID)
			}
			given[u.LotID] = given[u.LotID].plus(u, 1)
		}
	}
	r.addNew(s)
	if err := r.restore(ctx, s, touched, given); err != nil {
		return err
	}
	lots := make([]lot.Lot, 0, len(s.lots))
	for _, l := range s.lots {
		if l.Place < s.from && l.RemainingQuantity.Sign() > 0 {
			lots = append(lots, lot.Lot{ID: l.ID, AcquiredAt: l.AcquiredAt, Seq: l.Seq, Quantity: l.RemainingQuantity, Basis: l.RemainingBasis,
				Marks: lot.Marks{BasisPending: l.BasisPending, Provisional: l.Provisional}})
		}
	}
	slices.SortFunc(lots, func(a, b lot.Lot) int { return cmp.Or(a.AcquiredAt.Compare(b.AcquiredAt), cmp.Compare(a.Seq, b.Seq)) })
	s.engine = lot.Restore(s.config, lot.Checkpoint{Seq: s.seq, Lots: lots, Quantity: quantity, Basis: basis})
	return nil
}

// enterStored makes events of the lots that entered since, one for all of an entry.
func (r *Replay) enterStored(s *session, entered []Lot) {
	for _, l := range entered {
		lotRow := l
		s.stored[l.ID] = lotRow
		if r.dropped[l.ID] {
			continue
		}
		if altered, ok := r.altered[l.ID]; ok {
			lotRow = altered
		}
		w := r.workOf(l.JournalEntryID)
		if l.Origin != Manual && w.removed {
			continue
		}
		lotRow.RemainingQuantity, lotRow.RemainingBasis = lotRow.Quantity, lotRow.CostBasis
		s.lots[l.ID] = &lotRow
		if n := len(s.events); n > 0 && s.events[n-1].work == w && s.events[n-1].place == l.Place && l.Origin != Manual {
			s.events[n-1].enter = append(s.events[n-1].enter, &lotRow)
			continue
		}
		s.events = append(s.events, &event{place: lotRow.Place, work: w, enter: []*Lot{&lotRow}})
	}
}

// requestsSince makes events of the requests since, and gives what they took.
func (r *Replay) requestsSince(ctx context.Context, s *session) ([]Use, error) {
	uses, err := selectUsesSince(ctx, r.tx, s.Key, s.from)
	if err != nil {
		return nil, err
	}
	byPlace := map[Place][]Use{}
	for _, u := range uses {
		byPlace[u.Place] = append(byPlace[u.Place], u)
	}
	takes, err := selectTakesSince(ctx, r.tx, s.Key, s.from)
	if err != nil {
		return nil, err
	}
	for _, t := range takes {
		w := r.workOf(t.entryID)
		k := &taken{take: t, rows: byPlace[t.place]}
		k.old = effective(k.rows)
		w.taken[t.position] = k
		if !w.removed {
			s.events = append(s.events, &event{place: t.place, work: w, take: k})
		}
	}
	return uses, nil
}

// addNew puts what is new among what happened.
func (r *Replay) addNew(s *session) {
	s.events = append(s.events, r.fresh[s.Key]...)
	slices.SortStableFunc(s.events, func(a, b *event) int { return strings.Compare(string(a.place), string(b.place)) })
}

// restore brings the lots at hand that can be asked for, as they were.
func (r *Replay) restore(ctx context.Context, s *session, touched []string, given map[string]Use) error {
	keep := func(rows []Lot) {
		for _, l := range rows {
			if l.Place >= s.from || s.lots[l.ID] != nil {
				continue
			}
			s.stored[l.ID] = l
			u := given[l.ID]
			l.RemainingQuantity, l.RemainingBasis = l.RemainingQuantity.Add(u.Quantity), l.RemainingBasis.Add(u.Basis)
			s.lots[l.ID] = &l
		}
	}
	rows, err := selectLots(ctx, r.tx, touched)
	if err != nil {
		return err
	}
	keep(rows)
	var wanted money.Decimal
	requests := 0
	var picked []string
	for _, e := range s.events {
		if e.take == nil {
			continue
		}
		requests++
		wanted = wanted.Add(e.take.quantity)
		for _, p := range e.take.picks {
			picked = append(picked, p.Lot)
		}
	}
	if requests == 0 {
		return nil
	}
	if rows, err = selectLots(ctx, r.tx, picked); err != nil {
		return err
	}
	keep(slices.DeleteFunc(rows, func(l Lot) bool { return l.Pool != s.Key }))
	return r.reach(ctx, s, wanted, requests, keep)
}

// reach brings as many of the lots at hand whose turn is next as may be asked for. What a method would take first it
// takes first among these too. A few more make up for what rounding does to the cost of one.
func (r *Replay) reach(ctx context.Context, s *session, wanted money.Decimal, requests int, keep func([]Lot)) error {
	methods := s.methodsBetween(s.from, max(s.from, s.LastPlace, s.events[len(s.events)-1].place))
	order := byAge
	if len(methods) == 1 && !s.config.Identified {
		order = orders[methods[0]]
	}
	everyone := len(methods) > 1
	var after *Lot
	for limit, more := 8, requests; ; limit = min(2*limit, reachMax) {
		rows, err := selectOpen(ctx, r.tx, s.Key, order, after, limit)
		if err != nil {
			return err
		}
		keep(rows)
		for _, l := range rows {
			if wanted.Sign() <= 0 {
				more--
			}
			if l.Place < s.from {
				wanted = wanted.Sub(l.RemainingQuantity)
			}
		}
		if len(rows) < limit || !everyone && wanted.Sign() <= 0 && (more < 0 || order == byAge || order == byYouth) {
			return nil
		}
		after = &rows[len(rows)-1]
	}
}

const reachMax = 1000

// order is how the lots of a pool are gone through.
type order int

const (
	byAge order = iota
	byYouth
	byCost
	byThrift
)

var orders = map[lot.Method]order{
	lot.FIFO: byAge, lot.WeightedAverage: byAge, lot.SpecificID: byAge, lot.LIFO: byYouth, lot.HIFO: byCost, lot.LOFO: byThrift,
}

// apply lets a request happen.
func (s *session) apply(k *taken) error {
	k.new = nil
	for _, e := range k.events() {
		result, err := s.engine.Apply(&e)
		if err != nil {
			return err
		}
		for _, u := range result.Uses {
			if u.Lot == "" && s.parked() { // what was never parked left at its value
				u.Proceeds, u.Fee, u.Gain = money.Decimal{}, money.Decimal{}, money.Decimal{}
			}
			use := k.useOf(s.pool, u)
			if l := s.lots[u.Lot]; l != nil && !s.wide() {
				use.LedgerAccountID = l.LedgerAccountID
			}
			k.new = append(k.new, use)
		}
	}
	if k.kind == relocate && k.rest().Sign() > 0 {
		return s.relocated(k)
	}
	return nil
}

// relocated says what moved within the pool: what was there of it. What it cost is its share of the pool, and stays what it was booked at.
func (s *session) relocated(k *taken) error {
	quantity, held := k.rest(), s.engine.Quantity()
	if missing := quantity.Sub(held); missing.Sign() > 0 {
		if !s.config.ZeroBasis {
			return &lot.Shortage{ID: k.transactionID, Quantity: quantity, Held: held, Missing: missing}
		}
		quantity = held
	}
	if quantity.IsZero() {
		return nil
	}
	for _, u := range k.old {
		if u.Kind == string(relocate) && u.Quantity.Abs().Equal(quantity) {
			k.new = append(k.new, u)
		}
	}
	if slices.ContainsFunc(k.new, func(u Use) bool { return u.Kind == string(relocate) }) {
		return nil
	}
	u := Use{
		Pool: k.pool, Place: k.place, Position: int64(k.position), Kind: string(
			relocate), TransactionID: k.transactionID, LegalEntityID: s.LegalEntityID,
		SourceID: k.sourceID, LedgerAccountID: k.accountID, AssetType: s.AssetType, Chain: k.chain, Quantity: quantity, Currency: s.Currency,
		Basis: s.engine.Basis().Mul(quantity).Quo(held, s.config.Places), AcquiredAt: k.at, DisposedAt: k.at,
	}
	there := u
	there.SourceID, there.LedgerAccountID, there.Chain = k.to.Source, k.to.Account, k.toChain
	there.Quantity, there.Basis = u.Quantity.Neg(), u.Basis.Neg()
	k.new = append(k.new, u, there)
	return nil
}

// accept lets lots enter.
func (s *session) accept(e *event, lots []*Lot) error {
	if len(lots) == 0 {
		return nil
	}
	entry := lot.Event{Place: lot.Place{At: lots[0].AcquiredAt, Kind: lot.Acquire, ID: lots[0].ID}}
	first := lots[0]
	if at, rank, block, number, ok := e.place.parts(); ok {
		entry.At, entry.Block, entry.Sequence = at, block, number
		if rank == 1 {
			entry.Kind = lot.Arrive
		}
	} else {
		return fmt.Errorf("asset: the place %q of lot %s cannot be read", e.place, first.ID)
	}
	if entry.Kind == lot.Acquire {
		entry.Lot, entry.Quantity, entry.Basis = first.ID, first.Quantity, first.CostBasis
		entry.Marks = lot.Marks{BasisPending: first.BasisPending, Provisional: first.Provisional}
	} else {
		for _, l := range lots {
			entry.Slices = append(entry.Slices, lot.Slice{Lot: l.ID, Parent: l.ParentID, Quantity: l.Quantity, Basis: l.CostBasis,
				AcquiredAt: l.AcquiredAt,
				Marks:      lot.Marks{BasisPending: l.BasisPending, Provisional: l.Provisional}})
		}
	}
	if _, err := s.engine.Apply(&entry); err != nil {
		return err
	}
	for _, l := range lots {
		s.seq++
		l.Seq, l.Pool, l.Place = s.seq, s.Key, e.place
		l.RemainingQuantity, l.RemainingBasis = l.Quantity, l.CostBasis
		s.lots[l.ID] = l
	}
	return nil
}

// left brings the lots at hand to what is left of them.
func (s *session) left() {
	average := s.method() == lot.WeightedAverage
	open := map[string]lot.Lot{}
	for _, l := range s.engine.Lots() {
		open[l.ID] = l
	}
	for _, l := range s.lots {
		o := open[l.ID]
		l.RemainingQuantity, l.RemainingBasis = o.Quantity, o.Basis
		if average { // The pool has the truth, and shows it to who reads the lot.
			l.RemainingBasis = money.Decimal{}
			if !o.Quantity.IsZero() {
				l.RemainingBasis = l.CostBasis.Mul(o.Quantity).Quo(l.Quantity, s.config.Places)
			}
		}
	}
	s.Quantity, s.Basis, s.Seq = s.engine.Quantity(), s.engine.Basis(), s.seq
	s.LastPlace = s.last
}

// method is the one of the last thing that happened.
func (s *session) method() lot.Method {
	if s.config.Identified {
		return lot.SpecificID
	}
	methods := s.methodsBetween("", s.last)
	return methods[len(methods)-1]
}

// takeOf makes a request of what an entry asks.
func takeOf(w *Work, position int, t posting.Take, p pool) take {
	k := take{
		pool: p.Key, entryID: w.EntryID, position: position, transactionID: w.TransactionID, sourceID: t.From.Source,
		accountID: t.From.Account, chain: t.Asset.Chain,
		at: t.At, block: w.Block, number: w.Number, kind: t.Kind, quantity: t.Quantity, feeQuantity: t.Fee, proceeds: t.Proceeds,
		feeProceeds: t.FeeProceeds, costs: t.Costs, net: w.Input.Policy.NetFees,
	}
	if t.Kind != posting.Unparked && len(w.Picks) > 0 && k.rest().Sign() > 0 {
		k.picks = w.Picks
	}
	return k
}
