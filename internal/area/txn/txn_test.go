package txn_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/audit"
	"github.com/bursarhq/bursar/internal/area/org"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// company is an organization to try transactions on.
type company struct {
	db  *db.DB
	ctx context.Context
	org org.Founded
	*txn.Service
}

func found(t *testing.T, d *db.DB) company {
	t.Helper()
	f, err := org.NewService(d).Found(t.Context(), org.FoundParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return company{d, actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID}), f, txn.NewService(d)}
}

// source makes a source without its area's rules, which have tests of their own.
func (c company) source(t *testing.T, s source.Source) source.Source {
	t.Helper()
	type row struct {
		ID      string    `db:"source_id"`
		Account *string   `db:"account_id"`
		Type    string    `db:"source_type"`
		From    string    `db:"provider"`
		Name    string    `db:"name"`
		Entity  string    `db:"legal_entity_id"`
		Ledger  string    `db:"ledger_account_id"`
		Address *string   `db:"address"`
		Key     *string   `db:"address_key"`
		Manual  bool      `db:"is_manual"`
		Created time.Time `db:"created_at"`
	}
	if s.LegalEntityID == "" {
		s.LegalEntityID = c.org.LegalEntity.ID
	}
	err := c.db.Write(c.ctx, c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		audit.Record(ctx, tx, audit.Change{Action: "source.created", ResourceType: "source", ResourceID: s.ID, After: map[string]any{}})
		return db.Insert(ctx, tx, "sources", row{s.ID, db.OrNull(s.AccountID), string(s.Type), "file", s.ID, s.LegalEntityID, "lac_1", db.OrNull(s.Address), db.OrNull(source.AddressKey(s.Address)), true, tx.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSmoke(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := found(t, d)
		c.source(t, source.Source{ID: "src_a", AccountID: "wal_a", Type: source.Wallet, Address: "0xABC"})
		c.source(t, source.Source{ID: "src_b", Type: source.Card})
		var all []txn.CreateParams
		for i := range 300 {
			q := money.FromInt(int64(i))
			p := txn.CreateParams{SourceID: []string{"wal_a", "src_b"}[i%2], Params: txn.Params{ExternalID: fmt.Sprint(i), At: time.Unix(int64(1e9+i*3600), 0), Description: fmt.Sprintf("Payment no. %d", i),
				Direction: txn.Credit, Quantity: &q, Currency: "USD", Category: []string{"", "Travel;Hotel", "Food"}[i%3]}}
			if i%2 == 0 {
				p.Crypto = &txn.Crypto{Chain: "Ethereum", From: fmt.Sprintf("0xF%d", i%10), To: "0xabc"}
				p.Currency = "ETH"
			}
			all = append(all, p)
		}
		made, err := c.Create(c.ctx, all)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Create(c.ctx, all)
		if err != nil || again.Created != 0 || again.Duplicates != 300 || again.Transactions[7].ID != made.Transactions[7].ID {
			t.Fatal(err, again.Created)
		}
		for name, f := range map[string]txn.Filter{"plain": {}, "search": {Search: "NT NO. 29"}, "short": {Search: "29"}, "source": {SourceID: "wal_a"}, "class": {SourceClass: "card"}, "cat": {ProviderCategory: []string{"hotel;travel"}},
			"addr": {Addresses: []string{"0xf4"}}, "own": {Addresses: []string{"0xabc"}}, "price": {GrossAmountMin: "290"}, "both": {SourceID: "src_b", Types: []string{"UNKNOWN"}, Search: "payment"}, "ids": {TransactionIDs: []string{made.Transactions[3].ID}}, "no": {SequenceNumbers: []string{"OT-5"}},
			"unposted": {HasPostedEntry: new(bool), IncludeSpam: true}, "spam": {IncludeSpam: true}, "since": {UpdatedSince: "2020-01-01"}, "dates": {StartDate: "2001-09-10", EndDate: "2001-09-11"}} {
			for _, by := range txn.Sorts {
				p, err := c.List(c.ctx, txn.ListParams{Filter: f, Sort: txn.Sort{By: by}, Request: page.Request{Limit: 50}, WithCount: true})
				if err != nil {
					t.Fatal(name, by, err)
				}
				if by == "transaction_date" || by == "chain" {
					t.Log(name, by, len(p.Items), *p.TotalCount)
				}
			}
		}
		var memo = "Grüße"
		n := int64(30)
		b, err := c.BulkUpdate(c.ctx, txn.BulkParams{Filter: &txn.Filter{Addresses: []string{"0xF4"}}, Expected: &n, Changes: txn.UpdateParams{Memo: &memo, Status: new(txn.Spam)}})
		t.Log(b, err)
		p, err := c.List(c.ctx, txn.ListParams{Filter: txn.Filter{Search: "GRÜSSE", IncludeSpam: true}, Request: page.Request{Limit: 50}, WithCount: true})
		t.Log(len(p.Items), err)
		p, err = c.List(c.ctx, txn.ListParams{Filter: txn.Filter{Search: "grüße", IncludeSpam: true}, Request: page.Request{Limit: 50}, WithCount: true})
		t.Log(len(p.Items), err, *p.TotalCount)
	})
}
