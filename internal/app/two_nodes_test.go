package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// cluster is an organization to which two nodes write at the same time. Each of them remembers the organization state that
// it committed last, which the other one makes out of date.
type cluster struct {
	*testing.T
	nodes    []*app.App
	ctx      context.Context
	org      string
	accounts [2]string
	months   []string // ids of the periods before the current one, the oldest first

	mu           sync.Mutex
	acknowledged map[string]int64 // entry numbers by entry id
	closings     int
}

const (
	workersPerNode = 3
	operations     = 40 // of a worker
	soakOperations = 500
)

func TestSoakTwoNodesThatPostAndCloseAtTheSameTimeLoseNothing(t *testing.T) {
	t.Parallel()
	count := dbtest.Repeats(operations, soakOperations)
	c := newCluster(t)
	seed := dbtest.Seed(t)
	t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	for i := range workersPerNode * len(c.nodes) {
		wg.Go(func() {
			r, node := rand.New(rand.NewPCG(seed, uint64(i))), c.nodes[i%len(c.nodes)]
			for n := range count {
				c.operate(r, node, fmt.Sprint(i, "-", n))
				time.Sleep(time.Duration(r.ExpFloat64() * float64(2*time.Millisecond)))
			}
		})
	}
	wg.Wait()
	c.requireNothingLost()
	if c.closings == 0 {
		t.Error("no period was closed, so that the test shows little")
	}
}

// newCluster creates an organization on two nodes of one PostgreSQL database, with entries in three months.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	config := dbtest.Postgres(t) // two processes do not share a SQLite file
	c := &cluster{T: t, acknowledged: map[string]int64{}}
	for range 2 {
		c.nodes = append(c.nodes, app.New(dbtest.Open(t, config), nil))
	}
	a := c.nodes[0]
	f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	c.org = f.Organization.ID
	c.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: c.org, UserID: f.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes})
	for i := range c.accounts {
		made, err := a.Accounts.Create(c.ctx, account.CreateParams{Name: fmt.Sprint("Account ", i), Type: account.Asset})
		if err != nil {
			t.Fatal(err)
		}
		c.accounts[i] = made.ID
	}
	for monthsAgo := range 3 {
		c.post(a, c.entry(fmt.Sprint("first ", monthsAgo), monthsAgo))
	}
	err = a.DB.Read(t.Context(), c.org, func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		for _, p := range all[:2] {
			c.months = append(c.months, p.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// entry returns an entry of some months ago.
func (c *cluster) entry(memo string, monthsAgo int) journal.CreateParams {
	now := time.Now().UTC()
	return journal.CreateParams{
		Memo: memo, Status: journal.Posted,
		AccountingDate: time.Date(now.Year(), now.Month()-time.Month(monthsAgo), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		Lines: []journal.LineParams{
			{LedgerAccountID: c.accounts[0], Side: book.Debit, Amount: "1.00"},
			{LedgerAccountID: c.accounts[1], Side: book.Credit, Amount: "1.00"},
		},
	}
}

// operate runs one random operation on a node. Most of them post, so that nodes often assume a state.
func (c *cluster) operate(r *rand.Rand, node *app.App, memo string) {
	month := c.months[r.IntN(len(c.months))]
	switch n := r.IntN(20); {
	case n < 13:
		c.post(node, c.entry(memo, r.IntN(3)))
	case n < 15:
		c.post(node, c.entry(memo, r.IntN(3)), c.entry(memo+" again", r.IntN(3)))
	case n < 17:
		broken := c.entry(memo, 0)
		broken.Lines[0].Amount = "2.00"
		if _, err := node.Journal.Create(c.ctx, broken); fault.KindOf(err) != fault.Invalid {
			c.Errorf("an entry that does not balance: %v", err)
		}
	case n < 19:
		_, err := period.NewService(node.DB).Close(c.ctx, month, "") // without readiness checks, which measure what is held
		if err == nil {
			c.mu.Lock()
			c.closings++
			c.mu.Unlock()
		}
		c.allowConflict("close", err)
	default:
		_, err := node.Periods.Reopen(c.ctx, month, period.ReopenParams{Reason: "a test"})
		c.allowConflict("reopen", err)
	}
}

// post posts entries on a node and remembers that they were acknowledged.
func (c *cluster) post(node *app.App, entries ...journal.CreateParams) {
	var posted []journal.Guided
	var err error
	if len(entries) == 1 {
		var one journal.Guided
		one, err = node.Journal.Create(c.ctx, entries[0])
		posted = []journal.Guided{one}
	} else {
		posted, err = node.Journal.CreateBatch(c.ctx, entries)
	}
	if err != nil {
		c.Errorf("post: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range posted {
		c.acknowledged[e.ID] = e.Number
	}
}

// allowConflict fails the test if an error is not one that the state of a period explains.
func (c *cluster) allowConflict(what string, err error) {
	if err != nil && fault.KindOf(err) != fault.Conflict {
		c.Errorf("%s: %v", what, err)
	}
}

// requireNothingLost checks that exactly the acknowledged entries are stored, that their numbers have no gaps, and that
// every invariant holds.
func (c *cluster) requireNothingLost() {
	c.Helper()
	stored := map[string]int64{}
	err := c.nodes[0].DB.Read(context.Background(), c.org, func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[struct {
			ID     string `db:"journal_entry_id"`
			Number int64  `db:"number"`
		}](ctx, tx, "SELECT journal_entry_id, number FROM journal_entries WHERE organization_id = @org ORDER BY number")
		for i, r := range rows {
			if stored[r.ID] = r.Number; r.Number != int64(i+1) {
				c.Fatalf("the entry at place %d has the number %d", i+1, r.Number)
			}
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	if len(stored) != len(c.acknowledged) {
		c.Errorf("%d entries are stored, and %d were acknowledged", len(stored), len(c.acknowledged))
	}
	for id, number := range c.acknowledged {
		if stored[id] != number {
			c.Errorf("entry %s was acknowledged with the number %d, but has %d", id, number, stored[id])
		}
	}
	found, err := c.nodes[1].Verify(context.Background(), nil)
	if err != nil || len(found) != 0 {
		c.Errorf("verify finds %v, %v", found, err)
	}
}
