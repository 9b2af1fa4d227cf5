package intake

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Record is one leg of what happened: one asset, one direction.
type Record struct {
	Line       int    // The physical line at which its row begins, from 1.
	ExternalID string // Unique within the source, and the same each time the file is read.
	Timestamp  time.Time
	// Description is the platform's own text.
	Description string
	// Inflow says that the asset came into the source; a statement calls that a credit.
	Inflow bool
	// Quantity is how much of Currency moved, the fee included: above zero, or nil where the file does not know. What
	// landed of an inflow is Quantity less Crypto.FeeQuantity where the fee was taken in the same asset.
	Quantity *money.Decimal
	Currency string // An ISO code or the symbol of an asset.
	// Value is nil where the file does not know what it was worth; unknown is never zero.
	Value            *Value
	ProviderCategory string
	Vendor           string
	Memo             string
	Type             string // One of Types where the layout says it for sure, or empty.
	Group            string // Joins the legs of one event: a trade, a reference, a hash; empty where there is none.
	Crypto           *Crypto
	Bank             *Bank
	Card             *Card
}

// Value is what a record was worth in a fiat currency. Gross is always Net plus Fee, and Fee is never negative: of an
// inflow Gross is what the payer gave up and Net what landed, of an outflow Gross is all that left and Net what the
// counterparty got.
type Value struct {
	Gross, Fee, Net money.Decimal
	Currency        string
}

// Crypto is what is known of an asset that is not fiat money, and of its place on a chain.
type Crypto struct {
	Chain           string
	TransactionHash string
	BlockNumber     int64 // Zero where it is not known.
	From            string
	To              string
	AssetType       string
	ContractAddress string
	TokenID         string
	FeeQuantity     *money.Decimal
	FeeAssetType    string
}

// Bank is what is known of the bank account and of who is at the other end.
type Bank struct {
	BankName         string
	AccountLast4     string
	CounterpartyName string
}

// Card is what is known of a payment by card.
type Card struct {
	MerchantName     string
	MerchantCategory string
	CardholderName   string
	Last4            string
}

// Fault is one thing that is wrong with a row.
type Fault struct {
	Line    int
	Column  string // As the file names it; empty where the row as a whole is at fault.
	Message string
}

// Row is what became of one row of the file. It has records, or faults, or a reason why it was skipped on purpose.
type Row struct {
	Line    int
	Records []Record
	Faults  []Fault
	Skipped string
}

// Types are the values a transaction type may have.
var Types = []string{
	"DEPOSIT", "WITHDRAWAL", "SWAP", "NON_TAXABLE_CONVERSION", "BRIDGE", "INTERCOMPANY TRANSFER", "INTERNAL TRANSFER",
	"FEE", "MINTING", "STAKING_REWARD", "VALIDATOR_REWARD", "INVOICE", "BILL", "CLAIM REWARD", "BORROW", "REPAYMENT",
	"RESERVES CHANGE", "REALIZED_PNL", "INCOME", "EXPENSE", "REFUND", "CHARGEBACK", "NFT", "SPAM", "UNKNOWN",
}

// The types that layouts say for sure.
const (
	typeDeposit    = "DEPOSIT"
	typeWithdrawal = "WITHDRAWAL"
	typeSwap       = "SWAP"
	typeInternal   = "INTERNAL TRANSFER"
	typeFee        = "FEE"
	typeStaking    = "STAKING_REWARD"
	typeIncome     = "INCOME"
	typeRefund     = "REFUND"
	typeChargeback = "CHARGEBACK"
	typeReserves   = "RESERVES CHANGE"
	typePNL        = "REALIZED_PNL"
	typeBorrow     = "BORROW"
	typeRepayment  = "REPAYMENT"
)

func isType(name string) bool { return slices.Contains(Types, name) }

// Format names a kind of file.
type Format string

// The formats.
const (
	CSV  Format = "csv"
	JSON Format = "json"
	OFX  Format = "ofx"
)

// Formats are all formats, in the order in which to offer them.
var Formats = []Format{CSV, JSON, OFX}

const (
	// fieldMax bounds the bytes of one cell.
	fieldMax = 64 << 10
	// rowMax bounds the bytes of one row, object or transaction.
	rowMax = 1 << 20
	// headMax bounds how far ahead a file is read to answer open questions.
	headMax = 1 << 20
	// headRows bounds the rows of the head that are looked at.
	headRows = 1000
	// headerSearch bounds the rows among which the header is looked for.
	headerSearch = 60
	// columnsMax bounds the columns of a file.
	columnsMax = 1000
	// exactMax is how many rows are remembered one by one to tell equal ones apart.
	exactMax = 1 << 20
)
