package bitget

import "testing"

// The first text that is signed is the example in Bitget's documentation; the signatures were made by another program.
func TestSignaturesAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	const at = "16273667805456"
	got := sign("secret", at, "GET", "/api/mix/v2/market/depth?limit=20&symbol=BTCUSDT", "")
	if want := "RI9g5pCkEX/+tr0RueyMGckGzeuXz9BiN78aBgIEayo="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	const body = `{"symbol":"BTCUSDT"}`
	got = sign("secret", at, "POST", "/api/v2/mix/order/place-order", body)
	if want := "KR/94jFzQBeG+j4VKJfg1K1Mf6f7Ae1xIVycDhclDu8="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
