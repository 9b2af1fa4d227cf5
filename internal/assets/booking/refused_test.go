package booking_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// A booking that is not possible is refused with an error that names the fault, as a draft too, and nothing is written.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		w.source("B")
		btc, err := account.NewService(w.db).Create(w.ctx, account.CreateParams{Name: "Bitcoin", Type: account.Asset, AssetType: "BTC"})
		if err != nil {
			t.Fatal(err)
		}
		old, err := account.NewService(w.db).Create(w.ctx, account.CreateParams{Name: "Old", Type: account.Expense})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := account.NewService(w.db).Archive(w.ctx, old.ID); err != nil {
			t.Fatal(err)
		}
		w.chart()
		spam := w.add(eventDay, "A in 9 JUNK = 1.00")
		status := transaction.Spam
		if _, err := w.txns.Update(w.ctx, spam.ID, transaction.UpdateParams{Status: &status}); err != nil {
			t.Fatal(err)
		}
		out, in, money := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "A in 1 ETH = 2400.00"), w.add(eventDay,
			"Bank in 10 USD = 10.00")
		noPrice, noRate, none := w.add(eventDay, "A in 5 DOGE"), w.add(eventDay, "Euro in 10 EUR"), w.add(eventDay, "A out 1 DOGE = 5.00")
		swapOut, swapIn := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "A in 2400 USDC = 2400.00")
		w.link(swapOut, swapIn)
		w.book(w.add("2025-02-02", "Kraken in 1 ETH = 2000.00"), "INCOME", "Sales")
		toSub, subIn := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "SubA in 1 ETH = 2400.00")
		w.link(toSub, subIn)
		before := w.everything()
		for name, x := range map[string]struct {
			p    booking.Params
			kind fault.Kind
			says []string
		}{
			"no such transaction": {booking.Params{TransactionID: "txn_none", Type: "INCOME"}, fault.NotFound,
				[]string{"transaction_id"}},
			"no such type": {booking.Params{TransactionID: in.ID, Type: "GIFT"}, fault.Invalid, []string{"transaction_type"}},
			"no such account": {booking.Params{TransactionID: in.ID, Type: "INCOME", LedgerAccountID: "lac_none",
				OffsetAccountID: "lac_none"}, fault.NotFound, []string{"ledger_account_id", "offset_ledger_account_id"}},
			"a group": {booking.Params{TransactionID: in.ID, Type: "INCOME",
				LedgerAccountID: w.accountID("Revenue")}, fault.Invalid, []string{"ledger_account_id", "not postable"}},
			"archived": {booking.Params{TransactionID: out.ID, Type: "EXPENSE", LedgerAccountID: old.ID},
				fault.Conflict, []string{"ledger_account_id", "archived"}},
			"no account": {booking.Params{TransactionID: in.ID, Type: "INCOME"}, fault.Invalid,
				[]string{"ledger_account_id", "INCOME"}},
			"the account of the source": {booking.Params{TransactionID: in.ID, Type: "INCOME", LedgerAccountID: w.accountID("A")},
				fault.Invalid, []string{"ledger_account_id", "source"}},
			"the wrong way": {booking.Params{TransactionID: in.ID, Type: "EXPENSE",
				LedgerAccountID: w.accountID("Contractors")}, fault.Conflict, []string{"transaction_type", "EXPENSE"}},
			"spam": {booking.Params{TransactionID: spam.ID, Type: "INCOME",
				LedgerAccountID: w.accountID("Sales")}, fault.Conflict, []string{"transaction_id", "spam"}},
			"the type spam": {booking.Params{TransactionID: in.ID, Type: "SPAM", LedgerAccountID: w.accountID("Sales")},
				fault.Conflict, []string{"transaction_type", "a transaction of the type SPAM cannot be booked; change its type first"}},
			"no price": {booking.Params{TransactionID: noPrice.ID, Type: "INCOME",
				LedgerAccountID: w.accountID("Sales")}, fault.Conflict, []string{"value_fiat", "DOGE",
				"T12:00:00.000Z, or of the 24 hours before", "/v1/prices"}},
			"no rate": {booking.Params{TransactionID: noRate.ID, Type: "INCOME",
				LedgerAccountID: w.accountID("Sales")}, fault.Conflict, []string{"value_fiat.currency", "EUR", "USD", "/v1/fx-rates"}},
			"a pair that is none": {booking.Params{TransactionID: swapOut.ID, Type: "EXPENSE",
				LedgerAccountID: w.accountID("Contractors")}, fault.Conflict, []string{"transaction_type", "EXPENSE"}},
			"not the same asset": {booking.Params{TransactionID: swapIn.ID, Type: "INTERNAL TRANSFER"}, fault.Conflict,
				[]string{"transaction_type", "ETH", "USDC"}},
			"another legal entity": {booking.Params{TransactionID: toSub.ID, Type: "INTERNAL TRANSFER"}, fault.Conflict,
				[]string{"transaction_type", "INTERCOMPANY"}},
			"no other legal entity": {booking.Params{TransactionID: out.ID, Type: "INTERCOMPANY TRANSFER"}, fault.Conflict,
				[]string{"transaction_id", "an INTERCOMPANY TRANSFER needs both its transactions; link this one to the other first"}},
			"a source of another legal entity": {booking.Params{TransactionID: out.ID, Type: "WITHDRAWAL",
				LedgerAccountID: w.accountID("SubA")}, fault.Conflict, []string{"ledger_account_id", "legal entity"}},
			"an account of another asset": {booking.Params{TransactionID: out.ID, Type: "RESERVES CHANGE", LedgerAccountID: btc.ID},
				fault.Invalid, []string{"ledger_account_id", "BTC", "ETH"}},
			"an offset account of another": {booking.Params{TransactionID: in.ID, Type: "INCOME", LedgerAccountID: w.accountID("Sales"),
				OffsetAccountID: btc.ID}, fault.Invalid, []string{"offset_ledger_account_id", "BTC", "ETH"}},
			"an account that carries lots": {booking.Params{TransactionID: money.ID, Type: "INCOME", LedgerAccountID: w.accountID("Kraken")},
				fault.Conflict, []string{"ledger_account_id", "lots"}},
			"money from a wallet": {booking.Params{TransactionID: money.ID, Type: "DEPOSIT", LedgerAccountID: w.accountID("A")},
				fault.Conflict, []string{"ledger_account_id", "the asset that was sold left the wallet", "import it", "reverse its entry"}},
			"an asset to a bank account": {booking.Params{TransactionID: out.ID, Type: "INTERNAL TRANSFER",
				LedgerAccountID: w.accountID("Bank")}, fault.Conflict, []string{"ledger_account_id", "ETH cannot move to it"}},
			"the account of a bank instead of that of the wallet": {booking.Params{TransactionID: in.ID, Type: "INCOME",
				LedgerAccountID: w.accountID("Sales"), OffsetAccountID: w.accountID("Bank")}, fault.Conflict,
				[]string{"offset_ledger_account_id", "ISO 4217 currencies only, not ETH"}},
			"the account of a wallet instead of that of the bank": {booking.Params{TransactionID: money.ID, Type: "INCOME",
				LedgerAccountID: w.accountID("Sales"), OffsetAccountID: w.accountID("A")}, fault.Conflict,
				[]string{"offset_ledger_account_id", "a wallet, which cannot hold USD"}},
			"the lots of an account not at all": {booking.Params{TransactionID: out.ID, Type: "EXPENSE",
				LedgerAccountID: w.accountID("Contractors"), OffsetAccountID: w.accountID("Stablecoins"), AutoPost: true}, fault.Conflict,
				[]string{"1 ETH are missing"}},
			"none there": {booking.Params{TransactionID: none.ID, Type: "EXPENSE", LedgerAccountID: w.accountID("Contractors"),
				AutoPost: true}, fault.Conflict, []string{"1 DOGE are missing", w.source("A").Name, none.SequenceNumber()}},
			"a date that is none": {booking.Params{TransactionID: in.ID, Type: "INCOME", LedgerAccountID: w.accountID("Sales"),
				AccountingDate: "soon"}, fault.Invalid, []string{"accounting_date"}},
			"a tag that is none": {booking.Params{TransactionID: in.ID, Type: "INCOME", LedgerAccountID: w.accountID("Sales"),
				TagIDs: &[]string{"tag_none"}}, fault.NotFound, []string{"tag_ids"}},
			"a vendor without a name": {booking.Params{TransactionID: in.ID, Type: "INCOME", LedgerAccountID: w.accountID("Sales"),
				VendorName: "  "}, fault.Invalid, []string{"vendor_name"}},
		} {
			for _, post := range []bool{false, true} {
				if x.p.AutoPost && !post {
					continue
				}
				x.p.AutoPost = post
				_, err := w.bookings.Create(w.ctx, []booking.Params{x.p}, noPrefix)
				w.expectRefused(name, err, x.kind, x.says...)
			}
		}
		w.unchanged(before)
	})
}

