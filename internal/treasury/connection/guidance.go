package connection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// Guidance lists the actions that are allowed on a connection now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// gapsShown is how many gaps are named.
const gapsShown = 3

// Guide returns the guidance of a connection.
func (c Connection) Guide() Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(c.CreatedAt)}
	if c.UpdatedAt != nil {
		g.Version = clock.Format(*c.UpdatedAt)
	}
	switch c.Status {
	case Disconnected:
		g.warn("the connection is disconnected, which is final: create another one to the same account to continue with its source%s",
			c.continued())
		if c.RevocationError != "" {
			g.warn("the access was not ended at %s, so end it there: %s", c.title, c.RevocationError)
		}
		return g
	case PendingSetup:
		g.Allowed = append(g.Allowed, "edit", "reauthorize", "disconnect")
		g.warn("somebody has to open the setup_url and sign in at %s; reauthorize the connection for a new page", c.title)
		return g
	case Unauthorized:
		g.Allowed = append(g.Allowed, "edit", "disconnect")
		if c.AuthMethod == byOAuth {
			g.Allowed = []string{"edit", "reauthorize", "disconnect"}
		}
		g.warn("%s refuses the credentials: %s", c.title, c.remedy())
		return g
	case Failed:
		g.warn("the latest synchronization failed and is tried again: %s", c.ErrorMessage)
	}
	g.Allowed = append(g.Allowed, "edit", "disconnect")
	if slices.Contains(c.capabilities, "import_transactions") || slices.Contains(c.capabilities, "push_journal_entries") {
		g.Allowed = append(g.Allowed, "sync")
	}
	if c.AuthMethod == byOAuth {
		g.Allowed = append(g.Allowed, "reauthorize")
	}
	slices.Sort(g.Allowed)
	g.Warnings = append(g.Warnings, c.Warnings...)
	c.warnOfData(&g)
	if !c.TakesWebhooks && c.Provider == "stripe" {
		g.warn("without a webhook_secret, changes at %s arrive with the next synchronization only", c.title)
	}
	return g
}

// continued says how to continue with the source of a connection that is disconnected, if the provider does not tell its account.
func (c Connection) continued() string {
	if c.ExternalAccountID != "" || c.SourceID == "" {
		return ""
	}
	return ", and send source_id " + c.SourceID
}

// warnOfData adds what is missing in the data that was read.
func (c Connection) warnOfData(g *Guidance) {
	if n := c.Progress.Omitted; n > 0 {
		g.warn("records at %s that could not be understood and were left out: %d, among them %s; to have them read again, disconnect and "+
			"connect the account again", c.title, n, c.Progress.Omissions)
	}
	for n, gap := range c.Progress.Gaps {
		if n == gapsShown {
			g.warn("and %d more ranges of time", len(c.Progress.Gaps)-gapsShown)
			break
		}
		g.warn("%s does not tell what happened from %s to %s: %s. Import a file for that time", c.title, clock.Format(gap.From),
			clock.Format(gap.Through), gap.Reason)
	}
	if len(c.Progress.Withdrawn) > 0 {
		g.warn("%s has taken back or changed transactions that are booked: %s. Reverse their entries, "+
			"and add what is right by hand", c.title, strings.Join(c.Progress.Withdrawn, ", "))
	}
}

func (g *Guidance) warn(format string, args ...any) {
	g.Warnings = append(g.Warnings, fmt.Sprintf(format, args...))
}
