package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

const memberEntityUsage = "id or name of a legal entity that the member is limited to; may be repeated; "

func (s *settings) setMember() *cobra.Command {
	var organization, email, role string
	var entities []string
	var all bool
	c := &cobra.Command{
		Use:   "set",
		Short: "Change the role of a member, or what the member is limited to",
		Long: "Change the role of a member, or the legal entities that the member is limited to. What is not given stays as it is.\n" +
			"The member's keys and apps can do no more than the member from then on. The only owner cannot get another role, and an owner\n" +
			"cannot be limited.",
		Example: "  bursar members set --email ada@acme.example --role admin\n" +
			"  bursar members set --email ada@acme.example --role viewer --legal-entity \"Acme GmbH\" --legal-entity \"Acme Ltd\"\n" +
			"  bursar members set --email ada@acme.example --all-legal-entities",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var p access.UpdateMemberParams
			if role != "" {
				p.Role = new(actor.Role(role))
			}
			switch {
			case all && len(entities) > 0:
				return &usageError{fmt.Errorf("--legal-entity and --all-legal-entities contradict each other"), c.CommandPath()}
			case role == "" && !all && len(entities) == 0:
				return &usageError{fmt.Errorf("nothing is to be changed: give --role, --legal-entity or --all-legal-entities"), c.CommandPath()}
			}
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				ids, err := resolved(ctx, a, entities)
				if err != nil {
					return err
				}
				if all || len(ids) > 0 {
					p.LegalEntityIDs = &ids
				}
				userID, err := a.Access.MemberIDByEmail(ctx, email)
				if err != nil {
					return sentences(err)
				}
				m, err := a.Access.UpdateMember(ctx, userID, p)
				if err != nil {
					return sentences(err)
				}
				fmt.Fprintf(s.out, "%s is %s now%s.\n", m.Email, m.Role, limitedText(m.LegalEntityIDs))
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", organizationUsage)
	f.StringVar(&email, "email", "", "email address of the member (required)")
	f.StringVar(&role, "role", "", "owner, admin, accountant, viewer or auditor; by default, the role stays")
	f.StringArrayVar(&entities, "legal-entity", nil, memberEntityUsage+"by default, this stays")
	f.BoolVar(&all, "all-legal-entities", false, "do not limit the member to some legal entities any more")
	required(c, "email")
	return c
}

func (s *settings) inviteMember() *cobra.Command {
	var organization, email, role, address string
	var entities []string
	c := &cobra.Command{
		Use:   "invite",
		Short: "Invite a person to an organization and print the link for them",
		Long: "Invite a person to an organization, with a role, and print a link to pass on to them. No mail is sent: the service mails links\n" +
			"of invitations that are made with POST /v1/team/invitations.\n" +
			"Whoever opens the link within seven days becomes a member: somebody new sets a password, and somebody with an account must\n" +
			"be signed in with the address that was invited. The link works once. `bursar invitations` renews and revokes it.",
		Example: "  bursar members invite --email ada@acme.example --role accountant --public-url https://books.acme.example\n" +
			"  bursar members invite --email ada@acme.example --role viewer --legal-entity \"Acme GmbH\"",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			public, err := publicURL(address)
			if err != nil {
				return &usageError{err, c.CommandPath()}
			}
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				ids, err := resolved(ctx, a, entities)
				if err != nil {
					return err
				}
				i, link, err := a.Team.InviteWithLink(ctx, team.InviteParams{Email: email, Role: actor.Role(role), LegalEntityIDs: ids})
				if fault.KindOf(err) == fault.Conflict {
					return fmt.Errorf("%w\n`bursar invitations` lists, renews and revokes invitations", err)
				}
				if err != nil {
					return sentences(err)
				}
				s.printInvitation(i, public, link)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", organizationUsage)
	f.StringVar(&email, "email", "", "email address of the person (required)")
	f.StringVar(&role, "role", "", "owner, admin, accountant, viewer or auditor (required)")
	f.StringArrayVar(&entities, "legal-entity", nil, memberEntityUsage+"by default, the member is not limited")
	text(f, &address, "public-url", "BURSAR_PUBLIC_URL", localURL,
		"address of the service as people see it, with which the link begins")
	required(c, "email", "role")
	return c
}

// printInvitation prints the link of an invitation. It is without an address, because the command serves nothing.
func (s *settings) printInvitation(i team.Invitation, public string, link secret.Text) {
	fmt.Fprintf(s.err, "Invited %s as %s%s, until %s. Pass this link on:\n\n", i.Email, i.Role, limitedText(i.LegalEntityIDs),
		i.ExpiresAt.UTC().Format(time.RFC3339))
	fmt.Fprintln(s.out, public+link.Reveal())
}

// resolved returns the ids of legal entities that are named by id or name.
func resolved(ctx context.Context, a *app.App, wanted []string) (ids []string, err error) {
	err = a.DB.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		ids, err = resolveEntities(ctx, tx, wanted)
		return err
	})
	return ids, err
}

// limitedText says what a member is limited to.
func limitedText(legalEntityIDs []string) string {
	if len(legalEntityIDs) == 0 {
		return ""
	}
	return ", limited to " + strings.Join(legalEntityIDs, " and ")
}
