package firm

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// Status says whether a firm works for a client.
type Status string

// The statuses.
const (
	Pending Status = "pending" // nobody has granted access yet
	Active  Status = "active"
	Ended   Status = "ended"
)

// Client is an organization that a firm works for, or wants to.
type Client struct {
	ID             string
	Name           string
	Email          string // of the person that requests go to
	OrganizationID string // empty until access was granted
	Status         Status
	CreatedBy      string
	CreatedAt      time.Time
	UpdatedAt      *time.Time
	EndedAt        *time.Time

	Role   actor.FirmRole // of the person who asks; empty if they have none
	People []Person       // who works for the client, by user id
}

// Person is somebody of the firm who works for a client.
type Person struct {
	UserID string
	Email  string
	Name   string
	Role   actor.FirmRole

	MemberSince time.Time // when the membership in the firm began to which the role was given
}

func (c Client) facts() map[string]any {
	return map[string]any{"id": c.ID, "name": c.Name, "email": c.Email, "organization_id": db.OrNull(c.OrganizationID), "status": c.Status,
		"ended_at": c.EndedAt}
}

const noun = "client"

// clientsMax bounds how many clients a firm may have that have not ended.
const clientsMax = 20_000

// CreateClientParams describe a client.
type CreateClientParams struct {
	Name  string
	Email string

	// Existing means that the client has books already, whose owner grants access. Otherwise new ones are created, with a legal entity of
	// this base currency, in this time zone.
	Existing     bool
	BaseCurrency string
	Timezone     string
}

func (p CreateClientParams) validate() error {
	var faults fault.List
	organization.ValidateName(&faults, "name", p.Name)
	if err := validateEmail(&faults, p.Email); err != nil {
		return err
	}
	for field, value := range map[string]string{"base_currency": p.BaseCurrency, "timezone": p.Timezone} {
		if p.Existing && value != "" {
			faults.Addf(field, "must be omitted for a client with existing books, which have their own")
		}
	}
	if !p.Existing {
		if !money.IsFiat(p.BaseCurrency) {
			faults.Addf("base_currency", "must be an ISO 4217 currency such as USD")
		}
		organization.ValidateZone(&faults, "timezone", p.Timezone)
	}
	return faults.Err()
}

func validateEmail(faults *fault.List, email string) error {
	_, err := access.NormalEmail(email)
	return faults.Merge(err)
}

// CreateClient adds a client to the actor's firm, and creates its books unless it has some. Whoever creates books becomes the partner for
// them.
func (s *Service) CreateClient(ctx context.Context, p CreateClientParams) (c Client, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		firm, err := RequireFirm(ctx, tx)
		if err != nil {
			return err
		}
		if err := p.validate(); err != nil {
			return err
		}
		switch n, err := countClients(ctx, tx); {
		case err != nil:
			return err
		case n >= clientsMax:
			return fault.Conflictf("the firm has %d clients, which is the maximum: end some first", n)
		}
		if c, err = insertNew(ctx, tx, p); err != nil || p.Existing {
			return err
		}
		me, err := access.FindMember(ctx, tx, who.UserID)
		if err != nil {
			return err
		}
		c.Role, c.People = actor.Partner, []Person{{UserID: me.UserID, Email: me.Email, Name: me.Name, Role: actor.Partner,
			MemberSince: me.JoinedAt}}
		books := MakeBooks{FirmOrganizationID: tx.Organization(), FirmID: firm.ID, ClientID: c.ID, OrganizationID: c.OrganizationID,
			Name: c.Name, BaseCurrency: p.BaseCurrency, Timezone: p.Timezone, UserID: who.UserID, MemberSince: me.JoinedAt, RequestID: who.RequestID,
			APIKeyID: who.APIKeyID}
		AfterCommit(tx, func(ctx context.Context) error { return s.MakeBooks(ctx, books) })
		return s.QueueBooks(ctx, tx, books)
	})
	return c, err
}

// insertNew stores a new client.
func insertNew(ctx context.Context, tx *db.Tx, p CreateClientParams) (Client, error) {
	email, err := access.NormalEmail(p.Email)
	if err != nil {
		return Client{}, err
	}
	c := Client{ID: tx.NewID(id.FirmClient), Name: strings.TrimSpace(p.Name), Email: email, Status: Pending,
		CreatedBy: actor.From(ctx).UserID, CreatedAt: tx.Now(), People: []Person{}}
	if !p.Existing {
		c.OrganizationID, c.Status = tx.NewID(id.Organization), Active
	}
	if err := insertClient(ctx, tx, c); err != nil {
		return c, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "firm_client.created", ResourceType: "firm_client", ResourceID: c.ID, After: c.facts(),
		Object: c})
	return c, nil
}

// GetClient returns a client of the actor's firm. The error is NotFound if the actor may not know of it.
func (s *Service) GetClient(ctx context.Context, clientID string) (c Client, err error) {
	found, err := s.read(ctx, ClientFilter{ids: []string{clientID}}, "", 1)
	if err == nil && len(found) == 0 {
		err = fault.Missing(noun)
	}
	if err != nil {
		return c, err
	}
	return found[0], nil
}

