package booking_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// quarters returns n quarters as a quantity.
func quarters(n int) string { return money.FromInt(int64(n)).Quo(money.FromInt(4), 2).String() }

// worth returns the value of n quarters in the notation of add, with or without a fee: taken from the quantity, known by its value
// only, without a value, or paid in another asset.
func (l *randomHistory) worth(n int) string {
	gross := money.FromInt(int64(n*rapid.IntRange(1, 40).Draw(l.T, "price")*2500+rapid.IntRange(0, 3).Draw(l.T,
		"cents"))).Quo(money.FromInt(100), 2)
	text := " = " + gross.String()
	taken := " (" + money.FromInt(int64(n)).Quo(money.FromInt(40), 3).String() + ")"
	switch pick(l.T, "fee", "", "", "", "taken", "by value", "by quantity", "gas", "gas without a value") {
	case "taken":
		text += " fee " + gross.Quo(money.FromInt(10), 2).String() + taken
	case "by value":
		text += " fee " + gross.Quo(money.FromInt(10), 2).String()
	case "by quantity":
		text += taken
	case "gas":
		text += " fee 0.50 gas 0.01 " + pick(l.T, "gas", "ETH", "BNB")
	case "gas without a value":
		text += " gas 0.01 " + pick(l.T, "gas", "ETH", "BNB")
	}
	return text
}

// money returns a movement of money of a bank account, a card, a processor or an exchange.
func (l *randomHistory) money(n int, direction string) string {
	text := fmt.Sprint(pick(l.T, "holder", "Bank", "Bank", "Card", "Stripe", "Kraken"), " ", direction, " ", 100*n, " USD")
	if rapid.Bool().Draw(l.T, "charged") {
		text += fmt.Sprint(" = ", 100*n, ".00 fee ", n, ".25")
	}
	return text
}

// addTransaction adds a transaction, more often an inflow than an outflow.
func (l *randomHistory) addTransaction() {
	n, out := rapid.IntRange(1, 12).Draw(l.T, "quarters"), rapid.IntRange(0, 9).Draw(l.T, "out") > 5
	direction := "in"
	if out {
		direction, n = "out", (n+1)/2
	}
	text := fmt.Sprint(pick(l.T, "source", "A", "A", "A", "B", "Kraken", "SubA"), " ", direction, " ", quarters(n), " ",
		pick(l.T, "asset", "ETH", "ETH", "ETH", "USDC", "BNB"))
	if rapid.IntRange(0, 4).Draw(l.T, "money") == 0 {
		text = l.money(n, direction)
	} else if rapid.IntRange(0, 9).Draw(l.T, "valued") > 0 {
		text += l.worth(n)
	}
	at := l.instant()
	l.Logf("add %s %s", at, l.add(at, text).Description)
}

// addPair adds a transfer, a conversion, a sale or a purchase.
func (l *randomHistory) addPair() {
	n := rapid.IntRange(1, 6).Draw(l.T, "quarters")
	from, to := pick(l.T, "from", "A", "A", "B", "Kraken", "SubA"), pick(l.T, "to", "A", "B", "B", "SubA", "SubB")
	leaves, arrives := pick(l.T, "leaves", "ETH", "ETH", "USDC"), "ETH"
	if arrives = leaves; from == to {
		arrives = "STETH"
	}
	out := fmt.Sprint(from, " out ", quarters(n), " ", leaves)
	in := fmt.Sprint(to, " in ", quarters(n), " ", arrives)
	if rapid.Bool().Draw(l.T, "less arrives") {
		in = fmt.Sprint(to, " in ", money.MustParse(quarters(n)).Sub(money.MustParse("0.01")), " ", arrives)
	}
	out += l.worth(n)
	if rapid.Bool().Draw(l.T, "both valued") {
		in += l.worth(n)
	}
	switch pick(l.T, "exchanged", "", "", "", "sale", "purchase") {
	case "sale":
		in = l.money(n, "in")
	case "purchase":
		out, in = l.money(n, "out"), fmt.Sprint(to, " in ", quarters(n), " ", leaves)
	}
	l.addLinked(out, in)
}

