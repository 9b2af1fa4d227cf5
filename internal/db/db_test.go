package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

type organizationRow struct {
	Name       string    `db:"name"`
	Timezone   string    `db:"timezone"`
	TimeFormat string    `db:"time_format"`
	CreatedAt  time.Time `db:"created_at"`
}

func newOrganization(t *testing.T, d *db.DB, name string) string {
	t.Helper()
	org := d.IDs().New(id.Organization)
	err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded()
		return db.Insert(ctx, tx, "organizations", organizationRow{name, "UTC", "hr24", tx.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	return org
}

func rename(d *db.DB, org, name string) error {
	return d.Write(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded()
		_, err := tx.Exec(ctx, "UPDATE organizations SET name = ? WHERE organization_id = @org", name)
		return err
	})
}

func nameOf(t *testing.T, d *db.DB, org string) string {
	t.Helper()
	var name string
	err := d.Read(context.Background(), org, func(ctx context.Context, tx *db.Tx) (err error) {
		name, err = db.One[string](ctx, tx, "organization", "SELECT name FROM organizations WHERE organization_id = @org")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestATransactionOfOneOrganizationCannotReachAnother(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		mine, other := newOrganization(t, d, "mine"), newOrganization(t, d, "other")
		for _, query := range []string{
			"SELECT name FROM organizations",
			"SELECT name FROM organizations WHERE organization_id = '" + other + "'",
			"SELECT m.role FROM members m JOIN organizations o ON o.name = m.role WHERE m.organization_id = @org",
			"SELECT name FROM (SELECT name FROM organizations) x WHERE x.name = @org",
			"SELECT m.role FROM organizations o, members m WHERE o.organization_id = @org",
			"SELECT name FROM \"organizations\"",
			"SELECT o.name FROM organizations o JOIN members m ON m.role = o.name WHERE o.organization_id = @org AND o.organization_id = @org",
		} {
			err := d.Read(t.Context(), mine, func(ctx context.Context, tx *db.Tx) error {
				_, err := db.All[string](ctx, tx, query)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "tied to @org") {
				t.Errorf("%s: %v", query, err)
			}
		}
		for _, query := range []string{"UPDATE organizations SET name = 'x'", "DELETE FROM organizations",
			"INSERT INTO members (organization_id, user_id, role, created_at) VALUES ('x', 'y', 'z', 'w')",
			"INSERT INTO members (organization_id, user_id, role, created_at) VALUES ('x', @org, 'z', 'w')"} {
			err := d.Write(t.Context(), mine, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, query)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "tied to @org") {
				t.Errorf("%s: %v", query, err)
			}
		}
		if got := nameOf(t, d, other); got != "other" {
			t.Errorf("the other organization is now %q", got)
		}
	})
}

func TestAChangeWithoutAnAuditRowDoesNotCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "before")
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE organizations SET name = 'after' WHERE organization_id = @org")
			return err
		})
		if err == nil || nameOf(t, d, org) != "before" {
			t.Errorf("err %v, name %s", err, nameOf(t, d, org))
		}
	})
}

func TestAChangeToAReferenceTableNeedsItsAuditRowToo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "mine")
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO users (user_id, email, created_at) VALUES ('usr_x', 'x@example.com', ?)", tx.Now())
			return err
		})
		if users := catalog[string](t, d, "SELECT email FROM users"); err == nil || len(users) != 0 {
			t.Errorf("%v, %v", users, err)
		}
	})
}

func newOrganizationID(d *db.DB) string { return d.IDs().New(id.Organization) }

func TestAFailingWriteDoesNotFailTheOthersOfItsCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const writers = 24
		orgs := make([]string, writers)
		for i := range orgs {
			orgs[i] = newOrganization(t, d, "before")
		}
		var wg sync.WaitGroup
		for i, org := range orgs {
			wg.Go(func() {
				defer func() { _ = recover() }()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if i%4 == 3 {
					cancel()
				}
				err := d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
					tx.Recorded()
					if _, err := tx.Exec(ctx, "UPDATE organizations SET name = ? WHERE organization_id = @org", fmt.Sprint("after ", i)); err != nil {
						return err
					}
					switch i % 4 {
					case 1:
						return errors.New("no")
					case 2:
						panic("no")
					}
					return nil
				})
				if (err == nil) != (i%4 == 0) {
					t.Errorf("writer %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		for i, org := range orgs {
			want := "before"
			if i%4 == 0 {
				want = fmt.Sprint("after ", i)
			}
			if got := nameOf(t, d, org); got != want {
				t.Errorf("writer %d left %q, want %q", i, got, want)
			}
		}
	})
}

