package db

const ofFirm = "it is of the firm, which is another organization"

var tenancyTables = []Table{
	{Name: "users", Kind: Reference, Owner: "tenancy/access", ID: "user_id", One: "user", Many: "users"},
	{Name: "members", Kind: Tenant, Owner: "tenancy/access", References: []Link{
		{Column: "user_id", To: "users"},
		limitedTo("members", "member", "members", ""),
	}},
	{Name: "invitations", Kind: Tenant, Owner: "tenancy/team", ID: "invitation_id", One: "invitation", Many: "invitations",
		References: []Link{
			{Column: "invited_by", To: "users"},
			limitedTo("invitations", "invitation", "invitations", "status = 'pending'"),
		}},
	{Name: "api_keys", Kind: Reference, PerOrganization: true, Owner: "tenancy/access", ID: "api_key_id", One: "API key", Many: "API keys",
		References: []Link{
			{Column: "user_id", To: "users"},
			{Column: "created_by", To: "users"},
			{Column: "parent_api_key_id", To: "api_keys"},
			{Column: "successor_api_key_id", To: "api_keys"},
			{Column: "rotated_with_api_key_id", To: "api_keys"},
			{Column: "oauth_authorization_id", To: "oauth_authorizations"},
			limitedTo("api_keys", "API key", "API keys", "revoked_at IS NULL"),
		}},
	{Name: "credential_uses", Kind: Tenant, Owner: "tenancy/access", Unaudited: "it says when a credential was used last",
		Unlinked: map[string]string{"credential_id": "it is the id of a key or of the authorization of an app"}},
	{Name: "preferences", Kind: Tenant, Owner: "tenancy/access", Unaudited: "it says how a person likes to see the books",
		References: []Link{{Column: "user_id", To: "users"}}},

	{Name: "user_credentials", Kind: Reference, Owner: "tenancy/identity", References: []Link{{Column: "user_id", To: "users"}}},
	{Name: "user_identities", Kind: Reference, Owner: "tenancy/identity", References: []Link{{Column: "user_id", To: "users"}}},
	{Name: "passkeys", Kind: Reference, Owner: "tenancy/identity", ID: "passkey_id", One: "passkey", Many: "passkeys",
		References: []Link{{Column: "user_id", To: "users"}},
		Unlinked:   map[string]string{"credential_id": "a device has given it"}},
	{Name: "sessions", Kind: Local, Owner: "tenancy/identity", ID: "session_id", One: "session", Many: "sessions",
		References: []Link{{Column: "user_id", To: "users"}}},
	{Name: "mailed_links", Kind: Local, Owner: "tenancy/identity", References: []Link{{Column: "user_id", To: "users"}},
		Unlinked: map[string]string{"invitation_id": "invitations and requests are found with the organization that they are of"}},
	{Name: "used_challenges", Kind: Local, Owner: "tenancy/identity"},
	{Name: "sign_in_failures", Kind: Local, Owner: "tenancy/identity"},

	{Name: "firms", Kind: Tenant, Owner: "tenancy/firm", ID: "firm_id", One: "firm", Many: "firms"},
	{Name: "firm_clients", Kind: Tenant, Owner: "tenancy/firm", ID: "firm_client_id", One: "client", Many: "clients",
		References: []Link{{Column: "created_by", To: "users"}},
		Unlinked:   map[string]string{"client_organization_id": "it is another organization, whose books may not have been created yet"}},
	{Name: "firm_requests", Kind: Tenant, Owner: "tenancy/firmrequest", ID: "firm_request_id", One: "request to a client",
		Many: "requests to clients", References: []Link{
			{Column: "firm_client_id", To: "firm_clients"},
			{Column: "created_by", To: "users"},
		}},
	{Name: "firm_access", Kind: Tenant, Owner: "tenancy/firm", References: []Link{
		{Column: "firm_organization_id", To: "organizations"},
		{Column: "granted_by", To: "users"},
		{Column: "ended_by", To: "users"},
	}, Unlinked: map[string]string{"firm_client_id": ofFirm, "firm_id": ofFirm}},
	{Name: "firm_people", Kind: Tenant, Owner: "tenancy/firm", References: []Link{
		{Column: "user_id", To: "users"},
		{Column: "firm_organization_id", To: "organizations"},
	}, Unlinked: map[string]string{"firm_client_id": ofFirm}},

	{Name: "client_figures", Kind: Tenant, Owner: "reporting/clientfigures", Unaudited: "it restates the books, and is computed again",
		References: []Link{{Column: "accounting_period_id", To: "accounting_periods"}}},
	{Name: "firm_jobs", Kind: Tenant, Owner: "automation/firmjob", ID: "firm_job_id", One: "job", Many: "jobs",
		Unaudited:  "how far a job is say its results; its beginning and its end are audited",
		References: []Link{{Column: "user_id", To: "users"}, {Column: "api_key_id", To: "api_keys"}},
		Unlinked:   map[string]string{"request_id": requestID}},
	{Name: "firm_job_results", Kind: Tenant, Owner: "automation/firmjob", Unaudited: "it says what a job found; what it changed is audited",
		References: []Link{{Column: "firm_job_id", To: "firm_jobs"}, {Column: "firm_client_id", To: "firm_clients"}},
		Unlinked:   map[string]string{"client_organization_id": "it is another organization"}},

	{Name: "oauth_clients", Kind: Reference, Owner: "tenancy/oauth", ID: "oauth_client_id", One: "OAuth client", Many: "OAuth clients",
		References: []Link{{Column: "created_by", To: "users"}}},
	{Name: "oauth_authorizations", Kind: Tenant, Owner: "tenancy/oauth", ID: "oauth_authorization_id", One: "authorization of an app",
		Many: "authorizations of apps", References: []Link{
			{Column: "user_id", To: "users"},
			{Column: "oauth_client_id", To: "oauth_clients"},
		}},
	{Name: "oauth_codes", Kind: Tenant, Owner: "tenancy/oauth", Unaudited: "what came of a code is audited", References: []Link{
		{Column: "user_id", To: "users"},
		{Column: "oauth_client_id", To: "oauth_clients"},
		{Column: "oauth_authorization_id", To: "oauth_authorizations"},
	}},
	{Name: "oauth_tokens", Kind: Tenant, Owner: "tenancy/oauth", Unaudited: "the authorization that tokens are for is audited",
		References: []Link{{Column: "oauth_authorization_id", To: "oauth_authorizations"}}},
}

// limitedTo declares that the rows of a table are limited to some legal entities. Those that meet a condition keep one from being deleted.
func limitedTo(table, one, many, condition string) Link {
	if condition != "" {
		condition = " AND limited_" + table + "." + condition
	}
	return Link{Column: "legal_entity_ids", To: "legal_entities", List: true, One: one + " limited to it", Many: many + " limited to it",
		Rows: "SELECT CAST(NULL AS TEXT) AS example FROM " + table + " limited_" + table + " WHERE limited_" + table +
			".organization_id = @org" + condition + " AND ' ' || limited_" + table + ".legal_entity_ids || ' ' LIKE '% ' || {id} || ' %'",
		Unindexed: "an organization has few of them"}
}
