package treasury

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func (h handlers) listTransactions(ctx context.Context, in *struct {
	wire.Paging
	TransactionFilter
	SortBy       string `query:"sort_by" enum:"transaction_date,created_at,updated_at,gross_amount,net_amount,gross_price,asset_type,chain" default:"transaction_date" doc:"Sort key. Records without a value come first in ascending order."`
	SortOrder    string `query:"sort_order" enum:"asc,desc" default:"desc" doc:"Sort order. Equal keys are sorted by sequence number."`
	IncludeCount bool   `query:"include_count" doc:"If true, return the number of matching records too. Defaults to false."`
	CountOnly    bool   `query:"count_only" doc:"If true, return only the number of matching records. Takes precedence over include_count. Defaults to false."`
}) (wire.List[Transaction], error) {
	found, err := h.app.Transactions.List(ctx, transaction.ListParams{
		Filter:    transaction.Filter(in.TransactionFilter),
		Sort:      transaction.Sort{By: in.SortBy, Order: in.SortOrder},
		Request:   in.Request(),
		WithCount: in.IncludeCount,
		CountOnly: in.CountOnly,
	})
	if err != nil {
		return wire.List[Transaction]{}, err
	}
	return ViewTransactions(ctx, h.app, found)
}

// transactionView returns a function that views some transactions, with the guidance for the actor.
func (h handlers) transactionView(ctx context.Context, all ...transaction.Transaction) (func(transaction.Transaction) Transaction, error) {
	missing, err := h.app.Bookings.MissingValues(ctx, all...)
	beyond := map[string]bool{}
	if err == nil {
		beyond, err = h.app.Transfers.Beyond(ctx, all...)
	}
	var suggested []string
	for _, t := range all {
		suggested = append(suggested, t.Suggested.Accounts()...)
	}
	foreign := map[string]bool{}
	if err == nil {
		foreign, err = h.app.Sources.ForeignAccounts(ctx, suggested)
	}
	who := actor.From(ctx)
	return func(t transaction.Transaction) Transaction {
		v := viewTransaction(who, t, t.Guide(missing[t.ID], beyond[t.ID]))
		v.Suggested.Value = viewSuggestion(who, t.Suggested, foreign)
		return v
	}, err
}

// ViewTransactions views transactions for a list.
func ViewTransactions(ctx context.Context, a *app.App, found page.Page[transaction.Transaction]) (wire.List[Transaction], error) {
	view, err := handlers{a}.transactionView(ctx, found.Items...)
	return wire.ListOf(found, view), err
}

// transactionPath is the parameter of operations on one transaction.
type transactionPath struct {
	ID string `path:"transaction_id" minLength:"1" maxLength:"64" doc:"Identifier of the transaction."`
}

func (h handlers) getTransaction(ctx context.Context, in *struct {
	transactionPath
	Include []string `query:"include" enum:"raw" maxItems:"1" doc:"raw: also what the provider of a connection has sent about the transaction."`
}) (wire.Data[Transaction], error) {
	t, err := h.app.Transactions.Get(ctx, in.ID)
	out, err := h.viewedTransaction(ctx, t, err)
	if err != nil || len(in.Include) == 0 {
		return out, err
	}
	original, err := h.app.Transactions.Original(ctx, in.ID)
	out.Data.Raw = json.RawMessage(cmp.Or(original, "null"))
	return out, err
}

// createsTransactions is a request to create transactions.
type createsTransactions struct{ Body CreateTransactions }

// IsDryRun reports whether nothing is to be written.
func (c *createsTransactions) IsDryRun() bool { return c.Body.DryRun }

func (h handlers) createTransactions(ctx context.Context, in *createsTransactions) (CreatedTransactions, error) {
	var faults fault.List
	all := make([]transaction.CreateParams, len(in.Body.Transactions))
	for i, t := range in.Body.Transactions {
		all[i] = t.params(&faults, fmt.Sprintf("transactions[%d].", i))
	}
	c, err := h.app.Transactions.Create(ctx, all)
	if err := faults.With(err); err != nil {
		return CreatedTransactions{}, err
	}
	view, err := h.transactionView(ctx, c.Transactions...)
	out := CreatedTransactions{make([]Transaction, len(c.Transactions)), int64(c.Created), int64(c.Duplicates)}
	for i, t := range c.Transactions {
		out.Data[i] = view(t)
	}
	return out, err
}

