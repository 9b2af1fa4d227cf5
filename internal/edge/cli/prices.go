package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/assets/price"
)

func (s *settings) importPrices() *cobra.Command {
	x, p := &exchange{}, price.ImportParams{}
	c := &cobra.Command{
		Use:   "prices FILE",
		Short: "Read a CSV file of what assets were worth",
		Long: "Read prices of assets, all of the file or nothing. Its first line names the columns, in any order: asset_type (the " +
			"symbol as transactions have it),\n" +
			"currency (ISO 4217), timestamp or date, price, and note if there is one. A date means the close of that day where the " +
			"organization is; a time\n" +
			"is RFC 3339, such as 2026-01-31T23:59:59Z. To import a file again adds nothing; another price for the same instant is " +
			"refused, or replaces\n" +
			"the one that is there with --replace. Use - for standard input. The service may run or not.",
		Example: "  printf 'asset_type,currency,date,price\\nBTC,USD,2026-01-31,64250.12\\n' > prices.csv\n" +
			"  bursar import prices prices.csv --dry-run\n  bursar import prices prices.csv\n  bursar import prices corrected.csv " +
			"--replace\n  curl -s https://example.com/prices.csv | bursar import prices -",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.exists(); err != nil {
				return err
			}
			in, err := source(c.Context(), args[0])
			if err != nil {
				return stopped(err, "nothing was imported")
			}
			defer in.close()
			file, err := price.ReadFile(in)
			if err != nil {
				return places(err)
			}
			return s.with(c.Context(), func(a *app.App) error {
				ctx, err := x.as(c, a)
				if err != nil {
					return err
				}
				done, err := a.Prices.Import(ctx, file, p)
				if err != nil {
					return stopped(places(err), "nothing was imported")
				}
				s.showPrices(done, p.Dry)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&x.organization, "organization", "", "id of the organization; may be left out when there is only one")
	f.BoolVar(&p.Replace, "replace", false, "let prices that are here already take the value of the file")
	f.BoolVar(&p.Dry, "dry-run", false, "say what would come in, and change nothing")
	return c
}

// showPrices says what became of the prices of a file.
func (s *settings) showPrices(done price.Imported, dry bool) {
	verb := "Imported"
	if dry {
		verb = "Would import"
	}
	text := verb + " " + counted(done.Created, "price")
	for _, note := range []struct {
		n    int
		text string
	}{{done.Replaced, "replaced"}, {done.Duplicates, "here already"}} {
		if note.n > 0 {
			text += fmt.Sprintf("; %s %s", counted(note.n, "price"), note.text)
		}
	}
	fmt.Fprintln(s.out, text+".")
	if dry {
		fmt.Fprintln(s.out, "Nothing was written.")
	}
}
