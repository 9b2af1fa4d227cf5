package db_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// pragma runs a setting on SQLite's writer.
func pragma(t *testing.T, d *db.DB, text string) {
	t.Helper()
	err := d.WriteAcross(t.Context(), "a test limits the file", func(ctx context.Context, tx *db.Tx) error {
		_, err := db.All[int64](ctx, tx, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFullDatabaseIsUnavailableLosesNothingAndRecovers(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	org := newOrganization(t, d, "before")
	pragma(t, d, "PRAGMA max_page_count = 1") // SQLite uses the present size instead, so that no space is left
	var wg sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	for i := range 16 {
		wg.Go(func() {
			id := newOrganizationID(d)
			err := d.Write(context.Background(), id, func(ctx context.Context, tx *db.Tx) error {
				tx.Recorded()
				return db.Insert(ctx, tx, "organizations", organizationRow{strings.Repeat("x", 5000*i), "UTC", "hr24", tx.Now()})
			})
			if err == nil {
				mu.Lock()
				acknowledged[id] = true
				mu.Unlock()
			} else if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("a full database is %v: %v", fault.KindOf(err), err)
			}
		})
	}
	wg.Wait()
	if nameOf(t, d, org) != "before" || len(acknowledged) == 16 {
		t.Errorf("%d of 16 were acknowledged, so nothing was full", len(acknowledged))
	}
	pragma(t, d, "PRAGMA max_page_count = 1000000")
	for id := range acknowledged {
		_ = nameOf(t, d, id)
	}
	if err := rename(d, org, "after"); err != nil || nameOf(t, d, org) != "after" {
		t.Errorf("it did not recover: %v", err)
	}
}

func TestClosingWaitsForTheCurrentWriteAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		d, err := db.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		org := newOrganization(t, d, "before")
		var wg sync.WaitGroup
		results := make([]error, 50)
		for i := range results {
			wg.Go(func() { results[i] = rename(d, org, fmt.Sprint("after ", i)) })
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait() // nobody hangs
		again := dbtest.Open(t, c)
		name := nameOf(t, again, org)
		succeeded := name == "before"
		for i, err := range results {
			if name == fmt.Sprint("after ", i) {
				succeeded = true
				if err != nil && c.URL == "" {
					t.Errorf("write %d is there but was answered %v", i, err)
				}
			}
		}
		if !succeeded {
			t.Errorf("nobody wrote %q", name)
		}
	})
}

func TestABackupMadeDuringWritesIsACompleteDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	org := newOrganization(t, d, "before")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := rename(d, org, fmt.Sprint("while ", i)); err != nil {
				t.Error(err)
			}
		}
	})
	dir := t.TempDir()
	file := filepath.Join(dir, db.File)
	err := d.Backup(t.Context(), file)
	cancel()
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Backup(t.Context(), file); err == nil {
		t.Error("a file was overwritten")
	}
	if name := nameOf(t, dbtest.Open(t, db.Config{Dir: dir}), org); name != "before" && !strings.HasPrefix(name, "while ") {
		t.Errorf("the copy says %q", name)
	}
	if post := dbtest.Open(t, dbtest.Postgres(t)); post.Backup(t.Context(), filepath.Join(dir, "x")) == nil {
		t.Error("PostgreSQL was copied as a file")
	}
}

func TestAReadCannotWriteAndSeesOneMoment(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "before")
		err := d.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			first, err := db.One[string](ctx, tx, "organization", "SELECT name FROM organizations WHERE organization_id = @org")
			if err != nil {
				return err
			}
			if err := rename(d, org, "after"); err != nil {
				return err
			}
			second, err := db.One[string](ctx, tx, "organization", "SELECT name FROM organizations WHERE organization_id = @org")
			if first != "before" || second != "before" {
				t.Errorf("read %q, then %q", first, second)
			}
			if _, err := tx.Exec(ctx, "UPDATE organizations SET name = 'x' WHERE organization_id = @org"); err == nil {
				t.Error("a read wrote")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestCrossingOrganizationsNeedsAReasonAndAWriteAnOrganization(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		none := func(context.Context, *db.Tx) error { return nil }
		for name, err := range map[string]error{
			"write": d.Write(t.Context(), "", none), "read": d.Read(t.Context(), "", none), "one": d.ReadOne(t.Context(), "", none),
			"write across": d.WriteAcross(t.Context(), "", none), "read across": d.ReadAcross(t.Context(), "", none),
		} {
			if err == nil {
				t.Errorf("%s went through", name)
			}
		}
	})
}

func TestMoreReadersThanConnectionsDoNotWaitForThemselves(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		const readers = 40
		var busy, wg sync.WaitGroup
		busy.Add(8) // all connections are in use before any reader continues
		for i := range readers {
			wg.Go(func() {
				err := d.Read(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
					if i < 8 {
						busy.Done()
						busy.Wait()
					}
					// Each text is new, so that each would have to be compiled.
					_, err := db.All[string](ctx, tx, fmt.Sprintf("SELECT name FROM organizations WHERE organization_id = @org AND name <> '%d'", i))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}
