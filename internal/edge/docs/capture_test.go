package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/docs/guides"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/docs"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/treasury/imports"
)

var update = flag.Bool("update", false, "write the examples anew")

const (
	examplesFile = "examples.json"
	scenarioFile = "testdata/scenario.txt"
	itemsMax     = 2  // of a list in an example
	textsMax     = 12 // of a list of texts, which is shown as a whole up to that
)

func TestTheExamplesAreWhatTheServiceAnswers(t *testing.T) {
	t.Parallel()
	c := newCapture(t)
	for _, name := range guides.Order {
		if needsDemo(t, name) {
			t.Run("guide "+name, func(t *testing.T) { follow(t, name, c.service.URL, c.key) })
		}
	}
	for _, s := range c.scenario.steps {
		c.run(t, s)
	}
	got, err := json.MarshalIndent(c.examples, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(examplesFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(examplesFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the examples are stale: run `go test ./internal/edge/docs -run Examples -update`, rebuild and commit them (%v)%s", err,
			firstDifference(got, want))
	}
	for _, r := range c.service.API.Routes() {
		if id := r.Operation.OperationID; r.Choice == "" && !c.captured(id) {
			t.Errorf("%s has no example: add a request to %s", id, scenarioFile)
		}
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("; line %d is now\n%s\nand was\n%s", i+1, a[i], b[i])
		}
	}
	return ""
}

// capture runs a scenario and collects its examples.
type capture struct {
	service  *apitest.Service
	clock    *clock.Manual
	key      string
	session  string // of the last sign-in
	scenario scenario

	organizationID string
	owner          actor.Actor
	receiver       string // the address of a receiver of webhooks

	values   map[string]string // what the scenario remembers
	stable   map[string]string // stable texts by what they stand for
	counts   map[string]int
	examples []docs.Example
}

// steady is a source of randomness that gives the same bytes in each run.
type steady struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (s *steady) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}

// newCapture starts a service with the demo company, whose clock stands still.
func newCapture(t *testing.T) *capture {
	t.Helper()
	config := dbtest.SQLite(t)
	now := clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))
	config.Clock, config.Random = now, &steady{r: rand.NewChaCha8([32]byte{1})}
	s := apitest.Start(t, dbtest.Open(t, config), api.Config{})
	f, err := demo.Found(t.Context(), s.App, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.App.Identity.SetPassword(t.Context(), f.Owner.UserID, secret.New(apitest.Password), identity.Origin{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(scenarioFile)
	if err != nil {
		t.Fatal(err)
	}
	return &capture{service: s, clock: now, key: f.KeyText.Reveal(), scenario: parseScenario(t, string(text)),
		organizationID: f.Organization.ID, receiver: receive(t),
		owner:  actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes},
		values: map[string]string{},
		stable: map[string]string{}, counts: map[string]int{}}
}

func (c *capture) captured(operation string) bool {
	return slices.ContainsFunc(c.examples, func(e docs.Example) bool { return e.Operation == operation })
}

// run sends the request of a step and keeps its example.
func (c *capture) run(t *testing.T, s step) {
	t.Helper()
	c.clock.Advance(time.Second)
	if s.work != "" {
		c.work(t, s.work)
		return
	}
	path, body := c.filled(t, s.path), c.filled(t, s.body)
	req := apitest.Request{Method: s.method, Path: path, Key: c.key, Body: body}
	e := docs.Example{Operation: s.operation, Method: s.method}
	switch accessOf(c.service.API, s.operation) {
	case wire.ForAnyone:
		e.Session = docs.BeginsSession
	case wire.ForPerson:
		e.Session, req.Key = docs.UsesSession, c.session
	}
	for _, p := range s.form {
		p.Value = c.filled(t, p.Value)
		e.Form = append(e.Form, p)
	}
	if len(e.Form) > 0 {
		req.Body, req.ContentType = c.scenario.formOf(t, e.Form)
	}
	a := c.service.Send(t, req)
	if a.Status >= http.StatusBadRequest {
		t.Errorf("%s %s %s: %d %s", s.operation, s.method, path, a.Status, a.Body)
		return
	}
	if e.Session == docs.BeginsSession {
		first, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
		_, c.session, _ = strings.Cut(first, "=")
	}
	var answer any
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &answer); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range s.keep {
		c.values[k.name] = find(t, answer, k.path)
	}
	if s.operation == "-" {
		return
	}
	e.Path, e.Status = c.steady(path), a.Status
	e.Key = takesKey(c.service.API, s.operation)
	if body != "" {
		e.Body = []byte(c.steady(body))
	}
	for i, p := range e.Form {
		e.Form[i].Value = c.steady(p.Value)
		if name, ok := strings.CutPrefix(p.Value, "@"); ok {
			e.Files = append(e.Files, docs.File{Name: name, Text: c.scenario.files[name]})
		}
	}
	if len(a.Body) > 0 {
		text, shortened := shortened(t, a.Body)
		e.Answer, e.Shortened = []byte(c.steady(string(text))), shortened
	}
	if e.Session == "" {
		e.Go = goSnippet(t, c.service.API, e)
	}
	c.examples = append(c.examples, e)
}

