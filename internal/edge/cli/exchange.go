package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// extensions tell a format by the name of a file.
var extensions = map[string]notation.Format{
	".journal": notation.Hledger, ".hledger": notation.Hledger, ".j": notation.Hledger, ".ledger": notation.Hledger,
	".beancount": notation.Beancount, ".bean": notation.Beancount, ".csv": notation.CSV,
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
func (x *exchange) as(c *cobra.Command, a *app.App) (context.Context, error) {
	act := func(organization string) (context.Context, error) {
		return actor.With(c.Context(), actor.Actor{OrganizationID: organization}), nil
	}
	if x.organization != "" && !id.Valid(id.Organization, x.organization) {
		return nil, &usageError{errors.New("--organization must be an id such as org_01jd…"), c.CommandPath()}
	}
	ids, err := a.Org.All(c.Context())
	switch {
	case err != nil:
		return nil, err
	case x.organization != "" && !slices.Contains(ids, x.organization):
		return nil, fault.Missing("organization")
	case x.organization != "":
		return act(x.organization)
	case len(ids) == 0:
		return nil, errors.New("there is no organization yet: make one with `bursar init`")
	case len(ids) > 1:
		return nil, &usageError{fmt.Errorf("there are %d organizations: say which with --organization, one of\n  %s", len(ids),
			strings.Join(ids[:min(len(ids), 20)], "\n  ")), c.CommandPath()}
	}
	return act(ids[0])
}

func (s *settings) importJournal() *cobra.Command {
	x, dry := &exchange{}, false
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Read a journal of hledger, beancount or CSV into the books",
		Long: "Read a journal into the books, all of it or nothing. Accounts, tags, months and rates that it names and the books " +
			"lack are made;\n" +
			"legal entities must be there. Entries keep their ids, so that what is here already is not read twice, and get new numbers.\n" +
			"Use - for standard input. A journal that uses more than plain entries is made plain by `hledger print -x`.\n" +
			"What banks and exchanges export is read by `bursar import transactions`, prices of assets by `bursar import prices`.",
		Example: "  bursar import books.journal\n  bursar import --format csv --legal-entity \"Acme GmbH\" --dry-run entries.csv\n  " +
			"hledger -f all.journal print -x | bursar import --format hledger -",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p := interchange.ImportParams{Name: filepath.Base(args[0]), LegalEntity: x.entity, Dry: dry}
			var err error
			if p.Format, err = x.of(c, args[0]); err != nil {
				return err
			}
			if err := s.exists(); err != nil {
				return err
			}
			in, err := source(c.Context(), args[0])
			if err != nil {
				return stopped(err, "nothing was imported")
			}
			defer in.close()
			return s.with(c.Context(), func(a *app.App) error { return s.readInto(c, a, x, p, in) })
		},
	}
	x.flags(c, "id or name of the legal entity that takes entries which name none; may be left out when there is only one")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be read, and change nothing")
	c.AddCommand(s.importTransactions(), s.importPrices())
	return c
}

func (s *settings) readInto(c *cobra.Command, a *app.App, x *exchange, p interchange.ImportParams, in io.ReadSeeker) error {
	ctx, err := x.as(c, a)
	if err != nil {
		return err
	}
	bar := s.bar("read")
	p.Progress = bar.show
	done, err := a.Exchange.Import(ctx, p, in)
	bar.end()
	if err != nil {
		return stopped(places(err), "nothing was imported")
	}
	verb := "Imported"
	if p.Dry {
		verb = "Would import"
	}
	fmt.Fprintf(s.out, "%s %s, %s and %s.\n", verb, counted(done.Entries, "entry"), counted(done.Accounts, "new account"),
		counted(done.Rates, "rate"))
	for _, note := range []struct {
		n    int
		text string
	}{
		{done.Known, "here already"},
		{done.Empty, "left out, because nothing moves in it"},
		{done.Moved, "moved to the first open month, because its own is closed"},
	} {
		if note.n > 0 {
			fmt.Fprintf(s.out, "%s: %s.\n", counted(note.n, "entry"), note.text)
		}
	}
	return nil
}

