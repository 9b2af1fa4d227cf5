package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/receivables/invoicefile"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// invoiceFlags are the flags of import invoices.
type invoiceFlags struct {
	journalFlags
	account    string
	taxAccount string
	status     string
	mapping    string
	existing   bool
	dry        bool
}

func (s *settings) importInvoices() *cobra.Command {
	b := &invoiceFlags{}
	c := &cobra.Command{
		Use:   "invoices FILE",
		Short: "Import invoices from a CSV file of an accounting program or payment processor",
		Long: "Import the invoices of a CSV file. Rows with the same number are the lines of one invoice.\n\n" +
			"The columns of the exports of Stripe, QuickBooks and Xero, and other usual names, are recognized: --dry-run shows how, and\n" +
			"--mapping sets them. An invoice with a faulty row is reported and left out; the others are created. Importing a file again\n" +
			"creates nothing twice. FILE may be - for standard input. The service can be running or stopped.",
		Example: "  bursar import invoices stripe.csv --account 4010 --dry-run\n" +
			"  bursar import invoices xero.csv --account 4010 --tax-account 2050 --status open",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error { return s.importInvoiceFile(c, b, args[0]) },
	}
	f := c.Flags()
	f.StringVar(&b.entity, "legal-entity", "", "id or name of the legal entity of invoices that name none; optional if there is only one")
	f.StringVar(&b.account, "account", "", "code or id of the ledger account to credit for lines that name none")
	f.StringVar(&b.taxAccount, "tax-account", "", "code or id of the ledger account to credit for taxes of lines that name none")
	f.StringVar(&b.status, "status", string(invoice.Draft), "draft or open; open invoices are booked")
	f.StringVar(&b.mapping, "mapping", "", "JSON file that maps columns to fields; by default, detected from the file")
	f.StringVar(&b.organization, "organization", "", organizationUsage)
	f.BoolVar(&b.existing, "existing-customers", false, "report a customer that does not exist instead of creating it")
	f.BoolVar(&b.dry, "dry-run", false, "print what would be imported, without changing anything")
	return c
}

