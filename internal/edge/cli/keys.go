package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (s *settings) keys() *cobra.Command {
	c := &cobra.Command{
		Use:     "keys",
		Short:   "Manage API keys",
		Long:    "Manage API keys. A running service also does so, under /v1/api-keys.",
		Example: "  bursar keys create --scopes apis.read\n  bursar keys list",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.createKey(), s.listKeys(), s.rotateKey(), s.revokeKey())
	return c
}

// newKey holds the flags of keys create.
type newKey struct {
	organization, email, name, expires string
	scopes, legalEntities              []string
}

func (s *settings) createKey() *cobra.Command {
	k := &newKey{}
	c := &cobra.Command{
		Use:   "create",
		Short: "Create an API key and print it once",
		Long: "Create an API key and print it once.\nWith --user the key acts for a member of the organization and can do no more than " +
			"that person.\nWithout it the key acts for nobody and cannot perform privileged operations.\n" +
			"With --legal-entity the key sees the books of these legal entities only, and cannot change what belongs to the whole\n" +
			"organization. With --expires it stops working at that time.",
		Example: "  bursar keys create --scopes apis.read\n" +
			"  bursar keys create --scopes apis.all,write:memory --user you@acme.example --name \"Month-end script\"\n" +
			"  bursar keys create --organization org_01jd… --scopes apis.read --legal-entity \"Acme GmbH\" --legal-entity \"Acme Ltd\" " +
			"--expires 2027-03-31",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := access.CreateKeyParams{Name: k.name}
			for _, text := range k.scopes {
				if !slices.Contains(actor.Scopes, actor.Scope(text)) {
					return &usageError{fmt.Errorf("--scopes has the unknown scope %q; choose from %s", text, fault.Choices(actor.Scopes)),
						c.CommandPath()}
				}
				p.Scopes = append(p.Scopes, actor.Scope(text))
			}
			err := p.CheckName()
			if err != nil {
				return &usageError{fault.RenameField(err, "name", "--name"), c.CommandPath()}
			}
			if p.ExpiresAt, err = expiry(k.expires); err != nil {
				return &usageError{err, c.CommandPath()}
			}
			return s.acting(c, k.organization, func(ctx context.Context, a *app.App) error { return s.issueKey(ctx, a, k, p) })
		},
	}
	f := c.Flags()
	f.StringVar(&k.organization, "organization", "", organizationUsage)
	f.StringSliceVar(&k.scopes, "scopes", nil, "what the key may do: apis.read, apis.all, write:memory, write:operational-rules (required)")
	f.StringVar(&k.email, "user", "", "email address of the member that the key acts for")
	f.StringVar(&k.name, "name", "Created on the command line", "what the key is for")
	f.StringArrayVar(&k.legalEntities, "legal-entity", nil,
		"id or name of a legal entity that the key is limited to; may be repeated; by default, the key is not limited")
	f.StringVar(&k.expires, "expires", "", expiresUsage+"by default, never")
	required(c, "scopes")
	return c
}

// expiresUsage describes --expires, except what is the case without it.
const expiresUsage = "when the key stops working: a date, which begins at midnight UTC, or a time; "

// expiry returns the time of --expires, or nil if it is empty.
func expiry(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		at, err := time.Parse(layout, text)
		switch {
		case err == nil && !at.After(time.Now()):
			return nil, fmt.Errorf("--expires %s is not in the future: the key would never work", text)
		case err == nil:
			return new(clock.Stamp(at)), nil
		}
	}
	return nil, fmt.Errorf("--expires %s", clock.Unreadable(text))
}

func (s *settings) issueKey(ctx context.Context, a *app.App, k *newKey, p access.CreateKeyParams) error {
	return a.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // so that no legal entity of the key is deleted meanwhile
			return err
		}
		if k.email != "" {
			normal, err := access.NormalEmail(k.email)
			if err != nil {
				return err
			}
			m, err := access.MemberByEmail(ctx, tx, normal)
			if err != nil {
				return err
			}
			p.UserID = m.UserID
		}
		var err error
		if p.LegalEntityIDs, err = resolveEntities(ctx, tx, k.legalEntities); err != nil {
			return err
		}
		_, text, err := access.IssueKey(ctx, tx, p)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() { fmt.Fprintln(s.out, text.Reveal()) })
		return nil
	})
}

// resolveEntities returns the ids of legal entities that are named by id or name, each once.
func resolveEntities(ctx context.Context, tx *db.Tx, wanted []string) (ids []string, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	entities, err := entity.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, text := range wanted {
		id, err := entity.Resolve(entities, text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--legal-entity: %w", err))
		} else if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, errors.Join(wrong...)
}
