package transaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// createFour creates OT-1 pending with every field, OT-2 spam, OT-3 posted and OT-4 with only the required fields.
func createFour(t *testing.T, c company) (tagID string) {
	t.Helper()
	c.source(t, source.Source{ID: "src_a", AccountID: "wal_a", Type: source.Exchange, Address: "0xABC"})
	tagID = c.tag(t, "one")
	full := plain("src_a", "1")
	full.Value = &transaction.ValueParams{Gross: *dec("10"), Fee: *dec("1"), Net: *dec("9"), Currency: "USD"}
	full.Category, full.TagIDs, full.Vendor = "Travel;Hotel", []string{tagID}, "Acme"
	full.Crypto = &transaction.Crypto{Chain: "Ethereum", From: "0xDEF", To: "0xABC"}
	spam, posted, bare := plain("src_a", "2"), plain("src_a", "3"), plain("src_a", "4")
	spam.Type, bare.Quantity = transaction.TypeSpam, nil
	made := c.create(t, full, spam, posted, bare)
	c.post(t, made[2])
	return tagID
}

func TestVerifyFindsEveryKindOfDamageInTransactions(t *testing.T) {
	t.Parallel()
	one := "UPDATE transactions SET %s WHERE organization_id = @org AND number = 1"
	damages := map[string]string{
		"UPDATE transactions SET number = 6 WHERE organization_id = @org AND number = 4":    "OT-4 to OT-5 are missing",
		"DELETE FROM transactions WHERE organization_id = @org AND number = 2":              "OT-2 to OT-2 are missing",
		"UPDATE organization_state SET transaction_number = 5 WHERE organization_id = @org": "the last number is OT-4, but the organization state says OT-5",
		"visibility = 1":                       "OT-1 is pending, but has visibility 1",
		"visibility = 3":                       "OT-1 is pending, but has visibility 3",
		"status = 'x'":                         "OT-1 is x, but has visibility 0",
		"visibility = 2":                       "has 1 rows in transaction_tags, but is on 0 transactions",
		"transaction_type = 'SPAM'":            "OT-1 is pending of the type SPAM",
		"transaction_type = 'SALE'":            "OT-1 is pending of the type SALE",
		"type_before_spam = 'FEE'":             `OT-1 is pending of the type UNKNOWN, before spam "FEE"`,
		"asset_type = 'x'":                     "OT-1 has the wrong value in asset_type",
		"chain = 'Ethereum'":                   "OT-1 has the wrong value in chain",
		"from_key = '0xDEF'":                   "OT-1 has the wrong value in from_key",
		"to_key = NULL":                        "OT-1 has the wrong value in to_key",
		"category_key = 'Travel'":              "OT-1 has the wrong value in category_key",
		"gross_amount_key = ''":                "OT-1 has the wrong value in gross_amount_key",
		"net_amount_key = ''":                  "OT-1 has the wrong value in net_amount_key",
		"gross_price_key = ''":                 "OT-1 has the wrong value in gross_price_key",
		"search = 'payment'":                   "OT-1 has the wrong value in search",
		"description = 'Other'":                "OT-1 has the wrong value in search",
		"value_gross = NULL":                   "OT-1 has a value that lacks its gross, fee or currency",
		"value_fee = NULL":                     "OT-1 has a value that lacks its gross, fee or currency",
		"value_currency = NULL":                "OT-1 has a value that lacks its gross, fee or currency",
		"value_gross = '-1', value_fee = '-2'": "OT-1 has a negative amount",
		"value_fee = '-1'":                     "OT-1 has a negative amount",
		"quantity = '-1'":                      "OT-1 has a negative amount",
		"value_fee = '10.01'":                  "OT-1 has a fee that is more than its gross value",
		"details = 'x'":                        "OT-1 cannot be read",
		"source_id = 'src_x'":                  "the source src_x of OT-1 does not exist",
		"tag_ids = ''":                         "1 rows of transaction_tags belong to no transaction with that tag",
		"tag_ids = tag_ids || ' tag_x'":        "the tag tag_x has 0 rows in transaction_tags, but is on 1 transactions",
		"DELETE FROM transaction_tags WHERE organization_id = @org": "has 0 rows in transaction_tags, but is on 1 transactions",
		"UPDATE transaction_tags SET transaction_id = 'txn_x' WHERE organization_id = @org": "1 rows of " +
			"transaction_tags belong to no transaction",
		"UPDATE transaction_tags SET tag_id = 'tag_x' WHERE organization_id = @org": "the tag tag_x " +
			"has 1 rows in transaction_tags, but is on 0 transactions",
		"UPDATE transaction_counts SET count = 7 WHERE organization_id = @org" +
			" AND facet = '' AND status = 'spam'": "is 7, but there are 1",
		"DELETE FROM transaction_counts WHERE organization_id = @org" +
			" AND status = 'posted'": "has no count, but there are 1",
		"UPDATE transaction_counts SET value = 'x' WHERE organization_id = @org" +
			" AND facet = 'category_key'": "is 1, but there are 0",
		"UPDATE transactions SET type_before_spam = NULL WHERE organization_id = @org" +
			" AND number = 2": `OT-2 is spam of the type SPAM, before spam ""`,
		"UPDATE transactions SET transaction_type = 'FEE' WHERE organization_id = @org" +
			" AND number = 2": "OT-2 is spam of the type FEE",
		"UPDATE transactions SET visibility = 0 WHERE organization_id = @org" +
			" AND number = 2": "OT-2 is spam, but has visibility 0",
		"UPDATE transactions SET gross_amount_key = '010' WHERE organization_id = @org" +
			" AND number = 4": "OT-4 has the wrong value in gross_amount_key",
		"UPDATE transactions SET status = 'pending' WHERE organization_id = @org AND number = 3":  "is 1, but there are 0",
		"UPDATE transactions SET direction = 'debit' WHERE organization_id = @org AND number = 3": "is 1, but there are 0",
	}
	each(t, func(t *testing.T, c company) {
		createFour(t, c)
		c.sound(t)
		statements := map[string]string{}
		for damage, says := range damages {
			if !strings.Contains(damage, " WHERE ") {
				damage = strings.Replace(one, "%s", damage, 1)
			}
			statements[damage] = says
		}
		if c.db.Engine() == db.SQLite {
			statements["DELETE FROM transaction_texts_docsize WHERE id = (SELECT row_key FROM transactions WHERE organization_id = @org "+
				"AND number = 1)"] = "1 are not in the full-text index"
		}
		for statement, says := range statements {
			err := c.db.Write(c.ctx, c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				if found := dbtest.Damage(ctx, t, tx, transaction.Verify, statement); !strings.Contains(strings.Join(found, "\n"), says) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Errorf("the damage was kept: %v", err)
			}
		}
		c.sound(t)
	})
}

