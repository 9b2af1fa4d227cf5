package api_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// otherAnswers says why the answer to a dry run has another form than that of the operation. It changes nothing all the same, unless the
// text says so.
var otherAnswers = map[string]string{
	"POST /v1/imports":               "the import has not run when it is answered, and the dry run shows what it would read",
	"POST /v1/classification-runs":   "a dry run is a run, whose record and results are stored",
	"POST /v1/cash-application-runs": "a dry run is a run, whose record and results are stored",
	"POST /v1/gl-sync-runs":          "a dry run is a run, whose record and results are stored, and there is one run at a time",
	"POST /v1/firm/jobs":             "a dry run is a job, whose record and results are stored",
	"POST /v1/gl-mappings/accept":    "the mappings of a dry run have no time at which they were made",
	"POST /v1/invoices/import":       "the invoices of a dry run have no ids",
}

var (
	assigned   = regexp.MustCompile(`^([a-z]+_[0-9a-z]{26}|(JE|OT)-\d+|\d{4}-\d\d-\d\dT[0-9:.]+Z)$`)
	assignedIn = regexp.MustCompile(`\b([a-z]+_[0-9a-z]{26}|(JE|OT)-\d+)\b`)
)

// comparableAnswer returns an answer without what is assigned when something is written: ids, numbers and times that the request does not
// have, and what is allowed then.
func comparableAnswer(t *testing.T, a apitest.Answer, request string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	var clean func(v any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for name, value := range v {
				switch {
				case name == "dry_run" || name == "request_id" || name == "etag": // which follows from the id
				case name == "guidance": // nothing is allowed on what a dry run has not written
				case (name == "id" || name == "group_id") && value == nil: // there is none yet
					out[name] = "assigned"
				default:
					out[name] = clean(value)
				}
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = clean(item)
			}
			return out
		case string:
			if strings.Contains(request, v) && v != "" {
				return v
			}
			if assigned.MatchString(v) {
				return "assigned"
			}
			return assignedIn.ReplaceAllString(v, "assigned")
		}
		return v
	}
	text, _ := json.Marshal(clean(v))
	return string(text)
}

// A dry run answers as the operation does, and changes nothing: also where it is refused because a record that it names does not exist.
func TestSoakEveryDryRunAnswersAsTheOperationThenDoesAndChangesNothing(t *testing.T) {
	var tested atomic.Int64 // both engines run at once
	t.Cleanup(func() {
		if tested.Load() < 20 {
			t.Errorf("only %d dry runs were compared", tested.Load())
		}
	})
	eachRouteOnce(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		if schema := bodySchema(s, r); schema == nil || schema.Properties["dry_run"] == nil {
			return
		}
		forms := 1
		for i := 0; i < forms; i++ { // each in an organization of its own, because the operation takes effect
			n := s.Found(t, "mine")
			_, own := request(t, r, n)
			forms = 1 + len(own.also)
			form := append([]sample{own}, own.also...)[i]
			if form.path == nil {
				form.path = own.path
			}
			compare := func(what string, form sample) {
				before := tenantRows(t, n)
				req := form.with([]any{"dry_run"}, true).request(r, n.Key)
				dry := s.Send(t, req)
				if dry.Status == 400 && dry.Blames(t, "dry_run") {
					return // not every form of the request has it
				}
				after := tenantRows(t, n)
				for table, rows := range after {
					if !slices.Equal(before[table], rows) && !strings.Contains(otherAnswers[r.String()], "are stored") {
						t.Errorf("%s: a dry run changed %s: %v, before %v", what, table, rows, before[table])
					}
				}
				real := s.Send(t, form.with([]any{"dry_run"}, false).request(r, n.Key))
				tested.Add(1)
				underWay := real.Status == http.StatusConflict && strings.HasSuffix(r.Path, "gl-sync-runs") // the dry run is
				if otherAnswers[r.String()] != "" && dry.Status < 300 && (real.Status < 300 || underWay) {
					return
				}
				x, y := comparableAnswer(t, dry, req.Path+req.Body), comparableAnswer(t, real, req.Path+req.Body)
				early := r.Early != nil && dry.Status == http.StatusOK && real.Status == r.Status // as described
				if dry.Status != real.Status && !early || x != y {
					t.Errorf("%s: the dry run answers\n%d %s, but the operation\n%d %s", what, dry.Status, x, real.Status, y)
				}
			}
			for _, p := range places(s, r, form) {
				value, there := form.at(p.steps)
				if id, is := value.(string); there && is && anyID.MatchString(id) {
					compare("an unknown "+p.String(), form.with(p.steps, apitest.UnknownID(id)))
				}
			}
			compare("the sample", form)
		}
	})
}
