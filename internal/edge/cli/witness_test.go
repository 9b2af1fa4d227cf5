package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
)

// witness records what was sent to the service and what it acknowledged, and compares both with what the service has stored.
type witness struct {
	mu      sync.Mutex
	changes map[string]*change
	keys    map[string]*newKey
	posts   map[string]*newPost

	debit, credit string // accounts to post to

	sequence   int64  // the newest audit record that was checked
	newestKey  string // and the newest API key
	newestPost int64  // and the newest journal entry
}

// change is a new name for the organization. Names are unique, so that each can be found in the audit log.
type change struct {
	acknowledged bool
	seen         int
}

// newKey is a request for an API key with an idempotency key.
type newKey struct {
	idempotencyKey string
	id, text       string // as answered
	seen           int
}

// newWitness returns a witness that starts with the present state of the service.
func newWitness(t *testing.T, c *client.Client) *witness {
	t.Helper()
	w := &witness{changes: map[string]*change{}, keys: map[string]*newKey{}, posts: map[string]*newPost{}}
	w.debit, w.credit = accountsOf(t, c)
	for entry, err := range c.AuditLog(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		w.sequence = entry.SequenceNumber
		break
	}
	for key, err := range c.APIKeys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		w.newestKey = key.ID
		break
	}
	return w
}

// keyEvery is the number of requests between two that create an API key.
const keyEvery = 5

