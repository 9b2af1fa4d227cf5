package db_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// secretValue is a value that must appear in no error and no log line.
const secretValue = "a-secret-value"

func TestAnErrorOfTheDatabaseNamesItsStatementAndNoValue(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "mine")
		noSuchColumn := `SELECT name
			FROM organizations WHERE organization_id = @org AND no_such_column = ?`
		bodies := map[string]db.Func{
			"query": func(ctx context.Context, tx *db.Tx) error {
				_, err := db.All[string](ctx, tx, noSuchColumn, secretValue)
				return err
			},
			"exec": func(ctx context.Context, tx *db.Tx) error {
				tx.Recorded()
				_, err := tx.Exec(ctx, "UPDATE organizations SET no_such_column = ? WHERE organization_id = @org", secretValue)
				return err
			},
			"put": func(ctx context.Context, tx *db.Tx) error {
				tx.Recorded()
				return tx.Queue(ctx, "UPDATE organizations SET no_such_column = ? WHERE organization_id = @org", secretValue)
			},
			"put, and then another statement": func(ctx context.Context, tx *db.Tx) error {
				tx.Recorded()
				err := tx.Queue(ctx, "UPDATE organizations SET no_such_column = ? WHERE organization_id = @org", secretValue)
				if err != nil {
					return err
				}
				_, err = db.All[string](ctx, tx, "SELECT name FROM organizations WHERE organization_id = @org")
				return err
			},
		}
		for name, body := range bodies {
			err := d.Write(t.Context(), org, body)
			var named *db.StatementError
			if !errors.As(err, &named) {
				t.Errorf("%s: the error names no statement: %v", name, err)
				continue
			}
			if !strings.Contains(err.Error(), "no_such_column = ") || strings.Count(err.Error(), "[statement: ") != 1 ||
				strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), secretValue) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestALongStatementIsShortenedInAnError(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "mine")
		long := "SELECT name FROM organizations WHERE organization_id = @org AND no_such_column = '" + strings.Repeat("ö", 5000) + "'"
		err := d.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.All[string](ctx, tx, long)
			return err
		})
		var named *db.StatementError
		if !errors.As(err, &named) || len(named.Statement) > 210 || !strings.HasPrefix(named.Statement, "SELECT name FROM") ||
			!strings.HasSuffix(named.Statement, "ö'") || !utf8.ValidString(named.Statement) {
			t.Errorf("%v", err)
		}
	})
}

func TestADuplicateIsRecognizedInAStatementError(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "mine")
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded()
			return db.Insert(ctx, tx, "organizations", organizationRow{"again", "UTC", "hr24", tx.Now()})
		})
		if !db.IsDuplicate(err) || !strings.Contains(err.Error(), "[statement: INSERT INTO organizations") {
			t.Errorf("%v", err)
		}
	})
}

// logged collects log lines that several goroutines write.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// lines returns the lines of slow statements.
func (l *logged) lines(t *testing.T) (out []slowLine) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(l.b.String(), secretValue) {
		t.Error("the log shows a value")
	}
	for line := range strings.Lines(l.b.String()) {
		var s slowLine
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		if s.Msg == "slow statement" {
			out = append(out, s)
		}
	}
	return out
}

type slowLine struct {
	Msg, Level, Statement string
	Took                  time.Duration
	Rows                  int64
	OrganizationID        string `json:"organization_id"`
}

func TestASlowStatementIsLoggedWithItsDurationRowsAndOrganization(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		var log logged
		c.Log, c.SlowStatement = slog.New(slog.NewJSONHandler(&log, nil)), time.Nanosecond
		d := dbtest.Open(t, c)
		org := newOrganization(t, d, secretValue)
		if err := rename(d, org, secretValue+"-2"); err != nil {
			t.Fatal(err)
		}
		_ = nameOf(t, d, org)
		want := map[string]bool{"INSERT INTO organizations": false, "UPDATE organizations SET name": false,
			"SELECT name FROM organizations": false, "COMMIT": false}
		for _, l := range log.lines(t) {
			for begin := range want {
				if strings.HasPrefix(l.Statement, begin) && l.Took > 0 && l.Level == "WARN" &&
					(begin == "COMMIT" || l.Rows == 1 && l.OrganizationID == org) {
					want[begin] = true
				}
			}
		}
		for begin, found := range want {
			if !found {
				t.Errorf("%s is not in the log of slow statements: %+v", begin, log.lines(t))
			}
		}
	})
}

func TestWithoutAThresholdNoStatementIsLoggedAsSlow(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		var log logged
		c.Log, c.SlowStatement = slog.New(slog.NewJSONHandler(&log, nil)), 0
		_ = newOrganization(t, dbtest.Open(t, c), "mine")
		if lines := log.lines(t); len(lines) != 0 {
			t.Errorf("%+v", lines)
		}
	})
}

func TestAWriteThatRunsIsNotCutOffByItsDeadline(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t))
	org := newOrganization(t, d, "before")
	ctx, cancel := context.WithCancel(t.Context())
	err := d.Write(ctx, org, func(_ context.Context, tx *db.Tx) error {
		tx.Recorded()
		_, err := tx.Exec(context.Background(), "UPDATE organizations SET name = 'after' WHERE organization_id = @org")
		cancel() // the caller leaves before the commit
		return err
	})
	if err != nil || nameOf(t, d, org) != "after" {
		t.Errorf("%v, %s", err, nameOf(t, d, org))
	}
}

func TestMoreStatementsThanStayCompiledAreRunWhileOthersReadTheirRows(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	d := dbtest.Open(t, c)
	org := newOrganization(t, d, "x")
	const texts, readers = 700, 4 // more than the 512 that stay compiled
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for i := range texts {
				query := fmt.Sprintf("SELECT name FROM organizations WHERE organization_id = @org AND name <> '%d'", (i*(r+1))%texts)
				err := d.Read(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
					for range 2 {
						if _, err := db.All[string](ctx, tx, query); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := db.PreparedStatements(d); n > 512 || n < 400 {
		t.Errorf("%d statements stay compiled", n)
	}
	// A text that is new is compiled although many others came before it.
	fresh := "SELECT name FROM organizations WHERE organization_id = @org AND name <> 'fresh'"
	for range 2 {
		err := d.Read(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.All[string](ctx, tx, fresh)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !db.IsPrepared(d, "name <> 'fresh'") {
		t.Error("the cache is full of statements that nobody uses any more")
	}
}
