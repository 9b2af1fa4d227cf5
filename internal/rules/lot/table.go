package lot

// table holds lots by slot. The lots of a checkpoint stay in base and are never written to, so that a pool with very many
// lots is restored without copying and the checkpoint can be used again.
type table struct {
	base []Lot
	own  []Lot
	free []int32 // slots of own that are empty
}

func (t *table) at(slot int32) *Lot {
	if int(slot) < len(t.base) {
		return &t.base[slot]
	}
	return &t.own[int(slot)-len(t.base)]
}

func (t *table) add(l Lot) int32 {
	if last := len(t.free) - 1; last >= 0 {
		slot := t.free[last]
		t.free = t.free[:last]
		*t.at(slot) = l
		return slot
	}
	t.own = append(t.own, l)
	return int32(len(t.base) + len(t.own) - 1)
}

// writable returns a slot of the lot that may be written to, copying it out of base if necessary.
func (t *table) writable(slot int32) int32 {
	if int(slot) < len(t.base) {
		return t.add(t.base[slot])
	}
	return slot
}

func (t *table) remove(slot int32) {
	if int(slot) >= len(t.base) {
		*t.at(slot) = Lot{}
		t.free = append(t.free, slot)
	}
}
