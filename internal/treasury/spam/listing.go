// Package spam detects worthless tokens that strangers send to the organization's wallets. It stores the allow and deny
// listings of an organization, judges arrivals by the rules of rules/spam, and stores the history that later arrivals
// are judged by.
package spam

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
)

const noun = "spam listing"

// Verdict is the effect of a listing. Allow takes precedence over everything, deny over the rest.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
)

// verdicts lists every verdict.
var verdicts = []Verdict{Allow, Deny}

// Kind is what a listing matches.
type Kind string

// The kinds.
const (
	Contract Kind = "contract" // the contract of a token
	Address  Kind = "address"  // the address of the counterparty
	Symbol   Kind = "symbol"
)

// kinds lists every kind.
var kinds = []Kind{Contract, Address, Symbol}

const (
	// valueMax is the maximum length of a value in bytes: more than any chain's addresses have.
	valueMax = 128
	// chainMax and NoteMax are maximum lengths in characters.
	chainMax = 64
	noteMax  = 500
)

// Listing always allows or always denies a contract, an address or a symbol. No two listings are for the same one.
type Listing struct {
	ID        string
	Verdict   Verdict
	Kind      Kind
	Chain     string // of a contract; empty means every chain
	Value     string
	Note      string
	CreatedBy string // a user id, or empty
	CreatedAt time.Time
}

// key returns the value in the form that is compared.
func (l Listing) key() string {
	if l.Kind == Symbol {
		return rules.SymbolKey(l.Value)
	}
	return rules.AddressKey(l.Value)
}

// normalized returns the listing in its stored form, or every fault in it.
func (l Listing) normalized() (Listing, error) {
	var faults fault.List
	l.Value, l.Note, l.Chain = strings.TrimSpace(l.Value), strings.TrimSpace(l.Note), strings.ToLower(strings.TrimSpace(l.Chain))
	if !slices.Contains(verdicts, l.Verdict) {
		faults.Addf("verdict", "must be allow or deny")
	}
	if !slices.Contains(kinds, l.Kind) {
		faults.Addf("kind", "must be contract, address or symbol")
	}
	switch {
	case l.Value == "" || len(l.Value) > valueMax:
		faults.Addf("value", "must have 1 to %d bytes, not counting leading and trailing spaces", valueMax)
	case l.Kind != Symbol && !rules.HasOwner(l.Value):
		faults.Addf("value", "is the zero address, which tokens are minted from and burned to: list a contract instead")
	}
	switch {
	case l.Chain != "" && l.Kind != Contract:
		faults.Addf("chain", "must be omitted: addresses and symbols apply to every chain")
	case utf8.RuneCountInString(l.Chain) > chainMax:
		faults.Addf("chain", "must have at most %d characters", chainMax)
	}
	if utf8.RuneCountInString(l.Note) > noteMax {
		faults.Addf("note", "must have at most %d characters", noteMax)
	}
	return l, faults.Err()
}

// conflictsWith reports whether two listings cannot coexist, because they match the same thing or one cancels the other.
func (l Listing) conflictsWith(other Listing) bool {
	if l.Kind != other.Kind || l.key() != other.key() {
		return false
	}
	return l.Chain == other.Chain || l.Verdict != other.Verdict && (l.Chain == "" || other.Chain == "")
}

// facts returns the fields for the audit log and events.
func (l Listing) facts() map[string]any {
	return map[string]any{"id": l.ID, "verdict": l.Verdict, "kind": l.Kind, "chain": db.OrNull(l.Chain), "value": l.Value,
		"note": db.OrNull(l.Note)}
}
