package invoice

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// Verification must find the lines of a movement by its entry: comparing all movements with all lines of the control account takes minutes
// for ten thousand invoices.
func TestTheLinesOfAMovementAreFoundByItsEntry(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	steps := dbtest.Plan(t, d, movedByDate, "lac_control", true)
	if !slices.ContainsFunc(steps, func(step string) bool {
		return strings.HasPrefix(step, "SEARCH l USING PRIMARY KEY (organization_id=? AND journal_entry_id=?")
	}) {
		t.Errorf("%q", steps)
	}
}
