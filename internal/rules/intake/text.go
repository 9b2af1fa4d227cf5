package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// chunk is how much is read from the file at a time.
const chunk = 64 << 10

// encoding is the character encoding of a file.
type encoding byte

const (
	utf8Text encoding = iota
	utf16Little
	utf16Big
	windows1252
)

// invalidByte replaces what cannot be decoded. It is not valid UTF-8, so the later validation finds it.
const invalidByte = 0xff

// text reads a file as UTF-8, line by line or byte by byte, and counts lines.
type text struct {
	name     string
	r        io.Reader
	encoding encoding
	raw      int64  // Bytes read from r, including the byte order mark.
	tail     []byte // Bytes of an incomplete character.
	buf      []byte
	pos      int // Start of the unread part of buf.
	end      error
	line     int  // The number of the line returned last.
	lone     bool // Lines end with a carriage return alone.
	scratch  []byte
}

// openText reads the head of a file and detects its encoding.
func openText(name string, r io.Reader, stated encoding) (*text, error) {
	t := &text{name: name, r: r, scratch: make([]byte, chunk)}
	var first []byte
	for len(first) < 3 && t.end == nil {
		first = append(first, t.read()...)
	}
	switch {
	case bytes.HasPrefix(first, []byte{0xef, 0xbb, 0xbf}):
		first = first[3:]
	case bytes.HasPrefix(first, []byte{0xff, 0xfe}):
		t.encoding, first = utf16Little, first[2:]
	case bytes.HasPrefix(first, []byte{0xfe, 0xff}):
		t.encoding, first = utf16Big, first[2:]
	default:
		t.encoding = stated
	}
	t.decode(first)
	// One byte more than the head, so that the head does not depend on how the reads are split.
	for t.end == nil && len(t.buf) <= headMax {
		t.fill()
	}
	if t.end != nil && !errors.Is(t.end, io.EOF) {
		return nil, fmt.Errorf("reading %s: %w", name, t.end)
	}
	t.lone = bytes.IndexByte(t.buf, '\n') < 0 && bytes.IndexByte(t.buf, '\r') >= 0
	return t, nil
}

// textOf returns a text with the given content.
func textOf(name string, content []byte) *text {
	t := &text{name: name, buf: content, end: io.EOF, raw: int64(len(content))}
	t.lone = bytes.IndexByte(content, '\n') < 0 && bytes.IndexByte(content, '\r') >= 0
	return t
}

// head returns the start of the file, before anything was read; whole reports whether that is the entire file.
func (t *text) head() (content []byte, whole bool) {
	return t.buf[:min(len(t.buf), headMax)], len(t.buf) <= headMax
}

// fill reads more bytes after the unread part.
func (t *text) fill() {
	if t.pos > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[t.pos:])]
		t.pos = 0
	}
	t.decode(t.read())
}

// idleMax is how often a read may return neither bytes nor an error before the file counts as broken.
const idleMax = 100

// read reads bytes from the file, which are valid until the next call; it stores the end of the file or an error in
// t.end.
func (t *text) read() []byte {
	for range idleMax {
		n, err := t.r.Read(t.scratch)
		t.raw += int64(n)
		t.end = err
		if n > 0 || err != nil {
			return t.scratch[:n]
		}
	}
	t.end = io.ErrNoProgress
	return nil
}

// decode appends bytes of the file as UTF-8.
func (t *text) decode(raw []byte) {
	switch t.encoding {
	case utf8Text:
		t.buf = append(t.buf, raw...)
	case windows1252:
		for _, b := range raw {
			t.buf = appendWindows(t.buf, b)
		}
	default:
		t.decodeWide(raw)
	}
}

