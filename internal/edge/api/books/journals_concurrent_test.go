package books_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// tally collects the answers to concurrent clients: the entry numbers, and the amounts posted to the bank account.
type tally struct {
	mu      sync.Mutex
	numbers map[int64]bool
	bank    int64
	kept    int // deleted drafts
}

func (c *tally) made(t *testing.T, cents int64, entries ...client.JournalEntry) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		n := numberOf(t, e)
		if c.numbers[n] {
			t.Errorf("two entries are JE-%d", n)
		}
		c.numbers[n] = true
		c.bank += cents
	}
}

// one sends a random request, valid or not.
func (c *tally) one(t *testing.T, l *ledger, unknown string) {
	t.Helper()
	cents := int64(rand.IntN(1000) + 1)
	amount := fmt.Sprintf("%d.%02d", cents/100, cents%100)
	in := l.Entry("2026-01-05", "posted", "Dr 1010 "+amount+" #a; Cr 4010 "+amount)
	out := l.Entry("2026-01-06", "posted", "Dr 4010 "+amount+"; Cr 1010 "+amount+" #a")
	switch rand.IntN(8) {
	case 0, 1:
		if e, err := l.Client.CreateJournalEntry(t.Context(), in); err != nil {
			t.Error(err)
		} else {
			c.made(t, cents, e)
		}
	case 2:
		if e, err := l.Client.CreateJournalEntry(t.Context(), out); err != nil {
			t.Error(err)
		} else {
			c.made(t, -cents, e)
		}
	case 3:
		if made, err := l.Client.CreateJournalEntries(t.Context(), []client.CreateJournalEntry{in, in}); err != nil {
			t.Error(err)
		} else {
			c.made(t, cents, made...)
		}
	case 4:
		in.Lines[0].Amount = "0.001"
		_, err := l.Client.CreateJournalEntry(t.Context(), in)
		apitest.WantError(t, "unbalanced", err, 400, []string{"lines"}, "a difference of")
	case 5:
		bad := out
		bad.Lines = slices.Clone(out.Lines)
		bad.Lines[1].LedgerAccountID = unknown
		_, err := l.Client.CreateJournalEntries(t.Context(), []client.CreateJournalEntry{in, bad, out})
		apitest.WantError(t, "an unknown account", err, 404, []string{"journal_entries[1].lines[1].ledger_account_id"}, "")
	case 6:
		c.draft(t, l, in, cents)
	case 7:
		e, err := l.Client.CreateJournalEntry(t.Context(), in)
		if err != nil {
			t.Error(err)
			return
		}
		c.made(t, cents, e)
		lines := l.Lines("Dr 1010 2.00; Cr 4010 2.00")
		n, err := l.Client.CorrectJournalEntry(t.Context(), e.ID, client.UpdateJournalEntry{Lines: &lines})
		if err != nil {
			t.Error(err)
			return
		}
		r, err := l.Client.JournalEntry(t.Context(), *n.ReversalChain.PreviousEntryID)
		if err != nil {
			t.Error(err)
		}
		c.made(t, -cents, r)
		c.made(t, 200, n)
	}
}

// draft creates a draft and posts it. It then unposts and deletes it, or leaves it posted.
func (c *tally) draft(t *testing.T, l *ledger, e client.CreateJournalEntry, cents int64) {
	t.Helper()
	e.Status = "draft"
	d, err := l.Client.CreateJournalEntry(t.Context(), e)
	if err != nil {
		t.Error(err)
		return
	}
	c.made(t, 0, d)
	if _, err := l.Client.PostJournalEntry(t.Context(), d.ID); err != nil {
		t.Error(err)
		return
	}
	if cents%2 == 0 {
		c.mu.Lock()
		c.bank += cents
		c.mu.Unlock()
		return
	}
	if _, err := l.Client.UnpostJournalEntry(t.Context(), d.ID); err != nil {
		t.Error(err)
	}
	if err := l.Client.DeleteJournalEntry(t.Context(), d.ID); err != nil {
		t.Error(err)
	}
	c.mu.Lock()
	c.kept++
	c.mu.Unlock()
}

