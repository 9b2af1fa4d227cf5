package invoicefile

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// names finds records by what a file calls them. A name that several records have finds none.
type names struct {
	entities, accounts      map[string]string
	customers, mails, named map[string]string
}

// put adds a name of a record.
func put(in map[string]string, name, id string) {
	key := strings.ToLower(strings.Join(strings.Fields(name), " "))
	if other, there := in[key]; key != "" && there && other != id {
		in[key] = ""
	} else if key != "" {
		in[key] = id
	}
}

// get returns the record with a name, and whether there are several.
func get(in map[string]string, name string) (id string, several bool) {
	id, there := in[strings.ToLower(strings.Join(strings.Fields(name), " "))]
	return id, there && id == ""
}

// entityNames returns the legal entities that the actor sees, by their names and ids.
func entityNames(ctx context.Context, b *snapshot.Books) map[string]string {
	out := map[string]string{}
	for id, e := range b.Entities {
		if actor.From(ctx).Sees(id) {
			put(out, e.Name, id)
			put(out, id, id)
		}
	}
	return out
}

func readNames(ctx context.Context, tx *db.Tx, b *snapshot.Books) (names, error) {
	n := names{entities: entityNames(ctx, b), accounts: map[string]string{}, customers: map[string]string{}, mails: map[string]string{},
		named: map[string]string{}}
	foreign, err := source.ForeignAccounts(ctx, tx, slices.Collect(maps.Keys(b.Accounts)))
	if err != nil {
		return n, err
	}
	for id, a := range b.Accounts {
		if !a.Archived() && !foreign[id] {
			put(n.accounts, a.Name, id)
		}
	}
	for id, a := range b.Accounts { // a code identifies, also if it is the name of another account
		for _, text := range []string{a.Code, id} {
			if text != "" && !foreign[id] {
				n.accounts[strings.ToLower(text)] = id
			}
		}
	}
	customers, err := customer.Matching(ctx, tx)
	for _, c := range customers {
		for _, text := range append([]string{c.ID}, c.ProcessorIDs...) {
			put(n.customers, text, c.ID)
		}
		for _, text := range c.Emails {
			put(n.mails, text, c.ID)
		}
		put(n.named, c.Name, c.ID)
	}
	return n, err
}

// create creates invoices, and the customers that do not exist, and returns how many of those have an invoice without
// faults. Faults are added to the groups.
func (s *Service) create(ctx context.Context, tx *db.Tx, r *Result, p Params, groups []*group) (created int64, err error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return 0, err
	}
	n, err := readNames(ctx, tx, b)
	if err != nil {
		return 0, err
	}
	var all []invoice.NewInvoice
	var of []*group
	made, used := map[string]bool{}, map[string]bool{} // customers
	for _, g := range groups {
		one := invoice.NewInvoice{Status: g.status, Params: invoice.Params{LegalEntityID: p.LegalEntityID,
			Number: g.texts[intake.FieldInvoiceNumber], Currency: g.texts[intake.FieldCurrency], Date: g.texts[intake.FieldInvoiceDate],
			DueDate: g.texts[intake.FieldDueDate], Memo: g.texts[intake.FieldMemo], Lines: slices.Clone(g.lines), Total: g.total}}
		g.entity(r, n, &one)
		g.validateAmounts(r, cmp.Or(one.Currency, b.Entities[one.LegalEntityID].BaseCurrency))
		g.accounts(r, n, p, &one)
		if one.Date == "" {
			g.faultf(r, g.rows[0].Line, intake.FieldInvoiceDate, "is empty")
		}
		isNew := false
		if one.CustomerID, isNew, err = g.customer(ctx, tx, r, n, p); err != nil {
			return 0, err
		}
		made[one.CustomerID] = made[one.CustomerID] || isNew
		if len(g.faults) == 0 {
			all, of = append(all, one), append(of, g)
		}
	}
	found, err := s.invoices.CreateMany(ctx, tx, all)
	for k, o := range found {
		if of[k].outcome = o; o.Err != nil {
			of[k].report(r, o.Err)
		} else if !o.Duplicate {
			of[k].refusePaid(r, o.Invoice)
		}
		if id := all[k].CustomerID; len(of[k].faults) == 0 && made[id] && !used[id] {
			created, used[id] = created+1, true
		}
	}
	return created, err
}

