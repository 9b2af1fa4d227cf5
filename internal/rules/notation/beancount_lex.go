package notation

import (
	"errors"
	"io"
	"strings"
)

// words tokenizes one line of beancount. A string may span several lines, which words reads from the source.
type words struct {
	src  *source
	rest string
}

func newWords(src *source, line string) *words { return &words{src: src, rest: line} }

func (w *words) skipSpace() { w.rest = strings.TrimLeft(w.rest, " \t") }

// end reports whether only a comment is left.
func (w *words) end() bool {
	w.skipSpace()
	return w.rest == "" || w.rest[0] == ';'
}

// peek returns the next character, or 0.
func (w *words) peek() byte {
	if w.end() {
		return 0
	}
	return w.rest[0]
}

// accept consumes a mark, if it is next.
func (w *words) accept(mark string) bool {
	w.skipSpace()
	rest, ok := strings.CutPrefix(w.rest, mark)
	if ok {
		w.rest = rest
	}
	return ok
}

// word consumes everything up to a space or a mark that ends words.
func (w *words) word() string {
	w.skipSpace()
	end := strings.IndexAny(w.rest, " \t;\"{}(),@~")
	if end < 0 {
		end = len(w.rest)
	}
	word := w.rest[:end]
	w.rest = w.rest[end:]
	return word
}

// number consumes digits and a decimal point; it drops commas between thousands.
func (w *words) number() string {
	w.skipSpace()
	end := 0
	for end < len(w.rest) && (isDigit(w.rest[end]) || w.rest[end] == '.' || w.rest[end] == ',' && w.groupAt(end)) {
		end++
	}
	number := w.rest[:end]
	w.rest = w.rest[end:]
	return strings.ReplaceAll(number, ",", "")
}

// groupAt reports whether a comma precedes three digits, and so groups thousands.
func (w *words) groupAt(i int) bool {
	after := w.rest[i+1:]
	return i > 0 && len(after) >= 3 && isDigit(after[0]) && isDigit(after[1]) && isDigit(after[2])
}

// key consumes a metadata key, if one is next.
func (w *words) key() (string, bool) {
	w.skipSpace()
	if w.rest == "" || w.rest[0] < 'a' || w.rest[0] > 'z' {
		return "", false
	}
	for i := 1; i < len(w.rest); i++ {
		c := w.rest[i]
		if c == ':' {
			key := w.rest[:i]
			w.rest = w.rest[i+1:]
			return key, true
		}
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '_' {
			return "", false
		}
	}
	return "", false
}

// quoted consumes a string in quotes.
func (w *words) quoted() (string, error) {
	if !w.accept(`"`) {
		return "", w.src.errorf(w.src.line, "a text in quotes is missing before %q", w.rest)
	}
	from := w.src.line
	var b strings.Builder
	for {
		for i := 0; i < len(w.rest); i++ {
			switch c := w.rest[i]; {
			case c == '"':
				w.rest = w.rest[i+1:]
				return b.String(), nil
			case c == '\\' && i+1 < len(w.rest):
				i++
				b.WriteByte(unescapeByte(w.rest[i]))
			default:
				b.WriteByte(c)
			}
		}
		line, err := w.src.next()
		if errors.Is(err, io.EOF) {
			return "", w.src.errorf(from, "the text that begins here has no closing quote; add one")
		}
		if err != nil {
			return "", err
		}
		b.WriteByte('\n')
		w.rest = line
	}
}

// unescapeByte returns the character that an escape with a backslash stands for.
func unescapeByte(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'f':
		return '\f'
	case 'b':
		return '\b'
	}
	return c
}

// raw consumes the rest of the line without its comment.
func (w *words) raw() string {
	text, _, _ := strings.Cut(w.rest, ";")
	w.rest = ""
	return strings.TrimSpace(text)
}

// value consumes a metadata value of any type and returns it as text.
func (w *words) value() (string, error) {
	if w.peek() != '"' {
		return w.raw(), nil
	}
	return w.quoted()
}
