package notation

import (
	"errors"
	"io"
	"strings"
)

// words takes one line of beancount apart. A string may go over several lines, which it fetches.
type words struct {
	src  *source
	rest string
}

func newWords(src *source, line string) *words { return &words{src: src, rest: line} }

func (w *words) skipSpace() { w.rest = strings.TrimLeft(w.rest, " \t") }

// end tells whether nothing but a comment is left.
func (w *words) end() bool {
	w.skipSpace()
	return w.rest == "" || w.rest[0] == ';'
}

// peek is the next character, or 0.
func (w *words) peek() byte {
	if w.end() {
		return 0
	}
	return w.rest[0]
}

// accept takes a mark, if it comes next.
func (w *words) accept(mark string) bool {
	w.skipSpace()
	rest, ok := strings.CutPrefix(w.rest, mark)
	if ok {
		w.rest = rest
	}
	return ok
}

// word takes everything up to a space or a mark that ends words.
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

// number takes digits with their point; commas between thousands are left out.
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

// groupAt tells a comma before three digits from one that separates.
func (w *words) groupAt(i int) bool {
	after := w.rest[i+1:]
	return i > 0 && len(after) >= 3 && isDigit(after[0]) && isDigit(after[1]) && isDigit(after[2])
}

// key takes the name of a piece of metadata, if one comes next.
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

// quoted takes a string in quotes.
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
				b.WriteByte(plainByte(w.rest[i]))
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

// plainByte is what a character behind a backslash stands for.
func plainByte(c byte) byte {
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

// raw takes the rest of the line without its comment.
func (w *words) raw() string {
	text, _, _ := strings.Cut(w.rest, ";")
	w.rest = ""
	return strings.TrimSpace(text)
}

// value takes the value of a piece of metadata as text, whatever its type.
func (w *words) value() (string, error) {
	if w.peek() != '"' {
		return w.raw(), nil
	}
	return w.quoted()
}