func TestConcurrentClientsOnTwoAccountsLoseNothingAndDoNotDeadlock(t *testing.T) {
	t.Parallel()
	const clients, each = 32, 5
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		on := nodes(t, c)
		l := on[0]
		l.AddTag(t, "#a") // the map is shared
		unknown := apitest.UnknownID(l.Accounts["1010"])
		told := &tally{numbers: map[int64]bool{}}
		var wg sync.WaitGroup
		for who := range clients {
			wg.Go(func() {
				for range each {
					told.one(t, on[who%len(on)], unknown)
				}
			})
		}
		wg.Wait()
		numbers := slices.Sorted(maps.Keys(told.numbers))
		if n := len(numbers); n == 0 || numbers[0] != 1 || numbers[n-1] != int64(n) {
			t.Errorf("%d numbers were given: %v", n, numbers)
		}
		if got := readBalance(t, l); got.debits-got.credits != told.bank {
			t.Errorf("the report says %+v, those who posted %d", got, told.bank)
		}
		listed := 0
		for _, err := range l.Client.JournalEntries(t.Context(), url.Values{"limit": {"100"}}) {
			if err != nil {
				t.Fatal(err)
			}
			listed++
		}
		if listed != len(numbers)-told.kept {
			t.Errorf("%d entries are listed, %d were made, %d deleted", listed, len(numbers), told.kept)
		}
		if l.Service().App.DB.Engine() == db.Postgres {
			if n := deadlocks(t, l); n > 0 {
				t.Errorf("PostgreSQL broke %d deadlocks", n)
			}
		}
	})
}

// deadlocks returns how many deadlocks PostgreSQL has resolved in this database.
func deadlocks(t *testing.T, l *ledger) (n int64) {
	t.Helper()
	err := l.Service().App.DB.ReadAcross(t.Context(), "a test counts", func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every node caches the chart for posting. After an account is archived, no node may post to it.
func TestNoNodePostsOnAnAccountThatWasArchivedOnAnother(t *testing.T) {
	t.Parallel()
	const clients, each, turns = 6, 25, 8
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		on := nodes(t, c)
		l := on[0]
		id := l.AddAccount(t, "flicker")
		l.Post(t, "2026-01-05", "Dr flicker 1; Cr flicker 1")
		var wg sync.WaitGroup
		for who := range clients {
			wg.Go(func() {
				mine := on[who%len(on)]
				for range each {
					_, err := mine.Client.CreateJournalEntry(t.Context(), mine.Entry("2026-01-05", "posted", "Dr flicker 1; Cr flicker 1"))
					var e *client.Error
					if err != nil && (!errors.As(err, &e) || e.Status != 409 || !strings.Contains(e.Message, "is archived")) {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			for i := range turns {
				mine := on[i%len(on)]
				if _, err := mine.Client.ArchiveLedgerAccount(t.Context(), id); err != nil {
					t.Error(err)
				}
				if _, err := on[(i+1)%len(on)].Client.CreateJournalEntry(t.Context(), mine.Entry("2026-01-05", "posted",
					"Dr flicker 1; Cr flicker 1")); err == nil {
					t.Error("an archived account took a line")
				}
				if _, err := mine.Client.UnarchiveLedgerAccount(t.Context(), id); err != nil {
					t.Error(err)
				}
				if _, err := on[(i+1)%len(on)].Client.CreateJournalEntry(t.Context(), mine.Entry("2026-01-05", "posted",
					"Dr flicker 1; Cr flicker 1")); err != nil {
					t.Errorf("an account that is not archived any more: %v", err)
				}
			}
		})
		wg.Wait()
		archived, posted, kinds := false, 0, map[string]int{}
		var log []client.AuditEntry
		for a, err := range l.Client.AuditLog(t.Context(), url.Values{"limit": {"100"}}) {
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, a)
		}
		for _, a := range slices.Backward(log) {
			kinds[a.Action]++
			switch a.Action {
			case "ledger_account.archived":
				archived = true
			case "ledger_account.unarchived":
				archived = false
			case "journal_entry.posted":
				var facts struct {
					SequenceNumber string `json:"sequence_number"`
				}
				if err := json.Unmarshal(a.After, &facts); err != nil || archived {
					t.Errorf("%s was posted on an archived account: %v", facts.SequenceNumber, err)
				}
				posted++
			}
		}
		if kinds["ledger_account.archived"] != turns || posted < 1+turns {
			t.Errorf("%v", kinds)
		}
	})
}
