package access

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestAKeyThatReplacesItselfDoesNotEscapeItsRevocation(t *testing.T) {
	eachOffice(t, func(o *office) {
		leaked, text := o.key(o.signedIn(o.owner), CreateKeyParams{UserID: o.owner.UserID})
		want, texts := []string{leaked.ID}, []secret.Text{text}
		last := leaked
		for range generationsMax + 2 {
			next, nextText, err := o.RotateKey(o.with(text), last.ID, RotateKeyParams{Overlap: time.Minute})
			o.must(err)
			last, text = next, nextText
			want, texts = append(want, next.ID), append(texts, nextText)
		}
		child, childText := o.key(o.with(text), CreateKeyParams{})
		if got := o.revoke(leaked); !slices.Equal(got, append(want, child.ID)) {
			o.Errorf("revoked were %v, want %v and %s", got, want, child.ID)
		}
		for n, one := range append(texts, childText) {
			if _, err := o.Authenticate(o.Context(), one); fault.KindOf(err) != fault.Unauthorized {
				o.Errorf("key %d: %v", n, err)
			}
		}
		if again := o.revoke(leaked); len(again) != 0 {
			o.Errorf("revoking it again revoked %v", again)
		}
	})
}

// What a thief makes with the key by which they have replaced a stolen one is found also after a person has rotated that key.
func TestAKeyThatWasCreatedWithASuccessorEndsWithTheStolenKeyAlsoAfterThatSuccessorWasRotated(t *testing.T) {
	eachOffice(t, func(o *office) {
		stolen, text := o.key(o.signedIn(o.owner), CreateKeyParams{UserID: o.owner.UserID})
		second, secondText, err := o.RotateKey(o.with(text), stolen.ID, RotateKeyParams{Overlap: time.Hour})
		o.must(err)
		made, madeText := o.key(o.with(secondText), CreateKeyParams{UserID: o.owner.UserID})
		_, lastText, err := o.RotateKey(o.signedIn(o.owner), second.ID, RotateKeyParams{})
		o.must(err)
		if got := o.revoke(stolen); !slices.Contains(got, made.ID) || o.works(madeText) {
			o.Errorf("revoked were %v, without %s", got, made.ID)
		}
		if !o.works(lastText) {
			o.Error("the key of the person has ended too")
		}
	})
}

func TestAKeyThatAPersonHasReplacedIsRevokedWithoutItsSuccessor(t *testing.T) {
	eachOffice(t, func(o *office) {
		old, oldText := o.key(o.signedIn(o.owner), CreateKeyParams{})
		_, nextText, err := o.RotateKey(o.signedIn(o.owner), old.ID, RotateKeyParams{Overlap: OverlapDefault})
		o.must(err)
		if got := o.revoke(old); !slices.Equal(got, []string{old.ID}) {
			o.Errorf("revoked were %v", got)
		}
		if o.works(oldText) || !o.works(nextText) {
			o.Error("revoking the former key early ends that one only")
		}
	})
}

func TestOnlyWhoIsSignedInChoosesWhenTheSuccessorExpires(t *testing.T) {
	eachOffice(t, func(o *office) {
		in := func(days int) *time.Time { return new(o.now.Now().AddDate(0, 0, days)) }
		parent, parentText := o.key(o.signedIn(o.owner), CreateKeyParams{UserID: o.owner.UserID, ExpiresAt: in(30)})
		child, _ := o.key(o.with(parentText), CreateKeyParams{ExpiresAt: in(10)})
		rotate := func(ctx context.Context, k Key, at *time.Time) (Key, error) {
			next, _, err := o.RotateKey(ctx, k.ID, RotateKeyParams{Overlap: time.Hour, NewExpiry: true, ExpiresAt: at})
			return next, err
		}
		for _, at := range []*time.Time{nil, in(1), in(90)} {
			_, err := rotate(o.with(parentText), parent, at)
			o.want(err, fault.Forbidden, "signed in")
		}
		_, err := rotate(o.signedIn(o.owner), parent, in(0))
		o.want(err, fault.Invalid, "expires_at must be in the future")
		for _, at := range []*time.Time{nil, in(31)} {
			_, err := rotate(o.signedIn(o.owner), child, at)
			o.want(err, fault.Invalid, "expires_at must not be after")
		}
		next, err := rotate(o.signedIn(o.owner), child, in(30))
		o.must(err)
		if !next.ExpiresAt.Equal(*in(30)) {
			o.Errorf("it expires at %v", next.ExpiresAt)
		}
		if next, err = rotate(o.signedIn(o.owner), parent, nil); err != nil || next.ExpiresAt != nil {
			o.Errorf("it expires at %v: %v", next.ExpiresAt, err)
		}
	})
}

