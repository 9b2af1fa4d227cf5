package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// depthMax is deeper than any body of ours and far from what would strain a reader.
const depthMax = 64

// bodyUsual is more than most bodies have.
const bodyUsual = 64 << 10

// readBody reads a body whole, before anything else is in use, so that a slow client holds nothing but its connection.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > BodyMax {
		return nil, errTooLarge
	}
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 { // only so much on somebody's word; the end is found without growing once more
		body.Grow(int(min(n, bodyUsual)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, BodyMax))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errTooSlow
	case err != nil:
		return nil, fault.Malformedf("the body could not be read")
	}
	// From here on the connection is only watched for the caller hanging up; a deadline would look like that.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body.Bytes(), nil
}

// parse reads JSON more strictly than encoding/json does: a name given twice, text that is no UTF-8, a NUL that no database takes,
// and anything after the value are refused, because each means that two readers would understand two things.
func Parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, fault.Malformedf("the body is not valid UTF-8")
	}
	p := parser{text: text}
	v, err := p.value(0)
	if err == nil && p.next() != 0 {
		return nil, fault.Malformedf("the body has something after its JSON value")
	}
	if err == errSyntax {
		return nil, malformed(text)
	}
	if err != nil {
		return nil, err
	}
	return v, p.faults.Err()
}

// malformed lets encoding/json say what is wrong with a text.
func malformed(text []byte) error {
	var v any
	err := json.Unmarshal(text, &v)
	switch {
	case err == nil:
		return fault.Malformedf("the body is not valid JSON")
	case strings.Contains(err.Error(), "unexpected end"):
		return fault.Malformedf("the body is not valid JSON: it ends too early")
	}
	return fault.Malformedf("the body is not valid JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

var errSyntax = errors.New("api: not JSON")

// parser reads a value straight into what validation takes. encoding/json's tokens take five times as long, which on
// a busy journal is felt.
type parser struct {
	text   []byte
	at     int
	path   []string
	faults fault.List
}

// blame names the place the parser is at.
func (p *parser) blame(message string) {
	p.faults.Addf(strings.TrimPrefix(strings.Join(p.path, ""), "."), "%s", message)
}

// next skips white space and gives the byte there, or 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n':
		case 0:
			return 1 // a byte that begins nothing, and is not the end
		default:
			return c
		}
	}
	return 0
}

// take moves past a byte that must come next.
func (p *parser) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(depth int) (any, error) {
	if depth > depthMax {
		return nil, fault.Malformedf("the body is nested deeper than %d levels", depthMax)
	}
	switch c := p.next(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		text, err := p.string()
		if err == nil && strings.IndexByte(text, 0) >= 0 {
			p.blame("must not contain the character U+0000")
		}
		return text, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for literal, v := range map[string]any{"true": true, "false": false, "null": nil} {
		if bytes.HasPrefix(p.text[p.at:], []byte(literal)) {
			p.at += len(literal)
			return v, nil
		}
	}
	return nil, errSyntax
}

// string reads a text; only one with escapes needs encoding/json.
func (p *parser) string() (string, error) {
	from := p.at
	for i := from + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.at = i + 1
			return string(p.text[from+1 : i]), nil
		case c == '\\':
			return p.escaped(from)
		case c < ' ':
			return "", errSyntax
		}
	}
	return "", errSyntax
}

func (p *parser) escaped(from int) (text string, err error) {
	for i := from + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			p.at = i + 1
			if json.Unmarshal(p.text[from:p.at], &text) != nil {
				return "", errSyntax
			}
			return text, nil
		}
	}
	return "", errSyntax
}

// numberRe is JSON's own grammar, which is narrower than what Go reads as a number.
var numberRe = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

func (p *parser) number() (any, error) {
	text := numberRe.Find(p.text[p.at:])
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return nil, errSyntax
	}
	p.at += len(text)
	return v, nil
}

func (p *parser) object(depth int) (any, error) {
	p.at++
	m := map[string]any{}
	if p.take('}') {
		return m, nil
	}
	for {
		if p.next() != '"' {
			return nil, errSyntax
		}
		name, err := p.string()
		if err != nil || !p.take(':') {
			return nil, errSyntax
		}
		p.path = append(p.path, "."+name)
		if _, twice := m[name]; twice {
			p.blame("is given twice")
		}
		if m[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		if p.take('}') {
			return m, nil
		}
		if !p.take(',') {
			return nil, errSyntax
		}
	}
}

func (p *parser) array(depth int) (any, error) {
	p.at++
	list := []any{}
	if p.take(']') {
		return list, nil
	}
	for {
		p.path = append(p.path, "["+strconv.Itoa(len(list))+"]")
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		p.path = p.path[:len(p.path)-1]
		if p.take(']') {
			return list, nil
		}
		if !p.take(',') {
			return nil, errSyntax
		}
	}
}
