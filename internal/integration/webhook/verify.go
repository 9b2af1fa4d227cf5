package webhook

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/db"
)

// Verify recomputes the invariants of endpoints and returns a sentence for each broken one. It needs no key: secrets are only required to
// exist.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	found, err := selectForVerify(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		for _, text := range r.faults() {
			out = append(out, fmt.Sprintf("webhook endpoint %s: %s", r.ID, text))
		}
	}
	orphans, err := selectOrphans(ctx, tx)
	for _, id := range orphans {
		out = append(out, fmt.Sprintf("webhook endpoint %s: there are deliveries to it, or a cursor, but it does not exist", id))
	}
	return out, err
}

// faults returns the violated invariants of an endpoint.
func (r verifyRow) faults() (out []string) {
	if s := Status(r.Status); s != Enabled && s != Disabled && s != Paused {
		out = append(out, fmt.Sprintf("its status %q is not valid", r.Status))
	}
	if r.Secret == "" {
		out = append(out, "it has no secret")
	}
	if (r.PreviousSecret == nil) != (r.PreviousSecretExpiresAt == nil) {
		out = append(out, "its former secret has no end, or there is none")
	}
	if r.Sequence == nil {
		out = append(out, "it has no cursor")
	} else if *r.Sequence > r.Last {
		out = append(out, fmt.Sprintf("event %d was sent to it, but the last one is %d", *r.Sequence, r.Last))
	}
	return out
}
