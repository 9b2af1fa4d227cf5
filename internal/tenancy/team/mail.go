package team

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/wording"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

const (
	// MailsPerHour is how many messages an invitation may cause within an hour.
	MailsPerHour = 3

	// MailsPerDay is how many messages an address may get within a day, from all organizations: anybody may found some, and nobody may fill
	// the mailbox of somebody else.
	MailsPerDay = 20
)

// allowMail returns a RateLimited fault if too many messages were sent for an invitation, or to its address.
func allowMail(ctx context.Context, tx *db.Tx, i Invitation) error {
	for _, one := range []struct {
		identity.Allowance
		what string
	}{
		{identity.Allowance{Subject: "invitation\n" + i.ID, Most: MailsPerHour, Within: time.Hour},
			fmt.Sprintf("the invitation %s was sent %d times within an hour", i.ID, MailsPerHour)},
		{identity.Allowance{Subject: "invited\n" + i.Email, Most: MailsPerDay, Within: 24 * time.Hour},
			fmt.Sprintf("%d invitations were sent to %s within a day", MailsPerDay, i.Email)},
	} {
		switch wait, err := one.Use(ctx, tx); {
		case err != nil:
			return err
		case wait > 0:
			return fault.RateLimitedf(wait, "%s, which is the maximum: wait %s, then try again", one.what, wording.Duration(wait))
		}
	}
	return nil
}

// mailLink mails a new link of an invitation. It returns a RateLimited fault if too many were mailed already.
func (s *Service) mailLink(ctx context.Context, tx *db.Tx, i Invitation) error {
	link, err := s.newLink(ctx, tx, i)
	if err != nil || s.Send == nil {
		return err
	}
	if err := allowMail(ctx, tx, i); err != nil {
		return err
	}
	o, err := orgstate.FindOrganization(ctx, tx)
	if err != nil {
		return err
	}
	by, err := inviter(ctx, tx, i)
	if err != nil {
		return err
	}
	subject, who := "You are invited to the books of "+o.Name, "You are invited"
	if by.UserID != "" {
		subject, who = cmp.Or(by.Name, by.Email)+" invited you to the books of "+o.Name, described(by)+" invited you"
	}
	return s.Send(ctx, tx, mail.Message{To: []string{i.Email}, Subject: subject, ExpiresAt: i.ExpiresAt, Text: fmt.Sprintf(
		"%s to the books of %s as %s, at %s\n\nTo accept, open this link until %s:\n%s\n\n"+
			"If you do not know what this is about, do nothing.\n",
		who, o.Name, i.Role, s.people.PublicURL(), i.ExpiresAt.UTC().Format(time.RFC1123), link.Reveal())})
}

// described returns a member by name and address: anybody can choose a name, and nobody the address of somebody else.
func described(m access.Member) string {
	if m.Name == "" {
		return m.Email
	}
	return fmt.Sprintf("%s (%s)", m.Name, m.Email)
}

// inviter returns who has invited, which is nobody for the operator of the service. An invitation is worth as much as the rights of who has
// made it: the error is NotFound if that person could not make it any more.
func inviter(ctx context.Context, tx *db.Tx, i Invitation) (access.Member, error) {
	if i.InvitedBy == "" {
		return access.Member{}, nil
	}
	m, err := access.FindMember(ctx, tx, i.InvitedBy)
	if fault.KindOf(err) == fault.NotFound || err == nil && !mayInvite(m, i.Role) {
		return access.Member{}, errLink
	}
	return m, err
}
