package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

func (s *settings) invitations() *cobra.Command {
	c := &cobra.Command{
		Use:   "invitations",
		Short: "List, renew and revoke invitations",
		Long: "List, renew and revoke invitations to an organization. `bursar members invite` makes them.\n" +
			"A running service also manages them, under /v1/team/invitations.",
		Example: "  bursar invitations list\n  bursar invitations revoke ivt_01jd…",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.listInvitations(), s.renewInvitation(), s.revokeInvitation())
	return c
}

func (s *settings) listInvitations() *cobra.Command {
	var organization string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the invitations to an organization",
		Long: "List the invitations to an organization, the newest first: the id, the email address, the role, the status, until when the\n" +
			"link works (in UTC), and the legal entities that the member will be limited to, if any.",
		Example: "  bursar invitations list\n  bursar invitations list --organization org_01jd…",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.readingFor(c, organization, func(ctx context.Context, a *app.App) error {
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				list := func(p page.Request) (page.Page[team.Invitation], error) { return a.Team.List(ctx, p) }
				err := eachOf(list, func(i team.Invitation) {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", i.ID, i.Email, i.Role, i.Status, i.ExpiresAt.UTC().Format(minutes),
						strings.Join(i.LegalEntityIDs, " "))
				})
				if err != nil {
					return err
				}
				return t.Flush()
			})
		},
	}
	c.Flags().StringVar(&organization, "organization", "", organizationUsage)
	return c
}

func (s *settings) renewInvitation() *cobra.Command {
	var organization, address string
	c := &cobra.Command{
		Use:   "renew <invitation id>",
		Short: "Print a new link of an invitation",
		Long: "Print a new link of an invitation that was not accepted, for you to pass on: it works for seven days, and the former link no\n" +
			"more. No mail is sent.",
		Example: "  bursar invitations renew ivt_01jd… --public-url https://books.acme.example",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			public, err := publicURL(address)
			if err != nil {
				return &usageError{err, c.CommandPath()}
			}
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				i, link, err := a.Team.ResendWithLink(ctx, args[0])
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
	text(f, &address, "public-url", "BURSAR_PUBLIC_URL", localURL, "address of the service as people see it, with which the link begins")
	return c
}

func (s *settings) revokeInvitation() *cobra.Command {
	var organization string
	c := &cobra.Command{
		Use:     "revoke <invitation id>",
		Short:   "Revoke an invitation",
		Long:    "Revoke an invitation that was not accepted: its link stops working. To revoke it again changes nothing.",
		Example: "  bursar invitations revoke ivt_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				i, err := a.Team.Revoke(ctx, args[0])
				if err != nil {
					return sentences(err)
				}
				fmt.Fprintf(s.out, "Revoked the invitation of %s.\n", i.Email)
				return nil
			})
		},
	}
	c.Flags().StringVar(&organization, "organization", "", organizationUsage)
	return c
}
