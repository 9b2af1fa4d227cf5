package money

import (
	"strings"
	"testing"
)

func TestMinorUnitsFollowISO4217(t *testing.T) {
	t.Parallel()
	for places, codes := range map[int32]string{
		0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
		2: "AUD BRL CAD CHF CNY EUR GBP HUF IDR INR IRR MGA MRU MXN SLE TWD USD VED VES XAD XCD XCG ZAR ZWG",
		3: "BHD IQD JOD KWD LYD OMR TND",
		4: "CLF UYW",
	} {
		for code := range strings.FieldsSeq(codes) {
			if got, ok := MinorUnits(code); !ok || got != places || !IsFiat(code) {
				t.Errorf("%s has %d minor units (known: %t), want %d", code, got, ok, places)
			}
		}
	}
}

func TestWhatHasNoMinorUnitOrIsWithdrawnIsNotFiat(t *testing.T) {
	t.Parallel()
	for code := range strings.FieldsSeq("XAU XAG XPT XPD XDR XSU XUA XBA XBB XBC XBD XTS XXX ANG BGN CUC DEM HRK SLL ZWL BTC ETH USDC usd") {
		if IsFiat(code) {
			t.Errorf("%s counts as fiat", code)
		}
	}
	if IsFiat("") {
		t.Error("the empty code counts as fiat")
	}
}

func TestTheCurrencyTableIsComplete(t *testing.T) {
	t.Parallel()
	counts := map[int32]int{}
	for code, places := range minorUnits {
		counts[places]++
		if len(code) != 3 || strings.ToUpper(code) != code {
			t.Errorf("%q is not an ISO 4217 code", code)
		}
	}
	// ISO lists 178 active codes, 13 of them without a minor unit.
	if len(minorUnits) != 165 || counts[0] != 17 || counts[2] != 139 || counts[3] != 7 || counts[4] != 2 {
		t.Errorf("%d codes, by minor units %v", len(minorUnits), counts)
	}
}