// accessOf returns who may call an operation.
func accessOf(a *api.API, operation string) wire.Access {
	for _, r := range a.Routes() {
		if r.Operation.OperationID == operation {
			return r.Access
		}
	}
	return wire.ForOrganization
}

// takesKey tells whether an operation takes an Idempotency-Key.
func takesKey(a *api.API, operation string) bool {
	return slices.ContainsFunc(a.Routes(), func(r wire.Route) bool {
		return r.Operation.OperationID == operation && slices.ContainsFunc(r.Operation.Parameters, func(p *huma.Param) bool {
			return p.Name == idempotency.Header
		})
	})
}

// hire gives an accounting firm access to the demo company.
func (c *capture) hire(t *testing.T) {
	t.Helper()
	by := c.service.Found(t, "Ledger-Partners")
	by.BecomeFirm(t)
	if _, err := by.Client.CreateFirmTemplate(t.Context(), client.CreateFirmTemplate{Name: "Rules for software", Kind: "rules",
		Rules: []client.FirmTemplateRule{{RuleType: "classification", MemoContains: new("cloudhost"), Direction: new("WITHDRAWAL"),
			LedgerAccountCode: new("5010"), PayeeName: new("Cloudhost")}}}); err != nil {
		t.Fatal(err)
	}
	asked, err := by.Client.CreateFirmClient(t.Context(), client.CreateFirmClient{Name: "Demo Company", Email: "finance@demo-company.example",
		Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.service.App.Firms.Accept(actor.With(t.Context(), c.owner), firm.AcceptParams{FirmOrganizationID: by.Organization.ID,
		ClientID: asked.ID})
	if err != nil {
		t.Fatal(err)
	}
}

// sendToLedger reads the accounts of the general ledger, if they were not, and executes the run {{run}}, if there is one.
func (c *capture) sendToLedger(t *testing.T) {
	t.Helper()
	for _, err := range []error{
		c.service.App.Connections.Run(t.Context(), c.organizationID, c.values["ledger"]),
		c.service.App.GeneralLedger.Run(t.Context(), c.organizationID, c.values["run"]),
	} {
		if err != nil && !errors.Is(err, task.ErrClaimed) && fault.KindOf(err) != fault.NotFound {
			t.Fatal(err)
		}
	}
}

// work runs the background tasks of a kind until all are finished.
func (c *capture) work(t *testing.T, kind string) {
	t.Helper()
	switch kind {
	case "webhooks":
		c.deliver(t)
		return
	case "member":
		if _, err := c.service.App.Access.AddMember(actor.With(t.Context(), c.owner), "lin@example.com", actor.Accountant); err != nil {
			t.Fatal(err)
		}
		return
	case "app":
		c.service.Connect(t, c.owner, actor.ScopeRead)
		return
	case "general ledger":
		c.sendToLedger(t)
		return
	case "firm":
		c.hire(t)
		return
	}
	runner, path := imports.NewRunner(c.service.App.Imports, slog.New(slog.DiscardHandler)), "/v1/imports"
	if kind == "cash runs" {
		runner, path = c.service.App.CashRuns.NewRunner(slog.New(slog.DiscardHandler)), "/v1/cash-application-runs"
	}
	if err := runner.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer runner.Stop()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		a := c.service.Send(t, apitest.Request{Method: "GET", Path: path, Key: c.key})
		if !bytes.Contains(a.Body, []byte(`"finished_at":null`)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a task does not end: %s", a.Body)
		}
	}
}

// hook is the address that examples show instead of that of the receiver.
const hook = "https://hooks.example"

// receive starts a receiver of webhooks, which accepts everything.
func receive(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header()["Date"] = nil }))
	t.Cleanup(s.Close)
	return s.URL
}

