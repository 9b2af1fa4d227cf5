package transaction

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// The visibilities of a transaction, stored in the column of that name. A list reads some of them; every ordered index begins with the column.
const (
	listed  int64 = 0
	spammed int64 = 1
	deleted int64 = 2
)

// visibility is that of a transaction that is not deleted.
func (t Transaction) visibility() int64 {
	if t.Status == Spam {
		return spammed
	}
	return listed
}

// keys are what a transaction is found and sorted by. All follow from it.
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

// amounts are what moved before and after a fee in the same asset; of fiat money the amounts of the value, where the quantity is not told.
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

// sortKey is empty for a number that is not known, and comes before all others.
func sortKey(d *money.Decimal) string {
	if d == nil {
		return ""
	}
	return d.SortKey()
}

// searchText is what a search looks at: every label and description once, in lower case, because neither engine folds
// the case of more than A to Z by itself.
func (t Transaction) searchText() string {
	parts := []string{t.Description, t.Vendor, t.Memo, t.Category}
	if t.Bank != nil {
		parts = append(parts, t.Bank.CounterpartyName)
	}
	if t.Card != nil {
		parts = append(parts, t.Card.MerchantName, t.Card.MerchantCategory)
	}
	var said []string
	for _, p := range parts {
		if p = strings.ToLower(p); p != "" && !slices.Contains(said, p) {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n")
}

// details is what is kept of a transaction without being looked for.
type details struct {
	Crypto *Crypto `json:"crypto,omitempty"`
	Bank   *Bank   `json:"bank,omitempty"`
	Card   *Card   `json:"card,omitempty"`
}

// toJSON writes what always can be written; nil is nothing.
func toJSON(v any) *string {
	b, _ := json.Marshal(v)
	if text := string(b); text != "{}" && text != "null" {
		return &text
	}
	return nil
}

// cell is a sort of transactions that is counted: those of a source and status, in all or with one value of one column.
type cell struct {
	Facet    string `db:"facet"`
	Value    string `db:"value"`
	SourceID string `db:"source_id"`
	Status   string `db:"status"`
}

// counts are changes of how many there are of each sort.
type counts map[cell]int64

// add counts a transaction in, or out.
func (c counts) add(t Transaction, n int64) {
	k := t.keys()
	for _, f := range [...][2]string{{"", ""}, {"transaction_type", string(t.Type)}, {"asset_type", k.asset}, {"chain", k.chain},
		{"direction", string(t.Direction)}, {"category_key", k.category}} {
		if f[0] == "" || f[1] != "" {
			c[cell{f[0], f[1], t.Source.ID, string(t.Status)}] += n
		}
	}
}