// A key of one legal entity books nothing of another, not even the other half of a transfer.
func TestLimitedKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		out, in := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "SubA in 1 ETH = 2400.00")
		w.link(out, in)
		theirs := w.add(eventDay, "SubA in 2 ETH = 4800.00")
		before := w.everything()
		all := w.ctx
		who := actor.From(all)
		who.LegalEntityIDs = []string{w.us}
		w.ctx = actor.With(all, who)
		_, err := w.tryBook(theirs, "INCOME", "Sales", true)
		w.expectRefused("of another", err, fault.NotFound, "transaction_id")
		_, err = w.tryBook(out, "INTERCOMPANY TRANSFER", "", true)
		w.expectRefused("half of another", err, fault.Forbidden)
		w.ctx = all
		w.unchanged(before)
		made := w.book(out, "INTERCOMPANY TRANSFER", "")
		before = w.everything()
		w.ctx = actor.With(all, who)
		_, err = w.journal.Reverse(w.ctx, made.ID, journal.ReverseParams{})
		w.expectRefused("reversing half of another", err, fault.Forbidden)
		w.ctx = all
		w.unchanged(before)
	})
}

// A key of one legal entity does not change, through lots that went there, what another one has booked.
func TestALimitedKeyDoesNotChangeOtherLegalEntitiesThroughLots(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.source("A")
		held := w.open("2024-12-01", "1", "500.00")
		bought := w.book(w.add("2025-01-10", "A in 2 ETH = 3000.00"), "DEPOSIT", "Paid-in capital")
		w.book(w.add("2025-06-01", "A in 3 ETH = 6000.00"), "DEPOSIT", "Paid-in capital")
		out, in := w.add("2025-07-02", "A out 2 ETH = 4000.00"), w.add("2025-07-02T12:30:00Z", "SubA in 2 ETH = 4000.00")
		w.link(out, in)
		w.book(out, "INTERCOMPANY TRANSFER", "")
		w.book(w.add("2025-07-03", "SubA out 1.5 ETH = 3000.00"), "EXPENSE", "Contractors")
		late := w.add("2025-01-02", "A out 0.1 ETH = 100.00")
		draft := w.draft(w.add("2025-01-03", "A out 0.2 ETH = 200.00"), "WITHDRAWAL", "Bank")
		before := w.everything()
		all := w.ctx
		who := actor.From(all)
		who.LegalEntityIDs = []string{w.us}
		w.ctx = actor.With(all, who)
		_, err := w.tryBook(late, "WITHDRAWAL", "Bank", true)
		w.expectRefused("a late disposal", err, fault.Forbidden)
		_, err = w.journal.Post(w.ctx, draft.ID)
		w.expectRefused("posting a draft", err, fault.Forbidden)
		_, err = w.journal.Reverse(w.ctx, bought.ID, journal.ReverseParams{Cascade: true})
		w.expectRefused("reversing an acquisition", err, fault.Forbidden)
		_, err = w.openings.Update(w.ctx, held.ID, opening.UpdateParams{CostBasis: new(money.MustParse("1"))})
		w.expectRefused("changing an opening balance", err, fault.Forbidden)
		w.entry(draft.ID) // shows what it would consume
		w.ctx = all
		w.unchanged(before)
	})
}

