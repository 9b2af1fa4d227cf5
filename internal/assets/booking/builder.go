package booking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// event is what an entry is computed from: a transaction, or the two of a transfer.
type event struct {
	first   transaction.Transaction // the transaction of the entry; the outgoing one of a transfer
	partner *transaction.Transaction
	effect  replay.Effect
}

// transactions returns the transactions of the event.
func (e *event) transactions() []transaction.Transaction {
	if e.partner == nil {
		return []transaction.Transaction{e.first}
	}
	return []transaction.Transaction{e.first, *e.partner}
}

// builder collects what entries are computed from.
type builder struct {
	*lookups
	books    *snapshot.Books
	rebooked string // the entry that is being booked again
}

// newBuilder returns a builder for some requests.
func newBuilder(ctx context.Context, tx *db.Tx, b *snapshot.Books, ps ...Params) (builder, error) {
	m := builder{lookups: newLookups(tx), books: b}
	return m, m.gather(ctx, ps)
}

// build collects everything that an entry is computed from.
func (m builder) build(ctx context.Context, p Params, at string) (*event, error) {
	if err := p.validate(m.books, at); err != nil {
		return nil, err
	}
	asked, err := m.transaction(p.TransactionID, at)
	if err != nil {
		return nil, err
	}
	e := &event{first: asked}
	if e.partner, err = m.lookups.partner(ctx, asked); err != nil {
		return nil, err
	}
	if e.partner != nil && transaction.IsInflow(asked.Direction) {
		e.first, e.partner = *e.partner, &asked
	}
	for _, t := range e.transactions() {
		if err := m.bookable(t, at); err != nil {
			return nil, err
		}
	}
	if err := m.validateSplitTargets(ctx, p, e, at); err != nil {
		return nil, err
	}
	in, err := m.input(ctx, p, e, asked.ID, at)
	if err != nil {
		return nil, err
	}
	plan, err := m.prepare(ctx, &in, e)
	if err != nil {
		return nil, explain(nameDay(err, calendar.DateOf(e.first.At, m.books.Zone)), at)
	}
	e.effect = replay.Effect{
		TransactionID: e.first.ID, Type: p.Type, Label: "the transaction " + e.first.SequenceNumber(), Number: e.first.Number,
		Block: blockOf(e.first), Input: in, Plan: plan, SeparateAccountID: p.separateAccount(asked),
	}
	if e.partner != nil {
		e.effect.LotsTransactionID = e.partner.ID
	}
	if len(plan.LotRequests) > 0 {
		e.effect.Picks, err = m.selection(ctx, e.first.ID)
	}
	return e, err
}

// separateAccount returns the account that was named instead of that of the source.
func (p Params) separateAccount(asked transaction.Transaction) string {
	if p.OffsetAccountID == asked.Source.LedgerAccountID {
		return ""
	}
	return p.OffsetAccountID
}

func blockOf(t transaction.Transaction) int64 {
	if t.Crypto == nil || t.Crypto.BlockNumber == nil {
		return 0
	}
	return *t.Crypto.BlockNumber
}

// bookable returns an error if a transaction is spam or booked already.
func (m builder) bookable(t transaction.Transaction, at string) error {
	field := at + "transaction_id"
	switch {
	case t.Status == transaction.Spam:
		return fault.ConflictAt([]fault.Field{{Name: field, Message: t.SequenceNumber() + " is spam"}},
			"%s is spam, which cannot be booked: mark it as not spam first", t.SequenceNumber())
	case t.JournalEntryID != "" && t.JournalEntryID != m.rebooked:
		return fault.ConflictAt([]fault.Field{{Name: field, Message: "has the entry " + t.JournalEntryID}},
			"%s has the journal entry %s already: edit, delete or reverse that, or void its cash application, first",
			t.SequenceNumber(), t.JournalEntryID)
	}
	return nil
}

