// Package transfers links transactions that are two sides of one event: a transfer between sources of the
// organization, between legal entities or over a bridge, or a swap. It matches them by the rules of rules/transfer, and
// lists the ambiguous ones for a person to decide.
package transfers

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Side is the direction of a transaction within its group.
type Side string

// The sides.
const (
	Out Side = "out"
	In  Side = "in"
)

// Manual is the evidence for links made by a person.
const Manual transfer.Evidence = "manual"

// kinds lists every kind.
var kinds = []transfer.Kind{transfer.Internal, transfer.Intercompany, transfer.Bridge, transfer.Swap}

// types are the transaction types of linked transactions, by kind.
var types = map[transfer.Kind]transaction.Type{
	transfer.Internal: transaction.Internal, transfer.Intercompany: transaction.Intercompany, transfer.Bridge: transaction.Bridge,
	transfer.Swap: transaction.Swap,
}

// directionTypes are the types that say no more than the direction. Linking replaces them.
var directionTypes = []transaction.Type{transaction.Unknown, transaction.Deposit, transaction.Withdrawal}

// Link is one side of a group.
type Link struct {
	TransactionID string
	GroupID       string
	Side          Side
	Kind          transfer.Kind
	By            transfer.Evidence
	Shortfall     *money.Decimal   // the quantity that left and did not arrive; nil for a swap
	TypeBefore    transaction.Type // empty unless the link changed it
	CreatedBy     string           // a user id, or empty
	CreatedAt     time.Time
}

// Group is a pair of linked transactions.
type Group struct {
	ID        string
	Kind      transfer.Kind
	By        transfer.Evidence
	Shortfall *money.Decimal
	Out, In   transaction.Transaction
}

// asMember returns the transaction as a member of a group.
func asMember(t transaction.Transaction, groupID string, kind transfer.Kind) transaction.Transaction {
	t.GroupID = groupID
	if slices.Contains(directionTypes, t.Type) {
		t.Type = types[kind]
	}
	return t
}

// withoutGroup returns the transaction as it is after unlinking. A type that was set since linking stays.
func (l Link) withoutGroup(t transaction.Transaction) transaction.Transaction {
	t.GroupID = ""
	if l.TypeBefore != "" && t.Type == types[l.Kind] && t.Status != transaction.Posted {
		t.Type = l.TypeBefore
	}
	return t
}

// Beyond returns those of some transactions that are linked to a transaction of a legal entity outside the actor's key, by their ids.
// Neither the link nor the entry that books both can be changed by the actor.
func (s *Service) Beyond(ctx context.Context, of ...transaction.Transaction) (out map[string]bool, err error) {
	who := actor.From(ctx)
	if !who.Limited() || !slices.ContainsFunc(of, func(t transaction.Transaction) bool { return t.GroupID != "" }) {
		return nil, nil
	}
	err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		partners, err := PartnersUnchecked(ctx, tx, of)
		out = map[string]bool{}
		for id, partner := range partners {
			out[id] = !who.Sees(partner.Source.LegalEntityID)
		}
		return err
	})
	return out, err
}

// PartnersUnchecked returns the transactions that the given ones are linked to, by the ids of the given ones. It does
// not check what the actor may see. It is a building block.
func PartnersUnchecked(ctx context.Context, tx *db.Tx, of []transaction.Transaction) (map[string]transaction.Transaction, error) {
	var groups []string
	byID := map[string]transaction.Transaction{}
	for _, t := range of {
		byID[t.ID] = t
		if t.GroupID != "" {
			groups = append(groups, t.GroupID)
		}
	}
	if len(groups) == 0 {
		return nil, nil
	}
	links, err := selectGroups(ctx, tx, groups)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, l := range links {
		if _, ok := byID[l.TransactionID]; !ok {
			ids = append(ids, l.TransactionID)
		}
	}
	if len(ids) > 0 {
		others, err := transaction.FindSomeUnchecked(ctx, tx, ids)
		if err != nil {
			return nil, err
		}
		for _, t := range others {
			byID[t.ID] = t
		}
	}
	members := map[string][]string{}
	for _, l := range links {
		members[l.GroupID] = append(members[l.GroupID], l.TransactionID)
	}
	out := map[string]transaction.Transaction{}
	for _, t := range of {
		for _, id := range members[t.GroupID] {
			if other, ok := byID[id]; ok && id != t.ID {
				out[t.ID] = other
			}
		}
	}
	return out, nil
}
