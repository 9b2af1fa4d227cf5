package notation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// sourceBuffer is how much is read from the file at a time.
const sourceBuffer = 64 << 10

// source reads a file line by line and counts the lines.
type source struct {
	name string
	r    *bufio.Reader
	line int // The number of the line returned last.
	size int // Bytes returned since the entry began.

	again   bool // The last line is to be returned once more.
	current string
	long    []byte // A line that does not fit into the buffer.
}

func newSource(name string, r io.Reader) *source {
	return &source{name: name, r: bufio.NewReaderSize(r, sourceBuffer)}
}

// next returns the next line without its line ending, or io.EOF.
func (s *source) next() (string, error) {
	if s.again {
		s.again = false
		s.line++
		return s.current, nil
	}
	raw, err := s.raw()
	if err != nil {
		return "", err
	}
	s.current = strings.TrimSuffix(raw, "\r")
	return s.current, nil
}

// unread makes next return the last line again.
func (s *source) unread() {
	s.again = true
	s.line--
}

// raw reads a line, ignoring unread, and keeps a carriage return.
func (s *source) raw() (string, error) {
	part, err := s.r.ReadSlice('\n')
	line := part
	if errors.Is(err, bufio.ErrBufferFull) {
		s.long = append(s.long[:0], part...)
		for errors.Is(err, bufio.ErrBufferFull) && len(s.long) <= entryMax {
			part, err = s.r.ReadSlice('\n')
			s.long = append(s.long, part...)
		}
		line = s.long
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("reading %s after line %d: %w", s.name, s.line, err)
	}
	if len(line) == 0 {
		return "", io.EOF
	}
	s.line++
	s.size += len(line)
	if len(line) > entryMax || s.size > entryMax {
		return "", s.errorf(s.line, "one entry has more than %d MiB; split it, or check that this is a journal", entryMax>>20)
	}
	if !utf8.Valid(line) {
		return "", s.errorf(s.line, "the text is not UTF-8; save the file as UTF-8 and try again")
	}
	text := string(line)
	if s.line == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return strings.TrimSuffix(text, "\n"), nil
}

// begin resets the size of the current entry.
func (s *source) begin() { s.size = 0 }

// errorf returns an error about a line of the file.
func (s *source) errorf(line int, format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = short(text)
		}
	}
	return fault.Malformedf("%s:%d: %s", s.name, line, fmt.Sprintf(format, args...))
}

// quoteMax bounds how much of a file's text an error quotes.
const quoteMax = 120

// short truncates a text for an error.
func short(text string) string {
	if len(text) <= quoteMax {
		return text
	}
	return strings.ToValidUTF8(text[:quoteMax], "") + "…"
}
