package source

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
)

// Verify returns the violated invariants of an organization's sources. References to ledger accounts and legal entities
// are verified elsewhere.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	rows, err := selectForVerify(ctx, tx)
	if err != nil {
		return nil, err
	}
	places := map[[2]string]string{}
	for _, r := range rows {
		for _, text := range append(r.faults(), r.itemFaults()...) {
			out = append(out, fmt.Sprintf("source %s: %s", r.ID, text))
		}
		if r.Address == nil || r.DeletedAt != nil {
			continue
		}
		place := [2]string{db.OrEmpty(r.Chain), db.OrEmpty(r.AddressKey)}
		if other := places[place]; other != "" {
			out = append(out, fmt.Sprintf("source %s: it has the address of the source %s", r.ID, other))
		}
		places[place] = r.ID
	}
	return out, nil
}

// faults returns the violated invariants of the source itself.
func (r verifyRow) faults() (out []string) {
	s := r.source()
	var faults fault.List
	s.validate(&faults)
	if err := faults.Err(); err != nil {
		out = append(out, err.Error())
	}
	if s != s.normalized() {
		out = append(out, "it is not in normalized form")
	}
	if (s.Type == Bank || s.Type == Card) && s.Currency == "" {
		out = append(out, "it has no currency")
	}
	if prefix := s.Type.accountPrefix(); !id.Valid(id.MoneySource, s.ID) || prefix == "" && s.AccountID != "" || prefix != "" &&
		!id.Valid(prefix, s.AccountID) {
		out = append(out, "its ids are not those of a "+string(s.Type))
	}
	if db.OrEmpty(r.AddressKey) != AddressKey(s.Address) {
		out = append(out, "its address_key does not match its address")
	}
	if t := account.Type(db.OrEmpty(r.AccountType)); t != "" && t != account.Asset && t != account.Liability {
		out = append(out, "its ledger account is of type "+string(t))
	}
	if s.DeletedAt == nil && r.Archived {
		out = append(out, "its ledger account is archived")
	}
	if s.DeletedAt != nil && r.Transactions {
		out = append(out, "it is deleted, but has transactions that are not")
	}
	return out
}

// itemFaults returns the violated invariants between a source and its aggregator item.
func (r verifyRow) itemFaults() (out []string) {
	switch {
	case r.ItemID == nil && r.DeletedAt != nil:
		out = append(out, "it is marked as deleted, which only an aggregator's account may be")
	case r.ItemID != nil && r.Manual:
		out = append(out, "it is marked as manual, but is an aggregator's account")
	case r.ItemID != nil && r.ItemProvider == nil:
		out = append(out, "its aggregator item does not exist")
	case r.ItemID != nil && *r.ItemProvider != r.Provider:
		out = append(out, "its provider is not that of its aggregator item")
	}
	return out
}
