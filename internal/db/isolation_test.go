package db_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestEveryTableWithRowsOfOrganizationsHasRowLevelSecurity(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t))
	type table struct {
		Name     string  `db:"name"`
		Scoped   bool    `db:"scoped"`
		Isolated bool    `db:"isolated"`
		Policies int64   `db:"policies"`
		Policy   *string `db:"policy"`
		Check    *string `db:"checked"`
	}
	found := map[string]table{}
	for _, one := range catalog[table](t, d, `SELECT c.relname::text AS name, c.relrowsecurity AND c.relforcerowsecurity AS isolated,
		EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id') AS scoped,
		(SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive) AS policies,
		(SELECT min(pg_get_expr(p.polqual, p.polrelid)) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*') AS policy,
		(SELECT min(pg_get_expr(p.polwithcheck, p.polrelid)) FROM pg_policy p WHERE p.polrelid = c.oid) AS checked
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`) {
		found[one.Name] = one
		if one.Scoped && (!one.Isolated || one.Policies != 1 || one.Policy == nil || one.Check != nil ||
			!strings.Contains(*one.Policy, "bursar.organization")) {
			t.Errorf("%s has rows of organizations and is not isolated: %+v", one.Name, one)
		}
	}
	for _, declared := range db.Tables {
		if declared.Kind == db.Tenant && !found[declared.Name].Isolated {
			t.Errorf("the tenant table %s is not isolated", declared.Name)
		}
	}
}

func TestATableThatLostItsIsolationGetsItBackAtTheNextStart(t *testing.T) {
	t.Parallel()
	c := dbtest.Postgres(t)
	dbtest.ExecUnchecked(t, c, "ALTER TABLE members DISABLE ROW LEVEL SECURITY; DROP POLICY one_organization ON tags")
	d := dbtest.OpenPrepared(t, c)
	open := catalog[string](t, d, `SELECT c.relname::text FROM pg_class c WHERE c.relname IN ('members', 'tags') AND NOT (c.relrowsecurity
		AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid))`)
	if len(open) > 0 {
		t.Errorf("%v are not isolated", open)
	}
}

// The texts of statements that are not tied to @org. The gate refuses them; where it is told not to, PostgreSQL must hold.
const (
	readAllNames   = "SELECT name FROM organizations ORDER BY name"
	renameAll      = "UPDATE organizations SET name = 'taken'"
	deleteAll      = "DELETE FROM organization_state"
	insertForeign  = "INSERT INTO relays (organization_id, sequence) VALUES (?, 7)"
	moveToAnother  = "UPDATE organizations SET organization_id = ?"
	readAllByWrite = "UPDATE organizations SET name = name RETURNING name"
)

func TestRowLevelSecurityHoldsWhereTheGateIsOpen(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t))
	mine, other := newOrganization(t, d, "mine"), newOrganization(t, d, "other")
	err := d.Read(t.Context(), mine, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.All[string](ctx, tx, readAllNames)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "tied to @org") {
		t.Fatalf("the gate is open: %v", err)
	}
	for _, text := range []string{readAllNames, renameAll, deleteAll, insertForeign, moveToAnother, readAllByWrite} {
		db.OpenGateFor(d, text)
	}
	names := func(got *[]string) db.Func {
		return func(ctx context.Context, tx *db.Tx) (err error) {
			*got, err = db.All[string](ctx, tx, readAllNames)
			return err
		}
	}
	for range 3 { // on connections that others have used before
		for _, org := range []string{mine, other} {
			for name, read := range map[string]func(context.Context, string, db.Func) error{
				"read": d.Read, "read one": d.ReadOne, "write": d.Write, "write alone": d.WriteAlone, "group": d.GroupWrite,
			} {
				var got []string
				if err := read(t.Context(), org, names(&got)); err != nil || !slices.Equal(got, []string{nameOf(t, d, org)}) {
					t.Errorf("%s sees %v: %v", name, got, err)
				}
			}
		}
		var all []string
		if err := d.ReadAcross(t.Context(), "a test", names(&all)); err != nil || !slices.Equal(all, []string{"mine", "other"}) {
			t.Errorf("across organizations: %v %v", all, err)
		}
		var unbound int
		if err := d.Jobs().QueryRowContext(t.Context(), "SELECT count(*) FROM organizations").Scan(&unbound); err != nil || unbound != 0 {
			t.Errorf("a statement without an organization sees %d: %v", unbound, err)
		}
	}
	for text, args := range map[string][]any{renameAll: nil, readAllByWrite: nil, insertForeign: {other}, moveToAnother: {other}} {
		err := d.Write(t.Context(), mine, func(ctx context.Context, tx *db.Tx) error {
			n, err := tx.Exec(ctx, text, args...)
			if err == nil && (n != 1 || len(args) > 0) {
				t.Errorf("%s changed %d rows", text, n)
			}
			return errors.Join(err, dbtest.ErrUndo)
		})
		if refused := new(pgconn.PgError); len(args) > 0 && (!errors.As(err, &refused) || refused.Code != "42501") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := nameOf(t, d, other); got != "other" {
		t.Errorf("the other organization is now %q", got)
	}
}

