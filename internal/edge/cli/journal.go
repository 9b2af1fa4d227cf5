package cli

import (
	"cmp"
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
	"github.com/bursarhq/bursar/internal/app/archive"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// extensions maps extensions of file names to formats.
var extensions = map[string]notation.Format{
	".journal": notation.Hledger, ".hledger": notation.Hledger, ".j": notation.Hledger, ".ledger": notation.Hledger,
	".beancount": notation.Beancount, ".bean": notation.Beancount, ".csv": notation.CSV,
}

// journalFlags are the flags of import and export.
type journalFlags struct {
	format       string
	organization string
	entity       string
}

// organizationUsage is the help text of --organization where it is optional.
const organizationUsage = "id of the organization; optional if there is only one"

func (x *journalFlags) flags(c *cobra.Command, entity string) {
	f := c.Flags()
	f.StringVar(&x.format, "format", "", "hledger, beancount, csv or bursar; by default, the extension of the file decides")
	f.StringVar(&x.organization, "organization", "", organizationUsage)
	f.StringVar(&x.entity, "legal-entity", "", entity)
}

// formatOf returns the format that the flag or the extension of the file names.
func (x *journalFlags) formatOf(c *cobra.Command, file string) (notation.Format, error) {
	if x.format == "" {
		if f, ok := extensions[strings.ToLower(filepath.Ext(file))]; ok {
			return f, nil
		}
		return "", &usageError{errors.New("--format is required: hledger, beancount, csv or bursar"), c.CommandPath()}
	}
	f, err := notation.ParseFormat(x.format)
	if err != nil {
		return "", &usageError{fmt.Errorf("--format must be hledger, beancount, csv or bursar, not %q", x.format), c.CommandPath()}
	}
	return f, nil
}

// organizationsShown limits how many organizations a message lists.
const organizationsShown = 20

// actFor returns a context that acts for the organization that is named, or for the only one if none is.
func actFor(c *cobra.Command, a *app.App, named string) (context.Context, error) {
	act := func(organization string) (context.Context, error) {
		return actor.With(c.Context(), actor.Actor{OrganizationID: organization}), nil
	}
	if err := checkOrganization(c, named); err != nil {
		return nil, err
	}
	ids, err := a.Org.IDs(c.Context())
	switch {
	case err != nil:
		return nil, err
	case named != "" && !slices.Contains(ids, named):
		list, err := organizationList(c.Context(), a, ids)
		return nil, errors.Join(err, fmt.Errorf("organization not found: %s; this database has\n  %s", named,
			cmp.Or(list, "no organization yet: create one with `bursar init`")))
	case named != "":
		return act(named)
	case len(ids) == 0:
		return nil, errors.New("there is no organization yet: create one with `bursar init`")
	case len(ids) > 1:
		list, err := organizationList(c.Context(), a, ids)
		if err != nil {
			return nil, err
		}
		return nil, &usageError{fmt.Errorf("there are %d organizations: choose one with --organization:\n  %s", len(ids), list),
			c.CommandPath()}
	}
	return act(ids[0])
}

// organizationList returns the ids and names of the first of some organizations, each on a line.
func organizationList(ctx context.Context, a *app.App, ids []string) (string, error) {
	var lines []string
	for _, one := range ids[:min(len(ids), organizationsShown)] {
		o, err := a.Org.Get(actor.With(ctx, actor.Actor{OrganizationID: one}))
		if err != nil {
			return "", err
		}
		lines = append(lines, one+"  "+o.Name)
	}
	return strings.Join(lines, "\n  "), nil
}

// checkOrganization returns a usage error if --organization is set and is not an id.
func checkOrganization(c *cobra.Command, named string) error {
	if named != "" && !id.Valid(id.Organization, named) {
		return &usageError{fmt.Errorf("--organization must be an id such as org_01jd…, not %q", named), c.CommandPath()}
	}
	return nil
}

func (s *settings) importJournal() *cobra.Command {
	x, dry, keep := &journalFlags{}, false, false
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Import a journal in hledger, beancount or CSV format, or a whole organization",
		Long: "Import a journal: the whole file or nothing.\n\n" +
			"Missing accounts, tags, accounting periods and exchange rates are created; legal entities must exist. Entries get new\n" +
			"numbers. Entries exported by Bursar carry ids and are added once. Entries without ids, as in a journal written by hand,\n" +
			"are added again at every import: use --dry-run first. FILE may be - for standard input.\n" +
			"For a journal that uses more than plain entries, import the output of `hledger print -x`.\n\n" +
			"The archive of a whole organization, which `bursar export --organization` has written to a file that ends in .bursar, has its\n" +
			"entries, transactions, documents, rules, the audit log and everything else. It goes into a database that does not have the\n" +
			"organization, SQLite or PostgreSQL, with the same schema. Every record keeps its id, what was stored is compared with the file,\n" +
			"and all invariants are verified before anything is committed. People set new passwords, API keys are revoked, apps are\n" +
			"disconnected, and connections and webhook endpoints wait for new credentials and secrets. The guide /docs/guides/move-books of\n" +
			"a running service says more.\n\n" +
			"Use `bursar import transactions` for exports of banks and exchanges, `bursar import invoices` for invoices, and\n" +
			"`bursar import prices` for prices of assets.",
		Example: "  bursar import books.journal\n  bursar import --format csv --legal-entity \"Acme GmbH\" --dry-run entries.csv\n  " +
			"hledger -f all.journal print -x | bursar import --format hledger -\n  bursar import acme.bursar",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.importBooks(c, x, args[0], archive.ImportParams{DryRun: dry, KeepFindings: keep})
		},
	}
	x.flags(c, "id or name of the legal entity for entries that name none; optional if there is only one")
	c.Flags().BoolVar(&dry, "dry-run", false, "print what would be imported, without changing anything")
	c.Flags().BoolVar(&keep, "keep-findings", false, "import a whole organization although verification finds something that should not be")
	c.AddCommand(s.importTransactions(), s.importInvoices(), s.importPrices())
	return c
}

