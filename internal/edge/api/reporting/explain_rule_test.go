package reporting_test

import (
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestAnExplanationNamesTheRuleThatBooked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		v := &vault{n.OpenLedger(t), t, map[string]string{}}
		v.sources["Bank"] = n.NewSource(t, client.CreateSource{SourceType: "bank", Currency: "USD", LegalEntityID: n.LegalEntity.ID}).ID
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID})
		for _, rule := range []string{"rule_7", ""} {
			p := booking.Params{TransactionID: v.tell("2025-12-21", "Bank", "credit", "250.00", "").ID, Type: "INCOME",
				LedgerAccountID: v.Accounts["4010"], AutoPost: true, RuleID: rule, RuleVersion: 2}
			made, err := s.App.Bookings.Create(ctx, []booking.Params{p}, func(int) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			b := explained(t, n.Client, "report=general-ledger&journal_entry_id="+made[0].ID).Booking
			switch {
			case b == nil:
				t.Fatal("nothing is said of what it follows from")
			case rule == "" && (b.RuleID != nil || b.RuleVersion != nil):
				t.Errorf("nobody's rule is %s %s", *b.RuleID, *b.RuleVersion)
			case rule != "" && (b.RuleID == nil || *b.RuleID != rule || *b.RuleVersion != "2"):
				t.Errorf("its rule is not named: %+v", b)
			}
		}
	})
}
