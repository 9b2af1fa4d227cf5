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
		Short:   "Manage API keys",
		Long:    "Manage API keys. A running service also lists and revokes them, under /v1/api-keys.",
		Example: "  bursar keys create --organization org_01jd… --scopes apis.read",
		Args:    knownCommand,
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
		Short: "Create an API key and print it once",
		Long: "Create an API key and print it once.\nWith --user the key acts for a member of the organization and can do no more than " +
			"that person.\nWithout it the key acts for nobody and cannot perform privileged operations.",
		Example: "  bursar keys create --organization org_01jd… --scopes apis.read\n" +
			"  bursar keys create --organization org_01jd… --scopes apis.all,write:memory --user you@acme.example --name \"Month-end script\"",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := access.CreateKeyParams{Name: name}
			for _, text := range scopes {
				if !slices.Contains(actor.Scopes, actor.Scope(text)) {
					return &usageError{fmt.Errorf("--scopes has the unknown scope %q; the scopes are %v", text, actor.Scopes), c.CommandPath()}
				}
				p.Scopes = append(p.Scopes, actor.Scope(text))
			}
			if !id.Valid(id.Organization, organization) {
				return &usageError{fmt.Errorf("--organization must be an id such as org_01jd…, not %q", organization), c.CommandPath()}
			}
			return s.with(c.Context(), func(a *app.App) error { return s.issueKey(c.Context(), a, organization, email, p) })
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", "id of the organization (required)")
	f.StringSliceVar(&scopes, "scopes", nil, "what the key may do: apis.read, apis.all, write:memory, write:operational-rules (required)")
	f.StringVar(&email, "user", "", "email address of the member that the key acts for")
	f.StringVar(&name, "name", "Created on the command line", "what the key is for")
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
