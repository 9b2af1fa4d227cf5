package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

// writing returns a running service whose key needs the scope for changes.
func writing() *remote { return &remote{scope: "apis.all"} }

func (s *settings) firm() *cobra.Command {
	c := &cobra.Command{
		Use:   "firm",
		Short: "Work as an accounting firm for clients, or see which firm works for you",
		Long: "Work as an accounting firm for clients: say who the firm is, add clients, give people roles for them, and offer templates. The\n" +
			"client's side is here too: which firm has access, its end, and taking over its templates. All of it goes through a running\n" +
			"service, with the API key of an owner or admin. Other commands act for a client with --for.",
		Example: "  bursar firm settings --name \"Ledger Partners\"\n" +
			"  bursar firm clients add --name Acme --email cfo@acme.example --base-currency USD --timezone America/New_York\n" +
			"  bursar firm people set Acme --person ada@firm.example --role preparer\n" +
			"  bursar connections list --for org_01jd…",
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.firmSettings(), s.firmClients(), s.firmPeople(), s.firmAccess(), s.firmTemplates(), s.firmRequests(),
		s.firmOverview(), s.firmJobs())
	return c
}

func (s *settings) firmSettings() *cobra.Command {
	r, name, address := writing(), "", ""
	c := &cobra.Command{
		Use:   "settings",
		Short: "Show or change what clients see of the firm",
		Long: "Show what clients see of the accounting firm, or change it. The first change, which must give the name, makes the organization\n" +
			"a firm.",
		Example: "  bursar firm settings\n  bursar firm settings --name \"Ledger Partners\" --web-address https://ledger.example",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				var u client.UpdateFirmSettings
				if c.Flags().Changed("name") {
					u.FirmName = &name
				}
				if c.Flags().Changed("web-address") {
					u.WebAddress = &address
				}
				show := service.FirmSettings
				if u != (client.UpdateFirmSettings{}) {
					show = func(ctx context.Context) (client.FirmSettings, error) { return service.UpdateFirmSettings(ctx, u) }
				}
				f, err := show(ctx)
				if client.IsNotFound(err) {
					return errors.New("the organization is not an accounting firm: `bursar firm settings --name NAME` makes it one")
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "%s\t%s\t%s\n", f.ID, f.FirmName, orDash(f.WebAddress))
				return nil
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&name, "name", "", "name of the firm, as clients see it")
	c.Flags().StringVar(&address, "web-address", "", "address of the firm's pages; empty removes it")
	return c
}

func (s *settings) firmClients() *cobra.Command {
	c := &cobra.Command{
		Use:     "clients",
		Short:   "Manage the clients of the firm",
		Long:    "Manage the clients of the firm. A client is named by its id, or by its name.",
		Example: "  bursar firm clients list\n  bursar firm clients show Acme",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.listFirmClients(), s.addFirmClient(), s.showFirmClient(), s.updateFirmClient(), s.endFirmClient())
	return c
}

// clientNamed returns the client of the firm with an id or a name. Of several with one name, those that have ended do not count.
func clientNamed(ctx context.Context, service *client.Client, text string) (out client.FirmClient, err error) {
	if strings.HasPrefix(text, "fcl_") {
		return service.FirmClient(ctx, text)
	}
	var found, ended []client.FirmClient
	for c, err := range service.FirmClients(ctx, nil) {
		switch {
		case err != nil:
			return out, err
		case !strings.EqualFold(c.Name, text):
		case c.Status == "ended":
			ended = append(ended, c)
		default:
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		found = ended
	}
	switch len(found) {
	case 0:
		return out, fmt.Errorf("there is no client %q: `bursar firm clients list` shows those there are", text)
	case 1:
		return found[0], nil
	}
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = fmt.Sprintf("%s, %s, %s, added on %s", c.ID, c.Status, c.Email, c.CreatedAt.UTC().Format(time.DateOnly))
	}
	return out, fmt.Errorf("%d clients are named %q: choose one by its id:\n  %s", len(found), text, strings.Join(ids, "\n  "))
}

// onClient calls do with a client of the firm that is named by id or name.
func (s *settings) onClient(
	c *cobra.Command, r *remote, named string, do func(ctx context.Context, service *client.Client, found client.FirmClient) error,
) error {
	return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
		found, err := clientNamed(ctx, service, named)
		if err != nil {
			return err
		}
		return do(ctx, service, found)
	})
}

