package intake

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
)

// idBytes is how much of a hash an id shows: 128 bits.
const idBytes = 16

// ids makes the ids of rows that have none, and finds ids that stand twice.
type ids struct {
	rows    counts
	given   counts
	seed    maphash.Seed
	scratch []byte
}

func newIDs() *ids { return &ids{seed: maphash.MakeSeed()} }

// content makes an id of what a row says and of how many equal rows came before it, so that two equal rows stay two and
// an overlapping export gives the same ids.
func (i *ids) content(cells ...string) string {
	b := i.scratch[:0]
	for _, cell := range cells {
		b = binary.AppendUvarint(b, uint64(len(cell)))
		b = append(b, cell...)
	}
	sum := sha256.Sum256(b)
	if n := i.rows.add(binary.BigEndian.Uint64(sum[:])); n > 0 {
		b = binary.AppendUvarint(append(b, 0), uint64(n))
		sum = sha256.Sum256(b)
	}
	i.scratch = b
	var id [2 * idBytes]byte
	hex.Encode(id[:], sum[:idBytes])
	return string(id[:])
}

// repeated tells whether an id was there before.
func (i *ids) repeated(id string) bool {
	return i.given.full() && i.given.exact[maphash.String(i.seed, id)] > 0 ||
		!i.given.full() && i.given.add(maphash.String(i.seed, id)) > 0
}

// counts counts how often something was there. Up to exactMax different things are counted one by one. What comes
// behind them shares counters of a bounded table, where another thing may be counted along: a count may then be too
// high, never too low, and it always grows; so ids made with it still differ.
type counts struct {
	exact map[uint64]uint32
	rest  []uint32
}

// restMax is the size of the shared table, a power of two.
const restMax = 1 << 22

func (c *counts) full() bool { return len(c.exact) >= exactMax }

// add counts one more and gives how many there were before.
func (c *counts) add(key uint64) uint32 {
	if c.exact == nil {
		c.exact = map[uint64]uint32{}
	}
	before, known := c.exact[key]
	if known || !c.full() {
		c.exact[key] = before + 1
		return before
	}
	if c.rest == nil {
		c.rest = make([]uint32, restMax)
	}
	slot := &c.rest[key%restMax]
	*slot++
	return *slot - 1
}
