package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func (s *settings) init() *cobra.Command {
	var p organization.CreateParams
	var asJSON, another bool
	var firmID string
	var login firstLogin
	c := &cobra.Command{
		Use:   "init",
		Short: "Create an organization, its owner and an API key",
		Long: "Create an organization, its owner, a first legal entity and an API key with every scope, and print the key once.\n" +
			"The owner signs in with a password: --password-stdin reads one, otherwise a link to set one is printed. Somebody who has an\n" +
			"account already signs in as before.\n" +
			"An empty database is set up first. A database can hold any number of organizations: create more with --another.",
		Example: "  bursar init --organization \"Acme\" --email you@acme.example\n" +
			"  bursar init --organization \"Acme GmbH\" --email you@acme.example --currency EUR --timezone Europe/Berlin --json\n" +
			"  bursar init --organization \"Acme\" --email you@acme.example --password-stdin",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.Validate(); err != nil {
				return sentences(err)
			}
			if err := login.read(p.Email, p.Name); err != nil {
				return err
			}
			return s.creating(c.Context(), func(a *app.App) error {
				others, err := a.Org.IDs(c.Context())
				if err != nil {
					return err
				}
				if len(others) > 0 && !another && firmID == "" {
					return s.errOthers(others)
				}
				if err := login.prepare(c.Context(), a, &p); err != nil {
					return err
				}
				f, err := create(c.Context(), a, firmID, p)
				if err != nil {
					return err
				}
				link, err := login.link(c.Context(), a, f.Owner.UserID)
				if err != nil {
					return err
				}
				if err := s.printFounded(f, login.publicURL, link, asJSON); err != nil {
					return err
				}
				if len(others) > 0 {
					fmt.Fprintf(s.err, "\nThis database already had %s. The new one has books of its own, and commands such as `bursar import`\n"+
						"now need --organization.\n", counted(len(others), "organization"))
				}
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&p.Name, "organization", "", "name of the organization (required)")
	f.StringVar(&p.Email, "email", "", "email address of its owner (required)")
	f.StringVar(&p.Currency, "currency", "USD", "base currency of the first legal entity")
	f.StringVar(&p.Timezone, "timezone", "UTC", "IANA time zone that accounting periods follow")
	f.StringVar(&firmID, "firm", "", "organization id of the accounting firm whose client it is, which has access until the owner ends it")
	f.BoolVar(&another, "another", false, "create the organization although the database has one; --firm implies it")
	f.BoolVar(&login.stdin, "password-stdin", false, "read the owner's password from standard input")
	text(f, &login.publicURL, "public-url", "BURSAR_PUBLIC_URL", localURL,
		"address of the service as people see it, in the link to set a password and in what is suggested next")
	f.BoolVar(&asJSON, "json", false, "print a JSON object")
	required(c, "organization", "email")
	return c
}

// create creates an organization, as the client of a firm if one is named.
func create(ctx context.Context, a *app.App, firmID string, p organization.CreateParams) (organization.Created, error) {
	if firmID == "" {
		return a.Org.Create(ctx, p)
	}
	return a.Firms.CreateForOwner(ctx, firmID, p)
}

// errOthers returns the error for a database that has organizations, because who runs init again may only have wanted a new key.
func (s *settings) errOthers(ids []string) error {
	return fmt.Errorf("this database already has %s, such as %s; nothing was created\n"+
		"For another API key of that organization, run\n  bursar keys create%s --organization %[2]s --scopes apis.all --user EMAIL\n"+
		"For another organization with books of its own, run the command again with --another", counted(len(ids), "organization"), ids[0],
		s.flags())
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

// firstLogin is how the owner of a new organization gets a password.
type firstLogin struct {
	stdin     bool
	publicURL string
	password  secret.Text
}

// read reads the password, if there is one to read, and checks it before anything is created.
func (l *firstLogin) read(email, organization string) (err error) {
	if l.publicURL, err = publicURL(l.publicURL); err != nil {
		return &usageError{err, "bursar init"}
	}
	if !l.stdin {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(os.Stdin, passwordMax))
	if err != nil {
		return fmt.Errorf("read the password: %w", err)
	}
	l.password = secret.New(strings.TrimRight(string(content), "\r\n"))
	return sentences(password.Check("password", l.password, email, organization))
}

// passwordMax bounds how much is read as a password.
const passwordMax = 4 << 10

// prepare has the organization created together with the owner's password, if one was read. It checks the password first, and refuses one
// for somebody who can sign in already: who creates an organization must not get into the account of somebody else.
func (l *firstLogin) prepare(ctx context.Context, a *app.App, p *organization.CreateParams) error {
	if !l.stdin {
		return nil
	}
	hash, err := a.Identity.CheckFirstPassword(ctx, l.password, p.Email, p.Name)
	if err != nil {
		return sentences(err)
	}
	p.Also = func(ctx context.Context, tx *db.Tx, owner access.Member) error {
		err := identity.SetFirstPassword(ctx, tx, owner.UserID, hash)
		if fault.KindOf(err) == fault.Conflict {
			return fmt.Errorf("%s has an account already, whose password stays as it is; nothing was created\n"+
				"Run the command again without --password-stdin: the person then signs in as before", owner.Email)
		}
		return err
	}
	return nil
}

// link returns a link to set a password, or none for a person who can sign in already, with a password or otherwise.
func (l *firstLogin) link(ctx context.Context, a *app.App, userID string) (link secret.Text, err error) {
	if can, err := a.Identity.CanSignIn(ctx, userID); err != nil || can {
		return link, err
	}
	path, err := a.Identity.FirstPassword(ctx, userID)
	return secret.New(l.publicURL + path.Reveal()), err
}

func (s *settings) printFounded(f organization.Created, publicURL string, link secret.Text, asJSON bool) error {
	if asJSON {
		out := map[string]string{
			"organization_id": f.Organization.ID, "legal_entity_id": f.LegalEntity.ID, "user_id": f.Owner.UserID, "api_key": f.KeyText.Reveal(),
		}
		if !link.IsZero() {
			out["set_password_url"] = link.Reveal()
		}
		if err := json.NewEncoder(s.out).Encode(out); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(s.out, "Organization  %s  %s\nLegal entity  %s  %s\nOwner         %s  %s\nAPI key       %s\n",
			f.Organization.ID, f.Organization.Name, f.LegalEntity.ID, f.LegalEntity.BaseCurrency, f.Owner.UserID, f.Owner.Email, f.KeyText.Reveal())
	}
	fmt.Fprintf(s.err, "\nStore the API key now; it cannot be shown again. Next:\n  export BURSAR_API_KEY=...    # the key above\n"+
		"  bursar serve%s%s\n  curl -H \"X-API-Key: $BURSAR_API_KEY\" %s/v1/organization\n", s.flags(), servedAt(publicURL), publicURL)
	switch {
	case link.IsZero(): // the owner can sign in
		fmt.Fprintf(s.err, "\nTo sign in with a browser, open\n  %s/sign-in\n", publicURL)
	case !asJSON:
		fmt.Fprintf(s.err, "\nTo sign in with a browser, open this link while the service runs, within a week, and set a password:\n  %s\n",
			link.Reveal())
	}
	return nil
}

// localURL is where the service listens unless it is told otherwise.
const localURL = "http://127.0.0.1:8080"

// servedAt returns the flags with which the service is started for an address as people see it.
func servedAt(publicURL string) string {
	if publicURL == localURL {
		return ""
	}
	flags := " --public-url " + publicURL
	if u, err := url.Parse(publicURL); err == nil && u.Scheme == "http" && u.Port() != "" && net.ParseIP(u.Hostname()).IsLoopback() {
		flags += " --addr " + u.Host
	}
	return flags
}
