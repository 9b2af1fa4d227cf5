package audit

import "testing"

func TestAnEntryForgedTogetherWithItsHashBreaksTheNextOne(t *testing.T) {
	t.Parallel()
	first := LogRecord{Sequence: 1, Action: "a", After: `{"name":"true"}`}
	first.Hash = first.chainHash("org_1")
	second := LogRecord{Sequence: 2, Action: "b", PreviousHash: first.Hash}
	second.Hash = second.chainHash("org_1")
	if b := verifyLink("org_1", LogRecord{}, first); b != nil {
		t.Errorf("%+v", b)
	}
	if b := verifyLink("org_1", first, second); b != nil {
		t.Errorf("%+v", b)
	}
	forged := first
	forged.After = `{"name":"false"}`
	forged.Hash = forged.chainHash("org_1")
	if b := verifyLink("org_1", LogRecord{}, forged); b != nil {
		t.Errorf("alone it must pass, or nothing is tested: %+v", b)
	}
	if b := verifyLink("org_1", forged, second); b == nil || b.Sequence != 2 {
		t.Errorf("%+v", b)
	}
	if b := verifyLink("org_2", LogRecord{}, first); b == nil {
		t.Error("a record of another organization passed")
	}
}

func TestNoTwoEntriesShareAnEncoding(t *testing.T) {
	t.Parallel()
	a, b := LogRecord{Action: "ab", ResourceType: "c"}, LogRecord{Action: "a", ResourceType: "bc"}
	if a.chainHash("org") == b.chainHash("org") {
		t.Error("moving a letter from one field to the next changes nothing")
	}
}
