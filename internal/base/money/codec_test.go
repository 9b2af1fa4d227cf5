package money

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONIsAlwaysAString(t *testing.T) {
	t.Parallel()
	type line struct {
		Amount Decimal  `json:"amount"`
		Tax    *Decimal `json:"tax"`
		Fee    Decimal  `json:"fee,omitzero"`
	}
	out, err := json.Marshal(line{Amount: MustParse("-1200.50")})
	if err != nil || string(out) != `{"amount":"-1200.5","tax":null}` {
		t.Errorf("marshalled to %s, %v", out, err)
	}
	var in line
	if err := json.Unmarshal([]byte(`{"amount": "1\u0032.50", "tax": null}`), &in); err != nil {
		t.Fatal(err)
	}
	if in.Amount.String() != "12.5" || in.Tax != nil {
		t.Errorf("unmarshalled to %+v", in)
	}
}

func TestJSONThatIsNotADecimalStringIsRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`12.5`:    `must be a decimal string such as "1200.50", not a JSON number`,
		`-1`:      `must be a decimal string such as "1200.50", not a JSON number`,
		`1e3`:     `must be a decimal string such as "1200.50", not a JSON number`,
		`null`:    `must be a decimal string such as "1200.50", not null`,
		`true`:    `must be a decimal string such as "1200.50"`,
		`{}`:      `must be a decimal string such as "1200.50"`,
		`["1"]`:   `must be a decimal string such as "1200.50"`,
		`""`:      `must be a decimal string such as "1200.50"`,
		`"1e3"`:   `must be a decimal string such as "1200.50"`,
		`"12.5 "`: `must be a decimal string such as "1200.50"`,
	} {
		d := MustParse("7")
		if err := json.Unmarshal([]byte(in), &d); err == nil || err.Error() != want {
			t.Errorf("%s gives %v, want %q", in, err, want)
		}
		if d.String() != "7" {
			t.Errorf("a refused %s changed the value to %s", in, d)
		}
	}
	var d Decimal
	if err := d.UnmarshalJSON(nil); err == nil {
		t.Error("no JSON at all was accepted")
	}
}

func TestTextIsReadAndWrittenAsParseAndString(t *testing.T) {
	t.Parallel()
	text, err := MustParse("12.50").MarshalText()
	if err != nil || string(text) != "12.5" {
		t.Errorf("text %q, %v", text, err)
	}
	var d Decimal
	if err := d.UnmarshalText([]byte("0.25")); err != nil || d.String() != "0.25" {
		t.Errorf("read %s, %v", d, err)
	}
	if err := d.UnmarshalText([]byte("1e3")); err == nil {
		t.Error("an exponent was accepted")
	}
}

func TestTheDatabaseGetsPlainDigits(t *testing.T) {
	t.Parallel()
	value, err := MustParse("1200.50").Value()
	if err != nil || value != "1200.5" {
		t.Errorf("value %v, %v", value, err)
	}
}

func TestColumnsAreReadWithoutLoss(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 60) + "." + strings.Repeat("9", 60)
	for _, c := range []struct {
		in   any
		want string
	}{
		{"1200.500000000000000000000000000000", "1200.5"},
		{[]byte("-3.10"), "-3.1"},
		{int64(-42), "-42"},
		{long, long},
	} {
		var d Decimal
		if err := d.Scan(c.in); err != nil || d.String() != c.want {
			t.Errorf("%v read as %s, %v", c.in, d, err)
		}
	}
	var missing sql.Null[Decimal]
	if err := missing.Scan(nil); err != nil || missing.Valid {
		t.Errorf("NULL read as %v, %v", missing.V, err)
	}
}

func TestColumnsThatCouldHaveLostDigitsAreRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []any{12.5, nil, true, "NaN", "1e3", []byte("Infinity"), "", strings.Repeat("9", 201)} {
		d := MustParse("7")
		if err := d.Scan(in); err == nil || !strings.HasPrefix(err.Error(), "money: ") {
			t.Errorf("%v gives %v", in, err)
		}
		if d.String() != "7" {
			t.Errorf("a refused %v changed the value to %s", in, d)
		}
	}
}
