package asset

import (
	"context"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"time"
)

// Work is what an entry does to lots.
type Work struct {
	EntryID       string // may be empty until it has one
	TransactionID string
	Type          string
	Label         string // how people call what stands behind it
	Block, Number int64
	Input         posting.Input
	Plan          *posting.Plan
	LotsOf        string // the transaction that brings the lots, where it is another
	Apart         string // the account that was named instead of the source's own
	Picks         []lot.Pick
}

// arrivesAt is when what is moved arrives: at the later of the two legs.
func (w *Work) arrivesAt() time.Time {
	var at time.Time
	for _, l := range []*posting.Leg{w.Input.Out, w.Input.In} {
		if l != nil && l.At.After(at) {
			at = l.At
		}
	}
	return at
}

// arrival is where an entry's lots enter, and when. An entry has one at most.
func (w *Work) arrival(b *books.Books) (pool, Place, bool) {
	in := w.Input.In
	for _, t := range w.Plan.Takes {
		if t.To.Account == "" {
			continue
		}
		if w.stays(b, t) {
			return pool{}, "", false
		}
		return w.poolTo(b, t), placeOf(w.arrivesAt(), lot.Arrive, w.Block, w.Number, 0), true
	}
	if in == nil || !in.Asset.Lots {
		return pool{}, "", false
	}
	place := in.Place
	if in.Offset != "" {
		place.Account = in.Offset
	}
	return poolOf(b, place, in.Asset, w.Apart), placeOf(in.At, lot.Acquire, w.Block, w.Number, 0), true
}

// poolTo is the pool into which what is taken goes, as what it is there.
func (w *Work) poolTo(b *books.Books, t posting.Take) pool {
	if w.Input.In != nil {
		return poolOf(b, t.To, w.Input.In.Asset, w.Apart)
	}
	return poolOf(b, t.To, t.Asset, w.Apart)
}

// stays tells that what is taken goes elsewhere within its pool.
func (w *Work) stays(b *books.Books, t posting.Take) bool {
	return t.Kind == posting.Moved && w.poolTo(b, t).Key == poolOf(b, t.From, t.Asset, w.Apart).Key
}

// Loader gives the works of entries that are there, by their ids.
type Loader func(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]Work, error)

// work is an entry on its way through a replay.
type work struct {
	Work
	key     string
	loaded  bool // its plan is at hand
	isNew   bool
	removed bool
	changed bool
	built   bool
	taken   map[int]*taken
	result  posting.Entry
	was     []Lot  // the lots it had made
	wasOf   string // the entry that had made them, where that is another
	lots    []*Lot
}

// handled is a lot that somebody entered, changed or took away by hand.
type handled struct {
	before, after *Lot
	left, entered string // the accounting periods in which that counts
}
