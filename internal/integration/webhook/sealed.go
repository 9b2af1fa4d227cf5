package webhook

import "github.com/bursarhq/bursar/internal/kernel/sealing"

// Sealed lists the columns whose values are encrypted.
var Sealed = []sealing.Column{
	{Table: "webhook_endpoints", Name: "secret", Title: "secrets of webhook endpoints",
		Of: []string{"organization_id", "webhook_endpoint_id"}},
	{Table: "webhook_endpoints", Name: "previous_secret", Title: "former secrets of webhook endpoints",
		Of: []string{"organization_id", "webhook_endpoint_id"}},
}
