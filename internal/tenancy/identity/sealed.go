package identity

import "github.com/bursarhq/bursar/internal/kernel/sealing"

// Sealed lists the columns whose values are encrypted.
var Sealed = []sealing.Column{
	{Table: "user_credentials", Name: "totp_secret", Title: "authenticator apps", Purpose: totpFor, Of: []string{"user_id"}},
	{Table: "passkeys", Name: "credential", Title: "passkeys", Purpose: passkeyFor, Of: []string{"user_id", "credential_id"}},
}
