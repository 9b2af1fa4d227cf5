package transaction_test

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// This is the list of transactions written a second time, as plainly as the contract says it, to hold the first against.

// answer returns every transaction that matches a filter, in order.
func answer(all []transaction.Transaction, entities []string, f transaction.Filter, s transaction.Sort) []transaction.Transaction {
	var out []transaction.Transaction
	for _, t := range all {
		if (entities == nil || slices.Contains(entities, t.Source.LegalEntityID)) && passesState(t, f) && passesSource(t, f) &&
			passesSelf(t, f) && passesNumbers(t, f) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b transaction.Transaction) int {
		n := cmp.Or(compare(a, b, s.By), cmp.Compare(a.Number, b.Number))
		if s.Order != "asc" {
			n = -n
		}
		return n
	})
	return out
}

func passesState(t transaction.Transaction, f transaction.Filter) bool {
	if t.Status == transaction.Spam && f.Status != "spam" && !f.IncludeSpam {
		return false
	}
	if f.Status != "" && f.Status != string(t.Status) {
		return false
	}
	return f.HasPostedJournalEntry == nil || *f.HasPostedJournalEntry == (t.Status == transaction.Posted)
}

func passesSource(t transaction.Transaction, f transaction.Filter) bool {
	class := map[source.Type]string{"wallet": "crypto", "exchange": "exchange", "bank": "fiat", "card": "card",
		"other": "other"}[t.Source.Type]
	isSource := func(id string) bool { return id == t.Source.ID || id == t.Source.AccountID }
	return (f.SourceClass == "" || f.SourceClass == class) &&
		(len(f.SourceTypes) == 0 || slices.Contains(f.SourceTypes, string(t.Source.Type))) &&
		(f.SourceID == "" || isSource(f.SourceID)) &&
		(len(f.AccountIDs) == 0 || len(f.Addresses) > 0 || slices.ContainsFunc(f.AccountIDs, isSource)) &&
		(len(f.LegalEntityIDs) == 0 || slices.Contains(f.LegalEntityIDs, t.Source.LegalEntityID))
}

func passesSelf(t transaction.Transaction, f transaction.Filter) bool {
	alike := func(list []string, value string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return value != "" && strings.EqualFold(s, value) })
	}
	touches := func(address string) bool {
		same := func(own string) bool { return own != "" && strings.EqualFold(own, address) }
		return t.Crypto != nil && (same(t.Crypto.From) || same(t.Crypto.To)) || same(t.Source.Address)
	}
	isSource := func(id string) bool { return id == t.Source.ID || id == t.Source.AccountID }
	isIn := func(value string) bool {
		for label := range strings.SplitSeq(value, ";") {
			if t.Category == "" || !strings.Contains(strings.ToLower(t.Category), strings.ToLower(label)) {
				return false
			}
		}
		return true
	}
	return (len(f.TransactionIDs) == 0 || slices.Contains(f.TransactionIDs, t.ID)) &&
		!slices.Contains(f.ExcludeTransactionIDs, t.ID) &&
		(len(f.SequenceNumbers) == 0 || slices.Contains(f.SequenceNumbers, t.SequenceNumber())) &&
		(len(f.TransactionTypes) == 0 || slices.Contains(f.TransactionTypes, string(t.Type))) &&
		(len(f.AssetTypes) == 0 || slices.Contains(f.AssetTypes, asset(t))) &&
		alike(f.Chains, chain(t)) &&
		(len(f.Addresses) == 0 || slices.ContainsFunc(f.Addresses, touches) || slices.ContainsFunc(f.AccountIDs, isSource)) &&
		(len(f.ProviderCategory) == 0 || slices.ContainsFunc(f.ProviderCategory, isIn)) &&
		(f.Search == "" || says(t, f.Search)) &&
		(f.Direction == "" || f.Direction == string(t.Direction))
}

