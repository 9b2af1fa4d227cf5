package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// fill repeats a text until it has about as many bytes as a body may have.
func fill(text string) string { return strings.Repeat(text, (wire.BodyMax-1000)/len(text)) }

// numbered returns a list of properties with different names.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"x%d":0,`, i)
	}
	return b.String()
}

func TestAnAnswerStaysSmallHoweverManyFaultsTheBodyHas(t *testing.T) {
	t.Parallel()
	const batch = "/v1/journal-entries/batch"
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		lines := `{"lines":[` + strings.Repeat("{},", 999) + `{}]},`
		for what, c := range map[string]struct{ path, body, says string }{
			"numbers in place of objects": {batch, `{"journal_entries":[` + fill("0,") + `0]}`, "100 faults are listed, and"},
			"empty objects":               {batch, `{"journal_entries":[` + fill("{},") + `{}]}`, "not valid"},
			"empty lines": {batch, `{"journal_entries":[` + strings.Repeat(lines, 99) + strings.TrimSuffix(lines, ",") + `]}`,
				"100 faults are listed, and"},
			"unknown properties":       {"/v1/tags", `{` + numbered(500_000) + `"name":"x"}`, "and at least 900 more; the rest of the body was not read"},
			"a long name":              {"/v1/tags", `{"` + fill("n") + `":0}`, "not valid"},
			"a long text":              {"/v1/tags", `{"name":"` + fill("n") + `"}`, "not valid"},
			"a list in a text's place": {"/v1/tags", `{"name":[` + fill("[],") + `0]}`, "not valid"},
			"the same property again":  {"/v1/tags", `{` + fill(`"name":"x",`) + `"name":"x"}`, "1 fault is listed, and there may be more; the rest"},
			"a long number":            {"/v1/tags", `{"name":` + fill("1") + `}`, "not valid"},
			"characters U+0000":        {batch, `{"journal_entries":["` + fill(`\u0000`) + `"]}`, "not valid"},
		} {
			a := s.Send(t, apitest.Request{Method: "POST", Path: c.path, Body: c.body, Key: n.Key})
			if e := a.Error(t); a.Status != 400 || len(e.Fields) > 100 || len(a.Body) > 64<<10 || !strings.Contains(e.Message, c.says) {
				t.Errorf("%s: %d, %d faults, %d bytes, %s: %.300s", what, a.Status, len(e.Fields), len(a.Body), e.Message, a.Body)
			}
			for _, f := range a.Error(t).Fields {
				if len(f.Field) > 300 || len(f.Message) > 1000 {
					t.Errorf("%s: a name of %d bytes and a message of %d", what, len(f.Field), len(f.Message))
				}
			}
		}
	})
}

func TestTwoIdempotencyKeysInOneRequestAreRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: n.Key, Body: `{"name":"x","kind":"supplier"}`,
			Header: http.Header{"Idempotency-Key": {"one", "two"}}})
		if a.Status != 400 || !a.Blames(t, "Idempotency-Key") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestABodyForWhichThereIsNoMemoryIsRefusedAndSmallOnesAreNot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{Memory: 3 << 20})
		n := s.Found(t, "mine")
		large := apitest.Request{Method: "POST", Path: "/v1/tags", Key: n.Key, Body: `{"name":"` + strings.Repeat("x", 4<<20) + `"}`}
		if a := s.Send(t, large); a.Status != 413 || a.Error(t).Code != "VALIDATION_ERROR" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		for range 20 {
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: n.Key, Body: `{"name":"` + strings.Repeat("x", 40<<10) + `"}`})
			if a.Status != 400 || !a.Blames(t, "name") {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
		}
		if s.API.MemoryTaken() != 0 {
			t.Errorf("%d bytes are still taken", s.API.MemoryTaken())
		}
	})
}

func TestACallerThatSendsItsBodyBeforeItReadsGetsTheRefusal(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{Memory: 3 << 20})
		n := s.Found(t, "mine")
		for key, want := range map[string]string{n.Key: "413", "bur_unknown": "401"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			body := `{"name":"` + strings.Repeat("x", 6<<20) + `"}`
			_, err = fmt.Fprintf(conn, "POST /v1/tags HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body)
			if err != nil {
				t.Errorf("%s: %v", want, err)
			}
			line, err := bufio.NewReader(conn).ReadString('\n')
			if !strings.HasPrefix(line, "HTTP/1.1 "+want) {
				t.Errorf("%q %v, want %s", line, err, want)
			}
			_ = conn.Close()
		}
	})
}

func TestANumberInADecimalsPlaceIsNamedInWordsOfTheAPI(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for number, want := range map[string]string{
			"1e400":  "must be a decimal string, but is the number 1e400",
			"-1e400": "must be a decimal string, but is the number -1e400",
			"12.50":  "must be a decimal string, but is the number 12.5",
		} {
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/journal-entries", Key: n.Key, Body: `{
				"lines":[{"ledger_account_id":"lac_1","credit_or_debit":"debit","amount":` + number + `}]}`})
			found := ""
			for _, f := range a.Error(t).Fields {
				if f.Field == "lines[0].amount" {
					found = f.Message
				}
			}
			if a.Status != 400 || found != want || !a.Blames(t, "lines[0].credit_or_debit") || strings.Contains(string(a.Body), "float64") {
				t.Errorf("%s: %d %s", number, a.Status, a.Body)
			}
		}
	})
}
