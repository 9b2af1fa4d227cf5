package account_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
)

func ptr[T any](v T) *T { return &v }

func TestANewAccountIsAsItWasAskedForOrAsItsTypeSays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Asset, "Vault")
		for _, c := range []struct {
			p    account.CreateParams
			want account.Account
		}{
			{account.CreateParams{Name: "a", Type: account.Asset}, account.Account{Name: "a", Type: account.Asset,
				NormalBalance: account.Debit, Postable: true, Monetary: true}},
			{account.CreateParams{Name: "b", Type: account.Liability}, account.Account{Name: "b", Type: account.Liability,
				NormalBalance: account.Credit, Postable: true, Monetary: true}},
			{account.CreateParams{Name: "land", Type: account.Asset, Monetary: ptr(false)}, account.Account{Name: "land", Type: account.Asset,
				NormalBalance: account.Debit, Postable: true}},
			{account.CreateParams{Name: "laptops", Type: account.Asset, ParentID: w.named("Fixed assets").ID}, account.Account{Name: "laptops",
				Type: account.Asset, ParentID: w.named("Fixed assets").ID, NormalBalance: account.Debit, Postable: true}},
			{account.CreateParams{Name: "lease", Type: account.Asset, ParentID: w.named("Fixed assets").ID, Monetary: ptr(true)},
				account.Account{Name: "lease", Type: account.Asset, ParentID: w.named("Fixed assets").ID, NormalBalance: account.Debit, Postable: true,
					Monetary: true}},
			{account.CreateParams{Name: "c", Type: account.Equity}, account.Account{Name: "c", Type: account.Equity,
				NormalBalance: account.Credit, Postable: true}},
			{account.CreateParams{Name: "d", Type: account.Revenue}, account.Account{Name: "d", Type: account.Revenue,
				NormalBalance: account.Credit, Postable: true}},
			{account.CreateParams{Name: "e", Type: account.Expense}, account.Account{Name: "e", Type: account.Expense,
				NormalBalance: account.Debit, Postable: true}},
			{account.CreateParams{Name: "contra", Type: account.Asset, NormalBalance: account.Credit}, account.Account{Name: "contra",
				Type: account.Asset, NormalBalance: account.Credit, Postable: true, Monetary: true}},
			{account.CreateParams{Name: "group", Type: account.Asset, Postable: ptr(false)}, account.Account{Name: "group",
				Type: account.Asset, NormalBalance: account.Debit, Monetary: true}},
			{
				account.CreateParams{Name: "all", Code: "9.1", Type: account.Asset, ParentID: w.named("Vault").ID, Postable: ptr(true),
					Clearing: true, AssetType: "BTC", Role: "fair_value_adjustment:BTC"},
				account.Account{Name: "all", Code: "9.1", Type: account.Asset, NormalBalance: account.Debit, ParentID: w.named("Vault").ID,
					Postable: true, Clearing: true, Monetary: true, AssetType: "BTC", Role: "fair_value_adjustment:BTC"},
			},
		} {
			before := w.state()
			made, err := w.s.Create(w.ctx, c.p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := w.s.Get(w.ctx, made.ID)
			c.want.ID, c.want.CreatedAt, c.want.SequenceNumber = made.ID, made.CreatedAt, before.AccountNumber+1
			if err != nil || got != c.want || made != c.want {
				t.Errorf("%+v became %+v, want %+v (%v)", c.p, got, c.want, err)
			}
			if after := w.state(); after.AccountNumber != before.AccountNumber+1 || after.BooksVersion <= before.BooksVersion ||
				w.logged(made.ID) != "ledger_account.created" {
				t.Errorf("head %+v became %+v; the audit has %s", before, after, w.logged(made.ID))
			}
		}
	})
}

