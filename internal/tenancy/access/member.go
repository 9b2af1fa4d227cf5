package access

import (
	"context"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/naming"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Member is a user's membership in an organization.
type Member struct {
	UserID   string
	Email    string
	Name     string
	Role     actor.Role
	JoinedAt time.Time

	LegalEntityIDs []string // that the member is limited to; empty means all
}

// The longest addresses that mail servers accept (RFC 5321), in bytes.
const (
	emailMax     = 254
	emailNameMax = 64
)

// NormalEmail returns the form in which an email address is stored and compared, and that mail is sent to.
func NormalEmail(text string) (string, error) {
	address, err := netmail.ParseAddress(text)
	if err != nil || address.Address != strings.TrimSpace(text) {
		return "", fault.Invalidf("email", "must be an email address such as ada@example.com, but is %q", text)
	}
	name := address.Address[:strings.LastIndexByte(address.Address, '@')]
	switch problem := naming.Problem(address.Address, emailMax); {
	case problem != "":
		return "", fault.Invalidf("email", "%s", problem)
	case len(address.Address) > emailMax || len(name) > emailNameMax:
		return "", fault.Invalidf("email", "must have at most %d bytes, and at most %d before the @, or no mail server accepts it", emailMax,
			emailNameMax)
	}
	normal, err := mail.NormalAddress(address.Address)
	if err != nil {
		return "", fault.Invalidf("email", "%s, but is %q", err, text)
	}
	return normal, nil
}

// AddMember makes a person a member of the organization, limited to some legal entities if there are any, and creates the user if there is
// none with that email address. It returns a Conflict fault for somebody who is a member already. It is a building block.
func AddMember(ctx context.Context, tx *db.Tx, email string, role actor.Role, legalEntityIDs ...string) (Member, error) {
	email, err := NormalEmail(email)
	if err != nil {
		return Member{}, err
	}
	user, err := ensureUser(ctx, tx, userRow{UserID: tx.NewID(id.User), Email: email, CreatedAt: tx.Now()})
	if err != nil {
		return Member{}, err
	}
	switch has, err := selectRole(ctx, tx, user.UserID); {
	case err == nil:
		return Member{}, fault.Conflictf("%s is a member already, with the role %s", email, has)
	case fault.KindOf(err) != fault.NotFound:
		return Member{}, err
	}
	m := Member{UserID: user.UserID, Email: email, Name: db.OrEmpty(user.Name), Role: role, JoinedAt: tx.Now(),
		LegalEntityIDs: append([]string{}, legalEntityIDs...)}
	if err := insertMember(ctx, tx, m); err != nil {
		return Member{}, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "member.added", ResourceType: "member", ResourceID: m.UserID, After: m.facts(), Object: m})
	return m, nil
}

// EnsureUser returns the id of the user with an email address in its normal form, and creates one with a name if there is none. It is a
// building block.
func EnsureUser(ctx context.Context, tx *db.Tx, email, name string) (string, error) {
	user, err := ensureUser(ctx, tx, userRow{UserID: tx.NewID(id.User), Email: email, Name: db.OrNull(name), CreatedAt: tx.Now()})
	return user.UserID, err
}

// AddMember makes a person a member of the actor's organization. It is for the operator of the service, so it does not authorize the
// actor.
func (s *Service) AddMember(ctx context.Context, email string, role actor.Role) (m Member, err error) {
	var faults fault.List
	if !slices.Contains(actor.Roles, role) {
		faults.Addf("role", "must be one of %s, but is %q", fault.Choices(actor.Roles), role)
	}
	_, err = NormalEmail(email)
	if err := faults.Merge(err); err != nil {
		return m, err
	}
	if err := faults.Err(); err != nil {
		return m, err
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // so that nobody else adds the same person meanwhile
			return err
		}
		if m, err = AddMember(ctx, tx, email, role); err != nil {
			return err
		}
		return s.memberChanged(ctx, tx, m)
	})
	return m, err
}

func (s *Service) memberChanged(ctx context.Context, tx *db.Tx, m Member) error {
	tx.AfterCommit(func() {
		s.ForgetKeys() // also those that depend on keys of the member
		if s.ForgetMember != nil {
			s.ForgetMember(m.UserID)
		}
	})
	for _, fn := range s.MemberChanged {
		if err := fn(ctx, tx, m); err != nil {
			return err
		}
	}
	return nil
}

func (m Member) facts() map[string]any {
	return map[string]any{"user_id": m.UserID, "email": m.Email, "name": db.OrNull(m.Name), "role": m.Role,
		"legal_entity_ids": append([]string{}, m.LegalEntityIDs...)}
}

// RecordMember records that what is stored of a member has changed, such as the address that belongs to all organizations of the person. It
// is a building block.
func RecordMember(ctx context.Context, tx *db.Tx, userID string) error {
	m, err := FindMember(ctx, tx, userID)
	if err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: "member.updated", ResourceType: "member", ResourceID: m.UserID, After: m.facts(), Object: m})
	return nil
}

// Members lists the members of the organization in the order in which they joined.
func (s *Service) Members(ctx context.Context, p page.Request) (page.Page[Member], error) {
	key := func(m Member) string { return m.UserID }
	return page.ListByKey("members", nil, p, "", key, func(above string, limit int) (rows []Member, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectMembers(ctx, tx, above, limit)
			return err
		})
		return rows, err
	})
}

// Verify returns the violated invariants of an organization's members.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	owners, err := countRole(ctx, tx, actor.Owner)
	if err != nil || owners > 0 {
		return nil, err
	}
	if f, err := orgstate.FindFirm(ctx, tx); err != nil || f.FirmID != nil { // a firm may have created the books for somebody
		return nil, err
	}
	return []string{"members: the organization has no owner"}, nil
}
