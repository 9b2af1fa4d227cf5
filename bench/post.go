package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bursarhq/bursar/client"
)

const (
	postClients  = 32
	postAccounts = 1000
	postBatch    = 1000

	postRatioMin       = 1.0 // of the plain program, on PostgreSQL
	postSQLiteRatioMin = 0.4 // of the plain program that commits 100 at a time, on SQLite
	postBatchRatioMin  = 0.5
	postTailMax        = 8.0
)

// ledgerOf is a running service with a chart of accounts to post to.
type ledgerOf struct {
	*server
	connections *connections
	accounts    []string
}

// openLedger starts the service on a database and creates ledger accounts.
func (b *bench) openLedger(k database) (*ledgerOf, error) {
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	l, err := b.addLedger(s)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return l, nil
}

// addLedger creates ledger accounts of the organization of a running service.
func (b *bench) addLedger(s *server) (*ledgerOf, error) {
	l := &ledgerOf{server: s}
	for i := range b.accounts() {
		a, err := s.client().CreateLedgerAccount(b.ctx, client.CreateLedgerAccount{Name: fmt.Sprint("Account ", i),
			Type: []string{"Asset", "Revenue"}[i%2]})
		if err != nil {
			return nil, err
		}
		l.accounts = append(l.accounts, a.ID)
	}
	l.connections = dial(s.host, postClients)
	return l, nil
}

func (l *ledgerOf) close() error {
	l.connections.close()
	return l.stop()
}

// posts counts over all runs, so that every idempotency key is new.
var posts atomic.Int64

// choice returns two accounts, by their index.
type choice func() (debit, credit int)

// post returns requests that post one entry of two lines each, with an idempotency key.
func (l *ledgerOf) post(accounts choice) request {
	return func(b []byte) []byte { return l.request(b, "/v1/journal-entries", l.entry(nil, accounts)) }
}

// batch returns requests that post n entries each.
func (l *ledgerOf) batch(n int, accounts choice) request {
	return func(b []byte) []byte {
		body := []byte(`{"journal_entries":[`)
		for i := range n {
			if i > 0 {
				body = append(body, ',')
			}
			body = l.entry(body, accounts)
		}
		return l.request(b, "/v1/journal-entries/batch", append(body, "]}"...))
	}
}

func (l *ledgerOf) request(b []byte, path string, body []byte) []byte {
	b = append(b, "POST "+path+" HTTP/1.1\r\nHost: "+l.host+"\r\nX-API-Key: "+l.key+"\r\nIdempotency-Key: bench-"...)
	b = strconv.AppendInt(b, posts.Add(1), 10)
	b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	return append(append(b, "\r\n\r\n"...), body...)
}

func (l *ledgerOf) entry(b []byte, accounts choice) []byte {
	debit, credit := accounts()
	amount := fmt.Sprintf("%d.%02d", 1+rand.IntN(5000), rand.IntN(100))
	return fmt.Appendf(b, `{"accounting_date":"2026-01-15","status":"posted","memo":"bench entry","lines":[`+
		`{"ledger_account_id":%q,"credit_or_debit":"DEBIT","amount":%q},{"ledger_account_id":%q,"credit_or_debit":"CREDIT","amount":%q}]}`,
		l.accounts[debit], amount, l.accounts[credit], amount)
}

// accounts returns how many ledger accounts entries are spread over.
func (b *bench) accounts() int { return pick(b, postAccounts, postAccounts, 10) }

// spread chooses any two accounts.
func (b *bench) spread() choice {
	n := b.accounts()
	return func() (debit, credit int) {
		debit = rand.IntN(n)
		return debit, (debit + 1 + rand.IntN(n-1)) % n
	}
}

// hot always chooses the same two accounts.
func hot() (debit, credit int) { return 0, 1 }

// plain is a program that writes the same rows straight to the database.
type plain interface {
	// run keeps clients writing for a duration, perCommit entries per transaction.
	run(d time.Duration, clients, perCommit int, accounts choice) (tally, error)
	close() error
}

// postingRuns are alternating runs of the service and the plain program.
type postingRuns struct {
	plain, spread, hot, batch, plainBatch tally
	ratios, hotRatios, batchRatios        []float64
}

