package providertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

// start is the time at which tests begin.
var start = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// world is a connector, the fake of its system, and what was read so far.
type world struct {
	*testing.T
	connector provider.Reader
	fake      Fake
	*Server
	suite  Suite
	now    *clock.Manual
	dialer *provider.Dialer
	keeper *keeper

	mu      sync.Mutex
	slept   []time.Duration
	cursors map[string]string
	read    map[string]provider.Record
	order   []provider.Record
	omitted []provider.Omission
}

func newWorld(t *testing.T, s Suite) *world {
	w := &world{T: t, connector: s.Connector, suite: s, now: clock.NewManual(start), cursors: map[string]string{},
		read: map[string]provider.Record{}}
	w.fake = s.Fake()
	w.Server = w.fake.Base()
	Start(t, w.fake, w.now.Now)
	w.dialer = provider.NewDialer(s.Connector.Describe(), provider.Config{URL: w.URL, AllowPrivate: true, Clock: w.now, Sleep: w.sleep,
		Client: s.Client})
	w.keeper = &keeper{stored: secrets(w.fake.Credentials())}
	return w
}

// sleep moves the clock instead of waiting.
func (w *world) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	w.slept = append(w.slept, d)
	w.mu.Unlock()
	w.now.Advance(d)
	return ctx.Err()
}

// waited returns the longest pause since the last call.
func (w *world) waited() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := time.Duration(0)
	for _, d := range w.slept {
		longest = max(longest, d)
	}
	w.slept = nil
	return longest
}

// session returns a session with the right credentials, in which the changed ones replace others. Those that nobody has changed are kept
// when they are renewed.
func (w *world) session(patient bool, change ...string) *provider.Session {
	if len(change) == 0 {
		s := w.dialer.Open(w.keeper.get(), patient)
		s.Keeper = w.keeper
		return s
	}
	all := w.fake.Credentials()
	for i := 0; i < len(change); i += 2 {
		all[change[i]] = change[i+1]
	}
	return w.dialer.Open(secrets(all), patient)
}

// add adds movements as the account of the suite can have them.
func (w *world) add(all ...Movement) {
	for _, m := range all {
		w.fake.Add(w.suite.own(m))
	}
}

// own returns a movement as the account can have it: for one with money only, without a trade and a fee, and with two digits after the
// point.
func (s Suite) own(m Movement) Movement {
	if s.Money == "" {
		return m
	}
	whole, rest, _ := strings.Cut(m.Amount, ".")
	m.Asset, m.Amount, m.Fee, m.For, m.Gets = s.Money, whole+"."+(rest + "00")[:2], "", "", ""
	if m.Amount == "0.00" {
		m.Amount = "0.01"
	}
	m.Kind = cmp.Or(map[Kind]Kind{Trade: Withdrawal, Reward: Deposit}[m.Kind], m.Kind)
	return m
}

// pagesMax bounds how many pages a synchronization reads.
const pagesMax = 10_000

// sync reads all ledgers to their ends, as the service does, and returns how many records are new. On an error it stops, with the cursors
// of the pages that were read.
func (w *world) sync(s *provider.Session) (added int, err error) {
	w.Helper()
	for _, ledger := range w.connector.Describe().Ledgers {
		for range pagesMax {
			p, err := w.connector.Read(w.Context(), s, ledger, w.cursors[ledger])
			if err != nil {
				return added, err
			}
			added += w.keep(p)
			if p.Cursor != "" {
				w.cursors[ledger] = p.Cursor
			}
			if !p.More {
				break
			}
		}
	}
	return added, nil
}

// keep stores the records of a page that are new, and compares the others with what was read before.
func (w *world) keep(p provider.Page) (added int) {
	w.Helper()
	for _, id := range p.Removed {
		delete(w.read, id)
		w.order = slices.DeleteFunc(w.order, func(r provider.Record) bool { return r.ExternalID == id })
	}
	var last time.Time
	for _, r := range p.Records {
		if r.Timestamp.Before(last) {
			w.Errorf("%s of %s follows a record of %s", r.ExternalID, r.Timestamp, last)
		}
		last = r.Timestamp
		if r.ExternalID == "" || r.Quantity == nil || r.Currency == "" || r.Timestamp.IsZero() || len(r.Original) == 0 {
			w.Errorf("incomplete: %+v", r)
		}
		before, known := w.read[r.ExternalID]
		if known {
			if text(before) != text(r) {
				w.Errorf("%s was read as\n%s\nand then as\n%s", r.ExternalID, text(before), text(r))
			}
			continue
		}
		w.read[r.ExternalID] = r
		w.order = append(w.order, r)
		added++
	}
	w.omitted = append(w.omitted, p.Omitted...)
	return added
}

