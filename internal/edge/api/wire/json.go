package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// depthMax limits the nesting of a body. No schema comes near it.
const depthMax = 64

// bodyUsual is the size up to which memory is allocated in advance.
const bodyUsual = 64 << 10

// readBody reads the whole body before any other resource is in use.
func readBody(w http.ResponseWriter, r *http.Request, memory *Reservation) ([]byte, error) {
	if r.ContentLength > BodyMax {
		return nil, errTooLarge
	}
	if err := memory.Announce(r.ContentLength); err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 { // the announced length is not trusted beyond bodyUsual
		body.Grow(int(min(n, bodyUsual)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(&accounted{http.MaxBytesReader(w, r.Body, BodyMax), memory})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errTooSlow
	case errors.As(err, new(*fault.Error)) || errors.Is(err, errTooMuch): // there is no memory for it
		return nil, err
	case err != nil:
		return nil, fault.Malformedf("the body could not be read")
	}
	// From here on reading only detects that the caller has closed the connection; a deadline would look the same.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body.Bytes(), nil
}

// Parse parses JSON more strictly than encoding/json: it refuses duplicate names, invalid UTF-8, the character U+0000, numbers that no
// float64 can hold and anything after the value, because two parsers could understand such a text differently, or a database could not
// store it.
func Parse(text []byte) (any, error) {
	v, err := newRules(nil).parse(text, nil, nil)
	return v.value, err
}

// parsed is what was read of a text.
type parsed struct {
	value   any
	cut     bool // whether unknown properties were not kept
	stopped bool // whether the rest of the text was not read, because too much of it was not to be kept
}

// parse is Parse for a text that is to match a schema. What the schema does not allow is read but not kept: the items of a list beyond its
// limit, the values of unknown properties, and what is in an object or a list where the schema wants something else. The validation then
// finds the fault all the same, except for unknown properties beyond fault.ListMax. Reading stops when more than wastedMax values were not
// kept or were at fault: finding out what else is wrong with such a text is not worth the time. Memory is taken for what is kept. If values
// are at fault, the error names them, and the others are returned.
func (s *rules) parse(text []byte, schema *huma.Schema, memory *Reservation) (parsed, error) {
	if !utf8.Valid(text) {
		return parsed{}, fault.Malformedf("the body is not valid UTF-8")
	}
	p := parser{rules: s, text: text, memory: memory}
	v, err := p.value(0, schema)
	switch {
	case err == errSyntax:
		return parsed{}, p.malformed()
	case err != nil:
		return parsed{}, err
	case !p.stopped && p.next() != 0:
		return parsed{}, fault.Malformedf("the body continues after its JSON value")
	}
	return parsed{v, p.cut, p.stopped}, p.faults.Err()
}

// wastedMax is how many values of a text are read that are not kept, or that are at fault.
const wastedMax = 10 * fault.ListMax

// errSyntax ends the parsing of a text that is not JSON.
var errSyntax = errors.New("api: not JSON")

// malformed returns the error about a text that is not JSON from the place at which the parser stopped.
func (p *parser) malformed() error {
	if p.at >= len(p.text) {
		return fault.Malformedf("the body is not valid JSON: it ends too early")
	}
	c, _ := utf8.DecodeRune(p.text[p.at:])
	return fault.Malformedf("the body is not valid JSON: unexpected %q at byte %s", c, formatCount(p.at+1))
}

// longList is a list with more items than its schema allows, of which only as many were kept.
type longList struct {
	items   []any
	count   int
	stopped bool // the list has more items than were counted
}

// partObject is an object that was not read to its end.
type partObject map[string]any

// parser parses a value directly into the form that validation takes. The tokens of encoding/json take five times as long, which is
// noticeable when many journal entries are posted.
type parser struct {
	rules   *rules
	text    []byte
	at      int
	path    []byte
	faults  fault.List
	memory  *Reservation
	skipped int  // more than 0 while what is read is not kept
	cut     bool // unknown properties were not kept
	wasted  int  // values that were not kept, or that are at fault
	stopped bool // nothing more is read
}

// waste counts a value that is not kept, or that is at fault. The values in one that is not kept count, because reading them takes time;
// what is wrong with them does not.
func (p *parser) waste() {
	p.wasted++
	p.stopped = p.stopped || p.wasted > wastedMax
}

// keep takes memory for a value, unless that is not kept. The input of the operation is built from it and takes about as much again.
func (p *parser) keep(bytes int) error {
	if p.skipped > 0 {
		return nil
	}
	return p.memory.Take(2 * bytes)
}

// skip reads a value without keeping it.
func (p *parser) skip(depth int) error {
	p.skipped++
	_, err := p.value(depth, nil)
	p.skipped--
	return err
}

// blame adds a fault at the current position.
func (p *parser) blame(message string) {
	if p.skipped == 0 {
		p.faults.Addf(strings.TrimPrefix(string(p.path), "."), "%s", message)
		p.waste()
	}
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

// literals are the values that are words.
var literals = []struct {
	word  string
	value any
}{{"true", true}, {"false", false}, {"null", nil}}

// value parses a value. The schema is nil where everything is kept, and inside what is not kept.
func (p *parser) value(depth int, schema *huma.Schema) (any, error) {
	if depth > depthMax {
		return nil, fault.Malformedf("the body is nested deeper than %d levels", depthMax)
	}
	var r *rule
	if schema != nil {
		r = p.rules.of(schema)
	}
	if p.skipped > 0 {
		if p.waste(); p.stopped {
			return nil, nil
		}
	}
	switch c := p.next(); {
	case c == '{':
		return p.object(depth, r)
	case c == '[':
		return p.array(depth, r)
	case c == '"':
		text, err := p.string()
		if err == nil && strings.IndexByte(text, 0) >= 0 {
			p.blame("must not contain the character U+0000")
		}
		if err != nil {
			return nil, err
		}
		return text, p.keep(stringBytes + len(text))
	case c == '-' || c >= '0' && c <= '9':
		return p.number(r)
	}
	for _, l := range literals {
		if bytes.HasPrefix(p.text[p.at:], []byte(l.word)) {
			p.at += len(l.word)
			return l.value, nil
		}
	}
	return nil, errSyntax
}

// string parses a string. Only one with escapes goes through encoding/json.
func (p *parser) string() (string, error) {
	escaped := false
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			quoted := p.text[p.at : i+1]
			if p.skipped > 0 && (!escaped || json.Valid(quoted)) {
				p.at = i + 1
				return "", nil
			}
			text, ok := unquote(quoted, escaped)
			if !ok {
				return "", fault.Malformedf("the body is not valid JSON: the string at byte %s has an invalid escape", formatCount(p.at+1))
			}
			p.at = i + 1
			return text, nil
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			p.at = i
			return "", errSyntax
		}
	}
	p.at = len(p.text)
	return "", errSyntax
}

// unquote returns the text of a string in quotation marks.
func unquote(quoted []byte, escaped bool) (text string, ok bool) {
	if !escaped {
		return string(quoted[1 : len(quoted)-1]), true
	}
	return text, json.Unmarshal(quoted, &text) == nil && !hasLoneSurrogate(quoted)
}

// hasLoneSurrogate reports whether a string has an escape of half a character, which encoding/json replaces by another character.
func hasLoneSurrogate(quoted []byte) bool {
	unit := func(at int) rune { // the code unit of an escape, or 0
		if at+6 > len(quoted) || quoted[at] != '\\' || quoted[at+1] != 'u' {
			return 0
		}
		n, err := strconv.ParseUint(string(quoted[at+2:at+6]), 16, 16)
		if err != nil {
			return 0
		}
		return rune(n)
	}
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		switch first := unit(i); {
		case !utf16.IsSurrogate(first):
			i++ // the character that is escaped
		case utf16.DecodeRune(first, unit(i+6)) == unicode.ReplacementChar:
			return true
		default:
			i += 11
		}
	}
	return false
}

