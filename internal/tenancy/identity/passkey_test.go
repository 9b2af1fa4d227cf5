package identity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// device is an authenticator in software: it has a key on P-256, and signs whatever it is told to, also what no real one would.
type device struct {
	*world
	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte
	count  uint32

	origin, party string // of the page that asks
	flags         byte   // 1 somebody is there, 4 they were verified, 64 with a new key
}

func (w *world) device() *device {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	d := &device{world: w, key: key, id: make([]byte, 32), origin: "https://books.acme.example", party: "books.acme.example", flags: 1 | 4}
	_, err = rand.Read(d.id)
	w.must(err)
	return d
}

// clientData is what the browser says about a ceremony.
func (d *device) clientData(kind, challenge string) []byte {
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": d.origin, "crossOrigin": false})
	d.must(err)
	return text
}

// data is what the device says.
func (d *device) data(flags byte, more ...byte) []byte {
	party := sha256.Sum256([]byte(d.party))
	return append(binary.BigEndian.AppendUint32(append(party[:], flags), d.count), more...)
}

var b64 = base64.RawURLEncoding.EncodeToString

// register answers to BeginPasskey.
func (d *device) register(c identity.Ceremony) []byte {
	d.Helper()
	var options struct {
		PublicKey struct {
			Challenge              string
			User                   struct{ ID string }
			AuthenticatorSelection struct{ ResidentKey, UserVerification string }
			Attestation            string
		}
	}
	d.must(json.Unmarshal(c.Options, &options))
	o := options.PublicKey
	if o.AuthenticatorSelection.ResidentKey != "required" || o.AuthenticatorSelection.UserVerification != "required" ||
		o.Attestation != "none" {
		d.Fatalf("%s", c.Options)
	}
	var err error
	d.handle, err = base64.RawURLEncoding.DecodeString(o.User.ID)
	d.must(err)
	public, err := d.key.PublicKey.ECDH()
	d.must(err)
	point := public.Bytes()
	cose, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	d.must(err)
	more := append(make([]byte, 16), byte(len(d.id)>>8), byte(len(d.id)))
	attestation, err := cbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{},
		"authData": d.data(d.flags|64, append(append(more, d.id...), cose...)...)})
	d.must(err)
	text, err := json.Marshal(map[string]any{"id": b64(d.id), "rawId": b64(d.id), "type": "public-key", "response": map[string]any{
		"clientDataJSON": b64(d.clientData("webauthn.create", o.Challenge)), "attestationObject": b64(attestation)}})
	d.must(err)
	return text
}

