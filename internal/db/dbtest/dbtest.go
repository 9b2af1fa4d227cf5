// Package dbtest provides each test with its own database on each engine. A database is a copy of one that is migrated
// once per run, so that it takes only milliseconds to create.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest/pgcluster"
)

// urlVariable is the environment variable with the address of the PostgreSQL cluster in which tests create databases;
// make test and with-postgres set it.
const urlVariable = "BURSAR_TEST_DATABASE_URL"

// folderVariable is the environment variable with the folder for the files of SQLite; with-postgres sets it to one in memory if there
// is room, where tests need not wait for the disk.
const folderVariable = "BURSAR_TEST_FOLDER"

// Tests use less time and more memory than the program does.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(1 << 30)
}

// Each runs a test on SQLite and on PostgreSQL, in parallel, each with an empty database of its own.
func Each(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	EachConfig(t, func(t *testing.T, c db.Config) {
		test(t, Open(t, c))
	})
}

// EachConfig is Each for a test that opens its database itself, perhaps more than once.
func EachConfig(t *testing.T, test func(t *testing.T, c db.Config)) {
	t.Helper()
	for engine, config := range map[db.Engine]func(testing.TB) db.Config{db.SQLite: SQLite, db.Postgres: Postgres} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			test(t, config(t))
		})
	}
}

// EachInSoak is EachConfig for a test that takes long and whose parts are tested on both engines elsewhere: in an ordinary run it runs on
// SQLite only. Its name begins with TestSoak, so that "make soak" runs it on both.
func EachInSoak(t *testing.T, test func(t *testing.T, c db.Config)) {
	t.Helper()
	if Soaking() {
		EachConfig(t, test)
		return
	}
	test(t, SQLite(t))
}

// EachSampled is EachConfig for the tests of a package that has many of one kind: an ordinary run tests one in two of them, chosen by their
// names, on PostgreSQL too, where a test takes longer. "make soak" tests all of them on both engines.
func EachSampled(t *testing.T, test func(t *testing.T, c db.Config)) {
	t.Helper()
	if InSample(t.Name(), 2) {
		EachConfig(t, test)
		return
	}
	t.Run(string(db.SQLite), func(t *testing.T) { test(t, SQLite(t)) })
}

// InSample reports whether something belongs to the sample of one in n that an ordinary run tests. "make soak" tests all.
func InSample(name string, n uint32) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return Soaking() || sum.Sum32()%n == 0
}

// Open opens a database for as long as the test runs.
func Open(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	// Almost every database is a copy of one that is up to date, and to prepare it again would take longer than many a test.
	if d.Attach(context.Background()) == nil {
		return d
	}
	if err := d.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	return d
}

// OpenPrepared opens a database as the program does at its start, for tests of what is done then.
func OpenPrepared(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d := Open(t, c)
	if err := d.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	return d
}

// sqliteTemplate returns the content of a migrated file. The test processes of one run share it.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	digest, err := db.SchemaDigest()
	if err != nil {
		return nil, err
	}
	folder := os.Getenv(folderVariable)
	shared := filepath.Join(folder, "template-"+digest+".db")
	if folder != "" {
		if content, err := os.ReadFile(shared); err == nil {
			return content, nil
		}
	}
	dir, err := os.MkdirTemp(folder, "bursar-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := migrate(db.Config{Dir: dir}); err != nil {
		return nil, err
	}
	own := filepath.Join(dir, db.File)
	content, err := os.ReadFile(own)
	if err != nil || folder == "" {
		return content, err
	}
	return content, os.Rename(own, shared)
})

// SQLite returns the configuration of a new SQLite database.
func SQLite(t testing.TB) db.Config {
	t.Helper()
	template, err := sqliteTemplate()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(os.Getenv(folderVariable), "bursar-sqlite-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, db.File), template, 0o600); err != nil {
		t.Fatal(err)
	}
	return db.Config{Dir: dir}
}

// postgresTemplate returns the name of a migrated database that others are copied from. The test processes of one run share it.
var postgresTemplate = sync.OnceValues(func() (name string, err error) {
	digest, err := db.SchemaDigest()
	if err != nil {
		return "", err
	}
	name = "bursar_template_" + digest
	err = exclusively(func(ctx context.Context, c *sql.Conn) error {
		var exists bool
		row := c.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name)
		if err := row.Scan(&exists); err != nil || exists {
			return err
		}
		unfinished := randomName("unfinished")
		if err := pgcluster.CreateDatabase(ctx, c, unfinished, ""); err != nil {
			return err
		}
		address := databaseURL(unfinished)
		if err := pgcluster.SearchByIndex(ctx, AdminURL(address)); err != nil {
			return err
		}
		if err := migrate(db.Config{URL: address, MaxConns: 2}); err != nil {
			return err
		}
		return execute(ctx, c, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	})
	return name, err
})

