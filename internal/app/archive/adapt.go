package archive

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Adapted is what an import has ended or paused, because it cannot work in another database, or must not.
type Adapted struct {
	Keys        int // API keys that were revoked
	Apps        int // authorizations of apps that were ended
	Connections connection.Imported
	Webhooks    int // endpoints that were paused
	FirmEnded   bool
	FirmStays   bool
	Invitations int64                // that wait, whose links do not work here
	Requests    firmrequest.Imported // of a firm to its clients
	Setups      int64                // registrations at providers that must be entered again
}

// adapt ends and pauses what cannot work here, with audit records that say so.
func (i *importing) adapt(ctx context.Context, tx *db.Tx) (err error) {
	out := &i.Adapted
	if out.Keys, err = i.app.Access.RevokeAll(ctx, tx); err != nil {
		return err
	}
	if out.Apps, err = i.app.OAuth.EndAll(ctx, tx); err != nil {
		return err
	}
	if out.Connections, err = i.app.Connections.RequireCredentials(ctx, tx); err != nil {
		return err
	}
	if out.Webhooks, err = webhook.PauseAll(ctx, tx); err != nil {
		return err
	}
	if out.FirmStays = i.firmKnown; !i.firmKnown {
		if out.FirmEnded, err = i.app.Firms.EndUnknownAccess(ctx, tx); err != nil {
			return err
		}
	}
	if out.Invitations, err = i.app.Team.CountPending(ctx, tx); err != nil {
		return err
	}
	if out.Requests, err = firmrequest.EndImportedSetups(ctx, tx); err != nil {
		return err
	}
	out.Setups = i.from.rowsOf("provider_setups")
	return nil
}

func (a *Archive) rowsOf(table string) int64 {
	for _, t := range a.Tables {
		if t.Name == table {
			return t.Rows
		}
	}
	return 0
}

// findFirm reports whether the firm whose client the organization is knows it in this database. It cannot be looked up in the database
// transaction of the import, which is bound to the organization.
func (i *importing) findFirm(ctx context.Context) (known bool, err error) {
	all := kept()
	at := slices.IndexFunc(all, func(of db.ArchivedTable) bool { return of.Name == "firm_access" })
	t := i.from.Tables[at]
	text := func(values []any, column string) string { return fmt.Sprint(values[slices.Index(t.Columns, column)]) }
	err = i.from.each(t, all[at], func(values []any, _ int) error {
		if known || text(values, "status") != string(firm.Active) {
			return nil
		}
		known, err = i.app.Firms.Knows(ctx, text(values, "firm_organization_id"), text(values, "firm_client_id"), i.from.OrganizationID)
		return err
	})
	return known, err
}
