package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
)

// changeFlags are the flags of connections update.
type changeFlags struct {
	remote
	fieldFlags
	name, classify string
	every          int
	credentials    bool
	wait           bool
}

func (s *settings) updateConnection() *cobra.Command {
	f := &changeFlags{remote: remote{scope: "apis.all"}}
	c := &cobra.Command{
		Use:   "update CONNECTION",
		Short: "Rename a connection, change its schedule, or enter new credentials",
		Long: "Change a connection: its name, how often its account is looked at, what happens to new transactions, or its credentials, which\n" +
			"must be of the same account. New credentials are checked at the provider, and the account is then read.",
		Example: "  bursar connections update Kraken --every 60\n  bursar connections update Kraken --credentials\n" +
			"  bursar connections update con_01jd… --classify draft",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error { return s.change(c, f, args[0]) },
	}
	f.remote.flags(c)
	f.fieldFlags.flags(c)
	c.Flags().StringVar(&f.name, "name", "", "new name")
	c.Flags().StringVar(&f.classify, "classify", "", "what happens to new transactions: suggest, draft, post, or none for nothing")
	c.Flags().IntVar(&f.every, "every", -1, "how often the account is looked at, in minutes: 5 to 10080, or 0 for only on request")
	c.Flags().BoolVar(&f.credentials, "credentials", false, "ask for all credentials again, or read them line by line from standard input")
	c.Flags().BoolVar(&f.wait, "wait", false, "after new credentials, wait until the account was read, and show the progress")
	return c
}

func (s *settings) change(c *cobra.Command, f *changeFlags, named string) error {
	var u client.UpdateConnection
	changed := c.Flags().Changed
	if changed("name") {
		u.Name = &f.name
	}
	if changed("every") {
		u.SyncEveryMinutes = &f.every
	}
	if changed("classify") {
		if u.Classify = client.Set(f.classify); f.classify == "none" {
			u.Classify = client.Null[string]()
		}
	}
	entered := f.credentials || changed("field") || changed("field-file")
	if u == (client.UpdateConnection{}) && !entered {
		return &usageError{errors.New("say what to change: --name, --every, --classify, --credentials or --field"), c.CommandPath()}
	}
	return s.onConnection(c, &f.remote, named, func(ctx context.Context, service *client.Client, found client.Connection) error {
		var e *entry
		if entered {
			var err error
			if e, err = s.newCredentials(ctx, c, service, f, found); err != nil {
				return err
			}
		}
		before, err := latestRun(ctx, service, found.ID)
		if err != nil {
			return err
		}
		after, err := sendChanges(ctx, service, found.ID, e, u)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Changed: %s %s (%s)\n", after.ID, after.Name, after.Status)
		switch {
		case !entered:
			return nil
		case f.wait:
			return interrupted(s.awaitSync(ctx, service, after, before), "the service goes on reading")
		}
		fmt.Fprintf(s.out, "The account is read with them now: `bursar connections show %s` shows what came of it.\n", after.ID)
		return nil
	})
}

// sendChanges changes a connection. What the provider refuses can be entered again on a terminal. A synchronization may change the
// connection at the same time, so that the etag is read late, and once more if it was too early.
func sendChanges(ctx context.Context, service *client.Client, id string, e *entry, u client.UpdateConnection) (out client.Connection,
	err error) {
	for repeated := false; ; {
		if e != nil {
			if err := e.into(false, &u); err != nil {
				return out, err
			}
		}
		now, err := service.Connection(ctx, id)
		if err != nil {
			return out, err
		}
		if out, err = service.IfMatch(now.ETag).UpdateConnection(ctx, id, u); err == nil {
			return out, nil
		}
		if said, ok := errors.AsType[*client.Error](err); ok && !repeated &&
			slices.ContainsFunc(said.Fields, func(f client.Field) bool { return f.Field == "If-Match" }) {
			repeated = true
			continue
		}
		if e == nil {
			return out, err
		}
		again, failed := e.again(ctx, err)
		if failed != nil {
			return out, failed
		}
		if !again {
			return out, err
		}
		repeated = false
	}
}

