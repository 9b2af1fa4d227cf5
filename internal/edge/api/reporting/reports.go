package reporting

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/books"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// reportInput is what every report is asked.
type reportInput struct {
	TagID          string   `query:"tag_id" minLength:"1" maxLength:"64" doc:"Only lines with this tag, their own or their entry's. All figures are then those of the tagged lines, income and expenses in the computed earnings too; as a tag need not mark whole entries, they need not balance, and data_quality says nothing about that"`
	StartDate      string   `query:"start_date" minLength:"1" maxLength:"40" doc:"The first day, or an instant in the first period; a day inside a period returns the whole period. Sent together with end_date, and never with period ids"`
	EndDate        string   `query:"end_date" minLength:"1" maxLength:"40" doc:"The last day, or an instant in the last period. Sent together with start_date or from_inception"`
	PeriodID       string   `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Only this period; with accounting_period_ids, this one too. Never with dates"`
	PeriodIDs      []string `query:"accounting_period_ids" maxItems:"100" doc:"Only these periods, up to 100. Never with dates. Without dates and ids every period is a column"`
	FromInception  bool     `query:"from_inception" default:"false" doc:"Every period from the first one through that of end_date, which is required; never with start_date or period ids"`
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Only these legal entities, up to 100, added together; omit for all that the key is for"`
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

// statementInput is what statements are asked besides.
type statementInput struct {
	reportInput
	OmitZero             bool   `query:"omit_zero_accounts" default:"true" doc:"Leave out accounts with neither a balance nor a movement in any column"`
	Shape                string `query:"shape" enum:"faithful,compact" default:"faithful" doc:"faithful has an object for each account and period; compact has the same figures as arrays, one item a column in the order of periods, at about a sixth of the size"`
	PresentationCurrency string `query:"presentation_currency" minLength:"3" maxLength:"3" doc:"The currency to present in, required when the legal entities keep their books in different ones. Balances are translated at the last rate stored on or before the end of each period, income, expenses and the earnings made of them at the average of the rates stored in it, each figure rounded to the minor unit; the rest is the row Translation adjustment in equity. A rate that is needed and not stored is 409"`
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
		LedgerAccounts: viewAccounts(r.Accounts),
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
		LedgerAccounts: viewAccounts(r.Accounts),
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
		out.LedgerAccounts = append(out.LedgerAccounts, viewAccounts(r.Accounts[i])...)
		out.Sections[i] = view
	}
	return wire.DataOf(out), nil
}

func (h handlers) listGeneralLedger(ctx context.Context, in *struct {
	wire.Paging
	reportInput
	LedgerAccountIDs []string `query:"ledger_account_ids" maxItems:"100" doc:"Only these accounts, up to 100; omit for all"`
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

func viewAccounts(accounts []account.Account) []books.LedgerAccount {
	out := make([]books.LedgerAccount, len(accounts))
	for i, a := range accounts {
		out[i] = books.ViewLedgerAccount(a)
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
		Memo:               db.OrNull(l.Memo),
		EntryMemo:          db.OrNull(l.EntryMemo),
		TagIDs:             l.TagIDs,
		OpeningBalance:     l.Opening.Fixed(l.Currency),
		RunningBalance:     l.Closing.Fixed(l.Currency),
	}
	if l.Debit {
		v.CreditOrDebit = "DEBIT"
	}
	return v
}
