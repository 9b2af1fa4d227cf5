package intake

import "testing"

func TestEqualRowsStayApartInAFileOfAnyLength(t *testing.T) {
	t.Parallel()
	var c counter
	for key := range uint64(exactMax) {
		c.add(key + 1)
	}
	if c.add(5) != 1 || c.add(5) != 2 || c.used != exactMax {
		t.Error("what is counted one by one is not")
	}
	// Beyond that, counts may be too high, but those of one key always grow.
	other := uint64(exactMax) + restMax
	last := map[uint64]uint32{}
	for i := range uint64(20) {
		key := other + i%2*restMax
		n := c.add(key)
		if before, seen := last[key]; seen && n <= before {
			t.Fatalf("%d comes as number %d after %d", key, n, before)
		}
		last[key] = n
	}
	if c.used != exactMax || len(c.rest) != restMax {
		t.Errorf("%d and %d are held", c.used, len(c.rest))
	}
}

func TestADuplicateIDIsFound(t *testing.T) {
	t.Parallel()
	i := newIDs()
	if i.isDuplicate("a") || i.isDuplicate("b") || !i.isDuplicate("a") {
		t.Error("a is not found")
	}
	ids := map[string]bool{i.derive("a", "b"): true, i.derive("ab"): true}
	for range 3 {
		ids[i.derive("x")] = true
	}
	if len(ids) != 5 {
		t.Errorf("five rows have %d ids", len(ids))
	}
}
