package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Invoices is how many invoices the demo company has sent, and InvoicesMin the least number with deposits of every kind.
const (
	Invoices    = 10_000
	InvoicesMin = 30
)

const (
	// customersMax is how many customers it has at most, and invoicesEach how many invoices each of them has at least.
	customersMax = 400
	invoicesEach = 3
	// invoicesTogether is how many invoices are created in one database transaction.
	invoicesTogether = 1000
	// openMonths is over how many of the last months invoices are spread. These are not closed.
	openMonths = 2
)

// Receivables is what customers owe the company and have paid, as far as the commands to try name it.
type Receivables struct {
	Deposits []string // ids of deposits that nobody has applied yet, the first one of each kind first
}

// receivables are the receivables while they are created.
type receivables struct {
	app       *app.App
	entityID  string
	revenue   string
	now       time.Time
	first     time.Time // the first day of invoices
	customers []customer.Customer
	invoices  []invoice.Invoice
	bank      string
	wallet    string
	deposits  []transaction.CreateParams
}

// AddReceivables adds customers, their open invoices, and deposits that pay some of them: with and without a reference, several invoices at
// once, short by a fee, too little, too much, twice, under another name, in a digital asset, and by somebody unknown. The deposits are not
// applied.
func AddReceivables(ctx context.Context, a *app.App, f organization.Created, invoices int, progress func(format string, args ...any)) (
	Receivables, error) {
	ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	zone, err := time.LoadLocation(f.Organization.Timezone)
	if err != nil {
		return Receivables{}, err
	}
	r := &receivables{app: a, entityID: f.LegalEntity.ID, now: a.DB.Clock().Now()}
	r.first = calendar.MonthOf(r.now, zone).Add(-openMonths).Start(time.UTC)
	chart := &company{app: a, accounts: map[string]string{}}
	if err := chart.readChart(ctx); err != nil {
		return Receivables{}, err
	}
	r.revenue = chart.accounts["4010"]
	customers := min(customersMax, invoices/invoicesEach)
	progress("Adding %d customers and %d invoices ...", customers, invoices)
	if err := r.addCustomers(ctx, customers); err != nil {
		return Receivables{}, err
	}
	if err := r.addInvoices(ctx, invoices); err != nil {
		return Receivables{}, err
	}
	progress("Adding deposits of customers ...")
	if err := r.openSources(ctx); err != nil {
		return Receivables{}, err
	}
	r.payAll()
	made, err := a.Transactions.Create(ctx, r.deposits)
	if err != nil {
		return Receivables{}, err
	}
	var out Receivables
	for _, t := range made.Transactions {
		out.Deposits = append(out.Deposits, t.ID)
	}
	return out, nil
}

// The names of customers are made of two words each.
var (
	firstWords = strings.Fields("Amber Birch Cobalt Dune Ember Fjord Garnet Harbor Indigo Juniper Keystone Lumen Meridian Nimbus Orchard " +
		"Pinnacle Quarry Rivet Summit Tundra")
	secondWords = strings.Fields("Analytics Bakery Ceramics Dynamics Energy Foods Games Holdings Insurance Jewelry Kinetics Logistics Media " +
		"Networks Optics Pharma Robotics Studios Textiles Ventures")
)

func (r *receivables) addCustomers(ctx context.Context, count int) error {
	return r.app.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r.customers = nil
		for n := range count {
			first, second := firstWords[n%len(firstWords)], secondWords[n/len(firstWords)%len(secondWords)]
			c, err := customer.CreateInTx(ctx, tx, customer.CreateParams{Name: first + " " + second,
				Email: strings.ToLower("billing@" + first + "-" + second + ".example")})
			if err != nil {
				return err
			}
			r.customers = append(r.customers, c)
		}
		return nil
	})
}

// addInvoices adds invoices to the customers in turn, spread over the days. Amounts are the same in every run.
func (r *receivables) addInvoices(ctx context.Context, count int) error {
	days := max(int(r.now.Sub(r.first)/(24*time.Hour)), 1)
	var all []invoice.NewInvoice
	for n := range count {
		price := money.MustParse(amount(900 + 37*(n*7919%4801)))
		at := r.first.AddDate(0, 0, n*days/count)
		all = append(all, invoice.NewInvoice{Status: invoice.Open, Params: invoice.Params{LegalEntityID: r.entityID,
			CustomerID: r.customers[n%len(r.customers)].ID, Number: fmt.Sprintf("D%d-%05d", at.Year(), n+1), Date: at.Format(time.DateOnly),
			Lines: []invoice.LineParams{{Description: "Node operation", UnitPrice: price.String(), AccountID: r.revenue}}}})
	}
	for len(all) > 0 {
		some := all[:min(len(all), invoicesTogether)]
		err := r.app.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			made, err := r.app.Invoices.CreateMany(ctx, tx, some)
			if err != nil {
				return err
			}
			for _, o := range made {
				if o.Err != nil {
					return o.Err
				}
			}
			for _, o := range made {
				r.invoices = append(r.invoices, o.Invoice)
			}
			return nil
		})
		if err != nil {
			return err
		}
		all = all[len(some):]
	}
	return r.app.DB.VacuumAnalyze(ctx, "invoices")
}

