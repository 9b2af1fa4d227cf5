package firm

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

type settingsRow struct {
	FirmID     string     `db:"firm_id"`
	FirmName   string     `db:"firm_name"`
	WebAddress *string    `db:"web_address"`
	CreatedAt  time.Time  `db:"created_at"`
	UpdatedAt  *time.Time `db:"updated_at"`
}

func selectSettings(ctx context.Context, tx *db.Tx) (Settings, error) {
	r, err := db.One[settingsRow](ctx, tx, "firm settings", "SELECT "+db.Columns[settingsRow]()+" FROM firms WHERE organization_id = @org")
	return Settings{ID: r.FirmID, OrganizationID: tx.Organization(), FirmName: r.FirmName, WebAddress: db.OrEmpty(r.WebAddress),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}, err
}

func insertSettings(ctx context.Context, tx *db.Tx, s Settings) error {
	return db.Insert(ctx, tx, "firms", settingsRow{FirmID: s.ID, FirmName: s.FirmName, WebAddress: db.OrNull(s.WebAddress),
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt})
}

func updateSettings(ctx context.Context, tx *db.Tx, s Settings) error {
	_, err := tx.Exec(ctx, "UPDATE firms SET firm_name = ?, web_address = ?, updated_at = ? WHERE organization_id = @org", s.FirmName,
		db.OrNull(s.WebAddress), s.UpdatedAt)
	return err
}