// input returns the input of rules/posting.
func (m builder) input(ctx context.Context, p Params, e *event, asked, at string) (posting.Input, error) {
	in := posting.Input{Type: posting.Type(p.Type), Units: true, Books: posting.Books{Accounts: m.books.Roles(),
		Currencies: map[string]string{}, Rates: map[posting.Rate]money.Decimal{}}}
	for _, t := range e.transactions() {
		leg, fee, err := m.leg(ctx, t, at)
		if err != nil {
			return in, err
		}
		if t.ID == asked && p.OffsetAccountID != t.Source.LedgerAccountID {
			leg.Offset = p.OffsetAccountID
		}
		if err := m.validateLegAccount(ctx, leg, t, at); err != nil {
			return in, err
		}
		in.Books.Currencies[leg.Entity] = m.books.Entities[leg.Entity].BaseCurrency
		if transaction.IsInflow(t.Direction) {
			in.In = leg
		} else {
			in.Out = leg
		}
		if fee != nil {
			in.Fees = append(in.Fees, *fee)
		}
	}
	var err error
	if in.Target, err = m.target(ctx, p, e, at); err != nil {
		return in, err
	}
	first := m.books.Entities[e.first.Source.LegalEntityID]
	in.Policy = posting.Policy{
		NetFees: first.FeeTreatment == entity.FeesNetted, Capitalize: first.FeeTreatment == entity.FeesCapitalized,
		FairValue: first.IntercompanyBasis == entity.BasisAtFairValue, ParkLoans: first.LoansOut == entity.LoansParked,
	}
	return in, nil
}

// validateLegAccount returns an error if the account of a leg is for another asset, holds the asset without lots, or belongs to a source
// that cannot hold it.
func (m builder) validateLegAccount(ctx context.Context, leg *posting.Leg, t transaction.Transaction, at string) error {
	if leg.Offset != "" {
		field := at + "offset_ledger_account_id"
		if leg.Asset.Lots {
			if err := validateAccountAsset(m.books.Accounts[leg.Offset], leg.Asset.Symbol, field); err != nil {
				return err
			}
			held, err := m.heldAs(ctx, leg.Entity, leg.Offset, leg.Asset.Symbol)
			if err != nil {
				return err
			}
			if held.Valued {
				why := fmt.Sprintf("the ledger account %s holds %s that was booked at its value, without lots: choose another account",
					m.books.Accounts[leg.Offset], leg.Asset.Symbol)
				return fault.ConflictAt([]fault.Field{{Name: field, Message: why}}, "%s", why)
			}
		}
		sources, err := m.sourcesOf(ctx, leg.Offset)
		if err != nil {
			return err
		}
		if len(sources) > 0 && !slices.ContainsFunc(sources, func(s source.Source) bool { return s.Type.Holds(leg.Asset.Symbol) }) {
			why := sources[0].RequireHolds(leg.Asset.Symbol)
			return fault.ConflictAt([]fault.Field{{Name: field, Message: why}}, "%s", why)
		}
		return nil
	}
	if a := m.books.Accounts[t.Source.LedgerAccountID]; leg.Asset.Lots && a.AssetType != "" && a.AssetType != leg.Asset.Symbol {
		return fault.Conflictf("the ledger account %s of the source %s is for %s, not for %s: name another as offset_ledger_account_id",
			a, t.Source.Name, a.AssetType, leg.Asset.Symbol)
	}
	return nil
}

// requireHolds returns an error if the source of a transaction cannot hold an asset. Transactions from before this was required
// may be of such an asset.
func requireHolds(t transaction.Transaction, symbol, at string) error {
	why := t.Source.RequireHolds(symbol)
	if why == "" {
		return nil
	}
	return fault.ConflictAt([]fault.Field{{Name: at + "transaction_id", Message: why}}, "%s cannot be booked: %s", t.SequenceNumber(), why)
}

// leg returns a transaction as a leg of rules/posting, and a second leg for a fee in another asset.
func (m builder) leg(ctx context.Context, t transaction.Transaction, at string) (*posting.Leg, *posting.Leg, error) {
	symbol := t.Asset()
	if err := requireHolds(t, symbol, at); err != nil {
		return nil, nil, err
	}
	l := &posting.Leg{
		Place: posting.Place{Source: t.Source.ID, Account: t.Source.LedgerAccountID, Entity: t.Source.LegalEntityID},
		Asset: posting.Asset{Symbol: symbol, Chain: chainOf(t), Lots: !money.IsFiat(symbol)}, At: t.At,
	}
	if l.Asset.Lots && transaction.IsInflow(t.Direction) {
		policy, err := m.policy(ctx, symbol)
		if err != nil {
			return nil, nil, err
		}
		l.Asset.Own = policy.OwnToken
	}
	if t.Quantity != nil {
		l.Quantity = *t.Quantity
	}
	if t.Crypto != nil && t.Crypto.TokenID != "" {
		l.Asset.Token = strings.ToLower(t.Crypto.ContractAddress) + ":" + t.Crypto.TokenID
	}
	if t.Value != nil {
		l.Value = &posting.Value{Gross: t.Value.Gross, Fee: t.Value.Fee, Currency: t.Value.Currency}
	} else if err := m.value(ctx, l); err != nil {
		return nil, nil, err
	}
	if v := l.Value; !l.Asset.Lots && v != nil && v.Currency == symbol { // money that is valued in itself
		l.Quantity, l.FeeQuantity = v.Gross, v.Fee
	} else if t.Quantity == nil {
		return nil, nil, refuseUnknownQuantity(t, at)
	}
	m.valueBaseMoney(l)
	fee, err := m.fee(ctx, t, l, at)
	return l, fee, err
}

