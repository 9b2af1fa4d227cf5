package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// sheetColumns is how many months fit on a terminal.
const sheetColumns = 4

// printSheet prints the balance sheet of the last months as a table.
func printSheet(ctx context.Context, w io.Writer, a *app.App, currency string) error {
	sheet, err := a.Reports.BalanceSheet(ctx, statements.Params{PresentationCurrency: currency, OmitZero: true})
	if err != nil {
		return err
	}
	first := max(0, len(sheet.Periods)-sheetColumns)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cells []string) { fmt.Fprintf(t, "  %-42s\t%s\t\n", name, strings.Join(cells, "\t")) }
	var heads []string
	for _, p := range sheet.Periods[first:] {
		heads = append(heads, p.Key)
	}
	row("Balance sheet in "+currency, heads)
	for _, kind := range []account.Type{account.Asset, account.Liability, account.Equity} {
		totals := make([]money.Decimal, len(heads))
		for i, of := range sheet.Accounts {
			if of.Type != kind {
				continue
			}
			cells := make([]string, len(heads))
			for n := range heads {
				closing := sheet.Rows[i].Cells[first+n].Closing
				if of.NormalBalance != kind.NormalBalance() { // a contra account is subtracted
					closing = closing.Neg()
				}
				cells[n], totals[n] = closing.Fixed(currency), totals[n].Add(closing)
			}
			row(strings.TrimSpace(of.Code+" "+of.Name), cells)
		}
		sums := make([]string, len(heads))
		for n, total := range totals {
			sums[n] = total.Fixed(currency)
		}
		row("Total "+map[account.Type]string{account.Asset: "assets", account.Liability: "liabilities", account.Equity: "equity"}[kind], sums)
	}
	return t.Flush()
}
