package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Event reports a change. Data is the record after the change.
type Event struct {
	ID             string          `json:"id"`
	Type           string          `json:"type"`
	CreatedAt      time.Time       `json:"created_at"`
	OrganizationID string          `json:"organization_id"`
	Data           json.RawMessage `json:"data"`
}

// Events iterates over events, oldest first. The query takes the filters of GET /v1/events; empty ones are left out.
func (c *Client) Events(ctx context.Context, query url.Values) iter.Seq2[Event, error] {
	return each[Event](ctx, c, "/v1/events", withoutEmpty(query))
}

// withoutEmpty returns a query without its empty values, which the service refuses: a program that has not read an event yet has none to
// continue after.
func withoutEmpty(query url.Values) url.Values {
	out := url.Values{}
	for name, values := range query {
		for _, value := range values {
			if value != "" {
				out.Add(name, value)
			}
		}
	}
	return out
}

// Event returns an event.
func (c *Client) Event(ctx context.Context, id string) (Event, error) {
	return one[Event](ctx, c, Call{Method: http.MethodGet, Path: "/v1/events/" + url.PathEscape(id)})
}

// EventTransactions iterates over the transactions that an event of the type transactions.created is about.
func (c *Client) EventTransactions(ctx context.Context, id string) iter.Seq2[Transaction, error] {
	return each[Transaction](ctx, c, "/v1/events/"+url.PathEscape(id)+"/transactions", nil)
}

// StreamEvents iterates over events as they happen, from now on or, if the query has after, after that event. Empty values of the query
// are left out. It ends with an error when the connection does: io.ErrUnexpectedEOF if the server ended it. Call it again with the last
// event to continue.
func (c *Client) StreamEvents(ctx context.Context, query url.Values) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := c.streamEvents(ctx, query, func(e Event) bool { return yield(e, nil) }); err != nil {
			yield(Event{}, err)
		}
	}
}

const (
	eventMax      = 64 << 20         // bytes of an event in a stream
	streamSilence = 60 * time.Second // after which a stream is given up; the service sends something every 15 seconds
)

// errSilent ends a stream whose connection was lost without a sign of it, as happens when a machine sleeps.
var errSilent = errors.New("the service has sent nothing for " + streamSilence.String())

func (c *Client) streamEvents(ctx context.Context, query url.Values, each func(Event) bool) error {
	address := c.base + "/v1/events"
	if query = withoutEmpty(query); len(query) > 0 {
		address += "?" + query.Encode()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(streamSilence, func() { cancel(errSilent) })
	defer silence.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-API-Key", c.key)
	req.Header.Set("Accept", "text/event-stream")
	patient := *c.HTTP // a stream has no timeout other than the context
	patient.Timeout = 0
	res, err := patient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		return failure(res, text)
	}
	err = readEvents(res.Body, func(e Event) bool {
		silence.Stop() // a reader may take its time
		defer silence.Reset(streamSilence)
		return each(e)
	}, func() { silence.Reset(streamSilence) })
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// readEvents reads a stream until each returns false. An event is complete with the empty line after it: one that was cut off is left out.
func readEvents(stream io.Reader, each func(Event) bool, alive func()) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 64<<10), eventMax)
	var data string
	for lines.Scan() {
		alive()
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data = text // the id and the type are in the data too
		}
		if data == "" || lines.Text() != "" {
			continue
		}
		var e Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if data = ""; !each(e) {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
