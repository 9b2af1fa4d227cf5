package tenancy_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// Keys of earlier versions do not say what they were created with, but the audit log does. Neither do ledger accounts say what they are
// named after.
func TestAnOlderDatabaseLearnsWhatKeysWereCreatedWithAndAccountsAreNamedAfter(t *testing.T) {
	t.Parallel()
	migration, err := os.ReadFile("../../../db/migrations/00032_keys_and_names_of_entities.sql")
	if err != nil {
		t.Fatal(err)
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		parent := keyFrom(t, s, n.Key, client.CreateAPIKey{})
		child := keyFrom(t, s, parent.Key, client.CreateAPIKey{})
		revoked := keyFrom(t, s, n.Key, client.CreateAPIKey{})
		orphan := keyFrom(t, s, revoked.Key, client.CreateAPIKey{})
		bank, shared := n.NewSource(t, client.CreateSource{Name: "Vault"}), n.AccountByCode(t, "1010")
		n.NewSource(t, client.CreateSource{LedgerAccountID: shared.ID})
		run := func(statements ...string) {
			t.Helper()
			err := s.App.DB.WriteAcross(t.Context(), "a test migrates", func(ctx context.Context, tx *db.Tx) error {
				for _, text := range statements {
					if _, err := tx.Exec(ctx, text); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		run("UPDATE api_keys SET parent_api_key_id = NULL", "UPDATE ledger_accounts SET named_after = NULL",
			"UPDATE api_keys SET revoked_at = created_at WHERE api_key_id = '"+revoked.ID+"'")
		var updates []string
		for statement := range strings.SplitSeq(string(migration), ";") {
			if at := strings.Index(statement, "UPDATE "); at >= 0 {
				updates = append(updates, statement[at:])
			}
		}
		if len(updates) != 2 {
			t.Fatalf("%d statements", len(updates))
		}
		run(updates...)
		keys := listed(t, s, n.Key)
		for _, c := range []struct {
			what   string
			key    string
			parent *string
		}{{"the first", n.Created.Key.ID, nil}, {"a child", parent.ID, &n.Created.Key.ID}, {"a grandchild", child.ID, &parent.ID},
			{"one whose creator is revoked", orphan.ID, nil}} {
			if got := db.OrEmpty(keys[c.key].ParentAPIKeyID); got != db.OrEmpty(c.parent) {
				t.Errorf("%s was created with %q, want %q", c.what, got, db.OrEmpty(c.parent))
			}
		}
		if got := works(t, s, orphan.Key); got != 200 {
			t.Errorf("one whose creator is revoked: %d", got)
		}
		err := s.App.DB.Read(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			named, err := db.All[string](ctx, tx, "SELECT ledger_account_id || ' ' || named_after FROM ledger_accounts WHERE organization_id = "+
				"@org AND named_after IS NOT NULL")
			if len(named) != 1 || named[0] != bank.LedgerAccountID+" "+n.LegalEntity.ID {
				t.Errorf("%v", named)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		run("UPDATE api_keys SET revoked_at = NULL",
			"UPDATE api_keys SET parent_api_key_id = '"+revoked.ID+"' WHERE api_key_id = '"+orphan.ID+"'")
	})
}
