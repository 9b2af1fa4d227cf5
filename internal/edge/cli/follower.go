package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/client"
)

const (
	reconnectFirst = 250 * time.Millisecond // the pause before the service is tried again; it doubles each time
	reconnectMax   = 10 * time.Second
	emptyEvery     = time.Second // how often a feed without any event is read
)

// follower reads the events of an organization in order. It passes on each of them once, also when the connection is lost in between.
type follower struct {
	service *client.Client
	filter  url.Values // types and object_id
	say     func(format string, args ...any)

	after string // the id of the last event that was passed on, or of the one at which to begin
	all   bool   // without after: begin with the oldest event, not with those that happen from now on
}

// query returns the filter with more parameters.
func (f *follower) query(more url.Values) url.Values {
	q := maps.Clone(f.filter)
	maps.Copy(q, more)
	if f.after != "" && !q.Has("order") {
		q.Set("after", f.after)
	}
	return q
}

// seek begins with the events since a time: after the newest one before it.
func (f *follower) seek(ctx context.Context, since time.Time) error {
	for e, err := range f.service.Events(ctx, f.query(url.Values{"order": {"desc"}})) {
		if err != nil {
			return err
		}
		if e.CreatedAt.Before(since) {
			f.after = e.ID
			return nil
		}
	}
	f.all = true
	return nil
}

// list passes on the events there are.
func (f *follower) list(ctx context.Context, each func(client.Event) error) error {
	return f.pass(f.service.Events(ctx, f.query(nil)), each)
}

// follow passes on events as they happen until each returns an error, the service refuses to go on, or the context ends, which is no
// error.
func (f *follower) follow(ctx context.Context, each func(client.Event) error) error {
	var err error
	for err == nil {
		if err = f.read(ctx, each); ctx.Err() == nil && temporary(err) {
			err = f.reconnect(ctx, err)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// try returns an error at once if the service does not answer, or refuses the key or the filter.
func (f *follower) try(ctx context.Context) error {
	once := *f.service
	once.Retries = 0
	return once.Do(ctx, client.Call{Method: http.MethodGet, Path: "/v1/events", Query: f.query(url.Values{"limit": {"1"}})}, nil)
}

// read passes on events until the connection ends.
func (f *follower) read(ctx context.Context, each func(client.Event) error) error {
	if err := f.begin(ctx, each); err != nil {
		return err
	}
	return f.pass(f.service.StreamEvents(ctx, f.query(nil)), each)
}

// begin finds the event after which the stream begins. A stream that begins now would lose what happens until it is connected again, if
// the connection is lost before the first event.
func (f *follower) begin(ctx context.Context, each func(client.Event) error) (err error) {
	newest := ""
	for f.after == "" && newest == "" {
		if newest, err = f.newest(ctx); err != nil {
			return err
		}
		if newest == "" { // then every event is a new one
			f.all = true
			if err := sleep(ctx, emptyEvery); err != nil {
				return err
			}
		}
	}
	if f.after == "" && f.all {
		if err := f.list(ctx, each); err != nil {
			return err
		}
	}
	if f.after == "" {
		f.after = newest
	}
	return nil
}

// newest returns the id of the newest event of any type, or "" if there is none.
func (f *follower) newest(ctx context.Context) (string, error) {
	for e, err := range f.service.Events(ctx, url.Values{"order": {"desc"}, "limit": {"1"}}) {
		return e.ID, err
	}
	return "", nil
}

// unhandled is the error of a function to which an event was passed.
type unhandled struct{ error }

func (u unhandled) Unwrap() error { return u.error }

// pass passes on events and remembers the last one.
func (f *follower) pass(events iter.Seq2[client.Event, error], each func(client.Event) error) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := each(e); err != nil {
			return unhandled{err}
		}
		f.after = e.ID
	}
	return nil
}

// reconnect returns when the service answers again.
func (f *follower) reconnect(ctx context.Context, cause error) error {
	f.say("the connection was lost (%v); connecting again", cause)
	for pause := reconnectFirst; ; pause = min(2*pause, reconnectMax) {
		if answer, ok := errors.AsType[*client.Error](cause); ok {
			pause = max(pause, answer.RetryAfter)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		switch cause = f.try(ctx); {
		case cause == nil:
			f.say("connected again")
			return nil
		case client.IsNotFound(cause):
			return fmt.Errorf("the event %s is not kept any more, so events may have been missed: begin again without --after: %w", f.after, cause)
		case !temporary(cause):
			return cause
		}
	}
}

// temporary reports whether reading may succeed later. An answer that cannot be understood would be the same again.
func temporary(err error) bool {
	if _, ok := errors.AsType[unhandled](err); ok {
		return false
	}
	if answer, ok := errors.AsType[*client.Error](err); ok {
		return answer.Status >= http.StatusInternalServerError || answer.Status == http.StatusTooManyRequests ||
			answer.Status == http.StatusRequestTimeout
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return !syntax && !kind && !errors.Is(err, bufio.ErrTooLong)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
