package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

func (s *settings) connections() *cobra.Command {
	c := &cobra.Command{
		Use:   "connections",
		Short: "Manage connections to exchanges, banks, cards, processors, blockchains and general ledgers",
		Long: "Manage the connections of an organization, through a running service. `bursar connect` makes one. A connection is named by\n" +
			"its id, or by its name.",
		Example: "  bursar connections list\n  bursar connections sync Kraken --wait",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.listConnections(), s.showConnection(), s.listProviders(), s.syncConnection(), s.listRuns(), s.updateConnection(),
		s.disconnect(), s.reauthorize(), s.sendEntries())
	return c
}

// connected runs a function with a client of the service.
func (s *settings) connected(c *cobra.Command, r *remote, do func(ctx context.Context, service *client.Client) error) error {
	service, err := r.client(c)
	if err != nil {
		return err
	}
	s.service = strings.TrimSuffix(r.url, "/")
	return r.unreachable(plainly(do(c.Context(), service)))
}

// plainly returns what the service says about a request, without what only programs need.
func plainly(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	if len(refused.Fields) == 0 || refused.Status == http.StatusConflict { // whose message says what it conflicts with
		return errors.New(refused.Message)
	}
	var all []string
	for _, f := range refused.Fields {
		all = append(all, faultOf(f.Field, f.Message))
	}
	return errors.New(strings.Join(all, "\n"))
}

// faultOf says what is wrong with a field. A message that begins with a capital letter is a sentence of its own.
func faultOf(name, message string) string {
	if first, _ := utf8.DecodeRuneInString(message); unicode.IsUpper(first) {
		return message
	}
	return name + " " + message
}

// onConnection calls do with the connection with an id or a name at a running service.
func (s *settings) onConnection(
	c *cobra.Command, r *remote, name string, do func(ctx context.Context, service *client.Client, found client.Connection) error,
) error {
	return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
		found, err := connectionNamed(ctx, service, name)
		if err != nil {
			return err
		}
		return do(ctx, service, found)
	})
}

