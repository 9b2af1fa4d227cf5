package reporting

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/books"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// reportInput holds the parameters of every report.
type reportInput struct {
	TagID          string   `query:"tag_id" minLength:"1" maxLength:"64" doc:"Include only lines with this tag, on the line or its entry. All figures, including computed earnings, are then those of the tagged lines. They need not balance, because a tag need not mark whole entries; data_quality does not report this."`
	StartDate      string   `query:"start_date" minLength:"1" maxLength:"40" doc:"First date, or a time in the first period. The whole accounting period is included. Requires end_date; cannot be combined with period ids."`
	EndDate        string   `query:"end_date" minLength:"1" maxLength:"40" doc:"Last date, or a time in the last period. Requires start_date or from_inception."`
	PeriodID       string   `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Include this accounting period, in addition to accounting_period_ids. Cannot be combined with dates."`
	PeriodIDs      []string `query:"accounting_period_ids" maxItems:"100" doc:"Include these accounting periods, at most 100. Cannot be combined with dates. Defaults to every period if no dates or periods are given."`
	FromInception  bool     `query:"from_inception" default:"false" doc:"If true, include every period from the first one through that of end_date, which is required. Cannot be combined with start_date or period ids. Defaults to false."`
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Include only these legal entities, at most 100, added together. Defaults to all that the API key has access to."`
}

func (in reportInput) params() statements.Params {
	return statements.Params{
		TagID:          in.TagID,
		StartDate:      in.StartDate,
		EndDate:        in.EndDate,
		PeriodID:       in.PeriodID,
		PeriodIDs:      in.PeriodIDs,
		FromInception:  in.FromInception,
		LegalEntityIDs: in.LegalEntityIDs,
	}
}

// statementInput holds the additional parameters of statements.
type statementInput struct {
	reportInput
	OmitZero             bool   `query:"omit_zero_accounts" default:"true" doc:"If true, omit accounts with neither a balance nor a movement in any column. Defaults to true."`
	Shape                string `query:"shape" enum:"faithful,compact" default:"faithful" doc:"faithful: one object per account and period. compact: the same figures as arrays, one item per column in the order of periods, at about a sixth of the size."`
	PresentationCurrency string `query:"presentation_currency" minLength:"3" maxLength:"3" doc:"Presentation currency (ISO 4217); required if the legal entities have different base currencies. Assets and liabilities are translated at the latest rate on or before the end of each period; income, expenses and the earnings computed from them at the average of the stored rates of the month; equity line by line at the rate of the line's date, which is kept when the line is posted, or else the latest rate up to that date. A closed period is translated by the rates that were stored when it was closed. Figures are rounded to the minor unit; the difference is the row Translation adjustment in equity. If a rate is missing, the answer is 409 and names it."`
}

const compactShape = "compact"

func (in statementInput) params() statements.Params {
	p := in.reportInput.params()
	p.OmitZero, p.PresentationCurrency = in.OmitZero, in.PresentationCurrency
	return p
}

func (h handlers) getBalanceSheet(ctx context.Context, in *statementInput) (Written[BalanceSheet], error) {
	r, err := h.app.Reports.BalanceSheet(ctx, in.params())
	if err != nil {
		return Written[BalanceSheet]{}, err
	}
	out := BalanceSheet{
		ReportFrame:    viewFrame(r.Frame),
		LedgerAccounts: viewAccounts(ctx, r.Accounts),
		Balances:       SheetBalances{&r, in.Shape == compactShape},
	}
	out.DataQuality = SheetQuality{
		NegativeAssetPeriods: []NegativeAssetPeriod{},
		UnbalancedPeriods:    []UnbalancedPeriod{},
		Warnings:             r.Warnings,
	}
	for _, t := range r.Negative {
		out.DataQuality.NegativeAssetPeriods = append(out.DataQuality.NegativeAssetPeriods, NegativeAssetPeriod{t.Period.Key,
			t.Assets.Fixed(r.Currency)})
	}
	for _, t := range r.Unbalanced {
		out.DataQuality.UnbalancedPeriods = append(out.DataQuality.UnbalancedPeriods,
			UnbalancedPeriod{t.Period.Key, t.Assets.Fixed(r.Currency), t.LiabilitiesPlusEquity.Fixed(r.Currency), t.Difference.Fixed(r.Currency)})
	}
	return Written[BalanceSheet]{out}, nil
}

