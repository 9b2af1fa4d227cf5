package app_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// Somebody who can delete rows can delete what the verification of an organization starts from. It must say so, and go on with the others.
func TestVerifyNamesAnOrganizationWhoseOwnRowsAreGoneAndGoesOn(t *testing.T) {
	t.Parallel()
	for table, says := range map[string]string{
		"organization_state": "in organization_state does not exist",
		"organizations":      "its audit log is: it was deleted outside Bursar",
	} {
		t.Run(table, func(t *testing.T) {
			dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
				a := app.New(dbtest.Open(t, c), nil)
				var ids []string
				for _, name := range []string{"one", "two"} {
					made, err := a.Org.Create(t.Context(), organization.CreateParams{Name: name, Email: name + "@example.com", Currency: "USD",
						Timezone: "UTC"})
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, made.Organization.ID)
				}
				dbtest.ExecUnchecked(t, c, "DELETE FROM "+table+" WHERE organization_id = '"+ids[0]+"'")
				var verified []string
				found, err := a.Verify(t.Context(), &app.VerifyOptions{Verified: func(id string, _ int64) { verified = append(verified, id) }})
				if err != nil {
					t.Fatal(err)
				}
				if len(found) != 1 || found[0].OrganizationID != ids[0] || !strings.Contains(found[0].Text, says) {
					t.Errorf("found %+v, want %q of %s", found, says, ids[0])
				}
				if len(verified) != 1 || verified[0] != ids[1] {
					t.Errorf("verified %v, want the other one, %s", verified, ids[1])
				}
			})
		})
	}
}
