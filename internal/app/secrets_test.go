package app_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// keyed is a service with a key in a file, and something sealed in each column.
type keyed struct {
	*testing.T
	*apitest.Service
	tenant *apitest.Tenant
	path   string
	server *seal.Key
	kraken client.Connection
}

func withKey(t *testing.T, d *db.DB) *keyed {
	t.Helper()
	k := &keyed{T: t, path: filepath.Join(t.TempDir(), seal.File)}
	k.server = seal.New(secret.Text{}, k.path)
	k.Service = apitest.StartSealed(t, d, k.server)
	k.tenant = k.Found(t, "acme")
	k.kraken = k.tenant.ConnectKraken(t, client.CreateConnection{})
	hook, err := k.tenant.Client.CreateWebhookEndpoint(t.Context(), client.CreateWebhookEndpoint{URL: "https://hooks.example.com/bursar"})
	k.must(err)
	_, err = k.tenant.Client.RotateWebhookSecret(t.Context(), hook.ID, client.RotateWebhookSecret{})
	k.must(err)
	_, err = k.tenant.Client.SetUpProvider(t.Context(), "netsuite", client.SetUpProvider{ClientID: "client",
		ClientSecret: "netsuite-1"})
	k.must(err)
	_, err = k.tenant.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "netsuite", Subdomain: "1234567"})
	k.must(err)
	people, userID := k.App.Identity, k.tenant.Owner.UserID
	k.tenant.SetPassword(t, userID)
	e, err := people.BeginTOTP(t.Context(), userID)
	k.must(err)
	code, err := totp.Code(e.Secret, totp.Step(time.Now()))
	k.must(err)
	_, err = people.ConfirmTOTP(t.Context(), userID, e.Ticket, secret.New(code), identity.Origin{})
	k.must(err)
	sealed, err := k.server.Seal(secret.New("{}"), "passkey", userID, "credential")
	k.must(err)
	k.exec("INSERT INTO passkeys (passkey_id, user_id, credential_id, name, credential, created_at) VALUES (?, ?, ?, ?, ?, ?)", "psk_1",
		userID, "credential", "Laptop", sealed, time.Now().UTC())
	return k
}

// sendMail has no message wait any more.
func (k *keyed) sendMail() {
	k.Helper()
	k.exec("DELETE FROM river_job")
}

// exec changes the database behind the back of the service.
func (k *keyed) exec(statement string, args ...any) {
	k.Helper()
	k.must(k.App.DB.WriteAcross(k.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// registered returns what the organization has registered at NetSuite.
func (k *keyed) registered() string {
	k.Helper()
	type row struct {
		Sealed string `db:"sealed"`
	}
	var r row
	k.must(k.App.DB.ReadAcross(k.Context(), "a test", func(ctx context.Context, tx *db.Tx) (err error) {
		r, err = db.One[row](ctx, tx, "registration", "SELECT sealed FROM provider_setups WHERE provider = 'netsuite'")
		return err
	}))
	plain, err := k.server.Open(r.Sealed, k.tenant.Organization.ID, "netsuite")
	k.must(err)
	return plain.Reveal()
}

// addPasskeys adds passkeys of one person.
func (k *keyed) addPasskeys(n int) {
	k.Helper()
	for i := range n {
		id := fmt.Sprintf("credential-%03d", i)
		sealed, err := k.server.Seal(secret.New("{}"), "passkey", "usr_1", id)
		k.must(err)
		k.exec("INSERT INTO passkeys (passkey_id, user_id, credential_id, name, credential, created_at) VALUES (?, ?, ?, ?, ?, ?)", "psk_"+id,
			"usr_1", id, "Laptop", sealed, time.Now().UTC())
	}
}

// rotate rotates the key as another process does.
func (k *keyed) rotate(ctx context.Context, r app.Rotation) (app.Rotated, error) {
	r.Progress = k.Logf
	return k.App.Rotate(ctx, seal.New(secret.Text{}, k.path), r)
}

// under returns how many values there are of each kind, which all must be sealed under one key. Those of other kinds are zero.
func (k *keyed) under(id seal.KeyID) map[string]int {
	k.Helper()
	counts, err := k.App.CountSealed(k.Context())
	k.must(err)
	out := map[string]int{}
	for _, c := range counts {
		out[c.Title] = c.ByKey[id]
		if len(c.ByKey) > 1 || len(c.ByKey) == 1 && c.ByKey[id] == 0 || c.Unsealed > 0 {
			k.Errorf("%s: %+v, want all under %s", c.Title, c.Counts, id)
		}
	}
	return out
}

// works fails the test unless the service can use what is sealed.
func (k *keyed) works() {
	k.Helper()
	_, err := k.tenant.Client.SyncConnection(k.Context(), k.kraken.ID)
	k.must(err)
	if c := k.tenant.Sync(k.T, k.kraken.ID); c.Status != "active" {
		k.Errorf("the connection is %s: %v", c.Status, c.ErrorMessage)
	}
}

func TestARotationSealsEverythingAgainWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		k := withKey(t, d)
		k.addPasskeys(450) // more than are sealed together
		first, err := k.server.State()
		k.must(err)
		before := k.under(first.Primary)
		if before["passkeys"] != 451 {
			t.Errorf("%d passkeys", before["passkeys"])
		}
		for title, n := range before {
			if n == 0 && !strings.HasPrefix(title, "messages") {
				t.Errorf("nothing is sealed of the kind %q", title)
			}
		}
		k.works()
		k.sendMail()
		added, err := k.rotate(t.Context(), app.Rotation{AddOnly: true})
		if err != nil || !added.Added || len(added.Keys) != 2 || added.Primary != first.Primary || len(added.Removed) > 0 {
			t.Fatalf("%+v %v", added, err)
		}
		k.works()
		done, err := k.rotate(t.Context(), app.Rotation{})
		if err != nil || done.Added || done.Primary != added.Newest() || !slices.Equal(done.Removed, []seal.KeyID{first.Primary}) ||
			len(done.Keys) != 1 || done.Waiting > 0 {
			t.Fatalf("%+v %v", done, err)
		}
		total := 0
		after := k.under(done.Primary)
		for title, n := range before {
			if strings.HasPrefix(title, "messages") {
				continue
			}
			if total += n; after[title] != n {
				t.Errorf("%s: %d, and %d before", title, after[title], n)
			}
		}
		if done.Renewed != total {
			t.Errorf("%d were sealed again, want %d", done.Renewed, total)
		}
		k.works()
		_, err = k.tenant.Client.SetUpProvider(t.Context(), "netsuite", client.SetUpProvider{ClientID: "client", ClientSecret: "x"})
		k.must(err)
		k.under(done.Primary)
	})
}

