package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
)

func (s *settings) migrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date",
		Long: "Bring the database's schema up to date and stop. `bursar serve` does the same when it starts; nodes that start " +
			"together take turns.",
		Example: "  bursar migrate --database-url postgres://bursar@db/bursar",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(*app.App) error {
				fmt.Fprintln(s.out, "The schema is up to date.")
				return nil
			})
		},
	}
}

func (s *settings) verify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Recompute every invariant of the data",
		Long: "Recompute every invariant of every organization from the data itself, name what is broken, and exit with 1 if " +
			"anything is.\nIt only reads, and can run while the service does.",
		Example: "  bursar verify\n  bursar verify --database-url postgres://bursar@db/bursar",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.reading(c.Context(), func(a *app.App) error {
				total := 0
				progress := s.progress("organizations verified")
				findings, err := a.Verify(c.Context(), func(done, all int) {
					total = all
					progress(done, all)
				})
				if err != nil {
					return err
				}
				for _, f := range findings {
					fmt.Fprintf(s.out, "%s: %s\n", f.OrganizationID, f.Text)
				}
				if len(findings) > 0 {
					return fmt.Errorf("%s broken", counted(len(findings), "invariant"))
				}
				fmt.Fprintf(s.out, "Everything holds in %s.\n", counted(total, "organization"))
				return nil
			})
		},
	}
}

// counted says a number of things as people do.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// progress shows how far long work is, on a terminal only.
func (s *settings) progress(what string) func(done, total int) {
	f, ok := s.err.(*os.File)
	if !ok || !isTerminal(f) {
		return func(int, int) {}
	}
	return func(done, total int) {
		fmt.Fprintf(f, "\r%d of %d %s", done, total, what)
		if done == total {
			fmt.Fprintln(f)
		}
	}
}

func (s *settings) backup() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy a SQLite database while it is in use",
		Long: "Write a consistent copy of the SQLite database to a new file, while the service runs. To restore, stop the service " +
			"and put the file in the data folder as bursar.db.\nFor PostgreSQL see docs/OPERATIONS.md.",
		Example: "  bursar backup bursar-$(date +%F).db",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := s.reading(c.Context(), func(a *app.App) error { return a.DB.Backup(c.Context(), args[0]) })
			if err != nil {
				return err
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "Wrote %s, %d KiB.\n", args[0], (info.Size()+1023)/1024)
			return nil
		},
	}
}

func (s *settings) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintf(s.out, "bursar %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

// sentences joins the faults of a call into one error fit for a terminal.
func sentences(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err
	}
	parts := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		parts[i] = "--" + field.Name + " " + field.Message
	}
	return errors.New(strings.Join(parts, "; "))
}
