package tenancy

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	return slices.Concat(h.organization(), h.team(), h.apiKeys(), h.auditLog(), h.sessions(), h.preferences(), h.apps(), h.firm(),
		h.firmRequests(), h.firmAccess())
}

func (h handlers) organization() []wire.Route {
	return wire.Tag{Name: "Organization", Description: "The organization of the API key and its members."}.Routes(
		wire.Get("/v1/organization", h.getOrganization, "Get the organization of the API key"),
		wire.Patch("/v1/organization", h.updateOrganization, "Update the profile of the organization").WholeOrganization().Privileged(),
		wire.Get("/v1/organization/members", h.listMembers, "List the members of the organization"),
	)
}

func (h handlers) team() []wire.Route {
	const member, invitation = "/v1/team/members/{user_id}", "/v1/team/invitations/{invitation_id}"
	return wire.Tag{Name: "Team", Description: "Who belongs to the organization, and who is invited to."}.Routes(
		wire.Patch(member, h.updateMember, "Change the role of a member, or what the member is limited to").Sensitive().
			Describe("Keys and apps of the member can do no more than the member from then on. Only an owner can make, change or remove an "+
				"owner, and the only owner cannot get another role.").WholeOrganization().Privileged().MembersOnly(),
		wire.Prepared(wire.Delete(member, h.removeMember, "Remove a member, or leave the organization").Sensitive().
			Describe("Revokes the API keys of the member, with those that were created with them, and disconnects the member's apps. Owners "+
				"and admins remove others. Everybody can remove themselves, to leave the organization. The only owner cannot be removed.").
			ForEveryRole().MembersOnly().MayConflict(), h.mayRemoveMember),
		wire.Get("/v1/team/invitations", h.listInvitations, "List invitations, newest first").WholeOrganization().Privileged().MembersOnly(),
		wire.Post("/v1/team/invitations", h.createInvitation, "Invite a person").Sensitive().
			Describe("Mails a link with which the person becomes a member. It works once, for seven days. Somebody new sets a password; "+
				"somebody with an account must be signed in with the address that was invited. Only an owner can invite an owner.").
			WholeOrganization().Privileged().MembersOnly().Creates(),
		wire.Delete(invitation, h.revokeInvitation, "Revoke an invitation").
			Describe("The link stops working. Revoking an invitation again changes nothing.").WholeOrganization().Privileged().
			MembersOnly(),
		wire.Post(invitation+"/resend", h.resendInvitation, "Send an invitation again").Sensitive().
			Describe("Mails a new link, which works for seven days. The former one stops working. An invitation is mailed at most three times "+
				"an hour, and an address gets at most 20 invitations a day: then the answer is 429, and says when to try again.").
			WholeOrganization().Privileged().MembersOnly(),
	)
}

func (h handlers) preferences() []wire.Route {
	const one = "/v1/preferences/{name}"
	return wire.Tag{Name: "Preferences", Description: "What users have set for themselves, such as the columns of a table."}.Routes(
		wire.Get("/v1/preferences", h.getPreferences, "Get your preferences").ForEveryRole().MembersOnly(),
		wire.Put(one, h.setPreference, "Set one of your preferences").ForEveryRole().MembersOnly().MayConflict(),
		wire.Delete(one, h.deletePreference, "Delete one of your preferences").ForEveryRole().MembersOnly(),
	)
}

func (h handlers) apiKeys() []wire.Route {
	return wire.Tag{Name: "API keys", Description: "Keys for programs that use the API."}.Routes(
		wire.Get("/v1/api-keys", h.listAPIKeys, "List API keys, newest first").
			Describe("A key that is limited to legal entities lists only keys that are limited to some of these.").Privileged().MembersOnly(),
		wire.Post("/v1/api-keys", h.createAPIKey, "Create an API key").Sensitive().
			Describe("The key itself is returned only once, in this response. It can do no more than the key that creates it, and ends with it.").
			Privileged().MembersOnly().Creates(),
		wire.Post("/v1/api-keys/{api_key_id}/rotate", h.rotateAPIKey, "Replace an API key by a new one").Sensitive().
			Describe("Returns a new key that can do the same, only once, in this response. The former one works a while longer. The new "+
				"one expires when the former one does; somebody who is signed in can prolong it. Keys that were created with the former key stay "+
				"valid, and end with the new one. The new key is revoked with the key that makes the request, even if that is the former key "+
				"itself. An app can replace only the keys that it has created, and nobody one that acts for another user.").
			Privileged().MembersOnly().Creates(),
		wire.Delete("/v1/api-keys/{api_key_id}", h.revokeAPIKey, "Revoke an API key").
			Describe("Revokes the keys that it has made too: those that were created with it, and those that it was replaced by with its own "+
				"credentials. The response lists them. Takes effect on every node within a second. Only an owner can revoke "+
				"the key of an owner, or one that an owner created. A key that is limited to legal entities can revoke "+
				"only itself and the keys created with it, and an app only the keys that it has created.").
			Privileged().MembersOnly(),
	)
}

