package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/spam"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// active is a company with the sources of the demo's activity.
type active struct {
	*app.App
	activity.Activity
	ctx     context.Context
	org     string
	sources []source.Source
}

func newActive(t *testing.T, d *db.DB) *active {
	t.Helper()
	a := app.New(d, nil)
	f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	out := &active{App: a, Activity: activity.Make(calendar.Month{Year: 2024, Month: time.November}), ctx: actor.With(t.Context(),
		actor.Actor{OrganizationID: f.Organization.ID}), org: f.Organization.ID}
	other, err := a.Entities.Create(out.ctx, entity.CreateParams{Name: "GmbH", BaseCurrency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	entities := map[int]string{activity.US: f.LegalEntity.ID, activity.DE: other.ID}
	for _, s := range out.Activity.Sources {
		made, err := a.Sources.Create(out.ctx, source.CreateParams{Type: source.Type(s.Type), Name: s.Name,
			LegalEntityID: entities[s.Entity], Chain: s.Chain, Address: s.Address, Currency: s.Currency})
		if err != nil {
			t.Fatal(err)
		}
		out.sources = append(out.sources, made.Source)
	}
	return out
}

// spamOf classifies the activity in chronological order, in batches.
func (a *active) spamOf(t *testing.T, size int) (verdicts []rules.Assessment) {
	t.Helper()
	var own []string
	for _, s := range a.Activity.Sources {
		own = append(own, s.Address)
	}
	for some := range slices.Chunk(a.arrivals(), size) {
		err := a.DB.Write(a.ctx, a.org, func(ctx context.Context, tx *db.Tx) error {
			v, err := spam.Judge(ctx, tx, own, nil, some)
			verdicts = append(verdicts, v...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return verdicts
}

func (a *active) arrivals() (all []rules.Arrival) {
	paid := map[string]bool{}
	for _, x := range a.Activity.Transactions {
		if x.Category == "network_fee" {
			paid[x.Crypto.Hash] = true
		}
	}
	for n, x := range a.Activity.Transactions {
		v := rules.Arrival{Class: a.Activity.Sources[x.Source].Class(), SourceID: a.sources[x.Source].ID, At: x.At,
			Inflow: x.Direction == activity.Credit, Symbol: x.Currency, Quantity: x.Quantity, Description: x.Description}
		if c := x.Crypto; c != nil {
			v.Chain, v.Hash, v.Contract, v.TokenName, v.TokenID, v.From, v.To = c.Chain, c.Hash, c.Contract, c.TokenName, c.TokenID, c.From, c.To
			v.PaidFee = paid[c.Hash] || !v.Inflow && c.FeeQuantity.Sign() > 0
		}
		if x.Value != nil {
			v.Value, v.Currency = &a.Activity.Transactions[n].Value.Gross, x.Value.Currency
		}
		all = append(all, v)
	}
	return all
}

func TestTheSpamOfTheDemoIsFoundAsItArrives(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, size := range []int{2000, 37} {
			a := newActive(t, d)
			junk := 0
			for n, v := range a.spamOf(t, size) {
				x := a.Activity.Transactions[n]
				if v.Spam != x.Truth.Spam {
					t.Errorf("by %d: %s %s of %s is taken for spam: %t, by %+v", size, x.Quantity, x.Currency, x.Description, v.Spam, v.Reasons)
				}
				if v.Spam {
					junk++
				}
			}
			if junk == 0 {
				t.Error("there is no spam")
			}
		}
	})
}

// types are the transaction types that a source reports for some categories.
var types = map[string]transaction.Type{"network_fee": transaction.Fee, "refund": transaction.Refund, "chargeback": transaction.Chargeback}

// add adds the activity except for spam, and returns the activity by the id of its transaction.
func (a *active) add(t *testing.T, which func(n int) bool) map[string]activity.Transaction {
	t.Helper()
	var all []transaction.New
	var told []activity.Transaction
	for n, x := range a.Activity.Transactions {
		if x.Truth.Spam || !which(n) {
			continue
		}
		p := transaction.Params{ExternalID: x.ExternalID, At: x.At, Description: x.Description,
			Direction: transaction.Direction(x.Direction), Quantity: &a.Activity.Transactions[n].Quantity, Currency: x.Currency,
			Category: x.Category, Type: types[x.Category], EventKey: x.TradeID}
		if c := x.Crypto; c != nil {
			p.Crypto = &transaction.Crypto{Chain: c.Chain, TransactionHash: c.Hash, From: c.From, To: c.To, AssetType: c.Asset,
				ContractAddress: c.Contract}
		}
		if c := x.Card; c != nil {
			p.Card = &transaction.Card{MerchantName: c.Merchant}
		}
		all, told = append(all, transaction.New{Source: a.sources[x.Source], Params: p}), append(told, x)
	}
	out := map[string]activity.Transaction{}
	for len(all) > 0 {
		some := min(len(all), 2000)
		err := a.DB.Write(a.ctx, a.org, func(ctx context.Context, tx *db.Tx) error {
			made, err := transaction.Add(ctx, tx, all[:some])
			for i, m := range made {
				out[m.ID] = told[i]
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		all, told = all[some:], told[some:]
	}
	return out
}

// groups returns the ids of linked transactions by group.
func (a *active) groups(t *testing.T, of map[string]activity.Transaction) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := a.DB.Read(a.ctx, a.org, func(ctx context.Context, tx *db.Tx) error {
		var ids []string
		for id := range of {
			ids = append(ids, id)
		}
		all, err := transaction.FindSomeUnchecked(ctx, tx, ids)
		for _, x := range all {
			if x.GroupID != "" {
				out[x.GroupID] = append(out[x.GroupID], x.ID)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (a *active) verify(t *testing.T) {
	t.Helper()
	findings, err := a.Verify(a.ctx, nil)
	if err != nil || len(findings) > 0 {
		t.Errorf("%v %v", findings, err)
	}
}

func TestSoakTheTransfersOfTheDemoAreLinkedOrListed(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		d := dbtest.Open(t, c)
		a := newActive(t, d)
		truth := a.add(t, func(int) bool { return true })
		first, last := a.Activity.Transactions[0].At, a.Activity.Transactions[len(a.Activity.Transactions)-1].At.Add(time.Second)
		dry, err := a.Transfers.Match(a.ctx, first, last, true)
		if err != nil || len(a.groups(t, truth)) != 0 {
			t.Fatalf("a dry run: %v, %d groups", err, len(a.groups(t, truth)))
		}
		m, err := a.Transfers.Match(a.ctx, first, last, false)
		if err != nil || m.Linked != dry.Linked || m.Ambiguous != dry.Ambiguous || m.Linked == 0 {
			t.Fatalf("%d linked and %d unclear after %d and %d in a dry run: %v", m.Linked, m.Ambiguous, dry.Linked, dry.Ambiguous, err)
		}
		linked := map[string]bool{}
		groups := a.groups(t, truth)
		for _, ids := range groups {
			if len(ids) != 2 || truth[ids[0]].Truth.TransferGroup == "" || truth[ids[0]].Truth.TransferGroup != truth[ids[1]].Truth.TransferGroup {
				t.Errorf("%v are linked: %+v", ids, truth[ids[0]])
			}
			linked[truth[ids[0]].Truth.TransferGroup] = true
		}
		unclear := map[string]bool{}
		for cursor := ""; ; {
			p, err := a.Transfers.Ambiguous(a.ctx, page.Request{Limit: 100, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range p.Items {
				unclear[truth[x.TransactionID].Truth.TransferGroup] = true
			}
			if cursor = p.NextCursor; !p.HasMore {
				break
			}
		}
		lost := 0
		for _, x := range truth {
			// which went from dollars to euros
			if g := x.Truth.TransferGroup; g != "" && !strings.HasPrefix(g, "capital") && !linked[g] && !unclear[g] {
				lost++
			}
		}
		t.Logf("%d pairs, %d transactions unclear, %d neither", m.Linked, m.Ambiguous, lost)
		if lost > 0 || len(groups) != m.Linked {
			t.Errorf("%d transactions of pairs are neither linked nor listed; %d groups of %d", lost, len(groups), m.Linked)
		}
		again, err := a.Transfers.Match(a.ctx, first, last, false)
		if err != nil || again.Linked != 0 || again.Ambiguous != m.Ambiguous || len(a.groups(t, truth)) != len(groups) {
			t.Errorf("a second time %+v %v", again, err)
		}
		a.verify(t)
	})
}

func TestSoakLaterTransactionsAreMatchedWithEarlierOnes(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		d := dbtest.Open(t, c)
		whole := newActive(t, d)
		truth := whole.add(t, func(int) bool { return true })
		first, last := whole.Activity.Transactions[0].At, whole.Activity.Transactions[len(whole.Activity.Transactions)-1].At
		if _, err := whole.Transfers.MatchArrived(whole.ctx, whole.org, first, last); err != nil {
			t.Fatal(err)
		}
		// The same activity, source by source, each matched after it is added.
		parts := newActive(t, d)
		told := map[string]activity.Transaction{}
		for s := range parts.sources {
			of := parts.add(t, func(n int) bool { return parts.Activity.Transactions[n].Source == s })
			from, to := last, first
			for id, x := range of {
				told[id] = x
				if x.At.Before(from) {
					from = x.At
				}
				if x.At.After(to) {
					to = x.At
				}
			}
			if _, err := parts.Transfers.MatchArrived(parts.ctx, parts.org, from, to); err != nil {
				t.Fatal(err)
			}
		}
		name := func(x activity.Transaction) string { return fmt.Sprint(x.Source, x.ExternalID) }
		pairs := func(a *active, of map[string]activity.Transaction) map[string]string {
			out := map[string]string{}
			for _, ids := range a.groups(t, of) {
				out[name(of[ids[0]])], out[name(of[ids[1]])] = name(of[ids[1]]), name(of[ids[0]])
			}
			return out
		}
		want, got := pairs(whole, truth), pairs(parts, told)
		for x, partner := range want {
			if got[x] == "" {
				t.Errorf("%s is not linked to %s", x, partner)
			}
		}
		t.Logf("%d linked at once, %d in parts", len(want), len(got))
		parts.verify(t)
	})
}

func TestARunningServiceMatchesNewTransactions(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		a := newActive(t, dbtest.Open(t, c))
		truth := a.add(t, func(n int) bool { return n < 300 })
		now.Advance(time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() {
			if err := a.Work(ctx); err != nil {
				t.Error(err)
			}
		})
		defer work.Wait()
		defer stop()
		for deadline := time.Now().Add(60 * time.Second); len(a.groups(t, truth)) == 0; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing was linked")
			}
		}
	})
}
