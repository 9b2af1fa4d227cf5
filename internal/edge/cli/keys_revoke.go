package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
)

func (s *settings) revokeKey() *cobra.Command {
	var organization string
	c := &cobra.Command{
		Use:   "revoke <key id>",
		Short: "Revoke an API key",
		Long: "Revoke an API key, all keys that were created with it, and those that it has replaced itself by. They stop working at once, on\n" +
			"every node within a second. To revoke a key again changes nothing. `bursar keys list` shows the ids.",
		Example: "  bursar keys revoke key_01jd…",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return s.acting(c, organization, func(ctx context.Context, a *app.App) error {
				revoked, err := a.Access.RevokeKey(ctx, args[0])
				switch {
				case err != nil:
					return sentences(err)
				case len(revoked) == 0:
					fmt.Fprintf(s.out, "%s was revoked already.\n", args[0])
				default:
					fmt.Fprintf(s.out, "Revoked %s: %s.\n", counted(len(revoked), "key"), strings.Join(revoked, ", "))
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&organization, "organization", "", organizationUsage)
	return c
}
