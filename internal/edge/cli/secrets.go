package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
)

func (s *settings) secrets() *cobra.Command {
	c := &cobra.Command{
		Use:   "secrets",
		Short: "Show and rotate the key that encrypts credentials",
		Long: "Show and rotate the key that encrypts what is secret in the database: credentials of connections, secrets of webhook\n" +
			"endpoints, authenticator apps and passkeys. The key is in the file secret.key in the data folder, in clear or encrypted by\n" +
			"a KMS.",
		Example: "  bursar secrets status\n  bursar secrets rotate",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.secretsStatus(), s.rotateSecrets())
	return c
}

const kmsUsage = "address of a key of the Transit engine of HashiCorp Vault or OpenBao that encrypts the file secret.key, such as " +
	"hcvault://vault.example.com:8200/transit/keys/bursar; VAULT_TOKEN and VAULT_NAMESPACE are for it"

// keyWith returns the key that encrypts credentials, whose file is encrypted by a KMS if an address of one is given.
func keyWith(data, kms string) (*seal.Key, error) {
	text, path := secret.New(os.Getenv("BURSAR_SECRET_KEY")), filepath.Join(data, seal.File)
	if kms == "" {
		return seal.New(text, path), nil
	}
	v, err := seal.ParseVault(kms, secret.New(os.Getenv("VAULT_TOKEN")), os.Getenv("VAULT_NAMESPACE"))
	if err != nil {
		return nil, fmt.Errorf("--kms-uri: %w", err)
	}
	return seal.NewProtected(text, path, v), nil
}

// existingKey is keyWith for a key that exists: these commands create none.
func (s *settings) existingKey(c *cobra.Command, kms string) (*seal.Key, error) {
	k, err := keyWith(s.data, kms)
	if err != nil {
		return nil, &usageError{err, c.CommandPath()}
	}
	if _, err := os.Stat(filepath.Join(s.data, seal.File)); err != nil && os.Getenv("BURSAR_SECRET_KEY") == "" {
		return nil, fmt.Errorf("there is no key in %s: it is created when something is encrypted first; set its folder with --data", s.data)
	}
	return k, nil
}

func (s *settings) secretsStatus() *cobra.Command {
	var kms string
	c := &cobra.Command{
		Use:   "status",
		Short: "Show where the key is, and how many values are sealed under which key",
		Long: "Show where the key is that encrypts credentials, whether its file is encrypted by a KMS, and how many values are sealed under\n" +
			"which key. Keys are shown by their ids, which are no secrets. The service can be running.",
		Example: "  bursar secrets status\n  bursar secrets status --kms-uri hcvault://vault.example.com:8200/transit/keys/bursar",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			k, err := s.existingKey(c, kms)
			if err != nil {
				return err
			}
			return s.reading(c.Context(), func(a *app.App) error { return s.printSecrets(c.Context(), a, k) })
		},
	}
	text(c.Flags(), &kms, "kms-uri", "BURSAR_KMS_URI", "", kmsUsage)
	return c
}

