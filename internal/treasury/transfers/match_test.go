package transfers_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

func TestMatchingLinksClearPairsAndListsAmbiguousOnes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		clear := w.add(noon, "kraken -5 ETH", "main 4.99 ETH ethereum")
		unclear := w.add(noon.AddDate(0, 0, 9), "kraken -8 ETH", "main 8 ETH ethereum", "base 8 ETH base")
		m := w.match()
		if m.Linked != 1 || m.Ambiguous != 3 || m.Pairs[0].Out != clear[0] || m.Pairs[0].In != clear[1] {
			t.Fatalf("%+v", m)
		}
		if x := w.get(clear[0]); x.GroupID == "" || x.Type != transaction.Internal || w.get(clear[1]).GroupID != x.GroupID {
			t.Errorf("%+v", x)
		}
		list := func(a actor.Actor) (all []transfers.Ambiguity) {
			a.OrganizationID = w.org
			for cursor := ""; ; {
				p, err := w.Ambiguous(actor.With(w.ctx, a), page.Request{Limit: 1, Cursor: cursor})
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, p.Items...)
				if cursor = p.NextCursor; !p.HasMore {
					return all
				}
			}
		}
		all := list(actor.Actor{})
		if len(all) != 3 || all[0].TransactionID != unclear[0] || !slices.Equal(all[0].Candidates, unclear[1:]) || all[0].Why == "" ||
			all[1].Number != all[0].Number+1 {
			t.Errorf("%+v", all)
		}
		if none := list(actor.Actor{LegalEntityIDs: []string{w.abroad}}); len(none) != 0 {
			t.Errorf("another legal entity's key sees %+v", none)
		}
		// Once a person has decided, the rest is clear: it has no partner.
		if _, err := w.Link(w.ctx, transfers.LinkParams{TransactionIDs: unclear[:2]}); err != nil {
			t.Fatal(err)
		}
		if all := list(actor.Actor{}); len(all) != 1 {
			t.Errorf("%+v", all)
		}
		w.check()
		if m := w.match(); m.Linked != 0 || m.Ambiguous != 0 || len(list(actor.Actor{})) != 0 {
			t.Errorf("%+v", m)
		}
	})
}

func TestOnlyTransactionsThatMayHaveAnotherSideAreMatched(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		as := func(kind transaction.Type) func(*transaction.Params) {
			return func(p *transaction.Params) { p.Type = kind }
		}
		merchant := func(p *transaction.Params) { p.Card = &transaction.Card{MerchantName: "Hotel"} }
		for n, c := range []struct {
			change  func(*transaction.Params) // of the one that arrives
			out, in string
			linked  int
		}{
			{as(""), "kraken -5 ETH", "main 5 ETH", 1},
			{as(transaction.Deposit), "kraken -5 ETH", "main 5 ETH", 1},
			{as(transaction.Internal), "kraken -5 ETH", "main 5 ETH", 1},
			{as(transaction.Fee), "kraken -5 ETH", "main 5 ETH", 0},
			{as("STAKING_REWARD"), "kraken -5 ETH", "main 5 ETH", 0},
			{as(transaction.TypeSpam), "kraken -5 ETH", "main 5 ETH", 0},
			{as(""), "kraken -50 USD", "stripe 50 USD", 0}, // a customer paid
			{as(transaction.Deposit), "kraken -50 USD", "stripe 50 USD", 1},
			{as(""), "stripe -50 USD", "kraken 50 USD", 1}, // a payout
			{as(""), "kraken -50 USD", "card 50 USD", 1},   // the card's bill
			{merchant, "kraken -50 USD", "card 50 USD", 0}, // a refund
			{as(""), "kraken -5 ETH", "main 4.8 ETH", 0},   // too much is missing
			{as(""), "kraken -5 ETH", "berlin 5 ETH", 1},
		} {
			at := noon.AddDate(0, 0, 30*n)
			out := w.add(at, c.out)[0]
			in := w.addWith(at.Add(time.Minute), c.change, c.in)[0]
			m, err := w.Match(w.ctx, at, at.Add(time.Hour), false)
			if err != nil || m.Linked != c.linked || m.Ambiguous != 0 || (w.get(out).GroupID != "") != (c.linked == 1) {
				t.Errorf("%s and %s: %+v %v", c.out, c.in, m, err)
			}
			if c.linked == 0 {
				continue
			}
			if kind := w.get(in).Type; kind != transaction.Internal && kind != transaction.Intercompany {
				t.Errorf("%s became %s", c.in, kind)
			}
		}
	})
}

