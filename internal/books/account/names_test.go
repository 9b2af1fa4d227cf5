package account_test

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestAnAccountNamedAfterALegalEntityHasAnotherNameForThoseWhoDoNotSeeIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other, err := entity.NewService(w.d).Create(w.ctx, entity.CreateParams{Name: "Secret", BaseCurrency: "USD"})
		if err != nil {
			t.Fatal(err)
		}
		var vault account.Account
		err = w.d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
			vault, err = account.Create(ctx, tx, account.CreateParams{Name: "Secret vault", Type: account.Asset, NamedAfter: other.ID})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		from, to := w.named("Due from Secret"), w.named("Due to Secret")
		as := func(legalEntityID string) context.Context {
			return actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{legalEntityID}})
		}
		for _, c := range []struct {
			id, name, role    string
			hidden, roleShown string
		}{
			{vault.ID, "Secret vault", "", "Account of another legal entity", ""},
			{from.ID, "Due from Secret", "due_from:" + other.ID, "Due from another legal entity", "due_from"},
			{to.ID, "Due to Secret", "due_to:" + other.ID, "Due to another legal entity", "due_to"},
		} {
			for ctx, want := range map[context.Context][2]string{
				w.ctx: {c.name, c.role}, as(other.ID): {c.name, c.role}, as(w.entity): {c.hidden, c.roleShown},
			} {
				if a, err := w.s.Get(ctx, c.id); err != nil || a.Name != want[0] || a.RoleFor(actor.From(ctx)) != want[1] {
					t.Errorf("%s: %q with the role %q, %v", c.name, a.Name, a.RoleFor(actor.From(ctx)), err)
				}
				err := w.d.Read(ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
					a, err := account.Get(ctx, tx, c.id)
					if a.String() != want[0] || a.Role != c.role { // roles are what the service finds accounts by
						t.Errorf("%s: a building block returns %s with the role %s", c.name, a, a.Role)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		for ctx, want := range map[context.Context]int{w.ctx: 3, as(other.ID): 3, as(w.entity): 0} {
			found, err := w.s.List(ctx, account.Filter{Search: "secret"}, page.Request{Limit: 10})
			if err != nil || len(found.Items) != want {
				t.Errorf("a search finds %d accounts, want %d, %v", len(found.Items), want, err)
			}
		}
	})
}
