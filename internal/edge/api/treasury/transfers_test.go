package treasury_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

type object = map[string]any

func TestTransactionsAreLinkedAndUnlinkedOverTheAPI(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		pair := n.NewTransfer(t)
		var linked struct {
			Data struct {
				GroupID   *string `json:"group_id"`
				Kind      string  `json:"kind"`
				MatchedBy string  `json:"matched_by"`
				Shortfall *string `json:"shortfall"`
				Legs      []struct {
					TransactionID   string `json:"transaction_id"`
					Side            string `json:"side"`
					TransactionType string `json:"transaction_type"`
				} `json:"legs"`
			} `json:"data"`
		}
		ids := object{"transaction_ids": []string{pair[1], pair[0]}, "dry_run": true}
		if a := n.PostJSON(t, "/v1/transactions/link", ids, &linked); a.Status != http.StatusOK || linked.Data.GroupID != nil ||
			linked.Data.Kind != "internal" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		ids["dry_run"] = false
		a := n.PostJSON(t, "/v1/transactions/link", ids, &linked)
		if d := linked.Data; a.Status != http.StatusOK || d.GroupID == nil || d.MatchedBy != "manual" || d.Shortfall == nil ||
			*d.Shortfall != "0" || len(d.Legs) != 2 ||
			d.Legs[0].TransactionID != pair[0] || d.Legs[0].Side != "out" || d.Legs[1].Side != "in" ||
			d.Legs[1].TransactionType != "INTERNAL TRANSFER" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if a := n.PostJSON(t, "/v1/transactions/link", ids, nil); a.Status != http.StatusConflict || !a.Blames(t, "transaction_ids[0]") ||
			!a.Blames(t, "transaction_ids[1]") {
			t.Errorf("linked twice: %d %s", a.Status, a.Body)
		}
		one := object{"transaction_ids": pair[:1]}
		if a := n.PostJSON(t, "/v1/transactions/unlink", one, nil); a.Status != http.StatusOK || strings.Count(string(a.Body),
			`"transaction_type":"UNKNOWN"`) != 2 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a := n.PostJSON(t, "/v1/transactions/unlink", one, nil); a.Status != http.StatusConflict {
			t.Errorf("unlinked twice: %d %s", a.Status, a.Body)
		}
	})
}

func TestMatchingAcceptsUpToAYear(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.NewTransfer(t)
		for _, c := range []struct {
			from, to string
			more     object
			status   int
			says     string
		}{
			{"2026-01-31", "2026-01-30", nil, 400, "must not be before"},
			{"2025-01-31", "2026-02-01", nil, 400, "within 366 days"},
			{"2026-02-03", "2026-02-28", nil, 200, `"linked":0`},
			{"2025-02-01", "2026-02-01", object{"dry_run": true}, 200, `"linked":1`},
			{"2025-02-01", "2026-02-01", object{"dry_run": true, "expected_count": 2}, 409, `"field":"expected_count"`},
			{"2025-02-01", "2026-02-01", object{"expected_count": 2}, 409, "1 pairs would be linked, not 2"},
			{"2025-02-01", "2026-02-01", object{"expected_count": 0}, 409, "1 pairs would be linked, not 0"},
			{"2025-02-01", "2026-02-01", object{"expected_count": -1}, 400, `"field":"expected_count"`},
			{"2025-02-01", "2026-02-01", object{"expected_count": 1}, 200, `"matched_by":"hash"`},
			{"2026-01-31", "2026-01-31", nil, 200, `"linked":0,"ambiguous":0,"pairs":[]`},
		} {
			body := object{"start_date": c.from, "end_date": c.to}
			maps.Copy(body, c.more)
			if a := n.PostJSON(t, "/v1/transactions/match", body, nil); a.Status != c.status || !strings.Contains(string(a.Body), c.says) {
				t.Errorf("%+v: %d %s", c, a.Status, a.Body)
			}
		}
	})
}

func TestAListingIsCreatedOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for _, c := range []struct {
			body   object
			status int
			field  string
		}{
			{object{"verdict": "deny", "kind": "symbol", "value": "SCAM"}, 201, ""},
			{object{"verdict": "deny", "kind": "symbol", "value": "scam"}, 409, "value"},
			{object{"verdict": "allow", "kind": "symbol", "value": " scam "}, 409, "value"},
			{object{"verdict": "allow", "kind": "address", "value": "scam", "chain": "base"}, 400, "chain"},
			{object{"verdict": "allow", "kind": "address", "value": "0x0000000000000000000000000000000000000000"}, 400, "value"},
		} {
			if a := n.PostJSON(t, "/v1/spam-listings", c.body, nil); a.Status != c.status || c.field != "" && !a.Blames(t, c.field) {
				t.Errorf("%v: %d %s", c.body, a.Status, a.Body)
			}
		}
	})
}
