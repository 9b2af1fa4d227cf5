package transaction

import "github.com/bursarhq/bursar/internal/base/clock"

// Guidance lists the actions that are allowed on a transaction now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// Guide returns the guidance for the current state of the transaction.
func (t Transaction) Guide() Guidance {
	g := Guidance{Allowed: []string{"update"}, Warnings: []string{}, Version: clock.Format(t.UpdatedAt)}
	switch t.Status {
	case Spam:
		g.Allowed = append(g.Allowed, "unmark_spam")
		g.Warnings = append(g.Warnings, "Spam is not booked: unmark it first.")
	case Posted:
		g.Warnings = append(g.Warnings, "Its journal entry is posted: unpost or reverse that to change its type.")
	default:
		if t.GroupID == "" {
			g.Allowed = append(g.Allowed, "mark_spam", "link")
		} else {
			g.Allowed = append(g.Allowed, "unlink")
		}
		if t.Value == nil {
			g.Warnings = append(g.Warnings, "It has no value_fiat: booking it needs a price or an exchange rate, unless it is in the base "+
				"currency of its legal entity.")
		}
	}
	return g
}

// Asset returns the symbol of the asset that moved.
func (t Transaction) Asset() string {
	if t.Crypto != nil && t.Crypto.AssetType != "" {
		return t.Crypto.AssetType
	}
	return t.Currency
}
