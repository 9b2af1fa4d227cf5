package kucoin

import "testing"

// The values are those of the test of KuCoin's own SDK (kucoin-universal-sdk).
func TestSignaturesAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()
	if got, want := sign("test_api_secret", "test_plain"), "jie/gxS38wLFFaBwl/cAzFbAzlI8MIny96jSXrB+iP4="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
