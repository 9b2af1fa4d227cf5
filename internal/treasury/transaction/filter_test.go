package transaction_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// blames fails unless an error is of a kind and names exactly these fields.
func blames(t *testing.T, what string, err error, kind fault.Kind, fields ...string) {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("%s: %v, want %v", what, err, kind)
		return
	}
	var got []string
	for _, f := range e.Fields {
		if !slices.Contains(got, f.Name) {
			got = append(got, f.Name)
		}
	}
	slices.Sort(got)
	if slices.Sort(fields); !slices.Equal(got, fields) {
		t.Errorf("%s: names %v, want %v", what, got, fields)
	}
}

func many(n int, text string) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(text, i))
	}
	return out
}

func TestAFilterIsRefusedWithEveryFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		for _, bad := range []struct {
			fields string
			f      transaction.Filter
		}{
			{"has_posted_journal_entry", transaction.Filter{TransactionIDs: []string{"txn_1"}, HasPostedJournalEntry: new(true)}},
			{"has_posted_journal_entry", transaction.Filter{TransactionIDs: []string{"txn_1"}, HasPostedJournalEntry: new(false)}},
			{"status", transaction.Filter{TransactionIDs: []string{"txn_1"}, Status: "posted"}},
			{"has_posted_journal_entry status", transaction.Filter{TransactionIDs: []string{"txn_1"}, Status: "pending",
				HasPostedJournalEntry: new(true)}},
			{"has_posted_journal_entry", transaction.Filter{SequenceNumbers: []string{"OT-1"}, HasPostedJournalEntry: new(false)}},
			{"source_class status direction transaction_types source_types", transaction.Filter{SourceClass: "bank", Status: "open",
				Direction: "in", TransactionTypes: []string{"SALE"}, SourceTypes: []string{"crypto"}}},
			{"gross_price_min gross_price_max gross_amount_min gross_amount_max", transaction.Filter{GrossPriceMin: "-1",
				GrossPriceMax: "1,5", GrossAmountMin: "1e3", GrossAmountMax: "."}},
			{"gross_price_min gross_amount_min", transaction.Filter{GrossPriceMin: "2", GrossPriceMax: "1.99", GrossAmountMin: "10",
				GrossAmountMax: "9"}},
			{"gross_price_min", transaction.Filter{GrossPriceMin: strings.Repeat("9", 39)}},
			{"sequence_numbers", transaction.Filter{SequenceNumbers: []string{"OT-1", "17"}}},
			{"sequence_numbers", transaction.Filter{SequenceNumbers: []string{"ot-1"}}},
			{"sequence_numbers", transaction.Filter{SequenceNumbers: []string{"OT--1"}}},
			{"sequence_numbers addresses transaction_ids exclude_transaction_ids", transaction.Filter{SequenceNumbers: many(101, "OT-"),
				Addresses: many(101, "0x"), TransactionIDs: many(1001, "t"), ExcludeTransactionIDs: many(1001, "t")}},
			{"start_date end_date updated_since", transaction.Filter{StartDate: "yesterday", EndDate: "2026-02-30", UpdatedSince: "2026-1-1"}},
			{"start_date", transaction.Filter{StartDate: "2026-01-02", EndDate: "2026-01-01"}},
			{"start_date", transaction.Filter{StartDate: "2026-01-01T00:00:00.001Z", EndDate: "2026-01-01T00:00:00Z"}},
			{"start_date end_date", transaction.Filter{StartDate: "9999-12-31T23:59:59-01:00", EndDate: "9999-12-31T23:59:59-23:00"}},
			{"search", transaction.Filter{Search: strings.Repeat("ü", 201)}},
		} {
			_, err := c.List(c.ctx, transaction.ListParams{Filter: bad.f, Request: page.Request{Limit: 1}})
			blames(t, fmt.Sprintf("%+v", bad.f), err, fault.Invalid, strings.Fields(bad.fields)...)
		}
		for _, s := range []transaction.Sort{{By: "number"}, {By: "amount", Order: "up"}, {Order: "DESC"}} {
			_, err := c.List(c.ctx, transaction.ListParams{Sort: s, Request: page.Request{Limit: 1}})
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "sort_") {
				t.Errorf("%+v: %v", s, err)
			}
		}
		for _, good := range []transaction.Filter{
			{ExcludeTransactionIDs: []string{"txn_1"}, HasPostedJournalEntry: new(false)}, {SequenceNumbers: []string{"OT-1"},
				HasPostedJournalEntry: new(true)}, {SequenceNumbers: []string{"OT-1"}, Status: "pending"},
			{TransactionIDs: []string{"txn_1"}, Status: "spam"}, {TransactionIDs: []string{"txn_1"},
				IncludeSpam: true}, {StartDate: "2026-01-01", EndDate: "2026-01-01"}, {GrossPriceMin: "2", GrossPriceMax: "2.0"},
			{Search: strings.Repeat("ü", 200)}, {SequenceNumbers: many(100, "OT-"), Addresses: many(100, "0x"),
				TransactionIDs: many(1000, "t"), ExcludeTransactionIDs: many(1000, "t")},
		} {
			if out, err := c.List(c.ctx, transaction.ListParams{Filter: good, Request: page.Request{Limit: 1},
				WithCount: true}); err != nil || len(out.Items) != 0 || *out.TotalCount != 0 {
				t.Errorf("%+v: %v", good, err)
			}
		}
	})
}

