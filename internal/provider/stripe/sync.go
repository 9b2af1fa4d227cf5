package stripe

import (
	"context"
	"slices"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// The stages of a synchronization, in their order. Each reads its records from the newest to the oldest.
const (
	customersStage = "customers"
	invoicesStage  = "invoices"
	changesStage   = "changes" // invoices that were created earlier, and have changed
	balanceStage   = "balance_transactions"
	lastStage      = "done"
)

// eventsKept is for how long Stripe can be asked which invoices have changed, with some days to spare. After a longer time all invoices are
// read again.
const eventsKept = 28 * 24 * time.Hour

// sync is a synchronization under way.
type sync struct {
	*connection.Work
	provider *Provider
	client   *client
}

// Read reads what has changed at Stripe, page by page, and then what events have announced.
func (p *Provider) Read(ctx context.Context, w *connection.Work) error {
	s := &sync{w, p, p.client(w.APIKey)}
	for w.Stage != "" && w.Stage != lastStage {
		var err error
		switch w.Stage {
		case connection.Start:
			err = s.enter(ctx, customersStage)
		case customersStage:
			err = s.readCustomers(ctx)
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

// from returns from when on records are read; nil means all.
func (s *sync) from() *time.Time {
	if s.From == nil || s.Through.Sub(*s.From) > eventsKept {
		return nil
	}
	return s.From
}

// next commits a page of a stage and, after the last one, enters the next stage.
func (s *sync) next(ctx context.Context, last string, more bool, items int, following string,
	write func(context.Context, *db.Tx) error) error {
	stage, cursor := s.Stage, last
	if !more || items == 0 {
		stage, cursor = following, ""
	}
	return s.Commit(ctx, stage, cursor, items, write)
}

func (s *sync) readCustomers(ctx context.Context) error {
	got, err := s.client.customers(ctx, s.from(), s.Cursor)
	if err != nil {
		return err
	}
	last := ""
	if n := len(got.data); n > 0 {
		last = got.data[n-1].ID
	}
	return s.next(ctx, last, got.more, len(got.data), invoicesStage, func(ctx context.Context, tx *db.Tx) error {
		for _, c := range got.data {
			if err := ensureCustomer(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// ensureCustomer creates the customer for one of Stripe, unless there is one.
func ensureCustomer(ctx context.Context, tx *db.Tx, c *api.Customer) error {
	if c.Deleted {
		return nil
	}
	name := clean(firstOf(c.Name, c.Email, c.Description, c.ID), nameMax)
	_, err := customer.EnsureReferenced(ctx, tx, customer.Reference{Provider: Name, ExternalID: c.ID}, name, clean(c.Email, nameMax))
	return err
}

// firstOf returns the first text that is not empty after cleaning.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if clean(text, nameMax) != "" {
			return text
		}
	}
	return ""
}

func (s *sync) readInvoices(ctx context.Context) error {
	got, err := s.client.invoices(ctx, s.from(), s.Cursor)
	if err != nil {
		return err
	}
	mirrors, last := make([]invoice.MirrorParams, 0, len(got.data)), ""
	for _, i := range got.data {
		last = i.ID
		if err := s.client.complete(ctx, i); err != nil {
			return err
		}
		if p, ok := mirrorOf(i, s.LegalEntityID); ok {
			mirrors = append(mirrors, p)
		}
	}
	following := changesStage
	if s.from() == nil { // all were read
		following = balanceStage
	}
	return s.next(ctx, last, got.more, len(got.data), following, s.mirror(mirrors))
}

// mirror returns a function that stores invoices.
func (s *sync) mirror(all []invoice.MirrorParams) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, _ *db.Tx) error {
		for _, p := range all {
			if _, err := s.provider.invoices.Mirror(ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *sync) readChanges(ctx context.Context) error {
	got, err := s.client.changes(ctx, s.from(), s.Cursor)
	if err != nil {
		return err
	}
	var ids []string
	last := ""
	for _, e := range got.data {
		last = e.ID
		if id, _ := e.Data.Object["id"].(string); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	store, err := s.fetch(ctx, ids)
	if err != nil {
		return err
	}
	return s.next(ctx, last, got.more, len(got.data), balanceStage, store)
}

// fetch reads invoices as they are now, and returns a function that stores them. A draft that was deleted becomes void.
func (s *sync) fetch(ctx context.Context, ids []string) (func(context.Context, *db.Tx) error, error) {
	var found []invoice.MirrorParams
	var deleted []string
	for _, id := range ids {
		i, err := s.client.invoice(ctx, id)
		if fault.KindOf(err) == fault.NotFound || err == nil && i.Deleted {
			deleted = append(deleted, id)
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := s.client.complete(ctx, i); err != nil {
			return nil, err
		}
		if p, ok := mirrorOf(i, s.LegalEntityID); ok {
			found = append(found, p)
		}
	}
	return func(ctx context.Context, tx *db.Tx) error {
		for _, id := range deleted {
			if err := s.provider.invoices.MirrorDeleted(ctx, Name, id, s.LegalEntityID); err != nil {
				return err
			}
		}
		return s.mirror(found)(ctx, tx)
	}, nil
}

func (s *sync) readBalance(ctx context.Context) error {
	got, err := s.client.balanceTransactions(ctx, s.from(), s.Cursor)
	if err != nil {
		return err
	}
	last := ""
	if n := len(got.data); n > 0 {
		last = got.data[n-1].ID
	}
	return s.next(ctx, last, got.more, len(got.data), lastStage, s.add(got.data))
}

// add returns a function that stores balance transactions as transactions of the source, the oldest first. Those that it has are not added
// again, also if they came from a file.
func (s *sync) add(all []*api.BalanceTransaction) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		if len(all) == 0 {
			return nil
		}
		src, err := source.Find(ctx, tx, s.SourceID)
		if err != nil {
			return err
		}
		var faults fault.List
		news := make([]transaction.New, 0, len(all))
		for _, b := range slices.Backward(all) {
			n := transaction.New{Source: src, Params: transactionOf(b)}
			n.Validate(&faults, b.ID+".")
			n.ValidateHolding(&faults, b.ID+".")
			news = append(news, n)
		}
		if err := faults.Err(); err != nil {
			return err
		}
		_, err = transaction.Add(ctx, tx, news)
		return err
	}
}

// eventsMax is how many events are handled together.
const eventsMax = 20

// recent is from when on balance transactions are read because of an event: Stripe shows them with the event or a little later.
const recent = 24 * time.Hour

// handleEvents reads what events have announced, as it is now, until no event waits.
func (s *sync) handleEvents(ctx context.Context) error {
	for {
		waiting, err := s.Waiting(ctx, eventsMax)
		if err != nil || len(waiting) == 0 {
			return err
		}
		var ids, invoices, customers []string
		balance := false
		for _, e := range waiting {
			ids = append(ids, e.ID)
			switch e.ObjectType {
			case "invoice":
				if !slices.Contains(invoices, e.ObjectID) {
					invoices = append(invoices, e.ObjectID)
				}
			case "customer":
				if !slices.Contains(customers, e.ObjectID) {
					customers = append(customers, e.ObjectID)
				}
			default:
				balance = true
			}
		}
		write, err := s.refresh(ctx, invoices, customers, balance, waiting[0].ReceivedAt)
		if err != nil {
			return err
		}
		if err := s.Handle(ctx, ids, write); err != nil {
			return err
		}
	}
}

// refresh reads records and returns a function that stores them.
func (s *sync) refresh(ctx context.Context, invoices, customers []string, balance bool, since time.Time) (
	func(context.Context, *db.Tx) error, error) {
	store, err := s.fetch(ctx, invoices)
	if err != nil {
		return nil, err
	}
	var found []*api.Customer
	for _, id := range customers {
		c, err := s.client.customer(ctx, id)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	var moved []*api.BalanceTransaction
	from := since.Add(-recent)
	for after := ""; balance; {
		got, err := s.client.balanceTransactions(ctx, &from, after)
		if err != nil {
			return nil, err
		}
		moved = append(moved, got.data...)
		if balance = got.more && len(got.data) > 0; balance {
			after = got.data[len(got.data)-1].ID
		}
	}
	return func(ctx context.Context, tx *db.Tx) error {
		for _, c := range found {
			if err := ensureCustomer(ctx, tx, c); err != nil {
				return err
			}
		}
		if err := store(ctx, tx); err != nil {
			return err
		}
		return s.add(moved)(ctx, tx)
	}, nil
}
