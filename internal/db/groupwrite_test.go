package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// mark is a row of a grouped write. Its id is the place the write had among all of them.
type mark struct {
	TagID     string    `db:"tag_id"`
	Name      string    `db:"name"`
	Kind      string    `db:"kind"`
	CreatedAt time.Time `db:"created_at"`
}

// counter assigns numbers without gaps. The writes of a group share it: it is read once, and its rows are written once.
type counter struct {
	next  int
	marks []mark
}

type counterKey struct{}

// number assigns the next number to a write and inserts its row before the commit.
func number(ctx context.Context, tx *db.Tx, name string) (int, error) {
	var err error
	c := tx.Group().State(counterKey{}, func() any {
		c := &counter{}
		var used []int64
		// The row of the organization is the lock.
		if _, err = db.All[string](ctx, tx, "SELECT name FROM organizations WHERE organization_id = @org {for_update}"); err == nil {
			used, err = db.All[int64](ctx, tx, "SELECT count(*) FROM tags WHERE organization_id = @org")
		}
		if err == nil {
			c.next = int(used[0])
		}
		tx.Group().BeforeCommit(func(ctx context.Context, tx *db.Tx) error { return db.Insert(ctx, tx, "tags", c.marks...) })
		return c
	}).(*counter)
	if err != nil {
		return 0, err
	}
	tx.Group().OnRollback(func() { c.next, c.marks = c.next-1, c.marks[:len(c.marks)-1] })
	c.next++
	c.marks = append(c.marks, mark{fmt.Sprintf("tag_%06d", c.next), name, "custom", tx.Now()})
	tx.Recorded()
	return c.next, nil
}

func marksOf(t *testing.T, d *db.DB, org string) (out []mark) {
	t.Helper()
	err := d.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.All[mark](ctx, tx, "SELECT "+db.Columns[mark]()+" FROM tags WHERE organization_id = @org ORDER BY tag_id")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGroupedWritesAreCommittedOnceEachAndThoseThatFailLeaveNoTrace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		orgs := []string{newOrganization(t, d, "one"), newOrganization(t, d, "two")}
		no := errors.New("not this one")
		var mu sync.Mutex
		kept := map[string]map[string]int{orgs[0]: {}, orgs[1]: {}}
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				for n := range 6 {
					org, name := orgs[(i+n)%2], fmt.Sprint(i, "-", n)
					place, panics := 0, n == 5 && i%8 == 0
					err := func() (err error) {
						defer func() {
							if recover() != nil {
								err = no
							}
						}()
						write := d.GroupWrite
						switch { // ordinary writes between them must see what the groups wrote
						case n%3 == 1:
							write = d.Write
						case i%3 == 0:
							write = d.WriteAlone
						}
						return write(context.Background(), org, func(ctx context.Context, tx *db.Tx) (err error) {
							if place, err = number(ctx, tx, name); err != nil {
								return err
							}
							if panics {
								panic("in a body")
							}
							if n == 2 {
								return no
							}
							return nil
						})
					}()
					if want := n == 2 || panics; (err != nil) != want {
						t.Errorf("%s: %v", name, err)
					}
					if err == nil {
						mu.Lock()
						kept[org][name] = place
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		for _, org := range orgs {
			marks := marksOf(t, d, org)
			if len(marks) != len(kept[org]) {
				t.Errorf("%d rows for %d writes that succeeded", len(marks), len(kept[org]))
			}
			for i, m := range marks {
				if m.TagID != fmt.Sprintf("tag_%06d", i+1) || kept[org][m.Name] != i+1 {
					t.Fatalf("row %d is %+v, whose writer was told %d", i+1, m, kept[org][m.Name])
				}
			}
		}
	})
}

func TestTheBodyOfAGroupedWriteCannotWriteButMayAskForAPrecondition(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "before")
		rename := "UPDATE organizations SET name = 'after' WHERE organization_id = @org"
		err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded()
			_, err := tx.Exec(ctx, rename)
			return err
		})
		if err == nil || nameOf(t, d, org) != "before" {
			t.Errorf("it wrote by itself: %v", err)
		}
		err = d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.All[string](ctx, tx, rename+" RETURNING name")
			return err
		})
		if err == nil || nameOf(t, d, org) != "before" {
			t.Errorf("it wrote by a query: %v", err)
		}
		runs := 0
		err = d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			runs++
			name, err := db.One[string](ctx, tx, "organization", "SELECT name FROM organizations WHERE organization_id = @org")
			if err != nil || name == "after" {
				return err
			}
			return tx.Group().Precondition(ctx, func(ctx context.Context, tx *db.Tx) error {
				tx.Recorded()
				_, err := tx.Exec(ctx, rename)
				return err
			})
		})
		if err != nil || runs != 2 || nameOf(t, d, org) != "after" {
			t.Errorf("%d runs, %v", runs, err)
		}
		err = d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			return tx.Group().Precondition(ctx, func(context.Context, *db.Tx) error { return nil })
		})
		if err == nil {
			t.Error("a write whose precondition is never met succeeded")
		}
	})
}

