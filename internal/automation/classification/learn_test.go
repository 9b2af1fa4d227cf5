package classification_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

func TestTransactionsWithoutARuleGetSuggestionsFromPrecedents(t *testing.T) {
	each(t, func(w *world) {
		var entries []string
		for _, day := range []string{"01", "02", "03", "04"} {
			entries = append(entries, w.book(w.addTransactions("Bank 2025-10-" + day + " -10 USD payee=Github_Inc")[0], "EXPENSE", "Software"))
		}
		w.book(w.addTransactions("Bank 2025-10-05 +50 USD payee=Github_Inc")[0], "INCOME", "Sales")
		ids := w.addTransactions("Bank 2025-11-03 -99 USD payee=GITHUB,_INC.", "Bank 2025-11-04 +1 USD payee=Somebody")
		r := w.classify(classification.CreateParams{})
		w.says("learned", w.resultLines(r.ID), "OT-6 suggested EXPENSE Software", "OT-7 unmatched")
		got := w.results(r.ID)[0]
		if got.Confidence < 60 || got.Confidence > 99 || len(got.Examples) != 4 || len(got.Reasons) == 0 ||
			!strings.Contains(got.Reasons[0], "4 of 4") || !strings.HasSuffix(got.Reasons[0], "to the account Software of tests.") {
			w.Errorf("%+v", got)
		}
		if s := w.get(ids[0]).Suggested; s == nil || s.Type != "EXPENSE" || s.LedgerAccountID != w.accounts["Software"] ||
			s.Confidence != got.Confidence || s.RunID != r.ID || s.RuleID != "" {
			w.Errorf("%+v", s)
		}
		for _, id := range entries { // what is undone is unlearned
			_, err := w.Journal.Unpost(w.Ctx, id)
			w.Must(err)
		}
		w.says("unlearned", w.resultLines(w.classify(classification.CreateParams{TransactionIDs: ids}).ID), "OT-6 unmatched", "OT-7 unmatched")
		if s := w.get(ids[0]).Suggested; s != nil {
			w.Errorf("what nothing speaks for any more is still suggested: %+v", s)
		}
		_, err := w.Journal.Post(w.Ctx, entries[0])
		w.Must(err)
		again := w.results(w.classify(classification.CreateParams{TransactionIDs: ids[:1]}).ID)[0]
		if again.Outcome != classification.Suggested || again.Confidence >= got.Confidence || len(again.Examples) != 1 {
			w.Errorf("from one of four: %+v, from four %d", again, got.Confidence)
		}
	})
}

func TestARunForOneLegalEntityDoesNotLearnFromAnother(t *testing.T) {
	each(t, func(w *world) {
		w.AddSubsidiary()
		for _, day := range []string{"01", "02", "03"} {
			w.book(w.addTransactions("Bank 2025-10-" + day + " -10 USD payee=Github_Inc")[0], "EXPENSE", "Software")
		}
		ids := w.addTransactions("SubBank 2025-11-03 -99 USD payee=Github_Inc")
		all := w.Ctx
		w.Ctx = w.Limited(w.SubsidiaryID)
		w.says("others only", w.resultLines(w.classify(classification.CreateParams{TransactionIDs: ids}).ID), "OT-4 unmatched")
		w.Ctx = all
		own := w.addTransactions("SubBank 2025-10-04 -10 USD payee=Github_Inc")
		w.book(own[0], "EXPENSE", "Travel")
		w.Ctx = w.Limited(w.SubsidiaryID)
		r := w.classify(classification.CreateParams{TransactionIDs: ids})
		w.says("its own", w.resultLines(r.ID), "OT-4 suggested EXPENSE Travel")
		if got := w.results(r.ID)[0].Examples; len(got) != 1 || got[0] != own[0] {
			w.Errorf("the suggestion is based on %v", got)
		}
		w.Ctx = all
		w.says("all", w.resultLines(w.classify(classification.CreateParams{TransactionIDs: ids}).ID), "OT-4 suggested EXPENSE Software")
	})
}

func TestARuleTakesPrecedenceOverAPrecedent(t *testing.T) {
	each(t, func(w *world) {
		w.book(w.addTransactions("Bank 2025-10-01 -10 USD payee=Github_Inc")[0], "EXPENSE", "Software")
		w.rule("mine", "memo=github to=Travel")
		w.addTransactions("Bank 2025-11-03 -99 USD payee=Github_Inc")
		w.says("both", w.resultLines(w.classify(classification.CreateParams{}).ID), "OT-2 classified EXPENSE Travel by mine.1")
	})
}

