package invoice

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// roleAccount returns the id of the account with a role, and creates the account if there is none yet: the control account beside the
// other receivables, and that of bad debts among the operating expenses.
func roleAccount(ctx context.Context, tx *db.Tx, b *snapshot.Books, role string) (string, error) {
	if id := b.Roles()[role]; id != "" {
		return id, nil
	}
	p := account.CreateParams{Name: "Trade receivables", Type: account.Asset, Role: role}
	near := account.RoleReceivable
	if role == account.RoleBadDebt {
		p.Name, p.Type, near = "Bad debts", account.Expense, account.GroupOperatingExpense
	}
	beside, err := account.ByRole(ctx, tx, near)
	if err != nil {
		return "", err
	}
	if p.ParentID = beside.ID; role == account.RoleTradeReceivable {
		p.ParentID, p.Monetary = beside.ParentID, new(true)
	}
	made, err := account.Create(ctx, tx, p)
	return made.ID, err
}

// lines returns the lines of the entry that books an invoice: the control account is debited with the total, the account of each line is
// credited, and so are the accounts of the taxes, each once.
func (i Invoice) lines(control string) []journal.LineParams {
	out := []journal.LineParams{i.line(control, i.Total, "")}
	var taxes []string
	tax := map[string]money.Decimal{}
	for _, l := range i.Lines {
		if !l.Amount.IsZero() {
			out = append(out, i.line(l.AccountID, l.Amount.Neg(), l.Description))
		}
		if l.TaxAmount.IsZero() {
			continue
		}
		if !slices.Contains(taxes, l.TaxAccountID) {
			taxes = append(taxes, l.TaxAccountID)
		}
		tax[l.TaxAccountID] = tax[l.TaxAccountID].Add(l.TaxAmount)
	}
	for _, id := range taxes {
		if !tax[id].IsZero() {
			out = append(out, i.line(id, tax[id].Neg(), "Tax"))
		}
	}
	return out
}

// line returns a line of an entry in the currency of the invoice: a debit of a positive amount, a credit of a negative one.
func (i Invoice) line(accountID string, amount money.Decimal, memo string) journal.LineParams {
	l := journal.LineParams{LedgerAccountID: accountID, Side: book.Debit, Amount: amount.Abs().String(), Currency: i.Currency, Memo: memo}
	if amount.Sign() < 0 {
		l.Side = book.Credit
	}
	return l
}

// book posts an entry of an invoice or a credit note and returns its id.
func (s *Service) book(ctx context.Context, tx *db.Tx, i Invoice, origin, date, memo string, lines []journal.LineParams) (string, error) {
	made, err := s.journal.CreateInTx(ctx, tx, []journal.CreateParams{{
		LegalEntityID: i.LegalEntityID, AccountingDate: date, Memo: memo, Status: journal.Posted, OriginatedBy: origin,
		Classification: string(posting.Invoice), Lines: lines,
	}}, func(int) string { return "" })
	if err != nil {
		return "", err
	}
	return made[0].ID, nil
}

// bookOpening posts the entry of an invoice that is being opened.
func (s *Service) bookOpening(ctx context.Context, tx *db.Tx, b *snapshot.Books, i Invoice) (string, error) {
	control, err := roleAccount(ctx, tx, b, account.RoleTradeReceivable)
	if err != nil {
		return "", err
	}
	made, err := s.book(ctx, tx, i, journal.ByInvoice, day(i.Date), "Invoice "+i.Number+", "+i.CustomerName, i.lines(control))
	if err != nil {
		return "", fault.RenameField(err, "accounting_date", "invoice_date")
	}
	return made, RecordMovement(ctx, tx, i.ID, made, i.Total)
}

// reverse reverses an entry of an invoice: on its own date, or now if its period is closed.
func (s *Service) reverse(ctx context.Context, tx *db.Tx, entryID string) error {
	e, err := journal.FindUnchecked(ctx, tx, entryID)
	if err != nil {
		return err
	}
	reversal, err := s.journal.ReverseWhenOpen(ctx, tx, e)
	if err != nil {
		return err
	}
	return reverseMovements(ctx, tx, entryID, reversal.ID)
}

// explainEntry says which invoice made an entry, and what to do to undo it.
func explainEntry(ctx context.Context, tx *db.Tx, e journal.Entry) (string, error) {
	i, err := selectByEntry(ctx, tx, e.ID)
	switch {
	case err != nil:
		return "", err
	case i.WriteOffID == e.ID:
		return "writes off the invoice " + i.Number + ": reopen that with POST /v1/invoices/" + i.ID + "/reopen", nil
	}
	return "books the invoice " + i.Number + ": void that with POST /v1/invoices/" + i.ID + "/void", nil
}

// writeOff returns the lines of the entry that writes off what is due on an invoice. Of receivables in a foreign currency the expense is
// the share of their carrying amount, so that nothing is left of that when nothing is due any more.
func (i Invoice) writeOff(ctx context.Context, tx *db.Tx, b *snapshot.Books, expense, control, date string) ([]journal.LineParams, error) {
	lines := []journal.LineParams{i.line(expense, i.AmountDue, ""), i.line(control, i.AmountDue.Neg(), "")}
	base := b.Entities[i.LegalEntityID].BaseCurrency
	if a, known := b.Accounts[expense]; i.Currency == base || known && a.Type != account.Expense { // bad debts may have been created just now
		return lines, nil
	}
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		if at, err = calendar.StartOfDay(date, b.Zone); err != nil {
			return nil, err
		}
	}
	held, err := journal.UnitBalance(ctx, tx, b, journal.UnitQuery{LegalEntityID: i.LegalEntityID, LedgerAccountID: control, Unit: i.Currency,
		At: at})
	if err != nil {
		return nil, err
	}
	places, _ := money.MinorUnits(base)
	share, enough := held.Share(i.AmountDue, places)
	if !enough { // the account has less than is due: the rate of the day is used
		return lines, nil
	}
	for n := range lines {
		lines[n].Amount, lines[n].Currency = share.String(), base
	}
	lines[1].Unit, lines[1].Quantity = i.Currency, &i.AmountDue
	return lines, nil
}