func TestSourcesAndLegalEntitiesThatDoNotExistAreReported(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		other := c.entity(t, "other")
		c.source(t, source.Source{ID: "src_a", AccountID: "wal_a", Type: source.Exchange})
		foreign := found(t, c.db)
		foreign.source(t, source.Source{ID: "src_f", AccountID: "wal_f", Type: source.Exchange})
		for _, missing := range []struct {
			field string
			f     transaction.Filter
		}{
			{"source_id", transaction.Filter{SourceID: "src_none"}}, {"source_id", transaction.Filter{SourceID: "src_f"}}, {"source_id",
				transaction.Filter{SourceID: "wal_f"}},
			{"account_ids", transaction.Filter{AccountIDs: []string{"wal_a", "wal_none"}}},
			{"legal_entity_ids", transaction.Filter{LegalEntityIDs: []string{c.org.LegalEntity.ID, "le_none"}}}, {"legal_entity_ids",
				transaction.Filter{LegalEntityIDs: []string{foreign.org.LegalEntity.ID}}},
		} {
			for _, only := range []bool{false, true} {
				_, err := c.List(c.ctx, transaction.ListParams{Filter: missing.f, Request: page.Request{Limit: 1}, CountOnly: only})
				blames(t, fmt.Sprintf("%+v", missing.f), err, fault.NotFound, missing.field)
			}
		}
		for field, f := range map[string]transaction.Filter{"source_id": {SourceID: "wal_a"},
			"account_ids": {AccountIDs: []string{"src_a"}}, "legal_entity_ids": {LegalEntityIDs: []string{c.org.LegalEntity.ID}}} {
			_, err := c.List(c.limited(other), transaction.ListParams{Filter: f, Request: page.Request{Limit: 1}})
			blames(t, "a key for another legal entity", err, fault.NotFound, field)
		}
	})
}

// A lower bound finer than the stored precision does not match earlier transactions.
func TestBoundsFinerThanAMillisecondAreExact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Bank})
		p := plain("src_a", "1")
		p.At = time.Date(2026, 1, 5, 12, 0, 0, 499_999_999, time.UTC)
		c.create(t, p)
		for _, bound := range []struct {
			f    transaction.Filter
			want int64
		}{
			{transaction.Filter{StartDate: "2026-01-05T12:00:00.499Z"}, 1}, {transaction.Filter{StartDate: "2026-01-05T12:00:00.4991Z"}, 0},
			{transaction.Filter{EndDate: "2026-01-05T12:00:00.499Z"}, 1}, {transaction.Filter{EndDate: "2026-01-05T12:00:00.4989Z"}, 0},
		} {
			out, err := c.List(c.ctx, transaction.ListParams{Filter: bound.f, CountOnly: true})
			if err != nil || *out.TotalCount != bound.want {
				t.Errorf("%+v: %v %v", bound.f, out.TotalCount, err)
			}
		}
	})
}
