package notation_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/rules/notation"
)

// ahead bounds how much a reader or writer may buffer.
const ahead = 256 << 10

// counted counts the bytes read or written.
type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func (c *counted) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

func TestJournalsAreStreamed(t *testing.T) {
	t.Parallel()
	const entries = 10_000
	for _, format := range notation.Formats {
		var text bytes.Buffer
		writeOrdinary(t, format, &text, entries)
		size := text.Len()
		if size < 10*ahead {
			t.Fatalf("%s: %d bytes prove nothing", format, size)
		}
		in, out := &counted{r: &text}, &counted{}
		w := notation.NewWriter(format, out)
		n := 0
		for item, err := range notation.Read(format, "test", in) {
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(item); err != nil {
				t.Fatal(err)
			}
			if item.Entry == nil {
				continue
			}
			n++
			if even := size / entries * n; in.n > even+ahead+size/100 || out.n < even-ahead-size/100 {
				t.Fatalf("%s: after %d entries %d bytes are read and %d written of %d", format, n, in.n, out.n, size)
			}
		}
		if err := w.Close(); err != nil || n != entries || out.n != size {
			t.Errorf("%s: %d entries, %d bytes of %d, %v", format, n, out.n, size, err)
		}
	}
}

func TestReadingStopsWhenTheCallerHasEnough(t *testing.T) {
	t.Parallel()
	for _, format := range notation.Formats {
		var text bytes.Buffer
		writeOrdinary(t, format, &text, 10)
		n := 0
		for range notation.Read(format, "test", &text) {
			if n++; n == 2 {
				break
			}
		}
		if n != 2 {
			t.Errorf("%s: %d items", format, n)
		}
	}
}

// endless is a line without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestALineWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	for format, begin := range map[notation.Format]string{
		notation.Hledger: "2024-01-01 ", notation.Beancount: "2024-01-01 * \"", notation.CSV: "\"",
	} {
		var said error
		for _, err := range notation.Read(format, "test", io.MultiReader(strings.NewReader(begin), endless{})) {
			said = err
		}
		if said == nil || !strings.HasPrefix(said.Error(), "test:1: one entry has more than 16 MiB") {
			t.Errorf("%s: %v", format, said)
		}
	}
}

func TestNoTextMakesAReaderPanic(t *testing.T) {
	t.Parallel()
	for _, format := range notation.Formats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				text := []byte(write(t, format, drawJournal(t, exact)))
				for range rapid.IntRange(1, 8).Draw(t, "mutations") {
					text = mutate(t, text)
				}
				survive(t, format, string(text))
			})
		})
	}
}

// mutate removes, repeats, moves or adds something.
func mutate(t *rapid.T, text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
	to := min(len(text), from+rapid.IntRange(0, 20).Draw(t, "length"))
	at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
	piece := bytes.Clone(text[from:to])
	switch rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		return append(bytes.Clone(text[:from]), text[to:]...)
	case 1:
		return append(append(bytes.Clone(text[:at]), piece...), text[at:]...)
	case 2:
		word := rapid.SampledFrom([]string{"\n", " ", "  ", "\t", "\"", ";", "@", "@@", "{", "}", "(", ")", "[", "=", "-", "/", "*", ",",
			".", "%",
			"%F", "E9", "9", "USD", ":", "\x00", "\xff", "\r", "comment\n", "P ", "Y", "D ", "open", "pad"}).Draw(t, "word")
		return append(append(bytes.Clone(text[:at]), word...), text[at:]...)
	}
	text = bytes.Clone(text)
	text[at] = byte(rapid.IntRange(0, 255).Draw(t, "byte"))
	return text
}

// survive reads an arbitrary text to its end, or to an error that names a line. What was read must be writable.
func survive(t rapid.TB, format notation.Format, text string) {
	t.Helper()
	lines := strings.Count(text, "\n") + 1
	w := notation.NewWriter(notation.CSV, io.Discard)
	for item, err := range notation.Read(format, "test", strings.NewReader(text)) {
		if err != nil {
			if line := lineOf(err); line < 1 || line > lines {
				t.Fatalf("%v does not name one of %d lines", err, lines)
			}
			continue
		}
		if item.Account != nil {
			continue // May be declared twice.
		}
		if err := w.Write(item); err != nil {
			t.Fatalf("%v was read from\n%s", err, text)
		}
	}
}

// lineOf returns the line that an error names.
func lineOf(err error) int {
	text, ok := strings.CutPrefix(err.Error(), "test:")
	if !ok {
		return 0
	}
	line := 0
	for i := 0; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		line = line*10 + int(text[i]-'0')
	}
	return line
}

func FuzzHledger(f *testing.F)   { fuzz(f, notation.Hledger) }
func FuzzBeancount(f *testing.F) { fuzz(f, notation.Beancount) }
func FuzzCSV(f *testing.F)       { fuzz(f, notation.CSV) }

func fuzz(f *testing.F, format notation.Format) {
	var text bytes.Buffer
	writeOrdinary(f, format, &text, 2)
	f.Add(text.String())
	for _, word := range []string{"!", "! x", "= x", "2024-01-01 * x\n  a  1,0.0 \"A\" @ 1E3 B == 5 B ; c:d, [1/2]\n  b", "P 2024-01-01 A 5 B",
		"commodity 1,000. A\n  format 1 B", "2024-01-01 * \"a\" #b ^c\n  d: 1\n  Assets:A  (1+2)*-3/4 A {1 # 2 B, 2024-01-01, \"x\"} " +
			"@@ 5 B\n  Assets:B",
		"2024-01-01 open Assets:A\n  exact-name: \"%FF\"", "pushtag #x\npushmeta a: 5\npopmeta a:\npoptag #x",
		"date,account,debit,credit,currency,number\n"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, text string) { survive(t, format, text) })
}