func TestBeforeCommitFunctionsRunOnceAtTheEndAndAfterCommitFunctionsOnlyIfItSucceeds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "before")
		var order []string
		body := func(fail error) error {
			return d.Write(t.Context(), org, func(_ context.Context, tx *db.Tx) error {
				tx.Group().BeforeCommit(func(context.Context, *db.Tx) error { order = append(order, "before"); return fail })
				tx.AfterCommit(func() { order = append(order, "after") })
				order = append(order, "body")
				return nil
			})
		}
		if err := body(nil); err != nil {
			t.Fatal(err)
		}
		if err := body(errors.New("no")); err == nil {
			t.Fatal("a failing last step committed")
		}
		if got := strings.Join(order, " "); got != "body before after body before" {
			t.Error(got)
		}
	})
}

func TestConcurrentWritersOfOneRowLoseNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 10 {
					err := d.Write(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
						tx.Recorded()
						_, err := tx.Exec(ctx, "UPDATE organizations SET name = name || 'x' WHERE organization_id = @org")
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if got := len(nameOf(t, d, org)); got != 80 {
			t.Errorf("%d of 80 writes are there", got)
		}
	})
}

func TestADeadlockIsTriedAgainUntilBothWritesAreThere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, b := newOrganization(t, d, ""), newOrganization(t, d, "")
		var tries atomic.Int64
		var met sync.WaitGroup
		met.Add(2)
		cross := func(first, second string) error {
			return d.WriteAcross(context.Background(), "a test of deadlocks", func(ctx context.Context, tx *db.Tx) error {
				try := tries.Add(1)
				if _, err := tx.Exec(ctx, "UPDATE organizations SET name = name || 'x' WHERE organization_id = ?", first); err != nil {
					return err
				}
				if try <= 2 && d.Engine() == db.Postgres { // SQLite has one writer
					met.Done()
					met.Wait()
				}
				_, err := tx.Exec(ctx, "UPDATE organizations SET name = name || 'x' WHERE organization_id = ?", second)
				return err
			})
		}
		var wg sync.WaitGroup
		for _, pair := range [][2]string{{a, b}, {b, a}} {
			wg.Go(func() {
				if err := cross(pair[0], pair[1]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if nameOf(t, d, a) != "xx" || nameOf(t, d, b) != "xx" {
			t.Errorf("%q and %q", nameOf(t, d, a), nameOf(t, d, b))
		}
		if d.Engine() == db.Postgres && tries.Load() < 3 {
			t.Errorf("%d tries: the writes did not meet, so nothing was tested", tries.Load())
		}
	})
}

func TestTimesComeBackToTheMillisecondInUTC(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		at := time.Date(2026, 3, 29, 3, 30, 0, 123_456_789, time.FixedZone("", 7200))
		var got struct {
			Created time.Time  `db:"created_at"`
			Updated *time.Time `db:"updated_at"`
		}
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded()
			if _, err := tx.Exec(ctx,
				"UPDATE organizations SET created_at = ?, updated_at = ? WHERE organization_id = @org AND created_at < ?", at, &at,
				at.AddDate(10, 0, 0)); err != nil {
				return err
			}
			rows, err := db.All[struct {
				Created time.Time  `db:"created_at"`
				Updated *time.Time `db:"updated_at"`
			}](ctx, tx, "SELECT created_at, updated_at FROM organizations WHERE organization_id = @org")
			got = rows[0]
			return err
		})
		if want := "2026-03-29T01:30:00.123Z"; err != nil || got.Created.Format(time.RFC3339Nano) != want ||
			got.Updated.Format(time.RFC3339Nano) != want {
			t.Errorf("%v %v: %v", got.Created, got.Updated, err)
		}
	})
}

// scratch runs fn with a table of decimals that is dropped afterwards.
func scratch(t *testing.T, d *db.DB, fn db.Func) {
	t.Helper()
	rollback := errors.New("rollback")
	err := d.WriteAcross(context.Background(), "a test of decimals", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "CREATE TEMPORARY TABLE scratch (n {integer}, amount {decimal})"); err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return rollback
	})
	if !errors.Is(err, rollback) {
		t.Fatal(err)
	}
}

func TestDecimalsAreStoredComparedAndSummedExactly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		values := []string{"9.5", "10", "-3", "0.000000000000000000000000000001",
			"99999999999999999999999999999999999999.999999999999999999999999999999", "-10.25", "2"}
		scratch(t, d, func(ctx context.Context, tx *db.Tx) error {
			for i, v := range values {
				if _, err := tx.Exec(ctx, "INSERT INTO scratch VALUES (?, ?)", int64(i), money.MustParse(v)); err != nil {
					return err
				}
			}
			sorted, err := db.All[money.Decimal](ctx, tx, "SELECT amount FROM scratch ORDER BY amount")
			if err != nil {
				return err
			}
			if got, want := fmt.Sprint(sorted), "[-10.25 -3 0.000000000000000000000000000001 2 9.5 10 "+
				"99999999999999999999999999999999999999.999999999999999999999999999999]"; got != want {
				t.Errorf("sorted %s", got)
			}
			above, err := db.One[int64](ctx, tx, "count", "SELECT count(*) FROM scratch WHERE amount > ?", money.MustParse("9.50"))
			if err != nil || above != 2 {
				t.Errorf("%d above 9.50, %v", above, err)
			}
			total, err := db.One[money.Decimal](ctx, tx, "sum", "SELECT {dec_sum}(amount) FROM scratch")
			if want := "100000000000000000000000000000000000008.250000000000000000000000000000"; err != nil || !total.Equal(mustStored(t, want)) {
				t.Errorf("sum %s, %v", total, err)
			}
			return nil
		})
	})
}

