package access

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/base/lifecycle/lifecycletest"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// office is an organization with an owner, at a time that the test sets.
type office struct {
	*testing.T
	*Service
	db    *db.DB
	now   *clock.Manual
	org   string
	owner Member
}

func eachOffice(t *testing.T, test func(o *office)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		o := &office{T: t, now: clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))}
		c.Clock = o.now
		o.db = dbtest.Open(t, c)
		o.Service, o.org = NewService(o.db), o.db.IDs().New(id.Organization)
		o.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO organizations (organization_id, name, timezone, time_format, created_at) VALUES (@org, "+
				"'Acme', 'UTC', 'hr24', ?)", tx.Now())
			if err != nil {
				return err
			}
			if err := orgstate.Begin(ctx, tx); err != nil {
				return err
			}
			o.owner, err = AddMember(ctx, tx, "ada@acme.example", actor.Owner)
			return err
		})
		test(o)
		o.must(o.db.Read(o.Context(), o.org, func(ctx context.Context, tx *db.Tx) error {
			findings, err := audit.VerifySince(ctx, tx, 0, nil)
			for _, f := range findings {
				if !strings.Contains(f, "organization") { // which the test has created past the program
					o.Error(f)
				}
			}
			return err
		}))
	})
}

func (o *office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *office) want(err error, kind fault.Kind, text string) {
	o.Helper()
	if fault.KindOf(err) != kind || !strings.Contains(fmt.Sprint(err), text) {
		o.Errorf("%v, want %v with %q", err, kind, text)
	}
}

func (o *office) write(fn db.Func) {
	o.Helper()
	o.must(o.db.Write(o.Context(), o.org, fn))
}

// signedIn returns a context in which a member acts in a browser.
func (o *office) signedIn(m Member) context.Context {
	return actor.With(o.Context(), actor.Actor{OrganizationID: o.org, UserID: m.UserID, Role: m.Role, SessionID: "ses_1", Scopes: actor.Scopes,
		LegalEntityIDs: m.LegalEntityIDs})
}

// app returns a context in which an app acts for a member.
func (o *office) app(m Member, authorizationID string) context.Context {
	who := actor.From(o.signedIn(m))
	who.SessionID, who.AuthorizationID = "", authorizationID
	return actor.With(o.Context(), who)
}

// with returns a context in which a key acts.
func (o *office) with(text secret.Text) context.Context {
	o.Helper()
	who, err := o.Authenticate(o.Context(), text)
	o.must(err)
	return actor.With(o.Context(), who)
}

func (o *office) member(email string, role actor.Role) (m Member) {
	o.Helper()
	o.write(func(ctx context.Context, tx *db.Tx) (err error) {
		m, err = AddMember(ctx, tx, email, role)
		return err
	})
	return m
}

func (o *office) key(ctx context.Context, p CreateKeyParams) (Key, secret.Text) {
	o.Helper()
	if p.Name == "" {
		p.Name = "k"
	}
	if p.Scopes == nil {
		p.Scopes = []actor.Scope{actor.ScopeAll}
	}
	k, text, err := o.CreateKey(ctx, p)
	o.must(err)
	return k, text
}

// revoke revokes a key as the owner, and returns the ids of those that were revoked.
func (o *office) revoke(k Key) []string {
	o.Helper()
	revoked, err := o.RevokeKey(o.signedIn(o.owner), k.ID)
	o.must(err)
	return revoked
}

func (o *office) works(text secret.Text) bool {
	o.Helper()
	o.now.Advance(token.CachedFor)
	_, err := o.Authenticate(o.Context(), text)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		o.Error(err)
	}
	return err == nil
}

func (o *office) find(keyID string) (k Key) {
	o.Helper()
	o.must(o.db.Read(o.Context(), o.org, func(ctx context.Context, tx *db.Tx) (err error) {
		k, err = selectKey(ctx, tx, keyID)
		return err
	}))
	return k
}

