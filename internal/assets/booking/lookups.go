package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// lookups caches the records that entries are computed from, so that each is read once for all entries of a batch.
type lookups struct {
	tx           *db.Tx
	transactions map[string]transaction.Transaction
	partners     map[string]transaction.Transaction // by transaction, if it has one
	picks        map[string][]lot.Pick              // nil until they are needed
	policies     map[string]assetpolicy.Policy
	sources      map[string][]source.Source // by ledger account
	openLots     map[[2]string]bool         // by legal entity and ledger account
	held         map[[3]string]lots.HeldAs  // by legal entity, ledger account and asset
	rates        map[datedRate]*money.Decimal
}

// datedRate is an exchange rate of a day.
type datedRate struct {
	posting.Rate
	day string
}

func newLookups(tx *db.Tx) *lookups {
	return &lookups{tx: tx, transactions: map[string]transaction.Transaction{}, partners: map[string]transaction.Transaction{},
		policies: map[string]assetpolicy.Policy{},
		sources:  map[string][]source.Source{}, openLots: map[[2]string]bool{}, held: map[[3]string]lots.HeldAs{},
		rates: map[datedRate]*money.Decimal{}}
}

// gather reads the transactions of requests that the actor may see, and the other halves of their transfers.
func (f *lookups) gather(ctx context.Context, ps []Params) error {
	asked := map[string]bool{}
	var found []transaction.Transaction
	for _, p := range ps {
		if p.known != nil {
			found = append(found, *p.known)
		} else {
			asked[p.TransactionID] = true
		}
		if p.ByHand != nil {
			asked[p.ByHand.TransactionID] = true
		}
	}
	if delete(asked, ""); len(asked) > 0 {
		read, err := transaction.FindSomeUnchecked(ctx, f.tx, slices.Sorted(maps.Keys(asked)))
		if err != nil {
			return err
		}
		found = append(found, read...)
	}
	for _, t := range found {
		if actor.From(ctx).Sees(t.Source.LegalEntityID) {
			f.transactions[t.ID] = t
		}
	}
	var err error
	f.partners, err = transfers.PartnersUnchecked(ctx, f.tx, found)
	return err
}

// transaction returns a transaction that was gathered.
func (f *lookups) transaction(id, at string) (transaction.Transaction, error) {
	t, there := f.transactions[id]
	if !there {
		return t, fault.MissingAt("transaction", at+"transaction_id")
	}
	return t, nil
}

// partner returns the other half of a transfer, nil if there is none.
func (f *lookups) partner(ctx context.Context, t transaction.Transaction) (*transaction.Transaction, error) {
	other, there := f.partners[t.ID]
	switch {
	case !there:
		return nil, nil
	case !actor.From(ctx).Sees(other.Source.LegalEntityID):
		return nil, fault.Forbiddenf("the link of %s %s", t.SequenceNumber(), actor.NeedsUnlimited)
	}
	return &other, nil
}

// selection returns the lots that were picked for a transaction.
func (f *lookups) selection(ctx context.Context, id string) (_ []lot.Pick, err error) {
	if f.picks == nil {
		ids := slices.Collect(maps.Keys(f.transactions))
		for _, p := range f.partners {
			ids = append(ids, p.ID)
		}
		slices.Sort(ids)
		f.picks, err = lots.Selections(ctx, f.tx, slices.Compact(ids))
	}
	return f.picks[id], err
}

// policy returns the policy of an asset.
func (f *lookups) policy(ctx context.Context, symbol string) (assetpolicy.Policy, error) {
	return cached(f.policies, symbol, func() (assetpolicy.Policy, error) {
		found, err := assetpolicy.ForAssets(ctx, f.tx, []string{symbol})
		return found[symbol], err
	})
}

// sourcesOf returns the sources that are booked to a ledger account.
func (f *lookups) sourcesOf(ctx context.Context, ledgerAccountID string) ([]source.Source, error) {
	return cached(f.sources, ledgerAccountID, func() ([]source.Source, error) {
		return source.OfLedgerAccountUnchecked(ctx, f.tx, ledgerAccountID)
	})
}

// hasLots reports whether an account has open lots of a legal entity.
func (f *lookups) hasLots(ctx context.Context, legalEntityID, ledgerAccountID string) (bool, error) {
	return cached(f.openLots, [2]string{legalEntityID, ledgerAccountID}, func() (bool, error) {
		return lots.HasOpenLots(ctx, f.tx, legalEntityID, ledgerAccountID)
	})
}

// rate returns the exchange rate of a day, nil if none is stored.
func (f *lookups) rate(ctx context.Context, r posting.Rate, day string) (*money.Decimal, error) {
	return cached(f.rates, datedRate{r, day}, func() (*money.Decimal, error) {
		rate, there, err := fx.Rate(ctx, f.tx, r.From, r.To, day)
		if err != nil || !there {
			return nil, err
		}
		return &rate, nil
	})
}

// cached returns a known value, or finds and stores it.
func cached[K comparable, V any](known map[K]V, key K, find func() (V, error)) (V, error) {
	v, there := known[key]
	if there {
		return v, nil
	}
	v, err := find()
	if err == nil {
		known[key] = v
	}
	return v, err
}
