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

// measureWrite shows that clients who write at the same time share the disk's syncs instead of queueing for them.
func measureWrite(b *bench) (figures []figure, err error) {
	k, err := b.found("write")
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	one, err := dial(s.host, 1)
	if err != nil {
		return nil, err
	}
	defer one.close()
	many, err := dial(s.host, writeClients)
	if err != nil {
		return nil, err
	}
	defer many.close()
	if _, err := many.run(warmup, s.rename()); err != nil {
		return nil, err
	}
	var alone, together, raw tally
	var ratios []float64
	slice := pick(b, time.Second, 300*time.Millisecond)
	for range pick(b, 6, 3) {
		a, err := one.run(slice, s.rename())
		if err != nil {
			return nil, err
		}
		t, err := many.run(slice, s.rename())
		if err != nil {
			return nil, err
		}
		r, err := b.rawWrites(slice / 2)
		if err != nil {
			return nil, err
		}
		alone.add(a)
		together.add(t)
		raw.add(r)
		ratios = append(ratios, t.rate()/a.rate())
	}
	ratio, p50, p99 := median(ratios), together.at(0.50), together.at(0.99)
	tail := p99.Seconds() / p50.Seconds()
	return []figure{
		{fmt.Sprintf("write, %d clients to 1", writeClients), fmt.Sprintf("%.1f", ratio), fmt.Sprintf(">= %.0f", writeRatioMin), judge(ratio >= writeRatioMin),
			fmt.Sprintf("PATCH %s %.0f/s with %d clients, %.0f/s with one", readPath, together.rate(), writeClients, alone.rate())},
		{fmt.Sprintf("write, p99 to p50 at %d", writeClients), fmt.Sprintf("%.1f", tail), fmt.Sprintf("< %.0f", writeTailMax), judge(tail < writeTailMax),
			fmt.Sprintf("p50 %s, p99 %s, slowest %s; one client p50 %s", brief(p50), brief(p99), brief(together.at(1)), brief(alone.at(0.50)))},
		{"write, of raw SQLite", fmt.Sprintf("%.2f", together.rate()/raw.rate()), "", informs,
			fmt.Sprintf("one UPDATE of one row a commit, synced each time: %.0f/s; one client reaches %.2f of it", raw.rate(), alone.rate()/raw.rate())},
	}, nil
}

// brief rounds a time for reading.
func brief(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// rawWrites is what SQLite does without the service: the same driver and settings, on the same disk.
func (b *bench) rawWrites(d time.Duration) (t tally, err error) {
	handle, err := db.Open(db.Config{Dir: filepath.Join(b.dir, "raw")})
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	pool := handle.Jobs()
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS raw (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
		"INSERT INTO raw (id, name) VALUES (1, '') ON CONFLICT DO NOTHING",
	} {
		if _, err := pool.ExecContext(b.ctx, statement); err != nil {
			return t, err
		}
	}
	update, err := pool.PrepareContext(b.ctx, "UPDATE raw SET name = ? WHERE id = 1")
	if err != nil {
		return t, err
	}
	defer update.Close()
	began := time.Now()
	for at := began; at.Sub(began) < d; {
		if _, err := update.ExecContext(b.ctx, fmt.Sprintf("Name %d", renames.Add(1))); err != nil {
			return t, err
		}
		now := time.Now()
		t.latencies = append(t.latencies, now.Sub(at))
		at = now
	}
	t.elapsed = time.Since(began)
	return t, nil
}