// addBetweenEntities adds a transfer of an asset or of money from one legal entity to the other, in either direction.
func (l *randomHistory) addBetweenEntities() {
	n := rapid.IntRange(1, 6).Draw(l.T, "quarters")
	moved := quarters(n) + " " + pick(l.T, "asset", "ETH", "ETH", "USDC")
	from, to, worth := pick(l.T, "from", "A", "B"), "SubA", fmt.Sprint(" = ", 100*n, ".00")
	if rapid.IntRange(0, 2).Draw(l.T, "money") == 0 {
		moved, from, to, worth = fmt.Sprint(100*n, " ", pick(l.T, "currency", "USD", "EUR")), "Bank", "SubBank", ""
	}
	if rapid.Bool().Draw(l.T, "back") {
		from, to = to, from
	}
	l.addLinked(from+" out "+moved+worth, to+" in "+moved)
}

// addToken adds a movement of an NFT: one that is bought, sold, or moved to another wallet or legal entity.
func (l *randomHistory) addToken() {
	token := " 1 PUNK = " + fmt.Sprint(100*rapid.IntRange(1, 9).Draw(l.T, "price"), ".00") + " token " + pick(l.T, "token", "1", "2")
	from := pick(l.T, "from", "A", "A", "SubA")
	switch pick(l.T, "movement", "in", "in", "out", "move", "move", "sale", "purchase") {
	case "in":
		l.add(l.instant(), from+" in"+token)
	case "out":
		l.add(l.instant(), from+" out"+token)
	case "move":
		l.addLinked(from+" out"+token, pick(l.T, "to", "B", "SubA", "A")+" in"+token)
	case "sale":
		l.addLinked(from+" out"+token, l.money(3, "in"))
	case "purchase":
		l.addLinked(l.money(3, "out"), from+" in"+token)
	}
}

// addLinked adds an outflow and an inflow, which are linked in most cases.
func (l *randomHistory) addLinked(out, in string) {
	at := l.instant()
	left, _ := time.Parse(time.RFC3339, at)
	arrived := left.Add(pick(l.T, "later", 0, 0, 5*time.Minute, -5*time.Minute, 5*24*time.Hour)).Format(time.RFC3339)
	a, b := l.add(at, out), l.add(arrived, in)
	l.Logf("add %s %s, %s %s", at, out, arrived, in)
	if rapid.IntRange(0, 4).Draw(l.T, "linked") > 0 {
		l.try("link", func() error {
			_, err := l.links.Link(l.ctx, transfers.LinkParams{TransactionIDs: []string{a.ID, b.ID}})
			return err
		})
	}
}

// bookableTypes are the types and target accounts that transactions are booked with, by direction.
var bookableTypes = map[string][][2]string{
	"in": {
		{"SWAP", "Bank"}, {"SWAP", "Bank"}, {"SWAP", "Bank"}, {"DEPOSIT", "Paid-in capital"}, {"INCOME", "Sales"}, {"STAKING_REWARD",
			"Staking income"}, {"INTERNAL TRANSFER", ""}, {"BRIDGE", ""}, {"SWAP", ""},
		{"NON_TAXABLE_CONVERSION", ""}, {"DEPOSIT", "B"}, {"DEPOSIT", "Bank"}, {"DEPOSIT", "Kraken"}, {"INTERNAL TRANSFER", "Stripe"},
		{"UNKNOWN", "Sales"}, {"DEPOSIT", "Transfer clearing"}, {"BORROW", "Loans payable"}, {"REPAYMENT",
			"Loans receivable"}, {"RESERVES CHANGE", "Reserves held by processors"}, {"INCOME", "Loans payable"},
	},
	"out": {
		{"SWAP", "Bank"}, {"SWAP", "Bank"}, {"SWAP", "Bank"}, {"EXPENSE", "Contractors"}, {"EXPENSE", "Contractors"}, {"WITHDRAWAL",
			"Contractors"}, {"FEE", ""}, {"INTERNAL TRANSFER", ""}, {"BRIDGE", ""}, {"SWAP", ""},
		{"NON_TAXABLE_CONVERSION", ""}, {"WITHDRAWAL", "B"}, {"WITHDRAWAL", "Bank"}, {"WITHDRAWAL", "Kraken"}, {"WITHDRAWAL", "Stripe"},
		{"INTERNAL TRANSFER", "Bank"}, {"WITHDRAWAL", "Transfer clearing"}, {"BORROW",
			"Loans receivable"}, {"REPAYMENT", "Loans payable"}, {"RESERVES CHANGE", "Reserves held by processors"},
		{"WITHDRAWAL", "Loans receivable"}, {"EXPENSE", "Other receivables"},
	},
	"pair": {{"INTERNAL TRANSFER", ""}, {"INTERNAL TRANSFER", ""}, {"BRIDGE", ""}, {"INTERCOMPANY TRANSFER", ""},
		{"INTERCOMPANY TRANSFER", ""}, {"SWAP", ""}, {"SWAP", ""}, {"WITHDRAWAL", ""}, {"NON_TAXABLE_CONVERSION", ""}, {"NFT", ""}},
}

