package intake_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

func TestABinaryFileIsNamedWithWhatToDoInstead(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"PK\x03\x04\x14\x00":                            "is an Excel workbook or another ZIP archive, not text; save the sheet as CSV",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":              "is an Excel workbook, not text; save the sheet as CSV",
		"%PDF-1.7\n":                                    "is a PDF document",
		"\x89PNG\r\n\x1a\n":                             "is a PNG image",
		"\xff\xd8\xff\xe0":                              "is a JPEG image",
		"\x1f\x8b\x08\x00":                              "is compressed with gzip; decompress it",
		"MZ\x90\x00\x03" + strings.Repeat("\xfeab", 40): "is not text",
	} {
		if got := intake.DescribeBinary([]byte(head)); !strings.HasPrefix(got, want) {
			t.Errorf("%q %s, want %s", head, got, want)
		}
	}
	for _, text := range []string{"", "date,amount\n", "\ufeffdate", "Betrag;Empf\xe4nger\n", "\xff\xfed\x00a\x00", "d\x00a\x00t\x00e\x00",
		"\x00d\x00\xe4", "OFXHEADER:100", strings.Repeat("ä", 400)} {
		if got := intake.DescribeBinary([]byte(text)); got != "" {
			t.Errorf("%q %s", text, got)
		}
	}
}
