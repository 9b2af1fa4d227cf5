package bitstamp

import "testing"

// The text that is signed is that of the example in Bitstamp's documentation, with a time and a nonce; the signature was made by another
// program.
func TestSignaturesAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	r := request{key: "api_key", method: "POST", host: "www.bitstamp.net", path: "/api/v2/user_transactions/",
		contentType: "application/x-www-form-urlencoded", nonce: "f93c979d-b00d-43a9-9b9c-fd4cd9547fa6", timestamp: "1567755304968",
		body: "offset=1"}
	if got, want := sign("api_key_secret", r), "526d7cd4184c381c21c2f8e6eeca15292edcc7ab8c4a188d68ee5c5ceb11b302"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.path, r.contentType, r.body = "/api/v2/account_balances/", "", ""
	if got, want := sign("api_key_secret", r), "8f3fefb1c2af8e3dd40457b69482f20102f44f89d6c33cf6ae328669c60a123b"; got != want {
		t.Errorf("without a body: %s, want %s", got, want)
	}
}