func TestABadAccountIsRefusedWithEveryFaultAndLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		bank, sales := w.named("Bank accounts").ID, w.named("Sales").ID
		w.grow(account.Asset, "Old")
		if _, err := w.s.Archive(w.ctx, w.named("Old").ID); err != nil {
			t.Fatal(err)
		}
		before, chart := w.state(), len(w.chart())
		for what, c := range map[string]struct {
			p     account.CreateParams
			kind  fault.Kind
			words []string
		}{
			"everything": {account.CreateParams{Name: " ", Code: strings.Repeat("1", 33), Type: "asset", NormalBalance: "left",
				AssetType: strings.Repeat("x", 65), ParentID: bank},
				fault.Invalid, []string{"name must not be empty", "code must have at most 32", "type must be Asset,",
					"normal_balance must be debit or credit", "asset_type must have at most 64"}},
			"monetary equity": {account.CreateParams{Name: "a", Type: account.Equity, Monetary: ptr(true)}, fault.Invalid,
				[]string{"is_monetary must be false for an account of type Equity"}},
			"a long name": {account.CreateParams{Name: strings.Repeat("é", 201), Type: account.Asset}, fault.Invalid,
				[]string{"name must have at most 200"}},
			"a code with a space": {account.CreateParams{Name: "a", Code: "1 ", Type: account.Asset}, fault.Invalid,
				[]string{"code must not begin or end"}},
			"a parent of another type": {account.CreateParams{Name: "a", Type: account.Asset, ParentID: sales}, fault.Invalid,
				[]string{"parent_account_id must be an account of type Asset: 4010 Sales is of type Revenue"}},
			"a parent of another type and more": {account.CreateParams{Name: "", Type: account.Asset, ParentID: sales}, fault.Invalid,
				[]string{"parent_account_id", "name"}},
			"no such parent":          {account.CreateParams{Name: "a", Type: account.Asset, ParentID: "lac_x"}, fault.NotFound, nil},
			"no such parent and more": {account.CreateParams{Name: "", Type: account.Asset, ParentID: "lac_x"}, fault.Invalid, []string{"name"}},
			"an archived parent": {account.CreateParams{Name: "a", Type: account.Asset, ParentID: w.named("Old").ID}, fault.Conflict,
				[]string{"Old is archived"}},
			"a code that is taken": {account.CreateParams{Name: "a", Code: "1010", Type: account.Asset}, fault.Conflict,
				[]string{"1010", "Bank accounts", bank}},
		} {
			_, err := w.s.Create(w.ctx, c.p)
			refused(t, what, err, c.kind, c.words...)
		}
		if after := w.state(); after != before || len(w.chart()) != chart {
			t.Errorf("head %+v became %+v, %d accounts became %d", before, after, chart, len(w.chart()))
		}
	})
}

func TestNumbersAreNeverUsedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Asset, "First")
		first := w.named("First")
		if err := w.s.Delete(w.ctx, first.ID); err != nil {
			t.Fatal(err)
		}
		w.grow(account.Asset, "Second")
		if got := w.named("Second").SequenceNumber; got != first.SequenceNumber+1 {
			t.Errorf("after %d comes %d", first.SequenceNumber, got)
		}
	})
}

