package period

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Status sums up the states of a period for several legal entities.
type Status string

// The states.
const (
	StatusOpen         Status = "open"
	StatusPartlyClosed Status = "partly_closed"
	StatusClosed       Status = "closed"
)

// State is a period with its state for each legal entity that the actor sees.
type State struct {
	Period
	Entities []EntityState
	Guidance Guidance
}

// EntityState is the state of a period for one legal entity. Periods close in order, so a period is closed if a later one
// is. It then has no closing of its own if it was created after that one was closed.
type EntityState struct {
	LegalEntityID string
	Closed        bool
	Closing       *Closing
}

// Guidance lists the actions that are possible on a period now, and warnings that explain why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// The actions.
const (
	actionClose  = "close"
	actionReopen = "reopen"
)

// Status returns the status over all legal entities.
func (s State) Status() Status {
	closed := 0
	for _, e := range s.Entities {
		if e.Closed {
			closed++
		}
	}
	switch closed {
	case 0:
		return StatusOpen
	case len(s.Entities):
		return StatusClosed
	}
	return StatusPartlyClosed
}

// closeStatus is what the states of periods follow from: some legal entities, and up to which period each is closed.
type closeStatus struct {
	entities []entity.LegalEntity
	through  map[string]string // by legal entity, the key of its last closed month
	first    string            // the key of the first month
	version  string
	now      time.Time
}

// loadCloseStatus reads the close status of one legal entity or, if none is named, of all that the actor sees.
func loadCloseStatus(ctx context.Context, tx *db.Tx, legalEntityID string) (o closeStatus, err error) {
	o.now = tx.Now()
	if legalEntityID != "" {
		e, err := entity.Get(ctx, tx, legalEntityID)
		if err != nil {
			return o, err
		}
		o.entities = []entity.LegalEntity{e}
	} else {
		all, err := entity.All(ctx, tx) // not from books/snapshot, which imports this package
		if err != nil {
			return o, err
		}
		for _, e := range all {
			if actor.From(ctx).Sees(e.ID) {
				o.entities = append(o.entities, e)
			}
		}
	}
	if o.through, err = selectClosedThrough(ctx, tx); err != nil {
		return o, err
	}
	if o.first, err = selectFirstKey(ctx, tx); err != nil {
		return o, err
	}
	state, err := orgstate.Read(ctx, tx)
	o.version = strconv.FormatInt(state.BooksVersion, 10)
	return o, err
}

// closed reports whether a period is closed for a legal entity.
func (o closeStatus) closed(p Period, e entity.LegalEntity) bool { return p.Key <= o.through[e.ID] }

// partition returns the legal entities for which a period is open, and those for which it is closed.
func (o closeStatus) partition(p Period) (open, closed []entity.LegalEntity) {
	for _, e := range o.entities {
		if o.closed(p, e) {
			closed = append(closed, e)
		} else {
			open = append(open, e)
		}
	}
	return open, closed
}

// nextToClose returns the key of the first open period of a legal entity.
func (o closeStatus) nextToClose(e entity.LegalEntity) string {
	through := o.through[e.ID]
	if through == "" {
		return o.first
	}
	return Period{Key: through}.Month().Next().Key()
}

// closedBounds returns the keys of the last period that is closed for all and for any of the legal entities.
func (o closeStatus) closedBounds() (all, some string) {
	for i, e := range o.entities {
		through := o.through[e.ID]
		if i == 0 || through < all {
			all = through
		}
		some = max(some, through)
	}
	return all, some
}

// states returns the states of periods.
func (o closeStatus) states(ctx context.Context, tx *db.Tx, periods []Period) ([]State, error) {
	ids := make([]string, len(periods))
	for i, p := range periods {
		ids[i] = p.ID
	}
	standing, err := selectClosings(ctx, tx, ids, entityIDs(o.entities), true)
	if err != nil {
		return nil, err
	}
	type place struct{ period, entity string }
	at := map[place]*Closing{}
	for _, c := range standing {
		at[place{c.PeriodID, c.LegalEntityID}] = &c
	}
	out := make([]State, len(periods))
	for i, p := range periods {
		out[i] = State{Period: p, Guidance: o.guide(p)}
		for _, e := range o.entities {
			out[i].Entities = append(out[i].Entities, EntityState{e.ID, o.closed(p, e), at[place{p.ID, e.ID}]})
		}
	}
	return out, nil
}

func entityIDs(entities []entity.LegalEntity) []string {
	out := make([]string, len(entities))
	for i, e := range entities {
		out[i] = e.ID
	}
	return out
}

// guide returns what order and time allow. Whether the books are ready to close is decided by the readiness checks, to which it refers:
// they read the whole month, which an answer about a period must not.
func (o closeStatus) guide(p Period) Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: o.version}
	warn := func(format string, args ...any) { g.Warnings = append(g.Warnings, fmt.Sprintf(format, args...)) }
	open, closed := o.partition(p)
	if len(open) > 0 {
		if !p.over(o.now) {
			warn("the period is not over: it can be closed after %s", p.lastDay())
		}
		for _, e := range open {
			if next := o.nextToClose(e); next != p.Key {
				warn("%s: %s is open and must be closed first", e.Name, next)
			}
		}
		if len(g.Warnings) == 0 {
			g.Allowed = append(g.Allowed, actionClose)
			warn("whether the books are ready to close is not checked here: see GET /v1/accounting-periods/%s/readiness, then close", p.ID)
		}
	}
	later := 0
	for _, e := range closed {
		if through := o.through[e.ID]; through != p.Key {
			later++
			warn("%s: %s is closed and must be reopened first", e.Name, through)
		}
	}
	if len(closed) > 0 && later == 0 {
		g.Allowed = append(g.Allowed, actionReopen)
	}
	return g
}

func (p Period) over(now time.Time) bool { return !now.Before(p.End) }

// lastDay returns the date of the last day of the period.
func (p Period) lastDay() string { return p.Month().LastDay() }