func TestAnAppRotatesAndRevokesOnlyTheKeysThatItHasCreated(t *testing.T) {
	eachOffice(t, func(o *office) {
		app := o.app(o.owner, "oau_1")
		persons, personsText := o.key(o.signedIn(o.owner), CreateKeyParams{UserID: o.owner.UserID})
		robot, _ := o.key(o.signedIn(o.owner), CreateKeyParams{})
		others, _ := o.key(o.app(o.owner, "oau_2"), CreateKeyParams{})
		own, ownText := o.key(app, CreateKeyParams{ExpiresAt: new(o.now.Now().Add(time.Hour))})
		below, _ := o.key(o.with(ownText), CreateKeyParams{ExpiresAt: own.ExpiresAt})
		for _, k := range []Key{persons, robot, others} {
			_, _, err := o.RotateKey(app, k.ID, RotateKeyParams{})
			o.want(err, fault.Forbidden, "an app can rotate and revoke only the keys that it has created")
			_, err = o.RevokeKey(app, k.ID)
			o.want(err, fault.Forbidden, "an app can rotate and revoke only the keys that it has created")
		}
		if !o.works(personsText) {
			o.Error("an app has ended the key of the person")
		}
		next, nextText, err := o.RotateKey(app, below.ID, RotateKeyParams{})
		o.must(err)
		if next.ParentID != own.ID || !next.ExpiresAt.Equal(*own.ExpiresAt) {
			o.Errorf("the successor is %+v", next)
		}
		last, lastText, err := o.RotateKey(app, own.ID, RotateKeyParams{})
		o.must(err)
		if !last.ExpiresAt.Equal(*own.ExpiresAt) || last.AuthorizationID != "oau_1" {
			o.Errorf("the successor is %+v", last)
		}
		o.write(func(ctx context.Context, tx *db.Tx) error { return RevokeKeysOfAuthorization(ctx, tx, "oau_1") })
		if o.works(nextText) || o.works(lastText) || !o.works(personsText) {
			o.Error("a key has outlived the app, or another has not")
		}
	})
}

// rotation is a model of keys that are created, rotated and revoked in any order.
type rotation struct {
	*office
	*rand.Rand
	keys    []*modelKey
	history []string
}

// modelKey is what has to hold for a key.
type modelKey struct {
	Key
	text    secret.Text
	under   *modelKey // the key that it was created with, or the successor of that one
	creator *modelKey // the key that it was created with, whatever has replaced that one since
	madeBy  *modelKey // the key that has replaced a key by this one
	end     *time.Time
	allowed *time.Time // the latest end that a person has allowed
	revoked bool
	next    *modelKey
}

func (k *modelKey) works(now time.Time) bool {
	for ; k != nil; k = k.under {
		if k.revoked || k.end != nil && !now.Before(*k.end) {
			return false
		}
	}
	return true
}

// endsWith reports whether a key has to be revoked with another one.
func (k *modelKey) endsWith(other *modelKey) bool {
	return k != nil && (k == other || k.under.endsWith(other) || k.creator.endsWith(other) || k.madeBy.endsWith(other))
}

func (r *rotation) any() *modelKey { return r.keys[r.IntN(len(r.keys))] }

func (r *rotation) add(k Key, text secret.Text, m modelKey) *modelKey {
	m.Key, m.text, m.end = k, text, k.ExpiresAt
	r.keys = append(r.keys, &m)
	return &m
}

// as returns a context of somebody: of a key that works, or of the person if by is nil.
func (r *rotation) as(by *modelKey) context.Context {
	if by == nil {
		return r.signedIn(r.owner)
	}
	who, err := NewService(r.db).Authenticate(r.Context(), by.text)
	r.must(err)
	return actor.With(r.Context(), who)
}

func (r *rotation) expiry() *time.Time {
	if r.IntN(3) == 0 {
		return nil
	}
	return new(r.now.Now().Add(time.Duration(1+r.IntN(100)) * time.Hour))
}

func (r *rotation) create(by *modelKey) string {
	k, text, err := r.CreateKey(r.as(by), CreateKeyParams{Name: "k", Scopes: []actor.Scope{actor.ScopeAll}, ExpiresAt: r.expiry()})
	if err != nil {
		return fmt.Sprint("refused: ", err)
	}
	r.add(k, text, modelKey{under: by, creator: by, allowed: k.ExpiresAt})
	return k.ID
}