// exclusively runs a function on a connection to the cluster while no other test process does: PostgreSQL refuses to copy a database
// twice at the same time.
func exclusively(fn func(context.Context, *sql.Conn) error) error {
	pool, err := adminPool()
	if err != nil {
		return err
	}
	ctx := context.Background()
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	const lock = "(7021)"
	if err := execute(ctx, c, "SELECT pg_advisory_lock"+lock); err != nil {
		return err
	}
	return errors.Join(fn(ctx, c), execute(ctx, c, "SELECT pg_advisory_unlock"+lock))
}

func execute(ctx context.Context, c *sql.Conn, statement string) error {
	if _, err := c.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// connsMax is enough for a test's own concurrency while many tests share one cluster.
const connsMax = 8

// Postgres returns the configuration of a new PostgreSQL database, which is dropped when the test ends.
func Postgres(t testing.TB) db.Config {
	t.Helper()
	requireCluster(t)
	template, err := postgresTemplate()
	if err != nil {
		t.Fatal(err)
	}
	return create(t, "TEMPLATE "+template+" STRATEGY file_copy")
}

// EmptyPostgres returns the configuration of a new PostgreSQL database without a schema.
func EmptyPostgres(t *testing.T) db.Config {
	t.Helper()
	requireCluster(t)
	return create(t, "")
}

func requireCluster(t testing.TB) {
	t.Helper()
	if os.Getenv(urlVariable) == "" {
		t.Fatalf("%s is not set: run `make test`, or `go run ./internal/db/dbtest/with-postgres -- go test ./...`", urlVariable)
	}
}

func create(t testing.TB, options string) db.Config {
	t.Helper()
	name := randomName("test")
	err := exclusively(func(ctx context.Context, c *sql.Conn) error { return pgcluster.CreateDatabase(ctx, c, name, options) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin("DROP DATABASE " + name + " WITH (FORCE)") })
	return db.Config{URL: databaseURL(name), MaxConns: connsMax}
}

func migrate(c db.Config) error {
	d, err := db.Open(c)
	if err != nil {
		return err
	}
	if err := d.Prepare(context.Background()); err != nil {
		return err
	}
	return d.Close()
}

// adminPool returns a connection pool to the cluster's own database.
var adminPool = sync.OnceValues(func() (*sql.DB, error) {
	pool, err := sql.Open("pgx", os.Getenv(urlVariable))
	if err == nil {
		pool.SetMaxOpenConns(2)
	}
	return pool, err
})

func admin(statement string) error {
	pool, err := adminPool()
	if err != nil {
		return err
	}
	if _, err := pool.ExecContext(context.Background(), statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func randomName(kind string) string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return "bursar_" + kind + "_" + hex.EncodeToString(b)
}

// databaseURL returns the address of a database for an ordinary role that owns it, as the service has in production.
func databaseURL(name string) string { return pgcluster.ServiceURL(os.Getenv(urlVariable), name) }

// AdminURL returns the address of a test's database for a superuser, whom row-level security does not concern.
func AdminURL(address string) string { return pgcluster.AdminURL(os.Getenv(urlVariable), address) }

// ErrUndo is returned by a write that should be rolled back.
var ErrUndo = errors.New("dbtest: undo this")

// Damage verifies that data is sound, damages it by a statement, and returns what verify finds then.
func Damage(ctx context.Context, t *testing.T, tx *db.Tx, verify func(context.Context, *db.Tx) ([]string, error), statement string,
	args ...any) []string {
	t.Helper()
	if found, err := verify(ctx, tx); err != nil || len(found) != 0 {
		t.Errorf("before the damage: %v %v", found, err)
	}
	if n, err := tx.Exec(ctx, statement, args...); err != nil || n == 0 {
		t.Errorf("%s did nothing: %v", statement, err)
	}
	found, err := verify(ctx, tx)
	if err != nil {
		t.Error(err)
	}
	return found
}

// ExecUnchecked runs a statement on a connection of its own that does not enforce foreign keys.
func ExecUnchecked(t testing.TB, c db.Config, statement string) {
	t.Helper()
	if c.URL != "" {
		if err := pgcluster.ExecAt(t.Context(), AdminURL(c.URL), "SET session_replication_role = replica; "+statement); err != nil {
			t.Fatal(err)
		}
		return
	}
	pool, err := sql.Open("sqlite", filepath.Join(c.Dir, db.File))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
