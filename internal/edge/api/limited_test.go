package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

var entityName = regexp.MustCompile(`(^|_)legal_entity_ids?$`)

// forLimited lists the operations that write and that a key limited to some legal entities may call: what they change belongs to legal
// entities. It is independent of the list of routes, so that somebody decides about each new one.
var forLimited = []string{
	"DELETE /v1/api-keys/{api_key_id}", "DELETE /v1/assets/{asset_id}", "DELETE /v1/journal-entries/{journal_entry_id}",
	"DELETE /v1/connections/{connection_id}", "PATCH /v1/connections/{connection_id}", "POST /v1/connections",
	"POST /v1/connections/{connection_id}/reauthorize", "POST /v1/connections/{connection_id}/sync", "POST /v1/sources/{source_id}/sync",
	"DELETE /v1/invoices/{invoice_id}", "DELETE /v1/legal-entities/{legal_entity_id}", "DELETE /v1/sources/{source_id}",
	"DELETE /v1/sources/{source_id}/reconciliations/{reconciliation_id}", "POST /v1/sources/{source_id}/observed-balances",
	"POST /v1/sources/{source_id}/reconciliations",
	"PATCH /v1/assets/{asset_id}", "PATCH /v1/invoices/{invoice_id}", "PATCH /v1/journal-entries/{journal_entry_id}",
	"PATCH /v1/legal-entities/{legal_entity_id}",
	"PATCH /v1/sources/{source_id}", "PATCH /v1/transactions/{transaction_id}",
	"POST /v1/accounting-periods/{accounting_period_id}/close", "POST /v1/accounting-periods/{accounting_period_id}/reopen",
	"POST /v1/api-keys", "POST /v1/api-keys/{api_key_id}/rotate", "POST /v1/assets", "POST /v1/assets/lot-selections",
	"POST /v1/classification-runs",
	"POST /v1/cash-applications", "POST /v1/cash-applications/{application_id}/confirm",
	"POST /v1/cash-applications/{application_id}/return", "POST /v1/cash-applications/{application_id}/void",
	"POST /v1/cash-application-runs", "POST /v1/cash-application-runs/{cash_application_run_id}/cancel",
	"POST /v1/cash-application-runs/{cash_application_run_id}/resume", "POST /v1/cash-application-runs/{cash_application_run_id}/undo",
	"POST /v1/classification-runs/{classification_run_id}/cancel", "POST /v1/classification-runs/{classification_run_id}/resume",
	"POST /v1/credit-notes", "POST /v1/credit-notes/{credit_note_id}/void",
	"POST /v1/imports", "POST /v1/invoices", "POST /v1/invoices/import", "POST /v1/invoices/{invoice_id}/mark-uncollectible",
	"POST /v1/invoices/{invoice_id}/open",
	"POST /v1/invoices/{invoice_id}/reopen", "POST /v1/invoices/{invoice_id}/void",
	"PUT /v1/gl-mappings/{ledger_account_id}", "PUT /v1/gl-mappings/tags/{tag_id}", "POST /v1/gl-mappings/accept",
	"POST /v1/gl-sync-runs",
	"POST /v1/gl-sync-runs/{gl_sync_run_id}/cancel", "POST /v1/journal-entries/{journal_entry_id}/sync",
	"POST /v1/journal-entries", "POST /v1/journal-entries/batch",
	"POST /v1/journal-entries/{journal_entry_id}/correct", "POST /v1/journal-entries/{journal_entry_id}/post",
	"POST /v1/journal-entries/{journal_entry_id}/reverse", "POST /v1/journal-entries/{journal_entry_id}/unpost",
	"POST /v1/revaluations", "POST /v1/revaluations/{revaluation_id}/reverse", "POST /v1/sources", "POST /v1/transactions",
	"POST /v1/transactions/bulk-update", "POST /v1/transactions/link", "POST /v1/transactions/match", "POST /v1/transactions/unlink",
}

// notForLimited lists the operations that read and that a key limited to some legal entities may not call: audit records of all legal
// entities are one chain, events are in one feed, webhook endpoints get events of all, and invitations are to all.
var notForLimited = []string{"GET /v1/audit-log", "GET /v1/audit-log/verify", "GET /v1/events", "GET /v1/events/{event_id}",
	"GET /v1/events/{event_id}/transactions", "GET /v1/webhook-endpoints", "GET /v1/webhook-endpoints/{webhook_endpoint_id}",
	"GET /v1/webhook-endpoints/{webhook_endpoint_id}/deliveries", "GET /v1/webhook-deliveries/{webhook_delivery_id}",
	"GET /v1/oauth-clients", "GET /v1/oauth-clients/{oauth_client_id}", "GET /v1/team/invitations", "GET /v1/firm/settings",
	"GET /v1/firm/clients", "GET /v1/firm/clients/{client_id}", "GET /v1/firm/requests", "GET /v1/firm/requests/{request_id}",
	"GET /v1/firm/templates", "GET /v1/firm/templates/{template_id}", "GET /v1/firm/overview", "GET /v1/firm/jobs",
	"GET /v1/firm/jobs/{job_id}", "GET /v1/firm/jobs/{job_id}/results"}

