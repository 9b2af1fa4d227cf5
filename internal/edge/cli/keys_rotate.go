package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (s *settings) rotateKey() *cobra.Command {
	var organization, expires string
	var hours int
	c := &cobra.Command{
		Use:   "rotate <key id>",
		Short: "Replace an API key by a new one and print it once",
		Long: "Replace an API key by a new one that can do the same, and print it once. The former key works a while longer, so that programs\n" +
			"can change to the new one without an interruption. Keys that were created with the former one stay valid.\n" +
			"If the former key expires, the new one is valid for as long as the former one was, or until --expires.",
		Example: "  bursar keys rotate key_01jd…\n" +
			"  bursar keys rotate key_01jd… --overlap-hours 0   # the former key stops working now\n" +
			"  bursar keys rotate key_01jd… --expires 2027-03-31",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			overlap := time.Duration(hours) * time.Hour
			if overlap < 0 || overlap > access.OverlapMax {
				return &usageError{fmt.Errorf("--overlap-hours must be between 0 and %d, not %d", int(access.OverlapMax.Hours()), hours),
					c.CommandPath()}
			}
			p := access.RotateKeyParams{Overlap: overlap, NewExpiry: expires != ""}
			var err error
			if p.ExpiresAt, err = expiry(expires); err != nil {
				return &usageError{err, c.CommandPath()}
			}
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				return a.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
					_, text, err := a.Access.ReplaceKey(ctx, tx, args[0], p)
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
	f.StringVar(&expires, "expires", "", expiresUsage+"by default, it is valid for as long as the former one was")
	return c
}
