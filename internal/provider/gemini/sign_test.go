package gemini

import "testing"

// The values are those of the example in Gemini's documentation.
func TestSignaturesAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	got := sign("1234abcd", "ewogICAgInJlcXVlc3QiOiAiL3YxL29yZGVyL3N0YXR1cyIsCiAgICAibm9uY2UiOiAxMjM0NTYsCgogICAgIm9yZGVyX2lkIjogMTg4MzQKfQo=")
	const want = "337cc8b4ea692cfe65b4a85fcc9f042b2e3f702ac956fd098d600ab15705775017beae402be773ceee10719ff70d710f"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
