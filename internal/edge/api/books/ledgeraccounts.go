package books

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

type ledgerAccountsInput struct {
	wire.Paging
	Type     string `query:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Return only accounts of this type."`
	Archived *bool  `query:"is_archived" doc:"true: only archived accounts. false: only active accounts."`
	Postable *bool  `query:"is_postable" doc:"true: only accounts that can be posted to. false: only groups and computed accounts."`
	ParentID string `query:"parent_account_id" minLength:"1" maxLength:"64" doc:"Return only direct children of this account."`
	Search   string `query:"search" minLength:"1" maxLength:"200" doc:"Return only accounts with this text in their code or name; case-insensitive."`
}

func (h handlers) listLedgerAccounts(ctx context.Context, in *ledgerAccountsInput) (wire.List[LedgerAccount], error) {
	f := account.Filter{Type: account.Type(in.Type), Archived: in.Archived, Postable: in.Postable, ParentID: in.ParentID, Search: in.Search}
	accounts, err := h.app.Accounts.List(ctx, f, in.Request())
	who := actor.From(ctx)
	return wire.ListOf(accounts, func(a account.Account) LedgerAccount { return ViewLedgerAccount(who, a) }), err
}

func (h handlers) createLedgerAccount(ctx context.Context, in *struct{ Body CreateLedgerAccount }) (wire.Data[LedgerAccount], error) {
	b := in.Body
	p := account.CreateParams{
		Name:          b.Name,
		Code:          b.Code.Value,
		Type:          account.Type(b.Type),
		NormalBalance: account.Balance(db.OrEmpty(b.NormalBalance)),
		ParentID:      b.ParentAccountID.Value,
		Postable:      b.IsPostable,
		Clearing:      b.IsClearingAccount != nil && *b.IsClearingAccount,
		Monetary:      b.IsMonetary,
		AssetType:     b.AssetType.Value,
	}
	a, err := h.app.Accounts.Create(ctx, p)
	return accountData(ctx, a, err)
}

type ledgerAccountPath struct {
	ID string `path:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Identifier of the ledger account."`
}

func (h handlers) getLedgerAccount(ctx context.Context, in *ledgerAccountPath) (wire.Data[LedgerAccount], error) {
	a, err := h.app.Accounts.Get(ctx, in.ID)
	return accountData(ctx, a, err)
}

func (h handlers) updateLedgerAccount(ctx context.Context, in *struct {
	ledgerAccountPath
	Body UpdateLedgerAccount
}) (wire.Data[LedgerAccount], error) {
	b := in.Body
	p := account.UpdateParams{
		Name:          b.Name,
		Code:          b.Code.OrZero(),
		Type:          (*account.Type)(b.Type),
		NormalBalance: (*account.Balance)(b.NormalBalance),
		ParentID:      b.ParentAccountID.OrZero(),
		Postable:      b.IsPostable,
		Clearing:      b.IsClearingAccount,
		Monetary:      b.IsMonetary,
		AssetType:     b.AssetType.OrZero(),
	}
	a, err := h.app.Accounts.Update(ctx, in.ID, p)
	return accountData(ctx, a, err)
}

func (h handlers) deleteLedgerAccount(ctx context.Context, in *ledgerAccountPath) (wire.NoContent, error) {
	return wire.NoContent{}, h.app.Accounts.Delete(ctx, in.ID)
}

func (h handlers) archiveLedgerAccount(ctx context.Context, in *ledgerAccountPath) (wire.Data[LedgerAccount], error) {
	a, err := h.app.Accounts.Archive(ctx, in.ID)
	return accountData(ctx, a, err)
}

func (h handlers) unarchiveLedgerAccount(ctx context.Context, in *ledgerAccountPath) (wire.Data[LedgerAccount], error) {
	a, err := h.app.Accounts.Unarchive(ctx, in.ID)
	return accountData(ctx, a, err)
}

func accountData(ctx context.Context, a account.Account, err error) (wire.Data[LedgerAccount], error) {
	return wire.DataOf(ViewLedgerAccount(actor.From(ctx), a)), err
}

// ViewLedgerAccount returns an account as an actor may see it.
func ViewLedgerAccount(who actor.Actor, a account.Account) LedgerAccount {
	return LedgerAccount{
		ID:                a.ID,
		SequenceNumber:    a.SequenceNumber,
		Code:              db.OrNull(a.Code),
		Name:              a.Name,
		Type:              string(a.Type),
		NormalBalance:     string(a.NormalBalance),
		ParentAccountID:   db.OrNull(a.ParentID),
		IsPostable:        a.Postable,
		IsClearingAccount: a.Clearing,
		IsMonetary:        a.Monetary,
		IsArchived:        a.Archived(),
		ArchivedAt:        wire.TimestampOrNull(a.ArchivedAt),
		AssetType:         db.OrNull(a.AssetType),
		Role:              db.OrNull(a.RoleFor(who)),
		CreatedAt:         wire.Timestamp(a.CreatedAt),
		UpdatedAt:         wire.TimestampOrNull(a.UpdatedAt),
	}
}
