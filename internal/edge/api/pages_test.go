package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// walk reads a list to its end and returns its items and the size of its largest page.
func walk(t *testing.T, s *apitest.Service, key, path string) (items []string, pages, largest int) {
	t.Helper()
	for cursor := ""; ; {
		a := s.Send(t, apitest.Request{Method: "GET", Path: path + cursor, Key: key})
		var got struct {
			Data       []json.RawMessage `json:"data"`
			HasMore    bool              `json:"has_more"`
			NextCursor *string           `json:"next_cursor"`
		}
		if err := json.Unmarshal(a.Body, &got); a.Status != 200 || err != nil {
			t.Fatalf("%s: %d %.300s, %v", path, a.Status, a.Body, err)
		}
		for _, item := range got.Data {
			items = append(items, string(item))
		}
		pages, largest = pages+1, max(largest, len(a.Body))
		if got.HasMore != (got.NextCursor != nil) || got.HasMore && len(got.Data) == 0 {
			t.Fatalf("%s: %d items, has_more %t, next_cursor %v", path, len(got.Data), got.HasMore, got.NextCursor)
		}
		if !got.HasMore {
			return items, pages, largest
		}
		cursor = "&cursor=" + *got.NextCursor
	}
}

// newLargeEntries posts entries with many lines that have long texts.
func newLargeEntries(t *testing.T, n *apitest.Tenant, entries, lines, letters int) *apitest.Ledger {
	t.Helper()
	l := n.OpenLedger(t)
	for i := range entries {
		e := l.Entry("2025-03-01", "posted", strings.TrimSuffix(strings.Repeat("Dr 1010 1.00; Cr 4010 1.00;", lines/2), ";"))
		for j := range e.Lines {
			e.Lines[j].Memo = fmt.Sprint(i, " ", j, " ", strings.Repeat("m", letters))
		}
		l.Create(t, e)
	}
	return l
}

func TestAPageOfLargeRecordsEndsEarlyAndTheListLosesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		large := apitest.Start(t, d, api.Config{})
		n := large.Found(t, "mine")
		l := newLargeEntries(t, n, 12, 60, 700)
		small := apitest.Start(t, d, api.Config{Memory: 6 << 20}) // a page has at most 256 KiB of rows
		for _, path := range []string{
			"/v1/journal-entries?limit=100",
			"/v1/audit-log?limit=100",
			"/v1/reports/general-ledger?limit=100&start_date=2025-01-01&end_date=2025-12-31&ledger_account_ids=" + l.Accounts["1010"],
			"/v1/ledger-accounts?limit=100",
		} {
			want, _, whole := walk(t, large, n.Key, path)
			got, pages, largest := walk(t, small, n.Key, path)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d items in %d pages differ from %d", path, len(got), pages, len(want))
			}
			t.Logf("%s: %d items; %d pages of up to %d bytes, where a page could have %d", path, len(got), pages, largest, whole)
			if strings.HasPrefix(path, "/v1/journal-entries") && (pages < 3 || largest > 512<<10 || whole < 500<<10) {
				t.Errorf("%s: %d pages of up to %d bytes, and one of %d", path, pages, largest, whole)
			}
		}
		// An explanation is not read again with a lower limit, which would bound only a part of it.
		figure := apitest.Request{Method: "GET", Key: n.Key, Path: "/v1/reports/explain?limit=100&report=trial-balance&column=debits&" +
			"ledger_account_id=" + l.Accounts["1010"] + "&accounting_period_id=" + l.Period(t, "2025-03").ID}
		tiny := apitest.Start(t, d, api.Config{Memory: 1 << 20}) // a page has at most 43 KiB of rows
		want, got := large.Send(t, figure), tiny.Send(t, figure)
		if got.Status != 200 || len(got.Body) < 60<<10 || string(got.Body) != string(want.Body) {
			t.Errorf("an explanation: %d, %d bytes, and %d of a service with more memory", got.Status, len(got.Body), len(want.Body))
		}
		if taken := small.API.MemoryTaken(); taken != 0 {
			t.Errorf("%d bytes are still taken", taken)
		}
	})
}

func TestAnAnswerForWhichThereIsNoMemoryIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		large := apitest.Start(t, d, api.Config{})
		n := large.Found(t, "mine")
		l := newLargeEntries(t, n, 1, 200, 1900)
		e := l.Draft(t, "2025-03-02", "Dr 1010 1.00; Cr 4010 1.00")
		small := apitest.Start(t, d, api.Config{Memory: 2 << 20})
		for _, path := range []string{"/v1/journal-entries?limit=1", "/v1/journal-entries?limit=100"} {
			a := small.Send(t, apitest.Request{Method: "GET", Path: path, Key: n.Key})
			if a.Status != 400 || !strings.Contains(a.Error(t).Message, "ask for less at a time, or have the service started with more --memory") {
				t.Errorf("%s: %d %.300s", path, a.Status, a.Body)
			}
		}
		if got := small.Send(t, apitest.Request{Method: "GET", Path: "/v1/journal-entries/" + e.ID, Key: n.Key}); got.Status != 200 {
			t.Errorf("a small entry: %d %.300s", got.Status, got.Body)
		}
		if taken := small.API.MemoryTaken(); taken != 0 {
			t.Errorf("%d bytes are still taken", taken)
		}
	})
}
