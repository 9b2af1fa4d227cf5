package account

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Verify recomputes the invariants of the chart of accounts and returns a sentence for each broken one.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	state, err := orgstate.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	chart, err := selectAll(ctx, tx)
	if err != nil {
		return nil, err
	}
	entities, err := selectEntityIDs(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := verification{chart: chart, byID: make(map[string]Account, len(chart))}
	for _, a := range chart {
		c.byID[a.ID] = a
	}
	c.verifyAccounts(state.AccountNumber)
	if err := c.verifyNumber(ctx, tx, state.AccountNumber); err != nil {
		return nil, err
	}
	c.verifyTree()
	c.verifyRoles(entities)
	strays, err := reference.FindDangling(ctx, tx, table)
	if err != nil {
		return nil, err
	}
	for _, s := range strays {
		c.addf("%s names the account %s, which does not exist", s.Table, s.ID)
	}
	return c.found, nil
}

type verification struct {
	chart []Account
	byID  map[string]Account
	found []string
}

func (c *verification) addf(format string, args ...any) {
	c.found = append(c.found, "ledger accounts: "+fmt.Sprintf(format, args...))
}

// verifyAccounts verifies every account by itself, and that numbers and codes are unique.
func (c *verification) verifyAccounts(last int64) {
	numbers, codes := map[int64]bool{}, map[string]bool{}
	for _, a := range c.chart {
		var faults fault.List
		if a.validateFields(&faults); faults.Err() != nil {
			c.addf("%s: %v", a.ID, faults.Err())
		}
		if a.SequenceNumber < 1 || a.SequenceNumber > last {
			c.addf("%s has the number %d, but the last one assigned is %d", a.ID, a.SequenceNumber, last)
		}
		if numbers[a.SequenceNumber] {
			c.addf("%s has the number %d, which another account has", a.ID, a.SequenceNumber)
		}
		if a.Code != "" && codes[a.Code] {
			c.addf("%s has the code %s, which another account has", a.ID, a.Code)
		}
		numbers[a.SequenceNumber], codes[a.Code] = true, true
	}
}

// verifyNumber verifies that the last number assigned is that of all accounts there are and were: numbers have no gaps.
func (c *verification) verifyNumber(ctx context.Context, tx *db.Tx, last int64) error {
	there := int64(len(c.chart))
	if there == last || slices.ContainsFunc(c.chart, func(a Account) bool { return a.SequenceNumber > last }) {
		return nil // the second is found already
	}
	deleted, err := audit.CountAction(ctx, tx, actionDeleted)
	if err == nil && there+deleted != last {
		c.addf("the last number assigned is %d, but there are %d accounts and %d were deleted", last, there, deleted)
	}
	return err
}

// verifyTree verifies that parents exist, have the same type, are not archived before their children, and form no cycle.
func (c *verification) verifyTree() {
	for _, a := range c.chart {
		if a.ParentID == "" {
			continue
		}
		above, there := c.byID[a.ParentID]
		if !there {
			c.addf("%s is below %s, which does not exist", a.ID, a.ParentID)
			continue
		}
		if above.Type != a.Type {
			c.addf("%s of type %s is below %s of type %s", a.ID, a.Type, above.ID, above.Type)
		}
		if above.Archived() && !a.Archived() {
			c.addf("%s is not archived, but %s above it is", a.ID, above.ID)
		}
		for steps := 0; there && above.ParentID != ""; steps++ {
			if above.ID == a.ID || steps > len(c.chart) {
				c.addf("%s is below itself", a.ID)
				break
			}
			above, there = c.byID[above.ParentID]
		}
	}
}

// verifyRoles verifies that every required role is on exactly one account, and that no role names a legal entity that does not
// exist.
func (c *verification) verifyRoles(entities []string) {
	holders := map[string]int{}
	for _, a := range c.chart {
		if a.Role == "" {
			continue
		}
		if holders[a.Role]++; holders[a.Role] == 2 {
			c.addf("more than one account has the role %s", a.Role)
		}
		if a.Archived() {
			c.addf("%s with the role %s is archived", a.ID, a.Role)
		}
		if entity, ok := a.entityOf(); ok && !slices.Contains(entities, entity) {
			c.addf("%s has the role %s, but there is no such legal entity", a.ID, a.Role)
		}
	}
	wanted := slices.Clone(systemRoles)
	for _, e := range entities {
		wanted = append(wanted, RoleDueFrom(e), RoleDueTo(e))
	}
	for _, role := range wanted {
		if holders[role] == 0 {
			c.addf("no account has the role %s", role)
		}
	}
}
