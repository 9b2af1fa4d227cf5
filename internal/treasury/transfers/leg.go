package transfers

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// legTypes are the types that a side of a transfer or a swap can have. Fees, rewards, refunds and income have no other
// side.
var legTypes = append([]transaction.Type{transaction.Swap, transaction.Bridge, transaction.Internal, transaction.Intercompany,
	"NON_TAXABLE_CONVERSION", "NFT"}, directionTypes...)

// isLeg reports whether a transaction may have another side. Purchases and sales have an outside counterparty: those by
// card name the merchant, and an inflow at a payment processor is a sale unless its type says otherwise.
func isLeg(l transaction.Unlinked, s source.Source) bool {
	switch {
	case !slices.Contains(legTypes, l.Type):
		return false
	case s.Type == source.Card:
		return l.Card == nil || l.Card.MerchantName == ""
	case s.Type == source.Other && transaction.IsInflow(l.Direction):
		return l.Type != transaction.Unknown
	}
	return true
}

// platform returns the scope in which an id of a trade or a transfer is unique. A file does not say which platform its
// ids are from, so they are unique only within its source.
func platform(s source.Source) string {
	if s.Provider == source.File {
		return s.ID
	}
	return s.Provider
}

func legOf(l transaction.Unlinked, s source.Source, not []string) transfer.Leg {
	leg := transfer.Leg{
		ID: l.ID, SourceID: s.ID, LegalEntityID: s.LegalEntityID, Asset: l.Asset, Chain: l.Chain, Inflow: transaction.IsInflow(l.Direction),
		Quantity: l.Quantity, At: l.At, OwnAddress: s.Address, Fiat: money.IsFiat(l.Currency), Excluded: not,
	}
	if l.EventKey != "" {
		leg.GroupKey = platform(s) + " " + l.EventKey // two platforms may use the same id
	}
	if c := l.Crypto; c != nil {
		leg.Contract, leg.Hash, leg.From, leg.To = c.ContractAddress, c.TransactionHash, c.From, c.To
	}
	return leg
}