// validateAmounts adds a fault for each amount with the sign of another currency than that of the invoice, which rows need not state, and
// for each with more decimals than the currency has.
func (g *group) validateAmounts(r *Result, currency string) {
	for _, row := range g.rows {
		for _, field := range slices.Sorted(maps.Keys(row.Signs)) {
			if sign := row.Signs[field]; currency != "" && !intake.MeansCurrency(sign, currency) {
				g.faultf(r, row.Line, field, "has the sign %s, but the invoice is in %s: state the currency", sign, currency)
			}
		}
		places, fiat := money.MinorUnits(currency)
		for _, a := range []struct {
			field  intake.Field
			amount *money.Decimal
		}{{intake.FieldAmount, row.Amount}, {intake.FieldTaxAmount, row.TaxAmount}, {intake.FieldTotal, row.Total}} {
			if fiat && a.amount != nil && !a.amount.Round(places).Equal(*a.amount) {
				g.faultf(r, row.Line, a.field, "is %s, but amounts in %s have at most %d decimals", a.amount, currency, places)
			}
		}
	}
}

// refusePaid adds a fault if something is paid on the invoice according to the file, which does not have the payment.
func (g *group) refusePaid(r *Result, i invoice.Invoice) {
	for _, row := range g.rows {
		switch total := i.Total.Fixed(i.Currency); {
		case row.Due != nil && row.Due.IsZero() && !i.Total.IsZero():
			g.faultf(r, row.Line, intake.FieldAmountDue, "nothing of %s is due, but the status is %q: correct one of them", total,
				g.texts[intake.FieldStatus])
		case row.Due != nil && !row.Due.Equal(i.Total):
			g.faultf(r, row.Line, intake.FieldAmountDue, "%s of %s is due: a partly paid invoice cannot be imported as such: %s",
				row.Due.Fixed(i.Currency), total, inFull(total))
		case row.Paid != nil && !row.Paid.IsZero():
			g.faultf(r, row.Line, intake.FieldAmountPaid, "%s of %s is paid: a partly paid invoice cannot be imported as such: %s",
				row.Paid.Fixed(i.Currency), total, inFull("0"))
		default:
			continue
		}
		return
	}
}

// entity finds the legal entity of an invoice.
func (g *group) entity(r *Result, n names, one *invoice.NewInvoice) {
	text := g.texts[intake.FieldLegalEntity]
	if text != "" {
		if one.LegalEntityID, _ = get(n.entities, text); one.LegalEntityID == "" {
			g.faultf(r, g.rows[0].Line, intake.FieldLegalEntity, "%q is not the name or the id of one legal entity", text)
		}
		return
	}
	if one.LegalEntityID == "" {
		ids := slices.Collect(maps.Values(n.entities))
		slices.Sort(ids)
		if ids = slices.Compact(ids); len(ids) == 1 {
			one.LegalEntityID = ids[0]
			return
		}
		g.faultf(r, g.rows[0].Line, intake.FieldLegalEntity, "is empty: name the legal entity in the file, or send legal_entity_id")
	}
}

// accounts finds the ledger accounts of the lines of an invoice.
func (g *group) accounts(r *Result, n names, p Params, one *invoice.NewInvoice) {
	for k, row := range g.rows {
		l := &one.Lines[k]
		taxed := l.TaxRate != "" && strings.Trim(l.TaxRate, "0.") != "" || l.TaxAmount != "" && strings.Trim(l.TaxAmount, "0.") != ""
		for _, a := range []struct {
			field     intake.Field
			into      *string
			otherwise string
			parameter string
			needed    bool
		}{{intake.FieldLedgerAccount, &l.AccountID, p.AccountID, "ledger_account_id", true},
			{intake.FieldTaxLedgerAccount, &l.TaxAccountID, p.TaxAccountID, "tax_ledger_account_id", taxed}} {
			text := row.Texts[a.field]
			if *a.into = a.otherwise; text != "" {
				several := false
				if *a.into, several = get(n.accounts, text); several {
					g.faultf(r, row.Line, a.field, "%q is the name of several ledger accounts: use the code", text)
				} else if *a.into == "" {
					g.faultf(r, row.Line, a.field, "%q is not the code, the name or the id of a ledger account: correct it, or send a mapping "+
						"without %s, so that %s decides", text, a.field, a.parameter)
				}
			} else if *a.into == "" && a.needed {
				g.faultf(r, row.Line, a.field, "is empty: name the ledger account in the file, or send %s", a.parameter)
			}
		}
		if !taxed {
			l.TaxAmount, l.TaxRate, l.TaxAccountID = "", "", ""
		}
	}
}

// findCustomer returns the customer that the file names by its id, its name or its email address. They must not contradict each other.
func (g *group) findCustomer(r *Result, n names) (customerID string, ok bool) {
	line, id := g.rows[0].Line, g.texts[intake.FieldCustomerID]
	by := intake.FieldCustomerID
	for _, named := range []struct {
		field intake.Field
		in    map[string]string
	}{{intake.FieldCustomerID, n.customers}, {intake.FieldCustomerName, n.named}, {intake.FieldCustomerEmail, n.mails}} {
		text := g.texts[named.field]
		found, several := get(named.in, text)
		switch {
		case several && customerID == "":
			g.faultf(r, line, named.field, "several customers have %q: use the id of one", text)
			return "", false
		case found == "":
		case customerID == "" && id != "" && named.field != intake.FieldCustomerID:
			g.faultf(r, line, intake.FieldCustomerID, "%q is not an id of the customer that is called %q: add it to the customer, or leave it out",
				id, text)
			return "", false
		case customerID == "":
			customerID, by = found, named.field
		case customerID != found:
			g.faultf(r, line, named.field, "%q is another customer than %q", text, g.texts[by])
			return "", false
		}
	}
	return customerID, true
}

