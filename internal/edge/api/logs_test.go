package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Logs are kept longer and read by more people than the books. Every route is sent texts and secrets that must not get there: in its body,
// its query and its headers, with success, with faults, when the database fails and when the handler panics.
func TestSoakNoBodyCookieOrTokenOfAnyRequestReachesTheLog(t *testing.T) {
	t.Parallel()
	var created atomic.Int64 // both engines run at once
	t.Cleanup(func() {
		if created.Load() == 0 {
			t.Error("no key was created")
		}
	})
	divided := divide(t)
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		var log buffer
		c.SlowStatement = 1 // every statement is logged
		c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{Log: c.Log})
		p, secrets := &planter{service: s, all: true, planted: map[string]bool{}}, []string{}
		header := http.Header{"Cookie": {"session=" + p.text()}, "Authorization": {"Bearer " + p.text()}, "Idempotency-Key": {p.text()},
			"X-Forwarded-For": {p.text()}, "User-Agent": {p.text()}, "Referer": {"https://example.com/?token=" + p.text()}}
		send := func(req apitest.Request) apitest.Answer {
			req.Header = header.Clone()
			req.Header.Set("Idempotency-Key", p.text())
			_, a := p.send(t, req)
			var out struct{ Data struct{ Key string } }
			if _ = json.Unmarshal(a.Body, &out); strings.HasPrefix(out.Data.Key, "bur_") {
				secrets = append(secrets, out.Data.Key)
				created.Add(1)
			}
			return a
		}
		tested := slices.DeleteFunc(slices.Clone(s.API.Routes()), func(r wire.Route) bool { return !divided(s, r) })
		var last []apitest.Request
		for _, r := range tested {
			n := s.Found(t, r.Name)
			secrets, n.Client.HTTP.Transport = append(secrets, n.Key), p
			req, own := request(t, r, n)
			if a := send(req); a.Status >= 500 {
				t.Errorf("%s: %d %s", r, a.Status, a.Body)
			}
			for _, f := range faulty(r, own) {
				f.Key = n.Key
				send(f)
			}
			req.Key = n.Key[:len(n.Key)-5] + "wrong"
			secrets = append(secrets, req.Key)
			send(req)
			again, _ := request(t, r, n)
			last = append(last, again)
		}
		rename(t, s, "audit_log", "audit_log_elsewhere")
		for _, req := range last {
			send(req)
		}
		rename(t, s, "audit_log_elsewhere", "audit_log")
		for i, r := range tested {
			if r.Choice == "" {
				s.API.Break(r.String())
				send(last[i])
			}
		}
		for _, want := range []string{`"msg":"request"`, `"msg":"request failed"`, `"msg":"panic"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("nothing with %s was logged, so that it was not tested", want)
			}
		}
		text := log.String()
		if at := canary.FindStringIndex(text); at != nil {
			t.Errorf("a text of a request is in the log: …%s…", text[max(0, at[0]-500):min(len(text), at[1]+500)])
		}
		for _, secret := range secrets {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("a key is in the log: …%s…", text[max(0, at-500):min(len(text), at+500)])
			}
		}
	})
}

// faulty returns requests of a route that are refused, with marked texts in them.
func faulty(r wire.Route, own sample) (out []apitest.Request) {
	unknown := own
	unknown.query = strings.TrimPrefix(own.query+"&search=zqcanary1x&token=zqcanary2x", "&")
	out = append(out, unknown.request(r, ""))
	for name := range own.path {
		out = append(out, own.withPath(name, "none").request(r, ""))
	}
	if own.body == nil {
		return out
	}
	for _, body := range []string{`{"surprise":"zqcanary3x"}`, `{"name":"zqcanary4x`, `["zqcanary5x"]`} {
		req := own.request(r, "")
		req.Body = body
		out = append(out, req)
	}
	return out
}

// rename gives a table another name.
func rename(t *testing.T, s *apitest.Service, from, to string) {
	t.Helper()
	err := s.App.DB.WriteAcross(t.Context(), "a test takes a table away", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "ALTER TABLE "+from+" RENAME TO "+to)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
