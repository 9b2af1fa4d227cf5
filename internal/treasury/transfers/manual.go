package transfers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// LinkParams are two transactions, in any order, and the kind of link where it does not follow from them.
type LinkParams struct {
	TransactionIDs []string
	Kind           transfer.Kind
}

// Link links two transactions on request.
func (s *Service) Link(ctx context.Context, p LinkParams) (g Group, err error) {
	var faults fault.List
	if p.Kind != "" && !slices.Contains(kinds, p.Kind) {
		faults.Addf("kind", "must be internal, intercompany, bridge or swap")
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		faults := faults // a write that is retried starts with the same
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		found, err := transaction.FindByIDs(ctx, tx, p.TransactionIDs)
		if err := faults.Merge(err); err != nil {
			return err
		}
		if err == nil && len(found) != 2 {
			faults.Addf("transaction_ids", "must be two different transactions")
		}
		if err := faults.Err(); err != nil {
			return err
		}
		if err := requireLinkable(found); err != nil {
			return err
		}
		g = Group{By: Manual, Out: found[0], In: found[1]}
		if transaction.IsInflow(g.Out.Direction) {
			g.Out, g.In = g.In, g.Out
		}
		if err := g.resolveKind(p.Kind); err != nil {
			return err
		}
		made, err := createGroups(ctx, tx, []Group{g})
		if err == nil {
			g = made[0]
		}
		return err
	})
	return g, err
}

// requireLinkable returns a conflict unless both transactions can be linked, and to each other.
func requireLinkable(pair []transaction.Transaction) error {
	var fields []fault.Field
	for i, t := range pair {
		why := ""
		switch {
		case t.GroupID != "":
			why = "is linked already: unlink it first"
		case t.Status == transaction.Spam:
			why = "is spam"
		case t.Status == transaction.Posted:
			why = "is posted: unpost its journal entry first"
		case t.JournalEntryID != "":
			why = "has the draft " + t.JournalEntryID + ": delete it first"
		}
		if why != "" {
			fields = append(fields, fault.Field{Name: fmt.Sprintf("transaction_ids[%d]", i), Message: t.SequenceNumber() + " " + why})
		}
	}
	if len(fields) > 0 {
		return fault.ConflictAt(fields, "the transactions cannot be linked: %s", fields[0].Message)
	}
	if pair[0].Direction == pair[1].Direction {
		return cannotLink("transaction_ids", "both transactions are a %s: link one debit and one credit", pair[0].Direction)
	}
	return nil
}

func cannotLink(field, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return fault.ConflictAt([]fault.Field{{Name: field, Message: text}}, "the transactions cannot be linked: %s", text)
}

// resolveKind sets the kind and the shortfall of a group, or returns why two transactions cannot be the kind wanted.
func (g *Group) resolveKind(wanted transfer.Kind) error {
	out, in := g.Out, g.In
	same := strings.EqualFold(asset(out), asset(in)) && money.IsFiat(out.Currency) == money.IsFiat(in.Currency)
	apart, home := out.Source.LegalEntityID != in.Source.LegalEntityID, out.Source.ID == in.Source.ID
	switch {
	case wanted != "":
		g.Kind = wanted
	case apart:
		g.Kind = transfer.Intercompany
	case home && !same, money.IsFiat(asset(out)) != money.IsFiat(asset(in)): // a purchase or a sale, between sources too
		g.Kind = transfer.Swap
	case chain(out) != "" && chain(in) != "" && chain(out) != chain(in):
		g.Kind = transfer.Bridge
	default:
		g.Kind = transfer.Internal
	}
	switch swap := g.Kind == transfer.Swap; {
	case apart != (g.Kind == transfer.Intercompany):
		return cannotLink("kind", "must be intercompany for a transfer between two legal entities, and only then")
	case swap && same:
		return cannotLink("kind", "a swap exchanges one asset for another, but both transactions are in %s", asset(out))
	case !swap && home && (!same || g.Kind != transfer.Internal):
		return cannotLink("kind", "both transactions belong to one source: link them as a swap")
	case !swap && g.Kind != transfer.Bridge && !same:
		return cannotLink("kind", "%s left and %s arrived: link them as a swap or a bridge", asset(out), asset(in))
	case swap || !same || out.Quantity == nil || in.Quantity == nil:
		return nil
	}
	missing := out.Quantity.Sub(*in.Quantity)
	if missing.Sign() < 0 {
		return cannotLink("transaction_ids", "more arrived (%s) than left (%s)", in.Quantity, out.Quantity)
	}
	g.Shortfall = &missing
	return nil
}

