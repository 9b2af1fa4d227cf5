package intake

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// readCells returns all rows of a text; a broken row is represented by its reason.
func readCells(tb testing.TB, content string, delimiter byte) ([][]string, error) {
	tb.Helper()
	t, err := openText("f", strings.NewReader(content), utf8Text)
	if err != nil {
		tb.Fatal(err)
	}
	rows := newCSVRows(t, delimiter)
	var all [][]string
	for {
		row, err := rows.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if row.broken != "" {
			all = append(all, []string{"!" + row.broken})
			continue
		}
		all = append(all, slices.Clone(row.cells))
	}
}

func TestRowsAreSplitAsTheyAreQuoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text      string
		delimiter byte
		want      string // Cells separated by bars, rows by slashes.
	}{
		{"a,b\nc,d\n", ',', "a|b/c|d"},
		{"a,b\r\nc,d", ',', "a|b/c|d"},
		{"a,b\rc,d\r", ',', "a|b/c|d"},
		{"a;b,c\n", ';', "a|b,c"},
		{"a\tb\n", '\t', "a|b"},
		{"a|b\n", '|', "a|b"},
		{"\ufeffa,b\n", ',', "a|b"},
		{`"a","b"` + "\n", ',', "a|b"},
		{`"a,b","c""d"` + "\n", ',', `a,b|c"d`},
		{"\"a\nb\",c\n", ',', "a\nb|c"},
		{"\"a\r\nb\",c\r\n", ',', "a\nb|c"},
		{`"","",` + "\nx,y,z\n", ',', "x|y|z"},
		{`a,"",` + "\n", ',', "a||"},
		{",,\n\n , ,\na,,\n", ',', "a||"},
		{`a,"b` + "\n" + `c"` + "\n", ',', "a|b\nc"},
		{`a"b,c` + "\n" + `d,e` + "\n", ',',
			`!has a quote inside the cell "a\"b"; put the cell in quotes and double the quote inside/d|e`},
		{`"a"b,c` + "\n" + `d,e` + "\n", ',', `!has "b,c" after a closing quote; expected ',' or the end of the line/d|e`},
		{"a,\xff\nb,c\n", ',', "!is not valid UTF-8; save the file as UTF-8, or state its encoding in the mapping/b|c"},
		{"a,\"\xff\"\nb,c\n", ',', "!is not valid UTF-8; save the file as UTF-8, or state its encoding in the mapping/b|c"},
		{"a,\x00\nb,c\n", ',', "!contains a NUL character; remove it/b|c"},
	} {
		rows, err := readCells(t, c.text, c.delimiter)
		var lines []string
		for _, row := range rows {
			lines = append(lines, strings.Join(row, "|"))
		}
		if got := strings.Join(lines, "/"); err != nil || got != c.want {
			t.Errorf("%q is cut into %q, %v, want %q", c.text, got, err, c.want)
		}
	}
}

func TestAFileThatIsBrokenAsAWholeIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"a,b\nc,\"d\ne,f\n", "f:2: the cell that begins here has no closing quote"},
		{"a,b\n\"" + strings.Repeat("x\n", fieldMax), "f:2: the cell that begins here is longer than 64 KiB"},
		{"a,b\n" + strings.Repeat("x", fieldMax+1) + ",y\n", "f:2: the cell that begins here is longer than 64 KiB"},
		{strings.Repeat("x", rowMax+10), "f:1: the line is longer than 1024 KiB"},
		{"a\n" + strings.Repeat("x,", columnsMax+1) + "\n", "f:2: the row has more than 1000 cells"},
		{"a\n" + strings.Repeat(`"`+strings.Repeat("x", fieldMax-10)+"\n\",", 20), "f:2: the row is longer than 1024 KiB"},
	} {
		if _, err := readCells(t, c.text, ','); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
	}
}

// encodeUTF16 encodes a text as UTF-16.
func encodeUTF16(s string, big bool) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func TestEveryEncodingGivesTheSameText(t *testing.T) {
	t.Parallel()
	const want = "Datum;Empfänger;€ 𝄞\r\n2024-01-05;Ünal;x\r\n"
	for name, c := range map[string]struct {
		raw    []byte
		stated encoding
	}{
		"utf-8":     {[]byte(want), utf8Text},
		"bom":       {[]byte("\ufeff" + want), windows1252},
		"utf-16le":  {encodeUTF16(want, false), utf8Text},
		"utf-16be":  {encodeUTF16(want, true), utf8Text},
		"stated le": {encodeUTF16(want, false)[2:], utf16Little},
		"stated be": {encodeUTF16(want, true)[2:], utf16Big},
	} {
		tx, err := openText("f", &byteByByte{c.raw}, c.stated)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := tx.head()
		if string(got) != want {
			t.Errorf("%s reads %q", name, got)
		}
		if tx.offset() > 4 {
			t.Errorf("%s: offset %d before anything was read", name, tx.offset())
		}
		for {
			if _, err := tx.next(); err != nil {
				break
			}
		}
		if tx.offset() != int64(len(c.raw)) {
			t.Errorf("%s: offset %d at the end of %d", name, tx.offset(), len(c.raw))
		}
	}
	tx, err := openText("f", strings.NewReader("Empf\xe4nger;\x80\x81"), windows1252)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tx.head(); string(got) != "Empfänger;€\xff" {
		t.Errorf("%q", got)
	}
	tx, err = openText("f", bytes.NewReader([]byte{0xff, 0xfe, 'a', 0, 0x00, 0xd8, 'b', 0, 0x00, 0xdc, 'c'}), utf8Text)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tx.head(); string(got) != "a\xffb\xff\xff" {
		t.Errorf("half letters read %q", got)
	}
}

type byteByByte struct{ rest []byte }

func (r *byteByByte) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	p[0], r.rest = r.rest[0], r.rest[1:]
	return 1, nil
}

func FuzzRowsAreCutAsGoCutsThem(f *testing.F) {
	for _, seed := range []string{"a,b\n", "\"a\"\"b\",c\r\nd", "a\n\n,\n", "\"a\nb\",\"\"", "a\"b", "\"a\"b\n", "\ufeffa", "a\rb\r",
		"\"x\r\ny\""} {
		f.Add(seed, byte(','))
		f.Add(seed, byte(';'))
	}
	f.Fuzz(func(t *testing.T, text string, delimiter byte) {
		if strings.IndexByte(delimiters, delimiter) < 0 || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			return
		}
		got, err := readCells(t, text, delimiter)
		// Carriage returns, invalid text and blank cells are treated differently on purpose.
		if err != nil || strings.ContainsAny(text, "\r\x00\ufeff") || strings.ToValidUTF8(text, "") != text {
			return
		}
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.FieldsPerRecord = rune(delimiter), -1
		for {
			want, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return // encoding/csv handles rows after a broken one differently.
			}
			if blankRow(want) || len(want) == 1 && strings.TrimSpace(want[0]) == "" {
				continue
			}
			for len(got) > 0 && len(got[0]) == 1 && strings.TrimSpace(got[0][0]) == "" {
				got = got[1:]
			}
			if len(got) == 0 || !slices.Equal(got[0], want) {
				t.Fatalf("%q is cut into %q, want %q", text, got, want)
			}
			got = got[1:]
		}
	})
}