func TestSoakEveryRouteOfTheWholeOrganizationRefusesAKeyForSomeLegalEntities(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		return func(t *testing.T, r wire.Route) {
			whole := slices.Contains(notForLimited, r.String())
			if r.Method != http.MethodGet && r.Need.Class != actor.Read {
				whole = !slices.Contains(forLimited, r.String())
			}
			if r.Need.WholeOrganization != whole {
				t.Fatalf("the whole organization: %v, want %v", r.Need.WholeOrganization, whole)
			}
			if !whole {
				return
			}
			_, own := request(t, r, n)
			before := n.AuditCount(t)
			a := s.Send(t, own.request(r, n.Limited(t, n.LegalEntity.ID)))
			if a.Status != http.StatusForbidden || a.Error(t).Code != "FORBIDDEN" || !strings.Contains(a.Error(t).Message, "whole organization") {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if after := n.AuditCount(t); after != before+1 { // the limited key was created
				t.Errorf("%d changes were made by a refused request", after-before-1)
			}
		}
	})
}

// The answer for a legal entity that a key has no access to must be the same as for one that does not exist, wherever its id is sent.
func TestSoakEveryLegalEntityAKeyIsNotForIsAsUnknownAsOneThatDoesNotExist(t *testing.T) {
	var tested atomic.Int64 // both engines run at once
	t.Cleanup(func() {
		if tested.Load() == 0 {
			t.Error("no route takes a legal entity, so nothing was tested")
		}
	})
	eachRouteOnce(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		n := s.Found(t, "mine")
		_, own := request(t, r, n) // created while there is one entity, which a sample need not name
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"}).ID
		key := n.Limited(t, append(entitiesOf(s, r, own), n.LegalEntity.ID)...)
		want := http.StatusNotFound
		if r.Need.WholeOrganization {
			want = http.StatusForbidden
		}
		before := n.AuditCount(t)
		compare := func(place string, with func(id string) sample) {
			tested.Add(1)
			none := apitest.UnknownID(other)
			a, b := s.Send(t, with(other).request(r, key)), s.Send(t, with(none).request(r, key))
			if a.Status != want || b.Status != want {
				t.Errorf("%s: other %d %s, unknown %d %s", place, a.Status, a.Body, b.Status, b.Body)
			}
			if x, y := strip(t, a, other), strip(t, b, none); x != y {
				t.Errorf("%s: %s differs from %s", place, x, y)
			}
		}
		for name := range own.path {
			if entityName.MatchString(name) {
				compare("path "+name, func(id string) sample { return own.withPath(name, id) })
			}
		}
		for _, form := range append([]sample{own}, own.also...) {
			for pair := range strings.SplitSeq(form.query, "&") {
				if name, seen, _ := strings.Cut(pair, "="); entityName.MatchString(name) {
					compare("query "+name, func(id string) sample { return form.withQuery(name, id) })
					if strings.HasSuffix(name, "s") { // a visible id beside it makes no difference
						compare("query "+name, func(id string) sample { return form.withQuery(name, seen+","+id) })
					}
				}
			}
			for _, p := range places(s, r, form) {
				value, there := form.at(p.steps)
				if !there || !entityName.MatchString(p.name()) {
					continue
				}
				compare("body "+p.String(), func(id string) sample {
					if list, ok := value.([]any); ok && p.schema.MaxItems != nil && *p.schema.MaxItems == len(list) {
						return form.with(p.steps, append(slices.Clone(list[1:]), id))
					} else if ok {
						return form.with(p.steps, append(list[:len(list):len(list)], id))
					}
					return form.with(p.steps, id)
				})
			}
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes were made by refused requests", after-before)
		}
	})
}

// entitiesOf returns the legal entities that a sample names, so that a key can be limited to them.
func entitiesOf(s *apitest.Service, r wire.Route, own sample) (out []string) {
	for name, value := range own.path {
		if entityName.MatchString(name) {
			out = append(out, value)
		}
	}
	for _, form := range append([]sample{own}, own.also...) {
		for _, p := range places(s, r, form) {
			if value, there := form.at(p.steps); there && entityName.MatchString(p.name()) {
				if one, ok := value.(string); ok {
					out = append(out, one)
				}
			}
		}
	}
	return out
}
