package intake

import (
	"bytes"
	"unicode/utf8"
)

// signatures lists how files begin that are not text, with what to do instead of importing them.
var signatures = []struct{ start, message string }{
	{"PK\x03\x04", "is an Excel workbook or another ZIP archive, not text; save the sheet as CSV, or unpack the archive, and import that"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an Excel workbook, not text; save the sheet as CSV and import that"},
	{"%PDF-", "is a PDF document, not text; download the statement as CSV, JSON or OFX and import that"},
	{"\x89PNG", "is a PNG image, not text; import a file of text, such as CSV"},
	{"\xff\xd8\xff", "is a JPEG image, not text; import a file of text, such as CSV"},
	{"\x1f\x8b", "is compressed with gzip; decompress it and import what it contains"},
	{"SQLite format 3\x00", "is an SQLite database, not text; import a file of text, such as CSV"},
	{"\x7fELF", "is a program, not text; import a file of text, such as CSV"},
}

// BinaryHead is how many bytes of a file DescribeBinary needs.
const BinaryHead = 512

// DescribeBinary returns why a file that begins with these bytes cannot be imported and what to do instead, such as "is an Excel workbook,
// not text; save the sheet as CSV and import that". It returns "" for text in any encoding.
func DescribeBinary(head []byte) string {
	head = head[:min(len(head), BinaryHead)]
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.start)) {
			return s.message
		}
	}
	// UTF-16 has a NUL in every other byte, and a byte order mark or an encoding in the mapping says so.
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) || utf8.Valid(head) {
		return ""
	}
	if n := bytes.Count(head, []byte{0}); n > 0 && n < len(head)/4 {
		return "is not text; import a file of text, such as CSV"
	}
	return ""
}
