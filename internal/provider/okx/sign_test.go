package okx

import "testing"

// The parts are those of the examples in OKX's documentation, which states no signature. The one here was made with OpenSSL.
func TestSignaturesCoverTheTimeTheMethodAndThePathWithItsQuery(t *testing.T) {
	t.Parallel()
	got := sign("22582BD0CFF14C41EDBF1AB98506286D", "2020-12-08T09:08:57.715Z", "GET", "/api/v5/account/balance?ccy=BTC", "")
	if want := "HiZhvSfMtWJA3uUIVXV3a/bSXNPCWvYFXoGCVS8V4zY="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
