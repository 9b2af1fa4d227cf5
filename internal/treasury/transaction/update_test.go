package transaction_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// audited counts the audit records of an action.
func (c company) audited(t *testing.T, action string) int {
	t.Helper()
	out, err := audit.NewService(c.db).List(c.ctx, audit.Filter{}, page.Request{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range out.Items {
		if e.Action == action {
			n++
		}
	}
	return n
}

func TestAChangeIsStoredFoundCountedAndAudited(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Bank})
		one, two := c.tag(t, "one"), c.tag(t, "two")
		made := c.create(t, plain("src_a", "1"))[0]
		c.clock.Advance(time.Minute)
		after, err := c.Update(c.ctx, made.ID, transaction.UpdateParams{Memo: new("  Zürich "), Vendor: new(" Acme\t"),
			Type: new(transaction.Fee), TagIDs: &[]string{two, one, two}})
		if err != nil || after.Memo != "Zürich" || after.Vendor != "Acme" || after.Type != transaction.Fee ||
			!slices.Equal(after.TagIDs, []string{one, two}) || !after.UpdatedAt.Equal(c.clock.Now()) || !after.CreatedAt.Equal(made.CreatedAt) {
			t.Fatalf("%+v %v", after, err)
		}
		c.sound(t)
		if n := c.audited(t, "transaction.updated"); n != 1 {
			t.Errorf("%d audit rows", n)
		}
		for text, want := range map[string]int64{"ZÜRICH": 1, "acme": 1, "payment": 1, "payment2": 0} {
			out, err := c.List(c.ctx, transaction.ListParams{Filter: transaction.Filter{Search: text, TransactionTypes: []string{"FEE"}},
				CountOnly: true})
			if err != nil || *out.TotalCount != want {
				t.Errorf("%s: %v %v", text, out.TotalCount, err)
			}
		}
		c.clock.Advance(time.Minute)
		for name, same := range map[string]transaction.UpdateParams{
			"nothing": {}, "the same": {Memo: new("Zürich "), Vendor: new("Acme"), Type: new(transaction.Fee), TagIDs: &[]string{two, one},
				Status: new(transaction.Pending)},
		} {
			again, err := c.Update(c.ctx, made.ID, same)
			if read, _ := c.Get(c.ctx, made.ID); err != nil || !again.UpdatedAt.Equal(after.UpdatedAt) ||
				!read.UpdatedAt.Equal(after.UpdatedAt) || c.audited(t, "transaction.updated") != 1 {
				t.Errorf("%s: %+v %v", name, again, err)
			}
		}
		bare, err := c.Update(c.ctx, made.ID, transaction.UpdateParams{Memo: new(""), Vendor: new(" "), TagIDs: &[]string{}})
		if err != nil || bare.Memo != "" || bare.Vendor != "" || len(bare.TagIDs) != 0 || bare.Type != transaction.Fee {
			t.Errorf("%+v %v", bare, err)
		}
		c.sound(t)
	})
}

