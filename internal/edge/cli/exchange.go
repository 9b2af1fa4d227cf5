package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/interchange"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// extensions tell a format by the name of a file.
var extensions = map[string]notation.Format{
	".journal": notation.Hledger, ".hledger": notation.Hledger, ".j": notation.Hledger, ".ledger": notation.Hledger, ".beancount": notation.Beancount, ".bean": notation.Beancount, ".csv": notation.CSV,
}

// exchange are the flags of import and export.
type exchange struct {
	format       string
	organization string
	entity       string
}

func (x *exchange) flags(c *cobra.Command, entity string) {
	f := c.Flags()
	f.StringVar(&x.format, "format", "", "hledger, beancount or csv; without it, the file's name tells")
	f.StringVar(&x.organization, "organization", "", "id of the organization; may be left out when there is only one")
	f.StringVar(&x.entity, "legal-entity", "", entity)
}

// of finds the format, by the flag or by the file.
func (x *exchange) of(c *cobra.Command, file string) (notation.Format, error) {
	if x.format == "" {
		if f, ok := extensions[strings.ToLower(filepath.Ext(file))]; ok {
			return f, nil
		}
		return "", &usageError{errors.New("--format is required: hledger, beancount or csv"), c.CommandPath()}
	}
	f, err := notation.ParseFormat(x.format)
	if err != nil {
		return "", &usageError{fmt.Errorf("--format must be hledger, beancount or csv"), c.CommandPath()}
	}
	return f, nil
}

// as acts for the organization that is named, or for the only one.
func (x *exchange) as(ctx context.Context, a *app.App) (context.Context, error) {
	ids, err := a.Org.All(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case x.organization != "" && !id.Valid(id.Organization, x.organization):
		return nil, fmt.Errorf("--organization must be an id such as org_01jd…")
	case x.organization != "":
		return actor.With(ctx, actor.Actor{OrganizationID: x.organization}), nil
	case len(ids) == 0:
		return nil, fmt.Errorf("there is no organization yet: make one with `bursar init`")
	case len(ids) > 1:
		return nil, fmt.Errorf("there are %d organizations: say which with --organization, one of\n  %s", len(ids), strings.Join(ids[:min(len(ids), 20)], "\n  "))
	}
	return actor.With(ctx, actor.Actor{OrganizationID: ids[0]}), nil
}

func (s *settings) importJournal() *cobra.Command {
	x, dry := &exchange{}, false
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Read a journal of hledger, beancount or CSV into the books",
		Long: "Read a journal into the books, all of it or nothing. Accounts, tags, months and rates that it names and the books lack are made;\n" +
			"legal entities must be there. Entries that came from these books, by their id, are not read twice. Use - for standard input.\n" +
			"A journal that uses more than plain entries is made plain by `hledger print -x`.",
		Example: "  bursar import books.journal\n  bursar import --format csv --legal-entity \"Acme GmbH\" --dry-run entries.csv\n  hledger -f all.journal print -x | bursar import --format hledger -",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			format, err := x.of(c, args[0])
			if err != nil {
				return err
			}
			in, size, err := source(args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			return s.with(c.Context(), func(a *app.App) error {
				ctx, err := x.as(c.Context(), a)
				if err != nil {
					return err
				}
				p := interchange.ImportParams{Format: format, Name: filepath.Base(args[0]), LegalEntity: x.entity, Dry: dry}
				done, err := a.Exchange.Import(ctx, p, &counting{Reader: in, total: size, tell: s.share("read")})
				if err != nil {
					return places(err)
				}
				verb := "Imported"
				if dry {
					verb = "Would import"
				}
				fmt.Fprintf(s.out, "%s %s; made %s and stored %s.\n", verb, counted(done.Entries, "entry"), counted(done.Accounts, "account"), counted(done.Rates, "rate"))
				if done.Known > 0 {
					fmt.Fprintf(s.out, "%s here already.\n", counted(done.Known, "entry"))
				}
				return nil
			})
		},
	}
	x.flags(c, "id or name of the legal entity that takes entries which name none; may be left out when there is only one")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be read, and change nothing")
	return c
}

func (s *settings) exportJournal() *cobra.Command {
	x, output, drafts := &exchange{}, "", false
	c := &cobra.Command{
		Use:     "export",
		Short:   "Write the books as a journal of hledger, beancount or CSV",
		Long:    "Write the chart of accounts, the rates and every entry as text that hledger, beancount or a spreadsheet reads, and that `bursar import` reads back.\nIt only reads the books, from one snapshot, and can run while the service does.",
		Example: "  bursar export --format hledger > books.journal && hledger -f books.journal balancesheet\n  bursar export --output books.beancount --no-drafts\n  bursar export --format csv --legal-entity le_… --output acme.csv",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			format, err := x.of(c, output)
			if err != nil {
				return err
			}
			return s.reading(c.Context(), func(a *app.App) error {
				ctx, err := x.as(c.Context(), a)
				if err != nil {
					return err
				}
				p := interchange.ExportParams{LegalEntityID: x.entity, WithoutDrafts: drafts}
				return s.into(output, func(w io.Writer) error {
					n := notation.NewWriter(format, w)
					if err := a.Exchange.Export(ctx, p, n, s.share("written")); err != nil {
						return err
					}
					return n.Close()
				})
			})
		},
	}
	x.flags(c, "id of a legal entity; only entries with a line of it are written")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, which must not exist; without it, standard output")
	c.Flags().BoolVar(&drafts, "no-drafts", false, "leave drafts out")
	return c
}

// source opens a file, or standard input, whose size nobody knows.
func source(file string) (io.ReadCloser, int64, error) {
	if file == "-" {
		return io.NopCloser(os.Stdin), 0, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// into writes a new file, or standard output. A file that could not be written whole is taken away.
func (s *settings) into(file string, write func(io.Writer) error) error {
	if file == "" {
		return write(s.out)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already; name a new file", file)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// counting tells how much of a file was read.
type counting struct {
	io.Reader
	done, total int64
	tell        func(done, total int64)
}

// Read reads on.
func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.done += int64(n)
	if c.total > 0 {
		c.tell(c.done, c.total)
	}
	return n, err
}

// share draws a bar on a terminal, each time a hundredth more is done.
func (s *settings) share(what string) func(done, total int64) {
	f, ok := s.err.(*os.File)
	if !ok || !isTerminal(f) {
		return func(int64, int64) {}
	}
	const width = 40
	last := int64(-1)
	return func(done, total int64) {
		percent := 100 * done / max(total, 1)
		if percent == last {
			return
		}
		last = percent
		full := int(percent) * width / 100
		fmt.Fprintf(f, "\r[%s%s] %3d%% %s", strings.Repeat("#", full), strings.Repeat(".", width-full), percent, what)
		if percent == 100 {
			fmt.Fprintln(f)
		}
	}
}

// places tells every place in a file that is to blame, one a line.
func places(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err
	}
	parts := []string{f.Message}
	for _, field := range f.Fields {
		parts = append(parts, field.Name+" "+field.Message)
	}
	return errors.New(strings.Join(parts, "\n  "))
}
