package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func (s *settings) init() *cobra.Command {
	var p organization.CreateParams
	var asJSON bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Create an organization, its owner and an API key",
		Long: "Create an organization, its owner, a first legal entity and an API key with every scope, and print the key once.\n" +
			"An empty database is set up first. A database can hold any number of organizations.",
		Example: "  bursar init --organization \"Acme\" --email you@acme.example\n" +
			"  bursar init --organization \"Acme GmbH\" --email you@acme.example --currency EUR --timezone Europe/Berlin --json",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.Validate(); err != nil {
				return sentences(err)
			}
			return s.with(c.Context(), func(a *app.App) error {
				others, err := a.Org.IDs(c.Context())
				if err != nil {
					return err
				}
				f, err := a.Org.Create(c.Context(), p)
				if err != nil {
					return err
				}
				if err := s.printFounded(f, asJSON); err != nil {
					return err
				}
				s.warnOfOthers(others)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&p.Name, "organization", "", "name of the organization (required)")
	f.StringVar(&p.Email, "email", "", "email address of its owner (required)")
	f.StringVar(&p.Currency, "currency", "USD", "base currency of the first legal entity")
	f.StringVar(&p.Timezone, "timezone", "UTC", "IANA time zone that accounting periods follow")
	f.StringVar(&p.FirmID, "firm", "", "id of the accounting firm whose client it is; the client can read the documents that the firm shares")
	f.BoolVar(&asJSON, "json", false, "print a JSON object")
	required(c, "organization", "email")
	return c
}

// warnOfOthers explains that the database had organizations before, because who runs init again may only have wanted a new key.
func (s *settings) warnOfOthers(ids []string) {
	if len(ids) == 0 {
		return
	}
	fmt.Fprintf(s.err, "\nThis database already had %s. The new one has books of its own, and commands such as `bursar import`\n"+
		"now need --organization. If you only wanted another API key for an organization that exists, run\n"+
		"  bursar keys create%s --organization %s --scopes apis.all --user EMAIL\n", counted(len(ids), "organization"), s.flags(), ids[0])
}

// required turns a missing flag into a usage error.
func required(c *cobra.Command, names ...string) {
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, name := range names {
			if !c.Flags().Changed(name) {
				return &usageError{fmt.Errorf("--%s is required", name), c.CommandPath()}
			}
		}
		return nil
	}
}

func (s *settings) printFounded(f organization.Created, asJSON bool) error {
	if asJSON {
		err := json.NewEncoder(s.out).Encode(map[string]string{
			"organization_id": f.Organization.ID, "legal_entity_id": f.LegalEntity.ID, "user_id": f.Owner.UserID, "api_key": f.KeyText.Reveal(),
		})
		if err != nil {
			return err
		}
	} else {
		fmt.Fprintf(s.out, "Organization  %s  %s\nLegal entity  %s  %s\nOwner         %s  %s\nAPI key       %s\n",
			f.Organization.ID, f.Organization.Name, f.LegalEntity.ID, f.LegalEntity.BaseCurrency, f.Owner.UserID, f.Owner.Email, f.KeyText.Reveal())
	}
	fmt.Fprintf(s.err, "\nStore the API key now; it cannot be shown again. Next:\n  export BURSAR_API_KEY=...    # the key above\n"+
		"  bursar serve%s\n  curl -H \"X-API-Key: $BURSAR_API_KEY\" http://127.0.0.1:8080/v1/organization\n", s.flags())
	return nil
}
