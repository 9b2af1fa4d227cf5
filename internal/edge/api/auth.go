package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/ratelimit"
)

const (
	keyHeader          = "X-API-Key"
	organizationHeader = "X-Organization-Id"
)

// errNoKey tells a caller who sent no key how to send one.
var errNoKey = fault.Unauthorizedf("the request has no API key; send one in the header %s", keyHeader)

// admit returns the actor of a request, and counts it against the rate limits. Every answer to a request with a key says what is left of
// them, also if the request is refused: of those of the key, or of that of the address if the key is unknown.
func (a *API) admit(w http.ResponseWriter, r *http.Request) (actor.Actor, error) {
	who, err := a.authenticate(w.Header(), r)
	if err != nil {
		return who, err
	}
	if out, ok := w.(*response); ok {
		out.organizationID = who.OrganizationID // for the log of what fails
	}
	return who, a.limits.allow(r.Context(), w.Header(), who)
}

// requireOrganization returns an error for a request that names another organization than that of the key: falling back to that one would
// act on the wrong books.
func requireOrganization(who actor.Actor, r *http.Request) error {
	named := r.Header.Get(organizationHeader)
	if named == "" || named == who.OrganizationID {
		return nil
	}
	return &fault.Error{Kind: fault.NotFound, Message: fmt.Sprintf("organization not found: %s in the header %s is not the "+
		"organization of the API key; correct or remove it", wire.QuoteUnlessID(named), organizationHeader)}
}

// authenticate returns the actor of a request. For an unknown key, it says in the headers of the answer what is left for the address.
func (a *API) authenticate(h http.Header, r *http.Request) (actor.Actor, error) {
	if r.Header.Get(keyHeader) == "" {
		return actor.Actor{}, errNoKey
	}
	key, address := secret.New(r.Header.Get(keyHeader)), addressOf(r)
	full, leave, ok := a.limits.lookUp(r.Context(), address, func() bool { return a.app.Access.IsNew(key) })
	if !ok {
		return actor.Actor{}, full.refuse(h)
	}
	defer leave()
	who, err := a.app.Access.Authenticate(r.Context(), key)
	switch {
	case fault.KindOf(err) == fault.Unauthorized && full != nil:
		return who, full.refuse(h)
	case fault.KindOf(err) == fault.Unauthorized:
		a.limits.countStranger(r.Context(), h, address)
		return who, err
	case err != nil:
		return who, err
	}
	who.RequestID = requestID(r.Context())
	return who, nil
}

// Limits follow from the one that is configured, which is for a key.
const (
	organizationShare = 4  // an organization may send as many requests as so many keys
	strangerShare     = 10 // an address may try one in so many unknown keys
	strangerLookups   = 4  // how many keys from addresses over their limit are looked up at a time
)

// lookupWait is how long a key from an address over its limit waits to be looked up.
const lookupWait = time.Second

// senders says for each policy that counts known callers whose requests it counts.
var senders = map[string]string{"key": "this API key", "organization": "all API keys of this organization together"}

// limits holds the rate limits of the service. The zero value has none.
type limits struct {
	limiter                     *ratelimit.Limiter
	key, organization, stranger ratelimit.Policy
	lookups                     chan struct{} // keys that are looked up although their address has tried too many unknown ones
}

// newLimits returns the limits for so many requests per second and key.
func newLimits(l *ratelimit.Limiter, perSecond int) limits {
	if perSecond <= 0 {
		return limits{}
	}
	quota := perSecond * int(ratelimit.Window/time.Second)
	return limits{limiter: l,
		key:          ratelimit.Policy{Name: "key", Quota: quota},
		organization: ratelimit.Policy{Name: "organization", Quota: organizationShare * quota},
		stranger:     ratelimit.Policy{Name: "address", Quota: max(1, quota/strangerShare), Local: true},
		lookups:      make(chan struct{}, strangerLookups),
	}
}

// allow counts a request of a caller, says in the headers of the answer what the caller has left, and returns an error if that is nothing.
func (l limits) allow(ctx context.Context, h http.Header, who actor.Actor) error {
	if l.limiter == nil {
		return nil
	}
	states := []ratelimit.State{l.limiter.Take(ctx, l.key, who.APIKeyID)}
	if !states[0].Refused {
		states = append(states, l.limiter.Take(ctx, l.organization, who.OrganizationID))
	}
	describeLimits(h, states)
	for _, s := range states {
		if s.Refused {
			return fault.RateLimitedf(s.Reset, "%s sent more than %d requests within %d seconds: wait, then send the request again",
				senders[s.Policy.Name], s.Policy.Quota, int(ratelimit.Window/time.Second))
		}
	}
	return nil
}

// describeLimits sets the header fields of draft-ietf-httpapi-ratelimit-headers: which quotas there are, and what is left of them.
func describeLimits(h http.Header, states []ratelimit.State) {
	policies, left := make([]string, len(states)), make([]string, len(states))
	for i, s := range states {
		policies[i] = fmt.Sprintf("%q;q=%d;w=%d", s.Policy.Name, s.Policy.Quota, int(ratelimit.Window/time.Second))
		left[i] = fmt.Sprintf("%q;r=%d;t=%d", s.Policy.Name, s.Remaining, int(math.Ceil(s.Reset.Seconds())))
	}
	h.Set("RateLimit-Policy", strings.Join(policies, ", "))
	h.Set("RateLimit", strings.Join(left, ", "))
}

// fullAddress is what an address has left that has tried too many unknown keys.
type fullAddress ratelimit.State

// refuse returns the error for another unknown key, and says in the headers of the answer what is left.
func (f *fullAddress) refuse(h http.Header) error {
	describeLimits(h, []ratelimit.State{ratelimit.State(*f)})
	return fault.RateLimitedf(f.Reset, "too many requests with unknown API keys came from this address; wait, and check the key")
}

// lookUp is called before a key is looked up. If the address has tried too many unknown keys, it returns full, which refuses another one.
// The key may be valid all the same, because callers behind a proxy share an address. So it is looked up, but only few of such keys at a
// time, unless it is not new to this node. It returns false if the key had to wait for too long and is not to be looked up.
func (l limits) lookUp(ctx context.Context, address string, isNew func() bool) (full *fullAddress, leave func(), ok bool) {
	leave = func() {}
	if l.limiter == nil {
		return nil, leave, true
	}
	s, isFull := l.limiter.Full(l.stranger, address)
	if !isFull {
		return nil, leave, true
	}
	full = new(fullAddress(s))
	if !isNew() {
		return full, leave, true
	}
	timeout := time.NewTimer(lookupWait)
	defer timeout.Stop()
	select {
	case l.lookups <- struct{}{}:
		return full, func() { <-l.lookups }, true
	case <-timeout.C:
	case <-ctx.Done():
	}
	return full, leave, false
}

// countStranger counts a request with an unknown key, and says in the headers of the answer what is left for the address.
func (l limits) countStranger(ctx context.Context, h http.Header, address string) {
	if l.limiter != nil {
		describeLimits(h, []ratelimit.State{l.limiter.Take(ctx, l.stranger, address)})
	}
}

// addressOf returns the address that a request comes from, without the port. An IPv6 network of 64 bits counts as one address, because
// that is the least that a caller gets.
func addressOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address := at.Addr().Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(64) // fails only for a wrong number of bits
	return network.String()
}
