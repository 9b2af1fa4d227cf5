package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
)

// newPost is a request to post an entry with an idempotency key. Its memo identifies it.
type newPost struct {
	idempotencyKey string
	id, number     string // as answered
	logged         int
}

// accountsOf returns two accounts of the default chart to post to.
func accountsOf(t *testing.T, c *client.Client) (debit, credit string) {
	t.Helper()
	for a, err := range c.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case a.Code != nil && *a.Code == "1010":
			debit = a.ID
		case a.Code != nil && *a.Code == "4010":
			credit = a.ID
		}
	}
	return debit, credit
}

func (w *witness) post(c *client.Client, name string) error {
	sent := &newPost{idempotencyKey: client.NewIdempotencyKey()}
	w.mu.Lock()
	w.posts[name] = sent
	w.mu.Unlock()
	return w.sendPost(c, name, sent)
}

// sendPost sends the request, for the first time or again. An answer must never differ from an earlier one.
func (w *witness) sendPost(c *client.Client, name string, p *newPost) error {
	var answer struct{ Data client.JournalEntry }
	err := c.Do(context.Background(), client.Call{
		Method: http.MethodPost, Path: "/v1/journal-entries", IdempotencyKey: p.idempotencyKey,
		Body: client.CreateJournalEntry{AccountingDate: "2026-01-15", Status: "posted", Memo: name, Lines: []client.CreateJournalLine{
			{LedgerAccountID: w.debit, CreditOrDebit: "DEBIT", Amount: "1.01"}, {LedgerAccountID: w.credit, CreditOrDebit: "CREDIT", Amount: "1.01"},
		}},
	}, &answer)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.id != "" && (p.id != answer.Data.ID || p.number != answer.Data.SequenceNumber) {
		return fmt.Errorf("the same idempotency key posted %s %s and then %s %s", p.number, p.id, answer.Data.SequenceNumber, answer.Data.ID)
	}
	p.id, p.number = answer.Data.ID, answer.Data.SequenceNumber
	return nil
}

// resendPosts repeats the requests that got no answer, and one that did.
func (w *witness) resendPosts(t *testing.T, c *client.Client) {
	t.Helper()
	again := 0
	for name, p := range w.posts {
		if p.id != "" {
			if again++; again > 1 {
				continue
			}
		}
		if err := w.sendPost(c, name, p); err != nil {
			t.Errorf("%s, posted again: %v", name, err)
		}
	}
}

// checkPosts reads the journal down to the entry it read last time: every post exists once, with the number of its answer,
// and no number is missing.
func (w *witness) checkPosts(t *testing.T, c *client.Client) {
	t.Helper()
	newest, found := w.newestPost, map[string]int{}
	for e, err := range c.JournalEntries(t.Context(), url.Values{"limit": {"100"}}) {
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(e.SequenceNumber, "JE-"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if n <= w.newestPost {
			break
		}
		newest = max(newest, n)
		if p := w.posts[*e.Memo]; p == nil || p.id != e.ID || p.number != e.SequenceNumber {
			t.Errorf("%s, %q, is of nobody's making", e.SequenceNumber, *e.Memo)
		}
		found[*e.Memo]++
	}
	if int64(len(found)) != newest-w.newestPost {
		t.Errorf("%d entries between JE-%d and JE-%d", len(found), w.newestPost+1, newest)
	}
	for name, p := range w.posts {
		if found[name] != 1 || p.logged != 1 {
			t.Errorf("%s was posted %d times and is in the log %d times", name, found[name], p.logged)
		}
	}
	w.newestPost, w.posts = newest, map[string]*newPost{}
}
