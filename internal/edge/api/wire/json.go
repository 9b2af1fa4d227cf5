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

// depthMax limits the nesting of a body. No schema comes near it.
const depthMax = 64

// bodyUsual is the size up to which memory is allocated in advance.
const bodyUsual = 64 << 10

// readBody reads the whole body before any other resource is in use.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > BodyMax {
		return nil, errTooLarge
	}
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 { // the announced length is not trusted beyond bodyUsual
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
	// From here on reading only detects that the caller has closed the connection; a deadline would look the same.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body.Bytes(), nil
}

// Parse parses JSON more strictly than encoding/json: it refuses duplicate names, invalid UTF-8, the character U+0000 and anything
// after the value, because two parsers could understand such a text differently, or a database could not store it.
func Parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, fault.Malformedf("the body is not valid UTF-8")
	}
	p := parser{text: text}
	v, err := p.value(0)
	if err == nil && p.next() != 0 {
		return nil, fault.Malformedf("the body continues after its JSON value")
	}
	if err == errSyntax {
		return nil, malformed(text)
	}
	if err != nil {
		return nil, err
	}
	return v, p.faults.Err()
}

// malformed returns the error of encoding/json about a text.
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

// parser parses a value directly into the form that validation takes. The tokens of encoding/json take five times as long, which is
// noticeable when many journal entries are posted.
type parser struct {
	text   []byte
	at     int
	path   []string
	faults fault.List
}

// blame adds a fault at the current position.
func (p *parser) blame(message string) {
	p.faults.Addf(strings.TrimPrefix(strings.Join(p.path, ""), "."), "%s", message)
}

// next skips white space and returns the next byte, or 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n':
		case 0:
			return 1 // neither the end nor the beginning of a value
		default:
			return c
		}
	}
	return 0
}

// accept skips white space and then c. It returns false if another byte comes next.
func (p *parser) accept(c byte) bool {
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

// string parses a string. Only one with escapes goes through encoding/json.
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

// numberRe is the grammar of JSON, which is narrower than that of strconv.
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
	if p.accept('}') {
		return m, nil
	}
	for {
		if p.next() != '"' {
			return nil, errSyntax
		}
		name, err := p.string()
		if err != nil || !p.accept(':') {
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
		if p.accept('}') {
			return m, nil
		}
		if !p.accept(',') {
			return nil, errSyntax
		}
	}
}

func (p *parser) array(depth int) (any, error) {
	p.at++
	list := []any{}
	if p.accept(']') {
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
		if p.accept(']') {
			return list, nil
		}
		if !p.accept(',') {
			return nil, errSyntax
		}
	}
}