func TestARotationThatStopsAnywhereIsContinued(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		k := withKey(t, d)
		k.sendMail()
		for steps := 0; ; steps++ {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			_, err := k.App.Rotate(ctx, seal.New(secret.Text{}, k.path), app.Rotation{Progress: func(string, ...any) {
				if n++; n > steps {
					cancel()
				}
			}})
			cancel()
			k.works()
			if err == nil {
				if steps < 3 {
					t.Errorf("only %d steps", steps)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		s, err := k.server.State()
		if err != nil || len(s.Keys) != 1 {
			t.Errorf("%+v %v", s, err)
		}
		k.under(s.Primary)
	})
}

func TestWhatIsWrittenDuringARotationStaysReadable(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		k := withKey(t, d)
		k.sendMail()
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				text := fmt.Sprintf("secret-%d", n)
				_, err := k.tenant.Client.SetUpProvider(t.Context(), "netsuite", client.SetUpProvider{ClientID: text, ClientSecret: text})
				k.must(err)
				time.Sleep(3 * time.Millisecond)
				if got := k.registered(); !strings.Contains(got, `"`+text+`"`) {
					t.Errorf("a rotation has brought %s back, instead of %s", got, text)
				}
			}
		})
		for range 20 {
			if _, err := k.rotate(t.Context(), app.Rotation{Settle: 20 * time.Millisecond}); err != nil {
				t.Error(err)
			}
		}
		stop()
		wg.Wait()
		s, err := k.server.State()
		k.must(err)
		k.under(s.Primary)
		k.works()
	})
}

func TestAKeyStaysWhileSomethingNeedsIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		k := withKey(t, d)
		first, err := k.server.State()
		k.must(err)
		// A value that was moved to another row cannot be opened there.
		sealed, err := k.server.Seal(secret.New("{}"), "passkey", "somebody else", "credential")
		k.must(err)
		k.exec("UPDATE passkeys SET credential = ?", sealed)
		if _, err := k.rotate(t.Context(), app.Rotation{}); err == nil || !strings.Contains(err.Error(), "passkeys of [passkey") {
			t.Errorf("%v", err)
		}
		s, err := k.server.State()
		if err != nil || len(s.Keys) != 2 || s.Keys[0] != first.Primary {
			t.Errorf("%+v %v", s, err)
		}
		k.works()
		// One that is sealed under a key that is lost is left.
		other := seal.Temporary()
		lost, err := other.Seal(secret.New("{}"), "passkey", "x")
		k.must(err)
		k.exec("UPDATE passkeys SET credential = ?", lost)
		done, err := k.rotate(t.Context(), app.Rotation{})
		if err != nil || len(done.Keys) != 2 || done.Waiting == 0 {
			t.Errorf("messages wait: %+v %v", done, err)
		}
		k.sendMail()
		if done, err = k.rotate(t.Context(), app.Rotation{}); err != nil || len(done.Keys) != 1 {
			t.Errorf("%+v %v", done, err)
		}
		k.works()
	})
}

func (k *keyed) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}
