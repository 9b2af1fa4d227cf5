package db

const (
	deliveryState = "it says how far events were sent, and pausing an endpoint because of that is audited"
	deliveryLog   = "it is the log of what was sent, which is deleted after some time"
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
}
