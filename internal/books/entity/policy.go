package entity

// The accounting frameworks.
const (
	FrameworkUSGAAP = "us_gaap"
	FrameworkIFRS   = "ifrs"
)

// The treatments of fees.
const (
	FeesExpensed    = "expense"    // they are an expense
	FeesNetted      = "net"        // they reduce the proceeds of what is disposed of
	FeesCapitalized = "capitalize" // they add to the cost of what is acquired
)

// The treatments of a lot deficit: a disposal of more than the pool holds.
const (
	ShortBlocked     = "block"
	ShortAtZeroBasis = "zero_basis" // the missing quantity is disposed of at no cost
)

// The cost basis of an asset that another legal entity of the organization transfers.
const (
	BasisCarriedOver = "carry_over"
	BasisAtFairValue = "fair_value"
)

// The treatments of the lots of an asset that is lent out.
const (
	LoansDerecognized = "derecognize" // they are disposed of
	LoansParked       = "park"        // they are kept, with their cost and dates, until they return
)

// The valid values, as in the API.
var (
	frameworks        = []string{FrameworkUSGAAP, FrameworkIFRS}
	feeTreatments     = []string{FeesExpensed, FeesNetted, FeesCapitalized}
	shortDisposals    = []string{ShortBlocked, ShortAtZeroBasis}
	intercompanyBases = []string{BasisCarriedOver, BasisAtFairValue}
	loansOuts         = []string{LoansDerecognized, LoansParked}
)

// defaultFramework returns US GAAP for books in dollars, and IFRS otherwise.
func defaultFramework(currency string) string {
	if currency == "USD" {
		return FrameworkUSGAAP
	}
	return FrameworkIFRS
}
