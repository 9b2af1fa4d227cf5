package intake

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Detection is what a file seems to be.
type Detection struct {
	Format Format `json:"format"`
	// Preset is the known layout of the file; empty where there is none.
	Preset string `json:"preset,omitempty"`
	// Mapped says that the file can be read without a mapping of columns; else Guess proposes one.
	Mapped bool `json:"mapped"`
}

// Detect tells the format of a file by its name and its first bytes, and whether its layout is a known one.
func Detect(name string, head []byte) Detection {
	content := decodeHead(head, utf8Text)
	d := Detection{Format: formatOf(name, content)}
	switch d.Format {
	case OFX:
		d.Mapped = true
	case JSON:
		d.Mapped = jsonHasShape(content)
	case CSV:
		d.Preset = presetOf(sampleCSV(content, false, guessDelimiter(content)))
		d.Mapped = d.Preset != ""
	}
	return d
}

// decodeHead gives the first bytes of a file as UTF-8 without a mark.
func decodeHead(head []byte, stated encoding) []byte {
	head = head[:min(len(head), headMax)]
	t, err := openText("", bytes.NewReader(head), stated)
	if err != nil {
		return head
	}
	content, _ := t.head()
	return content
}

// formatOf tells a format by what a file begins with, and only then by its name.
func formatOf(name string, content []byte) Format {
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

// delimiters are what may stand between cells, the likelier first.
const delimiters = ",;\t|"

// guessDelimiter takes the one that cuts the most rows into the same number of cells, and into several.
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
			// A wide table counts for more, for a text has single commas too; a lone row is worth little.
			if score := (min(cells, 12) - 1) * rows; cells > 1 && score > most {
				best, most = d, score
			}
		}
	}
	return best
}

// sampleCSV cuts the head of a file into rows. The last is left out where more may follow, for it may be half a row.
func sampleCSV(head []byte, whole bool, delimiter byte) []sheetRow {
	rows := newCSVRows(textOf("", head), delimiter)
	var sample []sheetRow
	for len(sample) <= headRows {
		row, err := rows.next()
		if err != nil {
			if err != io.EOF {
				whole = true // The row that has no end is not among them.
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

// presetOf finds the layout whose columns one of the first rows names.
func presetOf(sample []sheetRow) string {
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

// validText tells whether a head is UTF-8 but for a letter that its end cuts.
func validText(head []byte) bool {
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
