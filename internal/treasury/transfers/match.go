package transfers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service implements the use cases of transfers.
type Service struct {
	db       *db.DB
	sweeping sync.Mutex
}

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Matched is the result of matching.
type Matched struct {
	Linked    int             // pairs
	Ambiguous int             // transactions
	Pairs     []transfer.Pair // the first PairsMax of them
}

// PairsMax is the maximum number of pairs that a result lists.
const PairsMax = 100

const (
	// sliceLength is the span that is matched at a time. With a Reach before and after, it is what is held in memory.
	sliceLength = 10 * 24 * time.Hour
	// pageSize is how many transactions are read at a time.
	pageSize = 2000
	// linkBatch is how many pairs are linked in one write, so that other writes do not wait long.
	linkBatch = 100
)

// Match links transactions that belong together if one side is dated from a time to before an end, and stores the
// ambiguous ones. It considers only transactions that the actor may see: the result would otherwise tell about the others.
// A dry run changes nothing.
func (s *Service) Match(ctx context.Context, from, end time.Time, dry bool) (Matched, error) {
	m := &matching{service: s, dry: dry, from: from.Add(-transfer.Window), end: end.Add(transfer.Window), linked: map[string]bool{}}
	if err := m.begin(ctx); err != nil {
		return Matched{}, err
	}
	for at := m.from; at.Before(m.end); at = at.Add(sliceLength) {
		if err := m.match(ctx, at, minTime(at.Add(sliceLength), m.end)); err != nil {
			return Matched{}, err
		}
	}
	return m.out, nil
}

// MatchArrived matches the transactions of a span of time on behalf of a background job, without an actor.
func (s *Service) MatchArrived(ctx context.Context, organizationID string, from, to time.Time) (Matched, error) {
	ctx = actor.With(ctx, actor.Actor{OrganizationID: organizationID})
	return s.Match(ctx, from, to.Add(time.Millisecond), false)
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// matching is a run over a span of time, one slice at a time.
type matching struct {
	service   *Service
	dry       bool
	from, end time.Time
	sources   map[string]source.Source // that the actor may see
	refused   map[string][]string
	legs      []transaction.Unlinked // near the current slice, by date
	last      *transaction.Unlinked  // the last one read
	linked    map[string]bool
	out       Matched
}

func (m *matching) read(ctx context.Context, do db.Func) error {
	return m.service.db.Read(ctx, actor.From(ctx).OrganizationID, do)
}

func (m *matching) begin(ctx context.Context) error {
	return m.read(ctx, func(ctx context.Context, tx *db.Tx) error {
		all, err := source.AllUnchecked(ctx, tx)
		if err != nil {
			return err
		}
		m.sources = make(map[string]source.Source, len(all))
		for _, s := range all {
			if actor.From(ctx).Sees(s.LegalEntityID) {
				m.sources[s.ID] = s
			}
		}
		m.refused, err = selectRefusals(ctx, tx)
		return err
	})
}

// match links the outflows of a slice.
func (m *matching) match(ctx context.Context, from, end time.Time) error {
	if err := m.load(ctx, from.Add(-transfer.Reach), end.Add(transfer.Reach)); err != nil {
		return err
	}
	legs, within := make([]transfer.Leg, 0, len(m.legs)), map[string]transaction.Unlinked{}
	for _, l := range m.legs {
		legs = append(legs, legOf(l, m.sources[l.SourceID], m.refused[l.ID]))
		if !l.At.Before(from) && l.At.Before(end) {
			within[l.ID] = l
		}
	}
	if len(within) == 0 {
		return m.saveAmbiguities(ctx, from, end, nil)
	}
	r := transfer.Match(legs)
	pairs := slices.DeleteFunc(r.Pairs, func(p transfer.Pair) bool {
		_, here := within[p.Out]
		return !here
	})
	if err := m.link(ctx, pairs); err != nil {
		return err
	}
	var ambiguous []Ambiguity
	for _, a := range r.Ambiguous {
		if l, here := within[a.Leg]; here {
			ambiguous = append(ambiguous, Ambiguity{TransactionID: l.ID, Number: l.Number, SourceID: l.SourceID, At: l.At,
				Candidates: a.Candidates, Why: a.Why})
		}
	}
	return m.saveAmbiguities(ctx, from, end, ambiguous)
}

// load drops legs that are too old and reads those near the slice.
func (m *matching) load(ctx context.Context, from, end time.Time) error {
	m.legs = slices.DeleteFunc(m.legs, func(l transaction.Unlinked) bool { return l.At.Before(from) || m.linked[l.ID] })
	clear(m.linked)
	for {
		var page []transaction.Unlinked
		err := m.read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			page, err = transaction.ListUnlinked(ctx, tx, from, end, m.last, pageSize)
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range page {
			if s, ok := m.sources[l.SourceID]; ok && isLeg(l, s) {
				m.legs = append(m.legs, l)
			}
		}
		if len(page) > 0 {
			m.last = &page[len(page)-1]
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

// link writes pairs in batches, and counts those that could still be linked.
func (m *matching) link(ctx context.Context, pairs []transfer.Pair) error {
	for batch := range slices.Chunk(pairs, linkBatch) {
		written := batch
		if !m.dry {
			err := m.service.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
				written, err = linkPairs(ctx, tx, batch)
				return err
			})
			if err != nil {
				return err
			}
		}
		for _, p := range written {
			m.linked[p.Out], m.linked[p.In] = true, true
			if m.out.Linked++; len(m.out.Pairs) < PairsMax {
				m.out.Pairs = append(m.out.Pairs, p)
			}
		}
	}
	return nil
}

// saveAmbiguities replaces the stored ambiguities of a slice.
func (m *matching) saveAmbiguities(ctx context.Context, from, end time.Time, ambiguous []Ambiguity) error {
	m.out.Ambiguous += len(ambiguous)
	if m.dry {
		return nil
	}
	var fresh map[string]Ambiguity
	var removed []string
	err := m.read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		fresh, removed, err = changedAmbiguities(ctx, tx, from, end, ambiguous)
		return err
	})
	if err != nil || len(fresh)+len(removed) == 0 {
		return err // nothing changed, as on most days: skip the write
	}
	return m.service.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		return replaceAmbiguities(ctx, tx, from, end, ambiguous)
	})
}