// ClientFilter selects clients.
type ClientFilter struct {
	Status Status // empty means all

	ids []string
}

// Clients lists clients of the actor's firm, the oldest first: other people than owners, admins and auditors see those that they
// work for.
func (s *Service) Clients(ctx context.Context, f ClientFilter, p page.Request) (page.Page[Client], error) {
	key := func(c Client) string { return c.ID }
	return page.ListByKey("firm clients", f, p, "", key, func(above string, limit int) ([]Client, error) {
		return s.read(ctx, f, above, limit)
	})
}

// read returns clients with those who work for them. Whether a client has ended says its own organization.
func (s *Service) read(ctx context.Context, f ClientFilter, above string, limit int) (out []Client, err error) {
	err = s.db.ReadAcross(ctx, "a firm sees its clients", func(ctx context.Context, tx *db.Tx) error {
		if out, err = selectClients(ctx, tx, actor.From(ctx), f, above, limit); err != nil || len(out) == 0 {
			return err
		}
		return addPeople(ctx, tx, out)
	})
	return out, err
}

// UpdateClientParams are the requested changes; nil leaves a field as it is.
type UpdateClientParams struct {
	Name  *string
	Email *string
}

// UpdateClient changes what the firm calls a client, or the address that its requests go to. It writes nothing if nothing changes. It
// returns the client with the role and the people that it was found with.
func (s *Service) UpdateClient(ctx context.Context, found Client, clientID string, p UpdateClientParams) (after Client, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := FindClient(ctx, tx, clientID)
		if err != nil {
			return err
		}
		var faults fault.List
		after = before
		after.Role, after.People = found.Role, found.People
		if p.Name != nil {
			organization.ValidateName(&faults, "name", *p.Name)
			after.Name = strings.TrimSpace(*p.Name)
		}
		if p.Email != nil {
			email, err := access.NormalEmail(*p.Email)
			if err := faults.Merge(err); err != nil {
				return err
			}
			after.Email = email
		}
		if err := faults.Err(); err != nil || after.Name == before.Name && after.Email == before.Email {
			return err
		}
		return change(ctx, tx, before, &after, "firm_client.updated")
	})
	return after, err
}

// change stores a change of a client.
func change(ctx context.Context, tx *db.Tx, before Client, after *Client, action string) error {
	now := tx.Now()
	after.UpdatedAt = &now
	if err := updateClient(ctx, tx, *after); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "firm_client", ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), Object: *after})
	return nil
}

// booksWithin is how long a client waits at most for the books that are created for it. A client of a firm that was imported into this
// database has none here either, and can end.
const booksWithin = 24 * time.Hour

// EndClient ends the work of the actor's firm for a client, which keeps its books. Ending it again changes nothing. It returns a Conflict
// fault if nobody else owns the books.
func (s *Service) EndClient(ctx context.Context, clientID string) error {
	who := actor.From(ctx)
	c, err := s.findToEnd(ctx, clientID)
	if err != nil {
		return err
	}
	if c.OrganizationID != "" {
		at := actor.With(ctx, actor.Actor{OrganizationID: c.OrganizationID, UserID: who.UserID, APIKeyID: who.APIKeyID,
			SessionID: who.SessionID, RequestID: who.RequestID, FirmOrganizationID: who.OrganizationID, FirmID: c.firmID, Role: actor.Admin})
		switch err := s.end(at, c.ID, byService); {
		case fault.KindOf(err) == fault.NotFound && c.Status == Active && s.db.Clock().Now().Sub(c.CreatedAt) < booksWithin:
			return fault.Conflictf("the books of the client %s are being created: try again in a moment", c.ID)
		case err != nil && fault.KindOf(err) != fault.NotFound:
			return err
		}
	}
	return s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		return s.endRecord(ctx, tx, c.ID)
	})
}

// toEnd is a client that is to end, and the firm.
type toEnd struct {
	Client
	firmID string
}

func (s *Service) findToEnd(ctx context.Context, clientID string) (c toEnd, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if c.Client, err = FindClient(ctx, tx, clientID); err != nil {
			return err
		}
		settings, err := FindSettings(ctx, tx)
		c.firmID = settings.ID
		return err
	})
	return c, err
}

// endRecord ends the record of a client, in the firm. Ending it again changes nothing.
func (s *Service) endRecord(ctx context.Context, tx *db.Tx, clientID string) error {
	before, err := FindClient(ctx, tx, clientID)
	if err != nil || before.Status == Ended {
		return err
	}
	after, now := before, tx.Now()
	after.Status, after.EndedAt = Ended, &now
	if err := change(ctx, tx, before, &after, "firm_client.ended"); err != nil {
		return err
	}
	for _, fn := range s.ClientEnded {
		if err := fn(ctx, tx, after); err != nil {
			return err
		}
	}
	return nil
}
