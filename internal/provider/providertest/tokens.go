package providertest

import (
	"context"
	"sync"

	"github.com/bursarhq/bursar/internal/provider"
)

// Expirer is a fake of a system that gives out tokens that expire.
type Expirer interface {
	// Expire ends the access tokens that were given out so far.
	Expire()
	// Renewals returns how many access tokens were given out.
	Renewals() int
}

// keeper keeps the credentials of an account as the service does: one caller at a time renews them.
type keeper struct {
	mu     sync.Mutex
	stored provider.Credentials
}

func (k *keeper) get() provider.Credentials {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stored
}

// Renew returns what follows credentials, and renews them unless somebody has done so.
func (k *keeper) Renew(ctx context.Context, stale provider.Credentials,
	renew func(context.Context, provider.Credentials) (provider.Credentials, error)) (provider.Credentials, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stored[provider.AccessToken].Equal(stale[provider.AccessToken]) {
		return k.stored, nil
	}
	next, err := renew(ctx, k.stored)
	if err == nil {
		k.stored = next
	}
	return next, err
}

// renewsTokensOnce requires that a token that has expired is renewed once, although two sessions need it at the same time, and that what
// is kept can be renewed again.
func renewsTokensOnce(w *world, s Suite) {
	tokens, ok := w.fake.(Expirer)
	if !ok {
		w.Skip("the system has no tokens that expire")
	}
	w.add(history(s.PageSize)...)
	w.must(true)
	before := tokens.Renewals()
	for round := 1; round <= 3; round++ {
		tokens.Expire()
		ledgers := w.connector.Describe().Ledgers
		var wait sync.WaitGroup
		for _, one := range []*provider.Session{w.session(true), w.session(true)} {
			wait.Go(func() {
				for _, ledger := range ledgers {
					if _, err := w.connector.Read(w.Context(), one, ledger, w.cursors[ledger]); err != nil {
						w.Errorf("round %d: %v", round, err)
					}
				}
			})
		}
		wait.Wait()
		if n := tokens.Renewals() - before; n != round {
			w.Errorf("%d tokens were given out after %d expired", n, round)
		}
	}
	w.wants()
}
