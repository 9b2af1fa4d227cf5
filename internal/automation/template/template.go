package template

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
)

// Kind is what a template consists of.
type Kind string

// The kinds.
const (
	Chart Kind = "chart" // ledger accounts and tags
	Rules Kind = "rules"
)

// Kinds lists every kind.
var Kinds = []Kind{Chart, Rules}

// Template is a chart or a set of rules that a firm offers to its clients.
type Template struct {
	ID          string
	Name        string
	Description string
	Kind        Kind
	Content     Content // empty in lists
	ItemCount   int64
	Version     int64 // increases with each change
	CreatedBy   string
	CreatedAt   time.Time
	UpdatedAt   *time.Time
}

// Content is what a template consists of. A chart has no rules, and rules have neither accounts nor tags of their own.
type Content struct {
	Accounts []Account `json:"accounts,omitempty"`
	Tags     []Tag     `json:"tags,omitempty"`
	Rules    []Rule    `json:"rules,omitempty"`
}

func (c Content) size() int64 { return int64(len(c.Accounts) + len(c.Tags) + len(c.Rules)) }

// Account is a ledger account of a chart.
type Account struct {
	Code          string          `json:"code"`
	Name          string          `json:"name"`
	Type          account.Type    `json:"type"`
	NormalBalance account.Balance `json:"normal_balance,omitempty"` // empty: that of the type
	ParentCode    string          `json:"parent_code,omitempty"`    // of another account of the chart, or of the client
	Group         bool            `json:"is_group,omitempty"`       // nothing can be posted to it
	Clearing      bool            `json:"is_clearing_account,omitempty"`
	Monetary      *bool           `json:"is_monetary,omitempty"` // nil: that of the parent account, or of the type
	AssetType     string          `json:"asset_type,omitempty"`
}

// params describes the account to the chart of a client.
func (a Account) params(parentID string) account.CreateParams {
	postable := !a.Group
	return account.CreateParams{Name: a.Name, Code: a.Code, Type: a.Type, NormalBalance: a.NormalBalance, ParentID: parentID,
		Postable: &postable, Clearing: a.Clearing, Monetary: a.Monetary, AssetType: a.AssetType}
}

// Balance returns the side on which the account grows.
func (a Account) Balance() account.Balance {
	if a.NormalBalance != "" {
		return a.NormalBalance
	}
	return a.Type.NormalBalance()
}

func (a Account) String() string { return a.Code + " " + a.Name }

// Tag is a tag of a chart, or one that a rule assigns.
type Tag struct {
	Kind tag.Kind `json:"kind"`
	Name string   `json:"name"`
}

func (t Tag) String() string { return string(t.Kind) + " " + t.Name }

const noun = "template"

func (t Template) facts() map[string]any {
	return map[string]any{"id": t.ID, "name": t.Name, "description": db.OrNull(t.Description), "kind": t.Kind, "version": t.Version,
		"item_count": t.ItemCount}
}

// requireVersion returns a Conflict fault if the template is at another version than the expected one, which is nil if any will do.
func (t Template) requireVersion(expected *string) error {
	if expected == nil || *expected == versionText(t.Version) {
		return nil
	}
	return fault.Conflictf("the template is now at version %d: read it again and send that version as expected_version", t.Version)
}
