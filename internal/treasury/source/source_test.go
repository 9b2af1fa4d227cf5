package source_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// accountOf describes the ledger account of a source and its parent.
func (w *world) accountOf(s source.Source) (out string) {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		a, err := account.Get(ctx, tx, s.LedgerAccountID)
		if err != nil {
			return err
		}
		if out = fmt.Sprintf("%s %s", a.Type, a); a.ParentID != "" {
			above, err := account.Get(ctx, tx, a.ParentID)
			out += " below " + above.String()
			return err
		}
		return nil
	})
	return out
}

func TestASourceHasTheIDsAndTheAccountOfItsType(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			source.CreateParams
			prefix                      id.Prefix
			account, provider, currency string
		}{
			{source.CreateParams{Type: source.Wallet, Name: "A", Chain: " Ethereum "}, id.Wallet, "Asset A below 1200 Digital assets",
				"ethereum", ""},
			{source.CreateParams{Type: source.Exchange, Name: "B", Provider: "Kraken"}, id.ExchangeAccount,
				"Asset B below 1100 Exchange balances", "kraken", ""},
			{source.CreateParams{Type: source.Bank, Name: " C "}, id.BankAccount, "Asset C below 1000 Cash and bank", "file", "USD"},
			{source.CreateParams{Type: source.Card, Name: "D", Currency: "CHF"}, "", "Liability D below 2000 Payables", "file", "CHF"},
			{source.CreateParams{Type: source.Other, Name: "E"}, "", "Asset E below 1000 Cash and bank", "file", ""},
		} {
			s := w.create(c.CreateParams)
			if w.accountOf(s) != c.account || s.Provider != c.provider || s.Currency != c.currency || !s.Manual {
				t.Errorf("%s: %+v", w.accountOf(s), s)
			}
			if !id.Valid(id.MoneySource, s.ID) || c.prefix != "" && !id.Valid(c.prefix, s.AccountID) || c.prefix == "" && s.AccountID != "" {
				t.Errorf("%s: ids %s %s", c.Type, s.ID, s.AccountID)
			}
			for _, by := range []string{s.ID, s.Account()} {
				if got, err := w.sources.Get(w.ctx, by); err != nil || got.Source != s {
					t.Errorf("%s: %+v %v", by, got, err)
				}
			}
		}
	})
}

