package api

import (
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/api/integration"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

const (
	eventStream = "text/event-stream"
	lastEventID = "Last-Event-ID"

	streamAlive   = 15 * time.Second // how often a stream without events says that it is alive
	streamCheck   = 30 * time.Second // how often it is checked that the reader may still read if nothing happens
	streamRecheck = time.Second      // and how often if something does
	streamTimeout = 10 * time.Second // how long a reader may take to accept some events
	streamRetry   = 2 * time.Second  // when a reader should connect again
)

// streamable serves the feed as a stream of server-sent events to those who ask for it, and passes other requests on.
func (a *API) streamable(r *wire.Route, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !prefersStream(req.Header.Values("Accept")) {
			others.ServeHTTP(w, req)
			return
		}
		w.(*response).route = r
		if err := a.stream(r, w, req); err != nil && !w.(*response).begun {
			a.fail(w, req, r.Fault(err))
		}
		a.metrics.requests.WithLabelValues(r.Method, r.Path, strconv.Itoa(w.(*response).status)).Inc()
	})
}

// prefersStream reports whether a request asks for a stream. One that accepts a page as well gets that, because a program that expects a
// page would wait for its end forever.
func prefersStream(accept []string) bool {
	stream, page := 0, 0
	for _, part := range strings.Split(strings.Join(accept, ","), ",") {
		kind, parameters, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		switch kind {
		case eventStream:
			stream = quality(parameters["q"])
		case "application/json":
			page = quality(parameters["q"])
		}
	}
	return stream > page
}

// quality returns how much a kind of answer is preferred, in thousandths, from a text such as 0.9. Without one it is preferred fully.
func quality(text string) int {
	whole, rest, _ := strings.Cut(text, ".")
	if n, err := strconv.Atoi(whole + (rest + "000")[:3]); err == nil && whole != "" {
		return n
	}
	return 1000
}

// stream sends events as they happen until the reader leaves, loses the right to read them, or the service stops. Whoever connects again
// with the last event continues after it.
func (a *API) stream(r *wire.Route, w http.ResponseWriter, req *http.Request) error {
	by, err := a.admit(w, req, r.Access)
	if err != nil {
		return err
	}
	who := by.Actor
	if err := a.authorize(r, who, req); err != nil {
		return err
	}
	inputs, err := r.Decoder.Decode(req, wire.Received{})
	if err != nil {
		return err
	}
	in := inputs[0].(*integration.EventsInput)
	filter := in.Filter()
	if filter.Newest {
		return fault.Invalidf("order", "must be asc in a stream")
	}
	for _, name := range []string{"cursor", "limit"} {
		if req.URL.Query().Has(name) {
			return fault.Invalidf(name, "has no meaning in a stream, which has no pages: begin with after, or the header %s", lastEventID)
		}
	}
	if in.LastEventID != "" {
		filter.After = in.LastEventID // it is later than the one at which the reader began
	}
	leave, err := a.gates[wire.Stream].enter(req.Context(), who.OrganizationID, who.CredentialID())
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(actor.With(req.Context(), who))
	defer cancel()
	go func() {
		select {
		case <-a.ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	s := &eventWriter{api: a, route: r, w: w, request: req, organizationID: who.OrganizationID}
	err = a.app.Feed.Follow(ctx, filter, s.send)
	if in.LastEventID != "" {
		err = fault.RenameField(err, "after", lastEventID)
	}
	return err
}

// EndStreams ends all streams of events, so that the service can stop. Their readers connect again.
func (a *API) EndStreams() { a.endOnce.Do(func() { close(a.ending) }) }

// eventWriter writes events in the format of server-sent events.
type eventWriter struct {
	api            *API
	route          *wire.Route
	w              http.ResponseWriter
	request        *http.Request
	organizationID string

	begun          bool
	wrote, checked time.Time
}

func (s *eventWriter) send(events []outbox.Event) error {
	now := time.Now()
	var text []byte
	if !s.begun {
		h := s.w.Header()
		h.Set("Content-Type", eventStream)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Accel-Buffering", "no") // a proxy must not hold events back
		text = append(text, "retry: "+strconv.FormatInt(streamRetry.Milliseconds(), 10)+"\n\n"...)
		s.begun, s.checked = true, now
	}
	if now.Sub(s.checked) >= streamCheck || len(events) > 0 && now.Sub(s.checked) >= streamRecheck {
		if err := s.check(); err != nil {
			return err
		}
		s.checked = now
	}
	for _, e := range events {
		text = append(text, "id: "+e.ID+"\nevent: "+e.Type+"\ndata: "...)
		text = append(append(text, e.Envelope(s.organizationID)...), "\n\n"...)
	}
	if len(text) == 0 && now.Sub(s.wrote) >= streamAlive {
		text = []byte(": still here\n\n")
	}
	if len(text) == 0 {
		return nil
	}
	control := http.NewResponseController(s.w)
	_ = control.SetWriteDeadline(now.Add(streamTimeout))
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	s.wrote = now
	return control.Flush()
}

// check returns an error if the reader may not read events any more.
func (s *eventWriter) check() error {
	who, err := s.api.app.Access.Authenticate(s.request.Context(), secret.New(s.request.Header.Get(keyHeader)))
	if err == nil {
		err = who.Authorize(s.route.Need)
	}
	return err
}
