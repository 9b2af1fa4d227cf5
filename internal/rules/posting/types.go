package posting

// Type is what happened economically.
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

// Types lists every type there is.
var Types = []Type{
	Deposit, Withdrawal, Swap, Conversion, Bridge, Intercompany, Internal, TypeFee, Minting, StakingReward, ValidatorReward, Invoice, Bill,
	ClaimReward, Borrow, Repayment, ReservesChange, RealizedPNL, Income, Expense, Refund, Chargeback, NFT, TypeSpam, Unknown,
}

// shape plans one of the movements.
type planner func(*Plan) error

// form is how a type is booked: by its direction, or as a pair. What is nil does not exist.
type bookingRule struct {
	in, out, pair planner
	targetRole    string // role of the target where none is named
	tradingFee    bool   // Its fee is one of trading.
}

var bookingRules = map[Type]bookingRule{
	Deposit:         {in: receiveOrCarry, pair: carryPair},
	Withdrawal:      {out: payOrCarry, pair: carryPair},
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
	Unknown:         {in: receiveOrCarry, out: payOrCarry, pair: carryPair, targetRole: Suspense},
}

// acquires tells that what comes in was bought, so that a fee may add to its basis.
func (t Type) isPurchase() bool { return t == Swap || t == Minting || t == NFT }

// Exists tells that something of a type can come in, or go out.
func SupportsDirection(t Type, inflow bool) bool {
	if inflow {
		return bookingRules[t].in != nil
	}
	return bookingRules[t].out != nil
}
