package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/reporting/clientfigures"
)

func (h handlers) firmOverview() []wire.Route {
	return wire.Tag{Name: "Firm overview", Description: "What is to be done for the clients of an accounting firm."}.Routes(
		wire.Get("/v1/firm/overview", h.getFirmOverview, "List your clients with what is to be done for each").
			Describe("The clients for which the person has a role, by id: transactions that are open, sources that are not reconciled, " +
				"whether the last month can be closed, requests that are pending, and the last activity. A page takes up to 1,000 clients. " +
				"open_transactions and last_month are computed again soon after something has changed; as_of says of when they are, and " +
				"is_current whether they include every change. Clients that have ended the access are left out.").
			WholeOrganization().MembersOnly(),
	)
}

func (h handlers) getFirmOverview(ctx context.Context, in *struct{ wire.LongPaging }) (wire.List[FirmOverviewClient], error) {
	found, err := h.app.ClientFigures.Overview(ctx, in.Request())
	return wire.ListOf(found, viewOverviewClient), err
}

func viewOverviewClient(c clientfigures.Client) FirmOverviewClient {
	out := FirmOverviewClient{
		ClientID:        c.ID,
		OrganizationID:  c.OrganizationID,
		Name:            c.Name,
		Role:            string(c.Role),
		PendingRequests: c.PendingRequests,
		LastActivityAt:  wire.Timestamp(c.LastActivity),
		IsCurrent:       c.Current,
	}
	if f := c.Figures; f != nil {
		out.OpenTransactions, out.AsOf = &f.OpenTransactions, wire.TimestampOrNull(&f.AsOf)
		if m := f.Month; m != nil {
			out.LastMonth.Value = &FirmOverviewMonth{AccountingPeriodID: m.PeriodID, Period: m.Key, Readiness: string(m.Readiness),
				FailedChecks: m.FailedChecks, Warnings: m.Warnings, UnreconciledSources: m.UnreconciledSources,
				SourcesWithoutBalance: m.SourcesWithoutBalance}
		}
	}
	return out
}