func (l *randomHistory) kindOf(t transaction.Transaction) (kind, target string) {
	direction := "out"
	if transaction.IsInflow(t.Direction) {
		direction = "in"
	}
	if t.GroupID != "" {
		direction = "pair"
	}
	as := pick(l.T, "type", bookableTypes[direction]...)
	return as[0], as[1]
}

// someSplits returns the splits of an entry by percent, with memos.
func (l *randomHistory) someSplits() []booking.Split {
	return l.splits(pick(l.T, "splits", "Contractors 33.3333% + Sales 33.3333% + Prepaid expenses 33.3334%",
		"Loans payable 90% + Contractors 10%", "Bank 50% + Sales 50%", "Sales 12.5% + Sales 87.5%"))
}

func noPrefix(int) string { return "" }

// bookTransactions books up to most transactions.
func (l *randomHistory) bookTransactions(most int) {
	all := l.pending()
	if len(all) == 0 {
		l.Skip("nothing to book")
	}
	var ps []booking.Params
	var what []string
	for range rapid.IntRange(1, most).Draw(l.T, "how many") {
		t := pick(l.T, "transaction", all...)
		kind, target := l.kindOf(t)
		p := booking.Params{TransactionID: t.ID, Type: kind, LedgerAccountID: l.accountID(target),
			AutoPost: rapid.IntRange(0, 4).Draw(l.T, "post") > 0}
		if rapid.IntRange(0, 9).Draw(l.T, "offset") == 0 {
			p.OffsetAccountID = l.accountID(pick(l.T, "instead", "Prepaid expenses", "Prepaid expenses", "Bank", "B"))
		}
		if rapid.IntRange(0, 4).Draw(l.T, "split") == 0 {
			p.LedgerAccountID, p.Splits = "", l.someSplits()
		}
		if rapid.IntRange(0, 9).Draw(l.T, "dated") == 0 {
			p.AccountingDate = l.instant()
		}
		ps, what = append(ps, p), append(what, fmt.Sprintf("%s %s as %s to %q, %d splits, posted %t, offset %t", t.SequenceNumber(),
			t.Description, kind, target, len(p.Splits), p.AutoPost, p.OffsetAccountID != ""))
	}
	if rapid.IntRange(0, 9).Draw(l.T, "try out") == 0 { // as a dry run does
		before := l.everything()
		l.Logf("try out %s: %v", strings.Join(what, "; "), l.tryOut(ps))
		l.unchanged(before)
	}
	l.try("book "+strings.Join(what, "; "), func() error {
		_, err := l.bookings.Create(l.ctx, ps, noPrefix)
		return err
	})
}

func name(e journal.Entry) string {
	return fmt.Sprintf("%s (OT-%d %s %s)", e.SequenceNumber(), e.TransactionNo, e.Classification, e.OriginatedBy)
}

func (l *randomHistory) postDraft() {
	e := l.someEntry(draft)
	l.try("post "+name(e), func() error {
		_, err := l.journal.Post(l.ctx, e.ID)
		return err
	})
}

func (l *randomHistory) deleteDraft() {
	e := l.someEntry(draft)
	l.try("delete "+name(e), func() error { return l.journal.Delete(l.ctx, e.ID) })
}

// changeDraftDate changes the date of a draft.
func (l *randomHistory) changeDraftDate() {
	e, date := l.someEntry(draft), l.instant()
	l.try("date "+name(e), func() error {
		_, err := l.journal.Update(l.ctx, e.ID, journal.UpdateParams{AccountingDate: &date})
		return err
	})
}

func (l *randomHistory) unpostEntry() {
	e := l.someEntry(inForce)
	l.try("unpost "+name(e), func() error {
		_, err := l.journal.Unpost(l.ctx, e.ID)
		return err
	})
}

