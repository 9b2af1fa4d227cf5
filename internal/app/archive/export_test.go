package archive

import "io"

// ParseLine is parseLine, and AppendLine appendLine.
var (
	ParseLine  = parseLine
	AppendLine = appendLine
)

// OpenWithin is Open with limits that a test reaches in no time: the longest line, and the size from which it matters how much larger the
// content of a file is.
func OpenWithin(f io.ReaderAt, size int64, line int, ratioFrom uint64) (*Archive, error) {
	return open(f, size, limits{line, ratioFrom})
}