// sign answers to a question of who is there.
func (d *device) sign(c identity.Ceremony) []byte {
	d.Helper()
	var options struct {
		PublicKey struct {
			Challenge        string
			RPID             string `json:"rpId"`
			UserVerification string
		}
	}
	d.must(json.Unmarshal(c.Options, &options))
	if options.PublicKey.RPID != "books.acme.example" || options.PublicKey.UserVerification != "required" {
		d.Fatalf("%s", c.Options)
	}
	data, said := d.data(d.flags), d.clientData("webauthn.get", options.PublicKey.Challenge)
	hash := sha256.Sum256(said)
	digest := sha256.Sum256(append(data[:len(data):len(data)], hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, digest[:])
	d.must(err)
	text, err := json.Marshal(map[string]any{"id": b64(d.id), "rawId": b64(d.id), "type": "public-key", "response": map[string]any{
		"clientDataJSON": b64(said), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": b64(d.handle)}})
	d.must(err)
	return text
}

// add adds the passkey of a device to ada, who is signed in.
func (d *device) add(in identity.SignedIn) identity.Passkey {
	d.Helper()
	c, err := d.BeginPasskey(d.Context(), in.Session)
	d.must(err)
	k, err := d.AddPasskey(d.Context(), in.Session, identity.AddPasskeyParams{Ticket: c.Ticket, Name: " Laptop ", Answer: d.register(c),
		Origin: home})
	d.must(err)
	return k
}

// asBrowsersSay returns an answer of a device with what browsers add to it in PublicKeyCredential.toJSON.
func (d *device) asBrowsersSay(answer []byte, extensions map[string]any) []byte {
	d.Helper()
	var said map[string]any
	d.must(json.Unmarshal(answer, &said))
	response := said["response"].(map[string]any)
	said["authenticatorAttachment"], said["clientExtensionResults"] = "platform", extensions
	if response["attestationObject"] != nil {
		response["transports"], response["publicKeyAlgorithm"] = []string{"internal", "hybrid"}, -7
		public, err := x509.MarshalPKIXPublicKey(&d.key.PublicKey)
		d.must(err)
		response["publicKey"] = b64(public)
	}
	text, err := json.Marshal(said)
	d.must(err)
	return text
}

func TestWhatBrowsersAddToAnAnswerOfADeviceIsAccepted(t *testing.T) {
	each(t, func(w *world) {
		in := w.signedIn()
		for what, extensions := range map[string]map[string]any{
			"nothing":                      {},
			"whether the key can be found": {"credProps": map[string]any{"rk": true}},
			"the same without an answer":   {"credProps": map[string]any{}},
			"what a manager of passwords adds": {"credProps": map[string]any{"rk": true, "authenticatorDisplayName": "Keys"},
				"prf": map[string]any{"enabled": true}, "largeBlob": map[string]any{"supported": false}},
		} {
			d := w.device()
			c, err := d.BeginPasskey(d.Context(), in.Session)
			d.must(err)
			_, err = d.AddPasskey(d.Context(), in.Session, identity.AddPasskeyParams{Ticket: c.Ticket, Name: what,
				Answer: d.asBrowsersSay(d.register(c), extensions), Origin: home})
			if err != nil {
				t.Errorf("adding with %s: %v", what, err)
				continue
			}
			enter, err := d.BeginPasskeySignIn()
			d.must(err)
			if _, err := d.SignInWithPasskey(d.Context(), enter.Ticket, d.asBrowsersSay(d.sign(enter), extensions), home); err != nil {
				t.Errorf("signing in with %s: %v", what, err)
			}
		}
	})
}

// enter signs in with the device.
func (d *device) enter() (identity.SignedIn, error) {
	d.Helper()
	c, err := d.BeginPasskeySignIn()
	d.must(err)
	return d.SignInWithPasskey(d.Context(), c.Ticket, d.sign(c), home)
}

// withApp sets up an authenticator app for ada.
func (w *world) withApp() {
	w.Helper()
	e, err := w.BeginTOTP(w.Context(), w.made.Owner.UserID)
	w.must(err)
	code, err := totp.Code(e.Secret, totp.Step(w.now.Now()))
	w.must(err)
	_, err = w.ConfirmTOTP(w.Context(), w.made.Owner.UserID, e.Ticket, secret.New(code), home)
	w.must(err)
}

// signedIn gives ada a password and signs her in with it.
func (w *world) signedIn() identity.SignedIn {
	w.Helper()
	in, err := w.withPassword().signIn(good)
	w.must(err)
	return in
}

func TestAPersonAddsAPasskeySignsInWithItAndRemovesIt(t *testing.T) {
	each(t, func(w *world) {
		in, d := w.signedIn(), w.device()
		k := d.add(in)
		if k.Name != "Laptop" {
			w.Errorf("%+v", k)
		}
		if last := w.mails[len(w.mails)-1]; last.To[0] != ada || last.Subject != "A passkey was added" {
			w.Errorf("%+v", last)
		}
		again, err := d.enter()
		w.must(err)
		if again.Session.Method != identity.ByPasskey || again.Person.UserID != in.Person.UserID || again.Text.Equal(in.Text) {
			w.Errorf("%+v", again.Session)
		}
		w.must(w.RenamePasskey(w.Context(), in.Person.UserID, k.ID, "Desk"))
		keys, err := w.Passkeys(w.Context(), in.Person.UserID)
		w.must(err)
		if len(keys) != 1 || keys[0].Name != "Desk" || keys[0].UsedAt == nil {
			w.Errorf("%+v", keys)
		}
		w.wants("of somebody else", w.RenamePasskey(w.Context(), "usr_other", k.ID, "Mine"), fault.NotFound, "passkey not found")
		w.wants("over two lines", w.RenamePasskey(w.Context(), in.Person.UserID, k.ID, "Desk\nBcc: eve@evil.example"), fault.Invalid, "name")
		w.must(w.RemovePasskey(w.Context(), in.Person, k.ID, home))
		if last := w.mails[len(w.mails)-1]; last.To[0] != ada || last.Subject != "A passkey was removed" {
			w.Errorf("%+v", last)
		}
		_, err = d.enter()
		w.wants("removed", err, fault.Unauthorized, "not accepted")
		got := strings.Join(w.actions(), " ")
		if !strings.Contains(got, "user.passkey_added session.created user.passkey_removed") {
			w.Errorf("%s", got)
		}
	})
}

func TestPasskeysThatAreAddedAtTheSameTimeAreAllCounted(t *testing.T) {
	each(t, func(w *world) {
		in := w.signedIn()
		answers := make([]identity.AddPasskeyParams, 24)
		for n := range answers {
			d := w.device()
			c, err := w.BeginPasskey(w.Context(), in.Session)
			w.must(err)
			answers[n] = identity.AddPasskeyParams{Ticket: c.Ticket, Name: "Laptop", Answer: d.register(c), Origin: home}
		}
		send := w.Send
		w.Send = nil // the list of mails is not for use at the same time
		var all sync.WaitGroup
		for _, p := range answers {
			all.Go(func() { _, _ = w.AddPasskey(w.Context(), in.Session, p) })
		}
		all.Wait()
		w.Send = send
		if keys, err := w.Passkeys(w.Context(), in.Person.UserID); err != nil || len(keys) != 20 {
			w.Errorf("%d passkeys, %v", len(keys), err)
		}
	})
}

func TestAPasskeyNeedsNoCodeOfAnAuthenticatorApp(t *testing.T) {
	each(t, func(w *world) {
		in, d := w.signedIn(), w.device()
		d.add(in)
		w.withApp()
		if again, err := d.enter(); err != nil || again.Session.Method != identity.ByPasskey {
			w.Errorf("%v", err)
		}
	})
}

func TestWhatNoDeviceShouldAnswerIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(d *device){
		"another origin":               func(d *device) { d.origin = "https://books.acme.example.evil.example" },
		"another port of the host":     func(d *device) { d.origin = "https://books.acme.example:8443" },
		"without TLS":                  func(d *device) { d.origin = "http://books.acme.example" },
		"another relying party":        func(d *device) { d.party = "evil.example" },
		"a domain above":               func(d *device) { d.party = "acme.example" },
		"nobody was verified":          func(d *device) { d.flags = 1 },
		"nobody was there":             func(d *device) { d.flags = 0 },
		"the key of another device":    func(d *device) { d.key = d.device().key },
		"the id of another credential": func(d *device) { d.id = d.device().id },
		"the handle of another person": func(d *device) { d.handle = []byte("usr_01k9zzzzzzzzzzzzzzzzzzzzzz") },
		"a count that goes back":       func(d *device) { d.count = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				in, d := w.signedIn(), w.device()
				d.add(in)
				d.count = 7
				_, err := d.enter()
				w.must(err)
				d.count = 8
				spoil(d)
				_, err = d.enter()
				w.wants("sign in", err, fault.Unauthorized, "the passkey was not accepted")
				c, err := d.BeginPasskeyConfirmation(d.Context(), in.Session)
				w.must(err)
				err = d.ConfirmWithPasskey(d.Context(), in.Session, c.Ticket, d.sign(c), home)
				w.wants("confirm", err, fault.Unauthorized, "the passkey was not accepted")
			})
		})
	}
}

