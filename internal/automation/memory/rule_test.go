package memory_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// fixture is an organization with the records that rules refer to.
type fixture struct {
	*memory.Service
	ctx      context.Context
	d        *db.DB
	id       string
	accounts map[string]account.Account // an expense account, a group, one that is archived, one for BTC
	tag      tag.Tag
}

func found(t *testing.T, d *db.DB) fixture {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	h := fixture{Service: memory.NewService(d), ctx: actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID,
		UserID: f.Owner.UserID}), d: d, id: f.Organization.ID, accounts: map[string]account.Account{}, tag: tag.Tag{}}
	accounts := account.NewService(d)
	for name, p := range map[string]account.CreateParams{
		"plain": {Name: "Software", Type: account.Expense}, "archived": {Name: "Old", Type: account.Expense}, "group": {Name: "Group",
			Type: account.Expense, Postable: new(false)},
		"btc": {Name: "Bitcoin", Type: account.Asset, AssetType: "BTC"},
	} {
		if h.accounts[name], err = accounts.Create(h.ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = accounts.Archive(h.ctx, h.accounts["archived"].ID); err != nil {
		t.Fatal(err)
	}
	if h.tag, err = tag.NewService(d).Create(h.ctx, tag.Project, "x"); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h fixture) read(t *testing.T, do func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	if err := h.d.Read(h.ctx, h.id, do); err != nil {
		t.Fatal(err)
	}
}

func (h fixture) put(t *testing.T, p memory.PutRuleParams) memory.Rule {
	t.Helper()
	r, err := h.PutRule(h.ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (h fixture) rules(t *testing.T, revision int64) (out []classify.Rule) {
	t.Helper()
	h.read(t, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = memory.ClassificationRules(ctx, tx, revision)
		return err
	})
	return out
}

func (h fixture) revision(t *testing.T) (n int64) {
	t.Helper()
	h.read(t, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = memory.Revision(ctx, tx)
		return err
	})
	return n
}

func TestARevisionHasTheRulesOfItsTime(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := found(t, d)
		params := func(memo string, enabled bool) memory.RuleParams {
			return memory.RuleParams{Type: memory.Classification, MemoContains: &memo, LedgerAccountID: new(h.accounts["plain"].ID),
				Enabled: &enabled, TagID: &h.tag.ID, Priority: new(int64(3))}
		}
		if n := h.revision(t); n != 0 || len(h.rules(t, 0)) != 0 {
			t.Errorf("an empty memory is at revision %d with %v", n, h.rules(t, 0))
		}
		one := h.put(t, memory.PutRuleParams{Rule: params(" AWS ", true)})
		two := h.put(t, memory.PutRuleParams{Rule: params("Hetzner", true)})
		cash := h.put(t, memory.PutRuleParams{Rule: memory.RuleParams{Type: memory.CashApplication, Name: new("n"), Statement: new("s"),
			Matcher: new("m"), Action: new(memory.RequireHumanReview)}})
		h.put(t, memory.PutRuleParams{RuleID: one.ID, ExpectedVersion: new("1"), Rule: params("Amazon", true)})
		h.put(t, memory.PutRuleParams{RuleID: two.ID, ExpectedVersion: new("1"), Rule: params("Hetzner", false)})
		if err := h.DeleteRule(h.ctx, one.ID, "2", "gone"); err != nil {
			t.Fatal(err)
		}
		if n := h.revision(t); n != 6 {
			t.Errorf("six changes came to revision %d", n)
		}
		for revision, want := range []string{"", "aws/1", "aws/1 hetzner/1", "aws/1 hetzner/1", "amazon/2 hetzner/1", "amazon/2", ""} {
			var got []string
			for _, r := range h.rules(t, int64(revision)) {
				got = append(got, r.MemoContains+"/"+string(rune('0'+r.Version)))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("at revision %d: %q, want %q", revision, got, want)
			}
		}
		first := h.rules(t, 1)[0]
		if want := (classify.Rule{ID: one.ID, Version: 1, Priority: 3, MemoContains: "aws", Direction: classify.Any,
			LedgerAccountID: h.accounts["plain"].ID, TagID: h.tag.ID}); !reflect.DeepEqual(first, want) {
			t.Errorf("%+v, want %+v", first, want)
		}
		h.read(t, func(ctx context.Context, tx *db.Tx) error {
			if r, err := memory.FindRule(ctx, tx, cash.ID); err != nil || r.Matcher != "m" || r.Action != memory.RequireHumanReview ||
				r.MatchMode != memory.MatchContains {
				t.Errorf("%+v %v", r, err)
			}
			if _, err := memory.FindRule(ctx, tx, one.ID); fault.KindOf(err) != fault.NotFound {
				t.Errorf("a deleted rule: %v", err)
			}
			return nil
		})
	})
}

