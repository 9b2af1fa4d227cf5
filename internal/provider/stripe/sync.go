package stripe

import (
	"context"
	"slices"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// The stages of a synchronization, in their order. Each reads its records from the newest to the oldest.
const (
	customersStage = "customers"
	renamesStage   = "customer_changes" // customers that were created earlier, and have changed
	invoicesStage  = "invoices"
	changesStage   = "changes" // invoices that were created earlier, and have changed
	balanceStage   = "balance_transactions"
	lastStage      = "done"
)

// eventsKept is for how long Stripe can be asked which invoices have changed, with some days to spare. After a longer time all invoices are
// read again.
const eventsKept = 28 * 24 * time.Hour

// restartsMax is how often one run begins a stage again.
const restartsMax = 3

// sync is a synchronization under way.
type sync struct {
	*connection.Work
	provider *Provider
	client   *client
	restarts int
}

// Read reads what has changed at Stripe, page by page, and then what events have announced.
func (p *Provider) Read(ctx context.Context, w *connection.Work) error {
	s := &sync{Work: w, provider: p, client: p.client(w.Credentials[apiKey])}
	for w.Stage != "" && w.Stage != lastStage {
		var err error
		switch w.Stage {
		case connection.Start:
			err = s.enter(ctx, customersStage)
		case customersStage:
			err = s.readCustomers(ctx)
		case renamesStage:
			err = s.readRenames(ctx)
		case invoicesStage:
			err = s.readInvoices(ctx)
		case changesStage:
			err = s.readChanges(ctx)
		case balanceStage:
			err = s.readBalance(ctx)
		default:
			return fault.Conflictf("the synchronization was begun by another version of the service: disconnect and connect again")
		}
		if err != nil {
			return err
		}
	}
	return s.handleEvents(ctx)
}

// enter begins a stage.
func (s *sync) enter(ctx context.Context, stage string) error {
	return s.Commit(ctx, stage, "", 0, func(context.Context, *db.Tx) error { return nil })
}

// recover is called when a page could not be read. If the record after which it begins no longer exists at Stripe, the stage begins again:
// what was read already is not stored twice. Otherwise it returns the error.
func (s *sync) recover(ctx context.Context, err error) error {
	if fault.KindOf(err) != fault.NotFound || s.Cursor == "" || s.restarts >= restartsMax {
		return err
	}
	s.restarts++
	return s.enter(ctx, s.Stage)
}

// from returns from when on records are read; nil means all.
func (s *sync) from() *time.Time {
	if s.From == nil || s.Through.Sub(*s.From) > eventsKept {
		return nil
	}
	return s.From
}

// next returns a function that commits a page of a stage, whose last record has an id, and after the last page enters the following stage.
func (s *sync) next(ctx context.Context, last string, more bool, items int, following string) func(writes) error {
	return func(write writes) error {
		stage, cursor := s.Stage, last
		switch {
		case !more || items == 0:
			stage, cursor = following, ""
		case !isID(last) || last == s.Cursor:
			return fault.Conflictf("Stripe returned a page of %s after which no other can be read", stage)
		}
		return s.Commit(ctx, stage, cursor, items, write)
	}
}

func (s *sync) readCustomers(ctx context.Context) error {
	got, err := s.client.customers(ctx, s.from(), s.Cursor)
	if err != nil {
		return s.recover(ctx, err)
	}
	var b batch
	last := ""
	for _, c := range got.data {
		last = c.ID
		b.customer(c)
	}
	following := renamesStage
	if s.from() == nil { // all were read
		following = invoicesStage
	}
	return s.store(b, s.next(ctx, last, got.more, len(got.data), following))
}

// readRenames reads which customers have changed, and gives them their new names.
func (s *sync) readRenames(ctx context.Context) error {
	got, err := s.client.events(ctx, customerUpdated, s.from(), s.Cursor)
	if err != nil {
		return s.recover(ctx, err)
	}
	var b batch
	last := ""
	for _, e := range got.data {
		if last = e.ID; renames(e) {
			if err := s.rename(ctx, &b, e); err != nil {
				return err
			}
		}
	}
	return s.store(b, s.next(ctx, last, got.more, len(got.data), invoicesStage))
}

func (s *sync) readInvoices(ctx context.Context) error {
	readAt := s.provider.now()
	got, err := s.client.invoices(ctx, s.from(), s.Cursor)
	if err != nil {
		return s.recover(ctx, err)
	}
	var b batch
	last := ""
	for _, i := range got.data {
		last = i.ID
		if err := s.invoice(ctx, &b, i, readAt); err != nil {
			return err
		}
	}
	following := changesStage
	if s.from() == nil { // all were read
		following = balanceStage
	}
	return s.store(b, s.next(ctx, last, got.more, len(got.data), following))
}

func (s *sync) readChanges(ctx context.Context) error {
	got, err := s.client.events(ctx, "invoice.*", s.from(), s.Cursor)
	if err != nil {
		return s.recover(ctx, err)
	}
	var b batch
	last := ""
	var ids []string
	for _, e := range got.data {
		last = e.ID
		if id := objectID(e); isID(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if err := s.fetch(ctx, &b, id); err != nil {
			return err
		}
	}
	return s.store(b, s.next(ctx, last, got.more, len(got.data), balanceStage))
}

func (s *sync) readBalance(ctx context.Context) error {
	got, err := s.client.balanceTransactions(ctx, s.from(), s.Cursor)
	if err != nil {
		return s.recover(ctx, err)
	}
	last := ""
	if n := len(got.data); n > 0 {
		last = got.data[n-1].ID
	}
	return s.next(ctx, last, got.more, len(got.data), lastStage)(s.add(got.data, nil))
}

// add returns a function that stores balance transactions as transactions of the source, the oldest first, and counts those that are new.
// Those that it has are not added again, also if they came from a file.
func (s *sync) add(all []*api.BalanceTransaction, added *int) writes {
	return func(ctx context.Context, tx *db.Tx) error {
		if len(all) == 0 {
			return nil
		}
		src, err := source.Find(ctx, tx, s.SourceID)
		if err != nil {
			return err
		}
		var omitted []connection.Omission
		var read []connection.Record
		news := make([]transaction.New, 0, len(all))
		for _, b := range slices.Backward(all) {
			n := transaction.New{Source: src, Params: transactionOf(b)}
			var faults fault.List
			n.Validate(&faults, "")
			n.ValidateHolding(&faults, "")
			if b.Created <= 0 {
				faults.Addf("created", "is missing")
			}
			if !isID(b.ID) {
				faults.Addf("id", "is not one of Stripe")
			}
			r := connection.Record{Kind: "balance transaction", ID: b.ID}
			if err := faults.Err(); err != nil {
				omitted = append(omitted, omit(r, err))
				continue
			}
			news, read = append(news, n), append(read, r)
		}
		made, err := transaction.Add(ctx, tx, news)
		if err != nil {
			return err
		}
		counts := connection.Counts{Read: int64(len(all)), Omitted: int64(len(omitted))}
		for _, a := range made {
			if a.Duplicate {
				counts.Duplicates++
			} else {
				counts.Created++
			}
		}
		if added != nil {
			*added = int(counts.Created)
		}
		if err := s.Count(ctx, tx, counts); err != nil {
			return err
		}
		return s.Settle(ctx, tx, omitted, read)
	}
}