func TestTheIDOfATradeIsUniqueOnItsPlatformOnly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		numbered := func(p *transaction.Params) { p.EventKey = "17" }
		swap := w.addWith(noon, numbered, "kraken -5 ETH", "kraken 9000 USD")
		if m := w.match(); m.Linked != 1 || m.Pairs[0].Out != swap[0] || w.get(swap[1]).Type != transaction.Swap {
			t.Errorf("%+v", m)
		}
		for n, c := range []struct {
			from, to string
			linked   int
		}{{"kraken", "kraken2", 1}, {"kraken", "bitstamp", 0}, {"file1", "file2", 0}} {
			at := noon.AddDate(0, 0, 3*n+3)
			w.addWith(at, numbered, c.from+" -100 ETH", c.to+" 70 ETH") // too much is missing for anything but an id
			if m := w.match(); m.Linked != c.linked {
				t.Errorf("from %s to %s: %+v", c.from, c.to, m)
			}
		}
	})
}

func TestAPartnerAcrossTheEdgeOfADayOrOfASliceIsFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		// Pairs every seven hours over two months, each with its own amount, added in random order.
		const n = 200
		var out, in []string
		for k := range n {
			at := noon.Add(time.Duration(k*7) * time.Hour)
			amount := fmt.Sprint(1000 + k%2*500 + k%20*25) // no other of two days is as much
			in = append(in, w.add(at.Add(20*time.Hour), "main "+amount+" USDC ethereum")...)
			out = append(out, w.add(at, "kraken -"+amount+" USDC")...)
		}
		m, err := w.Match(w.ctx, noon, noon.Add(n*7*time.Hour), false)
		if err != nil || m.Linked != n || m.Ambiguous != 0 || len(m.Pairs) != transfers.PairsMax {
			t.Fatalf("%d linked, %d unclear, %v", m.Linked, m.Ambiguous, err)
		}
		for k := range n {
			if w.get(out[k]).GroupID != w.get(in[k]).GroupID {
				t.Errorf("pair %d is not one group", k)
			}
		}
	})
}

func TestAKeyLinksOnlyWhatItSees(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.add(noon, "kraken -5 ETH", "berlin 5 ETH")
		ctx := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{w.entity}})
		if m, err := w.Match(ctx, noon, noon.Add(time.Hour), false); err != nil || m.Linked != 0 {
			t.Errorf("%+v %v", m, err)
		}
		if m := w.match(); m.Linked != 1 || m.Pairs[0].Kind != "intercompany" {
			t.Errorf("%+v", m)
		}
	})
}

func TestNewTransactionsAreMatchedOnceAllHaveArrived(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sweep := func() {
			t.Helper()
			if err := w.MatchNew(w.ctx); err != nil {
				t.Fatal(err)
			}
		}
		out := w.add(noon, "kraken -5 ETH")[0]
		w.clock.Advance(time.Second)
		sweep()
		in := w.add(noon.Add(23*time.Hour), "main 5 ETH")[0]
		sweep() // more may be on its way
		if w.get(out).GroupID != "" {
			t.Error("matched before it was quiet")
		}
		w.clock.Advance(6 * time.Second)
		sweep()
		if w.get(out).GroupID == "" || w.get(out).GroupID != w.get(in).GroupID {
			t.Error("not matched")
		}
		// A steady stream of new transactions does not delay matching forever.
		late := w.add(noon.AddDate(0, 0, 9), "kraken -5 ETH", "main 5 ETH")
		w.clock.Advance(6 * time.Minute)
		w.add(noon.AddDate(0, 0, 20), "kraken -9 ETH")
		sweep()
		if w.get(late[0]).GroupID == "" {
			t.Error("still waiting")
		}
		// A partner that arrives later is linked then, whichever side it is.
		left := w.add(noon.AddDate(0, 0, 60), "base -3 ETH base")[0]
		w.clock.Advance(time.Minute)
		sweep()
		w.add(noon.AddDate(0, 0, 60).Add(23*time.Hour), "kraken 3 ETH")
		w.clock.Advance(time.Minute)
		sweep()
		if w.get(left).GroupID == "" {
			t.Error("the arrival that came later was not linked")
		}
		first := w.add(noon.AddDate(0, 0, 40), "base 7 ETH base")[0]
		w.clock.Advance(time.Minute)
		sweep()
		w.add(noon.AddDate(0, 0, 39).Add(time.Hour), "kraken -7 ETH")
		w.clock.Advance(time.Minute)
		sweep()
		if w.get(first).GroupID == "" {
			t.Error("the partner that came later was not linked")
		}
	})
}

