package db_test

import (
	"context"
	"strings"
	"sync"
	"testing"

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
