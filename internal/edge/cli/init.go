package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func (s *settings) init() *cobra.Command {
	var p organization.FoundParams
	var asJSON bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Make an organization, its owner and a first API key",
		Long: "Make an organization, its owner, one legal entity and an API key with every scope.\nIt works on an empty database, " +
			"which it prepares first, and on one that has other organizations.",
		Example: "  bursar init --organization \"Acme\" --email you@acme.example\n" +
			"  bursar init --organization \"Acme GmbH\" --email you@acme.example --currency EUR --timezone Europe/Berlin --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.Validate(); err != nil {
				return sentences(err)
			}
			return s.with(c.Context(), func(a *app.App) error {
				f, err := a.Org.Found(c.Context(), p)
				if err != nil {
					return err
				}
				return s.printFounded(f, asJSON)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&p.Name, "organization", "", "name of the organization (required)")
	f.StringVar(&p.Email, "email", "", "email address of its owner (required)")
	f.StringVar(&p.Currency, "currency", "USD", "currency of the first legal entity's books")
	f.StringVar(&p.Timezone, "timezone", "UTC", "IANA time zone in which months begin and end")
	f.StringVar(&p.FirmID, "firm", "", "id of the accounting firm it is a client of, whose shared documents it then reads")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	required(c, "organization", "email")
	return c
}

// required makes a missing flag a usage error.
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

func (s *settings) printFounded(f organization.Founded, asJSON bool) error {
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
	fmt.Fprintf(s.err, "\nKeep the API key now: it is not shown again. Next:\n  bursar serve%s\n  curl -H \"X-API-Key: "+
		"$BURSAR_API_KEY\" http://127.0.0.1:8080/v1/organization\n", s.flags())
	return nil
}
