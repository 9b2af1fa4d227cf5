package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (s *settings) keys() *cobra.Command {
	c := &cobra.Command{
		Use:     "keys",
		Short:   "API keys",
		Example: "  bursar keys create --help",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.createKey())
	return c
}

func (s *settings) createKey() *cobra.Command {
	var organization, email, name string
	var scopes []string
	c := &cobra.Command{
		Use:   "create",
		Short: "Make an API key and print it once",
		Long: "Make an API key and print it once. With --user it belongs to a member and can do no more than that person; without, " +
			"it belongs to nobody and cannot do privileged operations.",
		Example: "  bursar keys create --organization org_… --scopes apis.read\n  bursar keys create --organization org_… --scopes " +
			"apis.all,write:memory --user you@acme.example --name \"Month-end script\"",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := access.CreateKeyParams{Name: name}
			for _, text := range scopes {
				if !slices.Contains(actor.Scopes, actor.Scope(text)) {
					return &usageError{fmt.Errorf("--scopes: %q is none of %v", text, actor.Scopes), c.CommandPath()}
				}
				p.Scopes = append(p.Scopes, actor.Scope(text))
			}
			if !id.Valid(id.Organization, organization) {
				return &usageError{fmt.Errorf("--organization must be an id such as org_01jd…"), c.CommandPath()}
			}
			return s.with(c.Context(), func(a *app.App) error { return s.issueKey(c.Context(), a, organization, email, p) })
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", "id of the organization (required)")
	f.StringSliceVar(&scopes, "scopes", nil, "what the key may do: apis.read, apis.all, write:memory, write:operational-rules (required)")
	f.StringVar(&email, "user", "", "email address of the member it belongs to")
	f.StringVar(&name, "name", "Made on the command line", "what the key is for")
	required(c, "organization", "scopes")
	return c
}

func (s *settings) issueKey(ctx context.Context, a *app.App, organization, email string, p access.CreateKeyParams) error {
	return a.DB.Write(ctx, organization, func(ctx context.Context, tx *db.Tx) error {
		if email != "" {
			normal, err := access.NormalEmail(email)
			if err != nil {
				return err
			}
			m, err := access.MemberByEmail(ctx, tx, normal)
			if err != nil {
				return err
			}
			p.UserID = m.UserID
		}
		_, text, err := access.IssueKey(ctx, tx, p)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() { fmt.Fprintln(s.out, text.Reveal()) })
		return nil
	})
}