func TestConcurrentRequestsLinkEachTransactionOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var pairs [][]string
		for n := range 30 {
			pairs = append(pairs, w.add(noon.AddDate(0, 0, n%20), fmt.Sprintf("kraken -%d ETH", 100+n*40), fmt.Sprintf("main %d ETH", 100+n*40)))
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := w.Match(w.ctx, noon, noon.AddDate(0, 0, 21), false); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			for _, p := range pairs {
				if _, err := w.Link(w.ctx, transfers.LinkParams{TransactionIDs: p}); err != nil && fault.KindOf(err) != fault.Conflict {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		for _, p := range pairs {
			if g := w.get(p[0]).GroupID; g == "" || g != w.get(p[1]).GroupID {
				t.Errorf("%v are in %s", p, g)
			}
		}
	})
}

// listed returns the ambiguities that a key for some legal entities sees, one on a page.
func (w *world) listed(entities ...string) (all []transfers.Ambiguity) {
	w.Helper()
	ctx := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: entities})
	for cursor := ""; ; {
		p, err := w.Ambiguous(ctx, page.Request{Limit: 1, Cursor: cursor})
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, p.Items...)
		if cursor = p.NextCursor; !p.HasMore {
			return all
		}
	}
}

func TestMatchingByAKeyDependsOnlyOnWhatItSees(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		limited := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{w.entity}})
		match := func() transfers.Matched {
			m, err := w.Match(limited, noon, noon.AddDate(0, 0, 30), false)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		// The outflow may have gone to one of two wallets or to the other legal entity, in whose view nothing is ambiguous.
		own := w.add(noon, "kraken -8 ETH", "main 8 ETH ethereum", "base 8 ETH base", "berlin 8 ETH")
		// Neither of these is ambiguous within one legal entity.
		w.add(noon.AddDate(0, 0, 9), "kraken -3 ETH", "main 3 ETH ethereum", "berlin -3 ETH")
		w.add(noon.AddDate(0, 0, 18), "berlin 4 ETH", "kraken -4 ETH", "berlin 4 ETH")
		w.match()
		stored := w.listed()
		if len(stored) != 10 || stored[0].Why != "3 transactions match by amount" {
			t.Fatalf("%+v", stored)
		}
		seen := w.listed(w.entity)
		if len(seen) != 3 || seen[0].TransactionID != own[0] || seen[0].Why != "2 transactions match by amount" ||
			!slices.Equal(seen[0].Candidates, own[1:3]) {
			t.Errorf("%+v", seen)
		}
		if abroad := w.listed(w.abroad); len(abroad) != 0 {
			t.Errorf("%+v", abroad)
		}
		// The clear pair within the legal entity is linked, although another legal entity has a transaction that matches as well.
		if m := match(); m.Linked != 1 || m.Ambiguous != 3 {
			t.Errorf("%+v", m)
		}
		if now := w.listed(); len(now) != 8 || now[0].Why != stored[0].Why || !slices.Equal(now[0].Candidates, stored[0].Candidates) {
			t.Errorf("what concerns another legal entity has changed: %+v", now)
		}
		w.check()
	})
}
