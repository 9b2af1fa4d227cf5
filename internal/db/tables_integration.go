package db

const (
	deliveryState = "it says how far events were sent, and pausing an endpoint because of that is audited"
	deliveryLog   = "it is the log of what was sent, which is deleted after some time"
	glCopy        = "it is a copy of what the general ledger has, which is read again"
	ofLines       = "it is a list of legal entities that an entry had lines of"
)

var integrationTables = []Table{
	{Name: "webhook_endpoints", Kind: Tenant, Owner: "integration/webhook", ID: "webhook_endpoint_id", One: "webhook endpoint",
		Many: "webhook endpoints", Example: "webhook_endpoint_id"},
	{Name: "webhook_cursors", Kind: Tenant, Owner: "integration/webhook", Unaudited: deliveryState,
		Unlinked: map[string]string{"webhook_endpoint_id": "the row outlives the endpoint until its log is deleted"}},
	{Name: "webhook_deliveries", Kind: Tenant, Owner: "integration/webhook", Unaudited: deliveryLog, ID: "webhook_delivery_id",
		Unlinked: map[string]string{
			"webhook_endpoint_id": "the row outlives the endpoint until the log is deleted",
			"event_id":            "the event may have been deleted before",
		}},
	{Name: "webhook_attempts", Kind: Tenant, Owner: "integration/webhook", Unaudited: deliveryLog,
		References: []Link{{Column: "webhook_delivery_id", To: "webhook_deliveries"}}},
	{Name: "webhook_replays", Kind: Tenant, Owner: "integration/webhook", Unaudited: deliveryState, ID: "webhook_replay_id",
		References: []Link{{Column: "webhook_endpoint_id", To: "webhook_endpoints"}}},
	{Name: "gl_charts", Kind: Tenant, Owner: "integration/glsync", Unaudited: glCopy,
		References: []Link{{Column: "connection_id", To: "connections"}}},
	{Name: "gl_accounts", Kind: Tenant, Owner: "integration/glsync", Unaudited: glCopy, ID: "gl_account_id", One: "general ledger account",
		Many: "general ledger accounts", Example: "name",
		References: []Link{{Column: "connection_id", To: "connections"}},
		Unlinked:   map[string]string{"external_id": providersID}},
	{Name: "gl_dimension_values", Kind: Tenant, Owner: "integration/glsync", Unaudited: glCopy, ID: "gl_dimension_value_id",
		References: []Link{{Column: "connection_id", To: "connections"}},
		Unlinked:   map[string]string{"external_id": providersID}},
	{Name: "gl_mappings", Kind: Tenant, Owner: "integration/glsync", ID: "gl_mapping_id", One: "mapping to a general ledger",
		Many: "mappings to general ledgers", Example: "gl_mapping_id",
		References: []Link{
			{Column: "connection_id", To: "connections"},
			{Column: "ledger_account_id", To: "ledger_accounts"},
			{Column: "gl_account_id", To: "gl_accounts"},
		}},
	{Name: "gl_tag_mappings", Kind: Tenant, Owner: "integration/glsync", ID: "gl_tag_mapping_id",
		One: "mapping to a dimension of a general ledger", Many: "mappings to dimensions of general ledgers", Example: "gl_tag_mapping_id",
		References: []Link{
			{Column: "connection_id", To: "connections"},
			{Column: "tag_id", To: "tags"},
			{Column: "gl_dimension_value_id", To: "gl_dimension_values"},
		}},
	{Name: "gl_sync_runs", Kind: Tenant, Owner: "integration/glsync", ID: "gl_sync_run_id", One: "general ledger sync run",
		Many: "general ledger sync runs", Example: "gl_sync_run_id",
		Unaudited: "how far a run is says what its entries show, whose attempts are audited; its beginning and its end are audited",
		References: []Link{
			{Column: "connection_id", To: "connections"},
			{Column: "user_id", To: "users"},
			{Column: "api_key_id", To: "api_keys"},
		},
		Unlinked: map[string]string{"legal_entity_ids": ofLines}},
	{Name: "gl_sync_attempts", Kind: Tenant, Owner: "integration/glsync", ID: "gl_sync_attempt_id",
		Unaudited: "what came of an attempt is audited with its journal entry",
		References: []Link{
			{Column: "gl_sync_run_id", To: "gl_sync_runs"},
			{Column: "connection_id", To: "connections"},
			{Column: "journal_entry_id", To: "journal_entries"},
		},
		Unlinked: map[string]string{"external_id": providersID, "legal_entity_ids": ofLines}},
	{Name: "gl_journals", Kind: Tenant, Owner: "integration/glsync",
		Unaudited: "that an entry was sent or removed is audited with the entry",
		References: []Link{
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "connection_id", To: "connections"},
		},
		Unlinked: map[string]string{"external_id": providersID}},
}