// decodeWide decodes UTF-16; an incomplete character is kept for the next call.
func (t *text) decodeWide(raw []byte) {
	raw = append(t.tail, raw...)
	unit := func(i int) rune {
		if t.encoding == utf16Little {
			return rune(raw[i]) | rune(raw[i+1])<<8
		}
		return rune(raw[i])<<8 | rune(raw[i+1])
	}
	last := t.end != nil
	i := 0
	for i+2 <= len(raw) {
		r := unit(i)
		if !utf16.IsSurrogate(r) {
			t.buf = utf8.AppendRune(t.buf, r)
			i += 2
			continue
		}
		if i+4 > len(raw) && !last {
			break
		}
		pair := utf8.RuneError
		if i+4 <= len(raw) {
			pair = utf16.DecodeRune(r, unit(i+2))
		}
		if pair == utf8.RuneError {
			t.buf = append(t.buf, invalidByte)
			i += 2
			continue
		}
		t.buf = utf8.AppendRune(t.buf, pair)
		i += 4
	}
	t.tail = append([]byte(nil), raw[i:]...)
	if last && len(t.tail) > 0 {
		t.buf, t.tail = append(t.buf, invalidByte), nil
	}
}

// appendWindows appends a byte of Windows-1252 as UTF-8.
func appendWindows(buf []byte, b byte) []byte {
	switch {
	case b < 0x80:
		return append(buf, b)
	case b >= 0xa0:
		return utf8.AppendRune(buf, rune(b))
	case windowsRunes[b-0x80] == 0:
		return append(buf, invalidByte)
	}
	return utf8.AppendRune(buf, windowsRunes[b-0x80])
}

// windowsRunes are the characters 0x80 to 0x9f of Windows-1252; five of them are undefined.
var windowsRunes = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// next returns the next line without its line ending, or io.EOF. It is valid until the next call.
func (t *text) next() ([]byte, error) {
	stop := byte('\n')
	if t.lone {
		stop = '\r'
	}
	seen := 0
	for {
		rest := t.buf[t.pos:]
		if at := bytes.IndexByte(rest[seen:], stop); at >= 0 {
			line := rest[:seen+at]
			t.pos += seen + at + 1
			return t.emitLine(line)
		}
		seen = len(rest)
		switch {
		case seen > rowMax:
			return nil, t.errorf(t.line+1, "the line is longer than %d KiB; is this the right kind of file?", rowMax>>10)
		case t.end == nil:
			t.fill()
		case !errors.Is(t.end, io.EOF):
			return nil, fmt.Errorf("reading %s after line %d: %w", t.name, t.line, t.end)
		case seen == 0:
			return nil, io.EOF
		default:
			t.pos = len(t.buf)
			return t.emitLine(rest)
		}
	}
}

func (t *text) emitLine(line []byte) ([]byte, error) {
	t.line++
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) > rowMax {
		return nil, t.errorf(t.line, "the line is longer than %d KiB; is this the right kind of file?", rowMax>>10)
	}
	return line, nil
}

// peek returns the next byte without consuming it; ok is false at the end.
func (t *text) peek() (b byte, ok bool, err error) {
	for t.pos == len(t.buf) {
		if t.end != nil {
			if errors.Is(t.end, io.EOF) {
				return 0, false, nil
			}
			return 0, false, fmt.Errorf("reading %s after line %d: %w", t.name, t.line, t.end)
		}
		t.fill()
	}
	return t.buf[t.pos], true, nil
}

// offset returns how many bytes of the file precede the unread part.
func (t *text) offset() int64 {
	left := t.buf[t.pos:]
	switch t.encoding {
	case utf8Text:
		return t.raw - int64(len(left))
	case windows1252:
		return t.raw - int64(utf8.RuneCount(left))
	}
	units := len(t.tail) / 2
	for len(left) > 0 {
		r, n := utf8.DecodeRune(left)
		left = left[n:]
		units++
		if r > 0xffff {
			units++
		}
	}
	return t.raw - 2*int64(units)
}

// errorf returns an error about a line of the file, which ends the reading.
func (t *text) errorf(line int, format string, args ...any) error {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = shorten(s)
		}
	}
	return fault.Malformedf("%s:%d: %s", t.name, line, fmt.Sprintf(format, args...))
}
