package connect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// storedTogether is about how many records are stored in one database transaction.
	storedTogether = 1000
	// cursorKept is after what time a position is stored although nothing was found, so that the same range is not read again and again.
	cursorKept = 6 * time.Hour
	// balancesStage is the stage after the last ledger.
	balancesStage = "balances"
)

// sync is a synchronization under way.
type sync struct {
	*connection.Work
	*system
	reader  provider.Reader
	session *provider.Session
	sources map[string]source.Source // by part; "" is the only one
}

// read reads what is new in each ledger, and then what the account holds.
func (s *system) read(ctx context.Context, w *connection.Work) error {
	y := &sync{Work: w, system: s, reader: s.Connector.(provider.Reader), session: s.session(w.Credentials, w.Keeper, true)}
	if err := y.findSources(ctx); err != nil {
		return err
	}
	for _, ledger := range y.remaining() {
		if err := y.readLedger(ctx, ledger); err != nil {
			return err
		}
	}
	return y.observe(ctx)
}

// remaining returns the ledgers from the stage on at which an earlier worker has stopped.
func (y *sync) remaining() []string {
	if y.Stage == balancesStage {
		return nil
	}
	if at := slices.Index(y.Ledgers, y.Stage); at >= 0 {
		return y.Ledgers[at:]
	}
	return y.Ledgers
}

// findSources finds the sources of the connection. An account that is divided may have new parts.
func (y *sync) findSources(ctx context.Context) error {
	ids := map[string]string{"": y.SourceID}
	if d, ok := y.Connector.(provider.Divided); ok {
		parts, err := d.Parts(ctx, y.session)
		if err != nil {
			return err
		}
		if ids, err = y.Divide(ctx, partsOf(parts)); err != nil {
			return err
		}
	}
	all := make([]string, 0, len(ids))
	for _, id := range ids {
		all = append(all, id)
	}
	return y.db.Read(ctx, y.Organization(), func(ctx context.Context, tx *db.Tx) error {
		found, err := source.FindSomeUnchecked(ctx, tx, all)
		y.sources = make(map[string]source.Source, len(ids))
		for part, id := range ids {
			if one, ok := found[id]; ok && one.DeletedAt == nil {
				y.sources[part] = one
			}
		}
		return err
	})
}

// got is a page, or why there is none.
type got struct {
	provider.Page
	err error
}

// readLedger reads a ledger to its end. The next page is asked for while one is stored.
func (y *sync) readLedger(ctx context.Context, ledger string) error {
	ctx, stop := context.WithCancel(ctx)
	pages := make(chan got, 1)
	go y.fetch(ctx, ledger, y.Cursors[ledger].Position, pages)
	defer func() {
		stop()
		for range pages { // until fetch has ended
		}
	}()
	for {
		together, more, err := gather(pages)
		if len(together) > 0 {
			if err := y.store(ctx, ledger, together); err != nil {
				return err
			}
		}
		if err != nil || !more {
			return err
		}
	}
}

// fetch reads pages until the last one, an error, or the end of the context.
func (y *sync) fetch(ctx context.Context, ledger, cursor string, pages chan<- got) {
	defer close(pages)
	for {
		p, err := y.reader.Read(ctx, y.session, ledger, cursor)
		if p.Cursor != "" {
			cursor = p.Cursor
		}
		p.Cursor = cursor
		select {
		case pages <- got{p, err}:
		case <-ctx.Done():
			return
		}
		if err != nil || !p.More {
			return
		}
	}
}

// gather returns the pages that are to be stored together, and whether others follow. Pages before an error are returned with it.
func gather(pages <-chan got) (out []provider.Page, more bool, err error) {
	n := 0
	for p := range pages {
		if p.err != nil {
			return out, false, p.err
		}
		out = append(out, p.Page)
		if n += len(p.Records); !p.More {
			return out, false, nil
		}
		if n >= storedTogether {
			return out, true, nil
		}
	}
	return out, false, nil
}

// store stores pages of a ledger and its new position, in one database transaction. A page without anything new is not stored, unless its
// position is old; several are, because reading them again takes longer.
func (y *sync) store(ctx context.Context, ledger string, pages []provider.Page) error {
	b := y.batchOf(ledger, pages)
	cursor, before := pages[len(pages)-1].Cursor, y.Cursors[ledger]
	recent := before.Position != "" && y.db.Clock().Now().Sub(before.SavedAt) < cursorKept
	if b.empty() && (cursor == before.Position || recent && len(pages) == 1) && y.Stage != connection.Start {
		return nil
	}
	return y.Commit(ctx, ledger, "", len(b.news), func(ctx context.Context, tx *db.Tx) error {
		counts := connection.Counts{Read: int64(len(b.read)), Omitted: int64(len(b.omitted))}
		gone, err := y.goneOrChanged(ctx, tx, b)
		if err != nil {
			return err
		}
		removed, err := y.Withdraw(ctx, tx, gone)
		if err != nil {
			return err
		}
		counts.Removed = removed
		added, err := transaction.Add(ctx, tx, b.news)
		if err != nil {
			return err
		}
		for _, a := range added {
			if a.Duplicate {
				counts.Duplicates++
			} else {
				counts.Created++
			}
		}
		if err := y.Settle(ctx, tx, b.omitted, b.read); err != nil {
			return err
		}
		if err := y.SaveGaps(ctx, tx, ledger, b.gaps); err != nil {
			return err
		}
		if err := y.Count(ctx, tx, counts); err != nil {
			return err
		}
		return y.SaveCursor(ctx, tx, ledger, cursor)
	})
}

