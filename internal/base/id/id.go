// Package id creates and validates identifiers: a type prefix and a UUIDv7 in lower-case Crockford base32 (the TypeID
// form), so that ids sort by creation. Ids that are derived from contents are the exception.
package id

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// Prefix names the type of the record that an id identifies.
type Prefix string

// The prefixes in use.
const (
	Organization Prefix = "org"
	LegalEntity  Prefix = "le"
	User         Prefix = "usr"
	APIKey       Prefix = "key"
	Invitation   Prefix = "ivt"
	Session      Prefix = "ses"
	Passkey      Prefix = "psk"

	Firm        Prefix = "frm"
	FirmClient  Prefix = "fcl"
	FirmRequest Prefix = "frq"

	FirmTemplate Prefix = "ftp"

	OAuthClient        Prefix = "oac"
	OAuthAuthorization Prefix = "oau"

	Event   Prefix = "evt"
	Request Prefix = "req"
	Mail    Prefix = "eml"

	LedgerAccount Prefix = "lac"
	Tag           Prefix = "tag"
	Period        Prefix = "ap"
	PeriodClosing Prefix = "apc"
	JournalEntry  Prefix = "je"
	JournalLine   Prefix = "jel"
	Transaction   Prefix = "txn"

	MoneySource          Prefix = "src"
	Wallet               Prefix = "wal"
	ExchangeAccount      Prefix = "exs"
	BankAccount          Prefix = "pla"
	AggregatorItem       Prefix = "itm"
	TransactionGroup     Prefix = "grp"
	Import               Prefix = "imp"
	SpamListing          Prefix = "spl"
	Connection           Prefix = "con"
	ConnectionRun        Prefix = "syn"
	AuthorizationAttempt Prefix = "auth"

	Asset       Prefix = "ast"
	LotUse      Prefix = "use"
	Price       Prefix = "pri"
	Revaluation Prefix = "rev"

	Reconciliation Prefix = "rec"

	Customer   Prefix = "cus"
	Invoice    Prefix = "inv"
	CreditNote Prefix = "crn"

	CashApplication    Prefix = "ca"
	CashApplicationRun Prefix = "car"

	WebhookEndpoint Prefix = "whe"
	WebhookDelivery Prefix = "whd"
	WebhookReplay   Prefix = "whr"

	GLAccount        Prefix = "gla"
	GLDimensionValue Prefix = "gld"
	GLMapping        Prefix = "glm"
	GLTagMapping     Prefix = "gtm"
	GLSyncRun        Prefix = "gls"
	GLSyncAttempt    Prefix = "glt"

	ClassificationRun Prefix = "cls"
	Document          Prefix = "mem"
	Rule              Prefix = "rul"
)

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	digits   = 26

	uuidOfTime    = 7 // the version of a UUID that begins with the time
	uuidOfContent = 8 // the version of a UUID whose bits are chosen by whoever creates it
)

// Source creates ids from a clock and a source of randomness.
type Source struct{ gen *uuid.Gen }

// NewSource returns a source of ids; random must be safe for concurrent use, as crypto/rand.Reader is.
func NewSource(c clock.Clock, random io.Reader) *Source {
	return &Source{uuid.NewGenWithOptions(uuid.WithEpochFunc(c.Now), uuid.WithRandomReader(random))}
}

// New returns a new id. It panics if reading randomness fails, because no safe id can be created then.
func (s *Source) New(p Prefix) string {
	u, err := s.gen.NewV7()
	if err != nil {
		panic(fmt.Sprintf("id: no randomness: %v", err))
	}
	return string(p) + "_" + encode(u)
}

// Derive returns the id that belongs to a content, which is the same every time. It has the form of a UUIDv8 and does not sort by creation.
func Derive(p Prefix, content []byte) string {
	sum := sha256.Sum256(content)
	u := uuid.UUID(sum[:uuid.Size])
	u.SetVersion(uuidOfContent)
	u.SetVariant(uuid.VariantRFC9562)
	return string(p) + "_" + encode(u)
}

// Valid reports whether text is a well-formed id of a type. Such a record need not exist.
func Valid(p Prefix, text string) bool {
	rest, ok := strings.CutPrefix(text, string(p)+"_")
	// 26 base32 digits hold 130 bits, so the first may not exceed 7.
	if !ok || len(rest) != digits || rest[0] > '7' {
		return false
	}
	for _, c := range []byte(rest) {
		if strings.IndexByte(alphabet, c) < 0 {
			return false
		}
	}
	return true
}

// Time returns when an id was created, to the millisecond. It returns false for a text that is no id, and for an id that Derive returned,
// which has no time.
func Time(text string) (time.Time, bool) {
	prefix, rest, _ := strings.Cut(text, "_")
	if !Valid(Prefix(prefix), text) {
		return time.Time{}, false
	}
	// The version is bits 48 to 51 of 128, thus 50 to 53 of 130: the first four bits of the eleventh digit.
	if strings.IndexByte(alphabet, rest[10])>>1 != uuidOfTime {
		return time.Time{}, false
	}
	// The first 48 of 128 bits are the time, in the top 50 of 130: ten digits.
	var millis int64
	for _, c := range []byte(rest[:10]) {
		millis = millis<<5 | int64(strings.IndexByte(alphabet, c))
	}
	return time.UnixMilli(millis).UTC(), true
}

// Later reports whether id a was created after id b; their types may differ. Ids of one source are in order even within a millisecond.
// Ids of Derive have no order.
func Later(a, b string) bool {
	_, a, _ = strings.Cut(a, "_")
	_, b, _ = strings.Cut(b, "_")
	return a > b
}

// encode encodes 128 bits as 26 digits of five bits; the first digit holds the top three.
func encode(u uuid.UUID) string {
	var out [digits]byte
	var acc uint64
	bits, n := uint(2), 0 // two leading zero bits fill 128 up to 130
	for _, b := range u {
		acc = acc<<8 | uint64(b)
		bits += 8
		for bits >= 5 {
			bits -= 5
			out[n] = alphabet[acc>>bits&31]
			n++
		}
		acc &= 1<<bits - 1
	}
	return string(out[:])
}
