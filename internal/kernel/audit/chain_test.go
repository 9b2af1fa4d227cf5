package audit

import "testing"

func TestAnEntryForgedTogetherWithItsHashBreaksTheNextOne(t *testing.T) {
	t.Parallel()
	first := Entry{Sequence: 1, Action: "a", After: `{"name":"true"}`}
	first.Hash = first.chained("org_1")
	second := Entry{Sequence: 2, Action: "b", PreviousHash: first.Hash}
	second.Hash = second.chained("org_1")
	if b := follow("org_1", Entry{}, first); b != nil {
		t.Errorf("%+v", b)
	}
	if b := follow("org_1", first, second); b != nil {
		t.Errorf("%+v", b)
	}
	forged := first
	forged.After = `{"name":"false"}`
	forged.Hash = forged.chained("org_1")
	if b := follow("org_1", Entry{}, forged); b != nil {
		t.Errorf("alone it must pass, or nothing is tested: %+v", b)
	}
	if b := follow("org_1", forged, second); b == nil || b.Sequence != 2 {
		t.Errorf("%+v", b)
	}
	if b := follow("org_2", Entry{}, first); b == nil {
		t.Error("an entry of another organization passed")
	}
}

func TestNoTwoEntriesShareAnEncoding(t *testing.T) {
	t.Parallel()
	a, b := Entry{Action: "ab", ResourceType: "c"}, Entry{Action: "a", ResourceType: "bc"}
	if a.chained("org") == b.chained("org") {
		t.Error("moving a letter from one field to the next changes nothing")
	}
}