func TestAKeyThatWasReplacedWorksUntilTheOverlapEndsAndItsSuccessorDoesTheSame(t *testing.T) {
	eachOffice(t, func(o *office) {
		end := o.now.Now().AddDate(0, 1, 0)
		old, oldText := o.key(o.signedIn(o.owner), CreateKeyParams{Name: "export", UserID: o.owner.UserID, ExpiresAt: &end,
			Scopes: []actor.Scope{actor.ScopeAll, actor.ScopeMemory}})
		child, childText := o.key(o.with(oldText), CreateKeyParams{UserID: o.owner.UserID, ExpiresAt: &end})
		o.now.Advance(10 * 24 * time.Hour)
		next, text, err := o.RotateKey(o.with(oldText), old.ID, RotateKeyParams{Overlap: time.Hour})
		o.must(err)
		if next.Name != "export" || next.UserID != o.owner.UserID || next.CreatedBy != old.CreatedBy || next.ParentID != "" ||
			!next.ExpiresAt.Equal(end) || next.RotatedWithID != old.ID || len(next.Scopes) != 2 || next.ID == old.ID {
			o.Errorf("the successor is %+v", next)
		}
		if got := o.find(child.ID); got.ParentID != next.ID {
			o.Errorf("the child is of %s, want %s", got.ParentID, next.ID)
		}
		for _, ctx := range []context.Context{o.with(oldText), o.with(text), o.signedIn(o.owner)} {
			_, _, err = o.RotateKey(ctx, old.ID, RotateKeyParams{Overlap: time.Hour})
			o.want(err, fault.Conflict, next.ID)
		}
		if !o.works(oldText) || !o.works(text) {
			o.Error("both keys work during the overlap")
		}
		o.now.Advance(time.Hour)
		if o.works(oldText) || !o.works(text) || !o.works(childText) {
			o.Errorf("after the overlap: former %t, new %t, child %t", o.works(oldText), o.works(text), o.works(childText))
		}
		o.revoke(next)
		if o.works(childText) {
			o.Error("the child has outlived the key that it belongs to")
		}
		_, _, err = o.RotateKey(o.signedIn(o.owner), next.ID, RotateKeyParams{Overlap: 0})
		o.want(err, fault.Conflict, "revoked")
	})
}

func TestAKeyThatIsReplacedWithoutOverlapEndsAtOnceAndAnEarlierExpiryStays(t *testing.T) {
	eachOffice(t, func(o *office) {
		soon := o.now.Now().Add(time.Hour)
		first, firstText := o.key(o.signedIn(o.owner), CreateKeyParams{})
		second, _ := o.key(o.signedIn(o.owner), CreateKeyParams{ExpiresAt: &soon})
		_, _, err := o.RotateKey(o.signedIn(o.owner), first.ID, RotateKeyParams{Overlap: 0})
		o.must(err)
		if _, err := o.Authenticate(o.Context(), firstText); fault.KindOf(err) != fault.Unauthorized {
			o.Errorf("the former key: %v", err)
		}
		_, _, err = o.RotateKey(o.signedIn(o.owner), second.ID, RotateKeyParams{Overlap: OverlapDefault})
		o.must(err)
		if got := o.find(second.ID); !got.ExpiresAt.Equal(soon) {
			o.Errorf("it expires at %s", got.ExpiresAt)
		}
		for _, overlap := range []time.Duration{-time.Hour, OverlapMax + time.Hour} {
			_, _, err := o.RotateKey(o.signedIn(o.owner), second.ID, RotateKeyParams{Overlap: overlap})
			o.want(err, fault.Invalid, "overlap_hours")
		}
	})
}

