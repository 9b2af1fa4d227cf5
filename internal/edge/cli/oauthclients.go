package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func (s *settings) oauthClients() *cobra.Command {
	c := &cobra.Command{
		Use:   "oauth-clients",
		Short: "Manage the apps that may ask people for access",
		Long: "Manage the apps that may ask people for access by OAuth. An owner also registers apps of the organization with a running\n" +
			"service, under /v1/oauth-clients.",
		Example: "  bursar oauth-clients create --name \"Ledger Tools\" --redirect-uri https://app.example.com/callback",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.createOAuthClient(), s.listOAuthClients(), s.revokeOAuthClient())
	return c
}

func (s *settings) createOAuthClient() *cobra.Command {
	var organization string
	var p oauth.RegisterParams
	c := &cobra.Command{
		Use:   "create",
		Short: "Register an app and print its client_id",
		Long: "Register an app and print its client_id. It has no secret: it proves by PKCE that it is the one that asked.\n" +
			"People of any organization can connect it. With --organization the app belongs to an organization, whose owners can\n" +
			"revoke it, and whose audit log has it.",
		Example: "  bursar oauth-clients create --name \"Ledger Tools\" --redirect-uri https://app.example.com/callback\n" +
			"  bursar oauth-clients create --name \"Month-end script\" --redirect-uri http://127.0.0.1/callback --organization org_01jd…",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := sentences(p.Validate()); err != nil { // wrong usage is named before a missing database
				return &usageError{err, c.CommandPath()}
			}
			register := func(ctx context.Context, a *app.App) (err error) {
				var made oauth.Client
				if organization == "" {
					made, err = a.OAuth.Register(ctx, p, oauth.ByOperator)
				} else {
					made, err = a.OAuth.RegisterForOrganization(ctx, p)
				}
				if err != nil {
					return sentences(err)
				}
				fmt.Fprintln(s.out, made.ID)
				fmt.Fprintf(s.err, "\nRegistered %s. Its client_id is printed above.\n", made.Name)
				return nil
			}
			if organization == "" {
				return s.with(c.Context(), func(a *app.App) error { return register(c.Context(), a) })
			}
			return s.acting(c, organization, register)
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", "id of the organization that the app belongs to; by default, it belongs to none")
	f.StringVar(&p.Name, "name", "", "name of the app, which people see when it asks them for access (required)")
	f.StringArrayVar(&p.RedirectURIs, "redirect-uri", nil, "address that people may be sent back to; may be repeated (required)")
	f.StringVar(&p.HomepageURL, "homepage", "", "page about the app")
	required(c, "name", "redirect-uri")
	return c
}

func (s *settings) listOAuthClients() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the apps that may ask people for access",
		Long:    "List the apps, the newest first: client_id, who registered each, whether it was revoked, name, and addresses.",
		Example: "  bursar oauth-clients list",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.reading(c.Context(), func(a *app.App) error { return s.printOAuthClients(c.Context(), a) })
		},
	}
}

func (s *settings) printOAuthClients(ctx context.Context, a *app.App) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	list := func(p page.Request) (page.Page[oauth.Client], error) { return a.OAuth.AllClients(ctx, p) }
	err := eachOf(list, func(one oauth.Client) {
		by, state := string(one.RegisteredBy), "active"
		if one.OrganizationID != "" {
			by = one.OrganizationID
		}
		if one.RevokedAt != nil {
			state = "revoked"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", one.ID, by, state, one.Name, strings.Join(one.RedirectURIs, " "))
	})
	if err != nil {
		return err
	}
	return t.Flush()
}

func (s *settings) revokeOAuthClient() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke CLIENT-ID",
		Short: "Revoke an app",
		Long: "Revoke an app, whoever registered it. Its tokens stop working within a second, in all organizations whose people have\n" +
			"connected it.",
		Example: "  bursar oauth-clients revoke oac_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				revoked, err := a.OAuth.RevokeAnyClient(c.Context(), args[0])
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "Revoked %s.\n", revoked.Name)
				return nil
			})
		},
	}
}