// refuseUnknownQuantity refuses to book a transaction of which it is not known how much moved. No price or rate can replace that.
func refuseUnknownQuantity(t transaction.Transaction, at string) error {
	why := fmt.Sprintf("the quantity of %s is not known", t.Asset())
	return fault.ConflictAt([]fault.Field{{Name: at + "quantity", Message: why}}, "%s cannot be booked, because %s: %s",
		t.SequenceNumber(), why, transaction.AddAgain)
}

// chainOf returns the chain on which an asset is held. An exchange holds assets on no chain: the chain of its transactions
// is the network of the deposit or withdrawal.
func chainOf(t transaction.Transaction) string {
	if t.Source.Type == source.Exchange {
		return ""
	}
	if t.Crypto != nil && t.Crypto.Chain != "" {
		return strings.ToLower(t.Crypto.Chain)
	}
	return strings.ToLower(t.Source.Chain)
}

// value sets the value of a leg that has none: money is worth itself, an asset its price.
func (m builder) value(ctx context.Context, l *posting.Leg) error {
	if l.Quantity.IsZero() {
		return nil
	}
	if !l.Asset.Lots {
		l.Value = &posting.Value{Gross: l.Quantity, Currency: l.Asset.Symbol}
		return nil
	}
	currency := m.books.Entities[l.Entity].BaseCurrency
	found, there, err := price.Latest(ctx, m.tx, l.Asset.Symbol, currency, l.At)
	if err != nil || !there {
		return err
	}
	exact := l.Quantity.Mul(found.Value)
	l.Value = &posting.Value{Gross: exact.RoundTo(currency), Currency: currency}
	if l.Value.Gross.IsZero() { // dust has a value, unlike an asset without a price
		l.Value.Gross = exact
	}
	return nil
}

// valueBaseMoney values money in the base currency by its amount, whatever it is said to be worth in another currency. The fee is the
// same part of it.
func (m builder) valueBaseMoney(l *posting.Leg) {
	v, base := l.Value, m.books.Entities[l.Entity].BaseCurrency
	if l.Asset.Symbol != base || v == nil || v.Currency == base || v.Gross.Sign() <= 0 || l.Quantity.IsZero() {
		return
	}
	l.FeeQuantity = l.Quantity.Mul(v.Fee).Quo(v.Gross, money.DigitsAfterMax).RoundTo(base)
	l.Value = &posting.Value{Gross: l.Quantity, Fee: l.FeeQuantity, Currency: base}
}

// fee sets the fee quantity of the leg, or returns a leg for a fee in another asset. A fee that is known by its value only takes
// nothing from the quantity.
func (m builder) fee(ctx context.Context, t transaction.Transaction, l *posting.Leg, at string) (*posting.Leg, error) {
	if t.Crypto == nil || t.Crypto.FeeQuantity == nil || t.Crypto.FeeQuantity.Sign() <= 0 {
		return nil, nil
	}
	quantity, symbol := *t.Crypto.FeeQuantity, t.Crypto.FeeAssetType
	if symbol == "" || symbol == l.Asset.Symbol {
		l.FeeQuantity = quantity
		if v := l.Value; v != nil && v.Fee.IsZero() && l.Quantity.Cmp(quantity) >= 0 { // It is worth as much as the rest.
			l.Value = &posting.Value{Gross: v.Gross, Fee: v.Gross.Mul(quantity).Quo(l.Quantity, money.DigitsAfterMax).RoundTo(v.Currency),
				Currency: v.Currency}
		}
		return nil, nil
	}
	if err := requireHolds(t, symbol, at); err != nil {
		return nil, err
	}
	paid := &posting.Leg{Place: l.Place, Asset: posting.Asset{Symbol: symbol, Chain: l.Asset.Chain, Lots: !money.IsFiat(symbol)},
		Quantity: quantity, At: l.At}
	if l.Value != nil && l.Value.Fee.Sign() > 0 {
		paid.Value = &posting.Value{Gross: l.Value.Fee, Currency: l.Value.Currency}
		l.Value = &posting.Value{Gross: l.Value.Gross.Sub(l.Value.Fee), Currency: l.Value.Currency}
		return paid, nil
	}
	return paid, m.value(ctx, paid)
}