func TestADeviceOfAnotherPageCannotBeAdded(t *testing.T) {
	for name, spoil := range map[string]func(d *device){
		"another origin":        func(d *device) { d.origin = "https://evil.example" },
		"another relying party": func(d *device) { d.party = "evil.example" },
		"nobody was verified":   func(d *device) { d.flags = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				in, d := w.signedIn(), w.device()
				spoil(d)
				c, err := d.BeginPasskey(d.Context(), in.Session)
				w.must(err)
				_, err = d.AddPasskey(d.Context(), in.Session, identity.AddPasskeyParams{Ticket: c.Ticket, Name: "x", Answer: d.register(c),
					Origin: home})
				w.wants("add", err, fault.Invalid, "answer was not accepted")
			})
		})
	}
}

func TestAnAnswerOfADeviceCountsOnceInTimeAndForWhatItWasAsked(t *testing.T) {
	each(t, func(w *world) {
		in, d := w.signedIn(), w.device()
		c, err := d.BeginPasskey(d.Context(), in.Session)
		w.must(err)
		add := identity.AddPasskeyParams{Ticket: c.Ticket, Name: "x", Answer: d.register(c), Origin: home}
		other, err := w.signIn(good)
		w.must(err)
		_, err = d.AddPasskey(d.Context(), other.Session, add)
		w.wants("in another session", err, fault.Unauthorized, "too late, or twice")
		_, err = d.AddPasskey(d.Context(), in.Session, add)
		w.must(err)
		_, err = d.AddPasskey(d.Context(), in.Session, add)
		w.wants("added twice", err, fault.Unauthorized, "too late, or twice")

		c, err = d.BeginPasskeySignIn()
		w.must(err)
		answer := d.sign(c)
		_, err = d.SignInWithPasskey(d.Context(), c.Ticket, answer, home)
		w.must(err)
		_, err = d.SignInWithPasskey(d.Context(), c.Ticket, answer, home)
		w.wants("replayed", err, fault.Unauthorized, "too late, or twice")
		fresh, err := d.BeginPasskeySignIn()
		w.must(err)
		_, err = d.SignInWithPasskey(d.Context(), fresh.Ticket, answer, home)
		w.wants("to another question", err, fault.Unauthorized, "not accepted")
		w.wants("to confirm", d.ConfirmWithPasskey(d.Context(), in.Session, fresh.Ticket, d.sign(fresh), home), fault.Unauthorized, "too late")
		_, err = d.SignInWithPasskey(d.Context(), secret.New("invented"), d.sign(fresh), home)
		w.wants("without a ticket", err, fault.Unauthorized, "too late")
		_, err = d.SignInWithPasskey(d.Context(), fresh.Ticket, []byte("{}"), home)
		w.wants("nonsense", err, fault.Unauthorized, "not accepted")
		w.now.Advance(6 * time.Minute)
		_, err = d.SignInWithPasskey(d.Context(), fresh.Ticket, d.sign(fresh), home)
		w.wants("too late", err, fault.Unauthorized, "too late")
	})
}

