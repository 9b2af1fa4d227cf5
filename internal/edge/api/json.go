package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// depthMax is deeper than any body of ours and far from what would strain a reader.
const depthMax = 64

// readBody reads a body whole, before anything else is in use, so that a slow client holds nothing but its connection.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > bodyMax {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
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
	return body, nil
}

// parse reads JSON more strictly than encoding/json does: a name given twice, text that is no UTF-8, a NUL that no database takes,
// and anything after the value are refused, because each means that two readers would understand two things.
func parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, fault.Malformedf("the body is not valid UTF-8")
	}
	p := parser{decoder: json.NewDecoder(bytes.NewReader(text))}
	v, err := p.value(0)
	if err != nil {
		return nil, malformed(err)
	}
	if _, err := p.decoder.Token(); err != io.EOF {
		return nil, fault.Malformedf("the body has something after its JSON value")
	}
	return v, p.faults.Err()
}

func malformed(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Malformedf("the body is not valid JSON: it ends too early")
	}
	return fault.Malformedf("the body is not valid JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

type parser struct {
	decoder *json.Decoder
	path    []string
	faults  fault.List
}

// blame names the place the parser is at.
func (p *parser) blame(message string) {
	p.faults.Addf(strings.TrimPrefix(strings.Join(p.path, ""), "."), "%s", message)
}

func (p *parser) value(depth int) (any, error) {
	if depth > depthMax {
		return nil, fault.Malformedf("the body is nested deeper than %d levels", depthMax)
	}
	token, err := p.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case string:
		if strings.ContainsRune(t, 0) {
			p.blame("must not contain the character U+0000")
		}
	}
	return token, nil
}

func (p *parser) object(depth int) (any, error) {
	m := map[string]any{}
	for p.decoder.More() {
		token, err := p.decoder.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // the decoder takes no other token here
		p.path = append(p.path, "."+name)
		if _, twice := m[name]; twice {
			p.blame("is given twice")
		}
		if m[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
	}
	_, err := p.decoder.Token()
	return m, err
}

func (p *parser) array(depth int) (any, error) {
	list := []any{}
	for p.decoder.More() {
		p.path = append(p.path, fmt.Sprintf("[%d]", len(list)))
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		p.path = p.path[:len(p.path)-1]
	}
	_, err := p.decoder.Token()
	return list, err
}
