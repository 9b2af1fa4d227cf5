package connection

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Verify recomputes the invariants of connections and returns a sentence for each broken one. It needs no key: credentials are only
// required to exist as long as a connection does.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	rows, err := selectForVerify(ctx, tx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(rows))
	for n, r := range rows {
		ids[n] = r.SourceID
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	accounts := map[[2]string]string{}
	for _, r := range rows {
		for _, text := range r.faults(sources[r.SourceID].LegalEntityID) {
			out = append(out, fmt.Sprintf("connection %s: %s", r.ID, text))
		}
		if r.ExternalAccountID == nil || Status(r.Status) == Disconnected {
			continue
		}
		account := [2]string{r.Provider, *r.ExternalAccountID}
		if other := accounts[account]; other != "" {
			out = append(out, fmt.Sprintf("connection %s: it is connected to the account of the connection %s", r.ID, other))
		}
		accounts[account] = r.ID
	}
	orphans, err := selectOrphans(ctx, tx)
	for _, id := range orphans {
		out = append(out, fmt.Sprintf("connection %s: there is progress or an event of it, but it does not exist", id))
	}
	return out, err
}

// faults returns the violated invariants of a connection whose source belongs to a legal entity; an empty one means that there is none.
func (r verifyRow) faults(sourceEntityID string) (out []string) {
	c := r.connection()
	var faults fault.List
	if name := validateName(&faults, c.Name); name != c.Name || faults.Err() != nil {
		out = append(out, "its name is not valid")
	}
	if !c.Status.valid() {
		out = append(out, fmt.Sprintf("its status %q is not valid", c.Status))
	}
	if (c.credentials == "") != (c.Status == Disconnected) {
		out = append(out, fmt.Sprintf("it is %s, which contradicts whether it has credentials", c.Status))
	}
	if (c.Status == Failed || c.Status == Unauthorized) != (c.ErrorMessage != "") {
		out = append(out, fmt.Sprintf("it is %s, which contradicts its error message", c.Status))
	}
	if sourceEntityID != c.LegalEntityID {
		out = append(out, "its source does not exist, or belongs to another legal entity")
	}
	if r.SyncStatus == nil || c.Status == Disconnected && *r.SyncStatus != idle {
		out = append(out, "what is read of it does not agree with its status")
	}
	return out
}
