package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// statements records every statement, through the log of slow statements with a limit of a nanosecond.
type statements struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *statements) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// count returns how many statements contained a text since the last call.
func (s *statements) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.b.Reset()
	return strings.Count(s.b.String(), text)
}

const ofChart = "FROM ledger_accounts"

func TestAnUnchangedChartIsReadFromTheDatabaseOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		var ran statements
		c.Log, c.SlowStatement = slog.New(slog.NewTextHandler(&ran, nil)), time.Nanosecond
		d := dbtest.Open(t, c)
		f := found(t, d)
		chart := func() (n int) {
			err := d.Read(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				b, err := snapshot.Read(ctx, tx)
				if err != nil {
					return err
				}
				all, err := snapshot.Accounts(ctx, tx)
				if n = len(all); n != len(b.Accounts) {
					t.Errorf("%d accounts in one form, %d in the other", n, len(b.Accounts))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		ran.count("")
		before := chart()
		if n := ran.count(ofChart); n != 1 {
			t.Errorf("the chart was loaded %d times at first, want once", n)
		}
		for range 3 {
			chart()
		}
		if n := ran.count(ofChart); n != 0 {
			t.Errorf("an unchanged chart was loaded %d times", n)
		}
		chart()
		if n := ran.count("FROM organization_state"); n != 1 {
			t.Errorf("the version was read %d times in one transaction", n)
		}
		err := d.Write(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := snapshot.Lock(ctx, tx)
			return err
		})
		if n := ran.count(ofChart); err != nil || n != 0 {
			t.Errorf("a write loaded the chart %d times although a read had it: %v", n, err)
		}
		create(t, d, f)
		ran.count("")
		if after := chart(); after != before+1 || ran.count(ofChart) != 1 {
			t.Errorf("%d accounts before, %d after one was added", before, after)
		}
	})
}

func TestAReadSeesWhatAnotherNodeChanged(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		here, there := dbtest.Open(t, c), dbtest.Open(t, c)
		f := found(t, here)
		before := charts(t, here, f)
		a := create(t, there, f)
		if after := charts(t, here, f); len(after) != len(before)+1 || after[a.ID].Name != a.Name {
			t.Errorf("%d accounts before, %d after another node added one", len(before), len(after))
		}
	})
}

func TestAGroupedWriteDoesNotLoadTheBooksOfAnotherVersionThanItAssumes(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		here, there := dbtest.Open(t, c), dbtest.Open(t, c)
		f := found(t, here)
		first := charts(t, here, f)
		create(t, here, f)  // this node remembers the version, but not the books
		create(t, there, f) // and does not know of this one
		var state orgstate.State
		if err := there.Read(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
			state, err = orgstate.Read(ctx, tx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		runs := 0
		err := here.GroupWrite(as(f), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			runs++
			b, err := snapshot.Lock(ctx, tx)
			if err == nil && (b.Version != state.BooksVersion || len(b.Accounts) != len(first)+2) {
				t.Errorf("version %d has %d accounts, want %d of version %d", b.Version, len(b.Accounts), len(first)+2, state.BooksVersion)
			}
			return err
		})
		if err != nil || runs != 2 {
			t.Errorf("%d runs, want 2: %v", runs, err)
		}
	})
}

func TestALongReadKeepsItsMomentAndDoesNotReplaceANewerSnapshot(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		var ran statements
		c.Log, c.SlowStatement = slog.New(slog.NewTextHandler(&ran, nil)), time.Nanosecond
		d := dbtest.Open(t, c)
		f := found(t, d)
		err := d.Read(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			chart, err := account.All(ctx, tx) // from here on the transaction sees this moment
			if err != nil {
				return err
			}
			create(t, d, f)
			if now := charts(t, d, f); len(now) != len(chart)+1 {
				t.Errorf("%d accounts, want one more than %d", len(now), len(chart))
			}
			old, err := snapshot.Read(ctx, tx)
			if err == nil && len(old.Accounts) != len(chart) {
				t.Errorf("%d accounts in a snapshot of a transaction that sees %d", len(old.Accounts), len(chart))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		ran.count("")
		charts(t, d, f)
		if n := ran.count(ofChart); n != 0 {
			t.Errorf("the old snapshot replaced the newer one, which was loaded %d times", n)
		}
	})
}