func (l *randomHistory) reverseEntry() {
	e, p := l.someEntry(inForce), journal.ReverseParams{Cascade: rapid.IntRange(0, 3).Draw(l.T, "cascade") > 0}
	if rapid.IntRange(0, 4).Draw(l.T, "dated") == 0 {
		p.AccountingDate = l.instant()
	}
	l.try(fmt.Sprintf("reverse %s %+v", name(e), p), func() error {
		_, err := l.journal.Reverse(l.ctx, e.ID, p)
		return err
	})
}

// correctType corrects an entry to another type or account.
func (l *randomHistory) correctType() {
	e := l.someEntry(func(e journal.Entry) bool { return inForce(e) && e.TransactionID != "" })
	kind, target := l.kindOf(l.reload(transaction.Transaction{ID: e.TransactionID}))
	account, p := l.accountID(target), booking.CorrectParams{Type: kind}
	if p.LedgerAccountID = &account; rapid.IntRange(0, 4).Draw(l.T, "split") == 0 {
		p.LedgerAccountID, p.Splits = nil, l.someSplits()
	}
	if rapid.IntRange(0, 4).Draw(l.T, "dated") == 0 {
		date := l.instant()
		p.Update.AccountingDate = &date
	}
	l.try(fmt.Sprintf("correct %s to %s %q", name(e), kind, target), func() error {
		_, err := l.bookings.Correct(l.ctx, e.ID, p)
		return err
	})
}

// correctDetails corrects the memo or the date of an entry.
func (l *randomHistory) correctDetails() {
	e, memo := l.someEntry(inForce), "noted"
	p := journal.UpdateParams{Memo: &memo}
	if rapid.Bool().Draw(l.T, "dated") {
		date := l.instant()
		p.AccountingDate = &date
	}
	l.try("restate "+name(e), func() error {
		_, err := l.journal.Correct(l.ctx, e.ID, p)
		return err
	})
}

func (l *randomHistory) createOpening() {
	name := pick(l.T, "source", "A", "B", "SubA")
	s, n := l.source(name), rapid.IntRange(1, 12).Draw(l.T, "quarters")
	p := opening.CreateParams{
		AssetType: "ETH", Quantity: money.MustParse(quarters(n)), CostBasis: money.FromInt(int64(rapid.IntRange(0, 5).Draw(l.T,
			"cost") * 333)), LegalEntityID: s.LegalEntityID, LedgerAccountID: s.LedgerAccountID, SourceID: s.ID,
		DateReceived: pick(l.T, "received", "", "2024-05-05", "2024-05-05", "2025-01-11"),
	}
	l.try(fmt.Sprintf("open %s %s ETH at %s of %q", name, p.Quantity, p.CostBasis, p.DateReceived), func() error {
		_, err := l.openings.Create(l.ctx, p)
		return err
	})
}

// someLot picks a lot. It sorts them by content and not by ID, which is random.
func (l *randomHistory) someLot(f lots.Filter) lots.Held {
	f.LegalEntityIDs = []string{l.us, l.sub}
	all, err := l.picks.List(l.ctx, f, page.Request{Limit: 100})
	if err != nil {
		l.Fatal(err)
	}
	if len(all.Items) == 0 {
		l.Skip("no lots")
	}
	slices.SortStableFunc(all.Items, func(a, b lots.Held) int {
		return cmp.Or(a.AcquiredAt.Compare(b.AcquiredAt), cmp.Compare(l.names[a.LedgerAccountID], l.names[b.LedgerAccountID]),
			a.Quantity.Cmp(b.Quantity), a.RemainingQuantity.Cmp(b.RemainingQuantity), a.CostBasis.Cmp(b.CostBasis))
	})
	return pick(l.T, "lot", all.Items...)
}

func (l *randomHistory) changeOpening() {
	byHand := true
	was := l.someLot(lots.Filter{Manual: &byHand})
	quantity, cost := money.MustParse(quarters(rapid.IntRange(1, 12).Draw(l.T, "quarters"))), money.FromInt(int64(rapid.IntRange(0,
		5).Draw(l.T, "cost")*333))
	p := opening.UpdateParams{Quantity: &quantity, CostBasis: &cost}
	switch pick(l.T, "change", "all", "cost", "place") {
	case "cost":
		p.Quantity = nil
	case "place":
		account := l.accountID("Prepaid expenses")
		p.LedgerAccountID = &account
	}
	l.try(fmt.Sprintf("change %s ETH at %s to %s at %s", was.Quantity, was.CostBasis, quantity, cost), func() error {
		_, err := l.openings.Update(l.ctx, was.ID, p)
		return err
	})
}

