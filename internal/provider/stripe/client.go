// Package stripe connects to Stripe: it reads customers, invoices and balance transactions of an account, receives Stripe's webhooks, and
// tells Stripe of invoices that were paid elsewhere. It speaks to Stripe through stripe-go.
package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/outbound"
	"github.com/bursarhq/bursar/internal/base/secret"
)

// Name is the name of the provider.
const Name = "stripe"

const (
	// bodyMax bounds an answer: a page of invoices with their first lines has some megabytes.
	bodyMax = 32 << 20
	// timeout bounds a request, with its answer.
	timeout = time.Minute
	// pageMax is how many records Stripe returns at most.
	pageMax = 100
	// triesMax is how often a request is sent that failed for a reason that may pass.
	triesMax = 4
	// waitMax is how long to wait between two tries. If Stripe asks for more, the caller has to try again later.
	waitMax = 10 * time.Second
	// retryAfterMax bounds the pause that Stripe may ask for.
	retryAfterMax = time.Hour
	// linesMax is how many lines of an invoice are read.
	linesMax = 10_000
	// waitFirst is how long to wait before the second try. It doubles with each one.
	waitFirst = 500 * time.Millisecond
)

// Config configures the access to Stripe.
type Config struct {
	URL          string   // empty: Stripe itself
	AllowPrivate bool     // allow a URL on a private network
	Proxy        *url.URL // nil means none
}

// backend returns how stripe-go sends requests. It neither retries, nor logs, nor reports how it is used: errors of Stripe may contain
// parts of keys, and retries are up to do.
func backend(c Config) *api.Backends {
	sender := outbound.New(outbound.Config{AllowPrivate: c.AllowPrivate, Proxy: c.Proxy, BodyMax: bodyMax, Timeout: timeout,
		HeaderTimeout: timeout})
	sender.Transport = answers{sender.Transport}
	config := &api.BackendConfig{
		HTTPClient:        sender,
		MaxNetworkRetries: api.Int64(0),
		EnableTelemetry:   api.Bool(false),
		LeveledLogger:     &api.LeveledLogger{Level: api.LevelNull},
	}
	if c.URL != "" {
		config.URL = api.String(c.URL)
	}
	return api.NewBackendsWithConfig(config)
}

// answers refuses redirects, which stripe-go would take for empty answers. Stripe has none: they are those of a proxy.
type answers struct{ http.RoundTripper }

// RoundTrip sends a request.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode >= 200 && answer.StatusCode < 300 || answer.StatusCode >= 400 {
		return answer, err
	}
	return nil, errors.Join(fmt.Errorf("stripe: the answer has the status %d", answer.StatusCode), answer.Body.Close())
}

// client sends requests with one API key.
type client struct {
	*api.Client
	tries int
}

func (p *Provider) client(key secret.Text) *client {
	return &client{api.NewClient(key.Reveal(), api.WithBackends(p.backends)), triesMax}
}

