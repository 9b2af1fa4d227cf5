package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// session recomputes a pool from an order key on: its events are undone and applied again, together with new ones. It holds
// only the lots that can be consumed.
type session struct {
	*lots.Pool
	from       lot.OrderKey
	lastStored lot.OrderKey // of the last event that is stored
	config     lot.Config
	engine     *lot.Pool
	lots       map[string]*lots.Lot // those it holds, including those that enter
	stored     map[string]lots.Lot  // the same as stored
	events     []*event             // in order
	next       int                  // index of the next event
	seq        int64                // number of the last lot that entered
	last       lot.OrderKey         // of the last event
	busy       bool                 // an event is being applied
	prefetch   int                  // how many effects were loaded at once
	standing   standing             // of a pool of a legal entity, else nil
}

// event is an event of a pool: a consumption, or lots that enter.
type event struct {
	key         lot.OrderKey
	entry       *entry
	consumption *consumption // nil if lots enter
	enter       []*lots.Lot  // stored lots, or an opening balance; those of new and changed entries are built later
}

// poolConfig returns the elections of the legal entity for the lots of a pool. Without refusing, nothing is refused for lack of
// lots.
func poolConfig(b *snapshot.Books, p *lots.Pool, refusing bool) lot.Config {
	e := b.Entities[p.LegalEntityID]
	places, _ := money.MinorUnits(p.Currency)
	c := lot.Config{
		Identified: p.TokenID != "" || p.Parked(), Places: places, Zone: b.Zone,
		ZeroBasis: !refusing || p.Parked() || e.ShortDisposal == entity.ShortAtZeroBasis,
	}
	for _, election := range b.Elections[p.LegalEntityID] {
		from := lot.Election{Method: lot.Method(election.Method)}
		if at, err := calendar.StartOfDay(election.From, b.Zone); election.From != "" && err == nil {
			from.From = at
		}
		// A later election replaces earlier ones from its first day on.
		c.Elections = slices.DeleteFunc(c.Elections, func(e lot.Election) bool { return !e.From.Before(from.From) })
		c.Elections = append(c.Elections, from)
	}
	return c
}

// open returns the session of a pool from an order key on, or the one that is open already.
func (r *run) open(ctx context.Context, p lots.Pool, from lot.OrderKey) (*session, error) {
	if s := r.sessions[p.Key]; s != nil {
		if s.from <= from || s.begun() {
			return s, nil
		}
		delete(r.sessions, p.Key) // it has to start earlier
	}
	stored, err := lots.GetPool(ctx, r.tx, p.Key)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		stored = &p
	}
	s := &session{
		Pool: stored, config: poolConfig(r.books, stored, !r.options.Preview), lots: map[string]*lots.Lot{},
		stored: map[string]lots.Lot{}, last: stored.LastKey, lastStored: stored.LastKey,
	}
	if s.Wide() {
		if s.standing, err = lots.BasisByAccount(ctx, r.tx, s.Pool); err != nil {
			return nil, err
		}
	}
	s.from = s.start(from)
	r.sessions[p.Key] = s
	return s, r.rewind(ctx, s)
}

// begun reports whether an event of the session was applied or is being applied.
func (s *session) begun() bool { return s.next > 0 || s.busy }

// passed reports whether it is too late to apply an event at an order key.
func (s *session) passed(key lot.OrderKey) bool {
	return key < s.from || s.next > 0 && key <= s.events[s.next-1].key || s.next < len(s.events) && s.busy && key < s.events[s.next].key
}

// start returns the order key at which a session must start. A weighted average cannot be undone, so a session that crosses
// the begin or the end of one starts with the first event of the pool.
func (s *session) start(from lot.OrderKey) lot.OrderKey {
	if s.LastKey == "" || len(s.config.Elections) < 2 {
		return from
	}
	methods := s.methodsBetween(min(from, s.LastKey), max(from, s.LastKey))
	if len(methods) > 1 && slices.Contains(methods, lot.WeightedAverage) {
		return ""
	}
	return from
}

