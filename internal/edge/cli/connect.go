package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

// connectFlags are the flags of connect.
type connectFlags struct {
	remote
	fieldFlags
	name, entity, source, classify string
	every                          int
	newSource, noWait              bool
}

func (s *settings) connectAccount() *cobra.Command {
	f := &connectFlags{remote: remote{scope: "apis.all"}}
	c := &cobra.Command{
		Use:   "connect [PROVIDER]",
		Short: "Connect an account at an exchange, bank, card, processor, blockchain or general ledger",
		Long: "Connect an account at another system, through a running service: choose the provider, enter what it needs, and watch the\n" +
			"account being read for the first time. Shows how to create credentials that can only read.\n\n" +
			"Secrets are asked for without being shown. Where there is no terminal, they are read line by line from standard input, in the\n" +
			"order in which `bursar connections providers PROVIDER` lists the fields. They cannot be given as arguments, because others on\n" +
			"this machine can read those.\n\n" +
			"An account that was connected before goes on with its source, so that no transaction is added twice. Some providers do not tell\n" +
			"which account a key is of: if there is another connection to them, the command asks whether it is to this account. Where there is\n" +
			"no terminal, say so with --source and the id of its source, or say with --new-source that it is another account.\n\n" +
			"If the account is connected on a page of the provider, the address of the page is printed, and the command waits until\n" +
			"somebody has finished there.",
		Example: "  bursar connect\n  bursar connect kraken --name \"Kraken main\" --legal-entity \"Acme Inc.\"\n" +
			"  cat secret.txt | bursar connect kraken --field api_key=4R7c… --field api_secret=-\n" +
			"  bursar connect coinbase --field api_key=organizations/… --field-file api_secret=key.pem\n" +
			"  bursar connect bitcoin --field address=bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error { return s.runConnect(c, f, args) },
	}
	f.remote.flags(c)
	f.fieldFlags.flags(c)
	flags := c.Flags()
	flags.StringVar(&f.name, "name", "", "name of the connection; by default that of the provider")
	flags.StringVar(&f.entity, "legal-entity", "", "id or name of the legal entity that the account belongs to; required if there are several")
	flags.StringVar(&f.source, "source", "",
		"id of the source that the transactions belong to; by default that of an earlier connection to the account, or a new one")
	flags.BoolVar(&f.newSource, "new-source", false, "create a source, because it is not the account of an earlier connection")
	flags.StringVar(&f.classify, "classify", "", "what happens to new transactions: suggest, draft or post; by default nothing")
	flags.IntVar(&f.every, "every", -1, "how often the account is looked at, in minutes: 5 to 10080, or 0 for only on request; by default 15")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not wait until the account was read")
	return c
}