func (s *settings) exportJournal() *cobra.Command {
	x, output, drafts := &exchange{}, "", false
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the books as a journal of hledger, beancount or CSV",
		Long: "Write the chart of accounts, the rates and every entry as text that hledger, beancount or a spreadsheet reads, and that " +
			"`bursar import` reads back.\n" +
			"It only reads the books, from one snapshot, and can run while the service does.\n\n" +
			"To hledger and beancount drafts are pending (!), posted entries are cleared (*), and what is in another currency than the " +
			"legal entity's has its\n" +
			"cost in that. The tag or metadata `entity` says whose a posting is. CSV has neither rates nor accounts that nothing is booked on.",
		Example: "  bursar export --format hledger > books.journal && hledger -f books.journal balancesheet --cleared --cost\n" +
			"  hledger -f books.journal incomestatement --cleared --cost tag:entity='^Acme GmbH$'\n" +
			"  bursar export --output books.beancount --no-drafts\n  bursar export --format csv --legal-entity \"Acme GmbH\" --output acme.csv",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			format, err := x.of(c, output)
			if err != nil {
				return err
			}
			return s.reading(c.Context(), func(a *app.App) error {
				ctx, err := x.as(c, a)
				if err != nil {
					return err
				}
				bar := s.bar("written")
				p := interchange.ExportParams{LegalEntity: x.entity, WithoutDrafts: drafts, Progress: bar.show}
				err = s.into(output, func(w io.Writer) error {
					n := notation.NewWriter(format, w)
					if err := a.Exchange.Export(ctx, p, n); err != nil {
						return err
					}
					return n.Close()
				})
				bar.end()
				return stopped(err, "the journal is not whole")
			})
		},
	}
	x.flags(c, "id or name of a legal entity; only entries with a line of it are written, each of them whole")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, which must not exist; without it, standard output")
	c.Flags().BoolVar(&drafts, "no-drafts", false, "leave drafts out")
	return c
}

// stopped says what it means that a command was interrupted.
func stopped(err error, so string) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("stopped: %s", so)
	}
	return err
}

// input is a file that can be read more than once.
type input struct {
	*os.File
	temporary bool
}

func (in *input) close() {
	in.File.Close()
	if in.temporary {
		_ = os.Remove(in.File.Name())
	}
}

// source opens a file. What can be read only once, such as standard input or a pipe, is put into a file first: the
// journal is read from its start more than once, and nobody else's write waits while somebody types.
func source(ctx context.Context, file string) (*input, error) {
	in := os.Stdin
	if file != "-" {
		var err error
		if in, err = os.Open(file); err != nil {
			return nil, err
		}
	}
	info, err := in.Stat()
	if err == nil && info.Mode().IsRegular() && file != "-" {
		return &input{in, false}, nil
	}
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; name a file", file)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	kept, err := os.CreateTemp("", "bursar-import-")
	if err != nil {
		return nil, err
	}
	out := &input{kept, os.Remove(kept.Name()) != nil} // it is gone when this program is, however it ends, where the system allows that
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(kept, in)
		copied <- err
	}()
	select { // reading a terminal or a pipe cannot be broken off, but who reads can leave
	case err = <-copied:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		out.close()
		return nil, err
	}
	return out, nil
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

// bar shows on a terminal how much of long work is done, and nowhere else.
type bar struct {
	out  io.Writer // nil where there is no terminal
	what string
	last int64 // the percentage shown, or less than 0
}

func (s *settings) bar(what string) *bar {
	b := &bar{what: what, last: -1}
	if f, ok := s.err.(*os.File); ok && isTerminal(f) {
		b.out = f
	}
	return b
}

// show draws the bar anew each time a hundredth more is done.
func (b *bar) show(done, total int64) {
	const width = 40
	percent := 100 * done / max(total, 1)
	if b.out == nil || percent == b.last {
		return
	}
	b.last = percent
	full := int(percent) * width / 100
	fmt.Fprintf(b.out, "\r[%s%s] %3d%% %s", strings.Repeat("#", full), strings.Repeat(".", width-full), percent, b.what)
}

// end leaves the line of the bar, whether it is full or not.
func (b *bar) end() {
	if b.out != nil && b.last >= 0 {
		fmt.Fprintln(b.out)
	}
}

// placesMax bounds how many places of a file are blamed at once: a mistake that is made once is often made everywhere.
const placesMax = 20

// places tells every place in a file that is to blame, one a line.
func places(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err
	}
	parts := []string{f.Message}
	for i, field := range f.Fields {
		if i == placesMax {
			parts = append(parts, fmt.Sprintf("and %d more", len(f.Fields)-i))
			break
		}
		parts = append(parts, field.Name+" "+field.Message)
	}
	return errors.New(strings.Join(parts, "\n  "))
}
