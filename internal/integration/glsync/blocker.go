package glsync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Blocker is a reason why entries cannot be sent.
type Blocker struct {
	Code            string `json:"code"`
	Message         string `json:"message"`
	Count           int64  `json:"count"` // of entries
	StopsRun        bool   `json:"stops_run"`
	LedgerAccountID string `json:"ledger_account_id,omitempty"`
	AccountID       string `json:"gl_account_id,omitempty"`
	LegalEntityID   string `json:"legal_entity_id,omitempty"`
	TagID           string `json:"tag_id,omitempty"`
}

// The codes of blockers.
const (
	UnmappedAccount = "unmapped_account"
	UnusableAccount = "unusable_account"
	OtherCurrency   = "other_currency"
	MixedCurrencies = "mixed_currencies"
	LockedPeriod    = "locked_period"
	BadAmount       = "bad_amount"
	UnusableValue   = "unusable_dimension_value"
	ConflictingTags = "conflicting_tags"
)

// BlockerCodes lists the codes.
var BlockerCodes = []string{UnmappedAccount, UnusableAccount, UnusableValue, ConflictingTags, OtherCurrency, MixedCurrencies, LockedPeriod,
	BadAmount}

// stops reports whether nothing may be sent as long as there is such a blocker. Some concern their entries only, such as a locked period.
func stops(code string) bool {
	return !slices.Contains([]string{LockedPeriod, BadAmount, MixedCurrencies, ConflictingTags}, code)
}

// tooFine is the message about an amount that no general ledger takes.
func tooFine(amount, currency string) string {
	places, _ := money.MinorUnits(currency)
	return fmt.Sprintf("the amount %s has more decimals than %s has, which is %d: general ledgers do not take it. Unpost the entry and "+
		"correct the amounts", amount, currency, places)
}

// add adds a problem unless it is there.
func add(all []Blocker, b Blocker) []Blocker {
	if slices.Contains(all, b) {
		return all
	}
	return append(all, b)
}

// texts returns the messages of problems.
func texts(all []Blocker) string {
	out := make([]string, len(all))
	for n, b := range all {
		out[n] = b.Message
	}
	return cut(strings.Join(out, "; "), errorMax)
}
