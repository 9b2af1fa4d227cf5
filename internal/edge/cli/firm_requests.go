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

func (s *settings) firmRequests() *cobra.Command {
	c := &cobra.Command{
		Use:   "requests",
		Short: "Ask clients for access, for accounts to be connected, and for files",
		Long: "Ask clients of the firm for access to their books, for accounts to be connected and for files to be uploaded. The client gets\n" +
			"a link by mail to a page on which it does so. The link works for 14 days, or until the request ends.",
		Example: "  bursar firm requests create Acme --ask kraken --ask \"file=Bank statements\" --message \"For the close of October\"\n" +
			"  bursar firm requests list --status pending",
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.listFirmRequests(), s.showFirmRequest(), s.createFirmRequest(), s.resendFirmRequest(), s.cancelFirmRequest())
	return c
}

func (s *settings) listFirmRequests() *cobra.Command {
	r, status, named := &remote{}, "", ""
	c := &cobra.Command{
		Use:   "list",
		Short: "List requests to clients",
		Long: "List requests to clients, the newest first: the id, the client, the status, how much of what was asked for is done, until when\n" +
			"the link works (in UTC), and the address it was sent to.",
		Example: "  bursar firm requests list\n  bursar firm requests list --client Acme --status pending",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				query := url.Values{}
				if status != "" {
					query.Set("status", status)
				}
				names := map[string]string{}
				for one, err := range service.FirmClients(ctx, nil) {
					if err != nil {
						return err
					}
					names[one.ID] = one.Name
				}
				if named != "" {
					found, err := clientNamed(ctx, service, named)
					if err != nil {
						return err
					}
					query.Set("client_id", found.ID)
				}
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				count := 0
				for one, err := range service.FirmRequests(ctx, query) {
					if err != nil {
						return err
					}
					if count++; count == 1 {
						fmt.Fprintln(t, "ID\tCLIENT\tSTATUS\tDONE\tUNTIL\tSENT TO")
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, names[one.ClientID], one.Status, doneOf(one),
						one.ExpiresAt.UTC().Format(minutes), one.Email)
				}
				if count == 0 {
					fmt.Fprintln(s.err, "There are no such requests: `bursar firm requests create` asks a client for something.")
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&status, "status", "", "only requests with this status: pending, completed, cancelled or expired")
	c.Flags().StringVar(&named, "client", "", "only requests to this client: its id, or its name")
	return c
}

// doneOf says how much of what a request asks for is done.
func doneOf(r client.FirmRequest) string {
	if len(r.Integrations) == 0 {
		return "-"
	}
	n := 0
	for _, i := range r.Integrations {
		if i.Status == "connected" {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(r.Integrations))
}

func (s *settings) showFirmRequest() *cobra.Command {
	r := &remote{}
	c := &cobra.Command{
		Use:     "show REQUEST",
		Short:   "Show a request to a client",
		Long:    "Show a request to a client: its state, what was asked for, and whether the mail server has accepted the message.",
		Example: "  bursar firm requests show frq_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				one, err := service.FirmRequest(ctx, args[0])
				if err != nil {
					return err
				}
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				fmt.Fprintf(t, "ID\t%s\nClient\t%s\nStatus\t%s\nSent to\t%s\nDelivery\t%s\nUntil\t%s\n", one.ID, one.ClientID, one.Status, one.Email,
					deliveryOf(one), one.ExpiresAt.UTC().Format(minutes))
				for _, i := range one.Integrations {
					fmt.Fprintf(t, "%s\t%s\n", i.Name, i.Status)
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	return c
}

// deliveryOf says what is known of the message that a request was sent with.
func deliveryOf(r client.FirmRequest) string {
	if r.EmailSent {
		return "the mail server accepted it at " + timeOr(r.EmailSentAt, "-")
	}
	return "not sent: without a mail server, it is in the folder mail of the data folder"
}

func (s *settings) createFirmRequest() *cobra.Command {
	r, asked, message := writing(), []string{}, ""
	c := &cobra.Command{
		Use:   "create CLIENT",
		Short: "Ask a client for something by mail",
		Long: "Ask a client for something by mail. --ask names a provider, such as kraken, or file for files to be uploaded; what follows an\n" +
			"equals sign is the name that the client sees. A client with existing books also grants access. Without --ask, the request is\n" +
			"for access only or, if the firm has created the books, for somebody who becomes their owner.",
		Example: "  bursar firm requests create Acme\n" +
			"  bursar firm requests create Acme --ask kraken --ask \"file=Bank statements\" --message \"For the close of October\"",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onClient(c, r, args[0], func(ctx context.Context, service *client.Client, found client.FirmClient) error {
				p := client.CreateFirmRequest{ClientID: found.ID, Message: message}
				for _, a := range asked {
					provider, name, _ := strings.Cut(a, "=")
					p.Integrations = append(p.Integrations, client.AskIntegration{Provider: provider, Name: name})
				}
				made, err := service.CreateFirmRequest(ctx, p)
				if err != nil {
					return err
				}
				s.printSent(made)
				return nil
			})
		},
	}
	r.flags(c)
	c.Flags().StringArrayVar(&asked, "ask", nil, "provider of an account to be connected, or file; can be given several times")
	c.Flags().StringVar(&message, "message", "", "what the client reads besides")
	return c
}

// printSent prints what came of a request that was mailed.
func (s *settings) printSent(r client.FirmRequest) {
	if r.EmailSent {
		fmt.Fprintf(s.out, "Sent %s to %s.\n", r.ID, r.Email)
		return
	}
	fmt.Fprintf(s.out, "Stored %s. The message to %s was %s.\n", r.ID, r.Email, deliveryOf(r))
}

func (s *settings) resendFirmRequest() *cobra.Command {
	r := writing()
	c := &cobra.Command{
		Use:   "resend REQUEST",
		Short: "Mail a new link of a request",
		Long: "Mail a new link of a request to the address that the client has now. It works for 14 days, and the former link stops working.\n" +
			"A request is mailed at most three times an hour, and an address gets at most 20 a day\n" +
			"from a firm.",
		Example: "  bursar firm requests resend frq_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				again, err := service.ResendFirmRequest(ctx, args[0])
				if err != nil {
					return err
				}
				s.printSent(again)
				return nil
			})
		},
	}
	r.flags(c)
	return c
}

func (s *settings) cancelFirmRequest() *cobra.Command {
	r := writing()
	c := &cobra.Command{
		Use:   "cancel REQUEST",
		Short: "Cancel a request that is pending",
		Long: "Cancel a request that is pending. Its link stops working. What the client has connected stays connected, and\n" +
			"files that it has uploaded are imported.",
		Example: "  bursar firm requests cancel frq_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				if _, err := service.CancelFirmRequest(ctx, args[0]); err != nil {
					return err
				}
				fmt.Fprintln(s.out, "The request is cancelled.")
				return nil
			})
		},
	}
	r.flags(c)
	return c
}