func (s *settings) runConnect(c *cobra.Command, f *connectFlags, args []string) error {
	return s.connected(c, &f.remote, func(ctx context.Context, service *client.Client) error {
		d := s.dialog()
		p, err := s.chooseProvider(ctx, c, service, d, args)
		if err != nil {
			return err
		}
		e, err := f.entry(c, d, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%s: %s\n\n", p.Title, p.Advice)
		create := client.CreateConnection{Provider: p.Name, Name: f.name, SourceID: f.source, NewSource: f.newSource, Classify: f.classify}
		if create.Name == "" {
			create.Name = p.Title
		}
		if f.every >= 0 {
			create.SyncEveryMinutes = &f.every
		}
		if create.LegalEntityIDs, err = chooseEntity(ctx, service, d, p, f.entity); err != nil {
			return err
		}
		if err := s.register(ctx, service, e); err != nil {
			return err
		}
		if create.SourceID == "" && !f.newSource && !p.Hosted {
			create.SourceID, create.NewSource, err = s.formerSource(ctx, c, service, d, p, create.LegalEntityIDs, false)
			if err != nil {
				return err
			}
		}
		made, err := createConnection(ctx, service, e, create)
		if d.terminal && asksForSource(err) && create.SourceID == "" && !create.NewSource {
			create.SourceID, create.NewSource, err = s.formerSource(ctx, c, service, d, p, create.LegalEntityIDs, true)
			if err == nil {
				made, err = createConnection(ctx, service, e, create)
			}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Connected: %s %s (%s)\n", made.ID, made.Name, made.Status)
		if f.noWait {
			s.describeSetup(made)
			return nil
		}
		return s.awaitConnection(ctx, service, d, made, nil)
	})
}

// chooseProvider returns the provider that was named, or lets the person choose one.
func (s *settings) chooseProvider(ctx context.Context, c *cobra.Command, service *client.Client, d *dialog, args []string) (
	p client.Provider, err error) {
	all, err := providersOf(ctx, service)
	if err != nil {
		return p, err
	}
	name := ""
	switch {
	case len(args) == 1:
		name = args[0]
	case !d.terminal:
		return p, &usageError{errors.New("name the provider, such as kraken: `bursar connections providers` lists them"), c.CommandPath()}
	default:
		if name, err = d.choose(ctx, "What do you want to connect? Enter a number or a name: ", byKind(all)); err != nil {
			return p, interrupted(err, "nothing was connected")
		}
	}
	if p, err = providerNamed(all, name); err == nil && !p.Available {
		err = errors.New(orDash(p.UnavailableReason))
	}
	return p, err
}

// chooseEntity returns the legal entity of a connection: the one that was named, the only one, none for a general ledger, or the one that
// the person chooses.
func chooseEntity(ctx context.Context, service *client.Client, d *dialog, p client.Provider, named string) ([]string, error) {
	var options []option
	for one, err := range service.LegalEntities(ctx) {
		if err != nil {
			return nil, err
		}
		if named != "" && (one.ID == named || strings.EqualFold(one.Name, named)) {
			return []string{one.ID}, nil
		}
		options = append(options, option{one.ID, one.Name, "  " + one.BaseCurrency})
	}
	list := ""
	for _, o := range options {
		list += "\n  " + o.value + "  " + o.title
	}
	switch {
	case named != "":
		return nil, fmt.Errorf("there is no legal entity %q: choose one of%s", named, list)
	case len(options) == 1:
		return []string{options[0].value}, nil
	case p.Kind == "accounting":
		return nil, nil
	case !d.terminal:
		return nil, fmt.Errorf("there are several legal entities: choose the one that the account belongs to with --legal-entity%s", list)
	}
	id, err := d.choose(ctx, "Which legal entity does the account belong to? ", options)
	return []string{id}, interrupted(err, "nothing was connected")
}

// formerSource returns the source of an earlier connection to the same account, if there is one, and otherwise whether the person has said
// that there is none. It matters where the provider does not tell which account a key is of: then the person has to. asked says that the
// service asks for it; otherwise nobody has to say it if the accounts of all earlier connections are told.
func (s *settings) formerSource(ctx context.Context, c *cobra.Command, service *client.Client, d *dialog, p client.Provider,
	entities []string, asked bool) (former string, another bool, err error) {
	found, err := connectionsLike(ctx, service, p, entities)
	untold := func(one client.Connection) bool { return one.ExternalAccountID == nil }
	if err != nil || !asked && !slices.ContainsFunc(found, untold) {
		return "", false, err
	}
	list := ""
	for _, one := range found {
		id := one.SourceIDs[0]
		connected := one.Status != "disconnected"
		switch {
		case !d.terminal && connected:
			list += fmt.Sprintf("\n  `bursar connections update %s --credentials`, if it is the account of %s", one.ID, one.Name)
			continue
		case !d.terminal:
			list += fmt.Sprintf("\n  --source %s  %s", id, one.Name)
			continue
		}
		same, err := s.askWhetherSame(ctx, service, d, one)
		switch {
		case err != nil:
			return "", false, err
		case same && connected:
			return "", false, fmt.Errorf("nothing was connected: `bursar connections update %s --credentials` replaces the key", one.ID)
		case same:
			return id, false, nil
		}
		another = true
	}
	if list == "" {
		return "", another, nil
	}
	return "", false, &usageError{fmt.Errorf("it is not known whether this is the account of another connection to %s: say with --source "+
		"that it is the account of one that has ended, or with --new-source that it is another account%s", p.Title, list), c.CommandPath()}
}

// asksForSource reports whether the service has refused to connect an account because it is not known which source it belongs to.
func asksForSource(err error) bool {
	said, ok := errors.AsType[*client.Error](err)
	return ok && said.Status == http.StatusConflict &&
		slices.ContainsFunc(said.Fields, func(f client.Field) bool { return f.Field == "source_id" })
}

// connectionsLike returns the connections that a new one may be to the account of if the provider does not tell one of the two accounts:
// the latest first, one for each source.
func connectionsLike(ctx context.Context, service *client.Client, p client.Provider, entities []string) (found []client.Connection,
	err error) {
	var all []client.Connection
	used := map[string]bool{}
	for one, err := range service.Connections(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		for _, id := range one.SourceIDs {
			used[id] = used[id] || one.Status != "disconnected"
		}
	}
	for _, one := range slices.Backward(all) {
		if one.Provider != p.Name || len(one.SourceIDs) != 1 || !slices.Equal(one.LegalEntityIDs, entities) ||
			one.Status == "disconnected" && used[one.SourceIDs[0]] {
			continue
		}
		used[one.SourceIDs[0]] = true
		found = append(found, one)
	}
	return found, nil
}

// askWhetherSame asks whether the account to be connected is that of a connection.
func (s *settings) askWhetherSame(ctx context.Context, service *client.Client, d *dialog, one client.Connection) (bool, error) {
	if one.Status != "disconnected" {
		answer, err := d.ask(ctx, fmt.Sprintf("Is this the account of %q (%s), which is connected? [y/N] ", one.Name, one.ID), false)
		return strings.HasPrefix(strings.ToLower(answer), "y"), interrupted(err, "nothing was connected")
	}
	page, err := service.TransactionsPage(ctx, url.Values{"source_id": {one.SourceIDs[0]}, "include_count": {"true"}, "limit": {"1"}})
	if err != nil {
		return false, err
	}
	known := ""
	if page.TotalCount != nil && *page.TotalCount > 0 {
		known = fmt.Sprintf(" Its %s are then not added again.", counted(int(*page.TotalCount), "transaction"))
	}
	question := fmt.Sprintf("Is this the account of %q (%s), which was disconnected?%s [Y/n] ", one.Name, one.ID, known)
	answer, err := d.ask(ctx, question, false)
	return !strings.HasPrefix(strings.ToLower(answer), "n"), interrupted(err, "nothing was connected")
}

// register registers the organization at a provider that requires it, unless that was done before.
func (s *settings) register(ctx context.Context, service *client.Client, e *entry) error {
	given := slices.ContainsFunc(e.provider.Fields, func(f client.ProviderField) bool {
		return f.Setup && (e.values[f.Name] != "" || e.asked[f.Name])
	})
	if e.provider.SetUp && !given {
		return nil
	}
	fmt.Fprintf(s.err, "Your organization has to be registered at %s once.\n", e.provider.Title)
	if err := e.fill(ctx, true); err != nil {
		return err
	}
	var fields client.SetUpProvider
	if err := e.into(true, &fields); err != nil {
		return err
	}
	_, err := service.SetUpProvider(ctx, e.provider.Name, fields)
	return err
}

// into stores the values of the fields for the setup of the organization, or those of the others, in the properties of a request.
func (e *entry) into(setup bool, request any) error {
	values := map[string]string{}
	for _, f := range e.provider.Fields {
		if f.Setup == setup && e.values[f.Name] != "" {
			values[f.Name] = e.values[f.Name]
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, request)
}

// createConnection asks for what is missing and creates the connection. On a terminal, what the provider refuses can be entered again.
func createConnection(ctx context.Context, service *client.Client, e *entry, create client.CreateConnection) (out client.Connection,
	err error) {
	if err := e.fill(ctx, false); err != nil {
		return out, err
	}
	for {
		if err := e.into(false, &create); err != nil {
			return out, err
		}
		if e.terminal {
			fmt.Fprintf(e.out, "Asking %s …\n", e.provider.Title)
		}
		out, err = service.CreateConnection(ctx, create)
		if err == nil {
			return out, nil
		}
		again, failed := e.again(ctx, err)
		if failed != nil {
			return out, failed
		}
		if !again {
			return out, err
		}
	}
}

// describeSetup prints the page that somebody has to open, if there is one.
func (s *settings) describeSetup(c client.Connection) {
	if a := c.AuthorizationAttempt; a != nil && c.RedirectURL != nil {
		fmt.Fprintf(s.out, "Open this page in a browser to connect the account. It can be used until %s UTC:\n\n  %s\n\n",
			a.ExpiresAt.UTC().Format(minutes), *c.RedirectURL)
	}
}

// awaitConnection waits until the setup of a connection is finished and its account was read, and prints what came of it. before is the
// latest synchronization before the setup, or nil.
func (s *settings) awaitConnection(ctx context.Context, service *client.Client, d *dialog, c client.Connection,
	before *client.ConnectionRun) error {
	const consequence = "the connection stays, and goes on by itself; `bursar connections show` shows how far it is"
	if c.RedirectURL != nil {
		s.describeSetup(c)
		s.offerToOpen(ctx, d, *c.RedirectURL)
		var err error
		if c, err = s.awaitSetup(ctx, service, c); err != nil {
			return interrupted(err, consequence)
		}
		fmt.Fprintln(s.out, "The setup is finished.")
	}
	return interrupted(s.awaitSync(ctx, service, c, before), consequence)
}

// offerToOpen opens a page in the browser of the person at the terminal, who has to agree.
func (s *settings) offerToOpen(ctx context.Context, d *dialog, address string) {
	if !d.terminal {
		return
	}
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	path, err := exec.LookPath(name)
	if err != nil || !isWebAddress(address) {
		return
	}
	if answer, err := d.ask(ctx, "Open it now? [Y/n] ", false); err != nil || strings.HasPrefix(strings.ToLower(answer), "n") {
		return
	}
	if err := exec.CommandContext(ctx, path, args...).Start(); err != nil {
		fmt.Fprintf(s.err, "It cannot be opened from here: %v\n", err)
	}
}

// awaitEvery is how often the state of a connection is read while somebody waits.
const awaitEvery = time.Second

// awaitSetup waits until a setup is over.
func (s *settings) awaitSetup(ctx context.Context, service *client.Client, c client.Connection) (client.Connection, error) {
	fmt.Fprintln(s.err, "Waiting until the setup is finished there. Ctrl-C stops waiting, and the page still works.")
	began := c.AuthorizationAttempt.ID
	for {
		if err := sleep(ctx, awaitEvery); err != nil {
			return c, err
		}
		now, err := service.Connection(ctx, c.ID)
		if err != nil {
			return c, err
		}
		a := now.AuthorizationAttempt
		again := fmt.Sprintf("`bursar connections reauthorize %s` begins another setup", c.ID)
		switch {
		case a == nil || a.ID != began:
			return c, errors.New("another setup was begun instead")
		case a.Status == "completed":
			return now, nil
		case now.Status == "disconnected":
			return c, errors.New("nobody has finished the setup in time: connect the account again")
		case a.Status == "failed" && a.Error != nil: // consent was declined, for example
			return c, fmt.Errorf("%s\n%s", *a.Error, again)
		case a.Status != "pending":
			return c, fmt.Errorf("nobody has finished the setup in time: %s", again)
		}
	}
}
