package entity

// The rules that an entity's financial statements follow.
const (
	FrameworkUSGAAP = "us_gaap"
	FrameworkIFRS   = "ifrs"
)

// What becomes of fees.
const (
	FeesExpensed    = "expense"    // they are a cost of their own
	FeesNetted      = "net"        // they reduce the proceeds of what is disposed of
	FeesCapitalized = "capitalize" // they add to the cost of what is acquired
)

// What happens when more is disposed of than is held.
const (
	ShortBlocked     = "block"
	ShortAtZeroBasis = "zero_basis" // what is missing goes at no cost
)

// At what another entity of the organization gets an asset.
const (
	BasisCarriedOver = "carry_over"
	BasisAtFairValue = "fair_value"
)

// What becomes of the lots of an asset that is lent out.
const (
	LoansDerecognized = "derecognize" // they are disposed of
	LoansParked       = "park"        // they are kept, with their cost and dates, until they return
)

// The values there are, as the wire has them, the usual ones first.
var (
	Frameworks        = []string{FrameworkUSGAAP, FrameworkIFRS}
	FeeTreatments     = []string{FeesExpensed, FeesNetted, FeesCapitalized}
	ShortDisposals    = []string{ShortBlocked, ShortAtZeroBasis}
	IntercompanyBases = []string{BasisCarriedOver, BasisAtFairValue}
	LoansOuts         = []string{LoansDerecognized, LoansParked}
)

// defaultFramework is that of an entity that does not say: who keeps books in dollars mostly reports to Americans.
func defaultFramework(currency string) string {
	if currency == "USD" {
		return FrameworkUSGAAP
	}
	return FrameworkIFRS
}
