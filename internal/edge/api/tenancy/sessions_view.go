package tenancy

import "github.com/bursarhq/bursar/internal/edge/api/wire"

// SignIn is what a person signs in with.
type SignIn struct {
	Email    string  `json:"email" format:"idn-email" minLength:"3" maxLength:"254" doc:"Email address."`
	Password string  `json:"password" minLength:"1" maxLength:"1000" doc:"Password."`
	Code     *string `json:"code,omitempty" maxLength:"100" doc:"Code of the authenticator app, or a recovery code. Needed by people who have set up an authenticator app."`
}

// ConfirmSession proves again who the person is.
type ConfirmSession struct {
	Password string  `json:"password" minLength:"1" maxLength:"1000" doc:"Password."`
	Code     *string `json:"code,omitempty" maxLength:"100" doc:"Code of the authenticator app, or a recovery code. Needed by people who have set up an authenticator app."`
}

// ChooseOrganization sets for which organization a person works.
type ChooseOrganization struct {
	OrganizationID string `json:"organization_id" minLength:"1" maxLength:"64" doc:"Organization that the person is a member of, or works for as a client of their accounting firm."`
}

// ChangePassword replaces a password.
type ChangePassword struct {
	CurrentPassword string `json:"current_password" maxLength:"1000" doc:"Present password; empty if there is none."`
	Password        string `json:"password" minLength:"1" maxLength:"1000" doc:"New password: at least 12 characters, and not easy to guess."`
}

// Me is who makes the request, and what they may do.
type Me struct {
	Credential     Credential                `json:"credential" doc:"What the request was made with."`
	User           wire.OrNull[SignedInUser] `json:"user" doc:"Person on whose behalf the request was made; null for an API key without a user."`
	Organization   wire.OrNull[NamedRecord]  `json:"organization" doc:"Organization that the request acts for. Null if the person is a member of several and has chosen none."`
	Role           *string                   `json:"role" enum:"owner,admin,accountant,viewer,auditor" doc:"Role in the organization; null if there is none."`
	FirmID         *string                   `json:"firm_id" doc:"Accounting firm on whose behalf the caller works for the organization: frm_ and 26 characters. Null for members of the organization."`
	FirmRole       *string                   `json:"firm_role" enum:"preparer,reviewer,partner" doc:"Role for the organization as a client of the firm; null for members of the organization."`
	Scopes         []string                  `json:"scopes" doc:"Scopes."`
	LegalEntityIDs []string                  `json:"legal_entity_ids" doc:"Legal entities that the caller is limited to; empty means all."`
	AllowedActions []string                  `json:"allowed_actions" doc:"Operations that the caller may use, by their operation id, in alphabetical order."`
	Organizations  []MyOrganization          `json:"organizations" doc:"Organizations that the person is a member of. Only in a session."`
	ConfirmedUntil *string                   `json:"confirmed_until" format:"date-time" doc:"Until when operations that need a recent proof of who the person is can be used without another one. Null if there is no session."`
}

// Credential is what a request was made with.
type Credential struct {
	Type string `json:"type" enum:"api_key,connected_app,session" doc:"Kind of credential."`
	ID   string `json:"id" doc:"Identifier of the API key, connected app or session."`
}

// SignedInUser is a person.
type SignedInUser struct {
	ID           string  `json:"id" doc:"Identifier: usr_ and 26 characters."`
	Email        string  `json:"email" format:"idn-email" doc:"Email address."`
	Name         *string `json:"name" doc:"Name; null if unknown."`
	SecondFactor bool    `json:"second_factor" doc:"Whether an authenticator app is set up."`
}

// NamedRecord is a record by id and name.
type NamedRecord struct {
	ID   string `json:"id" doc:"Identifier."`
	Name string `json:"name" doc:"Name."`
}

// MyOrganization is an organization that a person is a member of.
type MyOrganization struct {
	ID   string `json:"id" doc:"Identifier: org_ and 26 characters."`
	Name string `json:"name" doc:"Name."`
	Role string `json:"role" enum:"owner,admin,accountant,viewer,auditor" doc:"Role of the person in the organization."`
}

// Session is a browser in which a person is signed in.
type Session struct {
	ID         string `json:"id" doc:"Identifier: ses_ and 26 characters."`
	Current    bool   `json:"current" doc:"Whether it is the session of this request."`
	Method     string `json:"method" enum:"password,password_and_totp,password_and_recovery_code,passkey,openid_connect,mailed_link" doc:"How the person signed in."`
	Address    string `json:"address" doc:"Network address from which the person signed in."`
	UserAgent  string `json:"user_agent" doc:"What the browser calls itself."`
	CreatedAt  string `json:"created_at" format:"date-time" doc:"When the person signed in."`
	LastUsedAt string `json:"last_used_at" format:"date-time" doc:"When the session was last used, to about five minutes."`
	ExpiresAt  string `json:"expires_at" format:"date-time" doc:"When the session ends at the latest. It also ends after seven days without use."`
}

// SessionList holds the sessions of a person.
type SessionList struct {
	Data []Session `json:"data" doc:"Sessions, newest first."`
}

// EndedSessions says how many sessions were ended.
type EndedSessions struct {
	Ended int `json:"ended" doc:"Number of sessions that were ended."`
}

// SecurityEvent tells of how a person signs in.
type SecurityEvent struct {
	UserID    string            `json:"user_id" doc:"Person: usr_ and 26 characters."`
	Email     string            `json:"email" format:"idn-email" doc:"Email address of the person."`
	Address   string            `json:"address" doc:"Network address that the request came from; empty for a command of the operator."`
	UserAgent string            `json:"user_agent" doc:"What the browser or program calls itself."`
	Details   map[string]string `json:"details" doc:"More about it, such as the session, the method, or why an attempt failed."`

	OccurredAt string `json:"occurred_at" format:"date-time" doc:"When it happened. Such events are recorded some moments later, and not always in their order."`
}