func (s *settings) importInvoiceFile(c *cobra.Command, b *invoiceFlags, file string) error {
	if b.mapping == standard && file == standard {
		return &usageError{errors.New("only one of FILE and --mapping can be - (standard input)"), c.CommandPath()}
	}
	p := invoicefile.Params{FileName: filepath.Base(file), Status: invoice.Status(b.status), ExistingOnly: b.existing, DryRun: b.dry}
	if b.mapping != "" {
		f, err := openInput(c.Context(), b.mapping)
		if err != nil {
			return err
		}
		defer f.close()
		d := json.NewDecoder(f)
		d.DisallowUnknownFields()
		p.Mapping = &intake.InvoiceMapping{}
		if err := d.Decode(p.Mapping); err != nil {
			return fmt.Errorf("%s is not a mapping: %w; --dry-run prints one to start from", b.mapping, err)
		}
	}
	if err := s.exists(); err != nil {
		return err
	}
	in, err := openInput(c.Context(), file)
	if err != nil {
		return interrupted(err, "nothing was imported")
	}
	defer in.close()
	if size, err := in.Seek(0, io.SeekEnd); err == nil && size > invoicefile.FileMax {
		return fmt.Errorf("%s has %d MiB, but a file may have at most %d: split it", p.FileName, size>>20, invoicefile.FileMax>>20)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return s.with(c.Context(), func(a *app.App) error {
		ctx, err := actFor(c, a, b.organization)
		if err != nil {
			return err
		}
		if err := b.resolve(ctx, a, &p); err != nil {
			return err
		}
		r, err := a.InvoiceFiles.Import(ctx, p, in)
		if err != nil {
			return interrupted(places(withFlags(err)), "the invoices imported so far remain, and importing the file again creates none twice")
		}
		return s.showInvoices(r)
	})
}

// resolve finds the legal entity and the ledger accounts that flags name.
func (b *invoiceFlags) resolve(ctx context.Context, a *app.App, p *invoicefile.Params) error {
	if b.entity != "" {
		all, err := a.Entities.List(ctx, page.Request{Limit: page.LimitMax})
		if err != nil {
			return err
		}
		for _, e := range all.Items {
			if e.ID == b.entity || strings.EqualFold(e.Name, b.entity) {
				p.LegalEntityID = e.ID
			}
		}
		if p.LegalEntityID == "" {
			return fmt.Errorf("there is no legal entity %q", b.entity)
		}
	}
	for _, named := range []struct {
		text string
		into *string
	}{{b.account, &p.AccountID}, {b.taxAccount, &p.TaxAccountID}} {
		text, into := named.text, named.into
		if text == "" {
			continue
		}
		for r := (page.Request{Limit: page.LimitMax}); ; {
			found, err := a.Accounts.List(ctx, account.Filter{}, r)
			if err != nil {
				return err
			}
			for _, one := range found.Items {
				if one.ID == text || one.Code == text {
					*into = one.ID
				}
			}
			if !found.HasMore {
				break
			}
			r.Cursor = found.NextCursor
		}
		if *into == "" {
			return fmt.Errorf("there is no ledger account with the code or the id %q", text)
		}
	}
	return nil
}

// flagNames replaces the fields of the API by the flags of import invoices.
var flagNames = strings.NewReplacer("or send legal_entity_id", "or set --legal-entity",
	"or send tax_ledger_account_id", "or set --tax-account", "so that tax_ledger_account_id decides", "so that --tax-account decides",
	"or send ledger_account_id", "or set --account", "so that ledger_account_id decides", "so that --account decides",
	"send a mapping", "set a --mapping")

// withFlags names the flags of the fields at fault.
func withFlags(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	flags := map[string]string{"status": "--status", "legal_entity_id": "--legal-entity", "ledger_account_id": "--account",
		"tax_ledger_account_id": "--tax-account", "mapping": "--mapping"}
	named := *f
	named.Fields = slices.Clone(f.Fields)
	for k := range named.Fields {
		named.Fields[k].Name = cmp.Or(flags[named.Fields[k].Name], named.Fields[k].Name)
	}
	return &named
}

// showInvoices prints what was imported. Faults are an error.
func (s *settings) showInvoices(r invoicefile.Result) error {
	if r.DryRun {
		text, err := json.MarshalIndent(r.Mapping, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "The file would be read with this mapping:\n%s\n\n", text)
	}
	for _, i := range r.Invoices {
		note := ""
		if i.Duplicate {
			note = ", exists already"
		}
		fmt.Fprintf(s.out, "line %d: %s, %s, %s %s, %s%s\n", i.Line, i.Invoice.Number, i.Invoice.CustomerName,
			i.Invoice.Total.Fixed(i.Invoice.Currency), i.Invoice.Currency, i.Invoice.Status, note)
	}
	for _, f := range r.Faults {
		where := fmt.Sprintf("line %d", f.Line)
		if f.Column != "" {
			where += ", column " + f.Column
		}
		fmt.Fprintf(s.out, "%s: %s\n", where, flagNames.Replace(f.Message))
	}
	for _, reason := range r.LeftOut() {
		fmt.Fprintln(s.out, reason)
	}
	if len(r.Unused) > 0 {
		fmt.Fprintf(s.out, "Columns that are not used: %s\n", strings.Join(r.Unused, ", "))
	}
	verb := "created"
	if r.DryRun {
		verb = "would be created"
	}
	exist := "exist"
	if r.Counts.Duplicates == 1 {
		exist = "exists"
	}
	fmt.Fprintf(s.out, "%s and %s %s; %s %s already, %d skipped, %d left out because of faults\n", counted(int(r.Counts.Created), "invoice"),
		counted(int(r.Counts.Customers), "customer"), verb, counted(int(r.Counts.Duplicates), "invoice"), exist,
		r.Counts.Skipped, r.Counts.Faulty)
	switch {
	case r.Counts.Faulty == 1:
		return fault.Malformedf("1 invoice has faults: correct it and import the file again, which creates none twice")
	case r.Counts.Faulty > 1:
		return fault.Malformedf("%d invoices have faults: correct them and import the file again, which creates none twice", r.Counts.Faulty)
	}
	return nil
}
