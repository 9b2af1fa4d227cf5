package firmrequest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

const noun = "request"

type requestRow struct {
	ID           string     `db:"firm_request_id"`
	ClientID     string     `db:"firm_client_id"`
	Email        string     `db:"email"`
	Message      *string    `db:"message"`
	Integrations string     `db:"integrations"`
	Status       string     `db:"status"`
	AwaitsSetup  bool       `db:"awaits_setup"`
	EmailSent    bool       `db:"email_sent"`
	EmailSentAt  *time.Time `db:"email_sent_at"`
	RequestedAt  time.Time  `db:"requested_at"`
	ExpiresAt    time.Time  `db:"expires_at"`
	CreatedBy    *string    `db:"created_by"`
	CreatedAt    time.Time  `db:"created_at"`
	UpdatedAt    *time.Time `db:"updated_at"`
	EndedBy      *string    `db:"ended_by"`
	EndedAt      *time.Time `db:"ended_at"`
}

func (r requestRow) request(organizationID string) (Request, error) {
	out := Request{ID: r.ID, OrganizationID: organizationID, ClientID: r.ClientID, Email: r.Email, Message: db.OrEmpty(r.Message),
		Integrations: []Integration{}, Status: Status(r.Status), EmailSent: r.EmailSent, EmailSentAt: r.EmailSentAt,
		RequestedAt: r.RequestedAt, ExpiresAt: r.ExpiresAt, CreatedBy: db.OrEmpty(r.CreatedBy), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, EndedBy: By(db.OrEmpty(r.EndedBy)), EndedAt: r.EndedAt}
	if err := json.Unmarshal([]byte(r.Integrations), &out.Integrations); err != nil {
		return out, fmt.Errorf("the integrations of the request %s cannot be read: %w", r.ID, err)
	}
	return out, nil
}

func rowOf(r Request) requestRow {
	return requestRow{ID: r.ID, ClientID: r.ClientID, Email: r.Email, Message: db.OrNull(r.Message), Integrations: encoded(r.Integrations),
		Status: string(r.Status), AwaitsSetup: r.awaitsSetup(), EmailSent: r.EmailSent, EmailSentAt: r.EmailSentAt,
		RequestedAt: r.RequestedAt, ExpiresAt: r.ExpiresAt, CreatedBy: db.OrNull(r.CreatedBy), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, EndedBy: db.OrNull(string(r.EndedBy)), EndedAt: r.EndedAt}
}

// encoded returns integrations as they are stored.
func encoded(all []Integration) string {
	text, err := json.Marshal(append([]Integration{}, all...))
	if err != nil {
		panic("firmrequest: integrations cannot be encoded: " + err.Error())
	}
	return string(text)
}

func insertRequest(ctx context.Context, tx *db.Tx, r Request) error {
	return db.Insert(ctx, tx, "firm_requests", rowOf(r))
}

// updateRequest stores what can change of a request.
func updateRequest(ctx context.Context, tx *db.Tx, r Request) error {
	row := rowOf(r)
	_, err := tx.Exec(ctx, "UPDATE firm_requests SET email = ?, integrations = ?, status = ?, awaits_setup = ?, email_sent = ?, "+
		"email_sent_at = ?, requested_at = ?, expires_at = ?, updated_at = ?, ended_by = ?, ended_at = ? "+
		"WHERE organization_id = @org AND firm_request_id = ?", row.Email, row.Integrations, row.Status, row.AwaitsSetup, row.EmailSent,
		row.EmailSentAt, row.RequestedAt, row.ExpiresAt, row.UpdatedAt, row.EndedBy, row.EndedAt, row.ID)
	return err
}

// selectRequest returns a request as it is stored.
func selectRequest(ctx context.Context, tx *db.Tx, requestID string) (Request, error) {
	r, err := db.One[requestRow](ctx, tx, noun, "SELECT "+db.Columns[requestRow]()+
		" FROM firm_requests WHERE organization_id = @org AND firm_request_id = ?", requestID)
	if err != nil {
		return Request{}, err
	}
	return r.request(tx.Organization())
}

