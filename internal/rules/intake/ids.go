package intake

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
)

// idBytes is the length of a derived id: 128 bits of the hash.
const idBytes = 16

// ids derives the ids of rows that have none, and detects duplicate ids.
type ids struct {
	rows    counter
	used    counter
	seed    maphash.Seed
	scratch []byte
}

func newIDs() *ids { return &ids{seed: maphash.MakeSeed()} }

// derive returns an id made from the content of a row and the number of equal rows before it, so that two equal rows
// stay two transactions and an overlapping export yields the same ids.
func (i *ids) derive(cells ...string) string {
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

// isDuplicate reports whether an id occurred before.
func (i *ids) isDuplicate(id string) bool {
	key := maphash.String(i.seed, id)
	if i.used.full() {
		return i.used.seen(key)
	}
	return i.used.add(key) > 0
}

// counter counts occurrences of keys. The first exactMax different keys are counted exactly, in a hash table of plain
// numbers: a million of them are kept while a file is read, and a map would need four times the memory. Further keys
// share the counters of a bounded table: such a count may be too high but never too low, and it always grows, so
// derived ids still differ.
type counter struct {
	keys []uint64 // 0 means empty.
	used int
	more map[uint64]uint32 // How often the few repeated keys occurred again.
	rest []uint32
}

const (
	// firstMax and restMax are table sizes, powers of two.
	firstMax = 1 << 10
	restMax  = 1 << 22
)

func (c *counter) full() bool { return c.used >= exactMax }

// slot returns the index where a key is or would be stored.
func (c *counter) slot(key uint64) int {
	at := int(key * 0x9e3779b97f4a7c15 >> 32 % uint64(len(c.keys)))
	for c.keys[at] != 0 && c.keys[at] != key {
		at = (at + 1) % len(c.keys)
	}
	return at
}

// seen reports whether a key was counted before; keys beyond the first exactMax are reported as not seen.
func (c *counter) seen(key uint64) bool {
	return c.used > 0 && c.keys[c.slot(max(key, 1))] != 0
}

// add counts one occurrence and returns how many there were before.
func (c *counter) add(key uint64) uint32 {
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

func (c *counter) addRest(key uint64) uint32 {
	if c.rest == nil {
		c.rest = make([]uint32, restMax)
	}
	slot := &c.rest[key%restMax]
	*slot++
	return *slot - 1
}

func (c *counter) grow() {
	before := c.keys
	c.keys = make([]uint64, max(firstMax, 2*len(before)))
	for _, key := range before {
		if key != 0 {
			c.keys[c.slot(key)] = key
		}
	}
}