func TestAnAccountChangesAsAskedAndWhatChangesNothingIsNotRecorded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Asset, "Coins\nVault")
		coins, vault := w.named("Coins"), w.named("Vault")
		a := coins
		for _, step := range []struct {
			what   string
			p      account.UpdateParams
			change func(*account.Account)
		}{
			{"name", account.UpdateParams{Name: ptr("Tokens")}, func(a *account.Account) { a.Name = "Tokens" }},
			{"code", account.UpdateParams{Code: ptr("1299")}, func(a *account.Account) { a.Code = "1299" }},
			{"its own code again, and a name", account.UpdateParams{Code: ptr("1299"), Name: ptr("Coins")}, func(a *account.Account) {
				a.Name = "Coins"
			}},
			{"no code", account.UpdateParams{Code: ptr("")}, func(a *account.Account) { a.Code = "" }},
			{"parent", account.UpdateParams{ParentID: &vault.ID}, func(a *account.Account) { a.ParentID = vault.ID }},
			{"to the top", account.UpdateParams{ParentID: ptr("")}, func(a *account.Account) { a.ParentID = "" }},
			{"asset type", account.UpdateParams{AssetType: ptr("ETH")}, func(a *account.Account) { a.AssetType = "ETH" }},
			{"no asset type", account.UpdateParams{AssetType: ptr("")}, func(a *account.Account) { a.AssetType = "" }},
			{"clearing", account.UpdateParams{Clearing: ptr(true)}, func(a *account.Account) { a.Clearing = true }},
			{"not monetary", account.UpdateParams{Monetary: ptr(false)}, func(a *account.Account) { a.Monetary = false }},
			{"monetary", account.UpdateParams{Monetary: ptr(true)}, func(a *account.Account) { a.Monetary = true }},
			{"no lines", account.UpdateParams{Postable: ptr(false)}, func(a *account.Account) { a.Postable = false }},
			{"type", account.UpdateParams{Type: ptr(account.Equity)}, func(a *account.Account) {
				a.Type, a.NormalBalance, a.Monetary = account.Equity, account.Credit, false
			}},
			{"contra", account.UpdateParams{NormalBalance: ptr(account.Debit)}, func(a *account.Account) { a.NormalBalance = account.Debit }},
			{"type of a contra account", account.UpdateParams{Type: ptr(account.Expense)}, func(a *account.Account) {
				a.Type, a.NormalBalance = account.Expense, account.Credit
			}},
			{"type and balance", account.UpdateParams{Type: ptr(account.Revenue), NormalBalance: ptr(account.Debit)}, func(a *account.Account) {
				a.Type, a.NormalBalance = account.Revenue, account.Debit
			}},
			{"type and parent", account.UpdateParams{Type: ptr(account.Asset), ParentID: &vault.ID}, func(a *account.Account) {
				a.Type, a.NormalBalance, a.ParentID, a.Monetary = account.Asset, account.Credit, vault.ID, true
			}},
		} {
			step.change(&a)
			before := w.state()
			got, err := w.s.Update(w.ctx, coins.ID, step.p)
			if err != nil || got.UpdatedAt == nil {
				t.Fatalf("%s: %+v %v", step.what, got, err)
			}
			stored, err := w.s.Get(w.ctx, coins.ID)
			a.UpdatedAt, stored.UpdatedAt = got.UpdatedAt, got.UpdatedAt
			if err != nil || got != a || stored != a {
				t.Errorf("%s: %+v and %+v, want %+v (%v)", step.what, got, stored, a, err)
			}
			if after := w.state(); after.AuditSequence != before.AuditSequence+1 || after.BooksVersion <= before.BooksVersion {
				t.Errorf("%s: head %+v became %+v", step.what, before, after)
			}
			if _, err := w.s.Update(w.ctx, coins.ID, step.p); err != nil || w.state().AuditSequence != before.AuditSequence+1 {
				t.Errorf("%s again: %v, recorded %d times", step.what, err, w.state().AuditSequence-before.AuditSequence)
			}
		}
	})
}