// importBooks imports a journal, or the archive of an organization: its content says so, whatever its name is.
func (s *settings) importBooks(c *cobra.Command, x *journalFlags, file string, p archive.ImportParams) error {
	journal := interchange.ImportParams{Name: filepath.Base(file), LegalEntity: x.entity, Dry: p.DryRun}
	var unknown error // the format is not known before the file was looked at
	if !x.isArchive(file) {
		journal.Format, unknown = x.formatOf(c, file)
		switch {
		case unknown != nil && (x.format != "" || file == standard && isTerminal(os.Stdin)):
			return unknown
		case unknown == nil && p.KeepFindings:
			return &usageError{errors.New("--keep-findings is for whole organizations only"), c.CommandPath()}
		}
	}
	if unknown == nil {
		if err := s.exists(); err != nil {
			return err
		}
	}
	in, err := openInput(c.Context(), file)
	if err != nil {
		return cmp.Or(unknown, interrupted(err, "nothing was imported"))
	}
	defer in.close()
	switch {
	case x.isArchive(file), x.format == "" && archive.Looks(in):
		return s.importArchive(c, in, file, p)
	case unknown != nil:
		return unknown
	}
	if err := in.requireText(file); err != nil {
		return err
	}
	return s.with(c.Context(), func(a *app.App) error { return s.importInto(c, a, x, journal, in) })
}

func (s *settings) importInto(c *cobra.Command, a *app.App, x *journalFlags, p interchange.ImportParams, in io.ReadSeeker) error {
	ctx, err := actFor(c, a, x.organization)
	if err != nil {
		return err
	}
	bar := s.bar("read")
	p.Progress = bar.show
	done, err := a.Exchange.Import(ctx, p, in)
	bar.end()
	if err != nil {
		return interrupted(places(err), "nothing was imported")
	}
	verb := "Imported"
	if p.Dry {
		verb = "Would import"
	}
	fmt.Fprintf(s.out, "%s %s, %s and %s.\n", verb, counted(done.Entries, "entry"), counted(done.Accounts, "new account"),
		counted(done.Rates, "exchange rate"))
	for _, note := range []struct {
		n    int
		text string
	}{
		{done.Known, "already present"},
		{done.Empty, "skipped, because it moves nothing"},
		{done.Moved, "moved to the first open period, because its own is closed"},
	} {
		if note.n > 0 {
			fmt.Fprintf(s.out, "%s: %s.\n", counted(note.n, "entry"), note.text)
		}
	}
	return nil
}

func (s *settings) exportJournal() *cobra.Command {
	x, output, drafts := &journalFlags{}, "", false
	c := &cobra.Command{
		Use:   "export",
		Short: "Export the books in hledger, beancount or CSV format, or a whole organization",
		Long: "Export the chart of accounts, exchange rates and all entries in a format that hledger, beancount or a spreadsheet reads.\n" +
			"`bursar import` reads it back. The export is a consistent snapshot and can run beside the service.\n\n" +
			"In hledger and beancount format, drafts are pending (!), posted entries are cleared (*), and amounts in other currencies\n" +
			"carry their cost in the base currency of the legal entity. The tag or metadata `entity` names the legal entity of a posting.\n" +
			"CSV contains neither exchange rates nor accounts without entries.\n\n" +
			"With the format bursar, or with --organization and nothing else, the whole organization is written to one file, which\n" +
			"`bursar import` reads into another database, SQLite or PostgreSQL: entries, transactions, documents, rules, the audit log and\n" +
			"everything else, with all ids. Passwords, sessions, tokens and the credentials of connections are not in it.",
		Example: "  bursar export --format hledger > books.journal && hledger -f books.journal balancesheet --cleared --cost\n" +
			"  hledger -f books.journal incomestatement --cleared --cost tag:entity='^Acme GmbH$'\n" +
			"  bursar export --output books.beancount --no-drafts\n  bursar export --format csv --legal-entity \"Acme GmbH\" --output acme.csv\n" +
			"  bursar export --organization org_01jd…    # writes org_01jd….bursar\n  bursar export --output acme.bursar",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case x.isArchive(output):
				return s.exportArchive(c, x, output)
			case x.format == "" && output == "" && x.organization != "":
				if err := checkOrganization(c, x.organization); err != nil {
					return err
				}
				return s.exportArchive(c, x, x.organization+archiveExtension)
			}
			format, err := x.formatOf(c, output)
			if err != nil {
				return err
			}
			return s.readingFor(c, x.organization, func(ctx context.Context, a *app.App) error {
				bar := s.bar("written")
				p := interchange.ExportParams{LegalEntity: x.entity, WithoutDrafts: drafts, Progress: bar.show}
				err := s.writeOutput(output, func(w io.Writer) error {
					n := notation.NewWriter(format, w)
					if err := a.Exchange.Export(ctx, p, n); err != nil {
						return err
					}
					return n.Close()
				})
				bar.end()
				return interrupted(err, "the export is incomplete")
			})
		},
	}
	x.flags(c, "id or name of a legal entity; only entries with a line of it are exported, with all their lines")
	c.Flags().StringVarP(&output, "output", "o", "", "file to create; by default, or with -, standard output")
	c.Flags().BoolVar(&drafts, "no-drafts", false, "do not export drafts")
	return c
}

// placesMax limits how many places of a file are listed: a mistake that is made once is often made everywhere.
const placesMax = 20

// places lists the places in a file that are at fault, one per line.
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
