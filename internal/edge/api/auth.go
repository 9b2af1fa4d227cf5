package api

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

const (
	keyHeader          = "X-API-Key"
	organizationHeader = "X-Organization-Id"
)

// errNoKey tells a caller who sent no key how to send one.
var errNoKey = fault.Unauthorizedf("the request has no API key; send one in the header %s", keyHeader)

// authenticate returns the actor of a request.
func (a *API) authenticate(r *http.Request) (actor.Actor, error) {
	if r.Header.Get(keyHeader) == "" {
		return actor.Actor{}, errNoKey
	}
	who, err := a.app.Access.Authenticate(r.Context(), secret.New(r.Header.Get(keyHeader)))
	if err != nil {
		return who, err
	}
	who.RequestID = requestID(r.Context())
	// A request that names an organization must not fall back to that of the key: it would act on the wrong books.
	if named := r.Header.Get(organizationHeader); named != "" && named != who.OrganizationID {
		return who, &fault.Error{Kind: fault.NotFound, Message: fmt.Sprintf("organization not found: %s in the header %s is not the "+
			"organization of the API key; correct or remove it", wire.QuoteUnlessID(named), organizationHeader)}
	}
	return who, nil
}

// limitersMax bounds the memory of the limiter. When it is exceeded, every key starts again with a full allowance.
const limitersMax = 10_000

// limiter limits the requests per second of each key on this node. A burst may have twice as many.
type limiter struct {
	perSecond int
	mu        sync.Mutex
	byKey     map[string]*rate.Limiter
}

// allow returns an error if the key has no request left.
func (l *limiter) allow(key string) error {
	if l.perSecond <= 0 {
		return nil
	}
	now := time.Now()
	reservation := l.forKey(key).ReserveN(now, 1)
	if wait := reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
		return fault.RateLimitedFor(wait)
	}
	return nil
}

// forKey returns the limiter of a key.
func (l *limiter) forKey(key string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.byKey[key]
	if r == nil {
		if l.byKey == nil || len(l.byKey) >= limitersMax {
			l.byKey = map[string]*rate.Limiter{}
		}
		r = rate.NewLimiter(rate.Limit(l.perSecond), 2*l.perSecond)
		l.byKey[key] = r
	}
	return r
}