// Users arrange their chart as they like: the account of a new source goes where that of the last one is.
func TestAnAccountIsCreatedWhereTheChartHasSuchAccounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		accounts := account.NewService(w.db)
		first := w.create(source.CreateParams{Type: source.Bank, Name: "A"})
		mine, err := accounts.Create(w.ctx, account.CreateParams{Name: "My banks", Type: account.Asset, Postable: new(false)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := accounts.Update(w.ctx, first.LedgerAccountID, account.UpdateParams{ParentID: &mine.ID}); err != nil {
			t.Fatal(err)
		}
		if got := w.accountOf(w.create(source.CreateParams{Type: source.Bank, Name: "B"})); got != "Asset B below My banks" {
			t.Error(got)
		}
		for _, change := range []account.UpdateParams{{Code: new("X")}, {Code: new("1100"), Postable: new(true)}} {
			w.read(func(ctx context.Context, tx *db.Tx) error {
				var group account.Account
				if group, err = account.ByCode(ctx, tx, "1100"); err != nil {
					group, err = account.ByCode(ctx, tx, "X")
				}
				mine = group
				return err
			})
			if _, err := accounts.Update(w.ctx, mine.ID, change); err != nil {
				t.Fatal(err)
			}
			s := w.create(source.CreateParams{Type: source.Exchange, Name: "C"})
			if got := w.accountOf(s); got != "Asset C" {
				t.Error(got)
			}
			if _, err := w.sources.Delete(w.ctx, s.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTheAccountOfASourceMustBeAPostableAssetOrLiability(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		coded := func(code string) (a account.Account) {
			w.read(func(ctx context.Context, tx *db.Tx) (err error) {
				a, err = account.ByCode(ctx, tx, code)
				return err
			})
			return a
		}
		accounts := account.NewService(w.db)
		archived := coded("1330")
		if _, err := accounts.Archive(w.ctx, archived.ID); err != nil {
			t.Fatal(err)
		}
		there := w.create(source.CreateParams{Type: source.Bank, Name: "There", LedgerAccountID: coded("1010").ID})
		for code, want := range map[string]struct {
			kind fault.Kind
			says string
		}{
			"4010": {fault.Invalid, "must be an account of type Asset or Liability: 4010 Sales is of type Revenue"},
			"1000": {fault.Invalid, "1000 Cash and bank is not postable"},
			"1330": {fault.Conflict, "1330 Loans receivable is archived"},
		} {
			_, err := w.sources.Create(w.ctx, source.CreateParams{Type: source.Bank, Name: "x", LegalEntityID: w.entity,
				LedgerAccountID: coded(code).ID})
			refused(t, "create on "+code, err, want.kind, want.says)
			_, err = w.sources.Update(w.ctx, there.ID, source.UpdateParams{LedgerAccountID: new(coded(code).ID)})
			refused(t, "update to "+code, err, want.kind, want.says)
		}
		if _, err := w.sources.Update(w.ctx, there.ID, source.UpdateParams{LedgerAccountID: new(coded("2030").ID)}); err != nil {
			t.Errorf("a liability: %v", err)
		}
		card := coded("2030")
		refused(t, "archive", ignore(accounts.Archive(w.ctx, card.ID)), fault.Conflict, "it is used by 1 source, for example "+there.ID)
		refused(t, "delete", accounts.Delete(w.ctx, card.ID), fault.Conflict, "is used by 1 source, for example "+there.ID)
		refused(t, "make it a group", ignore(accounts.Update(w.ctx, card.ID, account.UpdateParams{Postable: new(false)})), fault.Conflict,
			"must stay postable: it is used by 1 source")
		refused(t, "change its type", ignore(accounts.Update(w.ctx, card.ID, account.UpdateParams{NormalBalance: new(account.Debit)})),
			fault.Conflict, "1 source")
		if _, err := accounts.Archive(w.ctx, coded("1010").ID); err != nil {
			t.Errorf("the account it had: %v", err)
		}
		gone := w.addAccounts("item-1", "Gone")[0]
		if _, err := w.sources.Delete(w.ctx, gone.ID); err != nil {
			t.Fatal(err)
		}
		refused(t, "delete what a deleted source had", accounts.Delete(w.ctx, gone.LedgerAccountID), fault.Conflict, "is used by 1 source")
		if _, err := accounts.Archive(w.ctx, gone.LedgerAccountID); err != nil {
			t.Errorf("archive what a deleted source had: %v", err)
		}
	})
}

func ignore[T any](_ T, err error) error { return err }

func TestALegalEntityWithSourcesCannotBeDeleted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		entities := entity.NewService(w.db)
		other, err := entities.Create(w.ctx, entity.CreateParams{Name: "Other", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		s := w.create(source.CreateParams{Type: source.Bank, Name: "A", LegalEntityID: other.ID})
		if s.Currency != "EUR" {
			t.Errorf("%+v", s)
		}
		refused(t, "in use", entities.Delete(w.ctx, other.ID), fault.Conflict, "1 source, for example ")
		if _, err := w.sources.Delete(w.ctx, s.ID); err != nil {
			t.Fatal(err)
		}
		if err := entities.Delete(w.ctx, other.ID); err != nil {
			t.Error(err)
		}
	})
}

func TestAnAddressIsUniqueOnItsChain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other, err := entity.NewService(w.db).Create(w.ctx, entity.CreateParams{Name: "Other", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		wallet := func(chain, address string) source.CreateParams {
			return source.CreateParams{Type: source.Wallet, Name: "W", LegalEntityID: w.entity, Chain: chain, Address: address}
		}
		first := w.create(wallet("ethereum", "0xAbC"))
		second := w.create(wallet("base", "0xabc"))
		w.create(wallet("ethereum", ""))
		w.create(wallet("ethereum", ""))
		_, err = w.sources.Create(w.ctx, wallet("Ethereum", " 0xABC "))
		refused(t, "again", err, fault.Conflict, "the source W ("+first.ID+") has this address on ethereum")
		_, err = w.sources.Update(w.ctx, second.ID, source.UpdateParams{Chain: new("ethereum")})
		refused(t, "moved", err, fault.Conflict, first.ID)
		limited := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{other.ID}})
		p := wallet("ethereum", "0xabc")
		p.LegalEntityID = other.ID
		if _, err = w.sources.Create(limited, p); err == nil || strings.Contains(err.Error(), first.ID) {
			t.Errorf("a key that does not see the other: %v", err)
		}
		if _, err := w.sources.Delete(w.ctx, first.ID); err != nil {
			t.Fatal(err)
		}
		if moved, err := w.sources.Update(w.ctx, second.ID, source.UpdateParams{Chain: new("ethereum")}); err != nil ||
			moved.Provider != "ethereum" {
			t.Errorf("%+v %v", moved, err)
		}
	})
}

