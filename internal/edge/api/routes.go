package api

import "github.com/bursarhq/bursar/internal/area/actor"

// routes is every operation of the service. A line gives method, path, class, scope, whether it takes an Idempotency-Key, and its handler;
// all that routes share follows from it.
func (a *API) routes() []Route {
	const (
		read, write, privileged = actor.Read, actor.Write, actor.Privileged
		reads, all              = actor.ScopeRead, actor.ScopeAll
	)
	return []Route{
		on("GET", "/v1/organization", read, reads, plain, a.getOrganization, "Organization", "The organization of the key"),
		on("PATCH", "/v1/organization", privileged, all, plain, a.updateOrganization, "Organization", "Change the organization's profile"),
		on("GET", "/v1/organization/members", read, reads, plain, a.listMembers, "Organization", "The people of the organization"),

		on("GET", "/v1/api-keys", privileged, all, plain, a.listAPIKeys, "API keys", "The organization's API keys, newest first"),
		on("POST", "/v1/api-keys", privileged, all, IDEM, a.createAPIKey, "API keys", "Make an API key; its text is shown only here").creates(),
		on("DELETE", "/v1/api-keys/{api_key_id}", privileged, all, plain, a.revokeAPIKey, "API keys", "Revoke an API key, on every node within a second"),

		on("GET", "/v1/legal-entities", read, reads, plain, a.listLegalEntities, "Legal entities", "The legal entities the key is for"),
		on("GET", "/v1/legal-entities/{legal_entity_id}", read, reads, plain, a.getLegalEntity, "Legal entities", "A legal entity and all it elected about cost basis"),
		on("POST", "/v1/legal-entities", write, all, IDEM, a.createLegalEntity, "Legal entities", "Make a legal entity").creates(),
		on("PATCH", "/v1/legal-entities/{legal_entity_id}", write, all, plain, a.updateLegalEntity, "Legal entities", "Change a legal entity"),
		on("DELETE", "/v1/legal-entities/{legal_entity_id}", write, all, plain, a.deleteLegalEntity, "Legal entities", "Delete a legal entity that nothing refers to"),

		on("GET", "/v1/tags", read, reads, plain, a.listTags, "Tags", "The organization's tags"),
		on("GET", "/v1/tags/{tag_id}", read, reads, plain, a.getTag, "Tags", "A tag"),
		on("POST", "/v1/tags", write, all, IDEM, a.createTag, "Tags", "Make a tag").creates(),
		on("PATCH", "/v1/tags/{tag_id}", write, all, plain, a.updateTag, "Tags", "Change a tag"),
		on("DELETE", "/v1/tags/{tag_id}", write, all, plain, a.deleteTag, "Tags", "Delete a tag that nothing is marked with"),

		on("GET", "/v1/fx-rates", read, reads, plain, a.listFXRates, "FX rates", "Rates between currencies, the newest day first"),
		on("POST", "/v1/fx-rates", write, all, IDEM, a.storeFXRates, "FX rates", "Store rates of a day, all or none; the same day and pair again replaces").creates(),

		on("GET", "/v1/audit-log", read, reads, plain, a.listAuditLog, "Audit log", "Who changed what, newest first").only(actor.Owner, actor.Admin, actor.Auditor),
		on("GET", "/v1/audit-log/verify", read, reads, plain, a.verifyAuditLog, "Audit log", "Recompute the chain of hashes over the log").only(actor.Owner, actor.Admin, actor.Auditor),
	}
}