func TestEveryFaultOfARuleIsReported(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := found(t, d)
		plain, long := h.accounts["plain"].ID, strings.Repeat("é", 201)
		cash := memory.RuleParams{Type: memory.CashApplication, Name: new("n"), Statement: new("s"), Matcher: new("m")}
		for name, c := range map[string]struct {
			change func(p *memory.RuleParams)
			cash   bool
			kind   fault.Kind
			fields string
		}{
			"nothing to match": {func(p *memory.RuleParams) {
				p.MemoContains = nil
			}, false, fault.Invalid, "memo_contains provider_category merchant address asset_type"},
			"blanks": {func(p *memory.RuleParams) {
				p.MemoContains, p.PayeeName = new("  "), new("")
			}, false, fault.Invalid, "memo_contains payee_name"},
			"too long": {func(p *memory.RuleParams) {
				p.MemoContains, p.Merchant = &long, &long
			}, false, fault.Invalid, "memo_contains merchant"},
			"no account": {func(p *memory.RuleParams) { p.LedgerAccountID = nil }, false, fault.Invalid, "ledger_account_id"},
			"unknown references": {func(p *memory.RuleParams) {
				p.LedgerAccountID, p.TagID = new("lac_x"), new("tag_x")
			}, false, fault.NotFound, "ledger_account_id tag_id"},
			"a group": {func(p *memory.RuleParams) {
				p.LedgerAccountID = new(h.accounts["group"].ID)
			}, false, fault.Invalid, "ledger_account_id"},
			"an archived account": {func(p *memory.RuleParams) {
				p.LedgerAccountID = new(h.accounts["archived"].ID)
			}, false, fault.Conflict, "ledger_account_id"},
			"another asset": {func(p *memory.RuleParams) {
				p.LedgerAccountID, p.AssetType = new(h.accounts["btc"].ID), new("ETH")
			}, false, fault.Invalid, "ledger_account_id"},
			"no asset":  {func(p *memory.RuleParams) { p.LedgerAccountID = new(h.accounts["btc"].ID) }, false, fault.Invalid, "ledger_account_id"},
			"the asset": {func(p *memory.RuleParams) { p.LedgerAccountID, p.AssetType = new(h.accounts["btc"].ID), new(" BTC ") }, false, 0, ""},
			"values": {func(p *memory.RuleParams) {
				p.Direction, p.TransactionType, p.Priority = new("any"), new("SPAM"), new(int64(1001))
			}, false, fault.Invalid, "direction transaction_type priority"},
			"unknown type":         {func(p *memory.RuleParams) { p.TransactionType = new("UNKNOWN") }, false, fault.Invalid, "transaction_type"},
			"what belongs to cash": {func(p *memory.RuleParams) { p.Name, p.Matcher = new("n"), new("m") }, false, fault.Invalid, "matcher name"},
			"no type":              {func(p *memory.RuleParams) { p.Type = "" }, false, fault.Invalid, "rule_type"},
			"nothing to route to":  {func(*memory.RuleParams) {}, true, fault.Invalid, "ledger_account_id ledger_account_name"},
			"half an account": {func(p *memory.RuleParams) {
				p.Action, p.LedgerAccountName = new(memory.RequireHumanReview), new("Software")
			}, true, fault.Invalid, "ledger_account_id"},
			"another name": {func(p *memory.RuleParams) {
				p.LedgerAccountID, p.LedgerAccountName = &plain, new("Hardware")
			}, true, fault.Invalid, "ledger_account_name"},
			"its name": {func(p *memory.RuleParams) { p.LedgerAccountID, p.LedgerAccountName = &plain, new("Software") }, true, 0, ""},
			"review":   {func(p *memory.RuleParams) { p.Action = new(memory.RequireHumanReview) }, true, 0, ""},
			"what cash needs": {func(p *memory.RuleParams) {
				*p = memory.RuleParams{Type: memory.CashApplication, MatchMode: new("fuzzy"), Action: new("x")}
			}, true, fault.Invalid, "name statement matcher action match_mode"},
			"what belongs to others": {func(p *memory.RuleParams) {
				p.MemoContains, p.Enabled, p.Action = new("x"), new(true), new(memory.RequireHumanReview)
			}, true, fault.Invalid, "enabled memo_contains"},
		} {
			p := memory.RuleParams{Type: memory.Classification, MemoContains: new("aws"), LedgerAccountID: &plain}
			if c.cash {
				p = cash
			}
			c.change(&p)
			_, err := h.PutRule(h.ctx, memory.PutRuleParams{Rule: p})
			if got := blamed(err); c.fields == "" && err != nil || c.fields != "" && (fault.KindOf(err) != c.kind || got != c.fields) {
				t.Errorf("%s: %v, blames %q", name, err, got)
			}
			var checked error
			h.read(t, func(ctx context.Context, tx *db.Tx) error {
				_, checked = memory.ValidateRule(ctx, tx, p)
				return nil
			})
			if !c.cash && blamed(checked) != c.fields && name != "no type" {
				t.Errorf("%s: checking it says %v", name, checked)
			}
		}
	})
}

// blamed returns the fields of an error, in its order.
func blamed(err error) string {
	var names []string
	if e, ok := err.(*fault.Error); ok {
		for _, f := range e.Fields {
			names = append(names, f.Name)
		}
	}
	return strings.Join(slices.Compact(names), " ")
}