// deliver sends what is due to the webhook endpoint of the scenario.
func (c *capture) deliver(t *testing.T) {
	t.Helper()
	a, log := c.service.App, slog.New(slog.DiscardHandler)
	workers := job.NewWorkers()
	job.Handle(workers, func(context.Context, webhook.Deliver) error { return nil })
	workers.AddQueue(webhook.Queue, 1, webhook.PollPause)
	queue, err := job.NewQueue(a.DB, workers, log)
	if err != nil {
		t.Fatal(err)
	}
	sender := &webhook.Sender{Service: a.Webhooks, Jobs: queue, Log: log}
	d := webhook.Deliver{OrganizationID: c.organizationID, EndpointID: c.values["endpoint"]}
	if err := sender.Deliver(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// filled replaces the names in a text by the values they stand for.
func (c *capture) filled(t *testing.T, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, hook, c.receiver)
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := c.values[strings.Trim(name, "{}")]
		if !ok {
			t.Fatalf("the scenario uses %s before it remembers it", name)
		}
		return value
	})
}

var unstable = regexp.MustCompile(`\b(bur)_[0-9A-Za-z]{43}\b|\b([a-z]{2,4})_[0-9a-z]{26}\b|\b[0-9a-f]{64}\b|"(?:next_)?cursor":"([^"]+)"|"etag":"[^"]+"|` +
	`\bwhsec_[0-9A-Za-z+/]{43}=|\bv1,[0-9A-Za-z+/]{43}=|"(?:setup|redirect)_url":"https:[^"]+"`)

// steady replaces what differs from run to run by texts of the same form, in the order of their appearance.
func (c *capture) steady(text string) string {
	text = strings.ReplaceAll(text, c.receiver, hook)
	return unstable.ReplaceAllStringFunc(text, func(found string) string {
		if out := c.stable[found]; out != "" {
			return out
		}
		kind, _, _ := strings.Cut(found, "_")
		var form string
		switch {
		case strings.HasPrefix(found, `"setup_url"`), strings.HasPrefix(found, `"redirect_url"`): // with a state, which is random
			name, _, _ := strings.Cut(found, ":")
			kind, form = "state", name+`:"https://login.provider.example/authorize?state=%s"`
		case strings.HasPrefix(found, `"etag"`):
			kind, form = "etag", `"etag":"%s"`
		case strings.HasPrefix(found, "v1,"):
			kind, form = "signature", "v1,%s="
		case kind == "whsec":
			form = "whsec_%s="
		case strings.HasPrefix(found, `"`):
			kind, form = "cursor", `"next_cursor":"%s"`
		case !strings.Contains(found, "_"):
			kind, form = "hash", "%s"
		default:
			form = kind + "_%s"
		}
		c.counts[kind]++
		out := fmt.Sprintf(form, stableText(kind, c.counts[kind]))
		if kind == "bur" { // other answers show how the key ends
			out = out[:len(out)-4] + found[len(found)-4:]
		}
		c.stable[found] = out
		return out
	})
}

// stableText makes up the part of an id, a key, a hash, an etag or a cursor that identifies it.
func stableText(kind string, n int) string {
	digits, length, begin := "0123456789abcdefghjkmnpqrstvwxyz", 26, "01m7"
	switch kind {
	case "hash":
		digits, length, begin = "0123456789abcdef", 64, ""
	case "etag":
		digits, length, begin = "0123456789abcdef", 16, ""
	case "bur", "cursor", "whsec", "signature", "state":
		digits, length, begin = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789", 43, ""
	}
	var seed [32]byte
	copy(seed[:], kind+strconv.Itoa(n))
	r := rand.New(rand.NewChaCha8(seed))
	out := []byte(begin)
	for len(out) < length {
		out = append(out, digits[r.IntN(len(digits))])
	}
	return string(out)
}