func (l *randomHistory) deleteOpening() {
	byHand := true
	was := l.someLot(lots.Filter{Manual: &byHand})
	l.try("delete an opening balance", func() error { return l.openings.Delete(l.ctx, was.ID) })
}

// changeTimezone moves the boundaries of all months, but not what stands before them.
func (l *randomHistory) changeTimezone() {
	zone := pick(l.T, "zone", "UTC", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati")
	l.try("time zone "+zone, func() error { return l.setZone(zone) })
}

// selectLots selects lots for a transaction.
func (l *randomHistory) selectLots() {
	all := slices.DeleteFunc(l.pending(), func(t transaction.Transaction) bool { return transaction.IsInflow(t.Direction) })
	if len(all) == 0 {
		l.Skip("nothing leaves")
	}
	t, open := pick(l.T, "transaction", all...), true
	left, picks := *t.Quantity, []lot.Pick{}
	for range rapid.IntRange(0, 2).Draw(l.T, "picks") {
		from := l.someLot(lots.Filter{Open: &open})
		part := from.RemainingQuantity
		if part.Cmp(left) > 0 {
			part = left
		}
		picks, left = append(picks, lot.Pick{Lot: from.ID, Quantity: part}), left.Sub(part)
	}
	l.try("select lots for "+t.SequenceNumber(), func() error {
		_, err := l.picks.SelectLots(l.ctx, t.ID, picks)
		return err
	})
}

func (l *randomHistory) somePeriod() period.State {
	all, err := l.periods.List(l.ctx, period.Filter{}, page.Request{Limit: 100})
	if err != nil {
		l.Fatal(err)
	}
	if len(all.Items) == 0 {
		l.Skip("no periods")
	}
	slices.Reverse(all.Items)
	return all.Items[rapid.IntRange(0, min(3, len(all.Items)-1)).Draw(l.T, "period")]
}

// closePeriods closes the periods up to one, for one legal entity or both.
func (l *randomHistory) closePeriods() {
	through, whose := l.somePeriod(), pick(l.T, "whose", "", "", l.us)
	all, err := l.periods.List(l.ctx, period.Filter{}, page.Request{Limit: 100})
	if err != nil {
		l.Fatal(err)
	}
	for _, p := range slices.Backward(all.Items) {
		if p.Key > through.Key {
			break
		}
		l.try("close "+p.Key, func() error {
			_, err := l.periods.Close(l.ctx, p.ID, whose)
			return err
		})
	}
}

func (l *randomHistory) reopenPeriod() {
	p := l.somePeriod()
	l.try("reopen "+p.Key, func() error {
		_, err := l.periods.Reopen(l.ctx, p.ID, period.ReopenParams{Reason: "late"})
		return err
	})
}

func (l *randomHistory) createPrice() {
	p := price.Params{AssetType: pick(l.T, "asset", "ETH", "USDC", "BNB"), Currency: "USD", Timestamp: l.instant(),
		Price: fmt.Sprint(rapid.IntRange(1, 4000).Draw(l.T, "price"))}
	l.try("price of "+p.AssetType, func() error {
		_, err := l.prices.Create(l.ctx, p)
		return err
	})
}

// changePolicy changes the policies of a legal entity.
func (l *randomHistory) changePolicy() {
	var p entity.UpdateParams
	what := pick(l.T, "what", "method", "fees", "short", "intercompany", "loans")
	switch what {
	case "method":
		method, from := pick(l.T, "method", entity.Methods...), l.instant()[:10]
		p.CostBasisMethod, p.CostBasisFrom = &method, &from
	case "fees":
		fees := pick(l.T, "fees", entity.FeesExpensed, entity.FeesNetted, entity.FeesCapitalized)
		p.FeeTreatment = &fees
	case "short":
		short := pick(l.T, "short", entity.ShortBlocked, entity.ShortAtZeroBasis)
		p.ShortDisposal = &short
	case "intercompany":
		basis := pick(l.T, "basis", entity.BasisCarriedOver, entity.BasisAtFairValue)
		p.IntercompanyBasis = &basis
	case "loans":
		loans := pick(l.T, "loans", entity.LoansParked, entity.LoansDerecognized)
		p.LoansOut = &loans
	}
	whose := pick(l.T, "whose", l.us, l.sub)
	l.try("change the policy on "+what, func() error {
		_, err := l.entities.Update(l.ctx, whose, p)
		return err
	})
}
