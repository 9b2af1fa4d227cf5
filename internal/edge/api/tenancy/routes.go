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
		wire.Patch("/v1/organization", h.updateOrganization, "Update the profile of the organization").WholeOrganization().Privileged(),
		wire.Get("/v1/organization/members", h.listMembers, "List the members of the organization"),
	)
}

func (h handlers) apiKeys() []wire.Route {
	return wire.Tag{Name: "API keys", Description: "Keys for programs that use the API."}.Routes(
		wire.Get("/v1/api-keys", h.listAPIKeys, "List API keys, newest first").
			Describe("A key that is limited to legal entities lists only keys that are limited to some of these.").Privileged(),
		wire.Post("/v1/api-keys", h.createAPIKey, "Create an API key").
			Describe("The key itself is returned only once, in this response. It can do no more than the key that creates it, and ends with it.").
			Privileged().Creates(),
		wire.Delete("/v1/api-keys/{api_key_id}", h.revokeAPIKey, "Revoke an API key").
			Describe("Revokes the keys that were created with it too. Takes effect on every node within a second. Only an owner can revoke "+
				"the key of an owner, or one that an owner created. A key that is limited to legal entities can revoke "+
				"only itself and the keys created with it.").
			Privileged(),
	)
}

func (h handlers) auditLog() []wire.Route {
	readers := []actor.Role{actor.Owner, actor.Admin, actor.Auditor}
	return wire.Tag{Name: "Audit log", Description: "A tamper-evident record of every change."}.Routes(
		wire.Get("/v1/audit-log", h.listAuditLog, "List audit records, newest first").WholeOrganization().NeedsRole(readers...),
		wire.Get("/v1/audit-log/verify", h.verifyAuditLog, "Verify the hash chain of the audit log").WholeOrganization().
			NeedsRole(readers...).LargeRead(),
	)
}
