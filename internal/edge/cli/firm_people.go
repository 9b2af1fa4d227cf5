package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

// filterOf returns a filter with one value, unless it is empty.
func filterOf(name, value string) url.Values {
	if value == "" {
		return nil
	}
	return url.Values{name: {value}}
}

func (s *settings) firmPeople() *cobra.Command {
	c := &cobra.Command{
		Use:     "people",
		Short:   "Say who of the firm works for a client",
		Long:    "Say who of the firm works for a client, and with which role. Nobody can do anything for a client without one.",
		Example: "  bursar firm people set Acme --person ada@firm.example --role preparer",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.setFirmPerson(), s.removeFirmPerson())
	return c
}

// memberNamed returns the id of the member of the organization with an email address or an id.
func memberNamed(ctx context.Context, service *client.Client, text string) (string, error) {
	for m, err := range service.Members(ctx) {
		if err != nil {
			return "", err
		}
		if m.ID == text || strings.EqualFold(m.Email, text) {
			return m.ID, nil
		}
	}
	return "", fmt.Errorf("%s is not a member of the firm: `bursar members list` shows those there are", text)
}

func (s *settings) setFirmPerson() *cobra.Command {
	r, person, role := writing(), "", ""
	c := &cobra.Command{
		Use:   "set CLIENT",
		Short: "Give somebody of the firm a role for a client",
		Long: "Give a member of the firm a role for a client, or another one. A preparer keeps the books, as an accountant does. A reviewer\n" +
			"also closes and reopens periods, and reads the audit log. A partner may do what an admin may, and writes rules.",
		Example: "  bursar firm people set Acme --person ada@firm.example --role preparer\n" +
			"  bursar firm people set fcl_01jd… --person usr_01jd… --role reviewer",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onClient(c, r, args[0], func(ctx context.Context, service *client.Client, found client.FirmClient) error {
				userID, err := memberNamed(ctx, service, person)
				if err != nil {
					return err
				}
				if _, err := service.SetFirmClientRole(ctx, found.ID, userID, client.FirmClientRole{Role: role}); err != nil {
					return err
				}
				fmt.Fprintf(s.out, "%s is %s for %s now.\n", person, role, found.Name)
				return nil
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&person, "person", "", "email address or id of the member of the firm (required)")
	c.Flags().StringVar(&role, "role", "", "preparer, reviewer or partner (required)")
	required(c, "person", "role")
	return c
}

func (s *settings) removeFirmPerson() *cobra.Command {
	r, person := writing(), ""
	c := &cobra.Command{
		Use:     "remove CLIENT",
		Short:   "End the work of somebody of the firm for a client",
		Long:    "End the work of a member of the firm for a client. What the person did remains in the audit log of the client.",
		Example: "  bursar firm people remove Acme --person ada@firm.example",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onClient(c, r, args[0], func(ctx context.Context, service *client.Client, found client.FirmClient) error {
				userID, err := memberNamed(ctx, service, person)
				if err != nil {
					return err
				}
				if err := service.RemoveFirmClientRole(ctx, found.ID, userID); err != nil {
					return err
				}
				fmt.Fprintf(s.out, "%s does not work for %s any more.\n", person, found.Name)
				return nil
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&person, "person", "", "email address or id of the member of the firm (required)")
	required(c, "person")
	return c
}

func (s *settings) firmAccess() *cobra.Command {
	c := &cobra.Command{
		Use:   "access",
		Short: "See and end the access of accounting firms to your books",
		Long: "See which accounting firms have access to the organization, or had, and end it. This is the client's side: the key is one of\n" +
			"the organization itself.",
		Example: "  bursar firm access list\n  bursar firm access end fcl_01jd…",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.listFirmAccess(), s.endFirmAccess())
	return c
}

func (s *settings) listFirmAccess() *cobra.Command {
	r := &remote{}
	c := &cobra.Command{
		Use:   "list",
		Short: "List the firms that have access to the organization, or had",
		Long: "List the firms that have access to the organization, or had, the latest first: the id of the access, the firm, the status,\n" +
			"since when, until when, and who works for you.",
		Example: "  bursar firm access list",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				count := 0
				for a, err := range service.FirmAccess(ctx) {
					if err != nil {
						return err
					}
					if count++; count == 1 {
						fmt.Fprintln(t, "ID\tFIRM\tSTATUS\tSINCE\tUNTIL\tPEOPLE")
					}
					people := make([]string, len(a.People))
					for i, p := range a.People {
						people[i] = personOf(p) + " (" + p.Role + ")"
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, orDash(a.FirmName), a.Status, timeOr(&a.GrantedAt, "-"), timeOr(a.EndedAt, "-"),
						strings.Join(people, ", "))
				}
				if count == 0 {
					fmt.Fprintln(s.err, "No accounting firm has access to the organization, or had.")
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	return c
}

func (s *settings) endFirmAccess() *cobra.Command {
	r := writing()
	c := &cobra.Command{
		Use:   "end FIRM",
		Short: "End the access of a firm to the organization",
		Long: "End the access of a firm to the organization. Nobody of the firm can read or change anything from then on. The books stay as\n" +
			"they are. The firm is named by its name, or by the id of the access.",
		Example: "  bursar firm access end \"Ledger Partners\"\n  bursar firm access end fcl_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				id := args[0]
				for a, err := range service.FirmAccess(ctx) {
					if err != nil {
						return err
					}
					if a.Status == "active" && a.FirmName != nil && strings.EqualFold(*a.FirmName, args[0]) {
						id = a.ID
					}
				}
				err := service.EndFirmAccess(ctx, id)
				if client.IsNotFound(err) {
					return fmt.Errorf("%s has no access to the organization: `bursar firm access list` shows which firm has", args[0])
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(s.out, "The access has ended.")
				return nil
			})
		},
	}
	r.flags(c)
	return c
}