func asset(t transaction.Transaction) string {
	if t.Crypto != nil && t.Crypto.AssetType != "" {
		return t.Crypto.AssetType
	}
	return t.Currency
}

func chain(t transaction.Transaction) string {
	if t.Crypto == nil {
		return ""
	}
	return strings.ToLower(t.Crypto.Chain)
}

// Unlink dissolves the groups of some transactions, restores their types and stores that they do not belong together, so
// that matching does not link them again. It returns all transactions that were linked.
func (s *Service) Unlink(ctx context.Context, transactionIDs []string) (out []transaction.Transaction, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		named, err := transaction.FindByIDs(ctx, tx, transactionIDs)
		if err != nil {
			return err
		}
		links, members, err := membersOf(ctx, tx, named)
		if err != nil {
			return err
		}
		if out, err = dissolveGroups(ctx, tx, links, members); err != nil {
			return err
		}
		refused := refusals(links, tx.Now())
		for _, r := range refused {
			recordRefusal(ctx, tx, r)
		}
		return insertRefusals(ctx, tx, refused)
	})
	return out, err
}

// refusals returns the pairs of the sides of groups, in the order of the groups.
func refusals(links []Link, at time.Time) []refusalRow {
	byGroup := map[string]*refusalRow{}
	for _, l := range links {
		r := byGroup[l.GroupID]
		if r == nil {
			r = &refusalRow{CreatedAt: at}
			byGroup[l.GroupID] = r
		}
		if l.Side == Out {
			r.Out = l.TransactionID
		} else {
			r.In = l.TransactionID
		}
	}
	out := make([]refusalRow, 0, len(byGroup))
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		out = append(out, *byGroup[group])
	}
	return out
}

// recordRefusal writes an audit record of a refused pair. It states the row that is about to be written, so that it need not be read.
func recordRefusal(ctx context.Context, tx *db.Tx, r refusalRow) {
	pair := r.Out + "/" + r.In
	audit.Record(ctx, tx, audit.Change{Action: "transfer.refused", ResourceType: "transfer_refusal", ResourceID: pair,
		After: map[string]any{"out_id": r.Out, "in_id": r.In}, NoEvent: true, PartsOnly: true,
		Parts: []audit.Part{{Type: "transfer_refusal", ID: pair, Table: "transfer_refusals", Row: r}}})
}

// membersOf returns the links and members of the groups of some transactions, if all of the groups can be dissolved.
func membersOf(ctx context.Context, tx *db.Tx, named []transaction.Transaction) ([]Link, []transaction.Transaction, error) {
	var groups []string
	var fields []fault.Field
	for i, t := range named {
		switch {
		case t.GroupID == "":
			fields = append(fields, fault.Field{Name: fmt.Sprintf("transaction_ids[%d]", i), Message: t.SequenceNumber() + " is not linked"})
		case !slices.Contains(groups, t.GroupID):
			groups = append(groups, t.GroupID)
		}
	}
	if len(fields) > 0 {
		return nil, nil, fault.ConflictAt(fields, "nothing was unlinked: %s", fields[0].Message)
	}
	links, err := selectGroups(ctx, tx, groups)
	if err != nil {
		return nil, nil, err
	}
	members, err := transaction.FindSomeUnchecked(ctx, tx, idsOf(links))
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(members, func(a, b transaction.Transaction) int { return int(a.Number - b.Number) })
	for _, t := range members {
		if !actor.From(ctx).Sees(t.Source.LegalEntityID) {
			at := slices.IndexFunc(named, func(n transaction.Transaction) bool { return n.GroupID == t.GroupID })
			return nil, nil, fault.Forbiddenf("the link of %s %s", named[at].SequenceNumber(), actor.NeedsUnlimited)
		}
	}
	for _, t := range members {
		if t.Status == transaction.Posted {
			return nil, nil, fault.ConflictAt([]fault.Field{{Name: "transaction_ids", Message: t.SequenceNumber() + " is posted"}},
				"%s is posted: unpost its journal entry first", t.SequenceNumber())
		}
		if t.JournalEntryID != "" {
			return nil, nil, fault.ConflictAt([]fault.Field{{Name: "transaction_ids", Message: t.SequenceNumber() + " has a draft"}},
				"%s has the draft %s: delete it first", t.SequenceNumber(), t.JournalEntryID)
		}
	}
	return links, members, nil
}