func TestAPersonProlongsAKeyButNoLongerThanTheKeyItEndsWithAndAKeyProlongsNone(t *testing.T) {
	eachOffice(t, func(o *office) {
		const day = 24 * time.Hour
		began := o.now.Now()
		in := func(days int) *time.Time { return new(began.Add(time.Duration(days) * day)) }
		parent, parentText := o.key(o.signedIn(o.owner), CreateKeyParams{ExpiresAt: in(40)})
		child, childText := o.key(o.with(parentText), CreateKeyParams{ExpiresAt: in(30)})
		grandchild, _ := o.key(o.with(childText), CreateKeyParams{ExpiresAt: in(5)})
		alone, _ := o.key(o.signedIn(o.owner), CreateKeyParams{ExpiresAt: in(30)})
		adopted, _ := o.key(o.signedIn(o.owner), CreateKeyParams{ExpiresAt: in(35)})
		self, selfText := o.key(o.signedIn(o.owner), CreateKeyParams{ExpiresAt: in(20)})
		never, _ := o.key(o.signedIn(o.owner), CreateKeyParams{})
		o.now.Advance(4 * day)
		for _, c := range []struct {
			what string
			as   context.Context
			key  Key
			want *time.Time
		}{
			{"signed in", o.signedIn(o.owner), alone, in(34)},
			{"one that never expires", o.signedIn(o.owner), never, nil},
			{"within the keys above it", o.signedIn(o.owner), grandchild, in(9)},
			{"one that would outlive its parent", o.signedIn(o.owner), child, in(34)},
			{"by another key, which it ends with", o.with(parentText), adopted, in(35)},
			{"by the key itself", o.with(selfText), self, in(20)},
		} {
			next, _, err := o.RotateKey(c.as, c.key.ID, RotateKeyParams{Overlap: time.Hour})
			o.must(err)
			if (next.ExpiresAt == nil) != (c.want == nil) || c.want != nil && !next.ExpiresAt.Equal(*c.want) {
				o.Errorf("%s: it expires at %v, want %v", c.what, next.ExpiresAt, c.want)
			}
		}
		late, _ := o.key(o.with(parentText), CreateKeyParams{ExpiresAt: in(36)})
		o.now.Advance(20 * day)
		next, _, err := o.RotateKey(o.signedIn(o.owner), late.ID, RotateKeyParams{Overlap: time.Hour})
		o.must(err)
		if !next.ExpiresAt.Equal(*in(40)) {
			o.Errorf("it expires at %v, after its parent", next.ExpiresAt)
		}
		o.must(o.db.Write(o.Context(), o.org, func(ctx context.Context, tx *db.Tx) error { // the operator
			renewed, _, err := o.ReplaceKey(ctx, tx, parent.ID, RotateKeyParams{Overlap: time.Hour})
			if err == nil && !renewed.ExpiresAt.Equal(*in(64)) {
				o.Errorf("it expires at %v", renewed.ExpiresAt)
			}
			return err
		}))
	})
}

func TestAKeyThatCannotBeAnnouncedDoesNotKeepOthersFromIt(t *testing.T) {
	eachOffice(t, func(o *office) {
		told := map[string]int{}
		o.Send = func(_ context.Context, tx *db.Tx, m mail.Message) error {
			if strings.Contains(m.Text, "broken") {
				return fault.Conflictf("the message cannot be sent")
			}
			tx.AfterCommit(func() { told[m.Text]++ })
			return nil
		}
		end := o.now.Now().Add(24 * time.Hour)
		later := end.Add(time.Minute)
		for n := range remindBatch + 5 { // more than a batch, so that those that fail are found first each time
			o.key(o.signedIn(o.owner), CreateKeyParams{Name: fmt.Sprint("broken ", n), ExpiresAt: &end})
		}
		o.key(o.signedIn(o.owner), CreateKeyParams{Name: "good", ExpiresAt: &later})
		err := o.Remind(o.Context())
		if err == nil || strings.Count(err.Error(), "cannot be sent") != remindBatch+5 || len(told) != 1 {
			o.Errorf("%d were told: %v", len(told), err)
		}
	})
}

func TestOnlyAMemberHasPreferencesAndTheyDoNotWaitForTheUser(t *testing.T) {
	eachOffice(t, func(o *office) {
		former := o.member("former@acme.example", actor.Viewer)
		_, _, err := o.RemoveMember(o.signedIn(o.owner), former.UserID)
		o.must(err)
		o.want(o.SetPreference(o.signedIn(former), "columns", []byte("1")), fault.NotFound, "member")
		if o.db.Engine() != db.Postgres { // SQLite has one writer
			o.must(o.SetPreference(o.signedIn(o.owner), "columns", []byte("1")))
			return
		}
		o.must(o.db.WriteAcross(o.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
			if err := ChangeEmail(ctx, tx, o.owner.UserID, o.owner.Email); err != nil {
				return err
			}
			soon, cancel := context.WithTimeout(o.signedIn(o.owner), 5*time.Second)
			defer cancel()
			return o.SetPreference(soon, "columns", []byte("1"))
		}))
	})
}

