package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	historyRatioMax = 1.5
	historyClients  = 64
	// historyShort is a log that is new and still fills a page before and behind its middle.
	historyShort = 200
	pageLimit    = 50
)

// measureHistory compares a service with a long past to one that is new: what it costs must not grow with what has happened.
func measureHistory(b *bench) (figures []figure, err error) {
	long := pick(b, 20_000, 2_000)
	young, err := b.past("young", historyShort)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, young.close()) }()
	old, err := b.past("old", long)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.close()) }()
	// Only now, because a server hangs up on a client that says nothing for long, and filling a log takes long.
	for _, p := range []*past{young, old} {
		if p.crowd, err = dial(p.server.host, 1); err != nil {
			return nil, err
		}
		if _, err := p.crowd.run(warmup, p.first); err != nil {
			return nil, err
		}
	}
	note := func(what string, y, o tally) string {
		return fmt.Sprintf("%s: median %s with %d entries, %s with %d", what, brief(y.at(0.5)), historyShort, brief(o.at(0.5)), long)
	}
	for _, m := range []struct {
		name, what string
		young, old request
	}{
		{"history, first page", "GET /v1/audit-log", young.first, old.first},
		{"history, page in the middle", "the same at half its depth", young.middle, old.middle},
		{"history, a change", "PATCH " + readPath, young.change, old.change},
	} {
		y, o, err := turns(pick(b, 1000, 300), young, m.young, old, m.old)
		if err != nil {
			return nil, err
		}
		ratio := o.at(0.5).Seconds() / y.at(0.5).Seconds()
		figures = append(figures, figure{name: m.name, value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf("<= %.1f", historyRatioMax),
			verdict: judge(ratio <= historyRatioMax), note: note(m.what, y, o)})
	}
	return figures, nil
}

// turns sends to one and the other request by request, so that what else the machine does meets both alike.
func turns(n int, young *past, toYoung request, old *past, toOld request) (y, o tally, err error) {
	for range n {
		t, err := young.crowd.times(1, toYoung)
		if err != nil {
			return y, o, err
		}
		y.add(t)
		if t, err = old.crowd.times(1, toOld); err != nil {
			return y, o, err
		}
		o.add(t)
	}
	return y, o, nil
}

// past is a running service whose log has some length.
type past struct {
	server                *server
	crowd                 *crowd
	first, middle, change request
}

func (p *past) close() error {
	if p.crowd != nil {
		p.crowd.close()
	}
	return p.server.stop()
}

// past fills the log of a new service through its API, settles what that left to do, and starts it again.
func (b *bench) past(name string, entries int) (*past, error) {
	k, err := b.found(name)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	err = fill(s, entries)
	if err := errors.Join(err, s.stop()); err != nil {
		return nil, err
	}
	if err := b.settle(k); err != nil {
		return nil, err
	}
	if s, err = b.serve(k); err != nil {
		return nil, err
	}
	p := &past{server: s, first: s.get(fmt.Sprintf("/v1/audit-log?limit=%d", pageLimit)), change: s.rename()}
	if p.middle, err = b.middle(s, entries/2); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return p, nil
}

// fill writes changes with as many clients as share a commit well.
func fill(s *server, entries int) error {
	c, err := dial(s.host, historyClients)
	if err != nil {
		return err
	}
	defer c.close()
	for from := renames.Load(); renames.Load() < from+int64(entries); {
		if _, err := c.run(20*time.Millisecond, s.rename()); err != nil {
			return err
		}
	}
	return nil
}

// settle ends the jobs that the changes left waiting: a backlog would be measured as if it were history.
func (b *bench) settle(k books) error {
	handle, err := db.Open(db.Config{Dir: k.dir})
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"UPDATE relays SET sequence = (SELECT h.event_sequence FROM organization_state h WHERE h.organization_id = relays.organization_id)",
		"UPDATE river_job SET state = 'completed', finalized_at = created_at WHERE state <> 'completed'",
	} {
		_, execErr := handle.Jobs().ExecContext(b.ctx, statement)
		err = errors.Join(err, execErr)
	}
	return errors.Join(err, handle.Close())
}

// middle walks to a page half way down and gives the request for it.
func (b *bench) middle(s *server, depth int) (request, error) {
	query := url.Values{"limit": {fmt.Sprint(pageLimit)}}
	for range depth / pageLimit {
		var page client.Page[client.AuditEntry]
		if err := s.client().Do(b.ctx, client.Call{Method: http.MethodGet, Path: "/v1/audit-log", Query: query}, &page); err != nil {
			return nil, err
		}
		if page.NextCursor == nil {
			return nil, errors.New("the log is shorter than it was made")
		}
		query.Set("cursor", *page.NextCursor)
	}
	return s.get("/v1/audit-log?" + query.Encode()), nil
}