func (h handlers) getTrialBalance(ctx context.Context, in *statementInput) (Written[TrialBalance], error) {
	r, err := h.app.Reports.TrialBalance(ctx, in.params())
	if err != nil {
		return Written[TrialBalance]{}, err
	}
	compact := in.Shape == compactShape
	out := TrialBalance{
		ReportFrame:    viewFrame(r.Frame),
		LedgerAccounts: viewAccounts(ctx, r.Accounts),
		Balances:       TrialBalances{&r, compact},
		Totals:         TrialTotals{&r, compact},
	}
	out.DataQuality = TrialQuality{UnbalancedPeriods: []string{}, Warnings: r.Warnings}
	for _, p := range r.Unbalanced {
		out.DataQuality.UnbalancedPeriods = append(out.DataQuality.UnbalancedPeriods, p.Key)
	}
	return Written[TrialBalance]{out}, nil
}

func (h handlers) getIncomeStatement(ctx context.Context, in *statementInput) (wire.Data[IncomeStatement], error) {
	r, err := h.app.Reports.IncomeStatement(ctx, in.params())
	if err != nil {
		return wire.Data[IncomeStatement]{}, err
	}
	v := amountsView{r.Frame, in.Shape == compactShape}
	out := IncomeStatement{
		ReportFrame:     viewFrame(r.Frame),
		LedgerAccounts:  []books.LedgerAccount{},
		Amounts:         map[string]Amounts{},
		Sections:        make([]IncomeSection, len(r.Sections)),
		GrossProfit:     v.of(r.GrossProfit),
		OperatingIncome: v.of(r.OperatingIncome),
		NetIncome:       v.of(r.NetIncome),
		DataQuality:     IncomeQuality{r.Warnings},
	}
	for i, section := range r.Sections {
		view := IncomeSection{Section: string(section.Section), LedgerAccountIDs: []string{}, Total: v.of(section.Totals)}
		for j, row := range section.Rows {
			view.LedgerAccountIDs = append(view.LedgerAccountIDs, r.Accounts[i][j].ID)
			out.Amounts[r.Accounts[i][j].ID] = v.of(row.Amounts)
		}
		out.LedgerAccounts = append(out.LedgerAccounts, viewAccounts(ctx, r.Accounts[i])...)
		out.Sections[i] = view
	}
	return wire.DataOf(out), nil
}

func (h handlers) listGeneralLedger(ctx context.Context, in *struct {
	wire.Paging
	reportInput
	LedgerAccountIDs []string `query:"ledger_account_ids" maxItems:"100" doc:"Include only these ledger accounts, at most 100. Defaults to all."`
}) (wire.List[LedgerLine], error) {
	p := in.params()
	p.AccountIDs = in.LedgerAccountIDs
	lines, err := h.app.Reports.GeneralLedger(ctx, p, in.Request())
	return wire.ListOf(lines, viewLedgerLine), err
}

func viewFrame(f statements.Frame) ReportFrame {
	out := ReportFrame{Currency: f.Currency, Periods: make([]ReportPeriod, len(f.Periods)), LegalEntityIDs: f.LegalEntityIDs}
	for i, p := range f.Periods {
		out.Periods[i] = ReportPeriod{p.ID, p.Key, wire.Timestamp(p.Start), wire.Timestamp(p.End)}
	}
	return out
}

func viewAccounts(ctx context.Context, accounts []account.Account) []books.LedgerAccount {
	out, who := make([]books.LedgerAccount, len(accounts)), actor.From(ctx)
	for i, a := range accounts {
		out[i] = books.ViewLedgerAccount(who, a)
	}
	return out
}

func viewLedgerLine(l statements.Line) LedgerLine {
	v := LedgerLine{
		ID:                 l.ID,
		LedgerAccountID:    l.Account.ID,
		LedgerAccountName:  l.Account.Name,
		JournalEntryID:     l.EntryID,
		SequenceNumber:     l.SequenceNumber(),
		AccountingDate:     wire.Timestamp(l.Date),
		AccountingPeriodID: l.Period.ID,
		LegalEntityID:      l.LegalEntityID,
		CreditOrDebit:      "CREDIT",
		Amount:             l.Amount.Fixed(l.Currency),
		Currency:           l.Currency,
		LineAmount:         l.Given.Fixed(l.GivenCurrency),
		LineCurrency:       l.GivenCurrency,
		Unit:               db.OrNull(l.Unit),
		Memo:               db.OrNull(l.Memo),
		EntryMemo:          db.OrNull(l.EntryMemo),
		TagIDs:             l.TagIDs,
		OpeningBalance:     l.Opening.Fixed(l.Currency),
		RunningBalance:     l.Closing.Fixed(l.Currency),
	}
	if l.Debit {
		v.CreditOrDebit = "DEBIT"
	}
	if l.Unit != "" && l.UnitQuantity != nil {
		v.UnitQuantity = new(l.UnitQuantity.String())
	}
	return v
}
