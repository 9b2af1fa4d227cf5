package coinbasetest

import (
	"encoding/base64"
	"testing"
)

// The values are those of RFC 7515, appendix A.3. They test the fake, which tests the connector.
func TestSignaturesForES256AreVerifiedAsTheStandardDoes(t *testing.T) {
	t.Parallel()
	raw := func(text string) []byte {
		out, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	public := append(raw("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"), raw("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")...)
	signed := []byte("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ")
	signature := raw("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
	if !verifyPoint(public, signed, signature) {
		t.Error("a valid signature is refused")
	}
	signature[40]++
	if verifyPoint(public, signed, signature) {
		t.Error("another signature is accepted")
	}
}
