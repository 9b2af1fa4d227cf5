package transfers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

func TestTwoTransactionsAreLinkedAsTheirKind(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			out, in   string
			wanted    transfer.Kind
			kind      transfer.Kind
			shortfall string
			kinds     [2]transaction.Type
		}{
			{"kraken -5 ETH", "main 4.9 ETH ethereum", "", transfer.Internal, "0.1", [2]transaction.Type{transaction.Internal,
				transaction.Internal}},
			{"main -5 eth ethereum", "base 5 ETH base", "", transfer.Bridge, "0", [2]transaction.Type{transaction.Bridge, transaction.Bridge}},
			{"main -5 ETH ethereum", "base 4 WETH base", transfer.Bridge, transfer.Bridge, "", [2]transaction.Type{transaction.Bridge,
				transaction.Bridge}},
			{"kraken -5 ETH", "berlin 1 ETH", "", transfer.Intercompany, "4", [2]transaction.Type{transaction.Intercompany,
				transaction.Intercompany}},
			{"kraken -5 ETH", "kraken 9000 USD", "", transfer.Swap, "", [2]transaction.Type{transaction.Swap, transaction.Swap}},
			{"kraken -5 ETH", "main 9000 USDC ethereum", transfer.Swap, transfer.Swap, "", [2]transaction.Type{transaction.Swap, transaction.Swap}},
		} {
			ids := w.add(noon, c.in, c.out) // the order does not matter
			g, err := w.Link(w.ctx, transfers.LinkParams{TransactionIDs: ids, Kind: c.wanted})
			short := ""
			if g.Shortfall != nil {
				short = g.Shortfall.String()
			}
			if err != nil || g.Kind != c.kind || g.By != transfers.Manual || short != c.shortfall || g.Out.ID != ids[1] ||
				g.In.ID != ids[0] || g.Out.Type != c.kinds[0] || g.In.Type != c.kinds[1] {
				t.Errorf("%v: %+v %v", c, g, err)
			}
			if out := w.get(ids[1]); out.GroupID != g.ID || g.ID == "" || out.Type != c.kinds[0] {
				t.Errorf("%v: %+v", c, out)
			}
			parted, err := w.Unlink(w.ctx, ids[:1])
			if err != nil || len(parted) != 2 || parted[0].GroupID != "" || parted[1].Type != transaction.Unknown ||
				w.get(ids[1]).Type != transaction.Unknown {
				t.Errorf("%v parted: %+v %v", c, parted, err)
			}
		}
	})
}

func TestTransactionsThatCannotBeOneEventAreNotLinked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		junk := w.addWith(noon, func(p *transaction.Params) { p.Type = transaction.TypeSpam }, "main 5 ETH ethereum")[0]
		posted := w.add(noon, "main 5 ETH ethereum")[0]
		w.post(posted)
		out := w.add(noon, "kraken -5 ETH")[0]
		taken := w.add(noon, "kraken -7 ETH", "main 7 ETH")
		if _, err := w.Link(w.ctx, transfers.LinkParams{TransactionIDs: taken}); err != nil {
			t.Fatal(err)
		}
		limited := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{w.entity}})
		for _, c := range []struct {
			ctx  context.Context
			ids  []string
			kind transfer.Kind
			want fault.Kind
			says string
		}{
			{w.ctx, []string{out, "txn_nobody"}, "", fault.NotFound, "transaction_ids[1] not found"},
			{limited, []string{out, w.add(noon, "berlin 5 ETH")[0]}, "", fault.NotFound, "transaction_ids[1] not found"},
			{w.ctx, []string{out, out}, "", fault.Invalid, "two different"},
			{w.ctx, []string{out, junk}, "", fault.Conflict, "is spam"},
			{w.ctx, []string{out, posted}, "", fault.Conflict, "is posted"},
			{w.ctx, taken, "", fault.Conflict, "is linked already"},
			{w.ctx, []string{out, w.add(noon, "main -5 ETH")[0]}, "", fault.Conflict, "both transactions are a debit"},
			{w.ctx, []string{out, w.add(noon, "main 6 ETH")[0]}, "", fault.Conflict, "more arrived (6) than left (5)"},
			{w.ctx, []string{out, w.add(noon, "main 5 USDC")[0]}, "", fault.Conflict, "swap or a bridge"},
			{w.ctx, []string{out, w.add(noon, "main 5 ETH")[0]}, transfer.Swap, fault.Conflict, "exchanges one asset for another"},
			{w.ctx, []string{out, w.add(noon, "main 5 ETH")[0]}, transfer.Intercompany, fault.Conflict, "two legal entities"},
			{w.ctx, []string{out, w.add(noon, "berlin 5 ETH")[0]}, transfer.Internal, fault.Conflict, "two legal entities"},
			{w.ctx, []string{out, w.add(noon, "kraken 5 USDC")[0]}, transfer.Internal, fault.Conflict, "one source"},
			{w.ctx, []string{out, w.add(noon, "kraken 5 ETH")[0]}, transfer.Bridge, fault.Conflict, "one source"},
			{w.ctx, []string{out, w.add(noon, "kraken 6 ETH")[0]}, "", fault.Conflict, "more arrived (6) than left (5)"},
			{w.ctx, []string{out, w.add(noon, "main 5 ETH")[0]}, "gift", fault.Invalid, "kind"},
		} {
			if _, err := w.Link(c.ctx, transfers.LinkParams{TransactionIDs: c.ids, Kind: c.kind}); fault.KindOf(err) != c.want ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("%v %s: %v", c.ids, c.kind, err)
			}
		}
		if x := w.get(out); x.GroupID != "" || x.Type != transaction.Unknown {
			t.Errorf("%+v", x)
		}
	})
}