// target returns the target account with its source and its open lots.
func (m builder) target(ctx context.Context, p Params, e *event, at string) (posting.Target, error) {
	if p.parts != nil {
		return m.appliedTarget(p.parts), nil
	}
	t := posting.Target{Account: p.LedgerAccountID, Splits: p.postingSplits()}
	for i, s := range t.Splits {
		sources, err := m.sourcesOf(ctx, s.Account)
		if err != nil {
			return t, err
		}
		if t.Splits[i].Holding, t.Splits[i].Currency = holdingOf(sources), currencyOf(sources); len(sources) == 0 {
			a := m.books.Accounts[s.Account]
			t.Splits[i].Grows, t.Splits[i].OwedInKind = growsOf(a), m.isOwedInKind(a)
		}
	}
	a := m.books.Accounts[p.LedgerAccountID]
	if t.Account == "" || e.partner != nil {
		return t, nil
	}
	field := at + "ledger_account_id"
	if t.Account == p.OffsetAccountID || p.OffsetAccountID == "" && t.Account == e.first.Source.LedgerAccountID {
		return t, fault.Invalidf(field, "is the account of the source itself")
	}
	t.Clearing = a.Clearing
	if a.Type != account.Asset && a.Type != account.Liability {
		return t, nil
	}
	if symbol := e.first.Asset(); !money.IsFiat(symbol) {
		if err := validateAccountAsset(a, symbol, field); err != nil {
			return t, err
		}
	}
	sources, err := m.sourcesOf(ctx, a.ID)
	if err != nil {
		return t, err
	}
	if len(sources) == 1 && sources[0].ID != e.first.Source.ID {
		t.Source, t.Entity = sources[0].ID, sources[0].LegalEntityID
	}
	t.Holding, t.Currency = holdingOf(sources), currencyOf(sources)
	if t.Lots, err = m.hasLots(ctx, e.first.Source.LegalEntityID, a.ID); err != nil || t.Clearing || len(sources) > 0 {
		return t, err
	}
	return t, m.setUnits(ctx, &t, a, e.first.Source.LegalEntityID, e.first.Asset())
}

// holdingOf returns what the sources of an account can hold, empty if there are none.
func holdingOf(sources []source.Source) posting.Holding {
	switch {
	case len(sources) == 0:
		return ""
	case !slices.ContainsFunc(sources, func(s source.Source) bool { return s.Type.HoldsAssets() }):
		return posting.HoldsMoney
	case !slices.ContainsFunc(sources, func(s source.Source) bool { return s.Type.HoldsMoney() }):
		return posting.HoldsAssets
	}
	return posting.HoldsBoth
}

// currencyOf returns the currency in which the sources of an account are kept, empty if there are none or they differ.
func currencyOf(sources []source.Source) string {
	for _, s := range sources {
		if s.Currency != sources[0].Currency {
			return ""
		}
	}
	if len(sources) == 0 {
		return ""
	}
	return sources[0].Currency
}

// rateTries bounds how many exchange rates are looked up for an entry.
const rateTries = 6

// prepare plans the entry and looks up the exchange rates it turns out to need.
func (m builder) prepare(ctx context.Context, in *posting.Input, e *event) (*posting.Plan, error) {
	for try := 0; ; try++ {
		plan, err := posting.Prepare(*in)
		var r *posting.Refusal
		if err == nil || !asRefusal(err, &r) || r.Reason != posting.MissingRate || try == rateTries {
			return plan, err
		}
		rate, failed := m.rate(ctx, r.Rate, calendar.DateOf(e.first.At, m.books.Zone))
		if failed != nil || rate == nil {
			return nil, errors.Join(failed, err)
		}
		in.Books.Rates[r.Rate] = *rate
	}
}

func asRefusal(err error, to **posting.Refusal) bool { return errors.As(err, to) }