// newCredentials returns the fields that the flags name, and with --credentials all that can be replaced.
func (s *settings) newCredentials(ctx context.Context, c *cobra.Command, service *client.Client, f *changeFlags, found client.Connection) (
	*entry, error) {
	if found.AuthMethod == "oauth" {
		return nil, fmt.Errorf("%s was connected on a page of its provider: `bursar connections reauthorize %s` connects it once more",
			found.Name, found.ID)
	}
	all, err := providersOf(ctx, service)
	if err != nil {
		return nil, err
	}
	p, err := providerNamed(all, found.Provider)
	if err != nil {
		return nil, err
	}
	e, err := f.entry(c, s.dialog(), p)
	if err != nil {
		return nil, err
	}
	e.consequence = "nothing was changed"
	for _, field := range p.Fields {
		if !field.Setup && (e.asked[field.Name] || f.credentials && field.Required && !field.Shown && e.values[field.Name] == "") {
			if err := e.enter(ctx, field); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

func (s *settings) disconnect() *cobra.Command {
	r, yes := &remote{scope: "apis.all"}, false
	c := &cobra.Command{
		Use:   "disconnect CONNECTION",
		Short: "End a connection and erase its credentials",
		Long: "End a connection: its credentials are erased, the provider is asked to end the access, and the account is not read any more.\n" +
			"Transactions and sources stay. A connection that has ended cannot be used again, but the account can be connected again with\n" +
			"`bursar connect`, which then has to use the same source, so that no transaction is added twice: the command is printed.",
		Example: "  bursar connections disconnect Kraken\n  bursar connections disconnect con_01jd… --yes",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onConnection(c, r, args[0], func(ctx context.Context, service *client.Client, found client.Connection) error {
				if d := s.dialog(); d.terminal && !yes {
					answer, err := d.ask(ctx, fmt.Sprintf("End %s (%s) for good? [y/N] ", found.Name, found.ID), false)
					if err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
						return errors.Join(errors.New("nothing was changed"), err)
					}
				}
				after, err := service.Disconnect(ctx, found.ID)
				if err != nil {
					return err
				}
				fmt.Fprintf(s.out, "Disconnected: %s %s\n", after.ID, after.Name)
				if len(after.RetainedResources) > 0 {
					fmt.Fprintf(s.out, "What stays: %s\n", strings.Join(after.RetainedResources, ", "))
				}
				fmt.Fprintln(s.out, connectAgain(after)+".")
				if after.RevocationError != nil {
					fmt.Fprintf(s.err, "The provider did not end the access: %s\nEnd it there yourself.\n", *after.RevocationError)
				}
				return nil
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (s *settings) reauthorize() *cobra.Command {
	r, noWait := &remote{scope: "apis.all"}, false
	c := &cobra.Command{
		Use:   "reauthorize CONNECTION",
		Short: "Connect the account of a connection once more, on the page of its provider",
		Long: "Begin another setup of a connection that is set up on a page of its provider: prints the address of the page, and waits until\n" +
			"somebody has finished there. Until then, the connection goes on with the credentials that it has. For other connections, enter\n" +
			"new credentials with `bursar connections update --credentials`.",
		Example: "  bursar connections reauthorize \"Acme checking\"\n  bursar connections reauthorize con_01jd… --no-wait",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.onConnection(c, r, args[0], func(ctx context.Context, service *client.Client, found client.Connection) error {
				if found.AuthMethod != "oauth" && found.Status != "disconnected" {
					return fmt.Errorf("%s has no page of its provider to sign in at: `bursar connections update %s --credentials` enters new "+
						"credentials", found.Name, found.ID)
				}
				before, err := latestRun(ctx, service, found.ID)
				if err != nil {
					return err
				}
				if found, err = service.Reauthorize(ctx, found.ID, client.ReauthorizeConnection{}); err != nil {
					return err
				}
				if noWait {
					s.describeSetup(found)
					return nil
				}
				return s.awaitConnection(ctx, service, s.dialog(), found, before)
			})
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until the setup is finished")
	return c
}