func TestTheGroupCommitOfOneOrganizationCannotWriteToAnother(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t))
	mine, other := newOrganization(t, d, "mine"), newOrganization(t, d, "other")
	db.OpenGateFor(d, renameAll)
	err := d.GroupWrite(t.Context(), mine, func(_ context.Context, tx *db.Tx) error {
		tx.Recorded()
		tx.Group().BeforeCommit(func(ctx context.Context, tx *db.Tx) error { return tx.Queue(ctx, renameAll) })
		return nil
	})
	if err != nil || nameOf(t, d, mine) != "taken" || nameOf(t, d, other) != "other" {
		t.Errorf("%v: %q and %q", err, nameOf(t, d, mine), nameOf(t, d, other))
	}
}

func TestADatabaseWithDataIsIsolatedByAMigrationAndKeepsIt(t *testing.T) {
	t.Parallel()
	c := dbtest.Postgres(t)
	d := dbtest.Open(t, c)
	mine, other := newOrganization(t, d, "mine"), newOrganization(t, d, "other")
	for _, table := range db.Tables { // as an earlier version left it
		if table.Kind == db.Tenant || table.PerOrganization {
			dbtest.ExecUnchecked(t, c, "DROP POLICY one_organization ON "+table.Name+"; ALTER TABLE "+table.Name+
				" NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY")
		}
	}
	dbtest.MigrateDown(t.Context(), t, d, 34, func(context.Context, *db.Tx) error { return nil })
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = dbtest.Open(t, c)
	if nameOf(t, d, mine) != "mine" || nameOf(t, d, other) != "other" {
		t.Error("the data is not there")
	}
	db.OpenGateFor(d, readAllNames)
	err := d.Read(t.Context(), mine, func(ctx context.Context, tx *db.Tx) error {
		got, err := db.All[string](ctx, tx, readAllNames)
		if !slices.Equal(got, []string{"mine"}) {
			t.Errorf("%v", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestARoleThatRowLevelSecurityDoesNotApplyToIsWarnedOf(t *testing.T) {
	t.Parallel()
	ordinary := dbtest.Postgres(t)
	superuser := ordinary
	superuser.URL = dbtest.AdminURL(ordinary.URL)
	for want, c := range map[string]db.Config{"": ordinary, "it is a superuser": superuser} {
		var log bytes.Buffer
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		dbtest.OpenPrepared(t, c)
		if got := log.String(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("the log says %q, want %q", got, want)
		}
	}
}

func TestASearchOfTextsUsesItsIndexIfLikeIsLeakproof(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]db.Config{"leakproof": dbtest.Postgres(t), "not declared": dbtest.EmptyPostgres(t)} {
		var log bytes.Buffer
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		d := dbtest.Open(t, c)
		plan := ""
		err := d.ReadAcross(t.Context(), "no other index finds rows", func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.SQL().ExecContext(ctx, "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off"); err != nil {
				return err
			}
			lines, err := db.All[string](ctx, tx,
				"EXPLAIN SELECT number FROM transactions t WHERE t.search LIKE '%abc%' AND t.search LIKE '%def%'")
			plan = strings.Join(lines, "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		indexed := slices.ContainsFunc(strings.Split(plan, "\n"), func(line string) bool {
			return strings.Contains(line, "Index Cond") && strings.Contains(line, "search ~~")
		})
		const advice = `level=INFO msg="searching texts of transactions does not use its index`
		if leakproof := name == "leakproof"; indexed != leakproof || strings.Contains(log.String(), advice) == leakproof {
			t.Errorf("%s: the plan is\n%s\nand the log says %q", name, plan, log.String())
		}
	}
}

// A read without a transaction returns its values as one with a transaction does.
func TestAReadWithoutATransactionReturnsTheSameValues(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "mine")
		type row struct {
			Name    string  `db:"name"`
			Created string  `db:"created"`
			Firm    *string `db:"firm_organization_id"`
			Amount  string  `db:"amount"`
			Count   int64   `db:"n"`
			Is      bool    `db:"truth"`
			Bytes   []byte  `db:"bytes"`
		}
		decimal := map[db.Engine]string{db.SQLite: "TEXT", db.Postgres: "NUMERIC"}[d.Engine()]
		text := `SELECT name, CAST(created_at AS TEXT) AS created, firm_organization_id, CAST('1200.500' AS ` + decimal + `) AS amount,
			CAST(7 AS {integer}) AS n, 1 = 1 AS truth, CAST('x' AS {bytes}) AS bytes FROM organizations WHERE organization_id = @org AND name = ?`
		var got [2][]row
		for i, read := range []func(context.Context, string, db.Func) error{d.Read, d.ReadOne} {
			err := read(t.Context(), org, func(ctx context.Context, tx *db.Tx) (err error) {
				got[i], err = db.All[row](ctx, tx, text, "mine")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(got[0]) != 1 || len(got[1]) != 1 || got[0][0].Amount != "1200.500" || got[0][0].Created != got[1][0].Created ||
			got[0][0].Amount != got[1][0].Amount || got[1][0].Count != 7 || !got[1][0].Is || !bytes.Equal(got[0][0].Bytes, got[1][0].Bytes) ||
			got[1][0].Firm != nil {
			t.Errorf("%+v", got)
		}
		err := d.ReadOne(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.All[string](ctx, tx, "SELECT nothing FROM organizations WHERE organization_id = @org")
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Errorf("%v", err)
		}
		if err := d.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
