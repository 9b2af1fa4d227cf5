package tenancy

// OAuthClient is an app that may ask people for access.
type OAuthClient struct {
	ID           string   `json:"id" doc:"Identifier: oac_ and 26 characters. It is the client_id of the app, which has no secret."`
	Name         string   `json:"name" doc:"Name, which people see when the app asks them for access."`
	RedirectURIs []string `json:"redirect_uris" doc:"Addresses that people may be sent back to."`
	HomepageURL  *string  `json:"homepage_url" doc:"Page about the app; null if none."`
	CreatedBy    *string  `json:"created_by" doc:"User who registered the app; null if the operator of the service did."`
	CreatedAt    string   `json:"created_at" format:"date-time" doc:"When the record was created."`
	RevokedAt    *string  `json:"revoked_at" format:"date-time" doc:"When the app was revoked; null if it may ask people for access."`
}

// CreateOAuthClient describes a new app.
type CreateOAuthClient struct {
	Name         string   `json:"name" minLength:"1" maxLength:"100" doc:"Name, which people see when the app asks them for access."`
	RedirectURIs []string `json:"redirect_uris" minItems:"1" maxItems:"10" uniqueItems:"true" doc:"Addresses that people may be sent back to. They must begin with https, or be http on the person's own machine (127.0.0.1, [::1] or localhost), where the port may differ. Otherwise an app must send one of them character by character."`
	HomepageURL  string   `json:"homepage_url,omitempty" maxLength:"2048" doc:"Page about the app: an https address."`
}

// ConnectedApp is an app that a person has allowed to act for them.
type ConnectedApp struct {
	ID            string   `json:"id" doc:"Identifier: oau_ and 26 characters."`
	OAuthClientID string   `json:"oauth_client_id" doc:"The app, as it is registered."`
	Name          string   `json:"name" doc:"Name of the app."`
	HomepageURL   *string  `json:"homepage_url" doc:"Page about the app; null if none."`
	RegisteredBy  string   `json:"registered_by" enum:"operator,organization,itself" doc:"Who registered the app: the operator of this service, an organization, or the app itself."`
	UserID        string   `json:"user_id" doc:"User whom the app acts for."`
	UserEmail     *string  `json:"user_email" doc:"Email address of the user; null if they are no longer a member."`
	UserName      *string  `json:"user_name" doc:"Name of the user; null if they have none, or are no longer a member."`
	Scopes        []string `json:"scopes" doc:"What the app may do. It can never do more than the user."`
	CreatedAt     string   `json:"created_at" format:"date-time" doc:"When the user connected the app."`
	LastUsedAt    *string  `json:"last_used_at" format:"date-time" doc:"When the app last used the API; null if it did not yet."`
	LastUsedFrom  *string  `json:"last_used_from" doc:"Address from which the app last used the API; null if it did not yet."`
	EndedAt       *string  `json:"ended_at" format:"date-time" doc:"When the access of the app ended; null if it has not. The list has only those that have not."`
	EndReason     *string  `json:"end_reason" enum:"revoked,disconnected,replaced,code_replayed,token_replayed,member_removed,client_revoked,expired" doc:"Why the access ended: the app gave it up, a person disconnected it, the user connected it again, a code or a refresh token was used twice, the user is no longer a member, the app was revoked, or it did not refresh its tokens for 90 days. Null if it has not ended."`
}