func TestFieldsThatTransactionsDependOnDoNotChange(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other, err := entity.NewService(w.db).Create(w.ctx, entity.CreateParams{Name: "Other", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		s := w.create(source.CreateParams{Type: source.Wallet, Name: "W", Chain: "ethereum", Address: "0xabc", Provider: "alchemy"})
		all := source.UpdateParams{Chain: new("base"), Address: new(""), Currency: new("ETH"), LegalEntityID: &other.ID}
		changed, err := w.sources.Update(w.ctx, s.AccountID, all)
		if err != nil || changed.Chain != "base" || changed.Address != "" || changed.Currency != "ETH" ||
			changed.LegalEntityID != other.ID || changed.Provider != "alchemy" || changed.UpdatedAt == nil {
			t.Fatalf("%+v %v", changed, err)
		}
		w.addTransactions(changed.Source, "a")
		back := source.UpdateParams{Name: new("New"), Chain: new("ethereum"), Address: new("0xabc"), Currency: new(""), LegalEntityID: &w.entity}
		_, err = w.sources.Update(w.ctx, s.ID, back)
		refused(t, "with transactions", err, fault.Conflict, "1 transaction, for example OT-1", "chain", "address", "currency", "legal_entity_id")
		all.Name, all.LedgerAccountID = new("New"), new(w.create(source.CreateParams{Type: source.Bank, Name: "B"}).LedgerAccountID)
		after, err := w.sources.Update(w.ctx, s.ID, all)
		if err != nil || after.Name != "New" || after.LedgerAccountID != *all.LedgerAccountID {
			t.Errorf("%+v %v", after, err)
		}
		entries := func() int64 { return w.count("SELECT count(*) FROM audit_log WHERE organization_id = @org") }
		before := entries()
		if same, err := w.sources.Update(w.ctx, s.ID, all); err != nil || same.UpdatedAt == nil ||
			!same.UpdatedAt.Equal(*after.UpdatedAt) || entries() != before {
			t.Errorf("%+v %v, %d changes", same, err, entries()-before)
		}
	})
}

func TestAListIsFilteredAndPaged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other, err := entity.NewService(w.db).Create(w.ctx, entity.CreateParams{Name: "Other", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 230 {
			w.create(source.CreateParams{Type: source.Other, Name: fmt.Sprint("o", i)})
		}
		w.create(source.CreateParams{Type: source.Wallet, Name: "Trésor", Chain: "ethereum", Address: "0xAB"})
		w.create(source.CreateParams{Type: source.Wallet, Name: "Layer", Chain: "base", Address: "0xCD", LegalEntityID: other.ID})
		w.create(source.CreateParams{Type: source.Bank, Name: "Bank", LegalEntityID: other.ID})
		deleted := w.addAccounts("item", "Gone", "Kept")[0]
		if _, err := w.sources.Delete(w.ctx, deleted.ID); err != nil {
			t.Fatal(err)
		}
		list := func(ctx context.Context, f source.Filter) string {
			var names []string
			for p := (page.Request{Limit: 1}); ; {
				got, err := w.sources.List(ctx, f, p)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range got.Items {
					names = append(names, s.Name)
				}
				if p.Cursor = got.NextCursor; !got.HasMore {
					return strings.Join(names, " ")
				}
			}
		}
		limited := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{other.ID}})
		for _, c := range []struct {
			ctx  context.Context
			f    source.Filter
			want string
		}{
			{w.ctx, source.Filter{Type: source.Wallet}, "Trésor Layer"},
			{w.ctx, source.Filter{Type: source.Bank}, "Bank Kept"},
			{w.ctx, source.Filter{LegalEntityIDs: []string{other.ID}}, "Layer Bank"},
			{w.ctx, source.Filter{Chain: "BASE"}, "Layer"},
			{w.ctx, source.Filter{Search: "TRÉS"}, "Trésor"},
			{w.ctx, source.Filter{Search: "0XcD"}, "Layer"},
			{w.ctx, source.Filter{Search: "o22"}, "o22 o220 o221 o222 o223 o224 o225 o226 o227 o228 o229"},
			{w.ctx, source.Filter{Search: "gone"}, ""},
			{limited, source.Filter{}, "Layer Bank"},
			{limited, source.Filter{Type: source.Wallet}, "Layer"},
		} {
			if got := list(c.ctx, c.f); got != c.want {
				t.Errorf("%+v: %s", c.f, got)
			}
		}
		_, err = w.sources.List(limited, source.Filter{LegalEntityIDs: []string{w.entity}}, page.Request{Limit: 1})
		refused(t, "an entity the key is not for", err, fault.NotFound)
	})
}

