package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/reference"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Verify recomputes the invariants of connections and returns a sentence for each broken one. It needs no key: credentials are only
// required to exist as long as a connection does.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	rows, err := selectForVerify(ctx, tx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range rows {
		if r.SourceID != nil {
			ids = append(ids, *r.SourceID)
		}
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	accounts := map[[2]string]string{}
	for _, r := range rows {
		for _, text := range r.faults(sources) {
			out = append(out, fmt.Sprintf("connection %s: %s", r.ID, text))
		}
		if r.ExternalAccountID == nil || r.SourceID == nil || Status(r.Status) == Disconnected {
			continue
		}
		account := [2]string{r.Provider, *r.ExternalAccountID}
		if other := accounts[account]; other != "" {
			out = append(out, fmt.Sprintf("connection %s: it is connected to the account of the connection %s", r.ID, other))
		}
		accounts[account] = r.ID
	}
	dangling, err := reference.FindDangling(ctx, tx, table)
	for _, d := range dangling {
		out = append(out, fmt.Sprintf("connection %s: there are %s of it, but it does not exist", d.ID, d.Table))
	}
	return out, err
}

// faults returns the violated invariants of a connection; an empty list means that there is none.
func (r verifyRow) faults(sources map[string]source.Source) (out []string) {
	c := r.connection()
	var faults fault.List
	if name := validateName(&faults, c.Name); name != c.Name || faults.Err() != nil {
		out = append(out, "its name is not valid")
	}
	if !c.Status.valid() {
		out = append(out, fmt.Sprintf("its status %q is not valid", c.Status))
	}
	if c.Classify != "" && !slices.Contains(Classifications, c.Classify) {
		out = append(out, fmt.Sprintf("what is done with its new transactions, %q, is not valid", c.Classify))
	}
	for _, text := range []string{r.Settings, r.Warnings} {
		if !json.Valid([]byte(text)) {
			out = append(out, "its settings or warnings are not JSON")
		}
	}
	wants := c.Status != Disconnected && c.Status != PendingSetup && c.AuthMethod != byAddress
	if wants && !r.HasCredentials || r.HasCredentials && c.Status == Disconnected {
		out = append(out, fmt.Sprintf("it is %s, which contradicts whether it has credentials", c.Status))
	}
	if (c.Status == Failed || c.Status == Unauthorized) != (c.ErrorMessage != "") {
		out = append(out, fmt.Sprintf("it is %s, which contradicts its error message", c.Status))
	}
	if c.SourceID != "" && sources[c.SourceID].LegalEntityID != c.LegalEntityID {
		out = append(out, "its source does not exist, or belongs to another legal entity")
	}
	if r.SyncStatus == nil || c.Status == Disconnected && *r.SyncStatus != idle {
		out = append(out, "what is read of it does not agree with its status")
	}
	return out
}
