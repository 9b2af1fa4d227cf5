package firmrequest

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// Verify reports violated invariants of the requests of a firm.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	rows, err := selectForVerify(ctx, tx)
	for _, row := range rows {
		for _, text := range row.faults(tx.Organization()) {
			out = append(out, fmt.Sprintf("firm request %s: %s", row.ID, text))
		}
	}
	return out, err
}

func (row faultyRow) faults(organizationID string) (out []string) {
	r, err := row.request(organizationID)
	report := func(broken bool, text string) {
		if broken {
			out = append(out, text)
		}
	}
	report(err != nil, "its integrations cannot be read")
	report(!slices.Contains(Statuses, r.Status), "its status is unknown")
	report(r.Status == Pending && db.OrEmpty(row.ClientStatus) == string(firm.Ended), "it is pending, and its client has ended")
	report((r.Status == Pending) != (r.EndedAt == nil), "its status and when it has ended contradict each other")
	report(err == nil && row.AwaitsSetup != r.awaitsSetup(), "whether a setup is not finished does not follow from its integrations")
	report(r.EmailSent && r.EmailSentAt == nil, "its mail was sent, and not when")
	for _, i := range r.Integrations {
		report(i.Status != Waiting && i.Status != Connected, "the status of an integration is unknown")
		report(i.Status == Connected && i.ConnectionID == "" && i.ImportID == "", "an integration is connected, and not with what")
	}
	return out
}
