package db_test

import (
	"context"
	"errors"
	"slices"
	"testing"

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

// nestedFailures are the ways in which a nested write fails after it has written something.
func nestedFailures(d *db.DB, org string) map[string]db.Func {
	return map[string]db.Func{
		"queued": func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(insertTag(ctx, tx, "lost"), errRefused)
		},
		"sent": func(ctx context.Context, tx *db.Tx) error {
			if err := insertTag(ctx, tx, "lost"); err != nil {
				return err
			}
			n, err := tx.Exec(ctx, "UPDATE tags SET name = name || ' changed' WHERE organization_id = @org")
			if n != 2 {
				return errors.Join(err, errors.New("not both tags were there"))
			}
			return errRefused
		},
		"refused by the database": func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO tags (organization_id, tag_id, name, kind, created_at) VALUES (@org, 'tag_outer', 'x', 'custom', ?)",
				tx.Now())
			if !db.IsDuplicate(err) {
				return errors.Join(err, errors.New("no duplicate"))
			}
			return errRefused
		},
		"two levels": func(ctx context.Context, tx *db.Tx) error {
			if err := insertTag(ctx, tx, "lost"); err != nil {
				return err
			}
			_ = d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "DELETE FROM tags WHERE organization_id = @org")
				return errors.Join(err, errRefused)
			})
			found, err := db.All[string](ctx, tx, "SELECT name FROM tags WHERE organization_id = @org")
			if len(found) != 2 {
				return errors.Join(err, errors.New("the innermost write was not rolled back"))
			}
			return errRefused
		},
		"before it writes": func(ctx context.Context, tx *db.Tx) error {
			_, err := db.All[string](ctx, tx, "SELECT name FROM tags WHERE organization_id = @org")
			return errors.Join(err, errRefused)
		},
	}
}

func TestAnOuterWriteGoesOnAfterANestedOneFailedAndNothingOfThatIsLeft(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for name, inner := range nestedFailures(d, "") {
			org := newOrganization(t, d, name)
			if name == "two levels" {
				inner = nestedFailures(d, org)[name]
			}
			var order []string
			err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
				tx.AfterCommit(func() { order = append(order, "outer") })
				if err := insertTag(ctx, tx, "outer"); err != nil {
					return err
				}
				err := d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
					tx.AfterCommit(func() { order = append(order, "inner") })
					tx.Group().BeforeCommit(func(context.Context, *db.Tx) error { return errors.New("of a write that failed") })
					return inner(ctx, tx)
				})
				if !errors.Is(err, errRefused) || len(err.Error()) != len(errRefused.Error()) {
					t.Errorf("%s: the nested write returned %v", name, err)
				}
				return insertTag(ctx, tx, "later")
			})
			if got := names(t, d, org); err != nil || !slices.Equal(got, []string{"later", "outer"}) || !slices.Equal(order, []string{"outer"}) {
				t.Errorf("%s: %v, %v, %v", name, got, order, err)
			}
		}
	})
}

func TestANestedWriteThatPanicsIsRolledBackWhenTheOuterOneRecovers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			func() {
				defer func() {
					if p := recover(); p != "in a nested write" {
						t.Errorf("recovered %v", p)
					}
				}()
				_ = d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
					if err := insertTag(ctx, tx, "lost"); err != nil {
						return err
					}
					panic("in a nested write")
				})
			}()
			return insertTag(ctx, tx, "kept")
		})
		if got := names(t, d, org); err != nil || !slices.Equal(got, []string{"kept"}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestAnErrorThatAsksForARetryCannotBeHandledByTheOuterWrite(t *testing.T) {
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

func TestAStatementThatFailsOutsideANestedWriteIsNotOverlooked(t *testing.T) {
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

func TestInAGroupedWriteANestedFailureIsUndoneAndTheBodyGoesOn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			if _, err := number(ctx, tx, "outer"); err != nil {
				return err
			}
			err := d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
				_, err := number(ctx, tx, "lost")
				return errors.Join(err, errRefused)
			})
			if !errors.Is(err, errRefused) {
				t.Errorf("the nested write returned %v", err)
			}
			if place, err := number(ctx, tx, "later"); err != nil || place != 2 {
				t.Errorf("the number after the one that was rolled back is %d: %v", place, err)
			}
			return nil
		})
		if got := names(t, d, org); err != nil || !slices.Equal(got, []string{"later", "outer"}) {
			t.Errorf("%v, %v", got, err)
		}
		runs := 0
		err = d.GroupWrite(t.Context(), org, func(ctx context.Context, _ *db.Tx) error {
			runs++
			// The body ignores the error of the precondition; the group does not.
			_ = d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
				if runs > 1 {
					return nil
				}
				return tx.Group().Precondition(ctx, func(ctx context.Context, tx *db.Tx) error { return insertTag(ctx, tx, "first") })
			})
			return nil
		})
		if got := names(t, d, org); err != nil || runs != 2 || !slices.Equal(got, []string{"first", "later", "outer"}) {
			t.Errorf("%d runs, %v, %v", runs, got, err)
		}
	})
}

func TestStateReadInANestedWriteThatFailedIsReadAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		err := d.Write(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			err := d.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
				if err := insertTag(ctx, tx, "zzz"); err != nil {
					return err
				}
				place, err := number(ctx, tx, "lost")
				if err != nil || place != 2 {
					t.Errorf("%d %v", place, err)
				}
				return errRefused
			})
			if !errors.Is(err, errRefused) {
				t.Errorf("the nested write returned %v", err)
			}
			place, err := number(ctx, tx, "kept")
			if place != 1 {
				t.Errorf("the count of before the rollback was kept: %d", place)
			}
			return err
		})
		if got := names(t, d, org); err != nil || !slices.Equal(got, []string{"kept"}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
