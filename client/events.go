package client

import (
	"bufio"
	"context"
	"encoding/json"
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

// Events iterates over events, oldest first. The query takes the filters of GET /v1/events.
func (c *Client) Events(ctx context.Context, query url.Values) iter.Seq2[Event, error] {
	return each[Event](ctx, c, "/v1/events", query)
}

// Event returns an event.
func (c *Client) Event(ctx context.Context, id string) (Event, error) {
	return one[Event](ctx, c, Call{Method: http.MethodGet, Path: "/v1/events/" + url.PathEscape(id)})
}

// EventTransactions iterates over the transactions that an event of the type transactions.created is about.
func (c *Client) EventTransactions(ctx context.Context, id string) iter.Seq2[Transaction, error] {
	return each[Transaction](ctx, c, "/v1/events/"+url.PathEscape(id)+"/transactions", nil)
}

// StreamEvents iterates over events as they happen, from now on or, if the query has after, from that event on. It ends with an error when
// the connection does: io.ErrUnexpectedEOF if the server ended it. Call it again with the last event to continue.
func (c *Client) StreamEvents(ctx context.Context, query url.Values) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := c.streamEvents(ctx, query, func(e Event) bool { return yield(e, nil) }); err != nil {
			yield(Event{}, err)
		}
	}
}

// eventMax bounds the size of an event in a stream.
const eventMax = 64 << 20

func (c *Client) streamEvents(ctx context.Context, query url.Values, each func(Event) bool) error {
	address := c.base + "/v1/events"
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
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
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 64<<10), eventMax)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue // the id and the type are in the data too
		}
		var e Event
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if !each(e) {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
