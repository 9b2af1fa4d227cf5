package transaction

import (
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Guidance lists the actions that are allowed on a transaction now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// AddAgain says what to do about a transaction whose quantity is not known, which cannot be added to it later.
const AddAgain = "mark it as spam, and add it again with another external_id and with external.quantity"

// HasQuantity reports whether it is known how much moved. Money that is valued in its own currency needs no quantity.
func (t Transaction) HasQuantity() bool {
	return t.Quantity != nil || t.Value != nil && t.Value.Currency == t.Asset() && money.IsFiat(t.Asset())
}

// Guide returns the guidance for the current state of the transaction. missing says what booking it needs that is not stored, and is
// empty if there is nothing. If beyond is set, it is linked to a transaction of a legal entity outside the actor's key, so that the actor
// can neither unlink nor book it.
func (t Transaction) Guide(missing string, beyond bool) Guidance {
	g := Guidance{Allowed: []string{"update"}, Warnings: []string{}, Version: clock.Format(t.UpdatedAt)}
	switch t.Status {
	case Spam:
		g.Allowed = append(g.Allowed, "unmark_spam")
		g.Warnings = append(g.Warnings, "Spam is not booked: unmark it first.")
	case Posted:
		g.Warnings = append(g.Warnings, "Its journal entry is posted: unpost or reverse that to change its type.")
	default:
		switch {
		case t.JournalEntryID != "":
			g.Warnings = append(g.Warnings, "It has the draft entry "+t.JournalEntryID+": delete that first to change its type, its status or "+
				"its link.")
		case t.GroupID == "":
			g.Allowed = append(g.Allowed, "mark_spam", "link")
		case !beyond:
			g.Allowed = append(g.Allowed, "unlink")
		}
		switch {
		case !t.HasQuantity():
			g.Warnings = append(g.Warnings, "It has no quantity, so that it cannot be booked: "+AddAgain+".")
		case missing != "":
			g.Warnings = append(g.Warnings, "It has no value_fiat: booking it needs "+missing+".")
		}
	}
	if beyond {
		g.Warnings = append(g.Warnings, "Its link "+actor.NeedsUnlimited+" to book, unlink, unpost or reverse it.")
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
