// Package spam holds what an organization lets into its wallets or not, judges what arrives there, and keeps what
// later arrivals are judged by.
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

// Verdict is what a listing decides. Allow wins over everything, deny over all else.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
)

// Verdicts lists both.
var Verdicts = []Verdict{Allow, Deny}

// Kind says what a listing is about.
type Kind string

// The kinds.
const (
	Contract Kind = "contract" // of a token
	Address  Kind = "address"  // of who is at the other end
	Symbol   Kind = "symbol"
)

// Kinds lists every kind there is.
var Kinds = []Kind{Contract, Address, Symbol}

const (
	// ValueMax is how many bytes a value may have: more than any chain's addresses.
	ValueMax = 128
	// ChainMax and NoteMax are how many characters they may have.
	ChainMax = 64
	NoteMax  = 500
)

// Listing is one thing that is always let through or never. No two are about the same.
type Listing struct {
	ID        string
	Verdict   Verdict
	Kind      Kind
	Chain     string // of a contract; empty means all
	Value     string
	Note      string
	CreatedBy string // a user, where it was one
	CreatedAt time.Time
}

// key is the value as it is compared.
func (l Listing) key() string {
	if l.Kind == Symbol {
		return rules.SymbolKey(l.Value)
	}
	return rules.AddressKey(l.Value)
}

// normalized gives the listing as it is kept, or every fault in it.
func (l Listing) normalized() (Listing, error) {
	var faults fault.List
	l.Value, l.Note, l.Chain = strings.TrimSpace(l.Value), strings.TrimSpace(l.Note), strings.ToLower(strings.TrimSpace(l.Chain))
	if !slices.Contains(Verdicts, l.Verdict) {
		faults.Addf("verdict", "must be allow or deny")
	}
	if !slices.Contains(Kinds, l.Kind) {
		faults.Addf("kind", "must be contract, address or symbol")
	}
	switch {
	case l.Value == "" || len(l.Value) > ValueMax:
		faults.Addf("value", "must have 1 to %d bytes, not counting leading and trailing spaces", ValueMax)
	case l.Kind != Symbol && !rules.HasOwner(l.Value):
		faults.Addf("value", "is the zero address, which tokens are minted from and burned to: list a contract instead")
	}
	switch {
	case l.Chain != "" && l.Kind != Contract:
		faults.Addf("chain", "must be omitted: addresses and symbols apply to every chain")
	case utf8.RuneCountInString(l.Chain) > ChainMax:
		faults.Addf("chain", "must have at most %d characters", ChainMax)
	}
	if utf8.RuneCountInString(l.Note) > NoteMax {
		faults.Addf("note", "must have at most %d characters", NoteMax)
	}
	return l, faults.Err()
}

// conflictsWith tells why two listings cannot both be: they are about the same, or one undoes the other.
func (l Listing) conflictsWith(other Listing) bool {
	if l.Kind != other.Kind || l.key() != other.key() {
		return false
	}
	return l.Chain == other.Chain || l.Verdict != other.Verdict && (l.Chain == "" || other.Chain == "")
}

// facts is what the audit and events say of a listing.
func (l Listing) facts() map[string]any {
	return map[string]any{"id": l.ID, "verdict": l.Verdict, "kind": l.Kind, "chain": db.OrNull(l.Chain), "value": l.Value,
		"note": db.OrNull(l.Note)}
}