// connectionNamed returns the connection with an id or a name. Of several with one name, those that are disconnected do not count.
func connectionNamed(ctx context.Context, service *client.Client, text string) (out client.Connection, err error) {
	if strings.HasPrefix(text, "con_") {
		return service.Connection(ctx, text)
	}
	var all, ended []client.Connection
	for c, err := range service.Connections(ctx, nil) {
		switch {
		case err != nil:
			return out, err
		case !strings.EqualFold(c.Name, text):
		case c.Status == "disconnected":
			ended = append(ended, c)
		default:
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		all = ended
	}
	switch len(all) {
	case 0:
		return out, fmt.Errorf("there is no connection %q: `bursar connections list` shows those there are", text)
	case 1:
		return service.Connection(ctx, all[0].ID)
	}
	ids := make([]string, len(all))
	for n, c := range all {
		ids[n] = c.ID
	}
	return out, fmt.Errorf("%d connections are named %q: choose one by its id:\n  %s", len(all), text, strings.Join(ids, "\n  "))
}

func (s *settings) listConnections() *cobra.Command {
	r, provider, status := &remote{}, "", ""
	c := &cobra.Command{
		Use:   "list",
		Short: "List connections",
		Long: "List the connections of an organization in the order in which they were made: the id, the provider, the name, the status,\n" +
			"when the account was looked at last and when it will be next (in UTC), and what is wrong, if anything is.",
		Example: "  bursar connections list\n  bursar connections list --status needs_reauthorization",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				filter := url.Values{}
				for name, value := range map[string]string{"provider": provider, "status": status} {
					if value != "" {
						filter.Set(name, value)
					}
				}
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				count := 0
				for c, err := range service.Connections(ctx, filter) {
					if err == nil && c.Status == "pending_setup" {
						c, err = service.Connection(ctx, c.ID) // says how the setup goes, which the list does not
					}
					if err != nil {
						return err
					}
					if count++; count == 1 {
						fmt.Fprintln(t, "ID\tPROVIDER\tNAME\tSTATUS\tLOOKED AT\tNEXT TIME\tPROBLEM")
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.ID, c.Provider, c.Name, c.Status, timeOr(c.LastSyncedAt, "never"),
						timeOr(c.NextSyncAt, "-"), orDash(problemOf(c)))
				}
				switch {
				case count == 0 && len(filter) == 0:
					fmt.Fprintln(s.err, "There are no connections yet: `bursar connect` makes one.")
				case count == 0:
					fmt.Fprintln(s.err, "There is no such connection.")
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	c.Flags().StringVar(&provider, "provider", "", "only connections to this provider, such as kraken")
	c.Flags().StringVar(&status, "status", "",
		"only connections with this status: pending_setup, active, syncing, needs_reauthorization, error or disconnected")
	return c
}

// problemOf says in one line what is wrong with a connection, that somebody did not finish or declined its setup included.
func problemOf(c client.Connection) *string {
	problem := c.ErrorMessage
	if a := c.AuthorizationAttempt; problem == nil && c.Status == "pending_setup" && a != nil && a.Status != "pending" {
		if problem = a.Error; problem == nil {
			problem = new("the setup is " + a.Status)
		}
	}
	if problem == nil {
		return nil
	}
	return new(strings.ReplaceAll(*problem, "\n", " "))
}

// timeOr returns a time in UTC, or a word if there is none.
func timeOr(at *time.Time, none string) string {
	if at == nil {
		return none
	}
	return at.UTC().Format(minutes)
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

func (s *settings) showConnection() *cobra.Command {
	r := &remote{}
	c := &cobra.Command{
		Use:   "show CONNECTION",
		Short: "Show a connection, what its account holds, and what can be done with it",
		Long: "Show a connection: its state, its settings, its sources, what the account holds, and what can be done with it now.\n" +
			"Credentials are never shown.",
		Example: "  bursar connections show Kraken\n  bursar connections show con_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onConnection(c, r, args[0], func(ctx context.Context, service *client.Client, found client.Connection) error {
				s.describe(found)
				return s.printBalances(ctx, service, found)
			})
		},
	}
	r.flags(c)
	return c
}

// describe prints a connection.
func (s *settings) describe(c client.Connection) {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, text)
		}
	}
	row("Connection", c.ID)
	row("Name", c.Name)
	row("Provider", c.Provider)
	row("Status", c.Status)
	if problem := problemOf(c); problem != nil {
		row("Problem", *problem)
	}
	if c.ExternalAccountID != nil {
		row("Account", *c.ExternalAccountID)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		row("  "+name, c.Settings[name])
	}
	row("Legal entity", strings.Join(c.LegalEntityIDs, " "))
	row("Sources", strings.Join(c.SourceIDs, " "))
	if slices.Contains(c.Capabilities, "import_transactions") {
		row("Looked at", timeOr(c.LastSyncedAt, "never"))
		row("Next time", timeOr(c.NextSyncAt, "on request"))
	}
	if c.Classify != nil {
		row("New transactions", map[string]string{"suggest": "get suggestions", "draft": "become drafts", "post": "are posted"}[*c.Classify])
	}
	if c.RedirectURL != nil {
		row("To finish, open", *c.RedirectURL)
	}
	if c.RevocationError != nil {
		row("Not revoked", *c.RevocationError)
	}
	for _, w := range warningsOf(c) {
		row("Warning", w)
	}
	row("Possible now", strings.Join(c.Guidance.AllowedActions, ", "))
	_ = t.Flush() // what cannot be printed cannot be reported either
}

// printBalances prints what the sources of a connection hold at the provider and in the books.
func (s *settings) printBalances(ctx context.Context, service *client.Client, c client.Connection) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	rows := 0
	for _, id := range c.SourceIDs {
		for b, err := range service.SourceBalances(ctx, id) {
			if err != nil {
				return err
			}
			if b.Observed == nil {
				continue // nobody has said how much there is
			}
			if rows++; rows == 1 {
				fmt.Fprint(t, "\n  \tAt the provider\tIn the books\tDifference\t\n")
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t\n", b.AssetType, *b.Observed, orDash(b.BookAtObserved), orDash(b.Difference))
		}
	}
	return t.Flush()
}

