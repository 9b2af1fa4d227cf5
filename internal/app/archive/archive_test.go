package archive_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/archive"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

func TestAnOrganizationWithEverythingIsTheSameInAnotherDatabase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, from, to *db.DB) {
		w := newWorld(t, from)
		w.becomeClient(t)
		there := apitest.StartSealed(t, to, seal.Temporary())
		content := exported(t, w.App, w.org)
		s := imported(t, there.App, content)
		if s.Rows < 300 || s.Tables < 110 || len(s.Findings) > 0 {
			t.Errorf("%d rows in %d tables, %v", s.Rows, s.Tables, s.Findings)
		}
		if got, want := journalOf(t, there.App, w.org), journalOf(t, w.App, w.org); got != want {
			t.Errorf("the journal is\n%s\nand not\n%s", got, want)
		}
		if got := s.Adapted; got.Keys == 0 || got.Apps != 1 || got.Connections != (connection.Imported{Asked: 1, Ended: 1}) ||
			got.Webhooks != 1 || got.Setups != 1 || got.Invitations != 1 || !got.FirmEnded || got.FirmStays {
			t.Errorf("it has %+v", got)
		}
		if s.Users.Added == 0 || s.Users.Kept > 0 || len(s.Users.Moved) > 0 {
			t.Errorf("the users are %+v", s.Users)
		}
		hasNoSecrets(t, content)
		w.letsNobodyIn(t, there)
		w.goesOn(t, there)
	})
}

// hasNoSecrets fails the test if an archive has something that is sealed, or a credential that works.
func hasNoSecrets(t *testing.T, content []byte) {
	t.Helper()
	for name, text := range unpacked(t, content) {
		for _, secret := range []string{"enc:", "sealed:", "whsec_", "$argon2"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", name, secret)
			}
		}
	}
}

// letsNobodyIn checks that no credential of the other installation works.
func (w *world) letsNobodyIn(t *testing.T, there *apitest.Service) {
	t.Helper()
	if _, err := client.New(there.URL, w.tenant.Key).Organization(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("the key of the other installation: %v", err)
	}
	ctx := as(t, w.org)
	c := must[connection.Connection](t)(there.App.Connections.Get(ctx, w.kraken.ID))
	if c.Status != connection.Unauthorized || !strings.Contains(c.ErrorMessage, "moved here without the credentials") {
		t.Errorf("the connection is %s: %s", c.Status, c.ErrorMessage)
	}
	_, err := there.App.Webhooks.Enable(ctx, w.hook.ID, "")
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "rotate the secret") {
		t.Errorf("an endpoint without its secret is enabled: %v", err)
	}
	must[webhook.WithSecret](t)(there.App.Webhooks.RotateSecret(ctx, w.hook.ID, 0, ""))
	if e := must[webhook.Endpoint](t)(there.App.Webhooks.Enable(ctx, w.hook.ID, "")); e.Status != webhook.Enabled {
		t.Errorf("the endpoint is %s", e.Status)
	}
	if names := must[[]string](t)(there.App.Connections.SetUpProviders(ctx)); len(names) > 0 {
		t.Errorf("%v are said to be set up", names)
	}
}

// goesOn works with the books at the other installation.
func (w *world) goesOn(t *testing.T, there *apitest.Service) {
	t.Helper()
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: w.org, UserID: w.tenant.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes})
	_, text, err := there.App.Access.CreateKey(ctx, access.CreateKeyParams{Name: "new", Scopes: actor.Scopes, UserID: w.tenant.Owner.UserID})
	if err != nil {
		t.Fatal(err)
	}
	n := &apitest.Tenant{Created: w.tenant.Created, Key: text.Reveal(), Client: client.New(there.URL, text.Reveal())}
	n = n.At(there)
	l := n.OpenLedger(t)
	l.Post(t, "2026-02-10", "Dr 1010 5; Cr 4010 5")
	n.NewTransaction(t)
	n.NewInvoice(t, client.CreateInvoice{})
	with := there.Kraken.Credentials()
	c := must[client.Connection](t)(n.Client.UpdateConnection(t.Context(), w.kraken.ID, client.UpdateConnection{APIKey: new(with["api_key"]),
		APISecret: new(with["api_secret"])}))
	if c.Status != "active" && c.Status != "syncing" {
		t.Errorf("with new credentials, the connection is %s", c.Status)
	}
}