// goneOrChanged returns which records the provider has taken back. One that it has replaced by a record that says the same stays.
func (y *sync) goneOrChanged(ctx context.Context, tx *db.Tx, b batch) ([]string, error) {
	if len(b.removed) == 0 {
		return nil, nil
	}
	stored, err := transaction.OfExternalIDsUnchecked(ctx, tx, y.Sources, b.removed)
	if err != nil {
		return nil, err
	}
	latest := map[string]transaction.New{}
	for _, n := range b.news {
		latest[n.ExternalID] = n
	}
	var gone []string
	for _, t := range stored {
		if n, replaced := latest[t.ExternalID]; !replaced || !n.SaysWhat(t) {
			gone = append(gone, t.ExternalID)
		}
	}
	return gone, nil
}

// batch is what is stored together.
type batch struct {
	news    []transaction.New
	read    []connection.Record
	omitted []connection.Omission
	removed []string
	gaps    []connection.Gap
}

func (b batch) empty() bool {
	return len(b.news) == 0 && len(b.omitted) == 0 && len(b.removed) == 0 && len(b.gaps) == 0
}

// batchOf returns what is to be stored of some pages.
func (y *sync) batchOf(ledger string, pages []provider.Page) (b batch) {
	for _, p := range pages {
		for _, r := range p.Records {
			name := connection.Record{Kind: ledger, ID: r.ExternalID}
			n, err := y.newOf(r)
			if err != nil {
				b.omitted = append(b.omitted, connection.Omission{Record: name, Reason: err.Error()})
				continue
			}
			b.news, b.read = append(b.news, n), append(b.read, name)
		}
		for _, o := range p.Omitted {
			b.omitted = append(b.omitted, connection.Omission{Record: connection.Record{Kind: ledger, ID: provider.Clean(o.ID)},
				Reason: provider.Clean(o.Reason)})
		}
		b.removed = append(b.removed, p.Removed...)
		for _, g := range p.Gaps {
			b.gaps = append(b.gaps, connection.Gap{From: g.From, Through: g.Through, Reason: provider.Clean(g.Reason)})
		}
	}
	return b
}

// errPart means that a record belongs to an account that is not known.
var errPart = errors.New("it belongs to an account that the provider does not list, or whose source was deleted")

// newOf returns the transaction for a record, or why it is left out.
func (y *sync) newOf(r provider.Record) (transaction.New, error) {
	src, ok := y.sources[r.Part]
	if !ok {
		return transaction.New{}, errPart
	}
	n := transaction.New{Source: src, Params: imports.Convert(r.Record)}
	n.Original = string(r.Original)
	var faults fault.List
	n.Validate(&faults, "")
	n.ValidateHolding(&faults, "")
	return n, faults.Err()
}

// observe asks what the account holds and stores it, if the provider tells: what is new since the last time could only be told by asking.
func (y *sync) observe(ctx context.Context) error {
	b, ok := y.Connector.(provider.Balancer)
	if !ok {
		return nil
	}
	y.session.Cursors = map[string]string{}
	for _, ledger := range y.Ledgers {
		y.session.Cursors[ledger] = y.Cursors[ledger].Position
	}
	held, err := b.Balances(ctx, y.session)
	if err != nil {
		return err
	}
	at := held.At
	if at.IsZero() {
		at = y.session.Now()
	}
	return y.Commit(ctx, balancesStage, "", 0, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		for part, src := range y.sources {
			var all []observation.Balance
			for _, h := range held.Balances {
				if h.Part == part {
					all = append(all, observation.Balance{AssetType: h.Currency, Quantity: h.Amount})
				}
			}
			if err := observation.StoreTold(ctx, tx, src.ID, y.ID, all, held.Complete, at); err != nil {
				return err
			}
		}
		return nil
	})
}

// poll reports whether reading an account now would store anything: a record that is not known, or one that could not be understood.
func (s *system) poll(ctx context.Context, p connection.Position) (bool, error) {
	reader, session := s.Connector.(provider.Reader), s.session(p.Credentials, p.Keeper, false)
	for _, ledger := range s.Ledgers {
		before := p.Cursors[ledger]
		page, err := reader.Read(ctx, session, ledger, before.Position)
		if err != nil {
			return false, err
		}
		moved := page.Cursor != "" && page.Cursor != before.Position
		if page.More || len(page.Removed)+len(page.Gaps) > 0 ||
			moved && s.db.Clock().Now().Sub(before.SavedAt) >= cursorKept {
			return true, nil
		}
		var ids []string
		for _, r := range page.Records {
			ids = append(ids, imports.Convert(r.Record).ExternalID)
		}
		for _, o := range page.Omitted {
			ids = append(ids, provider.Clean(o.ID))
		}
		if len(ids) == 0 {
			continue
		}
		known, err := p.Known(ctx, ids)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(ids, func(id string) bool { return !known[id] }) {
			return true, nil
		}
	}
	return false, nil
}