func TestAPrecedentOnAnArchivedAccountIsNotSuggested(t *testing.T) {
	each(t, func(w *world) {
		entry := w.book(w.addTransactions("Bank 2025-10-01 -10 USD payee=Github_Inc")[0], "EXPENSE", "Software")
		w.addTransactions("Bank 2025-11-03 -10 USD payee=Github_Inc")
		w.says("in use", w.resultLines(w.classify(classification.CreateParams{}).ID), "OT-2 suggested EXPENSE Software")
		_, err := w.Journal.Reverse(w.Ctx, entry, journal.ReverseParams{})
		w.Must(err)
		w.book(w.list()[0].ID, "EXPENSE", "Travel")
		w.says("corrected", w.resultLines(w.classify(classification.CreateParams{}).ID), "OT-2 suggested EXPENSE Travel")
		w.book(w.addTransactions("Bank 2025-10-02 +10 USD text=zero")[0], "REFUND", "Travel")
		w.archive("Travel")
		w.says("put away", w.resultLines(w.classify(classification.CreateParams{}).ID), "OT-2 unmatched")
	})
}

func TestProcessedAuditRecordsAreNotProcessedAgain(t *testing.T) {
	each(t, func(w *world) {
		w.book(w.addTransactions("Bank 2025-10-01 -10 USD payee=Github_Inc")[0], "EXPENSE", "Software")
		w.classify(classification.CreateParams{Dry: true})
		w.Read(func(ctx context.Context, tx *db.Tx) error {
			left, err := db.One[int64](ctx, tx, "count",
				`SELECT count(*) FROM audit_log l WHERE l.organization_id = @org AND l.action LIKE 'transaction.%' AND l.action <> 'transaction.created'
				AND l.sequence > coalesce((SELECT m.sequence FROM precedent_marks m WHERE m.organization_id = @org), 0)`)
			if err == nil && left != 0 {
				w.Errorf("%d changes would be processed again", left)
			}
			return err
		})
	})
}

// The bank account of another legal entity is no account that a limited key can book to, whoever booked to it before.
func TestARunForOneLegalEntityOffersNoAccountOfAnother(t *testing.T) {
	each(t, func(w *world) {
		w.AddSubsidiary()
		vault, err := account.NewService(w.DB).Create(w.Ctx, account.CreateParams{Name: "Vault", Type: account.Asset})
		w.Must(err)
		w.accounts["Bank"], w.names[vault.ID] = vault.ID, "Bank"
		for _, day := range []string{"01", "02", "03"} {
			w.book(w.addTransactions("SubBank 2025-10-" + day + " -10 USD payee=Parent_Inc")[0], "WITHDRAWAL", "Bank")
		}
		_, err = w.Sources.Create(w.Ctx, source.CreateParams{Name: "Vault", Type: source.Bank, Currency: "USD", LegalEntityID: w.EntityID,
			LedgerAccountID: vault.ID})
		w.Must(err)
		w.rule("fund", "memo=fund to=Bank")
		w.rule("part", "memo=part split=Rent:60+Bank:40")
		ids := w.addTransactions("SubBank 2025-11-03 -99 USD payee=Parent_Inc", "SubBank 2025-11-04 -99 USD text=fund",
			"SubBank 2025-11-05 -99 USD text=part")
		all := w.Ctx
		const refused = " because the ledger account of the rule belongs to a legal entity that the API key has no access to"
		w.Ctx = w.Limited(w.SubsidiaryID)
		r := w.classify(classification.CreateParams{TransactionIDs: ids})
		w.says("limited", w.resultLines(r.ID), "OT-4 unmatched", "OT-5 refused WITHDRAWAL  by fund.1"+refused,
			"OT-6 refused EXPENSE  by part.1"+refused)
		w.Ctx = all
		for _, id := range ids {
			if s := w.get(id).Suggested; s != nil {
				w.Errorf("a limited run suggests %+v", s)
			}
		}
		w.says("all", w.resultLines(w.classify(classification.CreateParams{TransactionIDs: ids}).ID), "OT-4 suggested WITHDRAWAL Bank",
			"OT-5 classified WITHDRAWAL Bank by fund.1", "OT-6 classified EXPENSE  by part.1")
	})
}
