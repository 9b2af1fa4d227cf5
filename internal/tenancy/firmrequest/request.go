package firmrequest

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Status is what has become of a request.
type Status string

// The statuses. Pending becomes Expired by the passing of time. The others are final.
const (
	Pending   Status = "pending"
	Completed Status = "completed"
	Cancelled Status = "cancelled"
	Expired   Status = "expired"
)

// Statuses lists every status.
var Statuses = []Status{Pending, Completed, Cancelled, Expired}

// IntegrationStatus says whether an account that was asked for is connected.
type IntegrationStatus string

// The statuses of integrations.
const (
	Waiting   IntegrationStatus = "pending"
	Connected IntegrationStatus = "connected"
)

// Integration is an account that a client is asked to connect, or files that it is asked to upload.
type Integration struct {
	Provider     string            `json:"provider"` // source.File for files
	Name         string            `json:"name"`
	Status       IntegrationStatus `json:"status"`
	ConnectionID string            `json:"connection_id,omitempty"` // of the client; also of one whose setup is not finished
	ImportID     string            `json:"import_id,omitempty"`     // of the client: the latest file that was uploaded
}

// IsFile reports whether files are asked for.
func (i Integration) IsFile() bool { return i.Provider == source.File }

// Asks says what a client is asked for first.
type Asks string

// What clients are asked for.
const (
	AsksAccess   Asks = "access" // and for accounts then, if there are any
	AsksOwner    Asks = "owner"
	AsksAccounts Asks = "accounts"
)

// asks returns what a client is asked for: access, as long as the firm has none; then accounts; if none are, that somebody becomes
// the owner of the books.
func (r Request) asks(c firm.Client) Asks {
	switch {
	case c.Status == firm.Pending:
		return AsksAccess
	case len(r.Integrations) == 0:
		return AsksOwner
	}
	return AsksAccounts
}

// title says in a few words what a firm asks for: the subject of the mail, and the title of the page.
func (a Asks) title(firmName string) string {
	return firmName + map[Asks]string{AsksAccess: " asks for access to your books", AsksOwner: " asks you to become the owner of your books",
		AsksAccounts: " asks you to connect your accounts"}[a]
}

// sentence says what a firm asks a client for.
func (a Asks) sentence(clientName string) string {
	return map[Asks]string{AsksAccess: "asks for access to the books of ", AsksOwner: "asks you to become the owner of the books of ",
		AsksAccounts: "asks you to connect accounts to the books of "}[a] + clientName
}

// By says who has ended a request.
type By string

// Who ends requests. It is empty for one that has expired, or that has not ended.
const (
	ByFirm   By = "firm"
	ByClient By = "client"
)

// Request is what a firm asks a client for.
type Request struct {
	ID             string
	OrganizationID string // of the firm
	ClientID       string
	Email          string // that the link was sent to
	Message        string
	Integrations   []Integration
	Status         Status // now
	EmailSent      bool   // the mail server has accepted the last message
	EmailSentAt    *time.Time
	RequestedAt    time.Time // last
	ExpiresAt      time.Time
	CreatedBy      string
	CreatedAt      time.Time
	UpdatedAt      *time.Time
	EndedBy        By
	EndedAt        *time.Time
}

func (r Request) facts() map[string]any {
	return map[string]any{"id": r.ID, "client_id": r.ClientID, "email": r.Email, "message": db.OrNull(r.Message),
		"integrations": r.Integrations, "status": r.Status, "email_sent": r.EmailSent, "email_sent_at": r.EmailSentAt,
		"requested_at": r.RequestedAt, "expires_at": r.ExpiresAt, "created_by": db.OrNull(r.CreatedBy),
		"ended_by": db.OrNull(string(r.EndedBy)), "ended_at": r.EndedAt}
}

// at returns the request with the status that it has at a time.
func (r Request) at(now time.Time) Request {
	if r.Status == Pending && !now.Before(r.ExpiresAt) {
		r.Status = Expired
	}
	return r
}

// clone returns a copy whose integrations can be changed.
func (r Request) clone() Request {
	r.Integrations = slices.Clone(r.Integrations)
	return r
}

// allConnected reports whether everything is connected that was asked for. Nothing is if only access was asked for, which ends otherwise.
func (r Request) allConnected() bool {
	return len(r.Integrations) > 0 && !slices.ContainsFunc(r.Integrations, func(i Integration) bool { return i.Status != Connected })
}

// done reports whether nothing can be left to do. More files may come until the client says that this is all.
func (r Request) done() bool {
	return r.allConnected() && !slices.ContainsFunc(r.Integrations, Integration.IsFile)
}

// awaitsSetup reports whether a setup on a page of a provider was begun and not finished.
func (r Request) awaitsSetup() bool { return len(r.begun()) > 0 }

// begun returns the connections whose setup was begun and not finished.
func (r Request) begun() (ids []string) {
	for _, i := range r.Integrations {
		if i.Status == Waiting && i.ConnectionID != "" {
			ids = append(ids, i.ConnectionID)
		}
	}
	return ids
}
