package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

func TestAmountsInJSONAreReadDigitByDigit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"0.1": "0.1", "1000000000000000.01": "1000000000000000.01", "1.0E15": "1000000000000000",
		"-1.5e-3": "-0.0015", `"12.50"`: "12.5", "0": "0", "1E+2": "100", "-0.0E5": "0"} {
		var e provider.Exact
		if err := json.Unmarshal([]byte(text), &e); err != nil || !e.Stated || e.Amount.String() != want {
			t.Errorf("%s: %s %v", text, e.Amount, err)
		}
	}
	for _, text := range []string{"null", `""`} {
		e := provider.NewExact(money.FromInt(1))
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.Stated {
			t.Errorf("%s: %+v %v", text, e, err)
		}
	}
	for _, text := range []string{"true", `"x"`, "1e999", `"1e"`, "[]", "{}", `"-"`, `"NaN"`} {
		var e provider.Exact
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s is read as %s", text, e.Amount)
		}
	}
	got, err := json.Marshal([]provider.Exact{provider.NewExact(money.MustParse("1000000000000000.01")), {}})
	if err != nil || string(got) != "[1000000000000000.01,null]" {
		t.Errorf("%s %v", got, err)
	}
}
