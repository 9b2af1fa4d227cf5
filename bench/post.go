package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db/dbtest/pgcluster"
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

// ledgerOf is a running service with a chart to post to.
type ledgerOf struct {
	*server
	crowd    *crowd
	accounts []string
}

// openLedger starts the service on a database and makes accounts.
func (b *bench) openLedger(k books) (*ledgerOf, error) {
	k, err := b.foundIn(k)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	l := &ledgerOf{server: s}
	for i := range postAccounts {
		a, err := s.client().CreateLedgerAccount(b.ctx, client.CreateLedgerAccount{Name: fmt.Sprint("Account ", i),
			Type: []string{"Asset", "Revenue"}[i%2]})
		if err != nil {
			return nil, errors.Join(err, s.stop())
		}
		l.accounts = append(l.accounts, a.ID)
	}
	if l.crowd, err = dial(s.host, postClients); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return l, nil
}

func (l *ledgerOf) close() error {
	l.crowd.close()
	return l.stop()
}

// posts counts over all runs, so that every idempotency key is new.
var posts atomic.Int64

// post is one posted entry of two lines, with an idempotency key.
func (l *ledgerOf) post(pick func() (debit, credit int)) request {
	return func(b []byte) []byte { return l.request(b, "/v1/journal-entries", l.entry(nil, pick)) }
}

