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
	// historyShort is the length of a new audit log that still fills a page before and after its middle.
	historyShort = 200
	pageLimit    = 50
)

// measureHistory compares a service with a long audit log to a new one: costs must not grow with history.
func measureHistory(b *bench) (figures []figure, err error) {
	long := pick(b, 20_000, 2_000, 400)
	young, err := b.auditService("young", historyShort)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, young.close()) }()
	old, err := b.auditService("old", long)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.close()) }()
	for _, p := range []*auditService{young, old} {
		p.connections = dial(p.server.host, 1)
		if _, err := p.connections.run(b.warmup(), p.first); err != nil {
			return nil, err
		}
	}
	note := func(what string, y, o tally) string {
		return fmt.Sprintf("%s: median %s with %d entries, %s with %d", what, rounded(y.at(0.5)), historyShort, rounded(o.at(0.5)), long)
	}
	for _, m := range []struct {
		name, what string
		young, old request
	}{
		{"history, first page", "GET /v1/audit-log", young.first, old.first},
		{"history, page in the middle", "the same at half its depth", young.middle, old.middle},
		{"history, a change", "PATCH " + readPath, young.change, old.change},
	} {
		y, o, err := turns(pick(b, 1000, 300, 10), young, m.young, old, m.old)
		if err != nil {
			return nil, err
		}
		ratio := o.at(0.5).Seconds() / y.at(0.5).Seconds()
		figures = append(figures, figure{name: m.name, value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf("<= %.1f", historyRatioMax),
			verdict: b.judge(ratio <= historyRatioMax), note: note(m.what, y, o)})
	}
	return figures, nil
}

// turns alternates between two services request by request, so that other load on the machine affects both alike.
func turns(n int, young *auditService, toYoung request, old *auditService, toOld request) (y, o tally, err error) {
	for range n {
		t, err := young.connections.times(1, toYoung)
		if err != nil {
			return y, o, err
		}
		y.add(t)
		if t, err = old.connections.times(1, toOld); err != nil {
			return y, o, err
		}
		o.add(t)
	}
	return y, o, nil
}

// auditService is a running service with an audit log of some length.
type auditService struct {
	server                *server
	connections           *connections
	first, middle, change request
}

func (p *auditService) close() error {
	if p.connections != nil {
		p.connections.close()
	}
	return p.server.stop()
}

// auditService fills the audit log of a new service through its API, completes the jobs which that left, and restarts it.
func (b *bench) auditService(name string, entries int) (*auditService, error) {
	k, err := b.folder(name)
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
	if err := b.completeBacklog(k); err != nil {
		return nil, err
	}
	if s, err = b.serve(k); err != nil {
		return nil, err
	}
	p := &auditService{server: s, first: s.get(fmt.Sprintf("/v1/audit-log?limit=%d", pageLimit)), change: s.rename()}
	if p.middle, err = b.middle(s, entries/2); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return p, nil
}

// fill makes changes, with many clients so that they share commits.
func fill(s *server, entries int) error {
	c := dial(s.host, historyClients)
	defer c.close()
	for from := renames.Load(); renames.Load() < from+int64(entries); {
		if _, err := c.run(20*time.Millisecond, s.rename()); err != nil {
			return err
		}
	}
	return nil
}

// completeBacklog marks the jobs that the changes left waiting as completed: a backlog would be measured as if it were history.
func (b *bench) completeBacklog(k database) error {
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

// middle pages to the middle of the log and returns the request for that page.
func (b *bench) middle(s *server, depth int) (request, error) {
	query := url.Values{"limit": {fmt.Sprint(pageLimit)}}
	for range depth / pageLimit {
		var page client.Page[client.AuditEntry]
		if err := s.client().Do(b.ctx, client.Call{Method: http.MethodGet, Path: "/v1/audit-log", Query: query}, &page); err != nil {
			return nil, err
		}
		if page.NextCursor == nil {
			return nil, errors.New("the audit log is shorter than the number of changes made")
		}
		query.Set("cursor", *page.NextCursor)
	}
	return s.get("/v1/audit-log?" + query.Encode()), nil
}
