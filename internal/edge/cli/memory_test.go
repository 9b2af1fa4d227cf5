package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// hostileBodies have about as many bytes as a body may have, and took gigabytes when each of their values was kept and blamed.
func hostileBodies() [][]byte {
	const size = 8<<20 - 1000
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	lines := `{"lines":[` + strings.Repeat("{},", 999) + `{}]},`
	return [][]byte{
		[]byte(`{"journal_entries":[` + fill("0,") + `0]}`),
		[]byte(`{"journal_entries":[` + fill(lines) + `0]}`),
		[]byte(`{` + fill(`"journal_entries":0,`) + `"x":0}`),
		[]byte(`{"journal_entries":"` + fill(`\u0041`) + `"}`),
	}
}

// flood sends large requests from many clients until the context ends, and counts the answers by status. Those that were not sent as a
// whole are counted as 0.
func flood(ctx context.Context, t *testing.T, clients int, request func(client int) *http.Request, want ...int) map[int]*atomic.Int64 {
	t.Helper()
	const pause = 100 * time.Millisecond // a tenth of what the service asks for
	statuses := map[int]*atomic.Int64{http.StatusServiceUnavailable: {}, 0: {}}
	for _, status := range want {
		statuses[status] = new(atomic.Int64)
	}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			web := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer web.CloseIdleConnections()
			for ctx.Err() == nil {
				res, err := web.Do(request(i).WithContext(ctx))
				if err != nil { // the service has refused the body while it was sent, or the time is over
					statuses[0].Add(1)
					time.Sleep(pause)
					continue
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if n := statuses[res.StatusCode]; n == nil {
					t.Errorf("status %d", res.StatusCode)
				} else {
					n.Add(1)
				}
				if res.StatusCode == http.StatusServiceUnavailable {
					if res.Header.Get("Retry-After") == "" {
						t.Error("503 without Retry-After")
					}
					time.Sleep(pause)
				}
			}
		})
	}
	wg.Wait()
	return statuses
}

// withstands floods a service with large requests, and expects it to answer small requests meanwhile, some of the large ones with a
// status, and to take no more than half a GiB of memory. How fast it answers depends on what else the machine does, so the flood goes on
// until enough small requests were answered.
func withstands(t *testing.T, p *process, address, key string, clients, status int, request func(client int) *http.Request) {
	t.Helper()
	const (
		limit             = 512 << 10 // KiB
		fewest            = 8         // small requests
		shortest, longest = 5 * time.Second, time.Minute
	)
	start := time.Now()
	ctx, stop := context.WithTimeout(t.Context(), longest)
	defer stop()
	var answered int
	var slowest time.Duration
	var wg sync.WaitGroup
	wg.Go(func() {
		small := client.New(address, key)
		small.Retries = 0
		for ctx.Err() == nil {
			began := time.Now()
			name := fmt.Sprint("tag ", answered)
			if _, err := small.CreateTag(t.Context(), client.CreateTag{Name: name, Kind: "supplier"}); err != nil {
				t.Errorf("a small request: %v", err)
			}
			answered++
			slowest = max(slowest, time.Since(began))
			if answered >= fewest && time.Since(start) > shortest {
				stop()
			}
		}
	})
	statuses := flood(ctx, t, clients, request, status)
	wg.Wait()
	peak, large := peakKiB(t, p.cmd.Process.Pid), statuses[status].Load()
	t.Logf("peak %d MiB; %d small requests, the slowest in %s; large: %d answered with %d, %d refused for lack of memory, %d cut short",
		peak>>10, answered, slowest, large, status, statuses[503].Load(), statuses[0].Load())
	if peak > limit {
		t.Errorf("the process took %d MiB", peak>>10)
	}
	if answered < fewest || large == 0 {
		t.Errorf("%d small requests, the slowest in %s, and %d large ones were answered", answered, slowest, large)
	}
}

// needsProc skips a test where the peak of a process's memory cannot be read.
func needsProc(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the peak of a process's memory is read from /proc")
	}
}

func TestSoakManyLargeBodiesNeitherExhaustTheMemoryNorHoldUpSmallRequests(t *testing.T) {
	t.Parallel()
	needsProc(t)
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		address := p.ready(t)
		bodies := hostileBodies()
		withstands(t, p, address, key, 200, http.StatusBadRequest, func(i int) *http.Request {
			req, _ := http.NewRequest(http.MethodPost, address+"/v1/journal-entries/batch", bytes.NewReader(bodies[i%len(bodies)]))
			req.Header.Set("X-API-Key", key)
			req.Header.Set("Content-Type", "application/json")
			return req
		})
	})
}

// newLargestEntries posts entries that are as large as a body may be, and returns their ids.
func newLargestEntries(t *testing.T, c *client.Client, count int) (ids []string) {
	t.Helper()
	var accounts []string
	for a, err := range c.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Code != nil && (*a.Code == "1010" || *a.Code == "4010") {
			accounts = append(accounts, a.ID)
		}
	}
	memo := strings.Repeat("日", 2000)
	for range count {
		e := client.CreateJournalEntry{AccountingDate: "2025-03-01", Status: "posted"}
		for i := range 1000 {
			e.Lines = append(e.Lines, client.CreateJournalLine{LedgerAccountID: accounts[i%2], Amount: "1.00", Memo: memo,
				CreditOrDebit: []string{"DEBIT", "CREDIT"}[i%2]})
		}
		made, err := c.CreateJournalEntry(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	return ids
}

func TestSoakManyLargePagesNeitherExhaustTheMemoryNorHoldUpSmallRequests(t *testing.T) {
	t.Parallel()
	needsProc(t)
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		address := p.ready(t)
		ids := newLargestEntries(t, client.New(address, key), 6)
		paths := []string{"/v1/journal-entries?limit=100", "/v1/audit-log?limit=100", "/v1/journal-entries/" + ids[0]}
		withstands(t, p, address, key, 40, http.StatusOK, func(i int) *http.Request {
			req, _ := http.NewRequest(http.MethodGet, address+paths[i%len(paths)], nil)
			req.Header.Set("X-API-Key", key)
			return req
		})
	})
}

var peakRe = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakKiB returns the most memory that a process has taken.
func peakKiB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(peakRe.FindStringSubmatch(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