func TestWhoIsNoLongerAnAdminCanRemoveNobodyButThemselves(t *testing.T) {
	eachOffice(t, func(o *office) {
		admin, viewer := o.member("admin@acme.example", actor.Admin), o.member("viewer@acme.example", actor.Viewer)
		was := o.signedIn(admin)
		_, err := o.UpdateMember(o.signedIn(o.owner), admin.UserID, UpdateMemberParams{Role: new(actor.Viewer)})
		o.must(err)
		_, _, err = o.RemoveMember(was, viewer.UserID)
		o.want(err, fault.Forbidden, "the role viewer does not allow this: it is for the role owner or admin")
		_, _, err = o.RemoveMember(was, admin.UserID)
		o.must(err)
	})
}

func TestNobodyGetsTheTextOfAKeyThatActsForSomebodyElse(t *testing.T) {
	eachOffice(t, func(o *office) {
		admin, second := o.member("admin@acme.example", actor.Admin), o.member("second@acme.example", actor.Owner)
		ofAdmin, adminText := o.key(o.signedIn(admin), CreateKeyParams{UserID: admin.UserID})
		ofOwner, ownerText := o.key(o.signedIn(o.owner), CreateKeyParams{UserID: o.owner.UserID})
		robot, _ := o.key(o.signedIn(admin), CreateKeyParams{})
		ownersRobot, _ := o.key(o.signedIn(o.owner), CreateKeyParams{})
		rotate := func(ctx context.Context, k Key) error {
			_, _, err := o.RotateKey(ctx, k.ID, RotateKeyParams{Overlap: time.Hour})
			return err
		}
		o.want(rotate(o.signedIn(o.owner), ofAdmin), fault.Forbidden, "another user")
		o.want(rotate(o.signedIn(second), ofOwner), fault.Forbidden, "another user")
		o.want(rotate(o.signedIn(admin), ofOwner), fault.Forbidden, "only an owner")
		o.want(rotate(o.signedIn(admin), ownersRobot), fault.Forbidden, "only an owner")
		few, _ := o.key(o.signedIn(admin), CreateKeyParams{Scopes: []actor.Scope{actor.ScopeMemory}})
		o.want(rotate(o.with(adminText), few), fault.Forbidden, "write:memory")
		o.must(rotate(o.signedIn(o.owner), robot))
		next, _, err := o.RotateKey(o.with(ownerText), ownersRobot.ID, RotateKeyParams{Overlap: time.Hour})
		o.must(err)
		if next.ParentID != ofOwner.ID { // it ends with the key that has made it
			o.Errorf("the parent is %q", next.ParentID)
		}
	})
}

func TestOfTwoWhoReplaceAKeyAtOnceOneDoes(t *testing.T) {
	eachOffice(t, func(o *office) {
		k, _ := o.key(o.signedIn(o.owner), CreateKeyParams{})
		var wg sync.WaitGroup
		errs := make([]error, 6)
		for n := range errs {
			wg.Go(func() { _, _, errs[n] = o.RotateKey(o.signedIn(o.owner), k.ID, RotateKeyParams{Overlap: time.Hour}) })
		}
		wg.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
			} else {
				o.want(err, fault.Conflict, "replaced")
			}
		}
		if done != 1 {
			o.Errorf("%d replaced it", done)
		}
	})
}