func TestAGroupRunsAgainWhenABeforeCommitFunctionAsksForIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		var tries []int
		err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tries = append(tries, tx.Group().Attempt())
			if _, err := number(ctx, tx, "n"); err != nil {
				return err
			}
			if tx.Group().Attempt() < 2 {
				tx.Group().BeforeCommit(func(context.Context, *db.Tx) error { return db.ErrRetry })
			}
			return nil
		})
		if err != nil || !slices.Equal(tries, []int{1, 2}) || len(marksOf(t, d, org)) != 1 {
			t.Errorf("%v %v", tries, err)
		}
	})
}

func TestABeforeCommitFunctionThatFailsOrPanicsFailsTheGroup(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		for name, end := range map[string]func(context.Context, *db.Tx) error{
			"error": func(context.Context, *db.Tx) error { return errors.New("no") },
			"panic": func(context.Context, *db.Tx) error { panic("no") },
		} {
			err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
				tx.Group().BeforeCommit(end)
				_, err := number(ctx, tx, "n")
				return err
			})
			if err == nil || len(marksOf(t, d, org)) != 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := number(ctx, tx, "n")
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestManyRowsAreInsertedUnchanged(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		var marks []mark
		for i := range 231 { // needs every size of chunk
			marks = append(marks, mark{fmt.Sprintf("tag_%06d", i), fmt.Sprint("name ", i), "custom", time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)})
		}
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded()
			if err := db.Insert(ctx, tx, "tags", marks...); err != nil {
				return err
			}
			return db.Upsert(ctx, tx, "tags", append(marks[:10:10], mark{"tag_x", "new", "custom", tx.Now()}), "ON CONFLICT DO NOTHING")
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := marksOf(t, d, org); len(got) != len(marks)+1 || !slices.Equal(got[:len(marks)], marks) {
			t.Errorf("%d rows, not as they were", len(got))
		}
	})
}

func TestTimesOfManyRowsAreStoredToTheMillisecond(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org, at := newOrganization(t, d, "x"), time.Date(2026, 3, 29, 3, 30, 0, 123_456_789, time.FixedZone("", 7200))
		type row struct {
			ID      string     `db:"tag_id"`
			Name    string     `db:"name"`
			Kind    string     `db:"kind"`
			Created time.Time  `db:"created_at"`
			Updated *time.Time `db:"updated_at"`
		}
		var got []row
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) (err error) {
			tx.Recorded()
			if err := db.Insert(ctx, tx, "tags", row{ID: "tag_1", Name: "a", Kind: "custom", Created: at, Updated: &at},
				row{ID: "tag_2", Name: "b", Kind: "custom", Created: at}); err != nil {
				return err
			}
			got, err = db.All[row](ctx, tx, "SELECT "+db.Columns[row]()+" FROM tags WHERE organization_id = @org ORDER BY tag_id")
			return err
		})
		if want := clock.Stamp(at); err != nil || !got[0].Created.Equal(want) || !got[0].Updated.Equal(want) || got[1].Updated != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Earlier versions have stored microseconds in some rows.
func TestATimeWithMicrosecondsIsArchivedToTheMillisecond(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t))
	org := newOrganization(t, d, "x")
	err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded()
		update := "UPDATE organizations SET created_at = '2026-03-29T01:30:00.123456Z' WHERE organization_id = @org"
		if _, err := tx.Exec(ctx, update); err != nil {
			return err
		}
		return db.EachArchived(ctx, tx, db.ArchivedTable{Name: "organizations"}, func(values []any) error {
			if !slices.Contains(values, any("2026-03-29T01:30:00.123Z")) {
				t.Errorf("it has %v", values)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

func TestQueuedStatementsRunBeforeTheNextExecOrQuery(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		names := func(ctx context.Context, tx *db.Tx) []string {
			found, err := db.All[string](ctx, tx, "SELECT name FROM tags WHERE organization_id = @org ORDER BY name")
			if err != nil {
				t.Error(err)
			}
			return found
		}
		rename := "UPDATE tags SET name = ? WHERE organization_id = @org AND name = ?"
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded()
			if err := errors.Join(db.Insert(ctx, tx, "tags", mark{"tag_1", "a", "custom", tx.Now()}), tx.Queue(ctx, rename, "b", "a")); err != nil {
				return err
			}
			if n, err := tx.Exec(ctx, rename, "c", "b"); n != 1 || err != nil {
				t.Errorf("Exec finds %d rows: %v", n, err)
			}
			if err := tx.Queue(ctx, rename, "d", "c"); err != nil {
				return err
			}
			if got := names(ctx, tx); !slices.Equal(got, []string{"d"}) {
				t.Errorf("a query finds %v", got)
			}
			return tx.Queue(ctx, rename, "e", "d")
		})
		if err != nil {
			t.Fatal(err)
		}
		fails := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded()
			if err := tx.Queue(ctx, rename, "f", "e"); err != nil {
				return err
			}
			return db.Insert(ctx, tx, "tags", mark{"tag_1", "again", "custom", tx.Now()})
		})
		if !db.IsDuplicate(fails) {
			t.Errorf("a row that is there already: %v", fails)
		}
		if err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error { return tx.Queue(ctx, rename, "g", "e") }); err == nil {
			t.Error("a change that nobody recorded was committed")
		}
		_ = d.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			if got := names(ctx, tx); !slices.Equal(got, []string{"e"}) {
				t.Errorf("after one that was kept and two that were not: %v", got)
			}
			return nil
		})
	})
}

