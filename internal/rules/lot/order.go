package lot

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Place determines the position of an event among all events of its pool.
type Place struct {
	// At is the zero time for an opening balance, which enters before every other event.
	At   time.Time
	Kind Kind
	// Principal is the kind of the event that this fee was paid for. A fee on its own has none, and neither has the fee
	// of an acquisition, which may be paid from what was acquired.
	Principal Kind
	// Returns marks an arrival of what left the same pool at the same instant: it comes among the moves of the instant, by block and
	// number, or after all of them. It is set by Returning.
	Returns bool
	// Block is the block number on the chain, 0 where there is none.
	Block int64
	// Sequence is the number of the transaction, 0 for an opening balance.
	Sequence int64
	// Request is the position of the request within the journal entry.
	Request int64
	// ID names the transaction and the request, or the lot of an opening balance. An event and its fee share it.
	ID string
}

// Compare defines the order in which the events of a pool are applied: by time; at the same instant, events that add lots
// before events that consume them, except that what returns comes among the moves or after them; then by block number,
// transaction number and request. Different events never compare as equal.
//
// Place.OrderKey encodes the same order as text, for the database.
func Compare(a, b Place) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()),
		cmp.Compare(a.Block, b.Block),
		cmp.Compare(a.Sequence, b.Sequence),
		cmp.Compare(a.Request, b.Request),
		strings.Compare(a.ID, b.ID),
		cmp.Compare(a.part(), b.part()),
		strings.Compare(string(a.Kind), string(b.Kind)),
	)
}

// lastBlock is the block number of what returns after all moves, of whatever block.
const lastBlock = math.MaxInt64

// Returning returns the place of an arrival that comes among the moves of its instant or, as the last, after all of them.
func (p Place) Returning(last bool) Place {
	if p.Kind, p.Returns = Arrive, true; last {
		p.Block = lastBlock
	}
	return p
}

// ReturnsLast reports whether the place is that of an arrival after all moves of its instant.
func (p Place) ReturnsLast() bool { return p.Returns && p.Block == lastBlock }

// rank orders the events of one instant. A fee has the rank of the event it was paid for.
func (p *Place) rank() int64 {
	kind := p.Kind
	if p.Returns {
		kind = Move
	}
	if kind == Fee && p.Principal != "" {
		kind = p.Principal
	}
	switch kind {
	case Acquire:
		return 0
	case Arrive:
		return 1
	case Move, Convert:
		return 2
	default:
		return 3
	}
}

// part orders a fee before its principal, which is equal in all other respects.
func (p *Place) part() int {
	if p.Kind == Fee {
		return 0
	}
	return 1
}

// OrderKey is a Place as text. Byte by byte, keys sort as Compare orders their places, so that the
// database can select and sort the events of a pool by it.
//
// A key consists of five numbers separated by spaces: the time in microseconds, the rank of the kind, the block, the
// transaction number and the request. An opening balance has no transaction number; the ID of its lot follows, so that
// opening balances, which all have the zero time, have different keys. A fee and its principal share a key.
type OrderKey string

// The width of each number in a key. Wider numbers are written with a prefix, see appendOrdered.
const (
	timeWidth     = 16
	rankWidth     = 1
	blockWidth    = 12
	sequenceWidth = 12
	requestWidth  = 3
)

var keyWidths = [...]int{timeWidth, rankWidth, blockWidth, sequenceWidth, requestWidth}

// OrderKey returns the key of a place. Times are kept to the microsecond; the database keeps milliseconds.
func (p *Place) OrderKey() OrderKey {
	text := make([]byte, 0, 64)
	for i, n := range [...]int64{p.At.UnixMicro(), p.rank(), p.Block, p.Sequence, p.Request} {
		if i > 0 {
			text = append(text, ' ')
		}
		text = appendOrdered(text, n, keyWidths[i])
	}
	if p.Sequence == 0 && p.ID != "" {
		text = append(append(text, ' '), p.ID...)
	}
	return OrderKey(text)
}

// appendOrdered writes a number so that the texts of two numbers of one width sort as the numbers do:
//
//   - a number of at most width digits is padded with zeros to width;
//   - a wider one is its digits after a letter that says how many digits more it has: 'a' for one, 'b' for two and so
//     on. Letters sort after digits, and among numbers with the same letter all have the same length;
//   - a negative one is '-', which sorts before digits, and its distance from the smallest int64 in 19 digits.
//
// The first form is what keys have always consisted of, so that keys stored by earlier versions remain valid.
func appendOrdered(text []byte, n int64, width int) []byte {
	if n < 0 {
		return fmt.Appendf(text, "-%019d", n-math.MinInt64)
	}
	digits := strconv.FormatInt(n, 10)
	if more := len(digits) - width; more > 0 {
		text = append(text, 'a'+byte(more-1))
	}
	for range width - len(digits) {
		text = append(text, '0')
	}
	return append(text, digits...)
}

// Place decodes a key. A key holds only the rank of the kind, which is returned as Acquire, Arrive, Move or Dispose: an arrival that
// returns has that of a move. ID is set only for an opening balance.
func (k OrderKey) Place() (Place, error) {
	parts := strings.SplitN(string(k), " ", len(keyWidths)+1)
	if len(parts) < len(keyWidths) {
		return Place{}, fmt.Errorf("lot: %q is not an order key: it has %d parts and needs %d", string(k), len(parts), len(keyWidths))
	}
	var n [len(keyWidths)]int64
	for i := range n {
		var err error
		if n[i], err = parseOrdered(parts[i]); err != nil {
			return Place{}, fmt.Errorf("lot: %q is not an order key: %w", string(k), err)
		}
	}
	kinds := [...]Kind{Acquire, Arrive, Move, Dispose}
	if n[1] < 0 || n[1] >= int64(len(kinds)) {
		return Place{}, fmt.Errorf("lot: %q is not an order key: its rank is %d", string(k), n[1])
	}
	p := Place{At: time.UnixMicro(n[0]).UTC(), Kind: kinds[n[1]], Block: n[2], Sequence: n[3], Request: n[4]}
	if len(parts) > len(keyWidths) {
		p.ID = parts[len(keyWidths)]
	}
	return p, nil
}

// parseOrdered reads what appendOrdered wrote.
func parseOrdered(text string) (int64, error) {
	switch {
	case strings.HasPrefix(text, "-"):
		distance, err := strconv.ParseInt(text[1:], 10, 64)
		return distance + math.MinInt64, err
	case text != "" && text[0] >= 'a' && text[0] <= 'z':
		text = text[1:]
	}
	return strconv.ParseInt(text, 10, 64)
}
