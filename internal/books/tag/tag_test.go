package tag_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func found(t *testing.T, d *db.DB) (context.Context, string) {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID}), f.Organization.ID
}

func TestEnsureFindsATagOrMakesItOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, organizationID := found(t, d)
		ensure := func(kind tag.Kind, name string) (made tag.Tag, version int64, err error) {
			err = d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
				if made, err = tag.Ensure(ctx, tx, kind, name); err != nil {
					return err
				}
				state, err := orgstate.Lock(ctx, tx)
				if err == nil {
					version = state.BooksVersion
				}
				return err
			})
			return made, version, err
		}
		var wg sync.WaitGroup
		ids := make([]string, 16)
		for i := range ids {
			wg.Go(func() {
				made, _, err := ensure(tag.Supplier, " Acme ")
				if ids[i] = made.ID; err != nil || made.Name != "Acme" || made.Kind != tag.Supplier {
					t.Errorf("%+v %v", made, err)
				}
			})
		}
		wg.Wait()
		if slices.Sort(ids); ids[0] != ids[15] || ids[0] == "" {
			t.Errorf("one name, several tags: %v", ids)
		}
		_, before, err := ensure(tag.Supplier, "Acme")
		if err != nil {
			t.Fatal(err)
		}
		other, after, err := ensure(tag.Customer, "Acme")
		if err != nil || other.ID == ids[0] || after != before+1 {
			t.Errorf("%+v %v, version %d became %d", other, err, before, after)
		}
		if _, same, err := ensure(tag.Customer, "Acme"); err != nil || same != after {
			t.Errorf("finding one raised the version from %d to %d: %v", after, same, err)
		}
		for _, bad := range []struct {
			kind tag.Kind
			name string
		}{{tag.Supplier, " "}, {tag.Supplier, strings.Repeat("x", 101)}, {"vendor", "x"}} {
			if _, _, err := ensure(bad.kind, bad.name); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%v: %v", bad, err)
			}
		}
		err = d.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			all, err := tag.All(ctx, tx)
			if len(all) != 2 || all[0].ID > all[1].ID {
				t.Errorf("%+v", all)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestEveryChangeOfATagRaisesTheVersionOfTheBooks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, organizationID := found(t, d)
		s := tag.NewService(d)
		before := int64(0)
		raised := func(what string, err error) {
			t.Helper()
			_ = d.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
				state, failed := orgstate.Read(ctx, tx)
				if err != nil || failed != nil || state.BooksVersion <= before {
					t.Errorf("%s: %d became %d, %v %v", what, before, state.BooksVersion, err, failed)
				}
				before = state.BooksVersion
				return nil
			})
		}
		raised("nothing", nil)
		made, err := s.Create(ctx, tag.Project, "x")
		raised("create", err)
		_, err = s.Update(ctx, made.ID, tag.UpdateParams{Name: new("y")})
		raised("update", err)
		raised("delete", s.Delete(ctx, made.ID))
	})
}

func TestVerifyReportsEveryKindOfDamage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for statement, says := range map[string]string{
			"UPDATE tags SET name = ' x' WHERE organization_id = @org AND tag_id = ?":     "its name or kind",
			"UPDATE tags SET kind = 'vendor' WHERE organization_id = @org AND tag_id = ?": "its name or kind",
			"DELETE FROM tags WHERE organization_id = @org AND tag_id = ?":                "journal_tags: the tag",
		} {
			ctx, organizationID := found(t, d)
			err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
				made, err := tag.Ensure(ctx, tx, tag.Custom, "x")
				if err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, "INSERT INTO journal_tags (organization_id, tag_id, journal_entry_id, accounting_date, number) "+
					"VALUES (@org, ?, 'je_x', ?, 1)", made.ID, tx.Now()); err != nil {
					return err
				}
				if found := dbtest.Damage(ctx, t, tx, tag.Verify, statement, made.ID); len(found) != 1 || !strings.Contains(found[0], says) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept")
			}
		}
	})
}