func TestABodyWhoseStatementFailsDoesNotFailTheOthersOfItsGroup(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, assumes := range []bool{false, true} {
			org := newOrganization(t, d, fmt.Sprint(assumes))
			var wg sync.WaitGroup
			for i := range 40 {
				wg.Go(func() {
					err := d.GroupWrite(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
						if assumes && tx.Group().Attempt() == 1 {
							tx.Group().Assume(func(ctx context.Context, tx *db.Tx) error {
								_, err := db.All[string](ctx, tx, "SELECT name FROM tags WHERE organization_id = @org")
								return err
							})
						}
						if i%4 == 0 {
							_, err := db.All[int64](ctx, tx, "SELECT count(*) FROM organizations WHERE organization_id = @org AND nothing = 1")
							return err
						}
						_, err := number(ctx, tx, fmt.Sprint(i))
						return err
					})
					if (err != nil) != (i%4 == 0) || err != nil && !strings.Contains(err.Error(), "nothing = 1") {
						t.Errorf("%d, with an assumed state %v: %v", i, assumes, err)
					}
				})
			}
			wg.Wait()
			if n := len(marksOf(t, d, org)); n != 30 {
				t.Errorf("%d rows of 30", n)
			}
		}
	})
}

func TestAPanicOfAFunctionThatTheLeaderRunsDoesNotEndTheProgram(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		for name, register := range map[string]func(*db.Tx){
			"OnRollback": func(tx *db.Tx) { tx.Group().OnRollback(func() { panic("in a test") }) },
			"Assume":     func(tx *db.Tx) { tx.Group().Assume(func(context.Context, *db.Tx) error { panic("in a test") }) },
		} {
			err := d.GroupWrite(t.Context(), org, func(_ context.Context, tx *db.Tx) error {
				register(tx)
				return errRefused
			})
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Group().BeforeCommit(func(_ context.Context, tx *db.Tx) error {
				tx.AfterCommit(func() { panic("in a test") })
				return nil
			})
			_, err := number(ctx, tx, "kept")
			return err
		})
		if got := names(t, d, org); err != nil || !slices.Equal(got, []string{"kept"}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestAStatementBeforeTheCommitReportsTheRowsItChanged(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		for name, write := range map[string]func(context.Context, string, db.Func) error{"grouped": d.GroupWrite, "ordinary": d.Write} {
			var changed int64
			err := write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
				tx.Recorded()
				tx.Group().BeforeCommit(func(ctx context.Context, tx *db.Tx) (err error) {
					rows := []mark{{"tag_1" + name, "a" + name, "custom", tx.Now()}, {"tag_2" + name, "b" + name, "custom", tx.Now()}}
					if err := db.Insert(ctx, tx, "tags", rows...); err != nil {
						return err
					}
					changed, err = tx.Exec(ctx, "UPDATE tags SET kind = 'custom' WHERE organization_id = @org AND tag_id IN (?, ?)",
						rows[0].TagID, rows[1].TagID)
					return err
				})
				return nil
			})
			if err != nil || changed != 2 {
				t.Errorf("%s: %d rows, %v", name, changed, err)
			}
		}
	})
}

func TestWritesWhoseDeadlinePassesInTheQueueAreDroppedAndTheOthersRunOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		const expired, live = 20, 20
		var bodies, dropped atomic.Int64
		began, proceed := make(chan struct{}), make(chan struct{})
		var wg, gone sync.WaitGroup
		wg.Go(func() {
			err := d.GroupWrite(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
				close(began)
				<-proceed
				_, err := number(ctx, tx, "first")
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-began
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(50*time.Millisecond))
		defer cancel()
		for i := range expired + live {
			run := wg.Go
			of := context.Background()
			if i%2 == 0 {
				run, of = gone.Go, ctx
			}
			run(func() {
				err := d.GroupWrite(of, org, func(ctx context.Context, tx *db.Tx) error {
					bodies.Add(1)
					_, err := number(ctx, tx, fmt.Sprint(i))
					return err
				})
				switch {
				case of == ctx && errors.Is(err, context.DeadlineExceeded):
					dropped.Add(1)
				case err != nil:
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		gone.Wait() // they do not wait for the leader
		close(proceed)
		wg.Wait()
		if bodies.Load() != live || dropped.Load() != expired || len(marksOf(t, d, org)) != live+1 {
			t.Errorf("%d bodies ran and %d writes were dropped; %d rows", bodies.Load(), dropped.Load(), len(marksOf(t, d, org)))
		}
	})
}