func (s *settings) listFirmClients() *cobra.Command {
	r, status := &remote{}, ""
	c := &cobra.Command{
		Use:   "list",
		Short: "List the clients of the firm",
		Long: "List the clients of the firm in the order in which they were added: the id, the name, the status, your role, and the id of the\n" +
			"organization to act for with --for. Owners, admins and auditors see all clients, other people those\n" +
			"that they have a role for.",
		Example: "  bursar firm clients list\n  bursar firm clients list --status active",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				count := 0
				for c, err := range service.FirmClients(ctx, filterOf("status", status)) {
					if err != nil {
						return err
					}
					if count++; count == 1 {
						fmt.Fprintln(t, "ID\tNAME\tSTATUS\tROLE\tORGANIZATION")
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", c.ID, c.Name, c.Status, orDash(c.Role), orDash(c.OrganizationID))
				}
				if count == 0 {
					fmt.Fprintln(s.err, "There are no such clients: `bursar firm clients add` adds one.")
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&status, "status", "", "only clients with this status: pending, active or ended")
	return c
}

func (s *settings) addFirmClient() *cobra.Command {
	r, p := writing(), client.CreateFirmClient{}
	c := &cobra.Command{
		Use:   "add",
		Short: "Add a client to the firm",
		Long: "Add a client to the firm. The firm creates new books for it, in a base currency and a time zone, and you become its partner. A\n" +
			"client with --existing has books on this server already: it is pending until an owner grants access.",
		Example: "  bursar firm clients add --name Acme --email cfo@acme.example --base-currency USD --timezone America/New_York\n" +
			"  bursar firm clients add --name Globex --email cfo@globex.example --existing",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				made, err := service.CreateFirmClient(ctx, p)
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "Added %s, %s, which is %s", made.Name, made.ID, made.Status)
				if made.OrganizationID != nil {
					fmt.Fprintf(s.out, ". Its books are %s", *made.OrganizationID)
				}
				fmt.Fprintln(s.out, ".")
				if p.Existing {
					fmt.Fprintf(s.out, "`bursar firm requests create %s` asks it for access.\n", made.ID)
				}
				return nil
			})
		},
	}
	r.flags(c)
	f := c.Flags()
	f.StringVar(&p.Name, "name", "", "what the firm calls the client (required)")
	f.StringVar(&p.Email, "email", "", "email address of the person that requests go to (required)")
	f.StringVar(&p.BaseCurrency, "base-currency", "", "currency of the new books, such as USD")
	f.StringVar(&p.Timezone, "timezone", "", "time zone of the new books, such as Europe/Berlin")
	f.BoolVar(&p.Existing, "existing", false, "the client has books on this server already")
	required(c, "name", "email")
	return c
}

func (s *settings) showFirmClient() *cobra.Command {
	r := &remote{}
	c := &cobra.Command{
		Use:     "show CLIENT",
		Short:   "Show a client of the firm and who works for it",
		Long:    "Show a client of the firm: its state, its organization, and who works for it with which role.",
		Example: "  bursar firm clients show Acme\n  bursar firm clients show fcl_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onClient(c, r, args[0], func(_ context.Context, _ *client.Client, found client.FirmClient) error {
				return s.describeClient(found)
			})
		},
	}
	r.flags(c)
	return c
}

// describeClient prints a client of the firm.
func (s *settings) describeClient(c client.FirmClient) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "ID\t%s\nName\t%s\nEmail\t%s\nStatus\t%s\nOrganization\t%s\nYour role\t%s\nAdded\t%s\n", c.ID, c.Name, c.Email, c.Status,
		orDash(c.OrganizationID), orDash(c.Role), c.CreatedAt.UTC().Format(time.DateOnly))
	for _, p := range c.People {
		fmt.Fprintf(t, "%s\t%s\n", strings.ToUpper(p.Role[:1])+p.Role[1:], personOf(p))
	}
	return t.Flush()
}

func personOf(p client.FirmPerson) string {
	if p.Email != nil {
		return *p.Email
	}
	return p.UserID
}

func (s *settings) updateFirmClient() *cobra.Command {
	r, name, email := writing(), "", ""
	c := &cobra.Command{
		Use:     "update CLIENT",
		Short:   "Change what the firm calls a client, or the address that requests go to",
		Long:    "Change what the firm calls a client, or the address that requests go to. The name of its organization stays as it is.",
		Example: "  bursar firm clients update Acme --email controller@acme.example",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			var u client.UpdateFirmClient
			if c.Flags().Changed("name") {
				u.Name = &name
			}
			if c.Flags().Changed("email") {
				u.Email = &email
			}
			if u == (client.UpdateFirmClient{}) {
				return &usageError{errors.New("nothing to change: give --name or --email"), c.CommandPath()}
			}
			return s.onClient(c, r, args[0], func(ctx context.Context, service *client.Client, found client.FirmClient) error {
				now, err := service.UpdateFirmClient(ctx, found.ID, u)
				if err != nil {
					return err
				}
				return s.describeClient(now)
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&name, "name", "", "what the firm calls the client")
	c.Flags().StringVar(&email, "email", "", "email address of the person that requests go to")
	return c
}

func (s *settings) endFirmClient() *cobra.Command {
	r := writing()
	c := &cobra.Command{
		Use:   "end CLIENT",
		Short: "End the work of the firm for a client",
		Long: "End the work of the firm for a client, which keeps its books. Nobody of the firm can reach them any more. To end it again\n" +
			"changes nothing. Somebody else must own the books first.",
		Example: "  bursar firm clients end Acme",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onClient(c, r, args[0], func(ctx context.Context, service *client.Client, found client.FirmClient) error {
				if err := service.EndFirmClient(ctx, found.ID); err != nil {
					return err
				}
				fmt.Fprintf(s.out, "The work for %s has ended.\n", found.Name)
				return nil
			})
		},
	}
	r.flags(c)
	return c
}
