package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/ratelimit"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

const (
	keyHeader          = "X-API-Key"
	organizationHeader = "X-Organization-Id"
)

// errNobody tells a caller who has shown nothing how to say who they are.
var errNobody = fault.Unauthorizedf("the request has no API key; send one in the header %s, or an access token of an app in the header "+
	"Authorization", keyHeader)

// caller is who makes a request, and the session if it is a person in a browser.
type caller struct {
	actor.Actor
	session *identity.Session
	members []identity.Membership
}

// admit returns the actor of a request, and counts it against the rate limits. Every answer says what is left of them, also if the request
// is refused: of those of the key, or of that of the address if the key is unknown or there is none.
func (a *API) admit(w http.ResponseWriter, r *http.Request, access wire.Access) (caller, error) {
	if access == wire.ForAnyone {
		return a.admitAnyone(w.Header(), r)
	}
	who, err := a.authenticate(w.Header(), r)
	if err != nil {
		return who, err
	}
	home := who.OrganizationID
	if err := checkOrganizationHeader(r); err != nil {
		return who, err
	}
	if who.session != nil {
		err = a.chooseOrganization(&who, r, access)
	} else {
		err = a.actForClient(&who, r)
	}
	if err != nil {
		return who, err
	}
	if out, ok := w.(*response); ok {
		out.organizationID = who.OrganizationID // for the log of what fails
	}
	if err := a.limits.allow(r.Context(), w.Header(), who.Actor); err != nil {
		return who, err
	}
	if who.session == nil {
		a.app.Access.NoteUse(who.CredentialID(), home, a.browser.Address(r))
	}
	if access == wire.ForPerson && who.session == nil {
		return who, fault.Forbiddenf("this is for a person who is signed in: API keys and apps cannot do it")
	}
	return who, nil
}

// admitAnyone counts a request of somebody who is not known against the limit of the address.
func (a *API) admitAnyone(h http.Header, r *http.Request) (caller, error) {
	who := caller{Actor: actor.Actor{RequestID: requestID(r.Context())}}
	if err := a.protect(r); err != nil {
		return who, err
	}
	return who, a.limits.allowStranger(r.Context(), h, browser.Network(a.browser.Address(r)))
}

// protect returns an error for a request that another site has made a browser send.
func (a *API) protect(r *http.Request) error {
	if err := a.protection.Check(r); err != nil {
		return fault.Forbiddenf("the request was sent by another site than this service: open the service and try again there")
	}
	return nil
}

// checkOrganizationHeader returns an error for a header that is sent without a value, as a script with an empty variable does, or more than
// once: to ignore it would act on books that nobody has named.
func checkOrganizationHeader(r *http.Request) error {
	values := r.Header.Values(organizationHeader)
	if len(values) > 1 {
		return fault.Invalidf(organizationHeader, "must be sent once, but is sent %d times", len(values))
	}
	if len(values) == 1 && values[0] == "" {
		return fault.Invalidf(organizationHeader, "must be the id of an organization, but is empty; correct or remove it")
	}
	return nil
}

// chooseOrganization sets the organization that a person who is signed in acts for.
func (a *API) chooseOrganization(who *caller, r *http.Request, access wire.Access) error {
	chosen, err := a.app.Firms.ActorOf(r.Context(), *who.session, who.members, r.Header.Get(organizationHeader))
	if err != nil && (access == wire.ForOrganization || r.Header.Get(organizationHeader) != "") {
		return err
	}
	if err != nil { // what the person asks for concerns no organization
		chosen = actor.Actor{UserID: who.session.UserID, SessionID: who.session.ID, AuthenticatedAt: who.session.AuthenticatedAt,
			Scopes: actor.Scopes}
	}
	chosen.RequestID = who.RequestID
	who.Actor = chosen
	return nil
}

// actForClient makes an API key of a firm act for the client that a request names, if the person whose key it is works for that. If not,
// the actor stays as it is, and requireOrganization refuses the request.
func (a *API) actForClient(who *caller, r *http.Request) error {
	named := r.Header.Get(organizationHeader)
	if named == "" || named == who.OrganizationID {
		return nil
	}
	acting, err := a.app.Firms.Act(r.Context(), who.Actor, named)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err == nil {
		who.Actor = acting
	}
	return err
}

// requireOrganization returns an error for a request that names another organization than that of the key: falling back to that one would
// act on the wrong books.
func requireOrganization(who actor.Actor, r *http.Request) error {
	named := r.Header.Get(organizationHeader)
	if named == "" || named == who.OrganizationID {
		return nil
	}
	return &fault.Error{Kind: fault.NotFound, Message: fmt.Sprintf("organization not found: %s in the header %s is not the "+
		"organization of the %s; correct or remove it", wire.QuoteUnlessID(named), organizationHeader, who.Credential())}
}

