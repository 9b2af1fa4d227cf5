package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/client"
)

// comparePosting compares posting entries one by one with many clients, on spread and on two hot accounts, and in batches.
func (b *bench) comparePosting(e engine) (figures []figure, err error) {
	p, err := both(b, e, (*bench).openLedger)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	slice := pick(b, 400*time.Millisecond, 200*time.Millisecond, 20*time.Millisecond)
	many := func(accounts choice) func(*ledgerOf) (time.Duration, error) {
		return func(l *ledgerOf) (time.Duration, error) {
			t, err := l.connections.run(slice, l.post(accounts))
			return t.each(1), err
		}
	}
	size := pick(b, postBatch, postBatch, 20)
	for _, m := range []struct {
		name string
		cost func(*ledgerOf) (time.Duration, error)
	}{
		{"an entry, 32 clients", many(b.spread())},
		{"an entry on two hot accounts, 32 clients", many(hot)},
		{"an entry, 1 client", func(l *ledgerOf) (time.Duration, error) {
			t, err := l.connections.times(pick(b, 50, 20, 2), l.post(b.spread()))
			return t.at(0.5), err
		}},
		{"an entry in a batch of 1,000", func(l *ledgerOf) (time.Duration, error) {
			t, err := l.connections.times(pick(b, 3, 2, 1), l.batch(size, b.spread()))
			return t.each(size), err
		}},
	} {
		f, err := compare(b, "posting on "+e.name+", "+m.name, againstWrites, p, m.cost)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// twoNodes are two services on one database, each with half of the clients.
type twoNodes struct {
	*ledgerOf
	other *server
}

func (n *twoNodes) close() error { return errors.Join(n.ledgerOf.close(), n.other.stop()) }

// openTwoNodes starts the service twice on a database.
func (b *bench) openTwoNodes(d database) (*twoNodes, error) {
	l, err := b.openLedger(d)
	if err != nil {
		return nil, err
	}
	other, err := b.serve(d)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	for i, c := range l.connections.list {
		if i%2 == 1 {
			c.host = other.host
		}
	}
	return &twoNodes{l, other}, nil
}

// compareTwoNodes compares posting to one organization through two nodes, which take turns at it.
func (b *bench) compareTwoNodes(e engine) (figures []figure, err error) {
	p, err := both(b, e, (*bench).openTwoNodes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	slice := pick(b, 400*time.Millisecond, 200*time.Millisecond, 20*time.Millisecond)
	f, err := compare(b, "posting on "+e.name+", an entry, 2 nodes with 16 clients each", againstWrites, p,
		func(n *twoNodes) (time.Duration, error) {
			t, err := n.connections.run(slice, n.post(b.spread()))
			return t.each(1), err
		})
	return []figure{f}, err
}

// reader is a running service that is only read from.
type reader struct {
	*server
	connections *connections
}

func (r *reader) close() error {
	r.connections.close()
	return r.stop()
}

// read starts the service on a database that has been filled.
func (b *bench) read(d database) (*reader, error) {
	s, err := b.serve(d)
	if err != nil {
		return nil, err
	}
	c := dial(s.host, 1)
	return &reader{s, c}, nil
}

// comparePaths compares GET requests.
func (b *bench) comparePaths(area string, p pair[*reader], paths []namedPath) (figures []figure, err error) {
	for _, path := range paths {
		f, err := compare(b, area+", "+path.name, againstReads, p, func(r *reader) (time.Duration, error) {
			t, err := r.connections.times(pick(b, 15, 8, 1), r.get(path.path))
			return t.at(0.5), err
		})
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

type namedPath struct{ name, path string }

// compareSheets compares the reports that are made from balances.
func (b *bench) compareSheets(e engine) (figures []figure, err error) {
	p, err := both(b, e, func(b *bench, d database) (*reader, error) {
		if err := b.fillSheet(d); err != nil {
			return nil, err
		}
		return b.read(d)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	return b.comparePaths("reports on "+e.name, p, []namedPath{
		{"balance sheet", sheetPath},
		{"income statement", "/v1/reports/income-statement"},
		{"trial balance", "/v1/reports/trial-balance"},
		{"journal entries", "/v1/journal-entries?limit=50"},
		{"journal entries, search", "/v1/journal-entries?limit=50&search=Entry+4242"},
	})
}

// compareLists compares pages of transactions, and the import of the file they come from.
func (b *bench) compareLists(e engine) (figures []figure, err error) {
	rows := pick(b, 30_000, listFew, 200)
	p, err := both(b, e, func(b *bench, d database) (*transactionService, error) {
		f, err := b.importTransactions(d, "compare", rows)
		if err != nil {
			return nil, err
		}
		f.connections = dial(f.host, 1)
		return f, b.analyze(d)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := b.waitUntilIdle(p.before.server, p.after.server); err != nil {
		return nil, err
	}
	figures = append(figures, figure{name: "import on " + e.name + ", once", verdict: noTarget,
		value: fmt.Sprintf("%.3f", p.after.took.Seconds()/p.before.took.Seconds()),
		note:  fmt.Sprintf("%s before, %s after; %d rows", precise(p.before.took), precise(p.after.took), rows)})
	for i, q := range p.after.listQueries() {
		f, err := compare(b, "lists on "+e.name+", "+q.name, againstReads, p, func(f *transactionService) (time.Duration, error) {
			t, err := f.connections.times(pick(b, 15, 8, 1), f.get("/v1/transactions?limit=50&"+f.listQueries()[i].query))
			return t.at(0.5), err
		})
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// analyze updates the planner's statistics on PostgreSQL, which would otherwise happen at some time during the measurement.
func (b *bench) analyze(d database) error {
	if d.url == "" {
		return nil
	}
	pool, closePool, err := d.open()
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(b.ctx, "ANALYZE")
	return errors.Join(err, closePool())
}

// comparedLots is a service with lots, and how many transactions its full source has.
type comparedLots struct {
	*treasuryService
	next int
	late string // a transaction before all others
}

func (c *comparedLots) close() error { return c.stop() }

// compareLots compares acquisitions in batches, single disposals, a late acquisition and reports on lots.
func (b *bench) compareLots(e engine) (figures []figure, err error) {
	count := pick(b, 10_000, 3_000, 60)
	p, err := both(b, e, func(b *bench, d database) (*comparedLots, error) { return b.comparedLots(d, count) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	batch := pick(b, 500, 500, 10)
	for _, m := range []struct {
		name string
		cost func(*comparedLots) (time.Duration, error)
	}{
		{"an acquisition in a batch", func(c *comparedLots) (time.Duration, error) {
			began := time.Now()
			err := c.fill(b.ctx, c.full, c.next, batch, func(int) string { return "credit" })
			c.next += batch
			return time.Since(began) / time.Duration(batch), err
		}},
		{"a disposal", func(c *comparedLots) (time.Duration, error) { return c.disposals(b.ctx, pick(b, 20, 10, 1)) }},
		{"a late acquisition, dry run", func(c *comparedLots) (time.Duration, error) {
			body := c.entry(c.late, "credit")
			body["dry_run"] = true
			return c.post(b.ctx, body)
		}},
	} {
		f, err := compare(b, "lots on "+e.name+", "+m.name, againstWrites, p, m.cost)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	readers := pair[*reader]{}
	for _, side := range []struct {
		from *comparedLots
		to   **reader
	}{{p.before, &readers.before}, {p.after, &readers.after}} {
		c := dial(side.from.host, 1)
		defer c.close()
		*side.to = &reader{side.from.server, c}
	}
	reports, err := b.comparePaths("lots on "+e.name, readers, []namedPath{
		{"asset tax lots", "/v1/reports/asset-tax-lots?limit=50"},
		{"closing positions", "/v1/reports/closing-positions?limit=50"},
		{"realized gains and losses", "/v1/reports/realized-gains-losses?limit=50"},
		{"schedule of dispositions", "/v1/reports/schedule-of-dispositions?limit=50"},
	})
	return append(figures, reports...), err
}

// comparedLots starts a service and books acquisitions at one source, and trades at another.
func (b *bench) comparedLots(d database, count int) (*comparedLots, error) {
	s, err := b.serve(d)
	if err != nil {
		return nil, err
	}
	c := &comparedLots{treasuryService: &treasuryService{server: s, api: s.client()}, next: count}
	fill := func() error {
		if err := c.open(b.ctx); err != nil {
			return err
		}
		if err := c.fill(b.ctx, c.full, 0, count, func(int) string { return "credit" }); err != nil {
			return err
		}
		if err := c.fill(b.ctx, c.traded, 0, count/4, func(i int) string { return []string{"credit", "debit"}[i%2] }); err != nil {
			return err
		}
		made, err := c.api.CreateTransactions(b.ctx, c.transaction(c.traded, "credit", "ETH", "1", "1999.00", history.Add(-apart)))
		if err != nil {
			return err
		}
		c.late = made.Data[0].ID
		return b.analyze(d)
	}
	if err := fill(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return c, nil
}

// disposals books disposals one after another and returns the median.
func (c *comparedLots) disposals(ctx context.Context, n int) (time.Duration, error) {
	var all []client.CreateTransaction
	for range n {
		all = append(all, c.transaction(c.full, "debit", "ETH", "1.5", "4000.00", history.Add(time.Duration(c.next)*apart)))
		c.next++
	}
	made, err := c.api.CreateTransactions(ctx, all...)
	if err != nil {
		return 0, err
	}
	var took []time.Duration
	for _, m := range made.Data {
		d, err := c.post(ctx, c.entry(m.ID, "debit"))
		if err != nil {
			return 0, err
		}
		took = append(took, d)
	}
	return median(took), nil
}
