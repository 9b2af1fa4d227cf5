package db

const requestID = "it identifies a request, which is not kept"

var kernelTables = []Table{
	{Name: "organizations", Kind: Tenant, Owner: "kernel/orgstate", ID: "organization_id", One: "organization", Many: "organizations",
		References: []Link{{Column: "firm_organization_id", To: "organizations"}}},
	{Name: "organization_state", Kind: Tenant, Owner: "kernel/orgstate", Unaudited: "it is the end of the audit chain itself"},
	{Name: "audit_log", Kind: Tenant, Owner: "kernel/audit", Unaudited: "it is the audit itself",
		References: []Link{{Column: "user_id", To: "users"}, {Column: "api_key_id", To: "api_keys", Where: "firm_id IS NULL"},
			{Column: "oauth_authorization_id", To: "oauth_authorizations"}},
		Unlinked: map[string]string{
			"request_id":  requestID,
			"firm_id":     ofFirm,
			"resource_id": "it may be of any type, and the audit log outlives what it tells of",
		}},
	{Name: "events", Kind: Tenant, Owner: "kernel/outbox", Unaudited: "an event restates a change that is audited", ID: "event_id",
		Unlinked: map[string]string{"object_id": "it may be of any type, and events outlive what they tell of"}},
	{Name: "relays", Kind: Tenant, Owner: "kernel/outbox",
		Unaudited: "it says how far events were handed on; how long they are kept is recorded by the settings"},
	{Name: "rate_leases", Kind: Local, Owner: "kernel/ratelimit"},
	{Name: "idempotency_keys", Kind: Tenant, Owner: "kernel/idempotency", Unaudited: "it holds answers, not facts"},
}

// libraryTables belong to the libraries that migrate the database and run background jobs.
var libraryTables = []Table{
	{Name: "goose_db_version", Kind: Local, Owner: "db"},
	{Name: "river_client", Kind: Local, Owner: "db"},
	{Name: "river_client_queue", Kind: Local, Owner: "db"},
	{Name: "river_job", Kind: Local, Owner: "db"},
	{Name: "river_leader", Kind: Local, Owner: "db"},
	{Name: "river_migration", Kind: Local, Owner: "db"},
	{Name: "river_notification", Kind: Local, Owner: "db"},
	{Name: "river_queue", Kind: Local, Owner: "db"},
}
