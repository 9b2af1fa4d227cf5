package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// form is a valid request of a route, decoded.
type form struct {
	path  map[string]string
	query [][2]string
	body  map[string]any
}

// newForms returns the valid requests that a sample has.
func newForms(s sample) (out []form) {
	for _, one := range append([]sample{s}, s.also...) {
		f := form{path: s.path}
		if one.path != nil {
			f.path = one.path
		}
		for pair := range strings.SplitSeq(one.query, "&") {
			if name, value, found := strings.Cut(pair, "="); found {
				if text, err := url.QueryUnescape(value); err == nil {
					f.query = append(f.query, [2]string{name, text})
				}
			}
		}
		if one.body != nil {
			f.body = apitest.Decoded(one.body)
		}
		out = append(out, f)
	}
	return out
}

// fuzzRequest is a request in parts, which can be left out one by one.
type fuzzRequest struct {
	route  wire.Route
	method string
	path   string
	query  [][2]string
	body   any // decoded JSON
	text   *string
	kind   string // the Content-Type of the text
	header [][2]string
	key    fuzzKey
}

// fuzzKey is an API key and whether it belongs to the organization of the fuzzer.
type fuzzKey struct {
	text string
	own  bool
}

var (
	pathParameter = regexp.MustCompile(`\{(\w+)\}`)
	controls      = regexp.MustCompile(`[\x00-\x1f\x7f]`)
)

// target returns the path with the query, as it is sent.
func (q *fuzzRequest) target() string {
	out := q.path
	for i, pair := range q.query {
		out += map[bool]string{true: "?", false: "&"}[i == 0] + url.QueryEscape(pair[0]) + "=" + url.QueryEscape(pair[1])
	}
	return out
}

// String returns the request as it goes over the wire, without the API key.
func (q *fuzzRequest) String() string { return q.wire("…") }

func (q *fuzzRequest) wire(key string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bursar\r\n", q.method, q.target())
	if key != "" {
		fmt.Fprintf(&b, "X-API-Key: %s\r\n", key)
	}
	for _, h := range q.header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], controls.ReplaceAllString(h[1], ""))
	}
	text, kind := q.content()
	if text != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\n", kind, len(text))
	}
	return b.String() + "\r\n" + text
}

// content returns the body and its type.
func (q *fuzzRequest) content() (text, kind string) {
	if q.text != nil {
		return *q.text, q.kind
	}
	if q.body == nil {
		return "", ""
	}
	if object, ok := q.body.(map[string]any); ok && isForm(q.route) {
		return apitest.Form(object)
	}
	encoded, err := json.Marshal(q.body)
	if err != nil {
		panic(err)
	}
	return string(encoded), "application/json"
}

// parse returns the request as the server of net/http reads it, or an error if that would answer itself.
func (q *fuzzRequest) parse() (*http.Request, error) {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(q.wire(q.key.text))))
	if err == nil {
		r.RemoteAddr = "192.0.2.1:1234"
	}
	return r, err
}

// next returns the next request.
func (f *fuzzer) next() *fuzzRequest {
	r := oneOf(f.Rand, f.service.API.Routes())
	f.hostile = oneOf(f.Rand, []float64{0, 0, 0, 0, 0.04, 0.1, 0.3, 0.8})
	valid := oneOf(f.Rand, f.forms[r.String()])
	q := &fuzzRequest{route: r, method: r.Method, key: f.randomKey()}
	q.path = pathParameter.ReplaceAllStringFunc(r.Path, func(found string) string {
		name := found[1 : len(found)-1]
		if f.happens(0.4) {
			return url.PathEscape(valid.path[name])
		}
		return url.PathEscape(f.text(name, &huma.Schema{}))
	})
	q.query = f.randomQuery(r, valid)
	if r.Operation.RequestBody != nil {
		if f.happens(0.7) {
			q.body = f.vary("", valid.body, bodyOf(r), f.hostile/4)
		} else {
			q.body = f.value("", bodyOf(r), 0)
		}
	} else if f.happens(0.005) {
		q.body = oneOf(f.Rand, hostileValues)
	}
	if r.Idempotent && f.happens(0.3) {
		key := fmt.Sprint("key ", f.IntN(1_000_000_000))
		if f.happens(f.hostile / 2) {
			key = oneOf(f.Rand, append(f.usedKeys, hostileTexts...))
		}
		q.header = append(q.header, [2]string{"Idempotency-Key", key})
	}
	if f.happens(f.hostile / 10) {
		f.mangle(q)
	}
	return q
}

// randomKey returns the key of the owner most of the time.
func (f *fuzzer) randomKey() fuzzKey {
	if f.happens(0.9) {
		return f.keys[0]
	}
	return oneOf(f.Rand, f.keys)
}