func (r *rotation) rotate(k, by *modelKey) string {
	p := RotateKeyParams{Overlap: time.Duration(r.IntN(30)) * time.Hour}
	if p.NewExpiry = r.IntN(4) == 0; p.NewExpiry {
		p.ExpiresAt = r.expiry()
	}
	next, text, err := r.RotateKey(r.as(by), k.ID, p)
	if err != nil {
		return fmt.Sprint("refused: ", err)
	}
	m := modelKey{under: k.under, madeBy: by, allowed: k.allowed}
	if by == nil {
		m.allowed = next.ExpiresAt
	} else if !by.isAboveOrIs(k) {
		m.under = by
	}
	k.next = r.add(next, text, m)
	for _, child := range r.keys {
		if child.under == k && !child.revoked && child != k.next {
			child.under = k.next
		}
	}
	k.end = earlier(k.end, new(r.now.Now().Add(p.Overlap)))
	return next.ID
}

func (k *modelKey) isAboveOrIs(other *modelKey) bool {
	for ; other != nil; other = other.under {
		if other == k {
			return true
		}
	}
	return false
}

func (r *rotation) end(k *modelKey) string {
	got, want := r.revoke(k.Key), []string{}
	for _, one := range r.keys {
		if !one.revoked && one.endsWith(k) {
			one.revoked, want = true, append(want, one.ID)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.Errorf("revoking %s revoked %v, want %v", k.ID, got, want)
	}
	return strings.Join(got, " ")
}

func (r *rotation) step() {
	k, by := r.any(), r.any()
	if !by.works(r.now.Now()) || r.IntN(3) == 0 {
		by = nil
	}
	did := ""
	switch r.IntN(8) {
	case 0, 1:
		did = "create: " + r.create(by)
	case 2, 3, 4:
		if r.IntN(2) == 0 && k.works(r.now.Now()) {
			by = k // as a key that has leaked does
		}
		did = "rotate " + k.ID + ": " + r.rotate(k, by)
	case 5:
		did = "revoke " + k.ID + ": " + r.end(k)
	default:
		r.now.Advance(time.Duration(r.IntN(20)) * time.Hour)
		did = "wait until " + r.now.Now().String()
	}
	if by != nil {
		did += ", by " + by.ID
	}
	r.history = append(r.history, did)
}

// check compares what the keys do with the model.
func (r *rotation) check() {
	fresh := NewService(r.db) // it has read no key before
	for _, k := range r.keys {
		_, err := fresh.Authenticate(r.Context(), k.text)
		if err != nil && fault.KindOf(err) != fault.Unauthorized {
			r.Fatal(err)
		}
		if (err == nil) != k.works(r.now.Now()) {
			r.Errorf("the key %s works: %t, want %t", k.ID, err == nil, !(err == nil))
		}
		if end := k.ExpiresAt; k.allowed != nil && (end == nil || end.After(*k.allowed)) {
			r.Errorf("the key %s expires at %v, but a person has allowed it until %s", k.ID, end, k.allowed)
		}
	}
}

func TestKeysThatAreRotatedAndRevokedInAnyOrderEndWithTheOnesThatMadeThem(t *testing.T) {
	eachOffice(t, func(o *office) {
		rotations, revocations := 0, 0
		for seed := range uint64(16) {
			r := &rotation{office: o, Rand: rand.New(rand.NewPCG(seed, 67))}
			r.create(nil)
			for range 40 {
				r.step()
				if r.check(); o.Failed() {
					o.Fatalf("seed %d:\n%s", seed, strings.Join(r.history, "\n"))
				}
			}
			for _, k := range r.keys {
				if k.madeBy != nil {
					rotations++
				}
				if k.madeBy != nil && k.revoked {
					revocations++
				}
			}
		}
		if rotations < 20 || revocations < 10 {
			o.Errorf("%d keys were made by rotation with a key, of which %d were revoked: too few to say anything", rotations, revocations)
		}
	})
}

func TestAKeyWithAWrongEndTakesAsLongAsOneThatIsUnknown(t *testing.T) {
	eachOffice(t, func(o *office) {
		_, text := o.key(o.signedIn(o.owner), CreateKeyParams{})
		plain := text.Reveal()
		almost := plain[:len(plain)-1] + "0"
		if almost == plain {
			almost = plain[:len(plain)-1] + "1"
		}
		unknown, err := token.New(o.db.Random(), keyPrefix)
		o.must(err)
		attempt := func(text secret.Text) func() {
			return func() {
				for range 20 { // one takes too short a time to compare
					if _, err := o.Authenticate(o.Context(), text); fault.KindOf(err) != fault.Unauthorized {
						o.Fatal(err)
					}
				}
			}
		}
		dbtest.SameTime(o.T, map[string]func(){"unknown": attempt(unknown), "a wrong end": attempt(secret.New(almost))})
	})
}