// methodsBetween returns the methods that are in force between two order keys.
func (s *session) methodsBetween(first, last lot.OrderKey) []lot.Method {
	current, out := lot.FIFO, []lot.Method{}
	for _, e := range s.config.Elections {
		at := (&lot.Place{At: e.From, Kind: lot.Acquire}).OrderKey()
		if e.From.IsZero() || at <= first {
			current = e.Method
		} else if at <= last {
			out = append(out, e.Method)
		}
	}
	out = append([]lot.Method{current}, out...)
	return slices.Compact(out)
}

// lastMethod returns the method at the last event.
func (s *session) lastMethod() lot.Method {
	if s.config.Identified {
		return lot.SpecificID
	}
	methods := s.methodsBetween("", s.last)
	return methods[len(methods)-1]
}

// consume applies a consumption and sets its uses.
func (s *session) consume(c *consumption) error {
	c.after = nil
	for _, e := range c.events() {
		result, err := s.engine.Apply(&e)
		if err != nil {
			return err
		}
		for _, u := range result.Uses {
			if u.Lot == "" && s.Parked() { // it was never parked and leaves at its value
				u.Proceeds, u.Fee, u.Gain = money.Decimal{}, money.Decimal{}, money.Decimal{}
			}
			use := c.use(s.Pool, u)
			l := s.lots[u.Lot]
			switch {
			case l == nil:
				c.after = append(c.after, use)
			case s.Wide():
				c.after = append(c.after, s.standing.credit(c, use, l.LedgerAccountID, s.config.Places)...)
			default:
				use.LedgerAccountID = l.LedgerAccountID
				c.after = append(c.after, use)
			}
		}
	}
	if c.Kind == lots.Relocated && c.Principal().Sign() > 0 {
		return s.relocate(c)
	}
	return nil
}

// remarked reports whether uses move or convert lots whose marks differ from the stored ones: the lots that they become then have
// other marks too.
func (s *session) remarked(uses []lots.Use) bool {
	return slices.ContainsFunc(uses, func(u lots.Use) bool {
		stored, was := s.stored[u.LotID]
		return was && !u.Realizes() && stored.Marks() != u.Marks
	})
}

// relocate moves a quantity within the pool, at most what is held. Its basis is its share of the pool, at most what stands on the
// account that it leaves, and does not change once it is booked.
func (s *session) relocate(c *consumption) error {
	quantity, held := c.Principal(), s.engine.Quantity()
	if missing := quantity.Sub(held); missing.Sign() > 0 {
		if !s.config.ZeroBasis {
			return &lot.Shortage{ID: c.TransactionID, Quantity: quantity, Held: held, Missing: missing}
		}
		quantity = held
	}
	booked := slices.DeleteFunc(slices.Clone(c.before), func(u lots.Use) bool {
		return u.Kind != lots.Relocated || !u.Quantity.Abs().Equal(quantity)
	})
	// Verification does not know the destination: if nothing is stored, the quantity stays where it is.
	moved := func(u lots.Use) bool { return u.Kind == lots.Relocated }
	stays := !s.Wide() || c.to.Account == "" && !slices.ContainsFunc(c.before, moved) ||
		c.to.Source == c.SourceID && c.to.Account == c.LedgerAccountID && c.toChain == c.Chain
	if quantity.IsZero() || stays {
		return nil
	}
	if len(booked) > 0 && s.standing.covers(booked) {
		c.after = append(c.after, booked...)
		s.standing.subtract(booked...)
		return nil
	}
	leaves := lots.Use{
		Pool: c.Pool, OrderKey: c.OrderKey, Position: int64(c.Position), Kind: lots.Relocated, TransactionID: c.TransactionID,
		LegalEntityID: s.LegalEntityID, SourceID: c.SourceID, LedgerAccountID: c.LedgerAccountID, AssetType: s.AssetType,
		Chain: c.Chain, TokenID: s.TokenID, Quantity: quantity, Currency: s.Currency, AcquiredAt: c.At, DisposedAt: c.At,
		Basis: s.standing.most(c.LedgerAccountID, s.engine.Basis().Mul(quantity).Quo(held, s.config.Places)),
	}
	arrives := leaves
	arrives.SourceID, arrives.LedgerAccountID, arrives.Chain = c.to.Source, c.to.Account, c.toChain
	arrives.Quantity, arrives.Basis = leaves.Quantity.Neg(), leaves.Basis.Neg()
	c.after = append(c.after, leaves, arrives)
	s.standing.subtract(leaves, arrives)
	return nil
}

