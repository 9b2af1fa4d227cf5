// Package ageing reports what customers owed on any day, by how long it was overdue, and holds the sum against the ledger.
//
// It covers the invoices that are booked here. Each row consists of invoices, and each invoice of the entries that changed what was due on
// it, so that every figure can be traced to the ledger.
package ageing

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// The dates from which the age of an invoice is counted.
const (
	ByDueDate     = "due_date"
	ByInvoiceDate = "invoice_date"
)

// Limits of the parameters.
const (
	bucketsMax = 12
	daysMax    = 3650
)

// defaultDays are the last days of the buckets if none are given.
var defaultDays = []int64{30, 60, 90}

// Params select what the report covers.
type Params struct {
	AsOf           string // a date in the organization's time zone; empty: today
	LegalEntityIDs []string
	CustomerID     string // the id of a customer, or its id at a provider
	Currency       string
	AgeBy          string  // empty: the due date
	BucketDays     []int64 // the last day of each bucket, ascending; empty: 30, 60, 90
}

// Bucket is a range of days. The first has what is not overdue.
type Bucket struct {
	Name string
	From int64  // the first day
	To   *int64 // the last day; nil in the last bucket
}

// Amounts are what is due in each bucket, what is left of credit notes, and both together.
type Amounts struct {
	Due     []money.Decimal
	Credits money.Decimal // negative
	Total   money.Decimal
}

// Row is what a customer owes a legal entity in a currency.
type Row struct {
	CustomerID    string
	CustomerName  string
	LegalEntityID string
	Currency      string
	Invoices      int64 // how many invoices are open
	Amounts
}

// Total is what all customers owe a legal entity in a currency.
type Total struct {
	LegalEntityID string
	Currency      string
	Amounts

	Ledger *money.Decimal // the balance of the control account in that currency; nil if the report is about one customer
}

// Control is the balance of the control account of a legal entity in its base currency, as the balance sheet shows it.
type Control struct {
	LegalEntityID   string
	LedgerAccountID string
	Currency        string
	Balance         money.Decimal
}

// Report is the ageing of receivables at the end of a day.
type Report struct {
	AsOf     string
	AgeBy    string
	Buckets  []Bucket
	Rows     []Row
	Totals   []Total
	Controls []Control
}

// Service reports.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Get returns the report.
func (s *Service) Get(ctx context.Context, p Params) (out Report, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = get(ctx, tx, p)
		return err
	})
	return out, err
}

func get(ctx context.Context, tx *db.Tx, p Params) (Report, error) {
	day, end, err := Day(ctx, tx, p.AsOf)
	out := Report{AsOf: day, AgeBy: cmp.Or(p.AgeBy, ByDueDate)}
	var faults fault.List
	if failed := faults.Merge(err); failed != nil {
		return out, failed
	}
	out.Buckets = buckets(&faults, p.BucketDays)
	if out.AgeBy != ByDueDate && out.AgeBy != ByInvoiceDate {
		faults.Addf("age_by", "must be %s or %s", ByDueDate, ByInvoiceDate)
	}
	if p.Currency != "" && !money.IsFiat(p.Currency) {
		faults.Addf("currency", "must be an ISO 4217 currency such as USD")
	}
	if err := faults.Err(); err != nil {
		return out, err
	}
	f := invoice.ReceivablesFilter{Currency: p.Currency}
	if f.LegalEntityIDs, err = entity.Selected(ctx, tx, p.LegalEntityIDs); err != nil {
		return out, err
	}
	if p.CustomerID != "" {
		if f.CustomerIDs, err = customer.Resolve(ctx, tx, p.CustomerID); err != nil || len(f.CustomerIDs) == 0 {
			return out, err // an unknown customer owes nothing
		}
	}
	found, err := invoice.Receivables(ctx, tx, f, end)
	if err != nil {
		return out, err
	}
	if err := out.add(ctx, tx, found); err != nil {
		return out, err
	}
	if p.CustomerID == "" {
		err = out.compare(ctx, tx, f, end)
	}
	out.sort()
	return out, err
}