func TestATransactionSeesItsOwnChangeAndNobodySeesOneThatIsRolledBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := found(t, d)
		before := charts(t, d, f)
		err := d.Write(as(f), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			create(t, d, f, ctx)
			for name, read := range map[string]func(context.Context, *db.Tx) (*snapshot.Books, error){
				"Read": snapshot.Read, "Lock": snapshot.Lock,
			} {
				b, err := read(ctx, tx)
				if err != nil {
					return err
				}
				if len(b.Accounts) != len(before)+1 {
					t.Errorf("%s: the transaction sees %d accounts, want %d", name, len(b.Accounts), len(before)+1)
				}
			}
			return dbtest.ErrUndo
		})
		if err == nil {
			t.Fatal("the write was not rolled back")
		}
		if after := charts(t, d, f); len(after) != len(before) {
			t.Errorf("%d accounts after a rollback, want %d", len(after), len(before))
		}
	})
}

// On SQLite, writes that wait share a commit, and see what those before them have changed. If that commit fails, the next change gets the
// same version as the one that was lost.
func TestBooksOfACommitThatFailedAreNotKept(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	f := found(t, d)
	before := charts(t, d, f)
	limit := func(ctx context.Context, tx *db.Tx, pages int) error {
		_, err := db.All[int64](ctx, tx, fmt.Sprint("PRAGMA max_page_count = ", pages))
		return err
	}
	var seen int
	var failed [3]error
	next := func(wg *sync.WaitGroup, i int, write func(context.Context, *db.Tx) error) {
		wg.Go(func() { failed[i] = d.Write(as(f), f.Organization.ID, write) })
		time.Sleep(50 * time.Millisecond) // until it waits
	}
	for failed[0] == nil || failed[1] == nil { // until all three shared a commit
		var wg sync.WaitGroup
		next(&wg, 0, func(ctx context.Context, tx *db.Tx) error {
			create(t, d, f, ctx)
			next(&wg, 1, func(ctx context.Context, tx *db.Tx) error {
				next(&wg, 2, func(ctx context.Context, tx *db.Tx) error {
					if err := limit(ctx, tx, 1); err != nil {
						return err
					}
					tx.Recorded()
					_, err := tx.Exec(ctx, "UPDATE organizations SET name = ? WHERE organization_id = @org", strings.Repeat("x", 100_000))
					return err
				})
				b, err := snapshot.Lock(ctx, tx)
				seen = len(b.Accounts)
				return err
			})
			return nil
		})
		wg.Wait()
		unlimited := func(ctx context.Context, tx *db.Tx) error { return limit(ctx, tx, 1_000_000) }
		if err := d.WriteAcross(t.Context(), "a test", unlimited); err != nil {
			t.Fatal(err)
		}
		if failed[0] == nil { // it was committed without the others
			before = charts(t, d, f)
		}
	}
	if seen != len(before)+1 {
		t.Fatalf("the second write saw %d accounts, want one more than %d", seen, len(before))
	}
	other, err := account.NewService(d).Create(as(f), account.CreateParams{Name: "Travel", Type: account.Expense})
	if err != nil {
		t.Fatal(err)
	}
	if after := charts(t, d, f); after[other.ID].Name != "Travel" || len(after) != len(before)+1 {
		t.Errorf("%d accounts, want one more than %d: %q", len(after), len(before), after[other.ID].Name)
	}
}

func found(t *testing.T, d *db.DB) organization.Created {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// as acts for the owner.
func as(f organization.Created) context.Context {
	return actor.With(context.Background(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes})
}

// create adds an account to the chart.
func create(t *testing.T, d *db.DB, f organization.Created, in ...context.Context) account.Account {
	t.Helper()
	ctx := append(in, as(f))[0]
	a, err := account.NewService(d).Create(ctx, account.CreateParams{Name: "Snacks", Type: account.Expense})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func charts(t *testing.T, d *db.DB, f organization.Created) (out map[string]account.Account) {
	t.Helper()
	err := d.Read(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err == nil {
			out = b.Accounts
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