// accept adds lots to the pool.
func (s *session) accept(e *event, entering []*lots.Lot) error {
	if len(entering) == 0 {
		return nil
	}
	first := entering[0]
	place, err := e.key.Place()
	if err != nil {
		return fmt.Errorf("replay: lot %s: %w", first.ID, err)
	}
	if place.Kind == lot.Move {
		place = place.Returning(false)
	}
	place.ID = first.ID
	entry := lot.Event{Place: place}
	if place.Kind == lot.Acquire {
		entry.Lot, entry.AcquiredAt, entry.Marks = first.ID, first.AcquiredAt, first.Marks()
		entry.Quantity, entry.Basis = first.Quantity, first.CostBasis
	} else {
		for _, l := range entering {
			entry.Slices = append(entry.Slices, lot.Slice{Lot: l.ID, Parent: l.ParentID, Quantity: l.Quantity, Basis: l.CostBasis,
				AcquiredAt: l.AcquiredAt, Marks: l.Marks()})
		}
	}
	if _, err := s.engine.Apply(&entry); err != nil {
		return err
	}
	s.last = max(s.last, e.key)
	for _, l := range entering {
		s.seq++
		l.Seq, l.Pool, l.OrderKey = s.seq, s.Key, e.key
		l.RemainingQuantity, l.RemainingBasis = l.Quantity, l.CostBasis
		s.lots[l.ID] = l
		s.standing.add(l.LedgerAccountID, l.CostBasis)
	}
	return nil
}

// finish sets the lots and the sums of the pool to what is left.
func (s *session) finish() {
	average := s.lastMethod() == lot.WeightedAverage
	left := map[string]lot.Lot{}
	for _, l := range s.engine.Lots() {
		left[l.ID] = l
	}
	for _, l := range s.lots {
		o := left[l.ID]
		l.RemainingQuantity, l.RemainingBasis = o.Quantity, o.Basis
		if average { // the pool has the basis; readers compute the share of a lot from it
			l.RemainingBasis = money.Decimal{}
			if !o.Quantity.IsZero() {
				l.RemainingBasis = l.CostBasis.Mul(o.Quantity).Quo(l.Quantity, s.config.Places)
			}
		}
	}
	s.Quantity, s.Basis, s.Seq, s.LastKey = s.engine.Quantity(), s.engine.Basis(), s.seq, s.last
}

// restored returns the lots from before the session for the engine, oldest first.
func (s *session) restored() []lot.Lot {
	out := make([]lot.Lot, 0, len(s.lots))
	for _, l := range s.lots {
		if l.OrderKey < s.from && l.RemainingQuantity.Sign() > 0 {
			out = append(out, lot.Lot{ID: l.ID, AcquiredAt: l.AcquiredAt, Seq: l.Seq, Quantity: l.RemainingQuantity,
				Basis: l.RemainingBasis, Marks: l.Marks()})
		}
	}
	slices.SortFunc(out, func(a, b lot.Lot) int { return cmp.Or(a.AcquiredAt.Compare(b.AcquiredAt), cmp.Compare(a.Seq, b.Seq)) })
	return out
}