func TestUnmarkingSpamRestoresTheType(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Exchange})
		swap, born := plain("src_a", "1"), plain("src_a", "2")
		swap.Type, born.Type = transaction.Swap, transaction.TypeSpam
		made := c.create(t, swap, born)
		for _, step := range []struct {
			which  int
			p      transaction.UpdateParams
			status transaction.Status
			kind   transaction.Type
		}{
			{0, transaction.UpdateParams{Status: new(transaction.Spam)}, transaction.Spam, transaction.TypeSpam},
			{0, transaction.UpdateParams{Status: new(transaction.Spam), Type: new(transaction.TypeSpam)}, transaction.Spam, transaction.TypeSpam},
			{0, transaction.UpdateParams{Memo: new("x")}, transaction.Spam, transaction.TypeSpam},
			{0, transaction.UpdateParams{Status: new(transaction.Pending)}, transaction.Pending, transaction.Swap},
			{0, transaction.UpdateParams{Type: new(transaction.TypeSpam)}, transaction.Spam, transaction.TypeSpam},
			{0, transaction.UpdateParams{Type: new(transaction.Fee)}, transaction.Pending, transaction.Fee},
			{0, transaction.UpdateParams{Status: new(transaction.Spam)}, transaction.Spam, transaction.TypeSpam},
			{0, transaction.UpdateParams{Status: new(transaction.Pending), Type: new(transaction.Deposit)}, transaction.Pending,
				transaction.Deposit},
			{1, transaction.UpdateParams{Memo: new("y")}, transaction.Spam, transaction.TypeSpam},
			{1, transaction.UpdateParams{Status: new(transaction.Pending)}, transaction.Pending, transaction.Unknown},
		} {
			got, err := c.Update(c.ctx, made[step.which].ID, step.p)
			if err != nil || got.Status != step.status || got.Type != step.kind {
				t.Errorf("%+v: %s %s %v", step, got.Status, got.Type, err)
			}
			out, err := c.List(c.ctx, transaction.ListParams{Filter: transaction.Filter{Status: "spam",
				SequenceNumbers: []string{got.SequenceNumber()}}, CountOnly: true})
			if err != nil || (*out.TotalCount == 1) != (step.status == transaction.Spam) {
				t.Errorf("%+v: %d among the spam, %v", step, *out.TotalCount, err)
			}
			c.sound(t)
		}
	})
}

func TestAChangeThatTheStateForbidsIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Exchange})
		other := c.entity(t, "other")
		made := c.create(t, plain("src_a", "1"), plain("src_a", "2"), plain("src_a", "3"))
		pending, posted, linked := made[0], made[1], made[2]
		c.post(t, posted)
		c.write(t, func(ctx context.Context, tx *db.Tx) error {
			after := linked
			after.GroupID = "grp_1"
			_, err := transaction.Save(ctx, tx, []transaction.Edit{{Before: linked, After: after}})
			return err
		})
		before := c.audited(t, "transaction.updated")
		for _, bad := range []struct {
			of     transaction.Transaction
			p      transaction.UpdateParams
			kind   fault.Kind
			fields string
		}{
			{pending, transaction.UpdateParams{Memo: new(strings.Repeat("x", 2001)), Vendor: new(strings.Repeat("x", 501)),
				Type: new(transaction.Type("SALE")), Status: new(transaction.Posted), TagIDs: new(many(101, "t"))}, fault.Invalid,
				"memo vendor transaction_type status tag_ids"},
			{pending, transaction.UpdateParams{Type: new(transaction.Fee), Status: new(transaction.Spam)}, fault.Invalid, "transaction_type"},
			{pending, transaction.UpdateParams{Type: new(transaction.TypeSpam), Status: new(transaction.Pending)}, fault.Invalid,
				"transaction_type"},
			{pending, transaction.UpdateParams{Memo: new("a\x00"), Vendor: new("\xff")}, fault.Invalid, "memo vendor"},
			{pending, transaction.UpdateParams{TagIDs: &[]string{"tag_none", "tag_nor"}, Memo: new("x")}, fault.NotFound, "tag_ids[0] tag_ids[1]"},
			{posted, transaction.UpdateParams{Status: new(transaction.Spam), Memo: new("x")}, fault.Conflict, "status"},
			{posted, transaction.UpdateParams{Status: new(transaction.Pending)}, fault.Conflict, "status"},
			{posted, transaction.UpdateParams{Type: new(transaction.Fee)}, fault.Conflict, "transaction_type"},
			{posted, transaction.UpdateParams{Type: new(transaction.TypeSpam)}, fault.Conflict, "transaction_type"},
			{linked, transaction.UpdateParams{Status: new(transaction.Spam)}, fault.Conflict, "status"},
			{linked, transaction.UpdateParams{Type: new(transaction.TypeSpam)}, fault.Conflict, "status"},
			{transaction.Transaction{ID: "txn_none"}, transaction.UpdateParams{Memo: new("x")}, fault.NotFound, ""},
		} {
			_, err := c.Update(c.ctx, bad.of.ID, bad.p)
			blames(t, fmt.Sprintf("%s %+v", bad.of.SequenceNumber(), bad.p), err, bad.kind, strings.Fields(bad.fields)...)
		}
		_, err := c.Update(c.limited(other), pending.ID, transaction.UpdateParams{Memo: new("x")})
		blames(t, "a key for another legal entity", err, fault.NotFound)
		if _, err := c.Get(c.limited(other), pending.ID); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		if n := c.audited(t, "transaction.updated"); n != before {
			t.Errorf("%d audit rows became %d", before, n)
		}
		for _, may := range []transaction.Transaction{posted, linked} {
			if got, err := c.Update(c.ctx, may.ID, transaction.UpdateParams{Memo: new("x"), Type: new(may.Type),
				Vendor: new("y")}); err != nil || got.Memo != "x" {
				t.Error(got, err)
			}
		}
		c.sound(t)
	})
}