// fromFile is the provider of the ids that files give to customers.
const fromFile = "file"

// customer returns the customer of an invoice, and creates it if there is none.
func (g *group) customer(ctx context.Context, tx *db.Tx, r *Result, n names, p Params) (customerID string, created bool, err error) {
	if customerID, ok := g.findCustomer(r, n); customerID != "" || !ok {
		return customerID, false, nil
	}
	id, mail, name := g.texts[intake.FieldCustomerID], g.texts[intake.FieldCustomerEmail], g.texts[intake.FieldCustomerName]
	line := g.rows[0].Line
	switch {
	case name == "" && mail == "" && id == "":
		g.faultf(r, line, intake.FieldCustomerName, "is empty: name the customer")
	case name == "" && mail == "" && r.Column(intake.FieldCustomerName)+r.Column(intake.FieldCustomerEmail) == "":
		g.faultf(r, line, intake.FieldCustomerID, "%q is not the id of a customer, and the file has no name to create it: export the names or "+
			"the email addresses too and map them as customer_name or customer_email, or add the id to a customer", id)
	case name == "" && mail == "":
		g.faultf(r, line, intake.FieldCustomerID, "%q is not the id of a customer: state its name to create it", id)
	case p.ExistingOnly:
		g.faultf(r, line, intake.FieldCustomerName, "there is no customer %q", cmp.Or(name, mail))
	case actor.From(ctx).Limited():
		g.faultf(r, line, intake.FieldCustomerName, "there is no customer %q, and a key that is limited to legal entities cannot create one",
			cmp.Or(name, mail))
	}
	if len(g.faults) > 0 {
		return "", false, nil
	}
	params := customer.CreateParams{Name: cmp.Or(name, mail), Email: mail}
	if id != "" {
		params.References = []customer.Reference{{Provider: fromFile, ExternalID: id}}
	}
	made, err := customer.CreateInTx(ctx, tx, params)
	if err != nil {
		if !fault.Refused(err) {
			return "", false, err
		}
		g.report(r, err)
		return "", false, nil
	}
	put(n.named, made.Name, made.ID)
	put(n.mails, made.Email, made.ID)
	put(n.customers, id, made.ID)
	return made.ID, true, nil
}

// fields are the fields of the file by what an invoice or a customer calls them.
var fields = map[string]intake.Field{
	"invoice_number": intake.FieldInvoiceNumber, "customer_id": intake.FieldCustomerName, "invoice_date": intake.FieldInvoiceDate,
	"due_date": intake.FieldDueDate, "currency": intake.FieldCurrency, "memo": intake.FieldMemo, "total_amount": intake.FieldTotal,
	"legal_entity_id": intake.FieldLegalEntity, "status": intake.FieldStatus, "name": intake.FieldCustomerName,
	"email": intake.FieldCustomerEmail, "description": intake.FieldDescription, "product": intake.FieldProduct,
	"quantity": intake.FieldQuantity, "unit_price": intake.FieldUnitPrice, "tax_rate": intake.FieldTaxRate,
	"tax_amount": intake.FieldTaxAmount, "ledger_account_id": intake.FieldLedgerAccount,
	"tax_ledger_account_id": intake.FieldTaxLedgerAccount, "external_references[0].external_id": intake.FieldCustomerID,
}

// report adds the faults of an invoice: those of a line with the line of the file, the others with its first.
func (g *group) report(r *Result, err error) {
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		g.faults = append(g.faults, intake.Fault{Line: g.rows[0].Line, Message: err.Error()})
		return
	}
	for _, f := range e.Fields {
		line, name := g.rows[0].Line, f.Name
		if rest, of := strings.CutPrefix(name, "lines["); of {
			number, field, _ := strings.Cut(rest, "].")
			if k, err := strconv.Atoi(number); err == nil && k < len(g.rows) {
				line, name = g.rows[k].Line, field
			}
		}
		switch field, known := fields[name]; {
		case known:
			g.faultf(r, line, field, "%s", f.Message)
		case strings.HasPrefix(f.Message, "must "):
			g.faults = append(g.faults, intake.Fault{Line: line, Message: name + " " + f.Message})
		default:
			g.faults = append(g.faults, intake.Fault{Line: line, Message: f.Message})
		}
	}
}
