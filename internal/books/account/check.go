package account

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Check finds what must not be in a chart of accounts.
func Check(ctx context.Context, tx *db.Tx) ([]string, error) {
	h, err := orgstate.Read(ctx, tx)
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
	c := checking{chart: chart, byID: make(map[string]Account, len(chart))}
	for _, a := range chart {
		c.byID[a.ID] = a
	}
	c.each(h.AccountNumber)
	c.tree()
	c.roles(entities)
	strays, err := reference.FindDangling(ctx, tx, table)
	if err != nil {
		return nil, err
	}
	for _, s := range strays {
		c.findf("%s names the account %s, which does not exist", s.Table, s.ID)
	}
	return c.found, nil
}

type checking struct {
	chart []Account
	byID  map[string]Account
	found []string
}

func (c *checking) findf(format string, args ...any) {
	c.found = append(c.found, "ledger accounts: "+fmt.Sprintf(format, args...))
}

// each checks every account by itself, and that what must be unique is.
func (c *checking) each(last int64) {
	numbers, codes := map[int64]bool{}, map[string]bool{}
	for _, a := range c.chart {
		var faults fault.List
		if a.check(&faults); faults.Err() != nil {
			c.findf("%s: %v", a.ID, faults.Err())
		}
		if a.SequenceNumber < 1 || a.SequenceNumber > last {
			c.findf("%s has the number %d, but the last one given is %d", a.ID, a.SequenceNumber, last)
		}
		if numbers[a.SequenceNumber] {
			c.findf("%s has the number %d, which another has", a.ID, a.SequenceNumber)
		}
		if a.Code != "" && codes[a.Code] {
			c.findf("%s has the code %s, which another has", a.ID, a.Code)
		}
		numbers[a.SequenceNumber], codes[a.Code] = true, true
	}
}

// tree checks that accounts stand below others of their type, up to a top.
func (c *checking) tree() {
	for _, a := range c.chart {
		if a.ParentID == "" {
			continue
		}
		above, there := c.byID[a.ParentID]
		if !there {
			c.findf("%s stands below %s, which does not exist", a.ID, a.ParentID)
			continue
		}
		if above.Type != a.Type {
			c.findf("%s of type %s stands below %s of type %s", a.ID, a.Type, above.ID, above.Type)
		}
		if above.Archived() && !a.Archived() {
			c.findf("%s is not archived, but %s above it is", a.ID, above.ID)
		}
		for steps := 0; there && above.ParentID != ""; steps++ {
			if above.ID == a.ID || steps > len(c.chart) {
				c.findf("%s stands below itself", a.ID)
				break
			}
			above, there = c.byID[above.ParentID]
		}
	}
}

// roles checks that every role is there that must be, once, and none of a legal entity that is not.
func (c *checking) roles(entities []string) {
	holders := map[string]int{}
	for _, a := range c.chart {
		if a.Role == "" {
			continue
		}
		if holders[a.Role]++; holders[a.Role] == 2 {
			c.findf("more than one account has the role %s", a.Role)
		}
		if a.Archived() {
			c.findf("%s with the role %s is archived", a.ID, a.Role)
		}
		if entity, ok := a.entityOf(); ok && !slices.Contains(entities, entity) {
			c.findf("%s has the role %s, but there is no such legal entity", a.ID, a.Role)
		}
	}
	wanted := slices.Clone(systemRoles)
	for _, e := range entities {
		wanted = append(wanted, RoleDueFrom(e), RoleDueTo(e))
	}
	for _, role := range wanted {
		if holders[role] == 0 {
			c.findf("no account has the role %s", role)
		}
	}
}