func TestALinkIsDissolvedUnlessASideIsPostedOrInvisible(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		link := func(texts ...string) []string {
			ids := w.addWith(noon, func(p *transaction.Params) {
				if p.Direction == transaction.Credit {
					p.Type = transaction.Deposit
				}
			}, texts...)
			if _, err := w.Link(w.ctx, transfers.LinkParams{TransactionIDs: ids}); err != nil {
				t.Fatal(err)
			}
			return ids
		}
		posted, across, renamed := link("kraken -5 ETH", "main 5 ETH"), link("kraken -5 ETH", "berlin 5 ETH"), link("kraken -5 ETH", "main 5 ETH")
		w.post(posted[0])
		limited := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{w.entity}})
		for _, c := range []struct {
			ctx  context.Context
			ids  []string
			want fault.Kind
		}{
			{w.ctx, posted[1:], fault.Conflict}, {limited, across[:1], fault.Forbidden}, {w.ctx, w.add(noon, "main 5 ETH"),
				fault.Conflict}, {w.ctx, []string{"txn_nobody"}, fault.NotFound},
		} {
			if _, err := w.Unlink(c.ctx, c.ids); fault.KindOf(err) != c.want {
				t.Errorf("%v: %v", c.ids, err)
			}
		}
		// A type that was set after linking stays; the other transaction gets its previous type back.
		kind := transaction.Type("REPAYMENT")
		if _, err := transaction.NewService(w.db).Update(w.ctx, renamed[0], transaction.UpdateParams{Type: &kind}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Unlink(w.ctx, renamed); err != nil || w.get(renamed[0]).Type != kind || w.get(renamed[1]).Type != transaction.Deposit {
			t.Errorf("%v %+v %+v", err, w.get(renamed[0]), w.get(renamed[1]))
		}
	})
}

func TestUnlinkedTransactionsAreLinkedAgainOnlyOnRequest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(noon, "kraken -5 ETH", "main 5 ETH ethereum")
		if m := w.match(); m.Linked != 1 {
			t.Fatalf("%+v", m)
		}
		if _, err := w.Unlink(w.ctx, ids[:1]); err != nil {
			t.Fatal(err)
		}
		if m := w.match(); m.Linked != 0 || m.Ambiguous != 0 {
			t.Errorf("what somebody unlinked was linked again: %+v", m)
		}
		right := w.add(noon.Add(time.Hour), "base 4.95 ETH base")[0]
		if m := w.match(); m.Linked != 1 || m.Pairs[0].In != right {
			t.Errorf("the right one is not found: %+v", m)
		}
		if _, err := w.Unlink(w.ctx, []string{right}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Link(w.ctx, transfers.LinkParams{TransactionIDs: ids}); err != nil {
			t.Error(err)
		}
	})
}

