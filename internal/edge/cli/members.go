package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (s *settings) members() *cobra.Command {
	c := &cobra.Command{
		Use:   "members",
		Short: "Manage the members of an organization",
		Long: "Manage the members of an organization: people, each with a role, and the API keys that act for them.\n" +
			"A running service also lists them, under /v1/organization/members, and manages them, under /v1/team.",
		Example: "  bursar members invite --email ada@acme.example --role accountant\n" +
			"  bursar members set --email ada@acme.example --role admin",
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.addMember(), s.inviteMember(), s.setMember(), s.listMembers(), s.removeMember(), s.resetSecondFactor())
	return c
}

func (s *settings) addMember() *cobra.Command {
	var organization, email, role string
	c := &cobra.Command{
		Use:   "add",
		Short: "Add a person to an organization, with a role",
		Long: "Add a person to an organization, with a role. Owners and admins manage the organization, accountants keep the books,\n" +
			"viewers read them, and auditors also read the audit log. A person who is a member of another organization on this\n" +
			"server is the same user there.\n" +
			"Somebody new cannot sign in until they have set a password, for which the service mails them a link from /forgot-password.\n" +
			"To give a new person a link yourself, run `bursar members invite` instead of this command.",
		Example: "  bursar members add --email ada@acme.example --role accountant\n" +
			"  bursar keys create --user ada@acme.example --scopes apis.all   # a key that acts for her",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				m, err := a.Access.AddMember(ctx, email, actor.Role(role))
				if err != nil {
					return sentences(err)
				}
				fmt.Fprintf(s.out, "Added %s as %s, %s.\n", m.Email, m.Role, m.UserID)
				fmt.Fprintf(s.err, "\nCreate an API key that acts for this person with\n  bursar keys create%s --organization %s --user %s "+
					"--scopes apis.all\n", s.flags(), actor.From(ctx).OrganizationID, m.Email)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", organizationUsage)
	f.StringVar(&email, "email", "", "email address of the person (required)")
	f.StringVar(&role, "role", "", "owner, admin, accountant, viewer or auditor (required)")
	required(c, "email", "role")
	return c
}

func (s *settings) listMembers() *cobra.Command {
	var organization string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the members of an organization",
		Long: "List the members of an organization: email address, role, the date of joining, the id of the user, and the legal entities\n" +
			"that the member is limited to, if any.",
		Example: "  bursar members list\n  bursar members list --organization org_01jd…",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.readingFor(c, organization, s.printMembers)
		},
	}
	c.Flags().StringVar(&organization, "organization", "", organizationUsage)
	return c
}

func (s *settings) printMembers(ctx context.Context, a *app.App) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	list := func(p page.Request) (page.Page[access.Member], error) { return a.Access.Members(ctx, p) }
	err := eachOf(list, func(m access.Member) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Email, m.Role, m.JoinedAt.Format(time.DateOnly), m.UserID,
			strings.Join(m.LegalEntityIDs, " "))
	})
	if err != nil {
		return err
	}
	return t.Flush()
}

func (s *settings) removeMember() *cobra.Command {
	var organization, email string
	c := &cobra.Command{
		Use:   "remove",
		Short: "Remove a person from an organization",
		Long: "Remove a person from an organization, and revoke the keys that act for this person, with all keys that were created with\n" +
			"them. What the person did remains in the audit log. The only owner cannot be removed.",
		Example: "  bursar members remove --email ada@acme.example",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				userID, err := a.Access.MemberIDByEmail(ctx, email)
				if err != nil {
					return sentences(err)
				}
				m, revoked, err := a.Access.RemoveMember(ctx, userID)
				if err != nil {
					return sentences(err)
				}
				fmt.Fprintf(s.out, "Removed %s, %s, and revoked %s.\n", m.Email, m.Role, counted(revoked, "key"))
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", organizationUsage)
	f.StringVar(&email, "email", "", "email address of the member (required)")
	required(c, "email")
	return c
}

// readingFor is acting for a command that only reads, and migrates nothing.
func (s *settings) readingFor(c *cobra.Command, organization string, fn func(context.Context, *app.App) error) error {
	return s.reading(c.Context(), func(a *app.App) error {
		ctx, err := actFor(c, a, organization)
		if err != nil {
			return err
		}
		return fn(ctx, a)
	})
}

// acting migrates the database, which must exist, and runs fn for the organization that is named, or for the only one.
func (s *settings) acting(c *cobra.Command, organization string, fn func(context.Context, *app.App) error) error {
	if err := checkOrganization(c, organization); err != nil { // wrong usage is named before a missing database
		return err
	}
	return s.with(c.Context(), func(a *app.App) error {
		ctx, err := actFor(c, a, organization)
		if err != nil {
			return err
		}
		return fn(ctx, a)
	})
}
