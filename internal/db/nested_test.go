package db_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

var errRefused = errors.New("refused")

// names returns the names of an organization's tags, in order.
func names(t *testing.T, d *db.DB, org string) []string {
	t.Helper()
	var out []string
	for _, m := range marksOf(t, d, org) {
		out = append(out, m.Name)
	}
	slices.Sort(out)
	return out
}

// insertTag writes a tag as an ordinary write does.
func insertTag(ctx context.Context, tx *db.Tx, name string) error {
	tx.Recorded()
	return db.Insert(ctx, tx, "tags", mark{"tag_" + name, name, "custom", tx.Now()})
}

func TestANestedWriteIsPartOfTheOuterOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "before")
		for name, outerErr := range map[string]error{"kept": nil, "rolled back": errRefused} {
			err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
				if err := insertTag(ctx, tx, name+" outer"); err != nil {
					return err
				}
				if err := d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
					return insertTag(ctx, tx, name+" inner")
				}); err != nil {
					return err
				}
				return outerErr
			})
			if !errors.Is(err, outerErr) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := names(t, d, org); !slices.Equal(got, []string{"kept inner", "kept outer"}) {
			t.Errorf("%v", got)
		}
		err := d.Write(t.Context(), org, func(ctx context.Context, _ *db.Tx) error {
			return d.Write(ctx, newOrganizationID(d), func(context.Context, *db.Tx) error { return nil })
		})
		if err == nil {
			t.Error("a transaction of another organization was joined")
		}
	})
}

func TestAnErrorThatAsksForARetryCannotBeHandled(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		runs := 0
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			runs++
			_ = d.Write(ctx, org, func(context.Context, *db.Tx) error {
				if runs == 1 {
					return db.ErrRetry
				}
				return nil
			})
			return insertTag(ctx, tx, "outer")
		})
		if d.Engine() == db.Postgres && (err != nil || runs != 2) || d.Engine() == db.SQLite && !errors.Is(err, db.ErrRetry) {
			t.Errorf("%d runs, %v", runs, err)
		}
	})
}

func TestAStatementThatFailedIsNotOverlooked(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t)) // on SQLite a transaction continues after a statement that failed
	org := newOrganization(t, d, "x")
	err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
		if err := insertTag(ctx, tx, "lost"); err != nil {
			return err
		}
		_, _ = db.All[string](ctx, tx, "SELECT nothing FROM tags WHERE organization_id = @org")
		return nil
	})
	if got := names(t, d, org); err == nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAWriteThatIgnoresTheErrorOfANestedOneIsNotCommitted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		for name, write := range map[string]func(context.Context, string, db.Func) error{"ordinary": d.Write, "grouped": d.GroupWrite} {
			for kind, inner := range map[string]db.Func{
				"error": func(context.Context, *db.Tx) error { return fault.Conflictf("refused") },
				"panic": func(context.Context, *db.Tx) error { panic("refused") },
			} {
				err := write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
					if _, err := number(ctx, tx, name); err != nil {
						return err
					}
					func() {
						defer func() { _ = recover() }()
						_ = d.Write(ctx, org, inner)
					}()
					return nil
				})
				if err == nil || !strings.Contains(err.Error(), "did not return its error") || fault.KindOf(err) == fault.Conflict {
					t.Errorf("%s, %s: %v", name, kind, err)
				}
			}
		}
		if got := names(t, d, org); len(got) != 0 {
			t.Errorf("%v", got)
		}
	})
}

func TestAGroupedWriteCannotIgnoreAPreconditionOfANestedOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		runs := 0
		err := d.GroupWrite(t.Context(), org, func(ctx context.Context, _ *db.Tx) error {
			runs++
			_ = d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
				if runs > 1 {
					return nil
				}
				return tx.Group().Precondition(ctx, func(ctx context.Context, tx *db.Tx) error { return insertTag(ctx, tx, "first") })
			})
			return nil
		})
		if got := names(t, d, org); err != nil || runs != 2 || !slices.Equal(got, []string{"first"}) {
			t.Errorf("%d runs, %v, %v", runs, got, err)
		}
	})
}