// kinds are the kinds of providers, in the order in which they are listed, with what several of a kind are called.
var kinds = [][2]string{{"exchange", "Exchanges"}, {"bank", "Banks"}, {"card", "Cards"}, {"processor", "Payment processors"},
	{"chain", "Blockchains"}, {"accounting", "General ledgers"}}

func (s *settings) listProviders() *cobra.Command {
	r := &remote{}
	c := &cobra.Command{
		Use:   "providers [PROVIDER]",
		Short: "List the systems that accounts can be connected at, or show what one needs",
		Long: "List the systems that accounts can be connected at, by kind. With a provider, show how to create the credentials for it, and\n" +
			"what has to be entered.",
		Example: "  bursar connections providers\n  bursar connections providers kraken",
		Args:    atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			return s.connected(c, r, func(ctx context.Context, service *client.Client) error {
				all, err := providersOf(ctx, service)
				if err != nil {
					return err
				}
				if len(args) == 1 {
					p, err := providerNamed(all, args[0])
					if err == nil {
						s.describeProvider(p)
					}
					return err
				}
				t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
				for _, o := range byKind(all) {
					fmt.Fprintf(t, "%s\t%s\t%s\n", o.value, o.title, strings.TrimSpace(o.note))
				}
				return t.Flush()
			})
		},
	}
	r.flags(c)
	return c
}

// atMostOne refuses more than one argument.
func atMostOne(c *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return oneArg(c, args)
}

func providersOf(ctx context.Context, service *client.Client) (out []client.Provider, err error) {
	for p, err := range service.Providers(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// providerNamed returns the provider with a name or a title.
func providerNamed(all []client.Provider, text string) (client.Provider, error) {
	names := make([]string, len(all))
	for n, p := range all {
		if strings.EqualFold(p.Name, text) || strings.EqualFold(p.Title, text) {
			return p, nil
		}
		names[n] = p.Name
	}
	return client.Provider{}, fmt.Errorf("there is no provider %q: choose one of %s", text, strings.Join(names, ", "))
}

// byKind returns the providers as options, by kind.
func byKind(all []client.Provider) (out []option) {
	for _, kind := range kinds {
		for _, p := range all {
			if p.Kind != kind[0] {
				continue
			}
			o := option{p.Name, p.Title, "  (" + strings.ToLower(kind[1]) + ")"}
			if !p.Available {
				o.note += "  not available: `bursar connections providers " + p.Name + "` says why"
			}
			out = append(out, o)
		}
	}
	return out
}

// describeProvider prints what a provider needs.
func (s *settings) describeProvider(p client.Provider) {
	fmt.Fprintf(s.out, "%s (%s)\n\n%s\n", p.Title, p.Kind, p.Advice)
	if p.UnavailableReason != nil {
		fmt.Fprintf(s.out, "\nNot available: %s\n", *p.UnavailableReason)
	}
	if p.RequiredCurrency != nil {
		fmt.Fprintf(s.out, "\nThe base currency of the legal entity must be %s.\n", *p.RequiredCurrency)
	}
	fmt.Fprintln(s.out)
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, f := range p.Fields {
		note := "required"
		if !f.Required {
			note = "optional"
		}
		if f.Secret {
			note += ", secret"
		}
		if f.Setup {
			note += ", once for the organization"
		}
		help := ""
		if f.Help != nil {
			help = *f.Help
		}
		if len(f.Choices) > 0 {
			help = strings.TrimSpace(help + " One of " + strings.Join(f.Choices, ", ") + ".")
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", f.Name, f.Title, note, help)
	}
	_ = t.Flush() // what cannot be printed cannot be reported either
	if p.Hosted {
		fmt.Fprintf(s.out, "\nThe account is connected on a page of %s, which `bursar connect %s` shows.\n", p.Title, p.Name)
	}
}
