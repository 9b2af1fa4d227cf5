package booking_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// found returns what verifying the books finds.
func (w *world) found() string {
	w.Helper()
	var all []string
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		all, err = findings(ctx, tx)
		return err
	})
	return strings.Join(all, "\n")
}

// damage changes the database outside Bursar.
func (w *world) damage(statement string, args ...any) {
	w.Helper()
	err := w.db.WriteAcross(w.ctx, "a test damages the books", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
}

func TestAnAccountThatShowsWhatItsSourceCannotHoldIsFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-02-01", "Kraken in 1 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
		usd := w.book(w.add("2025-02-02", "Kraken in 100 USD"), "DEPOSIT", "Paid-in capital")
		w.book(w.add("2025-02-03", "Kraken in 100 EUR = 110.00"), "DEPOSIT", "Paid-in capital")
		w.verifyBooks()
		for kind, want := range map[string][]string{
			"bank":   {"shows 1 ETH", "books ETH", "which holds ISO 4217 currencies only, not ETH"},
			"wallet": {"shows 100 EUR", "the entry " + usd.ID + " books USD", "is a wallet, which cannot hold EUR"},
		} {
			w.damage("UPDATE sources SET source_type = ? WHERE source_id = ?", kind, w.source("Kraken").ID)
			found := w.found()
			for _, text := range want {
				if !strings.Contains(found, text) {
					t.Errorf("as a %s: %q is not in\n%s", kind, text, found)
				}
			}
		}
		w.damage("UPDATE sources SET source_type = 'exchange' WHERE source_id = ?", w.source("Kraken").ID)
	})
}

func TestATransactionFromBeforeItsSourceCouldNotHoldItIsNotBooked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		money := w.add("2025-02-02", "Kraken in 100 USD")
		fee := w.add("2025-02-02", "Kraken out 1 ETH = 100.00 gas 1 USD")
		w.damage("UPDATE sources SET source_type = 'wallet' WHERE source_id = ?", w.source("Kraken").ID)
		for _, x := range []transaction.Transaction{money, fee} {
			kind, target := "INCOME", "Sales"
			if x.ID == fee.ID {
				kind, target = "EXPENSE", "Contractors"
			}
			_, err := w.tryBook(x, kind, target, true)
			w.expectRefused(x.Description, err, fault.Conflict, "transaction_id", "is a wallet, which cannot hold USD")
		}
		w.damage("UPDATE sources SET source_type = 'exchange' WHERE source_id = ?", w.source("Kraken").ID)
	})
}

func TestAssetsThatTheSourceCannotHoldAreNotAdded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.everything()
		for _, x := range []struct{ source, currency, fee, field string }{
			{"A", "USD", "", "transactions[0].external.currency"},
			{"Bank", "ETH", "", "transactions[0].external.currency"},
			{"Stripe", "USDC", "", "transactions[0].external.currency"},
			{"Bank", "USD", "ETH", "transactions[0].crypto.fee_asset_type"},
			{"A", "ETH", "USD", "transactions[0].crypto.fee_asset_type"},
		} {
			p := transaction.CreateParams{SourceID: w.source(x.source).ID, Params: transaction.Params{ExternalID: w.name("x"), At: w.at(eventDay),
				Direction: transaction.Credit, Currency: x.currency}}
			if x.fee != "" {
				p.Crypto = &transaction.Crypto{FeeAssetType: x.fee}
			}
			_, err := w.txns.Create(w.ctx, []transaction.CreateParams{p})
			w.expectRefused(x.source+" "+x.currency, err, fault.Invalid, x.field, w.source(x.source).Name)
		}
		w.unchanged(before)
	})
}

// Earlier versions computed the quantity of a fee that was known by its value, and did not store it.
func TestEntriesOfEarlierVersionsKeepTheFeeQuantityThatWasComputed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.rate("EUR", "USD", eventDay, "1.1")
		w.base()
		sold := w.book(w.add(eventDay, "A out 2.5 ETH = 6000.00 fee 12.00 (0.005)"), "WITHDRAWAL", "Contractors")
		sent := w.book(w.add(eventDay, "A out 1 ETH = 2400.00 fee 2.40 (0.001)"), "INTERNAL TRANSFER", "")
		euro := w.book(w.add(eventDay, "Euro in 100 EUR = 100.00 EUR fee 2.00"), "DEPOSIT", "Paid-in capital")
		w.verifyBooks()
		before := w.everything()
		for id, quantity := range map[string]string{sold.ID: "0.005", sent.ID: "0.001", euro.ID: "2"} {
			w.damage("UPDATE bookings SET input = replace(replace(input, ?, ''), ?, ?) WHERE journal_entry_id = ?",
				`"version":1,`, `"FeeQuantity":"`+quantity+`"`, `"FeeQuantity":"0"`, id)
		}
		after := w.everything()
		if strings.Join(after["bookings"], "") == strings.Join(before["bookings"], "") {
			t.Fatal("the stored bookings did not change")
		}
		w.verifyBooks()
		w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital") // they consume other lots now
	})
}

func TestAnAccountWithUnitsIsNotGivenToASourceThatCannotHoldThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-03-10", "A in 1 ETH = 100.00"), "BORROW", "Loans payable")
		loans := w.accountID("Loans payable")
		bank := source.CreateParams{Type: source.Bank, Name: "Loan bank", LegalEntityID: w.us, LedgerAccountID: loans}
		_, err := w.all.Create(w.ctx, bank)
		w.expectRefused("a new bank account", err, fault.Conflict, "ledger_account_id", "-1 ETH")
		_, err = w.all.Update(w.ctx, w.source("Bank").ID, source.UpdateParams{LedgerAccountID: &loans})
		w.expectRefused("a bank account that is moved", err, fault.Conflict, "ledger_account_id", "-1 ETH")
		// Beside a wallet a bank account may be there, but the wallet must then stay.
		wallet, err := w.all.Create(w.ctx, source.CreateParams{Type: source.Wallet, Name: "Loan wallet", LegalEntityID: w.us,
			LedgerAccountID: loans, Chain: "ethereum"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.all.Create(w.ctx, bank); err != nil {
			t.Fatal(err)
		}
		_, err = w.all.Delete(w.ctx, wallet.Source.ID)
		w.expectRefused("the wallet is deleted", err, fault.Conflict, "-1 ETH")
		w.verifyBooks()
	})
}
