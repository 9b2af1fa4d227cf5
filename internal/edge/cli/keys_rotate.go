package cli

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (s *settings) listKeys() *cobra.Command {
	var organization string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the API keys of an organization",
		Long: "List the API keys of an organization, the newest first: the id, the last characters of the key, whether it works or when it\n" +
			"expires, when it was used last and from which address, the user that it acts for, and its name. It is known to the minute\n" +
			"when a key was used.",
		Example: "  bursar keys list\n  bursar keys list --organization org_01jd…",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.reading(c.Context(), func(a *app.App) error {
				ctx, err := actFor(c, a, organization)
				if err != nil {
					return err
				}
				return s.printKeys(ctx, a)
			})
		},
	}
	c.Flags().StringVar(&organization, "organization", "", organizationUsage)
	return c
}

func (s *settings) printKeys(ctx context.Context, a *app.App) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for p := (page.Request{Limit: membersPage}); ; {
		found, err := a.Access.Keys(ctx, p)
		if err != nil {
			return err
		}
		for _, k := range found.Items {
			fmt.Fprintf(t, "%s\t…%s\t%s\t%s\t%s\t%s\n", k.ID, k.LastFour, keyState(k, a.DB.Clock().Now()), lastUse(k), cmp.Or(k.UserID, "-"), k.Name)
		}
		if p.Cursor = found.NextCursor; p.Cursor == "" {
			return t.Flush()
		}
	}
}

// keyState says whether a key works.
func keyState(k access.Key, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt == nil:
		return "works"
	case now.Before(*k.ExpiresAt):
		return "expires " + clock.Format(*k.ExpiresAt)
	}
	return "expired"
}

// lastUse says when a key was used last, and from where.
func lastUse(k access.Key) string {
	switch {
	case k.LastUse == nil:
		return "never used"
	case k.LastUse.From == "":
		return "used " + clock.Format(k.LastUse.At)
	}
	return "used " + clock.Format(k.LastUse.At) + " from " + k.LastUse.From
}

func (s *settings) rotateKey() *cobra.Command {
	var organization string
	var hours int
	c := &cobra.Command{
		Use:   "rotate <key id>",
		Short: "Replace an API key by a new one and print it once",
		Long: "Replace an API key by a new one that can do the same, and print it once. The former key works a while longer, so that programs\n" +
			"can change to the new one without an interruption. Keys that were created with the former one stay valid.\n" +
			"If the former key expires, the new one is valid for as long as the former one was.",
		Example: "  bursar keys rotate key_01jd…\n" +
			"  bursar keys rotate key_01jd… --overlap-hours 0   # the former key stops working now",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			overlap := time.Duration(hours) * time.Hour
			if overlap < 0 || overlap > access.OverlapMax {
				return &usageError{fmt.Errorf("--overlap-hours must be between 0 and %d, not %d", int(access.OverlapMax.Hours()), hours),
					c.CommandPath()}
			}
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				return a.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
					_, text, err := a.Access.ReplaceKey(ctx, tx, args[0], overlap)
					if err != nil {
						return sentences(err)
					}
					tx.AfterCommit(func() { fmt.Fprintln(s.out, text.Reveal()) })
					return nil
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", organizationUsage)
	f.IntVar(&hours, "overlap-hours", int(access.OverlapDefault.Hours()), "for how many hours the former key still works")
	return c
}