func (s *settings) printSecrets(ctx context.Context, a *app.App, k *seal.Key) error {
	state, err := k.State()
	if err != nil {
		return err
	}
	counts, err := a.CountSealed(ctx)
	if err != nil {
		return err
	}
	switch {
	case state.Path == "":
		fmt.Fprintln(s.out, "The key is the text of BURSAR_SECRET_KEY.")
	case state.Encrypted:
		fmt.Fprintf(s.out, "The key is in %s, encrypted by a KMS.\n", state.Path)
	default:
		fmt.Fprintf(s.out, "The key is in %s, in clear: who can read the file and the database can read all credentials.\n", state.Path)
	}
	ids, lost := slices.Clone(state.Keys), 0
	for _, c := range counts {
		for id, n := range c.ByKey {
			if !slices.Contains(state.Keys, id) {
				lost += n
			}
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cells []string) { fmt.Fprintf(t, "  %-44s\t%s\t\n", name, strings.Join(cells, "\t")) }
	var heads, roles []string
	for _, id := range ids {
		heads = append(heads, id.String())
		switch {
		case id == state.Primary:
			roles = append(roles, "seals")
		case !slices.Contains(state.Keys, id):
			roles = append(roles, "unknown")
		default:
			roles = append(roles, "opens")
		}
	}
	fmt.Fprintln(s.out)
	row("Sealed under the key", heads)
	row("", roles)
	for _, c := range counts {
		cells := make([]string, len(ids))
		for n, id := range ids {
			cells[n] = fmt.Sprint(c.ByKey[id])
		}
		row(c.Title, cells)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if lost > 0 {
		fmt.Fprintf(s.out, "\n%s sealed under a key that is not in the keyset and cannot be read: enter those credentials again, or\n"+
			"restore the key.\n", counted(lost, "value"))
	}
	if len(state.Keys) > 1 {
		fmt.Fprintf(s.out, "\nA rotation is not finished: `bursar secrets rotate%s` continues it.\n", s.flags())
	}
	return nil
}

func (s *settings) rotateSecrets() *cobra.Command {
	var kms string
	var r app.Rotation
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the key that encrypts credentials",
		Long: "Replace the key that encrypts credentials: adds a key to the file, seals everything that is stored under it, verifies that,\n" +
			"and removes the former key. The service can be running, and reads the file again by itself. If the command is interrupted,\n" +
			"run it again: it continues. With --kms-uri, a file in clear is encrypted by the KMS first.\n\n" +
			"If several nodes have copies of the file, run it with --add-only, copy the file to all nodes, run it again without, and copy the\n" +
			"file once more.\n\n" +
			"Backups from before can be read only with the former key: keep a copy of the file with them.",
		Example: "  bursar secrets rotate\n  bursar secrets rotate --add-only\n" +
			"  bursar secrets rotate --kms-uri hcvault://vault.example.com:8200/transit/keys/bursar",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if r.Settle < 0 {
				return &usageError{errors.New("--settle must not be negative"), c.CommandPath()}
			}
			k, err := s.existingKey(c, kms)
			if err != nil {
				return err
			}
			unlock, err := k.Lock()
			if err != nil {
				return err
			}
			defer unlock()
			r.Progress = func(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }
			return s.reading(c.Context(), func(a *app.App) error { return s.rotate(c.Context(), a, k, kms != "", r) })
		},
	}
	text(c.Flags(), &kms, "kms-uri", "BURSAR_KMS_URI", "", kmsUsage)
	c.Flags().BoolVar(&r.AddOnly, "add-only", false, "only add a key, which does not seal yet")
	c.Flags().DurationVar(&r.Settle, "settle", time.Minute,
		"how long to wait before the former key is removed, for requests that have used it and are not finished")
	return c
}

func (s *settings) rotate(ctx context.Context, a *app.App, k *seal.Key, protect bool, r app.Rotation) error {
	if state, err := k.State(); err != nil {
		return err
	} else if protect && !state.Encrypted {
		if err := k.Protect(); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s is encrypted by the KMS now. Start the service with the same --kms-uri.\n", state.Path)
	}
	done, err := a.Rotate(ctx, k, r)
	if err != nil {
		return interrupted(err, "nothing is lost; run the command again to continue")
	}
	switch {
	case r.AddOnly && !done.Added:
		fmt.Fprintf(s.out, "The key %s is there already. Copy %s to all nodes, and run the command without --add-only.\n", done.Newest(),
			done.Path)
	case r.AddOnly:
		fmt.Fprintf(s.out, "Added the key %s. Copy %s to all nodes, and run the command without --add-only.\n", done.Newest(), done.Path)
	case done.Waiting > 0:
		fmt.Fprintf(s.out, "The key %s seals, and %s sealed under it again. The former key is still needed by %s not sent yet:\n"+
			"run the command again later to remove it.\n", done.Primary, were(done.Renewed), counted(done.Waiting, "message"))
	default:
		fmt.Fprintf(s.out, "The key %s seals, and %s sealed under it again. The former key is removed: backups from before need a copy of it.\n",
			done.Primary, were(done.Renewed))
	}
	return nil
}

func were(n int) string {
	if n == 1 {
		return "1 value was"
	}
	return counted(n, "value") + " were"
}
