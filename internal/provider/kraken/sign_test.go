package kraken

import (
	"encoding/base64"
	"testing"
)

// The values are those of the page on authentication of Kraken's documentation.
func TestSignaturesAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	secret, err := base64.StdEncoding.DecodeString("kQH5HW/8p1uGOVjbgWA7FunAmGO8lsSUXNsu3eow76sz84Q18fWxnyRzBHCd3pd5nE9qa99HAZtuZuj6F1huXg==")
	if err != nil {
		t.Fatal(err)
	}
	got := sign(secret, "/0/private/AddOrder", "1616492376594",
		"nonce=1616492376594&ordertype=limit&pair=XBTUSD&price=37500&type=buy&volume=1.25")
	const want = "4/dpxb3iT4tp/ZCVEwSnEsLxx0bqyhLpdfOpc6fn7OR8+UClSV5n9E6aSS8MPtnRfp32bAb0nmbRn6H8ndwLUQ=="
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
