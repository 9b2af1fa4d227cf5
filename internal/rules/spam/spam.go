// Package spam detects spam in wallets: airdropped phishing tokens, imitations of known tokens, and address poisoning by
// zero-value transfers. Score adds up weighted signals; each signal comes with a sentence that explains it, so that a
// person can disagree.
//
// What a token says about itself proves nothing: a contract may call itself USDC and may report transfers from any
// address, even from the organization's own wallet. Only what cannot be forged counts in favour: known contracts, value
// that moved, and network fees that the organization paid.
package spam

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Arrival holds the fields of a transaction that spam detection uses. Outflows are scored too, because address poisoning
// produces transfers that the owner never made.
type Arrival struct {
	Class       string // of the source, as in the API; only ClassCrypto can be spam
	SourceID    string
	Chain       string
	Hash        string
	At          time.Time
	Inflow      bool
	Symbol      string
	TokenName   string
	Contract    string // empty for the native coin of the chain
	TokenID     string // of an NFT
	Quantity    money.Decimal
	Value       *money.Decimal // in fiat; nil if there is no price
	Currency    string         // of the value
	From, To    string
	Description string
	Recipients  int  // number of addresses to which the transaction sent the token, 0 if unknown
	PaidFee     bool // The organization paid the network fee, which others cannot forge.
}

// ClassCrypto is the class of wallets. Strangers cannot send assets to a bank account, a card or an exchange account
// without its operator.
const ClassCrypto = "crypto"

// Threshold is the score from which an arrival is spam. No signal that legitimate arrivals also show reaches it alone.
const Threshold = 60

const scoreMax = 100

// Assessment is the result of Score.
type Assessment struct {
	Score   int // 0 to 100
	Spam    bool
	Reasons []Reason
}

// Reason is a signal that was found. A positive weight speaks for spam, a negative one against it.
type Reason struct {
	Code   Code
	Weight int
	Text   string
}

// Code names a signal.
type Code string

// The signals.
const (
	Class            Code = "source_class"
	Allowed          Code = "allow_listed"
	Denied           Code = "deny_listed"
	Outgoing         Code = "outgoing"
	Requested        Code = "own_transaction"
	KnownToken       Code = "known_token"
	UnknownToken     Code = "unknown_token"
	Counterparty     Code = "real_counterparty"
	Valued           Code = "real_value"
	Dust             Code = "dust_value"
	ZeroTransfer     Code = "zero_transfer"
	LookalikeSymbol  Code = "lookalike_symbol"
	LookalikeAddress Code = "lookalike_address"
	Link             Code = "link"
	Lure             Code = "lure_words"
	MassAirdrop      Code = "mass_airdrop"
)

// The weights follow two rules of thumb: an unknown token that is also dust is spam, but either signal alone is not; and
// a signal that only fraud produces means spam unless a known token moved real value.
const (
	weightAllowed          = -100
	weightDenied           = 100
	weightNever            = -100
	weightKnownToken       = -30
	weightUnknownToken     = 35
	weightCounterparty     = -60
	weightRequested        = -60
	weightValued           = -60
	weightDust             = 25
	weightZeroToken        = 60
	weightZeroCoin         = 30 // a contract call without value also looks like this
	weightLookalikeSymbol  = 70
	weightLookalikeAddress = 90
	weightLink             = 70
	weightLinkDescription  = 25
	weightStrongLure       = 45
	weightWeakLure         = 20
	weightLureDescription  = 10
	weightMassAirdrop      = 40
)

// Score scores one arrival. The allow-list overrides everything, the deny-list everything else.
func Score(a Arrival, k *Knowledge) Assessment {
	s := scorer{a: a, k: k, chain: lower(a.Chain), reasons: make([]Reason, 0, 4)}
	if a.Class != ClassCrypto {
		return s.final(0, Class, weightNever, "The source has the class "+quote(a.Class)+", to which strangers cannot send assets.")
	}
	s.identify()
	switch {
	case s.onList(&k.allow):
		return s.final(0, Allowed, weightAllowed, "The allow-list contains its "+s.entry+".")
	case s.onList(&k.deny):
		return s.final(scoreMax, Denied, weightDenied, "The deny-list contains its "+s.entry+".")
	case !a.Inflow && !s.couldBeForged():
		return s.final(0, Outgoing, weightNever, "The organization sent it.")
	}
	s.scoreToken()
	s.scoreValue()
	s.scoreCounterparty()
	s.scoreDescription()
	s.scoreAirdrop()
	return s.sum()
}

func (s *scorer) final(score int, code Code, weight int, text string) Assessment {
	s.add(code, weight, text)
	return Assessment{Score: score, Spam: score >= Threshold, Reasons: s.reasons}
}

func (s *scorer) sum() Assessment {
	total := 0
	for _, r := range s.reasons {
		total += r.Weight
	}
	total = max(0, min(scoreMax, total))
	return Assessment{Score: total, Spam: total >= Threshold, Reasons: s.reasons}
}
