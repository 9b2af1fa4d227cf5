package tenancy

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	return slices.Concat(h.organization(), h.apiKeys(), h.auditLog())
}

func (h handlers) organization() []wire.Route {
	return wire.Tag{Name: "Organization", Description: "The organization of the API key and its members."}.Routes(
		wire.Get("/v1/organization", h.getOrganization, "Get the organization of the API key"),
		wire.Patch("/v1/organization", h.updateOrganization, "Update the profile of the organization").Privileged(),
		wire.Get("/v1/organization/members", h.listMembers, "List the members of the organization"),
	)
}

func (h handlers) apiKeys() []wire.Route {
	return wire.Tag{Name: "API keys", Description: "Keys for programs that use the API."}.Routes(
		wire.Get("/v1/api-keys", h.listAPIKeys, "List API keys, newest first").Privileged(),
		wire.Post("/v1/api-keys", h.createAPIKey, "Create an API key").
			Describe("The key itself is returned only once, in this response.").Privileged().Creates(),
		wire.Delete("/v1/api-keys/{api_key_id}", h.revokeAPIKey, "Revoke an API key").
			Describe("Takes effect on every node within a second.").Privileged(),
	)
}

func (h handlers) auditLog() []wire.Route {
	readers := []actor.Role{actor.Owner, actor.Admin, actor.Auditor}
	return wire.Tag{Name: "Audit log", Description: "A tamper-evident record of every change."}.Routes(
		wire.Get("/v1/audit-log", h.listAuditLog, "List audit records, newest first").NeedsRole(readers...),
		wire.Get("/v1/audit-log/verify", h.verifyAuditLog, "Verify the hash chain of the audit log").NeedsRole(readers...).LargeRead(),
	)
}
