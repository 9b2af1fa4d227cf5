package lot

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// codecVersion is the first byte of a checkpoint, so that another form can follow.
const codecVersion = 1

var errCodec = errors.New("lot: these bytes are no checkpoint")

// The flags of a lot in a checkpoint.
const (
	flagPending = 1 << iota
	flagProvisional
)

// MarshalBinary writes a checkpoint in few bytes: a lot takes some sixty, most of them its id.
func (c Checkpoint) MarshalBinary() ([]byte, error) {
	w := writer{make([]byte, 0, 64+64*len(c.Lots))}
	w.buf = append(w.buf, codecVersion)
	w.place(&c.After)
	w.int(c.Seq)
	w.decimal(c.Quantity)
	w.decimal(c.Basis)
	w.int(int64(len(c.Lots)))
	for i := range c.Lots {
		w.lot(&c.Lots[i])
	}
	return w.buf, nil
}

// UnmarshalBinary reads what MarshalBinary wrote. Times come back in UTC.
func (c *Checkpoint) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] != codecVersion {
		return errCodec
	}
	r := reader{buf: data[1:]}
	read := Checkpoint{After: r.place(), Seq: r.int(), Quantity: r.decimal(), Basis: r.decimal()}
	count := r.int()
	// Every lot has more than one byte: a count beyond that is a lie and must not be allocated.
	if count < 0 || count > int64(len(r.buf)) {
		return errCodec
	}
	if count > 0 {
		read.Lots = make([]Lot, count)
	}
	for i := range read.Lots {
		r.lot(&read.Lots[i])
	}
	if r.failed || len(r.buf) > 0 {
		return errCodec
	}
	*c = read
	return nil
}

type writer struct{ buf []byte }

func (w *writer) int(n int64) { w.buf = binary.AppendVarint(w.buf, n) }

func (w *writer) text(s string) {
	w.int(int64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *writer) time(t time.Time) {
	w.int(t.Unix())
	w.int(int64(t.Nanosecond()))
}

func (w *writer) decimal(d money.Decimal) {
	var digits [96]byte
	text := d.AppendFixed(digits[:0], 0)
	w.int(int64(len(text)))
	w.buf = append(w.buf, text...)
}

func (w *writer) place(p *Place) {
	w.time(p.At)
	w.text(string(p.Kind))
	w.text(string(p.Principal))
	for _, n := range []int64{p.Block, p.Index, p.Log, p.Sequence} {
		w.int(n)
	}
	w.text(p.ID)
}

func (w *writer) lot(l *Lot) {
	flags := byte(0)
	if l.BasisPending {
		flags |= flagPending
	}
	if l.Provisional {
		flags |= flagProvisional
	}
	w.buf = append(w.buf, flags)
	w.text(l.ID)
	w.time(l.AcquiredAt)
	w.int(l.Seq)
	w.decimal(l.Quantity)
	w.decimal(l.Basis)
	w.decimal(l.Spot)
}

// reader remembers that something was wrong and gives nothing from then on.
type reader struct {
	buf    []byte
	failed bool
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.buf)
	if size <= 0 {
		r.failed, r.buf = true, nil
		return 0
	}
	r.buf = r.buf[size:]
	return n
}

func (r *reader) text() string {
	n := r.int()
	if n < 0 || n > int64(len(r.buf)) {
		r.failed, r.buf = true, nil
		return ""
	}
	text := string(r.buf[:n])
	r.buf = r.buf[n:]
	return text
}

func (r *reader) byte() byte {
	if len(r.buf) == 0 {
		r.failed = true
		return 0
	}
	b := r.buf[0]
	r.buf = r.buf[1:]
	return b
}

func (r *reader) time() time.Time { return time.Unix(r.int(), r.int()).UTC() }

func (r *reader) decimal() money.Decimal {
	var d money.Decimal
	if err := d.Scan(r.text()); err != nil {
		r.failed = true
	}
	return d
}

func (r *reader) place() Place {
	return Place{
		At: r.time(), Kind: Kind(r.text()), Principal: Kind(r.text()),
		Block: r.int(), Index: r.int(), Log: r.int(), Sequence: r.int(), ID: r.text(),
	}
}

func (r *reader) lot(l *Lot) {
	flags := r.byte()
	l.BasisPending, l.Provisional = flags&flagPending != 0, flags&flagProvisional != 0
	l.ID, l.AcquiredAt, l.Seq = r.text(), r.time(), r.int()
	l.Quantity, l.Basis, l.Spot = r.decimal(), r.decimal(), r.decimal()
}
