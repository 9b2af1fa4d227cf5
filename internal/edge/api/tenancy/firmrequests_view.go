package tenancy

// FirmRequest is what an accounting firm asks a client for.
type FirmRequest struct {
	ID             string                   `json:"id" doc:"Identifier: frq_ and 26 characters."`
	ClientID       string                   `json:"client_id" doc:"Client that is asked."`
	OrganizationID string                   `json:"organization_id" doc:"Organization of the firm."`
	Status         string                   `json:"status" enum:"pending,completed,cancelled,expired" doc:"What has become of the request. It is completed when the client has connected everything, or says that nothing more is to come."`
	Integrations   []FirmRequestIntegration `json:"integrations" doc:"What the client is asked to connect. Empty if the request asks for access only, or for an owner."`
	Message        *string                  `json:"message" doc:"What the firm has written to the client; null if nothing."`
	Email          string                   `json:"email" format:"idn-email" doc:"Address that the link was sent to."`
	EmailSent      bool                     `json:"email_sent" doc:"Whether the mail server has accepted the last message."`
	EmailSentAt    *string                  `json:"email_sent_at" format:"date-time" doc:"When the mail server last accepted a message; null if it never did."`
	RequestedAt    string                   `json:"requested_at" format:"date-time" doc:"When the client was asked last."`
	ExpiresAt      string                   `json:"expires_at" format:"date-time" doc:"Until when the client can answer."`
	CreatedBy      *string                  `json:"created_by" doc:"User who has asked; null for the operator of the service."`
	CreatedAt      string                   `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt      *string                  `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
	EndedBy        *string                  `json:"ended_by" enum:"firm,client" doc:"Who has ended the request; null if it has expired, or is pending. A client that declines cancels the request."`
	EndedAt        *string                  `json:"ended_at" format:"date-time" doc:"When the request was completed, cancelled or expired; null while it is pending."`
}

// FirmRequestIntegration is an account that a client is asked to connect.
type FirmRequestIntegration struct {
	Provider     string  `json:"provider" doc:"Name of the provider, or file for files to upload."`
	Name         string  `json:"name" doc:"What the client sees."`
	Status       string  `json:"status" enum:"pending,connected" doc:"Whether the account is connected, or a file was uploaded."`
	ConnectionID *string `json:"connection_id" doc:"Connection in the books of the client; null if none was begun, and for files."`
	ImportID     *string `json:"import_id" doc:"Import of the latest file that was uploaded, in the books of the client; null if none was, and for connections."`
}

// CreateFirmRequest describes a request.
type CreateFirmRequest struct {
	ClientID     string           `json:"client_id" minLength:"1" maxLength:"64" doc:"Client to ask. It must not have ended."`
	Integrations []AskIntegration `json:"integrations" nullable:"false" maxItems:"20" doc:"What the client is to connect. It may be empty if the client is pending, or nobody of it owns the books: then the request asks for access only, or for somebody who becomes the owner."`
	Message      string           `json:"message,omitempty" maxLength:"2000" doc:"Text to the client. Defaults to none."`
}

// AskIntegration describes an account that a client is asked to connect.
type AskIntegration struct {
	Provider string `json:"provider" minLength:"1" maxLength:"64" doc:"Name of a provider of GET /v1/connections/providers, or file for files to upload."`
	Name     string `json:"name,omitempty" maxLength:"200" doc:"What the client sees. Defaults to the name of the provider."`
}

// CancelledFirmRequest says that a request was cancelled.
type CancelledFirmRequest struct {
	ID     string `json:"id" doc:"Identifier: frq_ and 26 characters."`
	Status string `json:"status" enum:"cancelled" doc:"State of the request."`
}