func TestDecimalsAreAddedExactlyAndNothingToNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		scratch(t, d, func(ctx context.Context, tx *db.Tx) error {
			for i, v := range []string{"0.1", "0.2", "12345678901234567890.000000000000000001", "-0.3"} {
				if _, err := tx.Exec(ctx, "INSERT INTO scratch VALUES (?, ?)", int64(i), money.MustParse(v)); err != nil {
					return err
				}
			}
			if _, err := tx.Exec(ctx, "UPDATE scratch SET amount = {dec_add}(amount, ?)", money.MustParse("0.2")); err != nil {
				return err
			}
			sums, err := db.All[money.Decimal](ctx, tx, "SELECT amount FROM scratch ORDER BY n")
			if got := fmt.Sprint(sums); got != "[0.3 0.4 12345678901234567890.200000000000000001 -0.1]" {
				t.Errorf("%s, %v", got, err)
			}
			moving, err := db.All[money.Decimal](ctx, tx,
				"SELECT {dec_sum}(amount) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM scratch ORDER BY n")
			if got := fmt.Sprint(moving); got != "[0.3 0.7 12345678901234567890.600000000000000001 12345678901234567890.100000000000000001]" {
				t.Errorf("moving %s, %v", got, err)
			}
			nothing, err := db.All[*string](ctx, tx, "SELECT {dec_sum}(amount) FROM scratch WHERE n > 99")
			if len(nothing) != 1 || nothing[0] != nil {
				t.Errorf("the sum of nothing is %v, %v", nothing, err)
			}
			return err
		})
	})
}

func mustStored(t *testing.T, text string) (d money.Decimal) {
	t.Helper()
	if err := d.Scan(text); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBothEnginesSumAnyDecimalsToTheSameDigits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		rapid.Check(t, func(r *rapid.T) {
			texts := rapid.SliceOfN(rapid.StringMatching(`-?[0-9]{1,20}\.[0-9]{1,18}`), 1, 8).Draw(r, "amounts")
			want := money.Decimal{}
			scratch(t, d, func(ctx context.Context, tx *db.Tx) error {
				for i, text := range texts {
					v := money.MustParse(text)
					want = want.Add(v)
					if _, err := tx.Exec(ctx, "INSERT INTO scratch VALUES (?, ?)", int64(i), v); err != nil {
						return err
					}
				}
				got, err := db.One[money.Decimal](ctx, tx, "sum", "SELECT {dec_sum}(amount) FROM scratch")
				if err != nil || !got.Equal(want) {
					r.Errorf("sum %s, want %s: %v", got, want, err)
				}
				return nil
			})
		})
	})
}

func TestADuplicateRowIsDistinguishedFromOtherErrors(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			return db.Insert(ctx, tx, "organizations", organizationRow{"again", "UTC", "hr24", tx.Now()})
		})
		if !db.IsDuplicate(err) {
			t.Errorf("%v", err)
		}
		err = d.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.One[string](ctx, tx, "organization", "SELECT name FROM organizations WHERE organization_id = @org AND name = 'nobody'")
			return err
		})
		if fault.KindOf(err) != fault.NotFound || err.Error() != "organization not found" {
			t.Errorf("%v", err)
		}
		err = d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "SELEKT")
			return err
		})
		if err == nil || fault.KindOf(err) != fault.Internal {
			t.Errorf("a faulty statement is our fault, not %v: %v", fault.KindOf(err), err)
		}
	})
}

func TestAHandleThatIsNotPreparedIsUnavailable(t *testing.T) {
	t.Parallel()
	d, err := db.Open(db.Config{URL: "postgres://nobody@127.0.0.1:1/none?sslmode=disable"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, err := range map[string]error{
		"prepare": d.Prepare(t.Context()),
		"ready":   d.Ready(t.Context()),
		"write":   rename(d, "org", "x"),
		"read":    d.Read(t.Context(), "org", func(context.Context, *db.Tx) error { return nil }),
	} {
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := db.Open(db.Config{URL: "postgres://user:hunter2@ho st/x"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}
