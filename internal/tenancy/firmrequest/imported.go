package firmrequest

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// Imported is what has become of the requests of a firm that was imported from another database.
type Imported struct {
	Pending []Request // whose links do not work here, so that they must be sent again
	Setups  int       // that were begun and not finished
}

// EndImportedSetups ends the setups that were begun by requests of a firm that was imported from another database, so that the client can
// begin them again: they are at pages of providers that lead back to the other installation. It returns the requests that are pending. It
// is a building block.
func EndImportedSetups(ctx context.Context, tx *db.Tx) (out Imported, err error) {
	all, err := queryRequests(ctx, tx, "status = 'pending' ORDER BY firm_request_id")
	if err != nil {
		return out, err
	}
	for _, before := range all {
		if before.at(tx.Now()).Status != Pending {
			continue // the sweep ends it
		}
		if begun := before.begun(); len(begun) > 0 {
			after := before.clone()
			for n := range after.Integrations {
				if i := &after.Integrations[n]; i.Status == Waiting {
					i.ConnectionID = ""
				}
			}
			if err := store(ctx, tx, "firm_request.updated", before, after); err != nil {
				return out, err
			}
			before, out.Setups = after, out.Setups+len(begun)
		}
		out.Pending = append(out.Pending, before)
	}
	return out, nil
}
