package dbtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// failer is the part of a test, or of one with random input, that fails it.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// MigrateDown brings the schema back to what it was before a migration, by the Down statements of that and all later ones, and then runs
// fn. The program cannot be used in that state, because it reads columns of later migrations: db.DB.Prepare migrates the database again.
func MigrateDown(ctx context.Context, t failer, d *db.DB, version int, fn db.Func) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "internal/db/migrations/*.sql"))
	first := slices.IndexFunc(files, func(file string) bool { return filepath.Base(file) >= fmt.Sprintf("%05d", version) })
	if err != nil || first < 0 {
		t.Fatalf("there is no migration %d among %d, %v", version, len(files), err)
	}
	other := map[db.Engine]string{db.SQLite: "{postgres}", db.Postgres: "{sqlite}"}[d.Engine()]
	err = d.WriteAcross(ctx, "a test goes back to an earlier version", func(ctx context.Context, tx *db.Tx) error {
		for _, file := range slices.Backward(files[first:]) {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			_, down, found := strings.Cut(string(text), "-- +goose Down\n")
			if !found {
				return fmt.Errorf("%s has no Down statements", file)
			}
			for statement := range strings.SplitSeq(down, ";\n") {
				statement = strings.TrimSpace(statement)
				if statement == "" || strings.HasPrefix(statement, other) {
					continue
				}
				if _, err := tx.Exec(ctx, strings.NewReplacer("{sqlite}", "", "{postgres}", "").Replace(statement)); err != nil {
					return err
				}
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM goose_db_version WHERE version_id >= ?", version); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// root returns the folder of the module, which tests run below.
func root(t failer) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if up := filepath.Dir(dir); up != dir {
			dir, err = up, nil
		}
	}
	t.Fatal(err)
	return ""
}