// credential is what a request has shown.
type credential struct {
	text    secret.Text
	isNew   func(secret.Text) bool // whether this node would have to look it up
	resolve func(ctx context.Context, text secret.Text) (caller, error)
}

// credentialOf returns what a request has shown: a key, otherwise an access token, otherwise the session of a browser. The error is
// Unauthorized if it has shown nothing. Other kinds of authorization are for a proxy in front of the service.
func (a *API) credentialOf(r *http.Request) (credential, error) {
	if key := r.Header.Get(keyHeader); key != "" {
		return credential{secret.New(key), a.app.Access.IsNew, as(a.app.Access.Authenticate)}, nil
	}
	if token, ok := bearer(r); ok {
		if strings.HasPrefix(token, keyPrefix) {
			return credential{}, errKeyAsToken
		}
		return credential{secret.New(token), a.app.OAuth.IsNew, as(a.app.OAuth.Authenticate)}, nil
	}
	text := a.browser.Text(r, browser.Session)
	if text.IsZero() {
		return credential{}, errNobody
	}
	return credential{text, a.app.Identity.IsNew, a.resolveSession}, a.protect(r)
}

// as returns a function that resolves a credential which has no session.
func as(authenticate func(context.Context, secret.Text) (actor.Actor, error)) func(context.Context, secret.Text) (caller, error) {
	return func(ctx context.Context, text secret.Text) (caller, error) {
		who, err := authenticate(ctx, text)
		return caller{Actor: who}, err
	}
}

func (a *API) resolveSession(ctx context.Context, text secret.Text) (caller, error) {
	one, members, err := a.app.Identity.Authenticate(ctx, text)
	return caller{session: &one, members: members}, err
}

// authenticate returns who makes a request. For what is unknown, it says in the headers of the answer what is left for the address.
func (a *API) authenticate(h http.Header, r *http.Request) (caller, error) {
	address := browser.Network(a.browser.Address(r))
	shown, err := a.credentialOf(r)
	if err != nil {
		a.limits.describeStranger(h, address)
		return caller{}, err
	}
	full, leave, ok := a.limits.lookUp(r.Context(), address, func() bool { return shown.isNew(shown.text) })
	if !ok {
		return caller{}, full.refuse(h)
	}
	defer leave()
	who, err := shown.resolve(r.Context(), shown.text)
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
	states := []ratelimit.State{l.limiter.Take(ctx, l.key, who.CredentialID())}
	if !states[0].Refused && who.OrganizationID != "" {
		states = append(states, l.limiter.Take(ctx, l.organization, who.OrganizationID))
	}
	ratelimit.Describe(h, states...)
	for _, s := range states {
		sender := "this " + who.Credential()
		if s.Policy.Name == l.organization.Name {
			sender = "all API keys, apps and people of this organization together"
		}
		if s.Refused {
			return fault.RateLimitedf(s.Reset, "%s sent more than %d requests within %d seconds: wait, then send the request again",
				sender, s.Policy.Quota, int(ratelimit.Window/time.Second))
		}
	}
	return nil
}

// allowStranger counts a request of somebody who need not be known, as allow does.
func (l limits) allowStranger(ctx context.Context, h http.Header, address string) error {
	if l.limiter == nil {
		return nil
	}
	state := l.limiter.Take(ctx, l.stranger, address)
	ratelimit.Describe(h, state)
	if state.Refused {
		return fault.RateLimitedf(state.Reset, "too many requests came from this address; wait, then try again")
	}
	return nil
}

// fullAddress is what an address has left that has tried too many unknown keys.
type fullAddress ratelimit.State

// refuse returns the error for another unknown key, and says in the headers of the answer what is left.
func (f *fullAddress) refuse(h http.Header) error {
	ratelimit.Describe(h, ratelimit.State(*f))
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

// describeStranger says in the headers of the answer what is left for the address of a request without a key, which counts against nothing.
func (l limits) describeStranger(h http.Header, address string) {
	if l.limiter != nil {
		state, _ := l.limiter.Full(l.stranger, address)
		ratelimit.Describe(h, state)
	}
}

// countStranger counts a request with an unknown key, and says in the headers of the answer what is left for the address.
func (l limits) countStranger(ctx context.Context, h http.Header, address string) {
	if l.limiter != nil {
		ratelimit.Describe(h, l.limiter.Take(ctx, l.stranger, address))
	}
}
