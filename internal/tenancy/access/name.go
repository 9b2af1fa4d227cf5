package access

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/naming"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	keyNameMax  = 100
	userNameMax = 100
)

// CheckName returns an Invalid fault for a name that a new key may not have.
func (p CreateKeyParams) CheckName() error {
	problem := naming.Problem(p.Name, keyNameMax)
	if p.Name == "" {
		problem = "must not be empty"
	}
	if problem != "" {
		return fault.Invalidf("name", "%s", problem)
	}
	return nil
}

// NormalName returns the name of a person as it is stored, which may be empty. The error is Invalid for one that nobody may have.
func NormalName(text string) (string, error) {
	text = strings.TrimSpace(text)
	if problem := naming.Problem(text, userNameMax); problem != "" {
		return "", fault.Invalidf("name", "%s", problem)
	}
	return text, nil
}

// ChangeName sets the name of a user, in the form that NormalName returns. It is a building block for a transaction that is bound to no
// organization.
func ChangeName(ctx context.Context, tx *db.Tx, userID, name string) error {
	return updateName(ctx, tx, userID, db.OrNull(name))
}