// params turns a request into parameters.
func (b CreateTransaction) params(faults *fault.List, at string) transaction.CreateParams {
	e := b.External
	p := transaction.Params{
		ExternalID:  b.ExternalID,
		Description: e.Description,
		Direction:   transaction.Direction(e.Direction),
		Currency:    e.Currency,
		Quantity:    amountOrNil(faults, at+"external.quantity", e.Quantity),
		Category:    b.ProviderCategory.Value,
		Vendor:      b.Vendor.Value,
		Memo:        b.Memo.Value,
		Type:        transaction.Type(b.TransactionType),
		TagIDs:      b.TagIDs,
	}
	var err error
	if p.At, err = time.Parse(time.RFC3339, e.Timestamp); err != nil {
		faults.Addf(at+"external.timestamp", "must be a time such as 2026-01-31T09:30:00Z, but is %q", e.Timestamp)
	}
	if v := e.ValueFiat.OrNil(); v != nil {
		field := at + "external.value_fiat."
		p.Value = &transaction.ValueParams{
			Gross:    wire.ParseDecimal(faults, field+"gross", v.Gross),
			Fee:      wire.ParseDecimal(faults, field+"fee", v.Fee),
			Net:      wire.ParseDecimal(faults, field+"net", v.Net),
			Currency: v.Currency,
		}
	}
	if c := b.Crypto.OrNil(); c != nil {
		p.Crypto = &transaction.Crypto{
			Chain:           c.Chain.Value,
			TransactionHash: c.TransactionHash.Value,
			From:            c.FromAddress.Value,
			To:              c.ToAddress.Value,
			AssetType:       c.AssetType.Value,
			ContractAddress: c.ContractAddress.Value,
			TokenID:         c.TokenID.Value,
			BlockNumber:     c.BlockNumber.OrNil(),
			FeeQuantity:     amountOrNil(faults, at+"crypto.fee_quantity", c.FeeQuantity),
			FeeAssetType:    c.FeeAssetType.Value,
		}
	}
	if c := b.Bank.OrNil(); c != nil {
		p.Bank = &transaction.Bank{BankName: c.BankName.Value, AccountLast4: c.AccountLast4.Value, CounterpartyName: c.CounterpartyName.Value}
	}
	if c := b.Card.OrNil(); c != nil {
		p.Card = &transaction.Card{
			MerchantName:     c.MerchantName.Value,
			MerchantCategory: c.MerchantCategory.Value,
			CardholderName:   c.CardholderName.Value,
			Last4:            c.Last4.Value,
		}
	}
	return transaction.CreateParams{SourceID: b.SourceID, Params: p}
}

func amountOrNil(faults *fault.List, field string, text wire.Opt[string]) *money.Decimal {
	if text.OrNil() == nil {
		return nil
	}
	return new(wire.ParseDecimal(faults, field, text.Value))
}

func (h handlers) updateTransaction(ctx context.Context, in *struct {
	transactionPath
	Body UpdateTransaction
}) (wire.Data[Transaction], error) {
	t, err := h.app.Transactions.Update(ctx, in.ID, in.Body.params())
	return h.viewedTransaction(ctx, t, err)
}

func (b UpdateTransaction) params() transaction.UpdateParams {
	p := transaction.UpdateParams{Memo: b.Memo.OrZero(), Vendor: b.Vendor.OrZero(), TagIDs: b.TagIDs}
	if b.TransactionType != nil {
		p.Type = new(transaction.Type(*b.TransactionType))
	}
	if b.Status != nil {
		p.Status = new(transaction.Status(*b.Status))
	}
	return p
}

