package stripe

import (
	"context"
	"errors"
	"slices"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// writes stores something in a database transaction.
type writes = func(ctx context.Context, tx *db.Tx) error

// item is a record of Stripe and how it is stored.
type item struct {
	connection.Record
	write writes
}

// batch is what is stored together: records, and which others were left out.
type batch struct {
	items   []item
	omitted []connection.Omission
}

// itemFault is the error of one item of a batch.
type itemFault struct {
	at  int
	err error
}

func (f *itemFault) Error() string { return f.err.Error() }
func (f *itemFault) Unwrap() error { return f.err }

// omit returns a record as one that was left out because of an error.
func omit(r connection.Record, because error) connection.Omission {
	r.ID = clean(r.ID, idMax)
	return connection.Omission{Record: r, Reason: plain(because.Error())}
}

// store stores a batch by means of commit. A record that is refused because of what it states is left out, and the others are stored.
func (s *sync) store(b batch, commit func(writes) error) error {
	for {
		err := commit(func(ctx context.Context, tx *db.Tx) error {
			read := make([]connection.Record, len(b.items))
			for n, i := range b.items {
				if err := i.write(ctx, tx); err != nil {
					return &itemFault{n, err}
				}
				read[n] = i.Record
			}
			return s.Settle(ctx, tx, b.omitted, read)
		})
		var f *itemFault
		if !errors.As(err, &f) || !fault.Refused(f.err) {
			return err
		}
		b.omitted = append(b.omitted, omit(b.items[f.at].Record, f.err))
		b.items = slices.Delete(b.items, f.at, f.at+1)
	}
}

// errID means that a record of Stripe has no id, or one that cannot be stored.
var errID = fault.Conflictf("its id has characters that no id of Stripe has, or is too long")

// add adds a record and how it is stored.
func (b *batch) add(r connection.Record, write writes) {
	if !isID(r.ID) {
		b.omitted = append(b.omitted, omit(r, errID))
		return
	}
	b.items = append(b.items, item{r, write})
}

// customer adds a customer, which is created unless there is one.
func (b *batch) customer(c *api.Customer) {
	if c.Deleted {
		return
	}
	b.add(connection.Record{Kind: "customer", ID: c.ID}, func(ctx context.Context, tx *db.Tx) error {
		now := statedOf(c.ID, c.Name, c.Email, c.Description)
		_, err := customer.EnsureReferenced(ctx, tx, customer.Reference{Provider: Name, ExternalID: c.ID}, now.Name, now.Email)
		return err
	})
}

// statedOf returns what Stripe states about a customer, as it is stored.
func statedOf(id, name, email, description string) customer.Stated {
	return customer.Stated{Name: clean(firstOf(name, email, description, id), nameMax), Email: clean(email, nameMax)}
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

// errForm means that an invoice of Stripe is not one that can be mirrored.
var errForm = fault.Conflictf("it has no customer, or its currency is not an ISO 4217 currency")

// invoice adds an invoice that was asked for at readAt, and reads all of its lines. One with a total below zero is not an invoice, and is
// not added.
func (s *sync) invoice(ctx context.Context, b *batch, i *api.Invoice, readAt time.Time) error {
	r := connection.Record{Kind: "invoice", ID: i.ID}
	err := s.client.complete(ctx, i)
	if errors.Is(err, errLines) {
		b.omitted = append(b.omitted, omit(r, err))
		return nil
	}
	if err != nil {
		return err
	}
	p, ok := mirrorOf(i, s.LegalEntityID, readAt)
	switch {
	case ok:
		b.add(r, func(ctx context.Context, _ *db.Tx) error {
			_, err := s.provider.invoices.Mirror(ctx, p)
			return err
		})
	case i.Total >= 0:
		b.omitted = append(b.omitted, omit(r, errForm))
	}
	return nil
}

// fetch adds an invoice as it is now. A draft that was deleted becomes void.
func (s *sync) fetch(ctx context.Context, b *batch, id string) error {
	readAt := s.provider.now()
	i, err := s.client.invoice(ctx, id)
	if fault.KindOf(err) == fault.NotFound || err == nil && i.Deleted {
		b.add(connection.Record{Kind: "invoice", ID: id}, func(ctx context.Context, _ *db.Tx) error {
			return s.provider.invoices.MirrorDeleted(ctx, Name, id, s.LegalEntityID)
		})
		return nil
	}
	if err != nil {
		return err
	}
	return s.invoice(ctx, b, i, readAt)
}

// customerUpdated is the type of the event of a customer that has changed.
const customerUpdated = "customer.updated"

// objectID returns the id of what an event is about.
func objectID(e *api.Event) string {
	if e.Data == nil {
		return ""
	}
	id, _ := e.Data.Object["id"].(string)
	return id
}

// versions returns what Stripe stated about the customer of an event before it, and after it.
func versions(e *api.Event) (was, is customer.Stated) {
	old := func(name string) string {
		value, changed := e.Data.PreviousAttributes[name]
		if !changed {
			value = e.Data.Object[name]
		}
		text, _ := value.(string)
		return text
	}
	now := func(name string) string {
		text, _ := e.Data.Object[name].(string)
		return text
	}
	id := objectID(e)
	return statedOf(id, old("name"), old("email"), old("description")), statedOf(id, now("name"), now("email"), now("description"))
}

// renames reports whether an event says that a customer has got another name or email address.
func renames(e *api.Event) bool {
	if e.Data == nil || !isID(objectID(e)) {
		return false
	}
	was, is := versions(e)
	return was != is
}

// rename adds that a customer has the name and the email address that Stripe states now instead of those before an event.
func (s *sync) rename(ctx context.Context, b *batch, e *api.Event) error {
	c, err := s.client.customer(ctx, objectID(e))
	if fault.KindOf(err) == fault.NotFound || err == nil && c.Deleted {
		return nil
	}
	if err != nil {
		return err
	}
	was, _ := versions(e)
	b.add(connection.Record{Kind: "customer", ID: c.ID}, func(ctx context.Context, tx *db.Tx) error {
		return customer.FollowReferenced(ctx, tx, customer.Reference{Provider: Name, ExternalID: c.ID}, was,
			statedOf(c.ID, c.Name, c.Email, c.Description))
	})
	return nil
}
