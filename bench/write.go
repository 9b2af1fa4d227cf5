package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

const (
	writeClients  = 32
	writeRatioMin = 2.0
	writeTailMax  = 8.0
)

// measureWrite shows that clients that write concurrently share disk syncs (group commit) instead of queueing for them.
func measureWrite(b *bench) (figures []figure, err error) {
	s, err := b.serveNew("write")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	one := dial(s.host, 1)
	defer one.close()
	many := dial(s.host, writeClients)
	defer many.close()
	if _, err := many.run(b.warmup(), s.rename()); err != nil {
		return nil, err
	}
	bare, err := b.openRaw()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.handle.Close()) }()
	var alone, together tally
	var ratios, raws []float64
	slice := pick(b, time.Second, 300*time.Millisecond, 40*time.Millisecond)
	for range pick(b, 6, 3, 1) {
		a, err := one.run(slice, s.rename())
		if err != nil {
			return nil, err
		}
		t, err := many.run(slice, s.rename())
		if err != nil {
			return nil, err
		}
		r, err := bare.run(slice / 2)
		if err != nil {
			return nil, err
		}
		alone.add(a)
		together.add(t)
		raws = append(raws, r.rate())
		ratios = append(ratios, t.rate()/a.rate())
	}
	ratio, rawRate, p50, p99 := median(ratios), median(raws), together.at(0.50), together.at(0.99)
	tail := p99.Seconds() / p50.Seconds()
	return []figure{
		{name: fmt.Sprintf("write, %d clients to 1", writeClients), value: fmt.Sprintf("%.1f", ratio),
			target: fmt.Sprintf(">= %.0f", writeRatioMin), verdict: b.judge(ratio >= writeRatioMin),
			note: fmt.Sprintf("PATCH %s %.0f/s with %d clients, %.0f/s with one", readPath, together.rate(), writeClients, alone.rate())},
		{name: fmt.Sprintf("write, p99 to p50 at %d", writeClients), value: fmt.Sprintf("%.1f", tail),
			target: fmt.Sprintf("< %.0f", writeTailMax), verdict: b.judge(tail < writeTailMax),
			note: fmt.Sprintf("p50 %s, p99 %s, slowest %s; one client p50 %s", rounded(p50), rounded(p99), rounded(together.at(1)),
				rounded(alone.at(0.50)))},
		{name: "write, of raw SQLite", value: fmt.Sprintf("%.2f", together.rate()/rawRate), target: "", verdict: noTarget,
			note: fmt.Sprintf("one UPDATE of one row a commit, synced each time: %.0f/s; one client reaches %.2f of it", rawRate,
				alone.rate()/rawRate)},
	}, nil
}

// rounded rounds a duration for display.
func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// raw is SQLite without the service: the same driver and settings, on the same disk.
type raw struct {
	handle *db.DB
	update func(name string) error
}

// openRaw creates a database of one row. Its write-ahead log already has its full size, like that of a service that has run
// for a while: a growing file costs more than one that is overwritten.
func (b *bench) openRaw() (*raw, error) {
	handle, err := db.Open(db.Config{Dir: filepath.Join(b.dir, "raw")})
	if err != nil {
		return nil, err
	}
	pool := handle.Jobs()
	for _, statement := range []string{
		"CREATE TABLE raw (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
		"INSERT INTO raw (id, name) VALUES (1, ''), (2, hex(zeroblob(4000000)))",
		"DELETE FROM raw WHERE id = 2",
		"PRAGMA wal_checkpoint(RESTART)",
	} {
		if _, err := pool.ExecContext(b.ctx, statement); err != nil {
			return nil, errors.Join(err, handle.Close())
		}
	}
	update, err := pool.PrepareContext(b.ctx, "UPDATE raw SET name = ? WHERE id = 1")
	if err != nil {
		return nil, errors.Join(err, handle.Close())
	}
	return &raw{handle, func(name string) error {
		_, err := update.ExecContext(b.ctx, name)
		return err
	}}, nil
}

// run commits one update after another, each synced to disk.
func (r *raw) run(d time.Duration) (tally, error) {
	return repeat(func(t tally) bool { return t.elapsed < d }, func() error { return r.update(fmt.Sprintf("Name %d", renames.Add(1))) })
}