func (b *bench) postingRuns(l *ledgerOf, p plain, clients, perCommit int) (c postingRuns, err error) {
	slice := pick(b, 3*time.Second, time.Second, 60*time.Millisecond)
	spread, batch := b.spread(), pick(b, postBatch, postBatch, 20)
	if _, err := l.connections.run(b.warmup(), l.post(spread)); err != nil {
		return c, err
	}
	single := &connections{l.connections.list[:1]}
	for range pick(b, 5, 2, 1) {
		plainly, err := p.run(slice, clients, perCommit, spread)
		if err != nil {
			return c, err
		}
		spreadly, err := l.connections.run(slice, l.post(spread))
		if err != nil {
			return c, err
		}
		hotly, err := l.connections.run(slice, l.post(hot))
		if err != nil {
			return c, err
		}
		batched, err := single.run(slice/2, l.batch(batch, spread))
		if err != nil {
			return c, err
		}
		plainBatched, err := p.run(slice/2, 1, batch, spread)
		if err != nil {
			return c, err
		}
		c.plain.add(plainly)
		c.spread.add(spreadly)
		c.hot.add(hotly)
		c.batch.add(batched)
		c.plainBatch.add(plainBatched)
		c.ratios = append(c.ratios, spreadly.rate()/plainly.rate())
		c.hotRatios = append(c.hotRatios, hotly.rate()/plainly.rate())
		c.batchRatios = append(c.batchRatios, float64(batch)*batched.rate()/plainBatched.rate())
	}
	return c, nil
}

func (c postingRuns) figures(b *bench, name string, ratioMin float64, what string) []figure {
	tail := c.spread.at(0.99).Seconds() / c.spread.at(0.5).Seconds()
	return []figure{
		{name: name + ", of a plain program", value: fmt.Sprintf("%.2f", median(c.ratios)), target: fmt.Sprintf(">= %.1f", ratioMin),
			verdict: b.judge(median(c.ratios) >= ratioMin),
			note:    fmt.Sprintf("%.0f/s to %.0f/s: %s", c.spread.rate(), c.plain.rate(), what)},
		{name: name + ", two hot accounts", value: fmt.Sprintf("%.2f", median(c.hotRatios)), target: fmt.Sprintf(">= %.1f", ratioMin),
			verdict: b.judge(median(c.hotRatios) >= ratioMin),
			note:    fmt.Sprintf("%.0f/s, of the plain program's rate on spread accounts", c.hot.rate())},
		{name: name + ", p99 to p50", value: fmt.Sprintf("%.1f", tail), target: fmt.Sprintf("<= %.0f", postTailMax),
			verdict: b.judge(tail <= postTailMax),
			note:    fmt.Sprintf("p50 %s, p99 %s, slowest %s", rounded(c.spread.at(0.5)), rounded(c.spread.at(0.99)), rounded(c.spread.at(1)))},
		{name: name + ", batch of 1,000", value: fmt.Sprintf("%.2f", median(c.batchRatios)),
			target: fmt.Sprintf(">= %.1f", postBatchRatioMin), verdict: b.judge(median(c.batchRatios) >= postBatchRatioMin),
			note: fmt.Sprintf("%.0f/s of %.0f/s by a plain program that writes 1,000 per transaction", postBatch*c.batch.rate(),
				c.plainBatch.rate())},
	}
}

// postPostgres posts entries to a service on PostgreSQL, with everything on: authentication, idempotency, audit chain, outbox.
func (b *bench) postPostgres(e engine) (figures []figure, err error) {
	d, err := b.create(e, "post")
	if err != nil {
		return nil, err
	}
	l, err := b.openLedger(d)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	p, err := b.plainPostgres(d.admin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	r, err := b.postingRuns(l, p, postClients, 1)
	if err != nil {
		return nil, err
	}
	figures = r.figures(b, "post on PostgreSQL", postRatioMin, "one entry per transaction over as many connections as clients")
	hotPlain, err := p.run(pick(b, 3*time.Second, time.Second, 30*time.Millisecond), postClients, 1, hot)
	return append(figures, figure{name: "post on PostgreSQL, the plain program on two hot accounts",
		value: fmt.Sprintf("%.2f", hotPlain.rate()/r.plain.rate()), target: "", verdict: noTarget,
		note: fmt.Sprintf("%.0f/s", hotPlain.rate())}), err
}

// postSQLite does the same on SQLite, where the plain program commits 100 entries at a time.
func (b *bench) postSQLite(e engine) (figures []figure, err error) {
	d, err := b.create(e, "post")
	if err != nil {
		return nil, err
	}
	l, err := b.openLedger(d)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	other, err := e.create("plain")
	if err != nil {
		return nil, err
	}
	p, err := b.plainSQLite(other.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	r, err := b.postingRuns(l, p, 1, 100)
	return r.figures(b, "post on SQLite", postSQLiteRatioMin, "100 entries per transaction"), err
}
