package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/automation/firmjob"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	return []wire.Record{
		wire.RecordAt("organization", "/v1/organization", "organization.created", "organization.updated"),
		wire.Viewed(wire.RecordAt("member", "", "member.added", "member.updated", "member.removed"),
			func(_ context.Context, m access.Member) Member { return viewMember(m, actor.Actor{}) }),
		wire.Viewed(wire.RecordAt("invitation", "", "invitation.created", "invitation.accepted", "invitation.revoked").OnlyPrivileged(),
			func(_ context.Context, i team.Invitation) Invitation { return viewInvitation(i) }),
		wire.Viewed(wire.RecordAt("api_key", "", "api_key.created", "api_key.rotated", "api_key.expiring", "api_key.revoked").OnlyPrivileged().
			Without("last_used_at", "last_used_from"),
			func(_ context.Context, k access.Key) APIKey { return viewAPIKey(k) }),
		wire.Viewed(wire.RecordAt("user", "", identity.Events...).OnlyPrivileged(),
			func(_ context.Context, e identity.SecurityEvent) SecurityEvent {
				return SecurityEvent{UserID: e.UserID, Email: e.Email, Address: e.Address, UserAgent: e.UserAgent, Details: e.Details,
					OccurredAt: wire.Timestamp(e.OccurredAt)}
			}),
		wire.Viewed(wire.RecordAt("oauth_client", "/v1/oauth-clients/{oauth_client_id}", "oauth_client.created", "oauth_client.revoked").
			OnlyPrivileged(), func(_ context.Context, c oauth.Client) OAuthClient { return viewOAuthClient(c) }),
		wire.Viewed(wire.RecordAt("oauth_authorization", "", "oauth_authorization.granted", "oauth_authorization.ended").OnlyPrivileged().
			Without("last_used_at", "last_used_from"),
			func(_ context.Context, a oauth.Authorization) ConnectedApp { return viewConnectedApp(a) }),
		wire.Viewed(wire.RecordAt("firm", "/v1/firm/settings", "firm.created", "firm.updated"),
			func(_ context.Context, s firm.Settings) FirmSettings { return viewFirm(s) }),
		wire.Viewed(wire.RecordAt("firm_client", "/v1/firm/clients/{client_id}", "firm_client.created", "firm_client.updated",
			"firm_client.ended").OnlyPrivileged().Without("role", "people"),
			func(_ context.Context, c firm.Client) FirmClient { return viewClient(c) }),
		wire.Viewed(wire.RecordAt("firm_request", "/v1/firm/requests/{request_id}", "firm_request.created", "firm_request.sent",
			"firm_request.updated", "firm_request.completed", "firm_request.cancelled", "firm_request.expired").OnlyPrivileged(),
			func(_ context.Context, r firmrequest.Request) FirmRequest { return viewFirmRequest(r) }),
		wire.Viewed(wire.RecordAt("firm_access", "", "firm_access.granted", "firm_access.updated", "firm_access.ended"),
			func(_ context.Context, a firm.Access) FirmAccess { return viewAccess(a) }),
		wire.Viewed(wire.RecordAt("firm_job", "", "firm_job.created", "firm_job.completed", "firm_job.cancelled", "firm_job.failed").
			OnlyPrivileged(), func(_ context.Context, j firmjob.Job) FirmJob { return viewFirmJob(j) }),
	}
}