func TestABulkChangeIsAllOrNone(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Exchange})
		other := c.source(t, source.Source{ID: "src_o", Type: source.Bank, LegalEntityID: c.entity(t, "other")})
		made := c.create(t, plain("src_a", "1"), plain("src_a", "2"), plain("src_a", "3"), plain("src_o", "4"))
		c.post(t, made[2])
		c.clock.Advance(time.Minute)
		before := c.audited(t, "transaction.updated")
		ids := []string{made[0].ID, made[1].ID, made[0].ID}
		pending := &transaction.Filter{Status: "pending"}
		memo, spam := transaction.UpdateParams{Memo: new("m")}, transaction.UpdateParams{Status: new(transaction.Spam)}
		for name, bad := range map[string]struct {
			p      transaction.BulkParams
			kind   fault.Kind
			fields string
		}{
			"neither": {transaction.BulkParams{Changes: memo}, fault.Invalid, "transaction_ids"},
			"both": {transaction.BulkParams{TransactionIDs: ids, Filter: pending, Expected: new(int64(3)), Changes: memo},
				fault.Invalid, "transaction_ids"},
			"no ids": {transaction.BulkParams{TransactionIDs: []string{}, Changes: memo}, fault.Invalid, "transaction_ids"},
			"too many ids": {transaction.BulkParams{TransactionIDs: many(transaction.BulkMax+1, "t"), Changes: memo}, fault.Invalid,
				"transaction_ids"},
			"none expected": {transaction.BulkParams{Filter: pending,
				Changes: transaction.UpdateParams{Type: new(transaction.Type("x"))}}, fault.Invalid, "expected_count changes.transaction_type"},
			"too few expected": {transaction.BulkParams{Filter: pending, Expected: new(int64(2)), Changes: memo}, fault.Conflict,
				"expected_count"},
			"too many expected": {transaction.BulkParams{Filter: pending, Expected: new(int64(4)), Changes: memo, Dry: true},
				fault.Conflict, "expected_count"},
			"a bad filter": {transaction.BulkParams{Filter: &transaction.Filter{Status: "open", Direction: "in"},
				Expected: new(int64(0)), Changes: memo}, fault.Invalid, "filter.direction filter.status"},
			"ids that are not": {transaction.BulkParams{TransactionIDs: []string{made[0].ID, "txn_x", "txn_y"}, Changes: memo},
				fault.NotFound, "transaction_ids[1] transaction_ids[2]"},
			"tags that are not": {transaction.BulkParams{TransactionIDs: ids,
				Changes: transaction.UpdateParams{TagIDs: &[]string{"tag_x"}}}, fault.NotFound, "changes.tag_ids[0]"},
			"one that is posted": {transaction.BulkParams{TransactionIDs: []string{made[0].ID, made[2].ID}, Changes: spam}, fault.Conflict, "OT-3"},
			"one of those found": {transaction.BulkParams{Filter: &transaction.Filter{}, Expected: new(int64(4)), Changes: spam},
				fault.Conflict, "OT-3"},
			"even in a dry run": {transaction.BulkParams{Filter: &transaction.Filter{}, Dry: true, Changes: spam}, fault.Conflict, "OT-3"},
		} {
			_, err := c.BulkUpdate(c.ctx, bad.p)
			blames(t, name, err, bad.kind, strings.Fields(bad.fields)...)
		}
		_, err := c.BulkUpdate(c.limited(other.LegalEntityID), transaction.BulkParams{TransactionIDs: []string{made[3].ID, made[0].ID},
			Changes: memo})
		blames(t, "a key for another legal entity", err, fault.NotFound, "transaction_ids[1]")
		if n := c.audited(t, "transaction.updated"); n != before {
			t.Errorf("%d audit rows became %d", before, n)
		}
		for _, step := range []struct {
			ctx              context.Context
			p                transaction.BulkParams
			matched, updated int
		}{
			{c.ctx, transaction.BulkParams{TransactionIDs: ids, Changes: memo, Dry: true}, 2, 2},
			{c.ctx, transaction.BulkParams{TransactionIDs: ids, Changes: memo}, 2, 2},
			{c.ctx, transaction.BulkParams{Filter: pending, Changes: memo, Dry: true}, 3, 1},
			{c.ctx, transaction.BulkParams{Filter: pending, Expected: new(int64(3)), Changes: memo}, 3, 1},
			{c.limited(other.LegalEntityID), transaction.BulkParams{Filter: pending, Expected: new(int64(1)), Changes: spam}, 1, 1},
			{c.ctx, transaction.BulkParams{Filter: pending, Expected: new(int64(2)), Changes: spam}, 2, 2},
			{c.ctx, transaction.BulkParams{Filter: pending, Expected: new(int64(0)), Changes: spam}, 0, 0},
		} {
			b, err := c.BulkUpdate(step.ctx, step.p)
			if err != nil || b.Matched != step.matched || b.Updated != step.updated {
				t.Errorf("%+v: %+v %v", step.p, b, err)
			}
			c.sound(t)
		}
		if n := c.audited(t, "transaction.updated"); n != before+6 {
			t.Errorf("%d audit rows became %d", before, n)
		}
	})
}