// batch is many of them in one request.
func (l *ledgerOf) batch(n int, pick func() (debit, credit int)) request {
	return func(b []byte) []byte {
		body := []byte(`{"journal_entries":[`)
		for i := range n {
			if i > 0 {
				body = append(body, ',')
			}
			body = l.entry(body, pick)
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

func (l *ledgerOf) entry(b []byte, pick func() (debit, credit int)) []byte {
	debit, credit := pick()
	amount := fmt.Sprintf("%d.%02d", 1+rand.IntN(5000), rand.IntN(100))
	return fmt.Appendf(b, `{"accounting_date":"2026-01-15","status":"posted","memo":"bench entry","lines":[`+
		`{"ledger_account_id":%q,"credit_or_debit":"DEBIT","amount":%q},{"ledger_account_id":%q,"credit_or_debit":"CREDIT","amount":%q}]}`,
		l.accounts[debit], amount, l.accounts[credit], amount)
}

// spread picks any two accounts, hot always the same.
func spread() (debit, credit int) {
	debit = rand.IntN(postAccounts)
	return debit, (debit + 1 + rand.IntN(postAccounts-1)) % postAccounts
}

func hot() (debit, credit int) { return 0, 1 }

// plain is a program that writes the same rows straight to the database.
type plain interface {
	// run keeps clients writing for a while, so many entries a transaction.
	run(d time.Duration, clients, perCommit int, pick func() (debit, credit int)) (tally, error)
	close() error
}

// contest measures the service and the plain program in turns.
type contest struct {
	plain, spread, hot, batch, plainBatch tally
	ratios, hotRatios, batchRatios        []float64
}

func (b *bench) contest(l *ledgerOf, p plain, clients, perCommit int) (c contest, err error) {
	slice := pick(b, 3*time.Second, time.Second)
	if _, err := l.crowd.run(warmup, l.post(spread)); err != nil {
		return c, err
	}
	single := &crowd{l.crowd.lines[:1]}
	for range pick(b, 5, 2) {
		plainly, err := p.run(slice, clients, perCommit, spread)
		if err != nil {
			return c, err
		}
		spreadly, err := l.crowd.run(slice, l.post(spread))
		if err != nil {
			return c, err
		}
		hotly, err := l.crowd.run(slice, l.post(hot))
		if err != nil {
			return c, err
		}
		batched, err := single.run(slice/2, l.batch(postBatch, spread))
		if err != nil {
			return c, err
		}
		plainBatched, err := p.run(slice/2, 1, postBatch, spread)
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
		c.batchRatios = append(c.batchRatios, postBatch*batched.rate()/plainBatched.rate())
	}
	return c, nil
}

func (c contest) figures(name string, ratioMin float64, what string) []figure {
	tail := c.spread.at(0.99).Seconds() / c.spread.at(0.5).Seconds()
	return []figure{
		{name: name + ", of a plain program", value: fmt.Sprintf("%.2f", median(c.ratios)), target: fmt.Sprintf(">= %.1f", ratioMin),
			verdict: judge(median(c.ratios) >= ratioMin),
			note:    fmt.Sprintf("%.0f/s of %.0f/s: %s", c.spread.rate(), c.plain.rate(), what)},
		{name: name + ", two hot accounts", value: fmt.Sprintf("%.2f", median(c.hotRatios)), target: fmt.Sprintf(">= %.1f", ratioMin),
			verdict: judge(median(c.hotRatios) >= ratioMin),
			note:    fmt.Sprintf("%.0f/s, of the plain program's rate on spread accounts", c.hot.rate())},
		{name: name + ", p99 to p50", value: fmt.Sprintf("%.1f", tail), target: fmt.Sprintf("<= %.0f", postTailMax),
			verdict: judge(tail <= postTailMax),
			note:    fmt.Sprintf("p50 %s, p99 %s, slowest %s", brief(c.spread.at(0.5)), brief(c.spread.at(0.99)), brief(c.spread.at(1)))},
		{name: name + ", batch of 1,000", value: fmt.Sprintf("%.2f", median(c.batchRatios)), target: fmt.Sprintf(">= %.1f",
			postBatchRatioMin), verdict: judge(median(c.batchRatios) >= postBatchRatioMin),
			note: fmt.Sprintf("%.0f/s of %.0f/s by a plain program that writes 1,000 a transaction", postBatch*c.batch.rate(), c.plainBatch.rate())},
	}
}

// cluster starts a PostgreSQL of the bench's own.
func (b *bench) cluster() (*pgcluster.Cluster, error) {
	if err := os.Chmod(b.dir, 0o755); err != nil { // PostgreSQL runs as a user of its own
		return nil, err
	}
	return pgcluster.Start(b.ctx, pgcluster.Options{Dir: b.dir})
}

// onSQLite measures a service on SQLite, in a folder of that name.
func onSQLite(name string, measure func(*bench, string, books) ([]figure, error)) func(*bench) ([]figure, error) {
	return func(b *bench) ([]figure, error) { return measure(b, "SQLite", books{dir: filepath.Join(b.dir, name)}) }
}

// onPostgres measures a service on a PostgreSQL of the bench's own.
func onPostgres(measure func(*bench, string, books) ([]figure, error)) func(*bench) ([]figure, error) {
	return func(b *bench) (figures []figure, err error) {
		cluster, err := b.cluster()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, cluster.Close()) }()
		return measure(b, "PostgreSQL", books{url: cluster.URL("postgres")})
	}
}

// measurePostPostgres posts entries to a service on PostgreSQL, with everything on: authentication, idempotency, audit chain, outbox.
func measurePostPostgres(b *bench) (figures []figure, err error) {
	cluster, err := b.cluster()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	l, err := b.openLedger(books{url: cluster.URL("postgres")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	p, err := b.plainPostgres(cluster.URL("postgres"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	c, err := b.contest(l, p, postClients, 1)
	if err != nil {
		return nil, err
	}
	figures = c.figures("post on PostgreSQL", postRatioMin, "one entry a transaction over as many connections as clients")
	hotPlain, err := p.run(pick(b, 3*time.Second, time.Second), postClients, 1, hot)
	return append(figures, figure{name: "post on PostgreSQL, the plain program on two hot accounts",
		value: fmt.Sprintf("%.2f", hotPlain.rate()/c.plain.rate()), target: "", verdict: informs,
		note: fmt.Sprintf("%.0f/s", hotPlain.rate())}), err
}

// measurePostSQLite does the same on SQLite, where the plain program commits 100 entries at a time.
func measurePostSQLite(b *bench) (figures []figure, err error) {
	l, err := b.openLedger(books{dir: filepath.Join(b.dir, "post")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	p, err := b.plainSQLite(filepath.Join(b.dir, "plain"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	c, err := b.contest(l, p, 1, 100)
	return c.figures("post on SQLite", postSQLiteRatioMin, "100 entries a transaction"), err
}