// do sends a request, again if it fails for a reason that may pass, and returns the error in the form in which callers expect it. Requests
// that change something have an idempotency key.
func (c *client) do(ctx context.Context, send func() error) error {
	for try := 1; ; try++ {
		err := explain(send())
		var f *fault.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &f) || f.Kind != fault.Unavailable {
			return err
		}
		wait := max(f.RetryAfter, waitFirst<<(try-1))
		if try >= c.tries || wait > waitMax {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// keyPattern finds parts of keys that Stripe repeats in messages.
var keyPattern = regexp.MustCompile(`\b(sk|rk|pk|whsec)_[A-Za-z0-9_*]+`)

// explain returns an error of Stripe as a fault. What the fault says may be shown to users.
func explain(err error) error {
	if err == nil {
		return nil
	}
	var e *api.Error
	if !errors.As(err, &e) || e.HTTPStatusCode == 0 {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return fault.UnavailableBecause(errors.New(keyPattern.ReplaceAllString(err.Error(), "[secret]")), "Stripe cannot be reached at present")
	}
	message := clean(keyPattern.ReplaceAllString(e.Msg, "[secret]"), messageMax)
	switch status := e.HTTPStatusCode; {
	case e.Code == api.ErrorCodeResourceMissing && e.Param == "starting_after":
		return fault.Missing("record at Stripe")
	case status == http.StatusUnauthorized:
		return fault.Unauthorizedf("Stripe refuses the API key")
	case status == http.StatusForbidden:
		return fault.Forbiddenf("the API key lacks a permission at Stripe: %s", message)
	case status == http.StatusNotFound:
		return fault.Missing("record at Stripe")
	case status == http.StatusTooManyRequests, status == http.StatusConflict, status >= http.StatusInternalServerError:
		return unavailable(e, message)
	}
	return fault.Conflictf("Stripe refuses the request: %s", message)
}

// unavailable returns the error for a request that may succeed later, with the pause that Stripe asks for.
func unavailable(e *api.Error, message string) error {
	cause := errors.New("stripe: status " + strconv.Itoa(e.HTTPStatusCode) + ": " + message)
	out := fault.UnavailableBecause(cause, "Stripe cannot answer at present")
	var f *fault.Error
	if errors.As(out, &f) {
		if f.RetryAfter = time.Second; e.LastResponse != nil {
			f.RetryAfter = pauseOf(e.LastResponse.Header.Get("Retry-After"))
		}
	}
	return out
}

// pauseOf returns the pause that Stripe asks for with the header Retry-After: from a second to an hour.
func pauseOf(header string) time.Duration {
	seconds, err := strconv.ParseUint(header, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return time.Second
	}
	return time.Duration(min(max(seconds, 1), uint64(retryAfterMax/time.Second))) * time.Second
}

// page is what a list returned.
type page[T any] struct {
	data []T
	more bool
}

// list reads a page.
func list[T any](ctx context.Context, c *client, get func() *api.V1List[*T]) (p page[*T], err error) {
	err = c.do(ctx, func() error {
		l := get()
		if l.Err() != nil { // there is no page then
			return l.Err()
		}
		if p = (page[*T]{present(l.Data()), l.Meta().HasMore}); p.more && len(l.Data()) == 0 {
			return errors.New("stripe: a page without records says that there are more")
		}
		return nil
	})
	return p, err
}

// window returns the parameters of a list: which page, and of what time on.
func window(after string, from *time.Time) (api.ListParams, *api.RangeQueryParams) {
	params := api.ListParams{Limit: api.Int64(pageMax)}
	if after != "" {
		params.StartingAfter = api.String(after)
	}
	if from == nil {
		return params, nil
	}
	return params, &api.RangeQueryParams{GreaterThanOrEqual: from.Unix()}
}

func (c *client) customers(ctx context.Context, from *time.Time, after string) (page[*api.Customer], error) {
	params, created := window(after, from)
	return list(ctx, c, func() *api.V1List[*api.Customer] {
		return c.V1Customers.List(ctx, &api.CustomerListParams{ListParams: params, CreatedRange: created})
	})
}

func (c *client) invoices(ctx context.Context, from *time.Time, after string) (page[*api.Invoice], error) {
	params, created := window(after, from)
	return list(ctx, c, func() *api.V1List[*api.Invoice] {
		return c.V1Invoices.List(ctx, &api.InvoiceListParams{ListParams: params, CreatedRange: created})
	})
}

// events reads events of a type, in which * stands for anything.
func (c *client) events(ctx context.Context, kind string, from *time.Time, after string) (page[*api.Event], error) {
	params, created := window(after, from)
	return list(ctx, c, func() *api.V1List[*api.Event] {
		return c.V1Events.List(ctx, &api.EventListParams{ListParams: params, CreatedRange: created, Type: api.String(kind)})
	})
}

func (c *client) event(ctx context.Context, id string) (e *api.Event, err error) {
	err = c.do(ctx, func() error {
		e, err = c.V1Events.Retrieve(ctx, id, nil)
		return err
	})
	return e, err
}

func (c *client) balanceTransactions(ctx context.Context, from *time.Time, after string) (page[*api.BalanceTransaction], error) {
	params, created := window(after, from)
	params.AddExpand("data.source")
	return list(ctx, c, func() *api.V1List[*api.BalanceTransaction] {
		return c.V1BalanceTransactions.List(ctx, &api.BalanceTransactionListParams{ListParams: params, CreatedRange: created})
	})
}

func (c *client) invoice(ctx context.Context, id string) (i *api.Invoice, err error) {
	err = c.do(ctx, func() error {
		i, err = c.V1Invoices.Retrieve(ctx, id, nil)
		return err
	})
	return i, err
}

func (c *client) customer(ctx context.Context, id string) (found *api.Customer, err error) {
	err = c.do(ctx, func() error {
		found, err = c.V1Customers.Retrieve(ctx, id, nil)
		return err
	})
	return found, err
}

// errLines means that an invoice has more lines than are read.
var errLines = fault.Conflictf("it has more than %d lines", linesMax)

// complete reads the lines of an invoice that are not part of it, because there are many. It returns errLines if there are too many.
func (c *client) complete(ctx context.Context, i *api.Invoice) error {
	if i.Lines == nil {
		return nil
	}
	for i.Lines.Data = present(i.Lines.Data); i.Lines.HasMore && len(i.Lines.Data) > 0; {
		if len(i.Lines.Data) >= linesMax {
			return errLines
		}
		params, _ := window(i.Lines.Data[len(i.Lines.Data)-1].ID, nil)
		next, err := list(ctx, c, func() *api.V1List[*api.InvoiceLineItem] {
			return c.V1Invoices.ListLines(ctx, &api.InvoiceListLinesParams{ListParams: params, Invoice: api.String(i.ID)})
		})
		if fault.KindOf(err) == fault.NotFound {
			return fault.UnavailableBecause(err, "the invoice %s has changed at Stripe while it was read", i.ID)
		}
		if err != nil {
			return err
		}
		i.Lines.Data, i.Lines.HasMore = append(i.Lines.Data, next.data...), next.more && len(next.data) > 0
	}
	return nil
}

// present returns the objects of a list that are not null.
func present[T any](all []*T) []*T {
	return slices.DeleteFunc(all, func(o *T) bool { return o == nil })
}
