package transaction

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// The visibilities of a transaction. A list reads some of them, and every ordered index begins with the column.
const (
	listed  int64 = 0
	spammed int64 = 1
	deleted int64 = 2
)

// visibility returns the visibility of a transaction that is not deleted.
func (t Transaction) visibility() int64 {
	if t.Status == Spam {
		return spammed
	}
	return listed
}

// keys are the derived columns that transactions are found and sorted by.
type keys struct {
	asset, chain, from, to, category   string
	grossAmount, netAmount, grossPrice string
	search                             string
}

func (t Transaction) keys() keys {
	k := keys{asset: t.Asset(), category: strings.ToLower(t.Category), search: t.searchText()}
	if c := t.Crypto; c != nil {
		k.chain, k.from, k.to = strings.ToLower(c.Chain), source.AddressKey(c.From), source.AddressKey(c.To)
	}
	gross, net := t.amounts()
	k.grossAmount, k.netAmount = sortKey(gross), sortKey(net)
	if t.Value != nil {
		k.grossPrice = t.Value.Gross.SortKey()
	}
	return k
}

// amounts returns the quantity before and after a fee in the same asset. For fiat money without a quantity they are the
// amounts of the value.
func (t Transaction) amounts() (gross, net *money.Decimal) {
	fee := money.Decimal{}
	switch {
	case t.Value != nil && t.Value.Currency == t.Currency:
		if fee = t.Value.Fee; t.Quantity == nil {
			return &t.Value.Gross, new(t.Value.Net())
		}
	case t.Quantity == nil:
		return nil, nil
	case t.Crypto != nil && t.Crypto.FeeQuantity != nil && strings.EqualFold(t.Crypto.FeeAssetType, t.Currency):
		fee = *t.Crypto.FeeQuantity
	}
	if left := t.Quantity.Sub(fee); left.Sign() >= 0 {
		return t.Quantity, &left
	}
	return t.Quantity, t.Quantity
}

// sortKey returns the sort key of a number. An unknown number has an empty key, which sorts first.
func sortKey(d *money.Decimal) string {
	if d == nil {
		return ""
	}
	return d.SortKey()
}

// searchText returns the text that a search runs on: every label and description once, in lower case, because neither
// database folds the case of letters other than A to Z by itself.
func (t Transaction) searchText() string {
	parts := []string{t.Description, t.Vendor, t.Memo, t.Category}
	if t.Bank != nil {
		parts = append(parts, t.Bank.CounterpartyName)
	}
	if t.Card != nil {
		parts = append(parts, t.Card.MerchantName, t.Card.MerchantCategory)
	}
	var texts []string
	for _, p := range parts {
		if p = strings.ToLower(p); p != "" && !slices.Contains(texts, p) {
			texts = append(texts, p)
		}
	}
	return strings.Join(texts, "\n")
}

// details are the stored fields that nothing filters or sorts by.
type details struct {
	Crypto *Crypto `json:"crypto,omitempty"`
	Bank   *Bank   `json:"bank,omitempty"`
	Card   *Card   `json:"card,omitempty"`
}

// toJSON encodes a value that always can be encoded, and returns nil for an empty one.
func toJSON(v any) *string {
	b, _ := json.Marshal(v)
	if text := string(b); text != "{}" && text != "null" {
		return &text
	}
	return nil
}

// change is what changes of all that is kept about several transactions: how many there are, and what they add up to.
type change struct {
	counts     counts
	quantities quantities
}

func newChange() change { return change{counts{}, quantities{}} }

// add adds a transaction (n is 1) or takes it away (n is -1).
func (c change) add(t Transaction, n int64) {
	c.counts.add(t, n)
	c.quantities.add(t, n)
}

func (c change) write(ctx context.Context, tx *db.Tx) error {
	if err := addCounts(ctx, tx, c.counts); err != nil {
		return err
	}
	return addQuantities(ctx, tx, c.quantities)
}

// counts are changes to the counts that are kept.
type counts map[countKey]int64

// add counts a transaction in (n is 1) or out (n is -1).
func (c counts) add(t Transaction, n int64) {
	k := t.keys()
	for _, f := range [...][2]string{{"", ""}, {"transaction_type", string(t.Type)}, {"asset_type", k.asset}, {"chain", k.chain},
		{"direction", string(t.Direction)}, {"category_key", k.category}} {
		if f[0] == "" || f[1] != "" {
			c[countKey{f[0], f[1], t.Source.ID, string(t.Status)}] += n
		}
	}
}
