package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/seal"
)

func (s *settings) migrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database",
		Long: "Migrate the database to the schema of this version, and exit.\n" +
			"`bursar serve` does the same when it starts. Nodes that start together wait for each other.",
		Example: "  bursar migrate --database-url postgres://bursar@db/bursar",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.creating(c.Context(), func(*app.App) error {
				fmt.Fprintln(s.out, "The schema is up to date.")
				return nil
			})
		},
	}
}

// counted returns a number with its noun, in the singular or the plural.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(stem, "e") { // entry, entries; but key, keys
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func (s *settings) backup() *cobra.Command {
	return &cobra.Command{
		Use:   "backup NEW-FILE",
		Short: "Back up a SQLite database while it is in use",
		Long: "Write a consistent copy of the SQLite database to a new file. The service can be running.\n" +
			"To restore it, stop the service, delete bursar.db, bursar.db-wal and bursar.db-shm in the data folder,\n" +
			"and copy the file there as bursar.db. An old -wal file beside a restored database would damage it.\n" +
			"For PostgreSQL use pg_dump; see docs/OPERATIONS.md.",
		Example: "  bursar backup bursar-$(date +%F).db",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "-" {
				return &usageError{errors.New("backup needs the name of a new file; it cannot write to standard output"), "bursar backup"}
			}
			err := s.reading(c.Context(), func(a *app.App) error { return a.DB.Backup(c.Context(), args[0]) })
			if err != nil {
				return err
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "Wrote %s, %d KiB.\n", args[0], (info.Size()+1023)/1024)
			fmt.Fprintf(s.out, "Keep a copy of %s too, and access to the KMS if that encrypts it: without the key,\n"+
				"credentials in the backup cannot be read.\n", filepath.Join(s.data, seal.File))
			return nil
		},
	}
}

func (s *settings) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of this program, the version of Go it was built with, and the platform.",
		Example: "  bursar version",
		Args:    noArgs,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintf(s.out, "bursar %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

// sentences joins the faults of a call into one error that names flags.
func sentences(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err
	}
	parts := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		parts[i] = "--" + flagOf(field.Name) + " " + field.Message
	}
	return errors.New(strings.Join(parts, "; "))
}

// otherFlags has the flags that are not spelled as the field of the API that they set.
var otherFlags = map[string]string{
	"legal_entity_ids": "legal-entity", "password": "password-stdin", "expires_at": "expires", "user_id": "user",
	"redirect_uris": "redirect-uri", "homepage_url": "homepage",
}

// flagOf returns the flag that sets a field of the API. The elements of a list have the flag of the list.
func flagOf(field string) string {
	name, _, _ := strings.Cut(field, "[")
	if flag, ok := otherFlags[name]; ok {
		return flag
	}
	return strings.ReplaceAll(name, "_", "-")
}