func TestAPasskeyProvesAgainThatThePersonIsThere(t *testing.T) {
	each(t, func(w *world) {
		in, d := w.signedIn(), w.device()
		d.add(in)
		w.now.Advance(time.Hour)
		c, err := d.BeginPasskeyConfirmation(d.Context(), in.Session)
		w.must(err)
		w.must(d.ConfirmWithPasskey(d.Context(), in.Session, c.Ticket, d.sign(c), home))
		one, _, err := w.Authenticate(w.Context(), in.Text)
		w.must(err)
		if !one.Fresh(w.now.Now()) {
			w.Errorf("%v", one.AuthenticatedAt)
		}
	})
}

func TestWhoIsInNoOrganizationSignsInAndCanDoNothing(t *testing.T) {
	each(t, func(w *world) {
		in, d := w.signedIn(), w.device()
		d.add(in)
		people := access.NewService(w.db)
		ctx := actor.With(w.Context(), actor.Actor{OrganizationID: w.made.Organization.ID, UserID: w.made.Owner.UserID, Role: actor.Owner})
		_, err := people.AddMember(ctx, "bob@acme.example", actor.Owner)
		w.must(err)
		_, _, err = people.RemoveMember(ctx, w.made.Owner.UserID)
		w.must(err)
		again, err := d.enter()
		w.must(err)
		one, members, err := w.Authenticate(w.Context(), again.Text)
		w.must(err)
		_, err = identity.ActorOf(one, members, "")
		w.wants("an actor", err, fault.Forbidden, "not a member of any organization")
	})
}
