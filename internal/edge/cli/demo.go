package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/area/org"
)

func (s *settings) demo() *cobra.Command {
	srv := &server{}
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Run the service with a ready demo organization",
		Long:    "Run the service on a fresh SQLite database in a temporary folder, with a demo organization and a key to try it with.\nEverything is gone when it stops, unless --data names a folder to keep.",
		Example: "  bursar demo\n  bursar demo --addr 127.0.0.1:9000 --data ./demo",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("data") && s.databaseURL == "" {
				dir, err := os.MkdirTemp("", "bursar-demo-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				s.data = dir
			}
			return s.runDemo(c.Context(), srv)
		},
	}
	srv.flags(c)
	return c
}

func (s *settings) runDemo(ctx context.Context, srv *server) error {
	var f org.Founded
	err := s.with(ctx, func(a *app.App) (err error) {
		f, err = a.Org.Found(ctx, org.FoundParams{Name: "Demo Company", Email: "demo@example.com", Currency: "USD", Timezone: "America/New_York"})
		return err
	})
	if err != nil {
		return err
	}
	srv.announce = func(address string) {
		fmt.Fprintf(s.out, `
Bursar is running, with the organization %q.

  Address  %s
  API key  %s
  Docs     %s/docs

Try:
  curl -H 'X-API-Key: %[3]s' %[2]s/v1/organization
  curl -H 'X-API-Key: %[3]s' -H 'Content-Type: application/json' -X PATCH -d '{"time_format":"hr12"}' %[2]s/v1/organization
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/audit-log?limit=5'

Stop it with Ctrl-C.
`, f.Organization.Name, address, f.KeyText.Reveal(), address)
	}
	return s.run(ctx, srv)
}
