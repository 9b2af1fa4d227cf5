package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	return []wire.Record{
		wire.RecordAt("organization", "/v1/organization", "organization.created", "organization.updated"),
		wire.Viewed(wire.RecordAt("member", "", "member.added", "member.removed"),
			func(_ context.Context, m access.Member) Member { return viewMember(m) }),
		wire.Viewed(wire.RecordAt("api_key", "", "api_key.created", "api_key.revoked").OnlyPrivileged(),
			func(_ context.Context, k access.Key) APIKey { return viewAPIKey(k) }),
		wire.Viewed(wire.RecordAt("user", "", identity.Events...).OnlyPrivileged(),
			func(_ context.Context, e identity.SecurityEvent) SecurityEvent {
				return SecurityEvent{UserID: e.UserID, Email: e.Email, Address: e.Address, UserAgent: e.UserAgent, Details: e.Details}
			}),
	}
}
