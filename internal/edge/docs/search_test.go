package docs_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/docs"
)

func search(t *testing.T, a http.Handler, query string) []docs.Result {
	t.Helper()
	w := get(t, a, "/docs/search.json?q="+url.QueryEscape(query))
	var out struct{ Results []docs.Result }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	return out.Results
}

func TestTheSearchFindsOperationsFieldsErrorsAndGuides(t *testing.T) {
	t.Parallel()
	a := described(t)
	for query, want := range map[string]string{
		"create journal entry": "/docs/journal-entries#createJournalEntry",
		"createJournalEntry":   "/docs/journal-entries#createJournalEntry",
		"/v1/tags":             "/docs/tags#listTags",
		"POST /v1/fx-rates":    "/docs/fx-rates#storeFXRates",
		"balance sheet":        "/docs/reports#getBalanceSheet",
		"cost_basis_method":    "/docs/legal-entities#createLegalEntity.body.cost_basis_method",
		"RATE_LIMITED":         "/docs#errors",
		"409":                  "/docs#errors",
		"pagination":           "/docs#pagination",
		"close a month":        "/docs/guides/close-a-month",
		"retry":                "/docs/guides/retry-safely",
		"JournalEntry":         "/docs/journal-entries#JournalEntry",
	} {
		if got := search(t, a, query); len(got) == 0 || got[0].URL != want {
			t.Errorf("%q finds first %+v, want %s", query, got[:min(3, len(got))], want)
		}
	}
	for _, query := range []string{"", "   ", "zzzqqq", "the zzzqqq of a", strings.Repeat("a ", 5000)} {
		if got := search(t, a, query); len(got) > 0 && !strings.HasPrefix(query, "a ") {
			t.Errorf("%q finds %+v", query, got)
		}
	}
}

func TestTheSearchIgnoresStopWordsAndFallsBackToAnyWord(t *testing.T) {
	t.Parallel()
	a := described(t)
	for query, want := range map[string]string{
		"how do I close a month":             "/docs/guides/close-a-month",
		"how can I create the journal entry": "/docs/journal-entries#createJournalEntry",
		"what is the balance sheet":          "/docs/reports#getBalanceSheet",
		"list tags zzzqqq":                   "/docs/tags#listTags",
		"zzzqqq createJournalEntry":          "/docs/journal-entries#createJournalEntry",
		"revoke my API key please":           "/docs/api-keys#revokeAPIKey",
	} {
		if got := search(t, a, query); len(got) == 0 || got[0].URL != want {
			t.Errorf("%q finds first %+v, want %s", query, got[:min(3, len(got))], want)
		}
	}
}

func TestTheSearchPageWorksWithoutJavaScript(t *testing.T) {
	t.Parallel()
	a := described(t)
	w := get(t, a, "/docs/search?q=lot+selection")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `<a href="/docs/assets#`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = get(t, a, "/docs/search?q="+url.QueryEscape(`"><xyzzy>unheardof</xyzzy>`))
	if strings.Contains(w.Body.String(), "<xyzzy>") || !strings.Contains(w.Body.String(), "No results") {
		t.Errorf("the query is not escaped: %s", w.Body)
	}
}

func TestEverySearchResultLeadsToSomethingOnAPage(t *testing.T) {
	t.Parallel()
	a := described(t)
	pages := map[string]page{}
	for _, p := range allPages(t, a) {
		pages[p.path] = p
	}
	for _, query := range []string{"id", "a", "account", "the", "entry", "transaction", "lot", "period", "amount", "error"} {
		for _, r := range search(t, a, query) {
			path, id, deep := strings.Cut(r.URL, "#")
			p, ok := pages[path]
			if !ok || deep && len(elements(p.tree, "id", id)) != 1 {
				t.Errorf("%q leads to %s, which does not exist", query, r.URL)
			}
		}
	}
}