// find follows a path into an answer.
func find(t *testing.T, v any, path string) string {
	t.Helper()
	for part := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[part]
		case []any:
			v = item(t, at, part)
		}
	}
	text, ok := v.(string)
	if !ok {
		t.Fatalf("%s leads to %v, not to a text", path, v)
	}
	return text
}

func item(t *testing.T, list []any, which string) any {
	t.Helper()
	if name, value, ok := strings.Cut(strings.Trim(which, "[]"), "="); ok {
		for _, i := range list {
			if i.(map[string]any)[name] == value {
				return i
			}
		}
		t.Fatalf("no item of %d has %s", len(list), which)
	}
	n, err := strconv.Atoi(which)
	if err != nil || n >= len(list) {
		t.Fatalf("a list of %d items has no item %s", len(list), which)
	}
	return list[n]
}

// shortened cuts the lists of an answer; the properties of its objects keep their order.
func shortened(t *testing.T, text []byte) (out []byte, cut bool) {
	t.Helper()
	text = bytes.TrimSpace(text)
	switch text[0] {
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		if len(list) > itemsMax && list[0][0] == '{' || len(list) > textsMax {
			list, cut = list[:itemsMax], true
		}
		for i := range list {
			short, inner := shortened(t, list[i])
			list[i], cut = short, cut || inner
		}
		out, _ = json.Marshal(list)
		return out, cut
	case '{':
		d := json.NewDecoder(bytes.NewReader(text))
		_, _ = d.Token()
		out = append(out, '{')
		items := 0
		for d.More() {
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			var value json.RawMessage
			if err := d.Decode(&value); err != nil {
				t.Fatal(err)
			}
			if items++; items > itemsMax && unstable.MatchString(name.(string)) { // a list by id
				cut = true
				continue
			}
			short, inner := shortened(t, value)
			if len(out) > 1 {
				out = append(out, ',')
			}
			out, cut = append(append(append(out, strconv.Quote(name.(string))...), ':'), short...), cut || inner
		}
		return append(out, '}'), cut
	}
	return text, false
}

// scenario is the requests to send and the files to send with them.
type scenario struct {
	steps []step
	files map[string]string
}

type step struct {
	operation, method, path, body string
	form                          []docs.Part
	keep                          []struct{ name, path string }
	work                          string // the kind of background tasks to run
}

func parseScenario(t *testing.T, text string) scenario {
	t.Helper()
	text, files, _ := strings.Cut(text, "\n@")
	s := scenario{files: map[string]string{}}
	for file := range strings.SplitSeq(files, "\n@") {
		name, content, _ := strings.Cut(file, "\n")
		s.files[name] = strings.TrimSpace(content) + "\n"
	}
	for line := range strings.SplitSeq(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		var last *step
		if len(s.steps) > 0 {
			last = &s.steps[len(s.steps)-1]
		}
		switch {
		case line == "" || word == "#" || strings.HasPrefix(word, "#"):
		case word == "!":
			s.steps = append(s.steps, step{work: rest})
		case word == ">":
			name, path, _ := strings.Cut(rest, " = ")
			last.keep = append(last.keep, struct{ name, path string }{name, path})
		case word == "form":
			name, value, _ := strings.Cut(rest, "=")
			last.form = append(last.form, docs.Part{Name: name, Value: value})
		case strings.HasPrefix(word, "{"):
			last.body = line
		default:
			method, path, ok := strings.Cut(rest, " ")
			if _, err := url.Parse(path); err != nil || !ok {
				t.Fatalf("the scenario has a line that is no request: %s", line)
			}
			s.steps = append(s.steps, step{operation: word, method: method, path: path})
		}
	}
	return s
}

// formOf writes a form.
func (s scenario) formOf(t *testing.T, parts []docs.Part) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		name, file := strings.CutPrefix(p.Value, "@")
		if !file {
			_ = w.WriteField(p.Name, p.Value)
			continue
		}
		part, err := w.CreateFormFile(p.Name, name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(s.files[name]))
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}