// Day returns a date, or today if it is empty, and the instant at which it ends in the organization's time zone.
func Day(ctx context.Context, tx *db.Tx, text string) (string, time.Time, error) {
	zone, err := snapshot.Zone(ctx, tx)
	if err != nil {
		return "", time.Time{}, err
	}
	if text == "" {
		text = tx.Now().In(zone).Format(time.DateOnly)
	}
	end, err := calendar.EndOfDay(text, zone)
	if err != nil || text < "0001" || text >= "9999" { // ends must have four digits in UTC, too
		return text, end, fault.Invalidf("as_of", "must be a date such as 2026-01-31")
	}
	return text, end, nil
}

// buckets returns the buckets with some last days.
func buckets(faults *fault.List, days []int64) []Bucket {
	if len(days) == 0 {
		days = defaultDays
	}
	if len(days) > bucketsMax {
		faults.Addf("bucket_days", "must have at most %d days", bucketsMax)
	}
	out := []Bucket{{Name: "current", To: new(int64(0))}}
	last := int64(0)
	for n, to := range days {
		if to <= last || to > daysMax {
			faults.Addf("bucket_days", "must be ascending days from 1 to %d, but day %d is %d", daysMax, n+1, to)
			return nil
		}
		out = append(out, Bucket{fmt.Sprintf("%d-%d", last+1, to), last + 1, &to})
		last = to
	}
	return append(out, Bucket{Name: fmt.Sprintf("over_%d", last), From: last + 1})
}

// overdue returns how many days before a date an invoice was due, or was written if the age is counted from that.
func overdue(r invoice.Receivable, asOf, ageBy string) int64 {
	from := r.DueDate
	if ageBy == ByInvoiceDate {
		from = r.Date
	}
	at, _ := time.Parse(time.DateOnly, asOf)
	return int64(at.Sub(from.UTC().Truncate(24*time.Hour)) / (24 * time.Hour))
}

// InBucket returns those of some receivables that are in a bucket with a name such as current, 31-60 or over_90. Credit notes are in none.
func InBucket(found []invoice.Receivable, bucket, asOf, ageBy string) ([]invoice.Receivable, error) {
	from, to, err := parseBucket(bucket)
	if err != nil {
		return nil, err
	}
	var out []invoice.Receivable
	for _, x := range found {
		if days := overdue(x, asOf, cmp.Or(ageBy, ByDueDate)); !x.CreditNote && days >= from && days <= to {
			out = append(out, x)
		}
	}
	return out, nil
}

// parseBucket returns the first and the last day of a bucket with a name.
func parseBucket(name string) (from, to int64, err error) {
	if name == "current" {
		return math.MinInt64, 0, nil
	}
	if _, err := fmt.Sscanf(name, "over_%d", &from); err == nil && name == fmt.Sprintf("over_%d", from) && from > 0 && from <= daysMax {
		return from + 1, math.MaxInt64, nil
	}
	if _, err := fmt.Sscanf(name, "%d-%d", &from, &to); err == nil && name == fmt.Sprintf("%d-%d", from, to) && from > 0 && from <= to &&
		to <= daysMax {
		return from, to, nil
	}
	return 0, 0, fault.Invalidf("bucket", "must be a bucket of the report, such as current, 31-60 or over_90")
}

// bucketOf returns the position of the bucket of a receivable.
func (r *Report) bucketOf(x invoice.Receivable) int {
	days := overdue(x, r.AsOf, r.AgeBy)
	return slices.IndexFunc(r.Buckets, func(b Bucket) bool { return b.To == nil || days <= *b.To })
}

func (r *Report) newAmounts() Amounts { return Amounts{Due: make([]money.Decimal, len(r.Buckets))} }

