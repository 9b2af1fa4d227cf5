package intake

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Record is one leg of a transaction: one asset, one direction.
type Record struct {
	Line       int    // The physical line at which its row begins, from 1.
	ExternalID string // Unique within the source, and the same each time the file is read.
	Timestamp  time.Time
	// Description is the text of the platform.
	Description string
	// Inflow means that the asset came into the source; a statement calls that a credit.
	Inflow bool
	// Quantity is how much of Currency moved, including the fee: above zero, or nil if the file does not state it. If
	// the fee was taken in the same asset, an inflow increases the balance by Quantity less Crypto.FeeQuantity.
	Quantity *money.Decimal
	Currency string // An ISO code or the symbol of an asset.
	// Value is nil if the file does not state it; an unknown value is never zero.
	Value            *Value
	ProviderCategory string
	Vendor           string
	Memo             string
	Type             string // One of Types if the layout makes it certain, otherwise empty.
	Group            string // Joins the legs of one event: a trade, a reference, a hash; empty if there is none.
	Crypto           *Crypto
	Bank             *Bank
	Card             *Card
}

// Value is what a record was worth in a fiat currency. Gross is always Net plus Fee, and Fee is never negative. For an
// inflow, Gross is what the payer gave up and Net what arrived; for an outflow, Gross is everything that left and Net
// what the counterparty received.
type Value struct {
	Gross, Fee, Net money.Decimal
	Currency        string
}

// Crypto describes an asset other than fiat money and its place on a chain.
type Crypto struct {
	Chain           string
	TransactionHash string
	BlockNumber     int64 // Zero if unknown.
	From            string
	To              string
	AssetType       string
	ContractAddress string
	TokenID         string
	FeeQuantity     *money.Decimal
	FeeAssetType    string
}

// Bank describes the bank account and the counterparty.
type Bank struct {
	BankName         string
	AccountLast4     string
	CounterpartyName string
}

// Card describes a card payment.
type Card struct {
	MerchantName     string
	MerchantCategory string
	CardholderName   string
	Last4            string
}

// Fault is one problem of a row.
type Fault struct {
	Line    int
	Column  string // As the file names it; empty if the fault concerns the whole row.
	Message string
}

// Row is the result of reading one row of the file. It has records, or faults, or the reason why it was skipped.
type Row struct {
	Line    int
	Records []Record
	Faults  []Fault
	Skipped string
	Balance *Balance // What the file states to be held after the row; nil if it does not.
}

// Types are the valid transaction types.
var Types = []string{
	"DEPOSIT", "WITHDRAWAL", "SWAP", "NON_TAXABLE_CONVERSION", "BRIDGE", "INTERCOMPANY TRANSFER", "INTERNAL TRANSFER",
	"FEE", "MINTING", "STAKING_REWARD", "VALIDATOR_REWARD", "INVOICE", "BILL", "CLAIM REWARD", "BORROW", "REPAYMENT",
	"RESERVES CHANGE", "REALIZED_PNL", "INCOME", "EXPENSE", "REFUND", "CHARGEBACK", "NFT", "SPAM", "UNKNOWN",
}

// The types that layouts determine.
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

// Format is a file format.
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
	// headMax bounds how far ahead a file is read for detection.
	headMax = 1 << 20
	// headRows bounds the rows of the head used for detection.
	headRows = 1000
	// headerSearch bounds the rows in which the header is searched.
	headerSearch = 60
	// columnsMax bounds the columns of a file.
	columnsMax = 1000
	// exactMax is how many rows are remembered exactly to tell equal ones apart.
	exactMax = 1 << 20
)
