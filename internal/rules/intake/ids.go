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
	key := maphash.String(i.seed, id)
	if i.given.full() {
		return i.given.known(key)
	}
	return i.given.add(key) > 0
}

// counts counts how often something was there. Up to exactMax different things are counted one by one, in a table of
// plain numbers: a million of them are remembered while a file is read, and a map would take four times the room.
// What comes behind them shares counters of a bounded table, where another thing may be counted along: a count may
// then be too high, never too low, and it always grows; so ids made with it still differ.
type counts struct {
	keys []uint64 // 0 is none
	used int
	more map[uint64]uint32 // how often the few were there again
	rest []uint32
}

const (
	// firstMax and restMax are sizes of tables, powers of two.
	firstMax = 1 << 10
	restMax  = 1 << 22
)

func (c *counts) full() bool { return c.used >= exactMax }

// slot is where a key is or would be.
func (c *counts) slot(key uint64) int {
	at := int(key * 0x9e3779b97f4a7c15 >> 32 % uint64(len(c.keys)))
	for c.keys[at] != 0 && c.keys[at] != key {
		at = (at + 1) % len(c.keys)
	}
	return at
}

// known tells whether a key was there; beyond the first exactMax it is not known.
func (c *counts) known(key uint64) bool {
	return c.used > 0 && c.keys[c.slot(max(key, 1))] != 0
}

// add counts one more and gives how many there were before.
func (c *counts) add(key uint64) uint32 {
	key = max(key, 1)
	if 4*c.used >= 3*len(c.keys) {
		c.grow()
	}
	at := c.slot(key)
	switch {
	case c.keys[at] == key:
		if c.more == nil {
			c.more = map[uint64]uint32{}
		}
		c.more[key]++
		return c.more[key]
	case c.full():
		return c.addRest(key)
	}
	c.keys[at] = key
	c.used++
	return 0
}

func (c *counts) addRest(key uint64) uint32 {
	if c.rest == nil {
		c.rest = make([]uint32, restMax)
	}
	slot := &c.rest[key%restMax]
	*slot++
	return *slot - 1
}

func (c *counts) grow() {
	before := c.keys
	c.keys = make([]uint64, max(firstMax, 2*len(before)))
	for _, key := range before {
		if key != 0 {
			c.keys[c.slot(key)] = key
		}
	}
}
