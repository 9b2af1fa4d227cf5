package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// canary marks a text, so that it is recognized wherever it appears. Each marked text has a number of its own.
var canary = regexp.MustCompile(`zqcanary\d+x`)

// planter is a transport that puts a canary into every text of the requests that are sent through it: names, memos, addresses and so on,
// as the description of the route says. Values that the service refuses are sent as they are.
type planter struct {
	service *apitest.Service
	all     bool            // include what belongs to the whole organization
	planted map[string]bool // route and field
	count   int
	sent    []byte // the last body
}

// organizationText lists texts that are no text of a legal entity: vendor_name creates a tag of the organization, and the others are
// symbols that everybody uses.
var organizationText = []string{"vendor_name", "asset_type", "currency", "fee_asset_type", "chain", "provider"}

// text returns a new canary.
func (p *planter) text() string {
	p.count++
	return fmt.Sprintf("zqcanary%dx", p.count)
}

// RoundTrip sends a request.
func (p *planter) RoundTrip(req *http.Request) (*http.Response, error) {
	r := routeOf(p.service, req)
	p.sent = nil
	if req.Body != nil {
		p.sent, _ = io.ReadAll(req.Body)
	}
	if r == nil || r.Need.WholeOrganization && !p.all || len(p.sent) == 0 {
		return p.forward(req, p.sent)
	}
	if media, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); media != "application/json" {
		for _, text := range []string{"Rent", "No such day", "bank.csv", "sample.csv"} {
			if bytes.Contains(p.sent, []byte(text)) {
				p.planted[r.String()+" "+text] = true
				p.sent = bytes.ReplaceAll(p.sent, []byte(text), []byte(p.text()+".csv"))
			}
		}
		return p.forward(req, p.sent)
	}
	var body map[string]any
	if err := json.Unmarshal(p.sent, &body); err != nil {
		return p.forward(req, p.sent) // it is refused
	}
	places, original := textPlaces(p.service, *r, body), p.sent
	for range len(places) + 1 {
		marked := body
		for _, steps := range places {
			marked = apitest.With(marked, steps, p.text())
		}
		p.sent, _ = json.Marshal(marked)
		res, err := p.forward(req, p.sent)
		if err != nil || res.StatusCode == r.Status {
			for _, steps := range places {
				p.planted[r.String()+" "+place{steps: steps}.name()] = true
			}
			return res, err
		}
		refused, _ := io.ReadAll(res.Body)
		res.Body.Close()
		var fault wire.ErrorBody
		_ = json.Unmarshal(refused, &fault)
		before := len(places)
		places = slices.DeleteFunc(places, func(steps []any) bool {
			return slices.ContainsFunc(fault.Error.Fields, func(f wire.ErrorField) bool { return inside(place{steps: steps}.String(), f.Field) })
		})
		if len(places) == before {
			break // it is refused for another reason
		}
	}
	p.sent = original
	return p.forward(req, p.sent)
}

// forward sends a request with a body.
func (p *planter) forward(req *http.Request, body []byte) (*http.Response, error) {
	again := req.Clone(req.Context())
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	again.GetBody = nil
	return http.DefaultTransport.RoundTrip(again)
}

// send sends a request through the planter. It returns the request as it was sent, and the answer.
func (p *planter) send(t *testing.T, r apitest.Request) (apitest.Request, apitest.Answer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.Method, p.service.URL+r.Path, strings.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = maps.Clone(r.Header)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("X-API-Key", r.Key)
	if r.Body != "" {
		req.Header.Set("Content-Type", "application/json")
		if r.ContentType != "" {
			req.Header.Set("Content-Type", r.ContentType)
		}
	}
	res, err := (&http.Client{Transport: p}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body = string(p.sent)
	return r, apitest.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
}

// routeOf returns the route of a request, or nil if it is none.
func routeOf(s *apitest.Service, req *http.Request) (found *wire.Route) {
	have := strings.Split(req.URL.Path, "/")
	best := -1
	for _, r := range s.API.Routes() {
		want := strings.Split(r.Path, "/")
		if r.Method != req.Method || len(want) != len(have) || r.Choice != "" && !r.Matches(req) {
			continue
		}
		fixed := len(r.Choice)
		for i, part := range want {
			if strings.HasPrefix(part, "{") {
				continue
			}
			if fixed++; part != have[i] {
				fixed = -1
				break
			}
		}
		if fixed > best {
			found, best = &r, fixed
		}
	}
	return found
}

// textPlaces returns the places of a body that hold a text of people, as opposed to an id, a date or one of some values.
func textPlaces(s *apitest.Service, r wire.Route, body map[string]any) (out [][]any) {
	var walk func(p place, value any)
	walk = func(p place, value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				if schema := p.schema.Properties[name]; schema != nil {
					inner, _ := resolve(s, schema)
					walk(place{steps: p.within(name), schema: inner}, value[name])
				}
			}
		case []any:
			for i, item := range value {
				if p.schema.Items != nil {
					inner, _ := resolve(s, p.schema.Items)
					walk(place{steps: p.within(i), schema: inner}, item)
				}
			}
		case string:
			if p.schema.Type == huma.TypeString && len(p.schema.Enum) == 0 && p.schema.Format == "" && !isID(p) &&
				!slices.Contains(organizationText, p.name()) && !decimal.MatchString(value) {
				out = append(out, p.steps)
			}
		}
	}
	walk(place{schema: bodySchema(s, r)}, apitest.Decoded(body))
	return out
}

var decimal = regexp.MustCompile(`^-?[0-9.]+$`)