func TestTheAuditLogStatesAPairThatIsRefusedTwice(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(noon, "kraken -5 ETH", "main 5 ETH ethereum")
		for range 2 {
			w.clock.Advance(time.Hour)
			if _, err := w.Link(w.ctx, transfers.LinkParams{TransactionIDs: ids}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Unlink(w.ctx, ids); err != nil {
				t.Fatal(err)
			}
			w.read(func(ctx context.Context, tx *db.Tx) error {
				found, err := audit.VerifySince(ctx, tx, 0, func(done, total int64) {})
				if len(found) > 0 {
					t.Errorf("verify finds %q", found)
				}
				return err
			})
		}
		w.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE transfer_refusals SET created_at = ? WHERE organization_id = @org", w.clock.Now().Add(time.Hour))
			tx.Recorded()
			return err
		})
		w.read(func(ctx context.Context, tx *db.Tx) error {
			found, err := audit.VerifySince(ctx, tx, 0, func(done, total int64) {})
			if len(found) != 1 || !strings.Contains(found[0], "transfer refusal "+ids[0]+"/"+ids[1]+": created_at") {
				t.Errorf("verify finds %q", found)
			}
			return err
		})
	})
}

func TestVerifyFindsEveryKindOfDamageInLinks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(noon, "kraken -5 ETH", "main 5 ETH ethereum")
		w.add(noon.AddDate(0, 0, 9), "kraken -8 ETH", "main 8 ETH ethereum", "base 8 ETH base")
		if m := w.match(); m.Linked != 1 || m.Ambiguous != 3 {
			t.Fatalf("%+v", m)
		}
		for statement, says := range map[string]string{
			"UPDATE transaction_links SET side = 'in' WHERE organization_id = @org":                   "it has 0 outflows, 2 inflows",
			"UPDATE transaction_links SET kind = 'swap' WHERE organization_id = @org AND side = 'in'": "and 2 kinds instead of one each",
			"UPDATE transactions SET group_id = NULL WHERE organization_id = @org AND transaction_id = '" + ids[0] +
				"'": "not in its group",
			"DELETE FROM transaction_links WHERE organization_id = @org AND transaction_id = '" + ids[0] +
				"'": "without a link",
			"UPDATE transactions SET visibility = 1 WHERE organization_id = @org AND transaction_id = '" + ids[0] +
				"'": "spam or deleted",
			"UPDATE transactions SET direction = 'credit' WHERE organization_id = @org AND transaction_id = '" + ids[0] +
				"'": "it is a credit, but is linked as the out side",
			"UPDATE transfer_ambiguities SET transaction_id = '" + ids[0] +
				"' WHERE organization_id = @org AND number = (SELECT min(number) FROM transfer_ambiguities a WHERE a.organization_id = " +
				"@org)": "the transaction is linked",
		} {
			err := w.db.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
				found := dbtest.Damage(ctx, t, tx, transfers.Verify, statement)
				if len(found) == 0 || !strings.Contains(strings.Join(found, "\n"), says) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept", err)
			}
		}
	})
}

func TestADeletedSourceLosesItsLinks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		gone, booked := w.add(noon, "kraken -5 ETH", "main 5 ETH"), w.add(noon.AddDate(0, 0, 5), "kraken -7 ETH", "main 7 ETH")
		if m := w.match(); m.Linked != 2 {
			t.Fatalf("%+v", m)
		}
		w.post(booked[1])
		w.write(func(ctx context.Context, tx *db.Tx) error {
			return transfers.DeleteTransactionsOfSource(ctx, tx, w.sources["kraken"].ID)
		})
		if x := w.get(gone[1]); x.GroupID != "" || x.Type != transaction.Unknown {
			t.Errorf("%+v", x)
		}
		if x := w.get(booked[1]); x.GroupID != "" || x.Type != transaction.Internal || x.Status != transaction.Posted {
			t.Errorf("%+v", x)
		}
	})
}
