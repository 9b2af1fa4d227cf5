package booking

import (
	"slices"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Params ask for an entry: one that follows from a transaction, or one whose lines are given.
type Params struct {
	TransactionID   string
	Type            string
	LedgerAccountID string // the target; may be empty where the type says it
	OffsetAccountID string // instead of that of the source
	AccountingDate  string // empty is that of the transaction
	Memo            *string
	TagIDs          *[]string
	VendorName      string
	AutoPost        bool
	OpenOnly        bool // refused where it, or what it changes about lots, is of a closed period; it holds for all that are asked for with it

	// What a rule makes of the transaction that is named besides its entry.
	RuleID      string
	RuleVersion int64
	Vendor      string   // the payee; empty leaves it as it is
	AddTagIDs   []string // to the tags of the transaction and of the entry

	ByHand *journal.CreateParams // nothing else is given then
}

// check finds what is wrong with a request in itself and in the light of the chart.
func (p Params) check(b *books.Books, at string) error {
	var faults fault.List
	if !slices.Contains(posting.Types, posting.Type(p.Type)) {
		faults.Addf(at+"transaction_type", "must be one of the transaction types")
	}
	var missing []string
	var blocked []fault.Field
	for _, a := range []struct{ field, id string }{{"ledger_account_id", p.LedgerAccountID}, {"offset_ledger_account_id", p.OffsetAccountID}} {
		if a.id == "" {
			continue
		}
		switch found, there := b.Accounts[a.id]; {
		case !there:
			missing = append(missing, at+a.field)
		case found.ArchivedAt != nil:
			blocked = append(blocked, fault.Field{Name: at + a.field, Message: "the ledger account " + found.String() + " is archived"})
		case !found.Postable:
			faults.Addf(at+a.field, "the ledger account %s is not postable: choose one below it", found)
		}
	}
	switch {
	case faults.Err() != nil:
		return faults.Err()
	case len(missing) > 0:
		return fault.MissingAt("ledger account", missing...)
	case len(blocked) > 0:
		return fault.ConflictAt(blocked, "%s", blocked[0].Message)
	}
	return nil
}

// holds refuses an account that is for another asset.
func holds(a account.Account, symbol, field string) error {
	if a.AssetType == "" || a.AssetType == symbol {
		return nil
	}
	return fault.Invalidf(field, "the ledger account %s is for %s, not for %s", a, a.AssetType, symbol)
}

// refused says why there is no entry: what was not sent is a fault of the request, everything else is one of the books.
func refused(err error, at string) error {
	var r *posting.Refusal
	if !asRefusal(err, &r) {
		return err
	}
	switch r.Reason {
	case posting.NoTarget:
		return fault.Invalidf(at+r.Field, "%s", r.Message)
	case posting.MissingRate:
		return fault.ConflictAt([]fault.Field{{Name: at + r.Field, Message: r.Message}}, "%s: store it with POST /v1/fx-rates", r.Message)
	case posting.NoValue:
		return fault.ConflictAt([]fault.Field{{Name: at + r.Field, Message: r.Message}}, "%s: store a price with POST /v1/prices", r.Message)
	}
	return fault.Within(at, r.Unwrap())
}
