package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (s *settings) listKeys() *cobra.Command {
	var organization string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the API keys of an organization",
		Long: "List the API keys of an organization, the newest first: the id, the last characters of the key, and its name; whether it\n" +
			"works, when it expires, when it was used last and from which address; its scopes, the member that it acts for, and\n" +
			"the legal entities that it is limited to, itself or through the member. It is known to the minute when a key was used.",
		Example: "  bursar keys list\n  bursar keys list --organization org_01jd… --json | jq length",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.readingFor(c, organization, func(ctx context.Context, a *app.App) error {
				keys, err := readKeys(ctx, a)
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(s.out).Encode(keys)
				}
				for _, k := range keys {
					fmt.Fprint(s.out, k.text())
				}
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&organization, "organization", "", organizationUsage)
	f.BoolVar(&asJSON, "json", false, "print a JSON array with everything that is known of each key")
	return c
}

// listedKey is a key as the list shows it.
type listedKey struct {
	ID             string        `json:"id"`
	Name           string        `json:"name"`
	LastFour       string        `json:"last_four"`
	State          string        `json:"state"` // works, expired or revoked
	Scopes         []actor.Scope `json:"scopes"`
	UserID         *string       `json:"user_id"`
	UserEmail      *string       `json:"user_email"` // null also for a former member
	LegalEntityIDs []string      `json:"legal_entity_ids"`
	UserLimitedTo  []string      `json:"user_legal_entity_ids"` // of the member that the key acts for, or who created it
	CreatedBy      *string       `json:"created_by"`
	ParentID       *string       `json:"parent_api_key_id"`
	AppID          *string       `json:"oauth_authorization_id"`
	SuccessorID    *string       `json:"successor_api_key_id"`
	RotatedWithID  *string       `json:"rotated_with_api_key_id"`
	CreatedAt      string        `json:"created_at"`
	ExpiresAt      *string       `json:"expires_at"`
	RevokedAt      *string       `json:"revoked_at"`
	LastUsedAt     *string       `json:"last_used_at"`
	LastUsedFrom   *string       `json:"last_used_from"`

	key   access.Key
	names map[string]string // of legal entities, by id
}

// readKeys returns all keys of an organization, the newest first.
func readKeys(ctx context.Context, a *app.App) (out []listedKey, err error) {
	members, names := map[string]access.Member{}, map[string]string{}
	err = a.DB.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		entities, err := entity.All(ctx, tx)
		for _, e := range entities {
			names[e.ID] = e.Name
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := eachOf(func(p page.Request) (page.Page[access.Member], error) { return a.Access.Members(ctx, p) },
		func(m access.Member) { members[m.UserID] = m }); err != nil {
		return nil, err
	}
	out, now := []listedKey{}, a.DB.Clock().Now()
	err = eachOf(func(p page.Request) (page.Page[access.Key], error) { return a.Access.Keys(ctx, p) }, func(k access.Key) {
		one := listedKey{
			ID: k.ID, Name: k.Name, LastFour: k.LastFour, State: keyState(k, now), Scopes: k.Scopes, UserID: db.OrNull(k.UserID),
			UserEmail: db.OrNull(members[k.UserID].Email), LegalEntityIDs: append([]string{}, k.LegalEntityIDs...), UserLimitedTo: []string{},
			CreatedBy: db.OrNull(k.CreatedBy), ParentID: db.OrNull(k.ParentID), AppID: db.OrNull(k.AuthorizationID),
			SuccessorID: db.OrNull(k.SuccessorID), RotatedWithID: db.OrNull(k.RotatedWithID), CreatedAt: clock.Format(k.CreatedAt),
			ExpiresAt: timeOrNull(k.ExpiresAt), RevokedAt: timeOrNull(k.RevokedAt), key: k, names: names,
		}
		behind := k.UserID
		if behind == "" {
			behind = k.CreatedBy
		}
		one.UserLimitedTo = append(one.UserLimitedTo, members[behind].LegalEntityIDs...)
		if k.LastUse != nil {
			one.LastUsedAt, one.LastUsedFrom = timeOrNull(&k.LastUse.At), db.OrNull(k.LastUse.From)
		}
		out = append(out, one)
	})
	return out, err
}

func timeOrNull(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(clock.Format(*t))
}

// keyState says whether a key works.
func keyState(k access.Key, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && !now.Before(*k.ExpiresAt):
		return "expired"
	}
	return "works"
}

const (
	listColumns = 120                // how wide a terminal is taken to be
	minutes     = "2006-01-02 15:04" // in UTC
)

// text returns the lines of a key, none of which is wider than a terminal unless a word is.
func (k listedKey) text() string {
	out := fold("", fmt.Sprintf("%s  …%s  %s", k.ID, k.LastFour, k.Name))
	out += fold("    ", k.validity()+", "+k.lastUse())
	scopes := make([]string, len(k.Scopes))
	for i, s := range k.Scopes {
		scopes[i] = string(s)
	}
	out += fold("    ", strings.Join(scopes, ", ")+"; "+k.user()+k.limits())
	if k.SuccessorID != nil {
		out += fold("    ", "replaced by "+*k.SuccessorID)
	}
	return out
}

// validity says whether the key works, and until when.
func (k listedKey) validity() string {
	switch {
	case k.State == "revoked":
		return "revoked " + k.key.RevokedAt.UTC().Format(minutes)
	case k.key.ExpiresAt == nil:
		return "works, never expires"
	case k.State == "expired":
		return "expired " + k.key.ExpiresAt.UTC().Format(minutes)
	}
	return "works, expires " + k.key.ExpiresAt.UTC().Format(minutes)
}

// lastUse says when the key was used last, and from where.
func (k listedKey) lastUse() string {
	if k.key.LastUse == nil {
		return "never used"
	}
	text := "used " + k.key.LastUse.At.UTC().Format(minutes)
	if k.key.LastUse.From != "" {
		text += " from " + k.key.LastUse.From
	}
	return text
}

// user says for whom the key acts.
func (k listedKey) user() string {
	switch {
	case k.UserEmail != nil:
		return "acts for " + *k.UserEmail
	case k.UserID != nil:
		return "acts for " + *k.UserID + ", who is no longer a member"
	}
	return "acts for nobody"
}

// limits says which legal entities the key is limited to, and whether it is so through the member behind it.
func (k listedKey) limits() string {
	text := ""
	if len(k.LegalEntityIDs) > 0 {
		text += "; limited to " + k.named(k.LegalEntityIDs)
	}
	if len(k.UserLimitedTo) > 0 && !slices.Equal(k.UserLimitedTo, k.LegalEntityIDs) {
		through := "its user"
		if k.UserID == nil {
			through = "who created it"
		}
		text += "; limited through " + through + " to " + k.named(k.UserLimitedTo)
	}
	return text
}

func (k listedKey) named(ids []string) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		if out[i] = k.names[id]; out[i] == "" {
			out[i] = id
		}
	}
	return strings.Join(out, ", ")
}

// fold breaks a text between words into lines that are as wide as a terminal, all with an indentation, the second and later ones with four
// spaces more.
func fold(indent, text string) string {
	var out strings.Builder
	line, column := indent, utf8.RuneCountInString(indent)
	for i, word := range strings.Split(text, " ") {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+width > listColumns:
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line, column = indent+"    ", utf8.RuneCountInString(indent)+4
		default:
			line, column = line+" ", column+1
		}
		line, column = line+word, column+width
	}
	out.WriteString(line + "\n")
	return out.String()
}
