package customer

import (
	"context"
	"reflect"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService returns a Service.
func NewService(d *db.DB) *Service { return &Service{d} }

// Filter narrows a list; empty fields do not. Search is looked for anywhere in a name, regardless of case.
type Filter struct {
	Search     string
	ExternalID string
	Archived   *bool
}

// List returns a page of customers in the order of their creation.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Customer], error) {
	key := func(c Customer) string { return c.ID }
	return page.ListByKey("customers", f, p, "", key, func(above string, limit int) (rows []Customer, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, f, above, limit)
			return err
		})
		return rows, err
	})
}

// Get returns a customer.
func (s *Service) Get(ctx context.Context, customerID string) (c Customer, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err = find(ctx, tx, customerID)
		return err
	})
	return c, err
}

// Create creates a customer.
func (s *Service) Create(ctx context.Context, p CreateParams) (c Customer, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		c, err = create(ctx, tx, p.customer())
		return err
	})
	return c, err
}

// CreateInTx is Create in the caller's transaction.
func CreateInTx(ctx context.Context, tx *db.Tx, p CreateParams) (Customer, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return Customer{}, err
	}
	return create(ctx, tx, p.customer())
}

// create resolves and stores a new customer. The caller holds the lock on the organization state.
func create(ctx context.Context, tx *db.Tx, c Customer) (Customer, error) {
	c, err := resolve(ctx, tx, c)
	if err != nil {
		return c, err
	}
	c.ID, c.CreatedAt = tx.NewID(id.Customer), tx.Now()
	if err := insert(ctx, tx, c); err != nil {
		return c, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "customer.created", ResourceType: noun, ResourceID: c.ID, After: c.facts(), Object: c})
	return c, nil
}

// Update changes a customer. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, customerID string, p UpdateParams) (Customer, error) {
	return s.change(ctx, customerID, "customer.updated", func(ctx context.Context, tx *db.Tx, c Customer) (Customer, error) {
		return resolve(ctx, tx, p.apply(c))
	})
}

// Archive archives a customer: it gets no new invoices. Archiving an archived customer changes nothing.
func (s *Service) Archive(ctx context.Context, customerID string) (Customer, error) {
	return s.change(ctx, customerID, "customer.archived", func(_ context.Context, tx *db.Tx, c Customer) (Customer, error) {
		if !c.Archived() {
			now := tx.Now()
			c.ArchivedAt = &now
		}
		return c, nil
	})
}

// Unarchive undoes Archive.
func (s *Service) Unarchive(ctx context.Context, customerID string) (Customer, error) {
	return s.change(ctx, customerID, "customer.unarchived", func(_ context.Context, _ *db.Tx, c Customer) (Customer, error) {
		c.ArchivedAt = nil
		return c, nil
	})
}

// change runs a use case on a customer while it holds the lock on the organization state, and stores what it returns if that differs.
func (s *Service) change(ctx context.Context, customerID, action string,
	do func(ctx context.Context, tx *db.Tx, c Customer) (Customer, error)) (after Customer, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := find(ctx, tx, customerID)
		if err != nil {
			return err
		}
		if after, err = do(ctx, tx, before); err != nil {
			return err
		}
		after, err = save(ctx, tx, action, before, after)
		return err
	})
	return after, err
}

// save stores a changed customer and records the change. It writes nothing if nothing changes.
func save(ctx context.Context, tx *db.Tx, action string, before, after Customer) (Customer, error) {
	if reflect.DeepEqual(after, before) {
		return after, nil
	}
	now := tx.Now()
	after.UpdatedAt = &now
	if err := update(ctx, tx, after); err != nil {
		return after, err
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return after, nil
}

// Delete deletes a customer that nothing refers to.
func (s *Service) Delete(ctx context.Context, customerID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		c, err := find(ctx, tx, customerID)
		if err != nil {
			return err
		}
		uses, err := reference.To(ctx, tx, table, customerID)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			return fault.Conflictf("the customer %s cannot be deleted, because it is used by %s: archive it instead with "+
				"POST /v1/customers/%s/archive", c.Name, uses, c.ID)
		}
		if err := reference.DeleteDependents(ctx, tx, table, customerID); err != nil {
			return err
		}
		if err := remove(ctx, tx, customerID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "customer.deleted", ResourceType: noun, ResourceID: customerID, Before: c.facts()})
		return nil
	})
}

// EnsureReferenced returns the customer with an id at a provider, and creates it if there is none, without an email address that is not
// valid. It runs in the caller's transaction.
func EnsureReferenced(ctx context.Context, tx *db.Tx, r Reference, name, email string) (Customer, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return Customer{}, err
	}
	found, err := selectByReference(ctx, tx, r)
	switch {
	case err != nil:
		return Customer{}, err
	case len(found) > 0:
		return find(ctx, tx, found[0])
	}
	if !isEmail(email) {
		email = ""
	}
	return create(ctx, tx, CreateParams{Name: name, Email: email, References: []Reference{r}}.customer())
}

// Stated is what a provider states about a customer.
type Stated struct {
	Name, Email string
}

// FollowReferenced gives the customer with an id at a provider the name and the email address that the provider states now, each only if
// the customer has the one that the provider stated before: what was changed here stays. It runs in the caller's transaction.
func FollowReferenced(ctx context.Context, tx *db.Tx, r Reference, before, now Stated) error {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return err
	}
	found, err := selectByReference(ctx, tx, r)
	if err != nil || len(found) == 0 {
		return err
	}
	c, err := find(ctx, tx, found[0])
	if err != nil {
		return err
	}
	for _, email := range []*string{&before.Email, &now.Email} {
		if !isEmail(*email) {
			*email = ""
		}
	}
	changed := c
	if c.Name == before.Name {
		changed.Name = now.Name
	}
	if c.Email == before.Email {
		changed.Email = now.Email
	}
	if changed, err = resolve(ctx, tx, changed); err != nil {
		return err
	}
	_, err = save(ctx, tx, "customer.updated", c, changed)
	return err
}