// scanNumber returns the number that a text begins with, or nothing if there is none. The grammar of JSON is narrower than that of strconv.
func scanNumber(text []byte) []byte {
	digits := func(from int) int { // the end of the digits
		for from < len(text) && text[from] >= '0' && text[from] <= '9' {
			from++
		}
		return from
	}
	start := 0
	if len(text) > 0 && text[0] == '-' {
		start = 1
	}
	end := digits(start)
	switch {
	case end == start:
		return nil
	case text[start] == '0':
		end = start + 1
	}
	if end < len(text) && text[end] == '.' && digits(end+1) > end+1 {
		end = digits(end + 1)
	}
	if end < len(text) && (text[end] == 'e' || text[end] == 'E') {
		exponent := end + 1
		if exponent < len(text) && (text[exponent] == '-' || text[exponent] == '+') {
			exponent++
		}
		if last := digits(exponent); last > exponent {
			end = last
		}
	}
	return text[:end]
}

// number parses a number. An integer is an int64, so that it is exact, and must be written as one: what reads the input takes no other
// form. Any other number is a float64. One that does not fit is a fault.
func (p *parser) number(r *rule) (any, error) {
	text := scanNumber(p.text[p.at:])
	if len(text) == 0 {
		return nil, errSyntax
	}
	p.at += len(text)
	if p.skipped > 0 {
		return nil, nil
	}
	if r != nil && r.schema.Type == huma.TypeInteger && !bytes.ContainsAny(text, ".eE") {
		return p.integer(string(text))
	}
	v, err := strconv.ParseFloat(string(text), 64)
	written := "the number " + shorten(string(text), quotedMax)
	switch {
	case err != nil && r != nil && r.schema.Format == decimalFormat:
		p.blame("must be a decimal string, but is " + written)
	case err != nil && r != nil && r.schema.Type == huma.TypeString:
		p.blame("must be a string, but is " + written)
	case err != nil:
		p.blame("is out of range: " + written)
	case r != nil && r.schema.Type == huma.TypeInteger && bytes.ContainsAny(text, ".eE") && v == math.Trunc(v):
		p.blame("must be an integer without a point or an exponent, but is " + written)
	}
	return v, p.keep(numberBytes)
}

