package reporting

import (
	"cmp"
	"context"
	"strconv"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// explainInput selects one figure. The explain package validates which parameters a report takes.
type explainInput struct {
	wire.Paging
	Report               string   `query:"report" required:"true" enum:"balance-sheet,trial-balance,income-statement,general-ledger,closing-positions,treasury-balances,realized-gains-losses,asset-tax-lots,schedule-of-dispositions,roll-forward,revaluation,receivables-ageing,unapplied-cash" doc:"Report that contains the figure."`
	Column               string   `query:"column" minLength:"1" maxLength:"40" doc:"Column of the figure, by its name in the report. Defaults to the main column. balance-sheet: closing_balance, opening_balance, current_balance, debits, credits, fx_effect, and change, which is closing_balance less opening_balance. trial-balance: closing_debit, closing_credit, opening_debit, opening_credit, debits, credits. income-statement: amount. general-ledger: amount, opening_balance, running_balance. Reports on holdings: every numeric column."`
	Row                  string   `query:"row" minLength:"1" maxLength:"40" doc:"Row of a statement that is not an account. balance-sheet: assets or liabilities_plus_equity. trial-balance: total. income-statement: a section, gross_profit, operating_income or net_income."`
	TagID                string   `query:"tag_id" minLength:"1" maxLength:"64" doc:"Statements and general ledger: only lines with this tag."`
	PeriodID             string   `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Accounting period: the column of a statement, or the period of closing-positions, realized-gains-losses, schedule-of-dispositions or roll-forward."`
	StartDate            string   `query:"start_date" minLength:"1" maxLength:"40" doc:"roll-forward: first date."`
	EndDate              string   `query:"end_date" minLength:"1" maxLength:"40" doc:"roll-forward: last date."`
	FiscalYear           int64    `query:"fiscal_year" minimum:"1900" maximum:"2199" doc:"roll-forward: fiscal year." example:"2026"`
	AsOf                 string   `query:"as_of" minLength:"1" maxLength:"40" doc:"treasury-balances and asset-tax-lots: time of the report. Defaults to now. receivables-ageing and unapplied-cash: date of the report. Defaults to today."`
	LegalEntityIDs       []string `query:"legal_entity_ids" maxItems:"100" doc:"Statements and general ledger: legal entities to add together."`
	PresentationCurrency string   `query:"presentation_currency" minLength:"3" maxLength:"3" doc:"Statements: presentation currency (ISO 4217)."`
	LedgerAccountID      string   `query:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Ledger account: the row of a statement. For holdings, needed only if several rows are otherwise alike."`
	JournalEntryID       string   `query:"journal_entry_id" minLength:"1" maxLength:"64" doc:"general-ledger: the journal entry. schedule-of-dispositions: everything that it disposed of."`
	JournalLineID        string   `query:"journal_line_id" minLength:"1" maxLength:"64" doc:"general-ledger: the line. Omit for the whole entry."`
	LegalEntityID        string   `query:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Holdings, receivables-ageing and unapplied-cash: legal entity of the row."`
	SourceID             string   `query:"source_id" minLength:"1" maxLength:"64" doc:"Holdings: source of the row, by its identifier or that of its account. Omit for a row without a source."`
	AssetType            string   `query:"asset_type" minLength:"1" maxLength:"64" doc:"Holdings: symbol of the asset of the row."`
	Chain                string   `query:"chain" minLength:"1" maxLength:"64" doc:"Holdings: blockchain, if several rows are otherwise alike."`
	TokenID              string   `query:"token_id" minLength:"1" maxLength:"200" doc:"Holdings: token identifier of an NFT."`
	AssetID              string   `query:"asset_id" minLength:"1" maxLength:"64" doc:"asset-tax-lots: the lot."`
	RevaluationID        string   `query:"revaluation_id" minLength:"1" maxLength:"64" doc:"revaluation: identifier of the revaluation. Its figures are selected by legal_entity_id and asset_type, which may be a foreign currency; asset_id or ledger_account_id selects a single row."`
	Kind                 string   `query:"kind" enum:"adoption,fair_value,revaluation,impairment,unit_balance,fx" doc:"revaluation: kind of measurement, if there are several."`
	DispositionID        string   `query:"disposition_id" minLength:"1" maxLength:"64" doc:"schedule-of-dispositions: the row."`
	CustomerID           string   `query:"customer_id" minLength:"1" maxLength:"200" doc:"receivables-ageing and unapplied-cash: customer of the row."`
	DocumentID           string   `query:"document_id" minLength:"1" maxLength:"64" doc:"receivables-ageing: an invoice, or the credit note of a customer, instead of customer_id. unapplied-cash: the transaction of a deposit, instead of legal_entity_id."`
	Currency             string   `query:"currency" minLength:"3" maxLength:"3" doc:"receivables-ageing and unapplied-cash: currency of the row; required if there are several."`
	Bucket               string   `query:"bucket" minLength:"1" maxLength:"40" doc:"receivables-ageing: bucket of column due, by its name in the report, such as 31-60. Omit for all."`
	AgeBy                string   `query:"age_by" enum:"due_date,invoice_date" doc:"receivables-ageing: age_by of the report. Defaults to due_date."`
}

func (in explainInput) query() explain.Query {
	q := explain.Query{
		Report:               in.Report,
		Column:               in.Column,
		Row:                  in.Row,
		TagID:                in.TagID,
		PeriodID:             in.PeriodID,
		StartDate:            in.StartDate,
		EndDate:              in.EndDate,
		AsOf:                 in.AsOf,
		LegalEntityIDs:       in.LegalEntityIDs,
		PresentationCurrency: in.PresentationCurrency,
		LedgerAccountID:      in.LedgerAccountID,
		JournalEntryID:       in.JournalEntryID,
		JournalLineID:        in.JournalLineID,
		LegalEntityID:        in.LegalEntityID,
		SourceID:             in.SourceID,
		AssetType:            in.AssetType,
		Chain:                in.Chain,
		TokenID:              in.TokenID,
		AssetID:              in.AssetID,
		DispositionID:        in.DispositionID,
		RevaluationID:        in.RevaluationID,
		Kind:                 in.Kind,
		CustomerID:           in.CustomerID,
		DocumentID:           in.DocumentID,
		Currency:             in.Currency,
		Bucket:               in.Bucket,
		AgeBy:                in.AgeBy,
	}
	if in.FiscalYear != 0 {
		q.FiscalYear = strconv.FormatInt(in.FiscalYear, 10)
	}
	return q
}

func (h handlers) explainFigure(ctx context.Context, in *explainInput) (wire.Data[Explanation], error) {
	x, err := h.app.Explain.Explain(ctx, in.query(), in.Request())
	if err != nil {
		return wire.Data[Explanation]{}, err
	}
	return wire.DataOf(viewExplanation(x)), nil
}

func viewExplanation(x *explain.Explanation) Explanation {
	v := Explanation{
		Report:         x.Query.Report,
		Column:         x.Query.Column,
		Unit:           x.Unit,
		Formula:        x.Formula,
		Parts:          []ExplanationPart{},
		Lines:          []ExplainedLine{},
		Lots:           []ExplainedLot{},
		Dispositions:   []ExplainedDisposition{},
		HasMore:        x.HasMore,
		TransactionIDs: append([]string{}, x.TransactionIDs...),
		Value:          x.TextOrNull(x.Value),
		Price:          wire.OrNull[ExplainedPrice]{Value: viewExplainedPrice(x.Price)},
		Election:       wire.OrNull[ExplainedElection]{Value: viewElection(x.Election)},
		Booking:        wire.OrNull[ExplainedBooking]{Value: viewBooking(x.Booking)},
	}
	if x.HasMore {
		v.NextCursor = &x.NextCursor
	}
	for _, p := range x.Parts {
		part := ExplanationPart{Label: p.Label, Value: x.Text(p.Value), Listed: db.OrNull(string(p.Listed))}
		if p.Explain != nil {
			part.Explain = new(p.Explain.String())
		}
		v.Parts = append(v.Parts, part)
	}
	for _, l := range x.Lines {
		v.Lines = append(v.Lines, viewExplainedLine(l))
	}
	for _, l := range x.Lots {
		v.Lots = append(v.Lots, viewExplainedLot(x, l))
	}
	for _, u := range x.Uses {
		v.Dispositions = append(v.Dispositions, viewExplainedUse(x, u))
	}
	return v
}

func viewExplainedLine(l explain.Line) ExplainedLine {
	v := ExplainedLine{
		ID:              l.ID,
		JournalEntryID:  l.EntryID,
		SequenceNumber:  "JE-" + strconv.FormatInt(l.Number, 10),
		AccountingDate:  wire.Timestamp(l.Date),
		LedgerAccountID: l.LedgerAccountID,
		LegalEntityID:   l.LegalEntityID,
		CreditOrDebit:   "CREDIT",
		Amount:          l.Amount.Fixed(l.Currency),
		Currency:        l.Currency,
		AssetType:       db.OrNull(l.Unit),
		Memo:            db.OrNull(l.Memo),
		EntryMemo:       db.OrNull(l.EntryMemo),
		OriginatedBy:    l.OriginatedBy,
		TransactionID:   db.OrNull(l.TransactionID),
	}
	if l.Debit {
		v.CreditOrDebit = "DEBIT"
	}
	if l.Quantity != nil {
		v.Quantity = new(l.Quantity.String())
	}
	if l.TransactionID != "" {
		v.TransactionSequenceNumber = new("OT-" + strconv.FormatInt(l.TransactionNo, 10))
	}
	return v
}

func viewExplainedLot(x *explain.Explanation, l explain.Lot) ExplainedLot {
	return ExplainedLot{
		ID:                l.ID,
		Amount:            x.TextOrNull(l.Amount),
		AssetType:         l.AssetType,
		LegalEntityID:     l.LegalEntityID,
		SourceID:          db.OrNull(l.SourceID),
		LedgerAccountID:   l.LedgerAccountID,
		DateAcquired:      wire.Timestamp(l.AcquiredAt),
		Quantity:          l.Quantity.String(),
		RemainingQuantity: l.RemainingQuantity.String(),
		CostBasis:         l.CostBasis.Fixed(l.Currency),
		RemainingBasis:    l.RemainingBasis.Fixed(l.Currency),
		Currency:          l.Currency,
		Origin:            l.Origin,
		ParentAssetID:     db.OrNull(l.ParentID),
		JournalEntryID:    db.OrNull(l.JournalEntryID),
		TransactionID:     db.OrNull(l.TransactionID),
		Explain:           l.Explain().String(),
	}
}

func viewExplainedUse(x *explain.Explanation, u explain.Use) ExplainedDisposition {
	v := ExplainedDisposition{
		ID:              u.ID,
		Amount:          x.TextOrNull(u.Amount),
		Kind:            u.Kind,
		AssetID:         db.OrNull(u.LotID),
		AssetType:       u.AssetType,
		JournalEntryID:  u.JournalEntryID,
		TransactionID:   db.OrNull(u.TransactionID),
		TransactionType: cmp.Or(u.TransactionType, journal.Unclassified), // earlier versions stored none for reversals
		AccountingDate:  wire.Timestamp(u.Date),
		DateDisposed:    wire.Timestamp(u.DisposedAt),
		Quantity:        u.Quantity.String(),
		Proceeds:        u.Proceeds.Fixed(u.Currency),
		Fee:             u.Fee.Fixed(u.Currency),
		CostBasis:       u.Basis.Fixed(u.Currency),
		GainLoss:        u.Gain.Fixed(u.Currency),
		BookGain:        u.BookGain.Fixed(u.Currency),
		TaxGain:         u.Gain.Fixed(u.Currency),
		Currency:        u.Currency,
		Term:            u.Term,
		Method:          u.Method,
		IsCorrection:    u.Correction,
	}
	if q := u.Explain(); q != nil {
		v.Explain = new(q.String())
	}
	return v
}

func viewExplainedPrice(p *price.Price) *ExplainedPrice {
	if p == nil {
		return nil
	}
	v := &ExplainedPrice{
		ID:        p.ID,
		AssetType: p.AssetType,
		Currency:  p.Currency,
		Price:     p.Value.String(),
		At:        wire.Timestamp(p.At),
		Origin:    string(p.Origin),
		Note:      db.OrNull(p.Note),
	}
	if t := p.Translated; t != nil {
		stored, rate := t.Stored.String(), t.Rate.String()
		v.StoredCurrency, v.StoredPrice, v.FXRate, v.FXRateDate = &t.Currency, &stored, &rate, &t.Date
	}
	return v
}

func viewElection(e *entity.Election) *ExplainedElection {
	if e == nil {
		return nil
	}
	return &ExplainedElection{CostBasisMethod: e.Method, CostBasisScope: e.Scope, From: db.OrNull(e.From)}
}

func viewBooking(o *booking.Origin) *ExplainedBooking {
	if o == nil {
		return nil
	}
	v := &ExplainedBooking{
		TransactionID:         o.TransactionID,
		PartnerTransactionID:  db.OrNull(o.PartnerID),
		TransactionType:       o.Type,
		LedgerAccountID:       db.OrNull(o.LedgerAccountID),
		OffsetLedgerAccountID: db.OrNull(o.OffsetAccountID),
		Legs:                  []ExplainedLeg{},
		Rates:                 []ExplainedRate{},
		LotSelections:         []ExplainedPick{},
	}
	if o.RuleID != "" {
		v.RuleID, v.RuleVersion = &o.RuleID, wire.VersionOrNull(o.RuleVersion)
	}
	add := func(role string, l *posting.Leg) {
		if l == nil {
			return
		}
		leg := ExplainedLeg{
			Role:        role,
			AssetType:   l.Asset.Symbol,
			Quantity:    l.Quantity.String(),
			FeeQuantity: l.FeeQuantity.String(),
			At:          wire.Timestamp(l.At),
		}
		if l.Value != nil {
			gross, fee := l.Value.Gross.Fixed(l.Value.Currency), l.Value.Fee.Fixed(l.Value.Currency)
			leg.Gross, leg.Fee, leg.Currency = &gross, &fee, &l.Value.Currency
		}
		v.Legs = append(v.Legs, leg)
	}
	add("out", o.Input.Out)
	add("in", o.Input.In)
	for i := range o.Input.Fees {
		add("fee", &o.Input.Fees[i])
	}
	for pair, rate := range o.Input.Books.Rates {
		v.Rates = append(v.Rates, ExplainedRate{pair.From, pair.To, rate.String()})
	}
	sortRates(v.Rates)
	for _, p := range o.Picks {
		v.LotSelections = append(v.LotSelections, ExplainedPick{p.Lot, p.Quantity.String()})
	}
	return v
}
