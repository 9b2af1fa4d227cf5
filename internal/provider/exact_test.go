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

func TestAnAmountThatHasToBeStatedIsReadAsNumberOrText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"0.1": "0.1", `"12.50"`: "12.5", "1e-08": "0.00000001",
		"12345678901234567.01": "12345678901234567.01"} {
		var d provider.Decimal
		if err := json.Unmarshal([]byte(text), &d); err != nil || d.String() != want {
			t.Errorf("%s: %s %v", text, d, err)
		}
	}
	for _, text := range []string{"null", `""`, `"x"`, "{}"} {
		var d provider.Decimal
		if err := json.Unmarshal([]byte(`[`+text+`]`), &[]*provider.Decimal{&d}); text != "null" && err == nil {
			t.Errorf("%s is read as %s", text, d)
		}
		if err := d.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is read as %s", text, d)
		}
	}
	for text, want := range map[string]string{"1.50": "1.50", `"a b"`: "a b", "null": "", `"1e-8"`: "1e-8"} {
		got := provider.Text("x")
		if err := json.Unmarshal([]byte(text), &got); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	for _, text := range []string{"true", "{}", "[]"} {
		var got provider.Text
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}
