package asset

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Place is where something stands among everything that happens to a pool, as text that sorts as rules/lot orders it: the time, what comes before
// what goes, the place on the chain, the number of the transaction, and the request of its entry.
type Place string

// placeOf writes a place down.
func placeOf(at time.Time, kind lot.Kind, block, number int64, position int) Place {
	rank := 3
	switch kind {
	case lot.Acquire:
		rank = 0
	case lot.Arrive:
		rank = 1
	case lot.Move, lot.Convert:
		rank = 2
	}
	return Place(fmt.Sprintf("%016d %d %012d %012d %03d", at.UnixMicro(), rank, block, number, position))
}

// parts reads a place.
func (p Place) parts() (at time.Time, rank int, block, number int64, ok bool) {
	var micros int64
	var position int
	n, err := fmt.Sscanf(string(p), "%d %d %d %d %d", &micros, &rank, &block, &number, &position)
	return time.UnixMicro(micros).UTC(), rank, block, number, err == nil && n == 5
}

// Settle finds the pool of a lot that is entered by hand, and its place: that of its date.
func (l *Lot) Settle(b *books.Books) {
	l.Pool = poolOf(b, l.place(), l.asset(), "").Key
	l.Place = placeOf(l.AcquiredAt, lot.Acquire, 0, 0, 0) + Place(" "+l.ID)
}

func (l *Lot) place() posting.Place {
	return posting.Place{Source: l.SourceID, Account: l.LedgerAccountID, Entity: l.LegalEntityID}
}

func (l *Lot) asset() posting.Asset {
	return posting.Asset{Symbol: l.AssetType, Chain: l.Chain, Token: l.TokenID, Lots: true}
}