func TestTheKeysOfAnAppEndWithItsAuthorization(t *testing.T) {
	eachOffice(t, func(o *office) {
		ended := false
		o.RequireAuthorization = func(context.Context, *db.Tx, string) error {
			if ended {
				return fault.Unauthorizedf("ended")
			}
			return nil
		}
		app := o.app(o.owner, "oau_1")
		k, text := o.key(app, CreateKeyParams{UserID: o.owner.UserID})
		_, childText := o.key(o.with(text), CreateKeyParams{})
		_, other := o.key(o.app(o.owner, "oau_2"), CreateKeyParams{})
		if k.AuthorizationID != "oau_1" || k.ParentID != "" {
			o.Errorf("the key is %+v", k)
		}
		next, nextText, err := o.RotateKey(app, k.ID, RotateKeyParams{Overlap: time.Hour})
		o.must(err)
		if next.AuthorizationID != "oau_1" {
			o.Errorf("the successor is %+v", next)
		}
		o.write(func(ctx context.Context, tx *db.Tx) error { return RevokeKeysOfAuthorization(ctx, tx, "oau_1") })
		ended = true
		if o.works(text) || o.works(childText) || o.works(nextText) || !o.works(other) {
			o.Error("a key has outlived the app, or another app's has not")
		}
		_, _, err = o.CreateKey(app, CreateKeyParams{Name: "late", Scopes: []actor.Scope{actor.ScopeRead}})
		o.want(err, fault.Unauthorized, "")
	})
}

func TestAKeyWithoutAUserEndsWithTheMembershipOfWhoCreatedIt(t *testing.T) {
	eachOffice(t, func(o *office) {
		admin := o.member("admin@acme.example", actor.Admin)
		_, text := o.key(o.signedIn(admin), CreateKeyParams{})
		who, err := o.Authenticate(o.Context(), text)
		o.must(err)
		if who.Role != actor.Admin || who.UserID != "" {
			o.Errorf("it acts as %+v", who)
		}
		asked := ""
		o.EndAuthorizations = func(_ context.Context, _ *db.Tx, userID string) error {
			asked = userID
			return nil
		}
		_, revoked, err := o.RemoveMember(o.signedIn(o.owner), admin.UserID)
		o.must(err)
		if revoked != 1 || asked != admin.UserID || o.works(text) {
			o.Errorf("%d keys were revoked, and the apps of %q ended", revoked, asked)
		}
		_, _, err = o.CreateKey(o.signedIn(admin), CreateKeyParams{Name: "late", Scopes: []actor.Scope{actor.ScopeRead}})
		o.want(err, fault.Unauthorized, "no longer a member")
		o.EndAuthorizations = func(context.Context, *db.Tx, string) error { return fault.Conflictf("not now") }
		_, _, err = o.RemoveMember(o.signedIn(o.owner), o.member("x@acme.example", actor.Viewer).UserID)
		o.want(err, fault.Conflict, "not now")
	})
}

func TestWhoeverHasAKeyIsToldOnceThatItExpires(t *testing.T) {
	eachOffice(t, func(o *office) {
		var mails []mail.Message
		o.Send = func(_ context.Context, tx *db.Tx, m mail.Message) error {
			tx.AfterCommit(func() { mails = append(mails, m) })
			return nil
		}
		admin := o.member("admin@acme.example", actor.Admin)
		in := func(d time.Duration) *time.Time { return new(o.now.Now().Add(d)) }
		o.key(o.signedIn(admin), CreateKeyParams{Name: "of the admin", UserID: admin.UserID, ExpiresAt: in(6 * 24 * time.Hour)})
		o.key(o.signedIn(admin), CreateKeyParams{Name: "of nobody", ExpiresAt: in(24 * time.Hour)})
		o.key(o.signedIn(admin), CreateKeyParams{Name: "later", ExpiresAt: in(8 * 24 * time.Hour)})
		o.key(o.signedIn(admin), CreateKeyParams{Name: "never"})
		o.key(o.signedIn(admin), CreateKeyParams{Name: "expired", ExpiresAt: in(time.Minute)})
		revoked, _ := o.key(o.signedIn(admin), CreateKeyParams{Name: "revoked", ExpiresAt: in(time.Hour)})
		o.revoke(revoked)
		replaced, _ := o.key(o.signedIn(admin), CreateKeyParams{Name: "replaced"})
		_, _, err := o.RotateKey(o.signedIn(admin), replaced.ID, RotateKeyParams{Overlap: time.Hour})
		o.must(err)
		o.now.Advance(time.Minute)
		for range 2 {
			o.must(o.Remind(o.Context()))
		}
		got := map[string]string{}
		for _, m := range mails {
			got[m.To[0]] += m.Subject + m.Text
		}
		if len(mails) != 2 || !strings.Contains(got[admin.Email], "of the admin") || !strings.Contains(got[o.owner.Email], "of nobody") {
			o.Errorf("the messages are %v", mails)
		}
		o.now.Advance(2 * 24 * time.Hour)
		o.must(o.Remind(o.Context()))
		if len(mails) != 3 || !strings.Contains(mails[2].Text, "later") {
			o.Errorf("the messages are %v", mails)
		}
	})
}

