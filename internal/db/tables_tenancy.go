package db

var tenancyTables = []Table{
	{Name: "users", Kind: Reference, Owner: "tenancy/access", ID: "user_id", One: "user", Many: "users"},
	{Name: "members", Kind: Tenant, Owner: "tenancy/access", References: []Link{{Column: "user_id", To: "users"}}},
	{Name: "api_keys", Kind: Reference, PerOrganization: true, Owner: "tenancy/access", ID: "api_key_id", One: "API key", Many: "API keys",
		References: []Link{
			{Column: "user_id", To: "users"},
			{Column: "parent_api_key_id", To: "api_keys"},
			{Column: "legal_entity_ids", To: "legal_entities", List: true, One: "API key limited to it", Many: "API keys limited to it",
				Rows: "SELECT CAST(NULL AS TEXT) AS example FROM api_keys limited_key WHERE limited_key.organization_id = @org AND " +
					"limited_key.revoked_at IS NULL AND ' ' || limited_key.legal_entity_ids || ' ' LIKE '% ' || {id} || ' %'",
				Unindexed: "an organization has few keys"},
		}},
}
