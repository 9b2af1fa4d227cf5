package intake

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Detection is the detected format of a file.
type Detection struct {
	Format Format `json:"format"`
	// Preset names the known layout of the file; empty if it is not a known one.
	Preset string `json:"preset,omitempty"`
	// Mapped reports whether the file can be read without mapping columns; otherwise Guess proposes a mapping.
	Mapped bool `json:"mapped"`
}

// Detect returns the format of a file, judged by its first bytes and its name, and whether its layout is a known one.
func Detect(name string, head []byte) Detection {
	content := decodeHead(head, utf8Text)
	d := Detection{Format: detectFormat(name, content)}
	switch d.Format {
	case OFX:
		d.Mapped = true
	case JSON:
		d.Mapped = isAPIFormat(content)
	case CSV:
		d.Preset = detectPreset(sampleCSV(content, false, guessDelimiter(content)))
		d.Mapped = d.Preset != ""
	}
	return d
}

// decodeHead returns the first bytes of a file as UTF-8 without a byte order mark.
func decodeHead(head []byte, stated encoding) []byte {
	head = head[:min(len(head), headMax)]
	t, err := openText("", bytes.NewReader(head), stated)
	if err != nil {
		return head
	}
	content, _ := t.head()
	return content
}

// detectFormat judges the format by the first bytes of a file, and by its name only if they do not decide.
func detectFormat(name string, content []byte) Format {
	start := bytes.TrimSpace(content[:min(len(content), 4096)])
	switch {
	case bytes.HasPrefix(start, []byte("OFXHEADER")), bytes.Contains(bytes.ToUpper(start), []byte("<OFX>")),
		bytes.Contains(start, []byte("<?OFX")):
		return OFX
	case bytes.HasPrefix(start, []byte("{")), bytes.HasPrefix(start, []byte("[")):
		return JSON
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".ofx", ".qfx", ".qbo":
		return OFX
	case ".json", ".jsonl", ".ndjson":
		return JSON
	}
	return CSV
}

// delimiters are the supported cell delimiters, the most likely first.
const delimiters = ",;\t|"

// guessDelimiter returns the delimiter that splits the most rows into the same number of cells, which must be more than
// one.
func guessDelimiter(head []byte) byte {
	best, most := byte(','), 0
	for _, d := range []byte(delimiters) {
		lengths := map[int]int{}
		for _, row := range sampleCSV(head, true, d) {
			if row.broken == "" {
				lengths[len(row.cells)]++
			}
		}
		for cells, rows := range lengths {
			// More columns weigh more, because prose contains single commas too; a single row weighs little.
			if score := (min(cells, 12) - 1) * rows; cells > 1 && score > most {
				best, most = d, score
			}
		}
	}
	return best
}

// sampleCSV splits the head of a file into rows. It omits the last row if the file continues, because that row may be
// incomplete.
func sampleCSV(head []byte, whole bool, delimiter byte) []sheetRow {
	rows := newCSVRows(textOf("", head), delimiter)
	var sample []sheetRow
	for len(sample) <= headRows {
		row, err := rows.next()
		if err != nil {
			if err != io.EOF {
				whole = true // The unterminated row is not among the rows, so none has to be omitted.
			}
			break
		}
		kept := *row
		kept.cells = slices.Clone(row.cells)
		sample = append(sample, kept)
	}
	if len(sample) > headRows {
		return sample[:headRows]
	}
	if !whole && len(sample) > 1 && !bytes.HasSuffix(head, []byte("\n")) {
		sample = sample[:len(sample)-1]
	}
	return sample
}

// detectPreset finds the preset whose columns one of the first rows names.
func detectPreset(sample []sheetRow) string {
	for i := range min(len(sample), headerSearch) {
		header := cleanHeader(sample[i].cells)
		for _, p := range presets {
			if len(header) >= len(p.columns) && p.matches(header) {
				return p.name
			}
		}
	}
	return ""
}

// isValidText reports whether a head is UTF-8, apart from a character cut off at its end.
func isValidText(head []byte) bool {
	for range utf8.UTFMax {
		if utf8.Valid(head) {
			return true
		}
		if len(head) == 0 {
			return true
		}
		head = head[:len(head)-1]
	}
	return false
}
