package posting

// Type is the economic type of a transaction.
type Type string

// The types.
const (
	Deposit         Type = "DEPOSIT"
	Withdrawal      Type = "WITHDRAWAL"
	Swap            Type = "SWAP"
	Conversion      Type = "NON_TAXABLE_CONVERSION"
	Bridge          Type = "BRIDGE"
	Intercompany    Type = "INTERCOMPANY TRANSFER"
	Internal        Type = "INTERNAL TRANSFER"
	TypeFee         Type = "FEE"
	Minting         Type = "MINTING"
	StakingReward   Type = "STAKING_REWARD"
	ValidatorReward Type = "VALIDATOR_REWARD"
	Invoice         Type = "INVOICE"
	Bill            Type = "BILL"
	ClaimReward     Type = "CLAIM REWARD"
	Borrow          Type = "BORROW"
	Repayment       Type = "REPAYMENT"
	ReservesChange  Type = "RESERVES CHANGE"
	RealizedPNL     Type = "REALIZED_PNL"
	Income          Type = "INCOME"
	Expense         Type = "EXPENSE"
	Refund          Type = "REFUND"
	Chargeback      Type = "CHARGEBACK"
	NFT             Type = "NFT"
	TypeSpam        Type = "SPAM"
	Unknown         Type = "UNKNOWN"
)

// Types lists all types.
var Types = []Type{
	Deposit, Withdrawal, Swap, Conversion, Bridge, Intercompany, Internal, TypeFee, Minting, StakingReward, ValidatorReward, Invoice, Bill,
	ClaimReward, Borrow, Repayment, ReservesChange, RealizedPNL, Income, Expense, Refund, Chargeback, NFT, TypeSpam, Unknown,
}

// planner plans the movements of an entry.
type planner func(*Plan) error

// bookingRule is how a type is booked: as an inflow, as an outflow, or as a pair. A nil planner means that the type does not
// allow it.
type bookingRule struct {
	in, out, pair planner
	targetRole    string // role of the target if the request names none
	tradingFee    bool   // Its fee is a trading fee.
}

var bookingRules = map[Type]bookingRule{
	Deposit:         {in: receiveOrCarry, pair: carryOrExchange},
	Withdrawal:      {out: payOrCarry, pair: carryOrExchange},
	Swap:            {in: receive, out: pay, pair: exchange, targetRole: SwapClearing, tradingFee: true},
	Conversion:      {in: carryIn, out: carryOut, pair: convertPair, targetRole: SwapClearing},
	Bridge:          {in: carryIn, out: carryOut, pair: carryPair, targetRole: TransferClearing},
	Intercompany:    {pair: betweenEntities},
	Internal:        {in: carryIn, out: carryOut, pair: carryPair, targetRole: TransferClearing},
	TypeFee:         {out: pay},
	Minting:         {in: receive, out: pay, pair: exchange, targetRole: SwapClearing},
	StakingReward:   {in: receive},
	ValidatorReward: {in: receive},
	Invoice:         {in: receive},
	Bill:            {out: pay},
	ClaimReward:     {in: receive},
	Borrow:          {in: receive, out: lend},
	Repayment:       {in: collectLoan, out: pay},
	ReservesChange:  {in: carryIn, out: carryOut, pair: carryPair},
	RealizedPNL:     {in: receive, out: pay, tradingFee: true},
	Income:          {in: receive},
	Expense:         {out: pay},
	Refund:          {in: receive, out: pay},
	Chargeback:      {in: receive, out: pay},
	NFT:             {in: receive, out: pay, pair: exchange, targetRole: SwapClearing, tradingFee: true},
	Unknown:         {in: receiveOrCarry, out: payOrCarry, pair: carryOrExchange, targetRole: Suspense},
}

// isPurchase reports whether an inflow of the type was bought, so that a fee may be added to its basis.
func (t Type) isPurchase() bool { return t == Swap || t == Minting || t == NFT }

// hasDocument reports whether a transaction of the type pays an invoice or a bill, or undoes such a payment. What is owed by
// these documents is stated in money.
func (t Type) hasDocument() bool { return t == Invoice || t == Bill || t == Refund || t == Chargeback }

// SupportsDirection reports whether a single transaction of a type can be an inflow, or an outflow.
func SupportsDirection(t Type, inflow bool) bool {
	if inflow {
		return bookingRules[t].in != nil
	}
	return bookingRules[t].out != nil
}
