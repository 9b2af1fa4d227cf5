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

// flood sends large bodies from many clients until the context ends, and counts the answers by status.
func flood(ctx context.Context, t *testing.T, clients int, address, key string) map[int]*atomic.Int64 {
	t.Helper()
	const pause = 100 * time.Millisecond // a tenth of what the service asks for
	statuses := map[int]*atomic.Int64{http.StatusBadRequest: {}, http.StatusServiceUnavailable: {}, 0: {}}
	bodies := hostileBodies()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			web := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer web.CloseIdleConnections()
			for ctx.Err() == nil {
				req, _ := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/journal-entries/batch",
					bytes.NewReader(bodies[i%len(bodies)]))
				req.Header.Set("X-API-Key", key)
				req.Header.Set("Content-Type", "application/json")
				res, err := web.Do(req)
				if err != nil { // the service has refused the body while it was sent
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

func TestManyLargeBodiesNeitherExhaustTheMemoryNorHoldUpSmallRequests(t *testing.T) {
	t.Parallel()
	const clients, seconds, limit = 200, 8, 512 << 10 // KiB
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the peak of a process's memory is read from /proc")
	}
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		address := p.ready(t)
		ctx, stop := context.WithTimeout(t.Context(), seconds*time.Second)
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
			}
		})
		statuses := flood(ctx, t, clients, address, key)
		wg.Wait()
		peak := peakKiB(t, p.cmd.Process.Pid)
		t.Logf("peak %d MiB; %d small requests, the slowest in %s; large: %d refused as invalid, %d for lack of memory, %d cut short", peak>>10,
			answered, slowest, statuses[400].Load(), statuses[503].Load(), statuses[0].Load())
		if peak > limit {
			t.Errorf("the process took %d MiB", peak>>10)
		}
		if answered < seconds || statuses[400].Load() == 0 {
			t.Errorf("%d small requests and %d large ones were answered", answered, statuses[400].Load())
		}
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

func TestManyLargePagesNeitherExhaustTheMemoryNorHoldUpSmallRequests(t *testing.T) {
	t.Parallel()
	const clients, seconds, limit = 40, 8, 512 << 10 // KiB
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the peak of a process's memory is read from /proc")
	}
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		address := p.ready(t)
		small := client.New(address, key)
		ids := newLargestEntries(t, small, 6)
		small.Retries = 0
		paths := []string{"/v1/journal-entries?limit=100", "/v1/audit-log?limit=100", "/v1/journal-entries/" + ids[0]}
		ctx, stop := context.WithTimeout(t.Context(), seconds*time.Second)
		defer stop()
		var answered, refused, quick atomic.Int64
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				for ctx.Err() == nil {
					req, _ := http.NewRequestWithContext(ctx, http.MethodGet, address+paths[i%len(paths)], nil)
					req.Header.Set("X-API-Key", key)
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						continue // the time is over
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
					switch {
					case res.StatusCode == http.StatusOK:
						answered.Add(1)
					case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
						refused.Add(1)
						time.Sleep(100 * time.Millisecond)
					default:
						t.Errorf("%s: %d", paths[i%len(paths)], res.StatusCode)
					}
				}
			})
		}
		for n := 0; ctx.Err() == nil; n++ {
			if _, err := small.CreateTag(t.Context(), client.CreateTag{Name: fmt.Sprint("tag ", n), Kind: "supplier"}); err != nil {
				t.Errorf("a small request: %v", err)
			}
			quick.Add(1)
		}
		wg.Wait()
		peak := peakKiB(t, p.cmd.Process.Pid)
		t.Logf("peak %d MiB; %d small requests; %d large ones answered, %d refused", peak>>10, quick.Load(), answered.Load(), refused.Load())
		if peak > limit || answered.Load() == 0 || quick.Load() < seconds/4 { // it shares two processors with others
			t.Errorf("the process took %d MiB, and %d large and %d small requests were answered", peak>>10, answered.Load(), quick.Load())
		}
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