func (h handlers) sessions() []wire.Route {
	return wire.Tag{Name: "Sessions", Description: "People who are signed in. The session is in a cookie, which programs in the browser " +
		"cannot read. Requests that change something must come from a page of this service."}.Routes(
		wire.Get("/v1/session", h.getSession, "Get who makes the request, and what they may do").Admits(wire.ForKnown),
		wire.Post("/v1/session", h.signIn, "Sign in").Describe("Sets the cookie of a new session, and ends the one that the browser "+
			"had before. A person who has set up an authenticator app also sends a code; without one the answer is 401 and says so. After "+
			"several failures further attempts must wait.").
			Admits(wire.ForAnyone).Creates(),
		wire.Patch("/v1/session", h.chooseOrganization, "Choose the organization to work for").
			Describe("Requests of this session act for it from now on, unless they name another in the header `X-Organization-Id`.").
			Admits(wire.ForPerson),
		wire.Delete("/v1/session", h.signOut, "Sign out").Admits(wire.ForPerson),
		wire.Post("/v1/session/confirm", h.confirmSession, "Confirm who you are").
			Describe("Some operations need a proof of who the person is that is not older than 15 minutes: they answer 403 and say so.").
			Admits(wire.ForPerson),
		wire.Put("/v1/session/password", h.changePassword, "Change your password").
			Describe("Ends all other sessions of the person.").Admits(wire.ForPerson),
		wire.Get("/v1/sessions", h.listSessions, "List your sessions").Admits(wire.ForPerson),
		wire.Delete("/v1/sessions", h.endOtherSessions, "End all your other sessions").Admits(wire.ForPerson),
		wire.Delete("/v1/sessions/{session_id}", h.endOneSession, "End one of your sessions").
			Describe("Takes effect on every node within a second.").Admits(wire.ForPerson),
	)
}

func (h handlers) apps() []wire.Route {
	return slices.Concat(
		wire.Tag{Name: "OAuth clients", Description: "Apps that the organization has registered. People of any organization can connect " +
			"them."}.Routes(
			wire.Get("/v1/oauth-clients", h.listOAuthClients, "List registered apps, newest first").Privileged().WholeOrganization().MembersOnly(),
			wire.Get("/v1/oauth-clients/{oauth_client_id}", h.getOAuthClient, "Get a registered app").Privileged().WholeOrganization().
				MembersOnly(),
			wire.Post("/v1/oauth-clients", h.createOAuthClient, "Register an app").Sensitive().
				Describe("The app gets access tokens by the authorization code flow with PKCE. It has no secret.").
				Privileged().NeedsRole(actor.Owner).WholeOrganization().MembersOnly().Creates(),
			wire.Delete("/v1/oauth-clients/{oauth_client_id}", h.revokeOAuthClient, "Revoke a registered app").
				Describe("Its tokens stop working within a second, in all organizations whose people have connected it.").
				Privileged().NeedsRole(actor.Owner).WholeOrganization().MembersOnly(),
		),
		wire.Tag{Name: "Connected apps", Description: "Apps that people of the organization have allowed to act for them."}.Routes(
			wire.Get("/v1/connected-apps", h.listConnectedApps, "List connected apps, newest first").
				Describe("Owners and admins see those of everybody, other people their own.").MembersOnly(),
			wire.Prepared(wire.Delete("/v1/connected-apps/{connected_app_id}", h.disconnectApp, "Disconnect an app").
				Describe("People disconnect their own apps, owners and admins also those of others. The app's tokens stop working within a "+
					"second, and the API keys that it created are revoked.").
				ForEveryRole().MembersOnly(), h.findConnectedApp),
		),
	)
}

func (h handlers) auditLog() []wire.Route {
	readers := []actor.Role{actor.Owner, actor.Admin, actor.Auditor}
	return wire.Tag{Name: "Audit log", Description: "A tamper-evident record of every change."}.Routes(
		wire.Get("/v1/audit-log", h.listAuditLog, "List audit records, newest first").WholeOrganization().NeedsRole(readers...).
			OrFirm(actor.Reviewer),
		wire.Get("/v1/audit-log/verify", h.verifyAuditLog, "Verify the hash chain of the audit log").WholeOrganization().
			NeedsRole(readers...).OrFirm(actor.Reviewer).LargeRead(),
	)
}
