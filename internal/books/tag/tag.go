// Package tag keeps tags: suppliers, customers, departments, projects and custom ones. Journal entries, lines and
// transactions are tagged with them, and balances are kept by tag. Tags of one kind have unique names.
package tag

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Kind is the kind of a tag.
type Kind string

// The kinds.
const (
	Supplier   Kind = "supplier"
	Customer   Kind = "customer"
	Department Kind = "department"
	Project    Kind = "project"
	Custom     Kind = "custom"
)

// Kinds lists every kind.
var Kinds = []Kind{Supplier, Customer, Department, Project, Custom}

const kindsText = "supplier, customer, department, project, custom"

// NameMax is the maximum length of a name in characters.
const NameMax = 100

// Tag is one tag. No two tags of a kind have the same name.
type Tag struct {
	ID        string
	Name      string
	Kind      Kind
	CreatedAt time.Time
	UpdatedAt *time.Time
}

// facts describes a tag in the audit log and in events.
func (t Tag) facts() map[string]any {
	return map[string]any{"id": t.ID, "name": t.Name, "kind": t.Kind}
}

// noun names a tag in messages.
const noun = "tag"

// All returns every tag by id. It runs in the caller's transaction.
func All(ctx context.Context, tx *db.Tx) ([]Tag, error) { return selectAll(ctx, tx) }

// Get returns a tag. It runs in the caller's transaction.
func Get(ctx context.Context, tx *db.Tx, tagID string) (Tag, error) { return find(ctx, tx, tagID) }

// After returns the next tags by id. It runs in the caller's transaction.
func After(ctx context.Context, tx *db.Tx, above string, limit int) ([]Tag, error) {
	return selectPage(ctx, tx, Filter{}, above, limit)
}

// Some returns those tags that have some ids, by id. It runs in the caller's transaction.
func Some(ctx context.Context, tx *db.Tx, ids []string) ([]Tag, error) {
	return selectSome(ctx, tx, ids)
}

// ExistingIDs returns those of some ids that tags have. It runs in the caller's transaction.
func ExistingIDs(ctx context.Context, tx *db.Tx, ids []string) ([]string, error) {
	return selectKnown(ctx, tx, ids)
}

// ValidateSupplierName returns an error if a supplier cannot have the name.
func ValidateSupplierName(name string) error {
	_, err := Tag{Name: name, Kind: Supplier}.normalize()
	return err
}

// Validate returns an error if no tag can have the kind and name.
func Validate(kind Kind, name string) error {
	_, err := Tag{Name: name, Kind: kind}.normalize()
	return err
}

// Find returns the tag with a kind and name. The error is NotFound if there is none. It runs in the caller's transaction.
func Find(ctx context.Context, tx *db.Tx, kind Kind, name string) (Tag, error) {
	found, err := selectNamed(ctx, tx, kind, strings.TrimSpace(name))
	if err == nil && len(found) == 0 {
		err = fault.Missing(noun)
	}
	if err != nil {
		return Tag{}, err
	}
	return found[0], nil
}

// Ensure returns the tag with a kind and name, and creates it if it does not exist, which a key that is limited to legal entities may not:
// tags belong to the organization. It runs in the caller's transaction.
func Ensure(ctx context.Context, tx *db.Tx, kind Kind, name string) (Tag, error) {
	t, err := Tag{Name: name, Kind: kind}.normalize()
	if err != nil {
		return t, err
	}
	if _, err := orgstate.Lock(ctx, tx); err != nil { // create touches it, if the tag is new
		return t, err
	}
	found, err := selectNamed(ctx, tx, t.Kind, t.Name)
	if err != nil {
		return t, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	if err := actor.From(ctx).RequireUnlimited(); err != nil {
		return t, err
	}
	return create(ctx, tx, t.Kind, t.Name)
}

// create writes a tag. The caller has made sure that its name is free.
func create(ctx context.Context, tx *db.Tx, kind Kind, name string) (Tag, error) {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return Tag{}, err
	}
	t := Tag{ID: tx.NewID(id.Tag), Name: name, Kind: kind, CreatedAt: tx.Now()}
	if err := insert(ctx, tx, t); err != nil {
		return Tag{}, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "tag.created", ResourceType: "tag", ResourceID: t.ID, After: t.facts(), Object: t})
	return t, nil
}

// normalizeName returns a name as it is stored and compared, or an error if it is too long or empty.
func normalizeName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > NameMax {
		return "", fault.Invalidf("name", "must have 1 to %d characters, not counting spaces before and after", NameMax)
	}
	return name, nil
}
