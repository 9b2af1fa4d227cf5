package connect

import (
	"context"
	"maps"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

const (
	// chartStage is the only stage of a synchronization with a general ledger.
	chartStage = "chart"
	// togetherMin and togetherMax bound how many requests to a general ledger are sent at the same time.
	togetherMin = 2
	togetherMax = 16
)

// NewLedger returns a connector as a provider of connections and, if it is one to a general ledger, of journals, which share its limits.
func NewLedger(d *db.DB, c provider.Connector, config Config) (connection.Provider, *glsync.Provider) {
	s := newSystem(d, c, config)
	p := s.connections(config)
	if _, ok := c.(provider.Ledger); !ok {
		return p, nil
	}
	open := s.ledgers()
	p.Read = func(ctx context.Context, w *connection.Work) error {
		chart, err := open(connection.Opened{Connection: w.Connection, Credentials: w.Credentials, Keeper: w.Keeper})().Chart(ctx)
		if err != nil {
			return err
		}
		return w.Commit(ctx, chartStage, "", len(chart.Accounts), func(ctx context.Context, tx *db.Tx) error {
			return glsync.StoreChart(ctx, tx, w.ID, chart)
		})
	}
	together := togetherMax
	if every := s.Rate.Every; every > 0 { // a request rarely takes more than a second
		together = min(max(int(time.Second/every)+1, togetherMin), togetherMax)
	}
	return p, &glsync.Provider{Name: s.Name, Together: together, Open: open}
}

// ledgers returns the function that opens sessions at the general ledgers of connections. Those of one connection share what the first has
// learnt.
func (s *system) ledgers() func(connection.Opened) func() glsync.Ledger {
	return func(o connection.Opened) func() glsync.Ledger {
		first := &ledger{s.Connector.(provider.Ledger), s.session(o.Credentials, o.Keeper, true)}
		used := false
		return func() glsync.Ledger {
			if !used {
				used = true
				return first
			}
			next := s.session(maps.Clone(connection.Credentials(first.session.Credentials)), o.Keeper, true)
			next.Learnt = first.session.Learnt
			return &ledger{first.Ledger, next}
		}
	}
}

// ledger adapts a connector and a session.
type ledger struct {
	provider.Ledger
	session *provider.Session
}

// Chart returns what journals can be made of.
func (l *ledger) Chart(ctx context.Context) (glsync.Chart, error) {
	c, err := l.Ledger.Chart(ctx, l.session)
	out := glsync.Chart{Currency: c.Currency, Foreign: c.Foreign, LockedThrough: c.LockedThrough, Warnings: c.Warnings}
	for _, a := range c.Accounts {
		out.Accounts = append(out.Accounts, glsync.ExternalAccount{ID: a.ID, Code: a.Code, Name: a.Name, Type: a.Type, Currency: a.Currency,
			Active: a.Active, Refuses: a.Refuses})
	}
	for _, d := range c.Dimensions {
		for _, v := range d.Values {
			out.Values = append(out.Values, glsync.ExternalValue{Dimension: d.ID, DimensionName: d.Name, ID: v.ID, Name: v.Name,
				Active: v.Active})
		}
	}
	return out, err
}

// Push stores a journal.
func (l *ledger) Push(ctx context.Context, j glsync.Journal) (glsync.Posted, error) {
	p, err := l.Ledger.Push(ctx, l.session, journalFor(j))
	return postedOf(p), err
}

// Find returns the journal with the key of another one.
func (l *ledger) Find(ctx context.Context, j glsync.Journal) (glsync.Posted, error) {
	p, err := l.Ledger.Find(ctx, l.session, journalFor(j))
	return postedOf(p), err
}

// Get returns a journal as it stands now.
func (l *ledger) Get(ctx context.Context, id string) (glsync.Posted, error) {
	p, err := l.Ledger.Get(ctx, l.session, id)
	return postedOf(p), err
}

// Remove takes a journal out of the general ledger.
func (l *ledger) Remove(ctx context.Context, p glsync.Posted) error {
	return l.Ledger.Remove(ctx, l.session, provider.Posted{ID: p.ID, Number: p.Number, Version: p.Version, URL: p.URL,
		Journal: journalFor(p.Journal)})
}

func journalFor(j glsync.Journal) provider.Journal {
	out := provider.Journal{Key: j.Key, Number: j.Number, Date: j.Date, Memo: j.Memo, Currency: j.Currency}
	for _, line := range j.Lines {
		out.Lines = append(out.Lines, provider.JournalLine{Account: line.Account, Debit: line.Debit, Amount: line.Amount, Memo: line.Memo,
			Dimensions: line.Dimensions})
	}
	return out
}

func postedOf(p provider.Posted) glsync.Posted {
	j := p.Journal
	out := glsync.Posted{ID: p.ID, Number: p.Number, Version: p.Version, URL: p.URL,
		Journal: glsync.Journal{Key: j.Key, Number: j.Number, Date: j.Date, Memo: j.Memo, Currency: j.Currency}}
	for _, line := range j.Lines {
		out.Journal.Lines = append(out.Journal.Lines, glsync.JournalLine{Account: line.Account, Debit: line.Debit, Amount: line.Amount,
			Memo: line.Memo, Dimensions: line.Dimensions})
	}
	return out
}
