package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	path := filepath.Join(s.data, seal.File)
	if _, err := os.Stat(path); err == nil || os.Getenv("BURSAR_SECRET_KEY") != "" {
		return k, nil
	}
	lost := 0
	err = s.reading(c.Context(), func(a *app.App) (err error) {
		lost, err = unreadable(c.Context(), a, nil)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case lost > 0:
		return nil, fmt.Errorf("%s sealed in the database and cannot be read, because the file %s is missing: restore it from where its "+
			"copy is, or set its folder with --data", are(lost), path)
	}
	return nil, fmt.Errorf("there is no key in %s: it is created when something is encrypted first; set its folder with --data", s.data)
}

// unreadable returns how many values are sealed under other keys than these.
func unreadable(ctx context.Context, a *app.App, keys []seal.KeyID) (lost int, err error) {
	counts, err := a.CountSealed(ctx)
	for _, c := range counts {
		for id, n := range c.ByKey {
			if !slices.Contains(keys, id) {
				lost += n
			}
		}
	}
	return lost, err
}

// warnOfLostKey logs that there are sealed values that cannot be read.
func (s *settings) warnOfLostKey(ctx context.Context, a *app.App, k *seal.Key, log *slog.Logger) {
	path := filepath.Join(s.data, seal.File)
	var keys []seal.KeyID
	if _, err := os.Stat(path); err == nil || os.Getenv("BURSAR_SECRET_KEY") != "" {
		state, err := k.State()
		if err != nil {
			log.Error("the key that encrypts credentials cannot be read", "error", err)
			return
		}
		keys = state.Keys
	}
	lost, err := unreadable(ctx, a, keys)
	if err != nil {
		log.Warn("whether all sealed values can be read was not checked", "error", err)
	}
	if lost > 0 {
		log.Error("values are sealed under a key that this service does not have, such as credentials of connections: restore the file of the "+
			"key, or enter them again", "values", lost, "file", path)
	}
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
	force := false
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the key that encrypts credentials",
		Long: "Replace the key that encrypts credentials: adds a key to the file, seals everything that is stored under it, verifies that,\n" +
			"and removes the former key. The service can be running, and reads the file again by itself. If the command is interrupted,\n" +
			"run it again: it continues. With --kms-uri, a file in clear is encrypted by the KMS first.\n\n" +
			"If several nodes have copies of the file, run it with --add-only, copy the file to all nodes, run it again without, and copy the\n" +
			"file once more.\n\n" +
			"If values cannot be read because their key is missing, nothing is rotated without --force, which gives them up.\n\n" +
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
			return s.reading(c.Context(), func(a *app.App) error {
				if err := s.requireReadable(c.Context(), a, k, force); err != nil {
					return err
				}
				return s.rotate(c.Context(), a, k, kms != "", r)
			})
		},
	}
	text(c.Flags(), &kms, "kms-uri", "BURSAR_KMS_URI", "", kmsUsage)
	c.Flags().BoolVar(&force, "force", false, "rotate although there are values that cannot be read, because their key is lost")
	c.Flags().BoolVar(&r.AddOnly, "add-only", false, "only add a key, which does not seal yet")
	c.Flags().DurationVar(&r.Settle, "settle", time.Minute,
		"how long to wait before the former key is removed, for requests that have used it and are not finished")
	return c
}

// requireReadable returns an error if values are sealed under a key that is missing, unless they are given up.
func (s *settings) requireReadable(ctx context.Context, a *app.App, k *seal.Key, force bool) error {
	state, err := k.State()
	if err != nil {
		return err
	}
	lost, err := unreadable(ctx, a, state.Keys)
	switch {
	case err != nil || lost == 0:
		return err
	case force:
		fmt.Fprintf(s.err, "%s sealed under a key that is missing, and stay unreadable.\n", are(lost))
		return nil
	}
	return fmt.Errorf("%s sealed under a key that is not in the keyset and cannot be read: restore the key first, or give them up with "+
		"--force", are(lost))
}

func are(n int) string {
	if n == 1 {
		return "1 value is"
	}
	return counted(n, "value") + " are"
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
	if !r.AddOnly {
		fmt.Fprintln(s.err, "The former key is removed at the end, and backups from before can be read only with it: keep a copy of its file "+
			"with them.")
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
