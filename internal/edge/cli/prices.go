package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/assets/price"
)

func (s *settings) importPrices() *cobra.Command {
	x, p := &journalFlags{}, price.ImportParams{}
	c := &cobra.Command{
		Use:   "prices FILE",
		Short: "Import prices of assets from a CSV file",
		Long: "Import prices of assets from a CSV file: the whole file or nothing.\n\n" +
			"The first line names the columns, in any order: asset_type (the symbol that transactions use), currency (ISO 4217),\n" +
			"timestamp or date, price, and optionally note. A date means the close of that day in the organization's time zone;\n" +
			"a timestamp is RFC 3339, such as 2026-01-31T23:59:59Z.\n\n" +
			"Importing a file again adds nothing. A different price for the same time is refused, unless --replace is set.\n" +
			"FILE may be - for standard input. The service can be running or stopped.",
		Example: "  printf 'asset_type,currency,date,price\\nBTC,USD,2026-01-31,64250.12\\n' > prices.csv\n" +
			"  bursar import prices prices.csv --dry-run\n  bursar import prices prices.csv\n  bursar import prices corrected.csv " +
			"--replace\n  curl -s https://example.com/prices.csv | bursar import prices -",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.exists(); err != nil {
				return err
			}
			in, err := openInput(c.Context(), args[0])
			if err != nil {
				return interrupted(err, "nothing was imported")
			}
			defer in.close()
			file, err := price.ReadFile(in)
			if err != nil {
				return places(err)
			}
			return s.with(c.Context(), func(a *app.App) error {
				ctx, err := actFor(c, a, x.organization)
				if err != nil {
					return err
				}
				done, err := a.Prices.Import(ctx, file, p)
				if err != nil {
					return interrupted(places(err), "nothing was imported")
				}
				s.showPrices(done, p.Dry)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&x.organization, "organization", "", organizationUsage)
	f.BoolVar(&p.Replace, "replace", false, "replace stored prices by those in the file")
	f.BoolVar(&p.Dry, "dry-run", false, "print what would be imported, without changing anything")
	return c
}

// showPrices prints how many prices were imported.
func (s *settings) showPrices(done price.ImportResult, dry bool) {
	verb := "Imported"
	if dry {
		verb = "Would import"
	}
	text := verb + " " + counted(done.Created, "price")
	for _, note := range []struct {
		n    int
		text string
	}{{done.Replaced, "replaced"}, {done.Duplicates, "already present"}} {
		if note.n > 0 {
			text += fmt.Sprintf("; %s %s", counted(note.n, "price"), note.text)
		}
	}
	fmt.Fprintln(s.out, text+".")
	if dry {
		fmt.Fprintln(s.out, "Nothing was changed.")
	}
}
