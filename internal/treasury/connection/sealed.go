package connection

import "github.com/bursarhq/bursar/internal/kernel/sealing"

// Sealed lists the columns whose values are encrypted.
var Sealed = []sealing.Column{
	{Table: "connection_credentials", Name: "sealed", Title: "credentials of connections", Of: []string{"organization_id", "connection_id"}},
	{Table: "authorization_attempts", Name: "sealed", Title: "setups of connections that are not finished",
		Of: []string{"organization_id", "authorization_attempt_id"}},
	{Table: "provider_setups", Name: "sealed", Title: "registrations at providers", Of: []string{"organization_id", "provider"}},
}
