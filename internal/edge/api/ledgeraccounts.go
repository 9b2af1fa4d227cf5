package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
)

type ledgerAccountsInput struct {
	paging
	Type     string `query:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Only accounts of this type"`
	Archived *bool  `query:"is_archived" doc:"Only archived accounts, or only those that are not"`
	Postable *bool  `query:"is_postable" doc:"Only accounts that take lines, or only those that do not"`
	ParentID string `query:"parent_account_id" minLength:"1" maxLength:"64" doc:"Only accounts right below this one"`
	Search   string `query:"search" minLength:"1" maxLength:"200" doc:"Only accounts with this text in their code or name, in capitals or not"`
}

func (a *API) listLedgerAccounts(ctx context.Context, in *ledgerAccountsInput) (List[LedgerAccount], error) {
	f := account.Filter{Type: account.Type(in.Type), Archived: in.Archived, Postable: in.Postable, ParentID: in.ParentID, Search: in.Search}
	accounts, err := a.app.Accounts.List(ctx, f, in.request())
	return listOf(accounts, viewLedgerAccount), err
}

func (a *API) createLedgerAccount(ctx context.Context, in *struct{ Body CreateLedgerAccount }) (Data[LedgerAccount], error) {
	b := in.Body
	p := account.CreateParams{
		Name: b.Name, Code: b.Code.Value, Type: account.Type(b.Type), NormalBalance: account.Balance(
			db.OrEmpty(b.NormalBalance)), ParentID: b.ParentAccountID.Value,
		Postable: b.IsPostable, Clearing: b.IsClearingAccount != nil && *b.IsClearingAccount, AssetType: b.AssetType.Value,
	}
	return accountData(a.app.Accounts.Create(ctx, p))
}

type ledgerAccountPath struct {
	ID string `path:"ledger_account_id" minLength:"1" maxLength:"64" doc:"The account"`
}

func (a *API) getLedgerAccount(ctx context.Context, in *ledgerAccountPath) (Data[LedgerAccount], error) {
	return accountData(a.app.Accounts.Get(ctx, in.ID))
}

func (a *API) updateLedgerAccount(ctx context.Context, in *struct {
	ledgerAccountPath
	Body UpdateLedgerAccount
}) (Data[LedgerAccount], error) {
	b := in.Body
	p := account.UpdateParams{
		Name: b.Name, Code: b.Code.orEmpty(), Type: (*account.Type)(b.Type), NormalBalance: (*account.Balance)(b.NormalBalance),
		ParentID: b.ParentAccountID.orEmpty(), Postable: b.IsPostable, Clearing: b.IsClearingAccount, AssetType: b.AssetType.orEmpty(),
	}
	return accountData(a.app.Accounts.Update(ctx, in.ID, p))
}

func (a *API) deleteLedgerAccount(ctx context.Context, in *ledgerAccountPath) (nothing, error) {
	return nothing{}, a.app.Accounts.Delete(ctx, in.ID)
}

func (a *API) archiveLedgerAccount(ctx context.Context, in *ledgerAccountPath) (Data[LedgerAccount], error) {
	return accountData(a.app.Accounts.Archive(ctx, in.ID))
}

func (a *API) unarchiveLedgerAccount(ctx context.Context, in *ledgerAccountPath) (Data[LedgerAccount], error) {
	return accountData(a.app.Accounts.Unarchive(ctx, in.ID))
}

func accountData(a account.Account, err error) (Data[LedgerAccount], error) {
	return Data[LedgerAccount]{viewLedgerAccount(a)}, err
}

func viewLedgerAccount(a account.Account) LedgerAccount {
	return LedgerAccount{
		ID: a.ID, SequenceNumber: a.SequenceNumber, Code: db.OrNull(a.Code), Name: a.Name, Type: string(a.Type), NormalBalance: string(
			a.NormalBalance),
		ParentAccountID: db.OrNull(a.ParentID), IsPostable: a.Postable, IsClearingAccount: a.Clearing, IsArchived: a.Archived(),
		ArchivedAt: stampOrNull(a.ArchivedAt),
		AssetType:  db.OrNull(a.AssetType), Role: db.OrNull(a.Role), CreatedAt: stamp(a.CreatedAt), UpdatedAt: stampOrNull(a.UpdatedAt),
	}
}