func TestABadChangeIsRefusedWithEveryFaultAndChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Asset, `
			Top
				Middle
					Leaf
			Old`)
		if _, err := w.s.Archive(w.ctx, w.named("Old").ID); err != nil {
			t.Fatal(err)
		}
		top, middle, leaf := w.named("Top").ID, w.named("Middle").ID, w.named("Leaf").ID
		before := w.state().AuditSequence
		for what, c := range map[string]struct {
			id    string
			p     account.UpdateParams
			kind  fault.Kind
			words []string
		}{
			"no such account": {"lac_x", account.UpdateParams{Name: ptr("a")}, fault.NotFound, nil},
			"everything": {leaf, account.UpdateParams{Name: ptr(""), Code: ptr(" 1"),
				AssetType: ptr(strings.Repeat("x", 65)), NormalBalance: ptr(account.Balance("up"))}, fault.Invalid,
				[]string{"name", "code", "asset_type", "normal_balance"}},
			"a code that is taken": {leaf, account.UpdateParams{Code: ptr("1010")}, fault.Conflict, []string{"Bank accounts"}},
			"below itself": {top, account.UpdateParams{ParentID: &top}, fault.Invalid,
				[]string{"parent_account_id must not be the account itself"}},
			"below its child":      {top, account.UpdateParams{ParentID: &middle}, fault.Invalid, []string{"one below it"}},
			"below its grandchild": {top, account.UpdateParams{ParentID: &leaf}, fault.Invalid, []string{"one below it"}},
			"below another type": {top, account.UpdateParams{ParentID: ptr(w.named("Sales").ID)}, fault.Invalid,
				[]string{"parent_account_id must be an account of type Asset"}},
			"no such parent": {top, account.UpdateParams{ParentID: ptr("lac_x")}, fault.NotFound, nil},
			"below an archived account": {top, account.UpdateParams{ParentID: ptr(w.named("Old").ID)}, fault.Conflict,
				[]string{"Old is archived"}},
			"another type than its parent": {leaf, account.UpdateParams{Type: ptr(account.Equity)}, fault.Invalid,
				[]string{"type must be Asset, as that of its parent account Middle"}},
			"another type than its child": {top, account.UpdateParams{Type: ptr(account.Equity)}, fault.Conflict,
				[]string{"1 account below it is of type Asset", "Middle"}},
		} {
			_, err := w.s.Update(w.ctx, c.id, c.p)
			refused(t, what, err, c.kind, c.words...)
		}
		if got := w.state().AuditSequence; got != before {
			t.Errorf("%d changes were recorded", got-before)
		}
	})
}

func TestTheTypeOfAUsedAccountStaysAndWhetherItTakesLinesMayChange(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Expense, "Drafted\nPosted")
		w.post("draft", map[string]string{"Drafted": "5", "Bank accounts": "-5"})
		w.post("posted", map[string]string{"Posted": "5", "Bank accounts": "-5"})
		for name, number := range map[string]string{"Drafted": "JE-1", "Posted": "JE-2"} {
			id := w.named(name).ID
			_, err := w.s.Update(w.ctx, id, account.UpdateParams{Type: ptr(account.Equity)})
			refused(t, "the type of "+name, err, fault.Conflict, name, "1 journal line", number)
			_, err = w.s.Update(w.ctx, id, account.UpdateParams{NormalBalance: ptr(account.Credit)})
			refused(t, "the normal balance of "+name, err, fault.Conflict, name, "1 journal line", number)
			if _, err := w.s.Update(w.ctx, id, account.UpdateParams{Name: ptr(name + "!"), Postable: ptr(false), Clearing: ptr(true),
				Type: ptr(account.Expense)}); err != nil {
				t.Errorf("what else is to change of %s: %v", name, err)
			}
		}
	})
}

