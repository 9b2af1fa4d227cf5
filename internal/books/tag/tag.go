// Package tag holds what entries and lines are marked with: suppliers, customers, departments, projects and whatever
// else a company tells its books by.
package tag

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Kind says what a tag stands for.
type Kind string

// The kinds.
const (
	Supplier   Kind = "supplier"
	Customer   Kind = "customer"
	Department Kind = "department"
	Project    Kind = "project"
	Custom     Kind = "custom"
)

// Kinds lists every kind there is.
var Kinds = []Kind{Supplier, Customer, Department, Project, Custom}

const kindsText = "supplier, customer, department, project, custom"

// NameMax is how many characters a name may have.
const NameMax = 100

// Tag is one mark. No two of a kind have the same name.
type Tag struct {
	ID        string
	Name      string
	Kind      Kind
	CreatedAt time.Time
	UpdatedAt *time.Time
}

// facts is what the audit and events say of a tag.
func (t Tag) facts() map[string]any {
	return map[string]any{"id": t.ID, "name": t.Name, "kind": t.Kind}
}

// noun is what a tag is called where it is missing.
const noun = "tag"

// All lists every tag by id. It is a building block.
func All(ctx context.Context, tx *db.Tx) ([]Tag, error) { return selectAll(ctx, tx) }

// Get finds a tag. It is a building block.
func Get(ctx context.Context, tx *db.Tx, tagID string) (Tag, error) { return find(ctx, tx, tagID) }

// ExistingIDs gives those of some ids that are tags. It is a building block.
func ExistingIDs(ctx context.Context, tx *db.Tx, ids []string) ([]string, error) {
	return selectKnown(ctx, tx, ids)
}

// ValidateSupplierName refuses a name that no supplier can have. It is a building block.
func ValidateSupplierName(name string) error {
	_, err := Tag{Name: name, Kind: Supplier}.normalize()
	return err
}

// Ensure gives the tag of a kind and name, made now if there is none. It is a building block.
func Ensure(ctx context.Context, tx *db.Tx, kind Kind, name string) (Tag, error) {
	t, err := Tag{Name: name, Kind: kind}.normalize()
	if err != nil {
		return t, err
	}
	if _, err := orgstate.Lock(ctx, tx); err != nil { // touched only if there is something new
		return t, err
	}
	found, err := selectNamed(ctx, tx, t.Kind, t.Name)
	if err != nil {
		return t, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	return create(ctx, tx, t.Kind, t.Name)
}

// create writes a tag whose name is free.
func create(ctx context.Context, tx *db.Tx, kind Kind, name string) (Tag, error) {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return Tag{}, err
	}
	t := Tag{ID: tx.NewID(id.Tag), Name: name, Kind: kind, CreatedAt: tx.Now()}
	if err := insert(ctx, tx, t); err != nil {
		return Tag{}, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "tag.created", ResourceType: "tag", ResourceID: t.ID, After: t.facts()})
	return t, nil
}

// NormalizeName is the form in which a name is kept and compared.
func NormalizeName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > NameMax {
		return "", fault.Invalidf("name", "must have 1 to %d characters besides spaces around it", NameMax)
	}
	return name, nil
}
