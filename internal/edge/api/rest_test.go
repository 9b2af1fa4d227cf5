package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// sendPart sends a request of which more is announced than is sent, and returns the status of the answer, which must not take long.
func sendPart(t *testing.T, s *apitest.Service, head, body string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprintf(conn, "%s\r\nHost: x\r\n\r\n%s", head, body); err != nil {
		t.Errorf("send: %v", err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%.100s: no answer: %v", head, err)
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

// The rest of a body is waited for only as long as a body may take to arrive.
func TestABodyThatDoesNotArriveDelaysNoAnswer(t *testing.T) {
	t.Parallel()
	const timeout = 500 * time.Millisecond
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{BodyTimeout: timeout})
		n := s.Found(t, "mine")
		form, kind := apitest.Form(map[string]any{"surprise": "x"})
		long, longKind := apitest.Form(map[string]any{"surprise": strings.Repeat("x", 3<<20)})
		for what, c := range map[string]struct {
			path, key, kind, body string
			announced             int // 0 means that it is sent in chunks
			status                int
		}{
			"JSON":                              {"/v1/tags", n.Key, "application/json", `{"name":`, 100, 408},
			"JSON of an unknown key":            {"/v1/tags", "bur_unknown", "application/json", `{"name":`, 100, 401},
			"chunks":                            {"/v1/tags", n.Key, "application/json", "8\r\n{\"name\":\r\n", 0, 408},
			"chunks of an unknown key":          {"/v1/tags", "bur_unknown", "application/json", "8\r\n{\"name\":\r\n", 0, 401},
			"a form without its end":            {"/v1/imports", n.Key, kind, form[:len(form)-10], len(form), 408},
			"a form with more announced":        {"/v1/imports", n.Key, kind, form, len(form) + 1000, 408},
			"a form of an unknown key":          {"/v1/imports", "bur_unknown", kind, form, len(form) + 1000, 401},
			"a form that is refused on the way": {"/v1/imports", n.Key, longKind, long, len(long) + 1000, 400},
			"a large form that is refused":      {"/v1/imports", n.Key, longKind, long, 100 << 20, 400},
		} {
			length := fmt.Sprintf("Content-Length: %d", c.announced)
			if c.announced == 0 {
				length = "Transfer-Encoding: chunked"
			}
			head := fmt.Sprintf("POST %s HTTP/1.1\r\nX-API-Key: %s\r\nContent-Type: %s\r\n%s", c.path, c.key, c.kind, length)
			if status := sendPart(t, s, head, c.body); status != c.status {
				t.Errorf("%s: %d, want %d", what, status, c.status)
			}
		}
	})
}

// A caller that has sent more than a body may have is not waited for.
func TestABodyThatIsTooLargeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{BodyTimeout: time.Minute})
		n := s.Found(t, "mine")
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat(" ", 1<<20))
		head := "POST /v1/tags HTTP/1.1\r\nX-API-Key: " + n.Key + "\r\n"
		for what, c := range map[string][2]string{
			"chunks":    {"Transfer-Encoding: chunked", strings.Repeat(chunk, 9)},
			"announced": {"Content-Length: 9000000", "{"},
		} {
			if status := sendPart(t, s, head+c[0], c[1]); status != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: %d", what, status)
			}
		}
	})
}
