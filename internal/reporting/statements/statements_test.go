package statements_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestFaultsAreFoundBeforeAnythingIsRead(t *testing.T) {
	t.Parallel()
	var s *statements.Service // has no database to ask
	many := make([]string, statements.IDsMax+1)
	for _, c := range []struct {
		params statements.Params
		want   string
	}{
		{statements.Params{StartDate: "2026-01-01"}, "start_date must be sent together with end_date; end_date is required with start_date"},
		{statements.Params{EndDate: "2026-01-01"},
			"start_date is required with end_date, unless from_inception is true; end_date must be sent together with start_date or from_inception"},
		{statements.Params{FromInception: true}, "from_inception must be sent together with end_date; end_date is required with from_inception"},
		{statements.Params{StartDate: "2026-01-01", EndDate: "2026-01-31", PeriodID: "ap", PeriodIDs: []string{"ap"}},
			"start_date cannot be combined with accounting_period_id or accounting_period_ids; end_date cannot be combined with " +
				"accounting_period_id or accounting_period_ids; " +
				"accounting_period_id cannot be combined with start_date or end_date; accounting_period_ids cannot be combined with " +
				"start_date or end_date"},
		{statements.Params{FromInception: true, StartDate: "2026-01-01", EndDate: "2026-01-31"},
			"from_inception cannot be combined with start_date; start_date cannot be combined with from_inception"},
		{statements.Params{StartDate: "2026-02-30", EndDate: "2026-01-31T00:00:00"},
			"start_date must be a time such as 2026-01-31T09:30:00Z or a date such as 2026-01-31, but is \"2026-02-30\"; end_date must be a time " +
				"such as 2026-01-31T09:30:00Z or a date such as 2026-01-31, but is \"2026-01-31T00:00:00\""},
		{statements.Params{StartDate: "2026-02-01", EndDate: "2026-01-31"}, "start_date must not be after end_date"},
		{statements.Params{LegalEntityIDs: many, PeriodIDs: many, PresentationCurrency: "usd"},
			"legal_entity_ids must have at most 100 ids; accounting_period_ids must have at most 100 ids; presentation_currency must be " +
				"an ISO 4217 currency such as USD"},
	} {
		_, one := s.BalanceSheet(t.Context(), c.params)
		_, two := s.TrialBalance(t.Context(), c.params)
		_, three := s.IncomeStatement(t.Context(), c.params)
		_, four := s.GeneralLedger(t.Context(), c.params, page.Request{Limit: 1})
		for _, err := range []error{one, two, three, four} {
			if fault.KindOf(err) != fault.Invalid || strings.TrimPrefix(err.Error(), "the request is not valid: ") != c.want {
				t.Errorf("%+v: %v", c.params, err)
			}
		}
	}
	if _, err := s.GeneralLedger(t.Context(), statements.Params{AccountIDs: many, StartDate: "x"},
		page.Request{Limit: 1}); err == nil || !strings.Contains(err.Error(), "start_date") || !strings.Contains(err.Error(),
		"ledger_account_ids must have at most 100 ids") {
		t.Errorf("%v", err)
	}
}

func TestAnOrganizationWithoutBooksHasEmptyReports(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "new", Email: "a@example.com",
			Currency: "JPY", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		s, ctx := statements.NewService(d), actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
		for _, omit := range []bool{true, false} {
			p := statements.Params{OmitZero: omit}
			sheet, err := s.BalanceSheet(ctx, p)
			if err != nil || sheet.Currency != "JPY" || len(sheet.Unbalanced)+len(sheet.Negative)+len(sheet.Warnings) != 0 ||
				(len(sheet.Rows) == 0) != omit {
				t.Errorf("%+v %v", sheet, err)
			}
			if trial, err := s.TrialBalance(ctx, p); err != nil || (len(trial.Rows) == 0) != omit {
				t.Errorf("%+v %v", trial, err)
			}
			if income, err := s.IncomeStatement(ctx, p); err != nil || (len(income.Accounts[0]) == 0) != omit {
				t.Errorf("%+v %v", income, err)
			}
		}
		ledger := statements.Params{}
		if lines, err := s.GeneralLedger(ctx, ledger, page.Request{Limit: 10}); err != nil || len(lines.Items) != 0 || lines.HasMore {
			t.Errorf("%+v %v", lines, err)
		}
		// A cursor has a checksum and no signature: a made-up one must do no harm.
		forged := page.Encode(page.Fingerprint("general-ledger", ledger), "1", "yesterday", "x", "0", "1e9")
		if _, err := s.GeneralLedger(ctx, ledger, page.Request{Limit: 10, Cursor: forged}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v", err)
		}
		// A key for legal entities that do not exist sees no books, and needs no currency for them.
		nobody := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, LegalEntityIDs: []string{"le_gone"}})
		if sheet, err := s.BalanceSheet(nobody, statements.Params{OmitZero: true}); err != nil || len(sheet.LegalEntityIDs) != 0 ||
			len(sheet.Rows) != 0 {
			t.Errorf("%+v %v", sheet, err)
		}
	})
}