type clientRow struct {
	ClientID       string     `db:"firm_client_id"`
	Name           string     `db:"name"`
	Email          string     `db:"email"`
	OrganizationID *string    `db:"client_organization_id"`
	Status         string     `db:"status"`
	CreatedBy      *string    `db:"created_by"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      *time.Time `db:"updated_at"`
	EndedAt        *time.Time `db:"ended_at"`
}

func (r clientRow) client() Client {
	return Client{ID: r.ClientID, Name: r.Name, Email: r.Email, OrganizationID: db.OrEmpty(r.OrganizationID), Status: Status(r.Status),
		CreatedBy: db.OrEmpty(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, EndedAt: r.EndedAt, People: []Person{}}
}

func insertClient(ctx context.Context, tx *db.Tx, c Client) error {
	return db.Insert(ctx, tx, "firm_clients", clientRow{ClientID: c.ID, Name: c.Name, Email: c.Email,
		OrganizationID: db.OrNull(c.OrganizationID), Status: string(c.Status), CreatedBy: db.OrNull(c.CreatedBy), CreatedAt: c.CreatedAt,
		UpdatedAt: c.UpdatedAt, EndedAt: c.EndedAt})
}

// updateClient stores what can change of a client.
func updateClient(ctx context.Context, tx *db.Tx, c Client) error {
	_, err := tx.Exec(ctx, "UPDATE firm_clients SET name = ?, email = ?, client_organization_id = ?, status = ?, updated_at = ?, "+
		"ended_at = ? WHERE organization_id = @org AND firm_client_id = ?", c.Name, c.Email, db.OrNull(c.OrganizationID),
		string(c.Status), c.UpdatedAt, c.EndedAt, c.ID)
	return err
}

// FindClient returns a client of the organization as it is stored, without people. It is a building block.
func FindClient(ctx context.Context, tx *db.Tx, clientID string) (Client, error) {
	r, err := db.One[clientRow](ctx, tx, noun, "SELECT "+db.Columns[clientRow]()+
		" FROM firm_clients WHERE organization_id = @org AND firm_client_id = ?", clientID)
	return r.client(), err
}

func countClients(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM firm_clients WHERE organization_id = @org AND status <> 'ended'")
}

type seenRow struct {
	clientRow
	Role          *string    `db:"role"`
	AccessEndedAt *time.Time `db:"access_ended_at"`
}

// selectClients reads clients that an actor may know of, in a transaction across organizations.
func selectClients(ctx context.Context, tx *db.Tx, who actor.Actor, f ClientFilter, above string, limit int) ([]Client, error) {
	const columns = "SELECT c.firm_client_id, c.name, c.email, c.client_organization_id, c.status, c.created_by, c.created_at, " +
		"c.updated_at, c.ended_at, r.role, a.ended_at AS access_ended_at"
	const mine = "(SELECT p.firm_client_id, p.role" + FromRoles + "WHERE p.user_id = ? AND p.firm_organization_id = ?) r "
	from := " FROM firm_clients c LEFT JOIN " + mine + "ON r.firm_client_id = c.firm_client_id "
	if !who.Role.KnowsAllClients() {
		from = " FROM firm_clients c JOIN " + mine + "ON r.firm_client_id = c.firm_client_id "
	}
	q := db.Select(columns+from+"LEFT JOIN firm_access a ON a.organization_id = c.client_organization_id "+
		"AND a.firm_client_id = c.firm_client_id WHERE c.organization_id = ?", who.UserID, who.OrganizationID, who.OrganizationID).
		And("c.firm_client_id > ?", above)
	if f.ids != nil {
		q.And("c.firm_client_id {any}", f.ids)
	}
	switch f.Status {
	case "":
	case Ended:
		q.And("(c.status = 'ended' OR a.status = 'ended')")
	default:
		q.And("c.status = ?", string(f.Status)).And("(a.status IS NULL OR a.status = 'active')")
	}
	rows, err := db.All[seenRow](ctx, tx, q.Then("ORDER BY c.firm_client_id LIMIT ?", limit), q.Args...)
	out := make([]Client, len(rows))
	for i, r := range rows {
		out[i] = r.client()
		out[i].Role = actor.FirmRole(db.OrEmpty(r.Role))
		if r.AccessEndedAt != nil { // the record follows within moments
			out[i].Status, out[i].EndedAt = Ended, r.AccessEndedAt
		}
	}
	return out, err
}

type personRow struct {
	ClientID    string    `db:"firm_client_id"`
	UserID      string    `db:"user_id"`
	Role        string    `db:"role"`
	MemberSince time.Time `db:"member_since"`
	Email       string    `db:"email"`
	Name        *string   `db:"name"`
}

func (r personRow) person() Person {
	return Person{UserID: r.UserID, Role: actor.FirmRole(r.Role), MemberSince: r.MemberSince, Email: r.Email, Name: db.OrEmpty(r.Name)}
}

const selectPeople = "SELECT p.firm_client_id, p.user_id, p.role, p.member_since, u.email, u.name FROM firm_people p " +
	"JOIN users u ON u.user_id = p.user_id "

// addPeople adds those who work for clients, in a transaction across organizations.
func addPeople(ctx context.Context, tx *db.Tx, clients []Client) error {
	at, organizations := map[string]int{}, []string{}
	for i, c := range clients {
		if c.Status == Active {
			at[c.ID], organizations = i, append(organizations, c.OrganizationID)
		}
	}
	rows, err := db.All[personRow](ctx, tx, selectPeople+"WHERE p.organization_id {any} ORDER BY p.user_id", organizations)
	for _, r := range rows {
		if i, ok := at[r.ClientID]; ok {
			clients[i].People = append(clients[i].People, r.person())
		}
	}
	return err
}

type accessRow struct {
	ClientID           string     `db:"firm_client_id"`
	FirmOrganizationID string     `db:"firm_organization_id"`
	FirmID             string     `db:"firm_id"`
	Status             string     `db:"status"`
	GrantedBy          *string    `db:"granted_by"`
	GrantedAt          time.Time  `db:"granted_at"`
	EndedBy            *string    `db:"ended_by"`
	EndedAt            *time.Time `db:"ended_at"`
}

func (r accessRow) access() Access {
	return Access{ClientID: r.ClientID, FirmOrganizationID: r.FirmOrganizationID, FirmID: r.FirmID, Status: Status(r.Status),
		GrantedBy: db.OrEmpty(r.GrantedBy), GrantedAt: r.GrantedAt, EndedBy: db.OrEmpty(r.EndedBy), EndedAt: r.EndedAt}
}

func insertAccess(ctx context.Context, tx *db.Tx, a Access) error {
	return db.Insert(ctx, tx, "firm_access", accessRow{ClientID: a.ClientID, FirmOrganizationID: a.FirmOrganizationID, FirmID: a.FirmID,
		Status: string(a.Status), GrantedBy: db.OrNull(a.GrantedBy), GrantedAt: a.GrantedAt, EndedBy: db.OrNull(a.EndedBy), EndedAt: a.EndedAt})
}

func updateAccess(ctx context.Context, tx *db.Tx, a Access) error {
	_, err := tx.Exec(ctx, "UPDATE firm_access SET status = ?, ended_by = ?, ended_at = ? "+
		"WHERE organization_id = @org AND firm_client_id = ?", string(a.Status), db.OrNull(a.EndedBy), a.EndedAt, a.ClientID)
	return err
}

// FindActive returns the access of the firm that works for the organization now. The error is NotFound if none does. It is a building
// block.
func FindActive(ctx context.Context, tx *db.Tx) (Access, error) {
	return oneAccess(ctx, tx, "status = ?", string(Active))
}

// findAccess returns the access that belongs to a firm's record of the client.
func findAccess(ctx context.Context, tx *db.Tx, clientID string) (Access, error) {
	return oneAccess(ctx, tx, "firm_client_id = ?", clientID)
}

func oneAccess(ctx context.Context, tx *db.Tx, condition string, args ...any) (Access, error) {
	r, err := db.One[accessRow](ctx, tx, "firm access", "SELECT "+db.Columns[accessRow]()+
		" FROM firm_access WHERE organization_id = @org AND "+condition, args...)
	if err != nil {
		return Access{}, err
	}
	a := r.access()
	people, err := db.All[personRow](ctx, tx, selectPeople+"WHERE p.organization_id = @org AND p.firm_client_id = ? ORDER BY p.user_id",
		a.ClientID)
	for _, p := range people {
		a.People = append(a.People, Person{UserID: p.UserID, Role: actor.FirmRole(p.Role), MemberSince: p.MemberSince})
	}
	return a, err
}

// selectAccessOf reads the access of firms to an organization, the latest first, in a transaction across organizations.
func selectAccessOf(ctx context.Context, tx *db.Tx, organizationID string, below accessCursor, limit int) ([]Access, error) {
	q := db.Select("SELECT a.firm_client_id, a.firm_organization_id, a.firm_id, a.status, a.granted_by, a.granted_at, a.ended_by, "+
		"a.ended_at, f.firm_name, f.web_address FROM firm_access a LEFT JOIN firms f ON f.organization_id = a.firm_organization_id "+
		"WHERE a.organization_id = ?", organizationID)
	if !below.at.IsZero() {
		q.And("(a.granted_at < ? OR a.granted_at = ? AND a.firm_client_id < ?)", below.at, below.at, below.id)
	}
	rows, err := db.All[struct {
		accessRow
		FirmName   *string `db:"firm_name"` // null if the organization was imported without the firm
		WebAddress *string `db:"web_address"`
	}](ctx, tx, q.Then("ORDER BY a.granted_at DESC, a.firm_client_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	people, err := db.All[personRow](ctx, tx, selectPeople+"WHERE p.organization_id = ? ORDER BY p.user_id", organizationID)
	out := make([]Access, len(rows))
	for i, r := range rows {
		out[i] = r.access()
		out[i].FirmName, out[i].WebAddress, out[i].People = db.OrEmpty(r.FirmName), db.OrEmpty(r.WebAddress), []Person{}
		for _, p := range people {
			if p.ClientID == r.ClientID {
				out[i].People = append(out[i].People, p.person())
			}
		}
	}
	return out, err
}

func upsertPerson(ctx context.Context, tx *db.Tx, a Access, p Person) error {
	_, err := tx.Exec(ctx, "INSERT INTO firm_people (organization_id, firm_client_id, user_id, firm_organization_id, role, member_since, "+
		"created_at) VALUES (@org, ?, ?, ?, ?, ?, ?) ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role, "+
		"member_since = excluded.member_since", a.ClientID, p.UserID, a.FirmOrganizationID, string(p.Role), p.MemberSince, tx.Now())
	return err
}

func deletePerson(ctx context.Context, tx *db.Tx, clientID, userID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM firm_people WHERE organization_id = @org AND firm_client_id = ? AND user_id = ?", clientID, userID)
	return err
}

func deletePeople(ctx context.Context, tx *db.Tx, clientID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM firm_people WHERE organization_id = @org AND firm_client_id = ?", clientID)
	return err
}

// countStrays counts people whose role belongs to an access that has ended.
func countStrays(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM firm_people p JOIN firm_access a ON a.organization_id = p.organization_id "+
		"AND a.firm_client_id = p.firm_client_id WHERE p.organization_id = @org AND (a.status <> 'active' OR "+
		"a.firm_organization_id <> p.firm_organization_id)")
}

// FromRoles selects the roles that people of firms have for clients at this moment, in a transaction across organizations: p is the role, a
// the access that the client has granted and not ended, and m the membership in the firm, which is the one that the role was given to and
// is not limited to a part of the firm. A role outlives the others for a moment only.
const FromRoles = " FROM firm_people p JOIN firm_access a ON a.organization_id = p.organization_id " +
	"AND a.firm_client_id = p.firm_client_id AND a.firm_organization_id = p.firm_organization_id AND a.status = 'active' " +
	"JOIN members m ON m.organization_id = p.firm_organization_id AND m.user_id = p.user_id AND m.created_at = p.member_since " +
	"AND m.legal_entity_ids = '' "

// selectActing reads what somebody may do for a client, in a transaction across organizations.
func selectActing(ctx context.Context, tx *db.Tx, userID, organizationID string) (acting, error) {
	r, err := db.One[struct {
		FirmOrganizationID string `db:"firm_organization_id"`
		FirmID             string `db:"firm_id"`
		Role               string `db:"role"`
	}](ctx, tx, "organization", "SELECT a.firm_organization_id, a.firm_id, p.role"+FromRoles+
		"WHERE p.organization_id = ? AND p.user_id = ?", organizationID, userID)
	return acting{organizationID: organizationID, userID: userID, firmOrganizationID: r.FirmOrganizationID, firmID: r.FirmID,
		role: actor.FirmRole(r.Role)}, err
}

// selectFormer reads the clients for which somebody has a role by a membership in a firm that has ended, or is limited to a part of it, in
// a transaction across organizations.
func selectFormer(ctx context.Context, tx *db.Tx, firmOrganizationID, userID string) ([]Client, error) {
	rows, err := db.All[struct {
		ClientID       string `db:"firm_client_id"`
		OrganizationID string `db:"organization_id"`
	}](ctx, tx, "SELECT p.firm_client_id, p.organization_id FROM firm_people p WHERE p.user_id = ? AND p.firm_organization_id = ? "+
		"AND NOT EXISTS (SELECT 1 FROM members m WHERE m.organization_id = p.firm_organization_id AND m.user_id = p.user_id "+
		"AND m.created_at = p.member_since AND m.legal_entity_ids = '')", userID, firmOrganizationID)
	out := make([]Client, len(rows))
	for i, r := range rows {
		out[i] = Client{ID: r.ClientID, OrganizationID: r.OrganizationID, Status: Active}
	}
	return out, err
}