func TestFindByIDsKeepsTheOrderAndFindMatchingReadsEveryPage(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, c company) {
		w := newWorld(t, c, 350)
		c.read(t, func(ctx context.Context, tx *db.Tx) error {
			got, err := transaction.FindByIDs(ctx, tx, []string{w.all[9].ID, w.all[3].ID, w.all[9].ID, w.all[200].ID})
			if err != nil || len(got) != 3 || got[0].Number != 10 || got[1].Number != 4 || got[2].Number != 201 {
				t.Error(len(got), err)
			}
			_, err = transaction.FindByIDs(ctx, tx, []string{w.all[9].ID, "txn_none"})
			blames(t, "one that is not there", err, fault.NotFound, "transaction_ids[1]")
			for _, f := range []transaction.Filter{{IncludeSpam: true}, {}, {Direction: "credit"}, {Search: "a"}, {Status: "spam"},
				{Chains: []string{"none"}}} {
				want := answer(w.all, nil, f, transaction.Sort{By: "created_at", Order: "asc"})
				got, err := transaction.FindMatching(ctx, tx, f, new(int64(len(want))))
				same := slices.EqualFunc(got, want, func(a, b transaction.Transaction) bool { return a.ID == b.ID })
				if err != nil || !same {
					t.Errorf("%+v: %d, want %d, %v", f, len(got), len(want), err)
				}
				_, err = transaction.FindMatching(ctx, tx, f, new(int64(len(want)+1)))
				blames(t, "another number", err, fault.Conflict, "expected_count")
			}
			return nil
		})
	})
}