// selectPendingOf returns the requests to a client that are stored as pending.
func selectPendingOf(ctx context.Context, tx *db.Tx, clientID string) ([]Request, error) {
	return queryRequests(ctx, tx, "firm_client_id = ? AND status = 'pending' ORDER BY firm_request_id", clientID)
}

func queryRequests(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]Request, error) {
	rows, err := db.All[requestRow](ctx, tx, "SELECT "+db.Columns[requestRow]()+
		" FROM firm_requests WHERE organization_id = @org AND "+condition, args...)
	if err != nil {
		return nil, err
	}
	out := make([]Request, len(rows))
	for n, r := range rows {
		if out[n], err = r.request(tx.Organization()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// selectSeen reads requests that an actor may know of, the newest first, in a transaction across organizations.
func selectSeen(ctx context.Context, tx *db.Tx, who actor.Actor, f Filter, below string, limit int) ([]Request, error) {
	q := db.Select("SELECT r.firm_request_id, r.firm_client_id, r.email, r.message, r.integrations, r.status, r.awaits_setup, r.email_sent, "+
		"r.email_sent_at, r.requested_at, r.expires_at, r.created_by, r.created_at, r.updated_at, r.ended_by, r.ended_at FROM firm_requests r "+
		"WHERE r.organization_id = ?", who.OrganizationID).And("r.firm_request_id < ?", below)
	if !who.Role.KnowsAllClients() {
		q.And("r.firm_client_id IN (SELECT p.firm_client_id"+firm.FromRoles+"WHERE p.user_id = ? AND p.firm_organization_id = ?)",
			who.UserID, who.OrganizationID)
	}
	if f.id != "" {
		q.And("r.firm_request_id = ?", f.id)
	}
	if f.ClientID != "" {
		q.And("r.firm_client_id = ?", f.ClientID)
	}
	switch f.Status {
	case "":
	case Pending:
		q.And("r.status = 'pending' AND r.expires_at > ?", tx.Now())
	case Expired:
		q.And("(r.status = 'expired' OR r.status = 'pending' AND r.expires_at <= ?)", tx.Now())
	default:
		q.And("r.status = ?", string(f.Status))
	}
	rows, err := db.All[requestRow](ctx, tx, q.Then("ORDER BY r.firm_request_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	out := make([]Request, len(rows))
	for n, r := range rows {
		if out[n], err = r.request(who.OrganizationID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// placed names a request of any organization.
type placed struct {
	OrganizationID string `db:"organization_id"`
	RequestID      string `db:"firm_request_id"`
}

// selectExpired reads requests of all organizations that have expired and are stored as pending, in the order of their ids.
func selectExpired(ctx context.Context, tx *db.Tx, now time.Time, above string, limit int) ([]placed, error) {
	return db.All[placed](ctx, tx, "SELECT organization_id, firm_request_id FROM firm_requests WHERE status = 'pending' AND expires_at <= ? "+
		"AND firm_request_id > ? ORDER BY firm_request_id LIMIT ?", now, above, limit)
}

// selectAwaiting reads requests of all organizations with a setup that is not finished, in the order of their ids.
func selectAwaiting(ctx context.Context, tx *db.Tx, above string, limit int) ([]placed, error) {
	return db.All[placed](ctx, tx, "SELECT organization_id, firm_request_id FROM firm_requests WHERE status = 'pending' AND awaits_setup "+
		"AND firm_request_id > ? ORDER BY firm_request_id LIMIT ?", above, limit)
}

// faultyRow is a request with what verification compares it with.
type faultyRow struct {
	requestRow
	ClientStatus *string `db:"client_status"`
}

func selectForVerify(ctx context.Context, tx *db.Tx) ([]faultyRow, error) {
	return db.All[faultyRow](ctx, tx, "SELECT r.firm_request_id, r.firm_client_id, r.email, r.message, r.integrations, r.status, "+
		"r.awaits_setup, r.email_sent, r.email_sent_at, r.requested_at, r.expires_at, r.created_by, r.created_at, r.updated_at, r.ended_by, "+
		"r.ended_at, c.status AS client_status FROM firm_requests r LEFT JOIN firm_clients c ON c.organization_id = r.organization_id "+
		"AND c.firm_client_id = r.firm_client_id WHERE r.organization_id = @org ORDER BY r.firm_request_id")
}