// write sends changes until it is stopped, or until judge says that an error is the end. It returns the error of judge.
func (w *witness) write(c *client.Client, label string, stop <-chan struct{}, judge func(error) (goOn bool, wrong error)) error {
	for n := 1; ; n++ {
		select {
		case <-stop:
			return nil
		default:
		}
		name := fmt.Sprintf("%s request %d", label, n)
		send := w.rename
		switch {
		case n%keyEvery == 0:
			send = w.makeKey
		case n%2 == 0:
			send = w.post
		}
		err := send(c, name)
		if err == nil {
			continue
		}
		goOn, wrong := judge(err)
		if wrong != nil {
			return fmt.Errorf("%s: %w", name, wrong)
		}
		if !goOn {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *witness) rename(c *client.Client, name string) error {
	sent := &change{}
	w.mu.Lock()
	w.changes[name] = sent
	w.mu.Unlock()
	_, err := c.UpdateOrganization(context.Background(), client.UpdateOrganization{Name: &name})
	if err == nil {
		w.mu.Lock()
		sent.acknowledged = true
		w.mu.Unlock()
	}
	return err
}

func (w *witness) makeKey(c *client.Client, name string) error {
	sent := &newKey{idempotencyKey: client.NewIdempotencyKey()}
	w.mu.Lock()
	w.keys[name] = sent
	w.mu.Unlock()
	return w.sendKey(c, name, sent)
}

// sendKey sends the request, for the first time or again. An answer must never differ from an earlier one.
func (w *witness) sendKey(c *client.Client, name string, k *newKey) error {
	var answer struct{ Data client.APIKey }
	err := c.Do(context.Background(), client.Call{
		Method: http.MethodPost, Path: "/v1/api-keys", IdempotencyKey: k.idempotencyKey, Body: client.CreateAPIKey{Name: name,
			Scopes: []string{"apis.read"}},
	}, &answer)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if k.id != "" && (k.id != answer.Data.ID || k.text != answer.Data.Key) {
		return fmt.Errorf("the same idempotency key made %s and then %s", k.id, answer.Data.ID)
	}
	k.id, k.text = answer.Data.ID, answer.Data.Key
	return nil
}

// resend repeats the requests with a key whose answer was lost, and some that were answered.
func (w *witness) resend(t *testing.T, c *client.Client) {
	t.Helper()
	const repeatsMax = 3
	repeats := 0
	for name, k := range w.keys {
		if k.id != "" {
			if repeats++; repeats > repeatsMax {
				continue
			}
		}
		if err := w.sendKey(c, name, k); err != nil {
			t.Errorf("%s, sent again: %v", name, err)
		}
	}
}

// check reads what is new in the service and compares it. It reads only new records, so that a long run does not read
// everything each time.
func (w *witness) check(t *testing.T, c *client.Client) {
	t.Helper()
	w.resend(t, c)
	w.resendPosts(t, c)
	before := w.sequence
	w.checkLog(t, c)
	w.checkKeys(t, c)
	w.checkPosts(t, c)
	v, err := c.VerifyAuditLog(t.Context(), before)
	if err != nil || !v.Valid || !v.Complete {
		t.Errorf("the audit log after entry %d: %+v, %v", before, v, err)
	}
}

func (w *witness) checkLog(t *testing.T, c *client.Client) {
	t.Helper()
	newest, latestName := w.sequence, ""
	for entry, err := range c.AuditLog(t.Context(), url.Values{"limit": {"100"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.SequenceNumber <= w.sequence {
			break
		}
		newest = max(newest, entry.SequenceNumber)
		name := nameIn(t, entry.After)
		if latestName == "" && entry.Action == "organization.updated" {
			latestName = name
		}
		w.saw(t, entry, name)
	}
	w.sequence = newest
	for name, sent := range w.changes {
		if sent.acknowledged && sent.seen == 0 {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
	for name, k := range w.keys {
		if k.seen != 1 {
			t.Errorf("the log has the key %s %d times", name, k.seen)
		}
	}
	if org, err := c.Organization(t.Context()); err != nil || latestName != "" && org.Name != latestName {
		t.Errorf("the organization is called %q and the log says %q, %v", org.Name, latestName, err)
	}
}

func (w *witness) saw(t *testing.T, entry client.AuditEntry, name string) {
	t.Helper()
	sent, k := w.changes[name], w.keys[name]
	switch {
	case entry.Action == "journal_entry.posted":
		p := w.posts[memoIn(t, entry.After)]
		if p == nil || p.id != entry.ResourceID {
			t.Errorf("entry %d posts %s, which is of nobody's making", entry.SequenceNumber, entry.ResourceID)
			return
		}
		p.logged++
	case entry.Action == "organization.updated" && sent != nil:
		if sent.seen++; sent.seen > 1 {
			t.Errorf("%s took effect twice", name)
		}
	case entry.Action == "api_key.created" && k != nil:
		if k.seen++; entry.ResourceID != k.id {
			t.Errorf("the key %s is %s in the log and %q in the answer", name, entry.ResourceID, k.id)
		}
	default:
		t.Errorf("entry %d, %s of %q, is of nobody's making", entry.SequenceNumber, entry.Action, name)
	}
}

func (w *witness) checkKeys(t *testing.T, c *client.Client) {
	t.Helper()
	newest, listed := "", map[string]int{}
	for key, err := range c.APIKeys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if key.ID == w.newestKey {
			break
		}
		if newest == "" {
			newest = key.ID
		}
		if k := w.keys[key.Name]; k == nil || k.id != key.ID {
			t.Errorf("the key %s, %q, is of nobody's making", key.ID, key.Name)
		}
		listed[key.Name]++
	}
	if newest != "" {
		w.newestKey = newest
	}
	for name := range w.keys {
		if listed[name] != 1 {
			t.Errorf("the key %s is listed %d times", name, listed[name])
		}
	}
	w.keys = map[string]*newKey{} // they are checked: the next check reads newer ones only
}

// acknowledged lists the changes that have been acknowledged by now.
func (w *witness) acknowledged() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for name, sent := range w.changes {
		if sent.acknowledged {
			names = append(names, name)
		}
	}
	return names
}

func memoIn(t *testing.T, facts json.RawMessage) string {
	t.Helper()
	var f struct{ Memo string }
	if err := json.Unmarshal(facts, &f); err != nil {
		t.Fatal(err)
	}
	return f.Memo
}

func nameIn(t *testing.T, facts json.RawMessage) string {
	t.Helper()
	var f struct{ Name string }
	if err := json.Unmarshal(facts, &f); err != nil {
		t.Fatal(err)
	}
	return f.Name
}
