package lot

import "github.com/bursarhq/bursar/internal/base/money"

// Change is what became different about one event. Amounts are the new ones less the old ones.
type Change struct {
	ID    string
	Kind  Kind
	Basis money.Decimal
	Gain  money.Decimal
	Rows  []Row
}

// Row is a use that became another, came to be, or is no more.
type Row struct {
	Lot      string
	Old, New *Use
}

// Diff compares the uses of two replays by event and lot. Events are in the order of the new uses, those that have none any more at the end; one that
// takes the same from the same lots is not listed.
func Diff(old, fresh []Use) []Change {
	d := differ{at: map[event]int{}}
	before := make(map[row]*Use, len(old))
	for i := range old {
		before[rowOf(&old[i])] = &old[i]
	}
	for i := range fresh {
		u := &fresh[i]
		was := before[rowOf(u)]
		delete(before, rowOf(u))
		if was == nil || !same(was, u) {
			d.add(was, u)
		}
	}
	for i := range old {
		if before[rowOf(&old[i])] != nil {
			d.add(&old[i], nil)
		}
	}
	return d.changes
}

type event struct {
	id   string
	kind Kind
}

type row struct {
	event
	lot string
}

func rowOf(u *Use) row { return row{event{u.ID, u.Kind}, u.Lot} }

func same(a, b *Use) bool {
	return a.Quantity.Equal(b.Quantity) && a.Basis.Equal(b.Basis) && a.Proceeds.Equal(b.Proceeds) && a.Fee.Equal(b.Fee) && a.Gain.Equal(b.Gain) &&
		a.AcquiredAt.Equal(b.AcquiredAt) && a.At.Equal(b.At) && a.Term == b.Term && a.Method == b.Method && a.Marks == b.Marks
}

type differ struct {
	changes []Change
	at      map[event]int
}

func (d *differ) add(was, is *Use) {
	u := is
	if u == nil {
		u = was
	}
	key := event{u.ID, u.Kind}
	i, known := d.at[key]
	if !known {
		i = len(d.changes)
		d.at[key] = i
		d.changes = append(d.changes, Change{ID: u.ID, Kind: u.Kind})
	}
	c := &d.changes[i]
	if is != nil {
		c.Basis, c.Gain = c.Basis.Add(is.Basis), c.Gain.Add(is.Gain)
	}
	if was != nil {
		c.Basis, c.Gain = c.Basis.Sub(was.Basis), c.Gain.Sub(was.Gain)
	}
	c.Rows = append(c.Rows, Row{Lot: u.Lot, Old: was, New: is})
}