func says(t transaction.Transaction, text string) bool {
	labels := []string{t.Description, t.Vendor, t.Memo, t.Category}
	if t.Bank != nil {
		labels = append(labels, t.Bank.CounterpartyName)
	}
	if t.Card != nil {
		labels = append(labels, t.Card.MerchantName, t.Card.MerchantCategory)
	}
	return slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(strings.ToLower(l), strings.ToLower(text)) })
}

func passesNumbers(t transaction.Transaction, f transaction.Filter) bool {
	within := func(n *big.Rat, low, high string) bool {
		return (low == "" && high == "") || n != nil && (low == "" || n.Cmp(number(low)) >= 0) && (high == "" || n.Cmp(number(high)) <= 0)
	}
	gross, _ := amounts(t)
	return within(price(t), f.GrossPriceMin, f.GrossPriceMax) && within(gross, f.GrossAmountMin, f.GrossAmountMax) &&
		(f.StartDate == "" || !t.At.Before(instant(f.StartDate, false))) &&
		(f.EndDate == "" || !t.At.After(instant(f.EndDate, true))) &&
		(f.UpdatedSince == "" || !t.UpdatedAt.Before(instant(f.UpdatedSince, false)))
}

// instant parses a time; a date is its first or its last instant.
func instant(text string, end bool) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at
	}
	day, err := time.Parse("2006-01-02", text)
	if err != nil {
		panic(err)
	}
	if end {
		return day.Add(24*time.Hour - 1)
	}
	return day
}

func number(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return n
}

func rat(d money.Decimal) *big.Rat { return number(d.String()) }

func price(t transaction.Transaction) *big.Rat {
	if t.Value == nil {
		return nil
	}
	return rat(t.Value.Gross)
}

// amounts returns the quantity before and after the fee in the same asset; for fiat money, the amounts of the value.
func amounts(t transaction.Transaction) (gross, net *big.Rat) {
	inItself := t.Value != nil && t.Value.Currency == t.Currency
	fee := new(big.Rat)
	switch {
	case t.Quantity != nil:
		gross = rat(*t.Quantity)
	case inItself:
		gross = rat(t.Value.Gross)
	default:
		return nil, nil
	}
	if inItself {
		fee = rat(t.Value.Fee)
	} else if c := t.Crypto; c != nil && c.FeeQuantity != nil && strings.EqualFold(c.FeeAssetType, t.Currency) {
		fee = rat(*c.FeeQuantity)
	}
	if net = new(big.Rat).Sub(gross, fee); net.Sign() < 0 {
		net = gross
	}
	return gross, net
}

func asset(t transaction.Transaction) string {
	if t.Crypto != nil && t.Crypto.AssetType != "" {
		return t.Crypto.AssetType
	}
	return t.Currency
}

func chain(t transaction.Transaction) string {
	if t.Crypto == nil {
		return ""
	}
	return strings.ToLower(t.Crypto.Chain)
}

// compare orders by a field; unknown values come first. Assets and chains are ordered by date within.
func compare(a, b transaction.Transaction, by string) int {
	numbers := func(a, b *big.Rat) int {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return -1
		case b == nil:
			return 1
		}
		return a.Cmp(b)
	}
	grossA, netA := amounts(a)
	grossB, netB := amounts(b)
	switch by {
	case "created_at":
		return a.CreatedAt.Compare(b.CreatedAt)
	case "updated_at":
		return a.UpdatedAt.Compare(b.UpdatedAt)
	case "gross_amount":
		return numbers(grossA, grossB)
	case "net_amount":
		return numbers(netA, netB)
	case "gross_price":
		return numbers(price(a), price(b))
	case "asset_type":
		return cmp.Or(strings.Compare(asset(a), asset(b)), a.At.Compare(b.At))
	case "chain":
		return cmp.Or(strings.Compare(chain(a), chain(b)), a.At.Compare(b.At))
	}
	return a.At.Compare(b.At)
}
