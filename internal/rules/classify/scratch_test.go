package classify

import (
	"math"
	"testing"
)

func TestAScratchThatHasCountedToTheEndForgetsToo(t *testing.T) {
	t.Parallel()
	m := Compile([]Rule{{ID: "a", MemoContains: "x"}})
	var w Scratch
	for n := range 4 {
		if d := m.Match(Subject{Texts: []string{"x"}}, &w); d.Rule == nil || len(d.Others) > 0 {
			t.Fatalf("match %d finds %+v", n, d)
		}
		if n == 0 {
			w.now = math.MaxUint32
		}
	}
}