// What was selected in another legal entity is not named to a key that has no access to it.
func TestALimitedKeyIsNotToldWhichLotsOthersSelected(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{}, entity.CreateParams{CostBasisMethod: "specific_id"})
		w.book(w.add("2025-01-10", "A in 2 ETH = 3000.00"), "DEPOSIT", "Paid-in capital")
		w.book(w.add("2025-06-01", "A in 3 ETH = 6000.00"), "DEPOSIT", "Paid-in capital")
		out, in := w.add("2025-07-02", "A out 2 ETH = 4000.00"), w.add("2025-07-02T12:30:00Z", "SubA in 2 ETH = 4000.00")
		w.link(out, in)
		w.book(out, "INTERCOMPANY TRANSFER", "")
		sale := w.add("2025-07-03", "SubA out 2 ETH = 4000.00")
		if _, err := w.picks.SelectLots(w.ctx, sale.ID, []lot.Pick{{Lot: w.lotID("SubA", "2025-01-10"),
			Quantity: money.MustParse("2")}}); err != nil {
			t.Fatal(err)
		}
		w.book(sale, "EXPENSE", "Contractors")
		late := w.add("2025-01-12", "A out 1 ETH = 100.00")
		_, err := w.tryBook(late, "WITHDRAWAL", "Bank", true)
		w.expectRefused("an unlimited key", err, fault.Conflict, "lots selected")
		who := actor.From(w.ctx)
		who.LegalEntityIDs = []string{w.us}
		w.ctx = actor.With(w.ctx, who)
		_, err = w.tryBook(late, "WITHDRAWAL", "Bank", true)
		w.expectRefused("a limited key", err, fault.Forbidden)
	})
}