func (h handlers) bulkUpdateTransactions(ctx context.Context, in *struct{ Body BulkUpdateTransactions }) (wire.Data[BulkUpdated], error) {
	b := in.Body
	p := transaction.BulkParams{TransactionIDs: b.TransactionIDs, Expected: b.ExpectedCount, Changes: b.Changes.params(), Dry: b.DryRun}
	if b.Filter != nil {
		p.Filter = new(transaction.Filter(*b.Filter))
	}
	done, err := h.app.Transactions.BulkUpdate(ctx, p)
	return wire.DataOf(BulkUpdated{int64(done.Matched), int64(done.Updated), b.DryRun}), err
}

func (h handlers) viewedTransaction(ctx context.Context, t transaction.Transaction, err error) (wire.Data[Transaction], error) {
	if err != nil {
		return wire.Data[Transaction]{}, err
	}
	view, err := h.transactionView(ctx, t)
	return wire.DataOf(view(t)), err
}

func viewTransaction(who actor.Actor, t transaction.Transaction, g transaction.Guidance) Transaction {
	v := Transaction{
		ID:               t.ID,
		SequenceNumber:   t.SequenceNumber(),
		AccountID:        new(t.Source.Account()),
		SourceID:         t.Source.ID,
		ExternalID:       t.ExternalID,
		OrganizationID:   who.OrganizationID,
		LegalEntityID:    t.Source.LegalEntityID,
		SourceClass:      string(t.Source.Type.Class()),
		Provider:         t.Source.Provider,
		Vendor:           db.OrNull(t.Vendor),
		ProviderCategory: db.OrNull(t.Category),
		External: TransactionExternal{
			Timestamp:   wire.Timestamp(t.At),
			Description: t.Description,
			Direction:   string(t.Direction),
			Currency:    t.Currency,
		},
		Internal: TransactionInternal{
			TransactionType: string(t.Type),
			Status:          string(t.Status),
			Memo:            db.OrNull(t.Memo),
			JournalEntryID:  db.OrNull(t.JournalEntryID),
			GroupID:         db.OrNull(t.GroupID),
		},
		TagIDs:    wire.NonNil(t.TagIDs),
		Guidance:  wire.Guidance{AllowedActions: g.Allowed, Warnings: g.Warnings, Version: g.Version},
		CreatedAt: wire.Timestamp(t.CreatedAt),
		UpdatedAt: wire.Timestamp(t.UpdatedAt),
	}
	if t.Quantity != nil {
		v.External.Quantity = new(t.Quantity.Fixed(t.Currency))
	}
	if w := t.Value; w != nil {
		v.External.ValueFiat.Value = &ValuedFiat{w.Gross.Fixed(w.Currency), w.Fee.Fixed(w.Currency), w.Net().Fixed(w.Currency), w.Currency}
	}
	if c := t.Crypto; c != nil {
		v.Crypto.Value = &TransactionCrypto{
			Chain:           db.OrNull(c.Chain),
			TransactionHash: db.OrNull(c.TransactionHash),
			BlockNumber:     c.BlockNumber,
			FromAddress:     db.OrNull(c.From),
			ToAddress:       db.OrNull(c.To),
			AssetType:       db.OrNull(t.Asset()),
			ContractAddress: db.OrNull(c.ContractAddress),
			TokenID:         db.OrNull(c.TokenID),
			FeeQuantity:     wire.DecimalOrNull(c.FeeQuantity),
			FeeAssetType:    db.OrNull(c.FeeAssetType),
		}
	}
	if b := t.Bank; b != nil {
		v.Bank.Value = &TransactionBank{db.OrNull(b.BankName), db.OrNull(b.AccountLast4), db.OrNull(b.CounterpartyName)}
	}
	if c := t.Card; c != nil {
		v.Card.Value = &TransactionCard{db.OrNull(c.MerchantName), db.OrNull(c.MerchantCategory), db.OrNull(c.CardholderName), db.OrNull(c.Last4)}
	}
	if s := t.Spam; s != nil {
		verdict := SpamVerdict{Score: int64(s.Score), Reasons: []SpamReason{}}
		for _, r := range s.For(who) {
			verdict.Reasons = append(verdict.Reasons, SpamReason{r.Code, int64(r.Weight), r.Text})
		}
		v.Internal.Spam.Value = &verdict
	}
	return v
}