func TestItIsKnownToTheMinuteWhenAKeyWasUsedAndFromWhere(t *testing.T) {
	eachOffice(t, func(o *office) {
		k, _ := o.key(o.signedIn(o.owner), CreateKeyParams{})
		o.key(o.signedIn(o.owner), CreateKeyParams{Name: "unused"})
		last := func() *Use {
			o.Helper()
			o.must(o.FlushUses(o.Context()))
			found, err := o.Keys(o.signedIn(o.owner), page.Request{Limit: 10})
			o.must(err)
			if found.Items[0].LastUse != nil {
				o.Errorf("a key that was not used was used at %v", found.Items[0].LastUse)
			}
			return found.Items[1].LastUse
		}
		if u := last(); u != nil {
			o.Errorf("it was used at %v", u)
		}
		began := o.now.Now()
		o.NoteUse(k.ID, o.org, "198.51.100.7")
		o.now.Advance(59 * time.Second)
		o.NoteUse(k.ID, o.org, "198.51.100.8")
		if u := last(); u == nil || !u.At.Equal(began) || u.From != "198.51.100.7" {
			o.Errorf("it was used at %v", u)
		}
		o.now.Advance(time.Second)
		o.NoteUse(k.ID, o.org, strings.Repeat("é", 100))
		if u := last(); u == nil || !u.At.Equal(o.now.Now()) || u.From != strings.Repeat("é", addressMax/2) {
			o.Errorf("it was used at %v", u)
		}
		// A node that stores an earlier use later does not replace it.
		other := NewService(o.db)
		other.uses.waiting = map[string]useRow{k.ID: {OrganizationID: o.org, CredentialID: k.ID, UsedAt: began, Address: "old"}}
		o.must(other.FlushUses(o.Context()))
		if u := last(); u.From == "old" {
			o.Error("an earlier use has replaced a later one")
		}
		canceled, cancel := context.WithCancel(o.Context())
		cancel()
		o.now.Advance(time.Minute)
		o.NoteUse(k.ID, o.org, "198.51.100.9")
		if err := o.FlushUses(canceled); err == nil {
			o.Error("a use was stored without a database")
		}
		if u := last(); u.From != "198.51.100.9" { // what was not stored is stored the next time
			o.Errorf("it was used at %v", u)
		}
	})
}

func TestTheRecorderOfUsesStoresWhatIsLeftWhenItStops(t *testing.T) {
	eachOffice(t, func(o *office) {
		log := slog.New(slog.DiscardHandler)
		lifecycletest.Conforms(o.T, func(*testing.T) lifecycle.Service { return o.NewUseRecorder(log) })
		k, _ := o.key(o.signedIn(o.owner), CreateKeyParams{})
		loop := o.NewUseRecorder(log)
		o.must(loop.Start(o.Context()))
		o.NoteUse(k.ID, o.org, "198.51.100.7")
		loop.Stop()
		o.must(o.db.Read(o.Context(), o.org, func(ctx context.Context, tx *db.Tx) error {
			used, err := LastUses(ctx, tx, []string{k.ID, "oau_1"})
			if len(used) != 1 || used[k.ID].From != "198.51.100.7" {
				o.Errorf("the uses are %v", used)
			}
			return err
		}))
	})
}

func TestManyRequestsNoteAUseAtOnce(t *testing.T) {
	eachOffice(t, func(o *office) {
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				for i := range 500 {
					o.NoteUse(fmt.Sprint("key_", (n+i)%50), o.org, "198.51.100.7")
					if i%100 == 0 {
						o.must(o.FlushUses(o.Context()))
					}
				}
			})
		}
		wg.Wait()
		o.must(o.FlushUses(o.Context()))
	})
}
