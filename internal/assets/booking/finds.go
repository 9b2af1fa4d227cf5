package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
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

// finds is what entries follow from, looked up once for all that are made together.
type finds struct {
	tx           *db.Tx
	transactions map[string]transaction.Transaction
	partners     map[string]transaction.Transaction // of those that have one
	picks        map[string][]lot.Pick              // nil until somebody asks
	policies     map[string]assetpolicy.Policy
	sources      map[string][]source.Source // by ledger account
	carries      map[[2]string]bool         // by legal entity and ledger account
	rates        map[dated]*money.Decimal
}

// dated is a rate of a day.
type dated struct {
	posting.Rate
	day string
}

func newFinds(tx *db.Tx) *finds {
	return &finds{tx: tx, transactions: map[string]transaction.Transaction{}, partners: map[string]transaction.Transaction{},
		policies: map[string]assetpolicy.Policy{},
		sources:  map[string][]source.Source{}, carries: map[[2]string]bool{}, rates: map[dated]*money.Decimal{}}
}

// gather finds the transactions that entries are asked for, those the actor sees, and the other halves of theirs.
func (f *finds) gather(ctx context.Context, ps []Params) error {
	asked := map[string]bool{}
	for _, p := range ps {
		asked[p.TransactionID] = true
		if p.ByHand != nil {
			asked[p.ByHand.TransactionID] = true
		}
	}
	if delete(asked, ""); len(asked) == 0 {
		return nil
	}
	found, err := transaction.FindSomeUnchecked(ctx, f.tx, slices.Sorted(maps.Keys(asked)))
	if err != nil {
		return err
	}
	for _, t := range found {
		if actor.From(ctx).Sees(t.Source.LegalEntityID) {
			f.transactions[t.ID] = t
		}
	}
	f.partners, err = transfers.PartnersUnchecked(ctx, f.tx, found)
	return err
}

// transaction gives one that was gathered.
func (f *finds) transaction(id, at string) (transaction.Transaction, error) {
	t, there := f.transactions[id]
	if !there {
		return t, fault.MissingAt("transaction", at+"transaction_id")
	}
	return t, nil
}

// partner gives the other half of one, nil where there is none.
func (f *finds) partner(ctx context.Context, t transaction.Transaction) (*transaction.Transaction, error) {
	other, there := f.partners[t.ID]
	switch {
	case !there:
		return nil, nil
	case !actor.From(ctx).Sees(other.Source.LegalEntityID):
		return nil, fault.Missing("transaction")
	}
	return &other, nil
}

// selection gives the lots that were chosen for a transaction.
func (f *finds) selection(ctx context.Context, id string) (_ []lot.Pick, err error) {
	if f.picks == nil {
		ids := slices.Collect(maps.Keys(f.transactions))
		for _, p := range f.partners {
			ids = append(ids, p.ID)
		}
		slices.Sort(ids)
		f.picks, err = asset.Selections(ctx, f.tx, slices.Compact(ids))
	}
	return f.picks[id], err
}

// policy gives that of an asset.
func (f *finds) policy(ctx context.Context, symbol string) (assetpolicy.Policy, error) {
	return remember(f.policies, symbol, func() (assetpolicy.Policy, error) {
		found, err := assetpolicy.Of(ctx, f.tx, []string{symbol})
		return found[symbol], err
	})
}

// sourcesOf gives the sources that are booked to a ledger account.
func (f *finds) sourcesOf(ctx context.Context, ledgerAccountID string) ([]source.Source, error) {
	return remember(f.sources, ledgerAccountID, func() ([]source.Source, error) {
		return source.OfLedgerAccountUnchecked(ctx, f.tx, ledgerAccountID)
	})
}

// hasLots tells that an account has lots of a legal entity.
func (f *finds) hasLots(ctx context.Context, legalEntityID, ledgerAccountID string) (bool, error) {
	return remember(f.carries, [2]string{legalEntityID, ledgerAccountID}, func() (bool, error) {
		return asset.Carries(ctx, f.tx, legalEntityID, ledgerAccountID)
	})
}

// rate gives one of a day, nil where none is stored.
func (f *finds) rate(ctx context.Context, r posting.Rate, day string) (*money.Decimal, error) {
	return remember(f.rates, dated{r, day}, func() (*money.Decimal, error) {
		rate, there, err := fx.Rate(ctx, f.tx, r.From, r.To, day)
		if err != nil || !there {
			return nil, err
		}
		return &rate, nil
	})
}

// remember looks something up unless it was before.
func remember[K comparable, V any](known map[K]V, key K, find func() (V, error)) (V, error) {
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