func (r *receivables) openSources(ctx context.Context) error {
	bank, err := r.app.Sources.Create(ctx, source.CreateParams{Type: source.Bank, Name: "Customer payments", LegalEntityID: r.entityID,
		Currency: "USD"})
	if err != nil {
		return err
	}
	wallet, err := r.app.Sources.Create(ctx, source.CreateParams{Type: source.Wallet, Name: "Customer payments in digital assets",
		LegalEntityID: r.entityID, Chain: "ethereum", Address: "0xc0ffee254729296a45a3885639ac7e10f9d54979"})
	r.bank, r.wallet = bank.ID, wallet.ID
	return err
}

// deposit adds a deposit at the bank.
func (r *receivables) deposit(payer, memo string, paid money.Decimal) *transaction.CreateParams {
	n := len(r.deposits)
	r.deposits = append(r.deposits, transaction.CreateParams{SourceID: r.bank, Params: transaction.Params{
		ExternalID: fmt.Sprintf("deposit-%03d", n+1), At: r.now.Add(-time.Duration(n+1) * time.Hour).Truncate(time.Minute), Description: memo,
		Direction: transaction.Credit, Quantity: &paid, Currency: "USD", Bank: &transaction.Bank{CounterpartyName: payer}}})
	return &r.deposits[n]
}

// payAll adds deposits of every kind, as many rounds of them as there are invoices for.
func (r *receivables) payAll() {
	customers := len(r.customers)
	for n := 0; n < min(customers/10, 10); n++ {
		// Of each customer, an invoice in the middle, so that neither the first nor the last one is the right guess.
		of := func(k int) invoice.Invoice { return r.invoices[(10*n+k)+customers*(len(r.invoices)/customers/2)] }
		cents := func(text string) money.Decimal { return money.MustParse(text) }
		i := of(0)
		r.deposit(i.CustomerName, "Invoice "+i.Number, i.Total)
		i = of(1)
		r.deposit(i.CustomerName, "Wire transfer", i.Total)
		i = of(2)
		sum, numbers := i.Total, i.Number
		for k := 10*n + 2; k < len(r.invoices) && strings.Count(numbers, ",") < 2; k += customers {
			if r.invoices[k].ID != i.ID {
				sum, numbers = sum.Add(r.invoices[k].Total), numbers+", "+r.invoices[k].Number
			}
		}
		r.deposit(i.CustomerName, "Invoices "+numbers, sum)
		i = of(3)
		r.deposit(i.CustomerName, "Payment of "+i.Number+" by card", i.Total).Value = &transaction.ValueParams{Gross: i.Total,
			Fee: cents("1.25"), Net: i.Total.Sub(cents("1.25")), Currency: "USD"}
		i = of(4)
		r.deposit(i.CustomerName, "Invoice "+i.Number+" less discount", i.Total.Sub(cents("3.00")))
		i = of(5)
		r.deposit(i.CustomerName, i.Number, i.Total.Add(cents("25.00")))
		i = of(6)
		r.deposit(i.CustomerName, "Invoice "+i.Number, i.Total)
		r.deposit(i.CustomerName, "Invoice "+i.Number, i.Total)
		i = of(7)
		r.deposit("Shared Services Center", "On behalf of customer, "+i.Number, i.Total)
		i = of(8)
		r.depositAsset(i)
		r.deposit(fmt.Sprintf("J. Doe %d", n+1), "Thank you", cents(amount(12_345+1111*n)))
	}
}

// depositAsset adds a deposit of USDC that is worth what is due on an invoice.
func (r *receivables) depositAsset(i invoice.Invoice) {
	d := r.deposit("", "Payment "+i.Number, i.Total)
	d.SourceID, d.Bank, d.Currency = r.wallet, nil, "USDC"
	d.Value = &transaction.ValueParams{Gross: i.Total, Net: i.Total, Currency: "USD"}
	d.Crypto = &transaction.Crypto{Chain: "ethereum", From: "0x52908400098527886e0f7030069857d2e4169ee7",
		TransactionHash: fmt.Sprintf("0x%064x", len(r.deposits)), AssetType: "USDC"}
}