// integer parses an integer.
func (p *parser) integer(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.blame("is out of range: the number " + shorten(text, quotedMax))
	}
	return n, p.keep(numberBytes)
}

// object parses an object. Only the properties that the schema has are kept, and the names of others as long as they are few.
func (p *parser) object(depth int, r *rule) (any, error) {
	if r != nil && r.schema.Type != huma.TypeObject && r.schema.Type != "" {
		return map[string]any{}, p.skip(depth)
	}
	p.at++
	var m map[string]any
	if p.skipped == 0 {
		m = map[string]any{}
	}
	if p.accept('}') {
		return m, p.keep(emptyBytes)
	}
	if err := p.keep(objectBytes); err != nil {
		return nil, err
	}
	unknown := 0
	for {
		if p.next() != '"' {
			return nil, errSyntax
		}
		name, err := p.string()
		if err != nil || !p.accept(':') {
			return nil, cmp.Or(err, errSyntax)
		}
		isCut := len(name) > nameMax && r != nil && !r.open
		if isCut { // no property has such a name: what is said about it repeats only its beginning
			name = beginning(name)
		}
		before := len(p.path)
		p.path = append(append(p.path, '.'), name...)
		switch _, there := m[name]; {
		case there && isCut: // another name may begin the same way
			p.cut = true
		case there:
			p.blame("is given twice")
		}
		var known *property
		if r != nil {
			known = r.byName[name]
		}
		switch {
		case p.skipped > 0 || r != nil && known == nil && !r.open && unknown == fault.ListMax:
			p.cut = p.cut || p.skipped == 0
			err = p.skip(depth + 1)
		case r != nil && known == nil && !r.open:
			unknown++
			m[name], err = nil, p.skip(depth+1)
		case known != nil:
			m[known.name], err = p.value(depth+1, known.schema)
		default:
			m[name], err = p.value(depth+1, nil)
		}
		if err != nil {
			return nil, err
		}
		p.path = p.path[:before]
		if p.stopped {
			return partObject(m), nil
		}
		if p.accept('}') {
			return m, p.keep(propertyBytes * max(0, len(m)-8))
		}
		if !p.accept(',') {
			return nil, errSyntax
		}
	}
}

// array parses a list. Items beyond the limit of the schema are not kept.
func (p *parser) array(depth int, r *rule) (any, error) {
	if r != nil && r.schema.Type != huma.TypeArray && r.schema.Type != "" {
		return []any{}, p.skip(depth)
	}
	limit, items := math.MaxInt, (*huma.Schema)(nil)
	if r != nil {
		items = r.schema.Items
		if r.schema.MaxItems != nil {
			limit = *r.schema.MaxItems
		}
	}
	p.at++
	list, count := []any{}, 0
	if p.accept(']') {
		return list, nil
	}
	for ; ; count++ {
		before := len(p.path)
		p.path = append(strconv.AppendInt(append(p.path, '['), int64(count), 10), ']')
		if p.skipped > 0 || count >= limit {
			if err := p.skip(depth + 1); err != nil {
				return nil, err
			}
		} else {
			v, err := p.value(depth+1, items)
			if err != nil {
				return nil, err
			}
			if err := p.keep(itemBytes); err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		p.path = p.path[:before]
		if p.stopped {
			break
		}
		if p.accept(']') {
			break
		}
		if !p.accept(',') {
			return nil, errSyntax
		}
	}
	if p.stopped && count >= limit {
		return longList{list, count, true}, nil
	}
	if count++; p.skipped == 0 && count > limit {
		return longList{list, count, false}, nil
	}
	return list, nil
}