// put adds a receivable to the amounts.
func (a *Amounts) put(x invoice.Receivable, bucket int) {
	if x.CreditNote {
		a.Credits = a.Credits.Add(x.Amount)
	} else {
		a.Due[bucket] = a.Due[bucket].Add(x.Amount)
	}
	a.Total = a.Total.Add(x.Amount)
}

// add adds receivables up by customer, and in total.
func (r *Report) add(ctx context.Context, tx *db.Tx, found []invoice.Receivable) error {
	type key struct{ entity, currency, customer string }
	rows := map[key]int{}
	for _, x := range found {
		k := key{x.LegalEntityID, x.Currency, x.CustomerID}
		n, known := rows[k]
		if !known {
			n = len(r.Rows)
			rows[k] = n
			r.Rows = append(r.Rows, Row{CustomerID: x.CustomerID, LegalEntityID: x.LegalEntityID, Currency: x.Currency, Amounts: r.newAmounts()})
		}
		bucket := r.bucketOf(x)
		if !x.CreditNote {
			r.Rows[n].Invoices++
		}
		r.Rows[n].put(x, bucket)
		r.total(x.LegalEntityID, x.Currency).put(x, bucket)
	}
	ids := make([]string, 0, len(r.Rows))
	for _, row := range r.Rows {
		ids = append(ids, row.CustomerID)
	}
	names, err := customer.NamesUnchecked(ctx, tx, ids)
	if err != nil {
		return err
	}
	for n := range r.Rows {
		r.Rows[n].CustomerName = names[r.Rows[n].CustomerID]
	}
	return nil
}

// total returns the total of a legal entity and a currency, a new one if there is none.
func (r *Report) total(legalEntityID, currency string) *Total {
	n := slices.IndexFunc(r.Totals, func(t Total) bool { return t.LegalEntityID == legalEntityID && t.Currency == currency })
	if n < 0 {
		n = len(r.Totals)
		r.Totals = append(r.Totals, Total{LegalEntityID: legalEntityID, Currency: currency, Amounts: r.newAmounts()})
	}
	return &r.Totals[n]
}

// compare adds what the ledger says: the balance of the control account at the end of the day, in each currency and in base currency.
func (r *Report) compare(ctx context.Context, tx *db.Tx, f invoice.ReceivablesFilter, end time.Time) error {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return err
	}
	control := b.Roles()[account.RoleTradeReceivable]
	if control == "" {
		return nil
	}
	ledger, err := AccountAt(ctx, tx, b, control, f.LegalEntityIDs, end)
	if err != nil {
		return err
	}
	for k, amount := range ledger.ByCurrency {
		if !amount.IsZero() && (f.Currency == "" || f.Currency == k.Currency) {
			r.total(k.LegalEntityID, k.Currency) // also if nobody owes it
		}
	}
	for n, t := range r.Totals {
		r.Totals[n].Ledger = new(ledger.ByCurrency[Key{t.LegalEntityID, t.Currency}]) // nothing, if the ledger has none
	}
	for id, amount := range ledger.Base {
		r.Controls = append(r.Controls, Control{id, control, b.Entities[id].BaseCurrency, amount})
	}
	return nil
}

// sort sorts the rows by the name of the customer, and everything else by legal entity.
func (r *Report) sort() {
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.CustomerName), strings.ToLower(b.CustomerName)),
			strings.Compare(a.CustomerID, b.CustomerID), strings.Compare(a.LegalEntityID, b.LegalEntityID), strings.Compare(a.Currency, b.Currency))
	})
	slices.SortFunc(r.Totals, func(a, b Total) int {
		return cmp.Or(strings.Compare(a.LegalEntityID, b.LegalEntityID), strings.Compare(a.Currency, b.Currency))
	})
	slices.SortFunc(r.Controls, func(a, b Control) int { return strings.Compare(a.LegalEntityID, b.LegalEntityID) })
}