// randomQuery returns parameters of a valid request and random ones.
func (f *fuzzer) randomQuery(r wire.Route, valid form) (out [][2]string) {
	given := map[string]bool{}
	whole := f.happens(0.5)
	for _, pair := range valid.query {
		if pair[0]+"="+pair[1] == r.Choice || !f.happens(f.hostile/4) && (whole || f.happens(0.3)) {
			out, given[pair[0]] = append(out, pair), true
		}
	}
	for _, p := range r.Operation.Parameters {
		if p.Name == "limit" && !given[p.Name] && f.happens(0.7) { // long lists take time and show nothing new
			out, given[p.Name] = append(out, [2]string{p.Name, strconv.Itoa(1 + f.IntN(5))}), true
		}
		if p.In != "query" || given[p.Name] || !p.Required && !f.happens(min(0.2, 2/float64(len(r.Operation.Parameters)))) {
			continue
		}
		if p.Name == "cursor" {
			if cursors := f.cursors[r.String()]; len(cursors) > 0 && !f.happens(f.hostile) {
				out = append(out, [2]string{p.Name, oneOf(f.Rand, cursors)})
				continue
			}
		}
		out = append(out, [2]string{p.Name, queryText(f.value(p.Name, p.Schema, 0))})
	}
	if f.happens(f.hostile / 20) {
		out = append(out, [2]string{oneOf(f.Rand, hostileTexts), oneOf(f.Rand, hostileTexts)})
	}
	if len(out) > 0 && f.happens(f.hostile/20) {
		out = append(out, out[0]) // twice
	}
	return out
}

// queryText returns a value as the text of a parameter: lists separated by commas, and anything but text as JSON.
func queryText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = queryText(item)
		}
		return strings.Join(texts, ",")
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// mangle changes a request below the level of values: its bytes, its method, its headers.
func (f *fuzzer) mangle(q *fuzzRequest) {
	text, kind := q.content()
	set := func(mangled string) { q.text, q.kind = &mangled, kind }
	switch f.IntN(12) {
	case 0:
		set(text[:f.IntN(len(text)+1)])
	case 1:
		set(text + oneOf(f.Rand, []string{"x", "{}", "\x00", "]", "\xff"}))
	case 2:
		set(strings.Replace(text, `":`, "\xff\":", 1))
	case 3:
		set(strings.Repeat("[", 20_000))
	case 4:
		set(strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000))
	case 5:
		set("\ufeff" + text)
	case 6:
		set(strings.Replace(text, "{", `{"name":"x","name":"y",`, 1))
	case 7:
		set(text)
		q.kind = oneOf(f.Rand, []string{"text/plain", "application/json; charset=latin1", "multipart/form-data",
			"multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "☃", "application/json;"})
	case 8:
		q.method = oneOf(f.Rand, []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "SURPRISE"})
	case 9:
		q.header = append(q.header, [2]string{oneOf(f.Rand, []string{"X-Organization-Id", "Accept", "Accept-Encoding", "If-Match", "Expect",
			"Range", "Content-Encoding", "X-Request-Id", "Idempotency-Key", "X-API-Key", "Origin"}), oneOf(f.Rand, hostileTexts)})
	case 10:
		q.path += oneOf(f.Rand, []string{"/", "//", "/..", "/x", "%2f", "%00", ";x", "."})
	case 11:
		set("[" + strings.Repeat("0,", 100_000) + "0]")
	}
}

// smaller returns copies of a request from each of which one part is left out.
func (q *fuzzRequest) smaller() (out []*fuzzRequest) {
	add := func(change func(c *fuzzRequest)) {
		c := *q
		change(&c)
		out = append(out, &c)
	}
	for i := range q.query {
		add(func(c *fuzzRequest) { c.query = slices.Delete(slices.Clone(q.query), i, i+1) })
	}
	for i := range q.header {
		add(func(c *fuzzRequest) { c.header = slices.Delete(slices.Clone(q.header), i, i+1) })
	}
	if q.text != nil {
		if half := len(*q.text) / 2; half > 0 {
			add(func(c *fuzzRequest) { c.text = new((*q.text)[:half]) })
		}
		return out
	}
	for _, body := range withoutOnePart(q.body) {
		add(func(c *fuzzRequest) { c.body = body })
	}
	return out
}

// withoutOnePart returns copies of a value in each of which a property or an item is missing, at any depth.
func withoutOnePart(v any) (out []any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			without := maps.Clone(v)
			delete(without, name)
			out = append(out, without)
			for _, inner := range withoutOnePart(v[name]) {
				with := maps.Clone(v)
				with[name] = inner
				out = append(out, with)
			}
		}
	case []any:
		for i := range v {
			out = append(out, slices.Delete(slices.Clone(v), i, i+1))
			for _, inner := range withoutOnePart(v[i]) {
				with := slices.Clone(v)
				with[i] = inner
				out = append(out, with)
			}
		}
	}
	return out
}

// answerWriter keeps the answer of a handler.
type answerWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header of the answer.
func (w *answerWriter) Header() http.Header { return w.header }

// WriteHeader keeps the first status.
func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write keeps a part of the body.
func (w *answerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

func (w *answerWriter) answer() apitest.Answer {
	return apitest.Answer{Status: w.status, Header: w.header, Body: w.body.Bytes()}
}
