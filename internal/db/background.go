package db

import (
	"context"
	"runtime"
	"time"
)

// Work that nobody waits for must not hold up requests. Its writes are marked with Background: on SQLite they let others that wait go
// first, and on both engines Pace keeps them short while others write. Work that reads much reads each part of it with
// ReadInTurn, so that processors are left for small requests.

const (
	// foregroundWindow is how long after a write of a request batches stay small.
	foregroundWindow = 2 * time.Second
	// batchTarget is how long a batch may take while requests write.
	batchTarget = 2 * time.Millisecond
	// batchFirst and batchMin are the sizes of the first and of the smallest batch while requests write. Each batch costs a commit.
	batchFirst = 20
	batchMin   = 4
)

type backgroundKey struct{}

// Background returns a context whose writes yield to those of requests.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

func isBackground(ctx context.Context) bool {
	marked, _ := ctx.Value(backgroundKey{}).(bool)
	return marked
}

// noteWrite notes a write of a request.
func (d *DB) noteWrite(ctx context.Context) {
	if !isBackground(ctx) {
		d.foreground.Store(time.Now().UnixNano())
	}
}

// requestsWrite reports whether requests have written to this node lately, and after a time.
func (d *DB) requestsWrite(after time.Time) bool {
	last := time.Unix(0, d.foreground.Load())
	return last.After(after) && time.Since(last) < foregroundWindow
}

// Pace chooses the sizes of batches: larger and larger while no requests write, and so small that they hold up a request for
// batchTarget only while some do. Writes before it do not count, because one of them has ordered the work. It is for one goroutine.
type Pace struct {
	db        *DB
	began     time.Time
	max, fits int // fits is how many items take about batchTarget
	next      int // the size of the next batch if no requests write
}

// NewPace returns a Pace for batches of at most max items.
func (d *DB) NewPace(max int) *Pace {
	first := min(max, batchFirst)
	return &Pace{db: d, began: time.Now(), max: max, fits: first, next: first}
}

// Next returns the size of the next batch.
func (p *Pace) Next() int {
	size := p.next
	if p.db.requestsWrite(p.began) {
		size = p.fits
	}
	p.next = min(2*size, p.max)
	return size
}

// Measure is called when a batch begins, inside its transaction: the time that it waits does not count. The function it returns is called
// when the batch has written its items.
func (p *Pace) Measure(items int) (done func()) {
	began := time.Now()
	return func() {
		took := max(time.Since(began), time.Microsecond)
		fits := int(time.Duration(items) * batchTarget / took)
		p.fits = min(max(batchMin, min(fits, 2*max(items, p.fits))), p.max)
	}
}

// turnsMax is how many parts of heavy work run at a time on this node: half of the processors, so that requests find one free.
func turnsMax() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// ReadInTurn is Read for a part of heavy work, such as a batch of a long read: it waits until this node may run another one. Parts should
// be short, because all such work takes turns.
func (d *DB) ReadInTurn(ctx context.Context, org string, fn Func) error {
	select {
	case d.turns <- struct{}{}:
		defer func() { <-d.turns }()
	case <-ctx.Done():
		return translate(ctx, ctx.Err())
	}
	return d.Read(ctx, org, fn)
}
