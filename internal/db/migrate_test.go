package db_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestProcessesThatStartTogetherOnAnEmptyDatabaseMigrateItOnce(t *testing.T) {
	t.Parallel()
	for engine, config := range map[db.Engine]db.Config{db.SQLite: {Dir: t.TempDir()}, db.Postgres: dbtest.EmptyPostgres(t)} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			first, err := db.Open(config)
			if err != nil {
				t.Fatal(err)
			}
			defer first.Close()
			if err := first.Attach(t.Context()); err == nil || !strings.Contains(err.Error(), "bursar migrate") {
				t.Errorf("an empty database was attached: %v", err)
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					d, err := db.Open(config)
					if err != nil {
						t.Error(err)
						return
					}
					defer d.Close()
					if err := d.Prepare(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if err := first.Attach(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Connections that fail to get the lock must not keep a part of it, or two of them wait for each other forever.
func TestTheLockForMigrationsPassesFromOneProcessToTheNext(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		var wg sync.WaitGroup
		var inside atomic.Int64
		for range 6 {
			d, err := db.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			wg.Go(func() {
				for range 10 {
					err := db.WithSchemaLock(t.Context(), d, func() error {
						if n := inside.Add(1); n > 1 {
							t.Errorf("%d hold the lock at once", n)
						}
						time.Sleep(time.Millisecond)
						inside.Add(-1)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestADatabaseOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		err := dbtest.Open(t, c).WriteAcross(t.Context(), "a test comes from the future", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx,
				"UPDATE goose_db_version SET version_id = 99999 WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		d, err := db.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for name, err := range map[string]error{"prepare": d.Prepare(t.Context()), "attach": d.Attach(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), "newer") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The migration that stores the history of the spam filter by source creates its tables again, and so does the way back.
func TestTheHistoryOfTheSpamFilterIsKeptByAMigrationAndByTheWayBack(t *testing.T) {
	t.Parallel()
	const version = 38
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		d := dbtest.Open(t, c)
		one, two := newOrganization(t, d, "one"), newOrganization(t, d, "two")
		run := func(ctx context.Context, tx *db.Tx, text string, args ...any) {
			t.Helper()
			if _, err := tx.Exec(ctx, text, args...); err != nil {
				t.Fatal(err)
			}
		}
		// The first organization has one legal entity, the second has two.
		err := d.WriteAcross(t.Context(), "a test of a migration", func(ctx context.Context, tx *db.Tx) error {
			for _, s := range [][3]string{{one, "src_1", "le_1"}, {one, "src_2", "le_1"}, {two, "src_3", "le_2"}, {two, "src_4", "le_3"}} {
				run(ctx, tx, `INSERT INTO sources (organization_id, source_id, source_type, provider, name, legal_entity_id, ledger_account_id,
					is_manual, created_at) VALUES (?, ?, 'wallet', 'manual', 'Wallet', ?, 'lac_1', ?, ?)`, s[0], s[1], s[2], true, tx.Now())
				run(ctx, tx, "INSERT INTO spam_dealings (organization_id, shown, name, source_id, created_at) VALUES (?, '0xab…cd', '0xabcd', ?, ?)",
					s[0], s[1], tx.Now())
				run(ctx, tx, "INSERT INTO spam_bursts (organization_id, hash, token, source_id, transfers) VALUES (?, '0x1', 'FREE', ?, 3)", s[0], s[1])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		const dealings = "SELECT organization_id || ' ' || shown || ' ' || name FROM spam_dealings ORDER BY organization_id"
		const bursts = "SELECT organization_id || ' ' || hash || ' ' || token || ' ' || CAST(transfers AS TEXT) FROM spam_bursts " +
			"ORDER BY organization_id"
		expect := func(ctx context.Context, tx *db.Tx, query string, want ...string) {
			t.Helper()
			got, err := db.All[string](ctx, tx, query)
			slices.Sort(want)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, want %v: %v", got, want, err)
			}
		}
		dbtest.MigrateDown(t.Context(), t, d, version, func(ctx context.Context, tx *db.Tx) error {
			expect(ctx, tx, dealings, one+" 0xab…cd 0xabcd", two+" 0xab…cd 0xabcd")
			expect(ctx, tx, bursts, one+" 0x1 FREE 6", two+" 0x1 FREE 6")
			return nil
		})
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = dbtest.Open(t, c)
		err = d.ReadAcross(t.Context(), "a test of a migration", func(ctx context.Context, tx *db.Tx) error {
			expect(ctx, tx, strings.Replace(dealings, "|| name", "|| name || ' ' || source_id", 1), one+" 0xab…cd 0xabcd src_1",
				two+" 0xab…cd 0xabcd ")
			expect(ctx, tx, strings.Replace(bursts, "AS TEXT)", "AS TEXT) || ' ' || source_id", 1), one+" 0x1 FREE 6 src_1",
				two+" 0x1 FREE 6 ")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// The migration that stores what providers state about invoices computes it from what is due and what was applied without their knowledge.
func TestWhatProvidersStateAboutInvoicesIsComputedByAMigration(t *testing.T) {
	t.Parallel()
	const version = 57
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		d := dbtest.Open(t, c)
		org := newOrganization(t, d, "one")
		err := d.WriteAcross(t.Context(), "a test of a migration", func(ctx context.Context, tx *db.Tx) error {
			for n, i := range []struct {
				status, due, applied, application, processor string
				reported                                     *time.Time
				external                                     *string
			}{{"open", "40.5", "59.5", "applied", "pending", nil, new("in_0")}, {"paid", "0", "100", "confirmed", "pending", nil, new("in_1")},
				{"paid", "0", "100", "confirmed", "failed", nil, new("in_2")},
				{"open", "40", "60", "confirmed", "marked_paid", new(tx.Now()), new("in_3")},
				{"open", "100", "60", "voided", "failed", nil, new("in_4")}, {"open", "40", "60", "applied", "not_applicable", nil, nil}} {
				id := fmt.Sprint(n)
				for _, s := range []struct {
					text string
					args []any
				}{{`INSERT INTO invoices (organization_id, invoice_id, provider, external_id, invoice_number, customer_id, status, currency,
					invoice_date, due_date, subtotal, tax, total, amount_due, created_at)
					VALUES (?, ?, 'stripe', ?, ?, 'cus', ?, 'USD', ?, ?, '100', '0', '100', ?, ?)`,
					[]any{org, id, i.external, id, i.status, tx.Now(), tx.Now(), i.due, tx.Now()}},
					{`INSERT INTO cash_applications (organization_id, cash_application_id, legal_entity_id, deposit_transaction_id, status, match_type,
					currency, total_amount, applied_amount, written_off_amount, unapplied_amount, available_amount, txn_date, stripe_status, revision,
					created_at) VALUES (?, ?, 'le', ?, ?, 'exact', 'USD', ?, ?, '0', '0', '0', ?, ?, 1, ?)`,
						[]any{org, id, id, i.application, i.applied, i.applied, tx.Now(), i.processor, tx.Now()}},
					{`INSERT INTO cash_application_allocations (organization_id, cash_application_id, position, invoice_id, customer_id, amount,
					reported_at) VALUES (?, ?, 0, ?, 'cus', ?, ?)`, []any{org, id, id, i.applied, i.reported}}} {
					if _, err := tx.Exec(ctx, s.text, s.args...); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		dbtest.MigrateDown(t.Context(), t, d, version, func(context.Context, *db.Tx) error { return nil })
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = dbtest.Open(t, c)
		err = d.ReadAcross(t.Context(), "a test of a migration", func(ctx context.Context, tx *db.Tx) error {
			got, err := db.All[string](ctx, tx, `SELECT i.invoice_id || ' ' || coalesce(i.stated_status, '-') || ' ' ||
				coalesce(CAST(i.stated_amount_due AS TEXT), '-') || ' ' || coalesce(CAST(l.attempted_amount AS TEXT), '-')
				FROM invoices i JOIN cash_application_allocations l ON l.invoice_id = i.invoice_id ORDER BY i.invoice_id`)
			want := []string{"0 open 100 -", "1 open 100 -", "2 paid 0 -", "3 open 40 60", "4 open 100 -", "5 - - -"}
			for n := range got {
				got[n] = strings.Replace(got[n], " 100.0 ", " 100 ", 1) // PostgreSQL keeps the digits of what it adds
			}
			if err == nil && !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
