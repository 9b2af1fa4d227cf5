package glsync

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
)

// Verify recomputes the invariants of what is sent to general ledgers and returns a sentence for each broken one.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	after := ""
	for {
		rows, err := selectForVerify(ctx, tx, after, verifyTogether)
		if err != nil {
			return out, err
		}
		for _, r := range rows {
			for _, text := range r.faults() {
				out = append(out, fmt.Sprintf("general ledger journal of %s: %s", r.EntryID, text))
			}
			after = r.EntryID
		}
		if len(rows) == 0 {
			break
		}
	}
	mappings, err := selectWrongMappings(ctx, tx)
	for _, id := range mappings {
		out = append(out, fmt.Sprintf("general ledger mapping %s: its account does not exist, or is one of another connection", id))
	}
	if err != nil {
		return out, err
	}
	tagged, err := selectWrongTagMappings(ctx, tx)
	for _, id := range tagged {
		out = append(out, fmt.Sprintf("general ledger mapping %s: its value does not exist, or is one of another connection", id))
	}
	if err != nil {
		return out, err
	}
	runs, err := selectWrongRuns(ctx, tx)
	for _, id := range runs {
		out = append(out, fmt.Sprintf("%s %s: its status does not agree with whether it has ended", noun, id))
	}
	return out, err
}

// verifyTogether is how many entries are verified at a time.
const verifyTogether = 1000

// faults returns the violated invariants of a row.
func (r journalRow) faults() (out []string) {
	if !slices.Contains(states, r.State) {
		out = append(out, fmt.Sprintf("its state %q is not valid", r.State))
	}
	for _, text := range []*string{r.Content, r.Next, r.Strays, r.Drift} {
		if text != nil && !json.Valid([]byte(*text)) {
			out = append(out, "what was sent or found is not JSON")
		}
	}
	if (r.ExternalID == nil) != (r.Content == nil) {
		out = append(out, "its id in the general ledger contradicts whether something was sent")
	}
	if r.State == present && r.ExternalID == nil || r.State != uncertain && (r.Next != nil || r.Strays != nil) ||
		r.State == absent && r.ExternalID != nil {
		out = append(out, fmt.Sprintf("it is %s, which contradicts what was sent", r.State))
	}
	return out
}