func TestASystemAccountCanBeRenamedAndMovedButNotMadeAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		gain, revenue := w.named("Realized gains"), w.named("Revenue")
		for what, p := range map[string]account.UpdateParams{
			"type":                {Type: ptr(account.Expense), ParentID: ptr("")},
			"normal_balance":      {NormalBalance: ptr(account.Debit)},
			"is_postable":         {Postable: ptr(false)},
			"is_clearing_account": {Clearing: ptr(true)},
		} {
			_, err := w.s.Update(w.ctx, gain.ID, p)
			refused(t, what, err, fault.Conflict, what, "system account 4510 Realized gains", "realized_gain")
		}
		_, err := w.s.Archive(w.ctx, gain.ID)
		refused(t, "archiving it", err, fault.Conflict, "system account 4510 Realized gains", "realized_gain")
		refused(t, "deleting it", w.s.Delete(w.ctx, gain.ID), fault.Conflict, "system account", "realized_gain")
		refused(t, "deleting what it is below", w.s.Delete(w.ctx, gain.ParentID), fault.Conflict, "4510 Realized gains is a system account")
		got, err := w.s.Update(w.ctx, gain.ID, account.UpdateParams{Name: ptr("Gains"), Code: ptr("G"), ParentID: &revenue.ID,
			Type: ptr(account.Revenue), AssetType: ptr("BTC")})
		if err != nil || got.Role != "realized_gain" || got.ParentID != revenue.ID ||
			account.Sections(w.chart())[gain.ID] != account.SectionRevenue {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestAListIsFilteredSearchedAndWalkedByNumber(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow(account.Equity, strings.Repeat("Filler\n", 100)+"Büro\nBÜRO 100%\nBuro\nÉtude_") // so that searching takes several steps
		if _, err := w.s.Archive(w.ctx, w.named("Buro").ID); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			f    account.Filter
			want string
		}{
			{account.Filter{Search: "büro"}, "Büro, BÜRO 100%"},
			{account.Filter{Search: "BURO"}, "Buro"},
			{account.Filter{Search: "%"}, "BÜRO 100%"},
			{account.Filter{Search: "_"}, "Étude_"},
			{account.Filter{Search: "631"}, ""},
			{account.Filter{Search: "123"}, "Staked digital assets"},
			{account.Filter{Search: "LOANS"}, "Loans receivable, Loans, Loans payable, Digital asset loans payable"},
			{account.Filter{Search: "loans", Type: account.Asset}, "Loans receivable"},
			{account.Filter{Search: "loans", Postable: ptr(false)}, "Loans"},
			{account.Filter{Archived: ptr(true)}, "Buro"},
			{account.Filter{Archived: ptr(false), Search: "uro"}, ""},
			{account.Filter{ParentID: w.named("Transaction fees").ID}, "Network fees, Bank fees, Trading fees"},
			{account.Filter{Type: account.Equity, Postable: ptr(false)},
				"Contributed capital, Retained earnings, Current earnings, Translation adjustment"},
			{account.Filter{}, names(w.chart())},
		} {
			for _, limit := range []int{1, 2, 100} {
				var got []account.Account
				cursor := ""
				for {
					p, err := w.s.List(w.ctx, c.f, page.Request{Limit: limit, Cursor: cursor})
					if err != nil {
						t.Fatal(err)
					}
					if got = append(got, p.Items...); !p.HasMore {
						break
					}
					cursor = p.NextCursor
				}
				if names(got) != c.want {
					t.Errorf("%+v by %d: %s, want %s", c.f, limit, names(got), c.want)
				}
			}
		}
		_, err := w.s.List(w.ctx, account.Filter{ParentID: "lac_x"}, page.Request{Limit: 1})
		refused(t, "below what is not there", err, fault.NotFound)
	})
}

func TestConcurrentChangesLeaveATreeWithUniqueCodes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const crowd = 12
		w.grow(account.Asset, "A\nB")
		a, b := w.named("A").ID, w.named("B").ID
		var made, moved, conflicts int
		var mu sync.Mutex
		var wg sync.WaitGroup
		count := func(counter *int, err error) {
			mu.Lock()
			defer mu.Unlock()
			var f *fault.Error
			switch {
			case err == nil:
				*counter++
			case errors.As(err, &f) && (f.Kind == fault.Conflict || f.Kind == fault.Invalid):
				conflicts++
			default:
				t.Error(err)
			}
		}
		for i := range crowd {
			wg.Go(func() {
				_, err := w.s.Create(w.ctx, account.CreateParams{Name: fmt.Sprint("N", i), Code: "same", Type: account.Asset})
				count(&made, err)
			})
		}
		wg.Go(func() { _, err := w.s.Update(w.ctx, a, account.UpdateParams{ParentID: &b}); count(&moved, err) })
		wg.Go(func() { _, err := w.s.Update(w.ctx, b, account.UpdateParams{ParentID: &a}); count(&moved, err) })
		wg.Wait()
		if made != 1 || moved != 1 || conflicts != crowd {
			t.Errorf("%d made, %d moved, %d refused", made, moved, conflicts)
		}
	})
}