func TestASearchWithADamagedIndexIsUnavailableAndSaysSo(t *testing.T) {
	t.Parallel()
	c := found(t, dbtest.Open(t, dbtest.SQLite(t)))
	createFour(t, c)
	c.write(t, func(ctx context.Context, tx *db.Tx) error {
		dbtest.Damage(ctx, t, tx, transaction.Verify, "DELETE FROM transaction_texts_data WHERE id > 9")
		return nil
	})
	_, err := c.List(c.ctx, transaction.ListParams{Filter: transaction.Filter{Search: "payment"}, Request: page.Request{Limit: 10}})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "the database is damaged") {
		t.Errorf("%v", err)
	}
	if _, err := c.List(c.ctx, transaction.ListParams{Request: page.Request{Limit: 10}}); err != nil {
		t.Errorf("what needs no index fails too: %v", err)
	}
}

// A deleted transaction keeps its number, and is neither counted nor found by its tags.
func TestTransactionsOfADeletedSourceKeepOnlyTheirNumbers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		tagID := createFour(t, c)
		c.source(t, source.Source{ID: "src_b", Type: source.Bank})
		c.create(t, plain("src_b", "1"))
		c.write(t, func(ctx context.Context, tx *db.Tx) error {
			audit.Record(ctx, tx, audit.Change{Action: "source.deleted", ResourceType: "source", ResourceID: "src_a", Before: map[string]any{}})
			return transaction.DeleteOfSource(ctx, tx, "src_a")
		})
		c.sound(t)
		for _, f := range []transaction.Filter{{IncludeSpam: true}, {IncludeSpam: true, Search: "payment"},
			{IncludeSpam: true, SequenceNumbers: []string{"OT-1", "OT-2", "OT-3", "OT-4", "OT-5"}}} {
			out, err := c.List(c.ctx, transaction.ListParams{Filter: f, Request: page.Request{Limit: 10}, WithCount: true})
			if err != nil || len(out.Items) != 1 || *out.TotalCount != 1 || out.Items[0].Number != 5 {
				t.Errorf("%+v: %d %v", f, len(out.Items), err)
			}
		}
		if next := c.create(t, plain("src_b", "2"))[0]; next.Number != 6 {
			t.Error(next.SequenceNumber())
		}
		if err := tag.NewService(c.db).Delete(c.ctx, tagID); err != nil {
			t.Error(err)
		}
		c.sound(t)
	})
}

func TestVerifyReadsMoreThanOneBatchAndNamesAFewOfMany(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Bank})
		for batch := range 3 {
			var all []transaction.CreateParams
			for i := range 700 {
				all = append(all, plain("src_a", fmt.Sprint(batch, ".", i)))
			}
			c.create(t, all...)
		}
		c.sound(t)
		err := c.db.Write(c.ctx, c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			found := dbtest.Damage(ctx, t, tx, transaction.Verify,
				"UPDATE transactions SET search = 'x' WHERE organization_id = @org AND number IN (1, 1000, 1001, 2000, 2001, 2099, 2100)")
			if len(found) != 6 || found[0] != "transactions: OT-1 has the wrong value in search" ||
				found[5] != "transactions: 2 more with wrong derived columns" {
				t.Errorf("%q", found)
			}
			return dbtest.ErrUndo
		})
		if !errors.Is(err, dbtest.ErrUndo) {
			t.Error(err)
		}
	})
}

func TestATagOfATransactionCannotBeDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		tagID := createFour(t, c)
		s := tag.NewService(c.db)
		err := s.Delete(c.ctx, tagID)
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "1 transaction, for example OT-1") {
			t.Error(err)
		}
		b, err := c.BulkUpdate(c.ctx, transaction.BulkParams{Filter: &transaction.Filter{SequenceNumbers: []string{"OT-1"}},
			Expected: new(int64(1)), Changes: transaction.UpdateParams{TagIDs: &[]string{}}})
		if err != nil || b.Updated != 1 {
			t.Fatal(b, err)
		}
		c.sound(t)
		if err := s.Delete(c.ctx, tagID); err != nil {
			t.Error(err)
		}
	})
}
