package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// printReset says what was removed.
func (s *settings) printReset(r identity.Removed) {
	app := "no authenticator app"
	if r.TOTP {
		app = "the authenticator app"
	}
	fmt.Fprintf(s.out, "Removed %s and %s of %s, and ended %s.\n", app, counted(r.Passkeys, "passkey"), r.Person.Email,
		counted(r.Sessions, "session"))
}

func (s *settings) resetSecondFactor() *cobra.Command {
	var organization, email, address string
	c := &cobra.Command{
		Use:   "reset-second-factor",
		Short: "Let a member sign in who has lost the authenticator app or the passkeys",
		Long: "Remove the authenticator app, the recovery codes and the passkeys of a member, and end all of the member's sessions, in all\n" +
			"organizations. The member then signs in with the password alone, and can set up a second factor again on /account. For a member\n" +
			"without a password, a link to set one is printed.\n" +
			"Make sure first that it is the member who asks: nobody else can confirm it. The audit log shows it as done by the operator. This\n" +
			"command sends no mail.",
		Example: "  bursar members reset-second-factor --email ada@acme.example\n" +
			"  bursar members reset-second-factor --email ada@acme.example --organization org_01jd… --public-url https://books.acme.example",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			login := firstLogin{}
			var err error
			if login.publicURL, err = publicURL(address); err != nil {
				return &usageError{err, c.CommandPath()}
			}
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				userID, err := a.Access.MemberIDByEmail(ctx, email)
				if err != nil {
					return sentences(err)
				}
				removed, resetErr := a.Identity.ResetSecondFactor(ctx, userID)
				if resetErr == nil {
					s.printReset(removed)
				} else if fault.KindOf(resetErr) != fault.Conflict { // that there was nothing to remove
					return resetErr
				}
				link, err := login.link(ctx, a, userID)
				if err != nil {
					return err
				}
				if link.IsZero() {
					return resetErr
				}
				fmt.Fprintf(s.err, "\nThis member has no password. Pass this link on, which works for a week:\n\n")
				fmt.Fprintln(s.out, link.Reveal())
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", organizationUsage)
	f.StringVar(&email, "email", "", "email address of the member (required)")
	text(f, &address, "public-url", "BURSAR_PUBLIC_URL", localURL, "address of the service as people see it, with which the link begins")
	required(c, "email")
	return c
}