func TestAnAccountOfAnAggregatorIsAddedOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first := w.addAccounts("item", "Checking", "Savings")
		again := w.addAccounts("item", "Checking")
		if again[0] != first[0] || first[0].ItemID != first[1].ItemID || first[0].Manual || first[0].Provider != "plaid" ||
			!id.Valid(id.BankAccount, first[0].AccountID) {
			t.Errorf("%+v %+v", first, again)
		}
		err := w.db.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
			_, err := source.AddAccount(ctx, tx, source.ItemParams{Provider: "plaid", ExternalID: "x"},
				source.AccountParams{Type: source.Wallet, Name: "x", LegalEntityID: w.entity})
			return err
		})
		refused(t, "a wallet at a bank", err, fault.Invalid, "must be bank or card")
	})
}

func TestVerifyFindsEveryKindOfDamageInSources(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		bank := w.addAccounts("item", "Bank")[0]
		w.addTransactions(bank, "a")
		first := w.create(source.CreateParams{Type: source.Wallet, Name: "A", Chain: "base", Address: "0xAB"})
		wallet := w.create(source.CreateParams{Type: source.Wallet, Name: "B", Chain: "base", Address: "0xCD"})
		at := func(set string) string {
			return "UPDATE sources SET " + set + " WHERE organization_id = @org AND source_id = ?"
		}
		for _, c := range []struct{ statement, id, says string }{
			{at("source_type = 'bank'"), wallet.ID, "only wallets"},
			{at("chain = NULL, provider = 'base'"), wallet.ID, "chain is required for a wallet"},
			{at("name = ''"), wallet.ID, "name must have"},
			{at("chain = 'Base', provider = 'base'"), wallet.ID, "it is not in normalized form"},
			{at("address_key = '0xab'"), wallet.ID, "its address_key does not match its address"},
			{at("address = '0xaB', address_key = '0xab'"), wallet.ID, "it has the address of the source " + first.ID},
			{at("account_id = 'pla_x'"), wallet.ID, "its ids are not those of a wallet"},
			{at("deleted_at = created_at"), wallet.ID, "only an aggregator's account may be"},
			{at("currency = NULL"), bank.ID, "it has no currency"},
			{at("currency = 'ETH'"), bank.ID, "currency must be"},
			{at("deleted_at = created_at"), bank.ID, "has transactions that are not"},
			{at("is_manual = created_at = created_at"), bank.ID, "it is marked as manual, but is an aggregator's account"},
			{at("item_id = 'x'"), bank.ID, "its aggregator item does not exist"},
			{at("provider = 'other'"), bank.ID, "its provider is not"},
			{"UPDATE ledger_accounts SET type = 'Expense' WHERE organization_id = @org AND ledger_account_id = ?", bank.LedgerAccountID,
				"its ledger account is of type Expense"},
			{"UPDATE ledger_accounts SET archived_at = created_at WHERE organization_id = @org AND ledger_account_id = ?",
				bank.LedgerAccountID, "its ledger account is archived"},
		} {
			err := w.db.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
				found := dbtest.Damage(ctx, t, tx, source.Verify, c.statement, c.id)
				if text := strings.Join(found, "; "); !strings.Contains(text, c.says) {
					t.Errorf("%s: %q does not say %q", c.statement, text, c.says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept")
			}
		}
		// References to accounts and legal entities are verified elsewhere.
		for statement, check := range map[string]func(context.Context, *db.Tx) ([]string,
			error){at("ledger_account_id = 'lac_x'"): account.Verify, at("legal_entity_id = 'le_x'"): entity.Verify} {
			_ = w.db.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
				if found := dbtest.Damage(ctx, t, tx, check, statement, bank.ID); len(found) != 1 || !strings.Contains(found[0], "sources") {
					t.Errorf("%s: %q", statement, found)
				}
				return dbtest.ErrUndo
			})
		}
	})
}
