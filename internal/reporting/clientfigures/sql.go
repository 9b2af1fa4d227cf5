package clientfigures

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// row has the figures of a client, which are missing if they have not been computed yet.
type row struct {
	Sequence     *int64     `db:"audit_sequence"`
	Open         *int64     `db:"open_transactions"`
	Unreconciled *int64     `db:"unreconciled_sources"`
	Without      *int64     `db:"sources_without_balance"`
	PeriodID     *string    `db:"accounting_period_id"`
	PeriodKey    *string    `db:"period_key"`
	Readiness    *string    `db:"readiness"`
	Failed       *int64     `db:"failed_checks"`
	Warnings     *int64     `db:"warnings"`
	AsOf         *time.Time `db:"as_of"`
	ValidUntil   *time.Time `db:"valid_until"`
	RefreshAfter *time.Time `db:"refresh_after"`
}

// upsert stores the figures of the organization, unless later ones are stored.
func upsert(ctx context.Context, tx *db.Tx, f Figures) error {
	r := row{Sequence: &f.sequence, Open: &f.OpenTransactions, AsOf: &f.AsOf, ValidUntil: &f.until,
		RefreshAfter: new(f.AsOf.Add(max(refreshPause, refreshShare*f.took)))}
	if m := f.Month; m != nil {
		r.PeriodID, r.PeriodKey, r.Readiness = &m.PeriodID, &m.Key, new(string(m.Readiness))
		r.Failed, r.Warnings, r.Unreconciled, r.Without = &m.FailedChecks, &m.Warnings, &m.UnreconciledSources, &m.SourcesWithoutBalance
	}
	var set []string
	for _, column := range strings.Split(db.Columns[row](), ", ") {
		set = append(set, column+" = excluded."+column)
	}
	return db.Upsert(ctx, tx, "client_figures", []row{r}, "ON CONFLICT (organization_id) DO UPDATE SET "+strings.Join(set, ", ")+
		" WHERE client_figures.as_of IS NULL OR client_figures.as_of <= excluded.as_of")
}

// postpone stores when the figures of the organization, which could not be computed, are tried again. Those that there are stay.
func postpone(ctx context.Context, tx *db.Tx, again time.Time) error {
	return db.Upsert(ctx, tx, "client_figures", []row{{RefreshAfter: &again}},
		"ON CONFLICT (organization_id) DO UPDATE SET refresh_after = excluded.refresh_after")
}

// figures returns the figures, or nil if there are none.
func (r row) figures() *Figures {
	if r.AsOf == nil {
		return nil
	}
	f := &Figures{OpenTransactions: *r.Open, AsOf: *r.AsOf, sequence: *r.Sequence, until: *r.ValidUntil}
	if r.PeriodID != nil {
		f.Month = &Month{PeriodID: *r.PeriodID, Key: *r.PeriodKey, Readiness: Readiness(*r.Readiness), FailedChecks: *r.Failed,
			Warnings: *r.Warnings, UnreconciledSources: *r.Unreconciled, SourcesWithoutBalance: *r.Without}
	}
	return f
}

type overviewRow struct {
	ID             string    `db:"firm_client_id"`
	OrganizationID string    `db:"client_organization_id"`
	Name           string    `db:"name"`
	Role           string    `db:"role"`
	Last           int64     `db:"last_sequence"`
	LastActivity   time.Time `db:"last_activity"`
	row
}

// selectOverview reads the clients for which an actor has a role, in a transaction across organizations.
func selectOverview(ctx context.Context, tx *db.Tx, who actor.Actor, above string, limit int) ([]Client, error) {
	if !who.MayWorkForClients() {
		return nil, nil
	}
	rows, err := db.All[overviewRow](ctx, tx, `SELECT c.firm_client_id, a.organization_id AS client_organization_id, c.name, p.role,
		s.audit_sequence AS last_sequence, l.created_at AS last_activity, f.`+strings.ReplaceAll(db.Columns[row](), ", ", ", f.")+`
		`+firm.FromRoles+`
		JOIN firm_clients c ON c.organization_id = a.firm_organization_id AND c.firm_client_id = a.firm_client_id
			AND c.client_organization_id = a.organization_id
		JOIN organization_state s ON s.organization_id = a.organization_id
		JOIN audit_log l ON l.organization_id = s.organization_id AND l.sequence = s.audit_sequence
		LEFT JOIN client_figures f ON f.organization_id = a.organization_id
		WHERE p.user_id = ? AND p.firm_organization_id = ? AND p.firm_client_id > ?
		ORDER BY p.firm_client_id LIMIT ?`, who.UserID, who.OrganizationID, above, limit)
	out := make([]Client, len(rows))
	for i, r := range rows {
		out[i] = Client{ID: r.ID, OrganizationID: r.OrganizationID, Name: r.Name, Role: actor.FirmRole(r.Role), LastActivity: r.LastActivity,
			Figures: r.figures()}
		if f := out[i].Figures; f != nil {
			out[i].Current = f.sequence >= r.Last && tx.Now().Before(f.until)
		} else if r.RefreshAfter != nil {
			out[i].failed = tx.Now().Before(*r.RefreshAfter)
		}
	}
	return out, err
}

// selectDue reads the clients of firms whose figures are to be computed, those that wait the longest first, in a transaction across
// organizations.
func selectDue(ctx context.Context, tx *db.Tx, limit int) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT a.organization_id FROM firm_access a
		JOIN organization_state s ON s.organization_id = a.organization_id
		LEFT JOIN client_figures f ON f.organization_id = a.organization_id
		WHERE a.status = 'active' AND (f.organization_id IS NULL OR f.refresh_after <= ? AND
			(f.as_of IS NULL OR f.audit_sequence <> s.audit_sequence OR f.valid_until <= ?))
		ORDER BY f.refresh_after IS NOT NULL, f.refresh_after, a.organization_id LIMIT ?`, tx.Now(), tx.Now(), limit)
}
