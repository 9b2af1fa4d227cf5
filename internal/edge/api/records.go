package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/assets"
	"github.com/bursarhq/bursar/internal/edge/api/automation"
	"github.com/bursarhq/bursar/internal/edge/api/books"
	"github.com/bursarhq/bursar/internal/edge/api/integration"
	"github.com/bursarhq/bursar/internal/edge/api/receivables"
	"github.com/bursarhq/bursar/internal/edge/api/tenancy"
	"github.com/bursarhq/bursar/internal/edge/api/treasury"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// records says what events contain of each type of resource, in the order in which the reference lists them.
func records() []wire.Record {
	return slices.Concat(tenancy.Records(), books.Records(), treasury.Records(), assets.Records(), receivables.Records(),
		automation.Records(), integration.Records())
}

// describer returns the data of events: the records as the API returns them.
type describer struct {
	records map[string]wire.Record // by type of resource
	routes  map[string]*wire.Route // the operations that get one record, by path
}

// DescribeEvents lets the events of an application contain the records they are about. Every process that writes calls it; New does.
func DescribeEvents(a *app.App) { describeEvents(a, routes(a)) }

func describeEvents(a *app.App, list []wire.Route) {
	d := describer{map[string]wire.Record{}, map[string]*wire.Route{}}
	types, privileged := []string{transaction.ActionArrived}, []string{}
	for _, r := range records() {
		d.records[r.ResourceType] = r
		if types = append(types, r.Events...); r.Privileged {
			privileged = append(privileged, r.Events...)
		}
	}
	a.Feed.WithTypes(types, privileged)
	for i, r := range list {
		if r.Method == "GET" && r.Choice == "" {
			d.routes[r.Path] = &list[i]
		}
	}
	audit.DescribeWith(a.DB, d.describe)
}

// describe returns the data of some events. It runs before the commit of the changes, so that records are read as they will be.
func (d describer) describe(ctx context.Context, tx *db.Tx, subjects []audit.Subject) ([]string, error) {
	// Whoever reads events may see the whole organization.
	ctx = actor.With(ctx, actor.Actor{OrganizationID: tx.Organization(), Role: actor.Owner,
		Scopes: []actor.Scope{actor.ScopeRead, actor.ScopeAll}})
	ctx = snapshot.Unchanging(ctx)
	out := make([]string, len(subjects))
	for i, s := range subjects {
		var err error
		if out[i], err = d.one(ctx, tx, s); err != nil {
			return nil, fmt.Errorf("describe the %s %s for an event: %w", s.ResourceType, s.ResourceID, err)
		}
	}
	return out, nil
}

func (d describer) one(ctx context.Context, tx *db.Tx, s audit.Subject) (string, error) {
	r := d.records[s.ResourceType]
	var view any
	var err error
	switch {
	case s.Several:
		return several(s), nil
	case s.Facts == "": // it was deleted
		return s.StatedFacts(), nil
	case s.Object != nil && r.View != nil:
		view, err = r.View(ctx, tx, s.Object)
	case r.Path == "":
		return s.StatedFacts(), nil
	default:
		err = tx.TryRead(ctx, func(ctx context.Context) error {
			view, err = d.routes[r.Path].ReadOne(ctx, s.ResourceID)
			return err
		})
	}
	if fault.KindOf(err) == fault.NotFound { // it was deleted later in the same database transaction, or there is nothing to show of it
		return s.StatedFacts(), nil
	}
	if err != nil {
		return "", err
	}
	return string(wire.EncodeWithout(view, r.Omits...)), nil
}

// several returns the data of an event about several records: what the audit log states, and where to get them.
func several(s audit.Subject) string {
	return strings.TrimSuffix(s.Facts, "}") + `,"url":"/v1/events/` + s.EventID + `/transactions"}`
}