// text describes a record.
func text(r provider.Record) string {
	return fmt.Sprintf("%s %s %v %s %s %s %s", r.ExternalID, r.Timestamp, r.Inflow, r.Quantity, r.Currency, r.Type, r.Group)
}

// must reads everything and requires that it succeeds.
func (w *world) must(patient bool) (added int) {
	w.Helper()
	added, err := w.sync(w.session(patient))
	if err != nil {
		w.Fatal(err)
	}
	return added
}

// holding is an asset in a part.
type holding struct{ part, currency string }

// sum returns balances in the order of their parts and assets, without those that are zero.
func sum(all []provider.Balance) []string {
	sums := map[holding]money.Decimal{}
	for _, b := range all {
		of := holding{b.Part, b.Currency}
		sums[of] = sums[of].Add(b.Amount)
	}
	var out []string
	for of, amount := range sums {
		if !amount.IsZero() {
			out = append(out, of.part+" "+of.currency+" "+amount.String())
		}
	}
	slices.Sort(out)
	return out
}

// wants requires that what was read leads to what the account holds, in each of its parts.
func (w *world) wants() {
	w.Helper()
	var moved []provider.Balance
	for _, r := range w.order {
		moved = append(moved, provider.Balance{Part: r.Part, Currency: r.Currency, Amount: *r.Moved()})
		if c := r.Crypto; c != nil && c.FeeQuantity != nil && c.FeeAssetType != r.Currency {
			moved = append(moved, provider.Balance{Part: r.Part, Currency: c.FeeAssetType, Amount: c.FeeQuantity.Neg()})
		}
	}
	w.wantsParts()
	b, ok := w.connector.(provider.Balancer)
	if !ok {
		return
	}
	session := w.session(true)
	session.Cursors = w.cursors
	held, err := b.Balances(w.Context(), session)
	if err != nil {
		w.Fatal(err)
	}
	if got, want := sum(moved), sum(held.Balances); !slices.Equal(got, want) {
		w.Errorf("what was read adds up to\n%v\nand the account holds\n%v", got, want)
	}
	if len(w.omitted) > 0 {
		w.Errorf("left out: %+v", w.omitted)
	}
}

// wantsParts requires that every record names one of the parts, if the account has several.
func (w *world) wantsParts() {
	w.Helper()
	known := []provider.Part{{}}
	if d, ok := w.connector.(provider.Divided); ok {
		var err error
		if known, err = d.Parts(w.Context(), w.session(true)); err != nil {
			w.Fatal(err)
		}
	}
	for _, r := range w.order {
		if !slices.ContainsFunc(known, func(p provider.Part) bool { return p.ID == r.Part }) {
			w.Errorf("%s names the part %q, which does not exist", r.ExternalID, r.Part)
		}
	}
}

// refuses requires an error of a kind that names no secret.
func (w *world) refuses(name string, err error, kind fault.Kind) {
	w.Helper()
	if fault.KindOf(err) != kind {
		w.Errorf("%s: %v, which is %s and not %s", name, err, fault.KindOf(err), kind)
	}
	d := w.connector.Describe()
	for field, text := range w.fake.Credentials() {
		secret := field == provider.AccessToken || field == provider.RefreshToken ||
			slices.ContainsFunc(d.Fields, func(f provider.Field) bool { return f.Name == field && f.Secret })
		for e := err; e != nil && secret; e = unwrap(e) {
			if strings.Contains(e.Error(), text) {
				w.Errorf("%s: the error contains the field %s: %v", name, field, e)
			}
		}
	}
}

func unwrap(err error) error {
	u, ok := err.(interface{ Unwrap() error })
	if !ok {
		return nil
	}
	return u.Unwrap()
}