func TestAnOrganizationStaysTheClientOfAFirmThatKnowsItThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, from, to *db.DB) {
		w := newWorld(t, from)
		f, c := w.becomeClient(t)
		there := app.New(to, nil)
		if s := imported(t, there, exported(t, w.App, f.Organization.ID)); s.Adapted.FirmEnded || s.Adapted.FirmStays {
			t.Errorf("the firm itself: %+v", s.Adapted)
		}
		if s := imported(t, there, exported(t, w.App, w.org)); s.Adapted.FirmEnded || !s.Adapted.FirmStays || s.Users.Kept == 0 {
			t.Errorf("its client: %+v %+v", s.Adapted, s.Users)
		}
		all := must[page.Page[firm.Access]](t)(there.Firms.AccessList(as(t, w.org), page.Request{Limit: 10})).Items
		if len(all) != 1 || all[0].Status != firm.Active || all[0].ClientID != c.ID || len(all[0].People) != 1 {
			t.Errorf("the access is %+v", all)
		}
		if found, err := there.VerifyOrganization(t.Context(), w.org); err != nil || len(found) > 0 {
			t.Errorf("verify: %v, %v", found, err)
		}
	})
}

func TestAUserWhoseAddressAnotherHasGetsNoneThatMailReaches(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, from, to *db.DB) {
		w := newWorld(t, from)
		there := apitest.StartOn(t, to)
		other := there.Found(t, "acme") // whose owner has the same address
		s := imported(t, there.App, exported(t, w.App, w.org))
		owner := w.tenant.Owner
		if len(s.Users.Moved) != 1 || s.Users.Moved[0].UserID != owner.UserID || s.Users.Moved[0].Email != owner.Email {
			t.Fatalf("moved are %+v", s.Users.Moved)
		}
		m := member(t, there.App, w.org, owner.UserID)
		if m.Email != access.PlaceholderEmail(owner.UserID) || m.Role != actor.Owner {
			t.Errorf("the member is %+v", m)
		}
		if m = member(t, there.App, other.Organization.ID, other.Owner.UserID); m.Email != owner.Email {
			t.Errorf("the other one is %+v", m)
		}
	})
}

func TestADryRunAndAnOrganizationThatIsThereChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, from, to *db.DB) {
		w, there := newWorld(t, from), app.New(to, nil)
		content := exported(t, w.App, w.org)
		s, err := imports(t.Context(), there, content, archive.ImportParams{DryRun: true})
		if err != nil || s.Rows == 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		if ids := must[[]string](t)(there.Org.IDs(t.Context())); len(ids) > 0 {
			t.Errorf("after a dry run there is %v", ids)
		}
		imported(t, there, content)
		_, err = imports(t.Context(), there, content, archive.ImportParams{})
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "has the organization "+w.org+" already") {
			t.Errorf("again: %v", err)
		}
		_, err = imports(t.Context(), w.App, content, archive.ImportParams{})
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("where it comes from: %v", err)
		}
	})
}

func TestTheSameArchiveIsWrittenOnBothEnginesAndAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, from, to *db.DB) {
		w, there := newWorld(t, from), app.New(to, nil)
		first := opened(t, exported(t, w.App, w.org))
		imported(t, there, exported(t, w.App, w.org))
		again := opened(t, exported(t, there, w.org))
		changed := []string{"organizations", "organization_state", "audit_log", "events", "users", "api_keys", "connections", "connection_syncs",
			"connection_runs", "connection_credentials", "oauth_authorizations", "webhook_endpoints", "oauth_clients", "invitations"}
		for i, table := range again.Tables {
			if !slices.Contains(changed, table.Name) && table.SHA256 != first.Tables[i].SHA256 {
				t.Errorf("%s has changed by the move", table.Name)
			}
		}
	})
}

func opened(t *testing.T, content []byte) *archive.Archive {
	t.Helper()
	return must[*archive.Archive](t)(archive.Open(bytes.NewReader(content), int64(len(content))))
}

func TestBooksThatVerificationFindsFaultyAreImportedOnRequestOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, from, to *db.DB) {
		w, there := newWorld(t, from), app.New(to, nil)
		damage(t, w.App, w.org, "UPDATE tags SET name = name || '!' WHERE organization_id = @org")
		content := exported(t, w.App, w.org)
		_, err := imports(t.Context(), there, content, archive.ImportParams{})
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "nothing was imported") {
			t.Fatalf("it was imported: %v", err)
		}
		if s, err := imports(t.Context(), there, content, archive.ImportParams{KeepFindings: true}); err != nil || len(s.Findings) == 0 {
			t.Errorf("%+v, %v", s, err)
		}
		// The test service verifies its books.
		damage(t, w.App, w.org, "UPDATE tags SET name = substr(name, 1, length(name) - 1) WHERE organization_id = @org")
	})
}

// damage changes rows as somebody who has access to the database does.
func damage(t *testing.T, a *app.App, organizationID, statement string) {
	t.Helper()
	err := a.DB.Write(as(t, organizationID), organizationID, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded()
		_, err := tx.Exec(ctx, statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func member(t *testing.T, a *app.App, organizationID, userID string) (m access.Member) {
	t.Helper()
	err := a.DB.Read(as(t, organizationID), organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		m, err = access.FindMember(ctx, tx, userID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
