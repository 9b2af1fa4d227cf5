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
type shape func(*Plan) error

// form is how a type is booked: by its direction, or as a pair. What is nil does not exist.
type form struct {
	in, out, pair shape
	through       string // role of the target where none is named
	trade         bool   // Its fee is one of trading.
}

var forms = map[Type]form{
	Deposit:         {in: receiveOrCarry, pair: carryPair},
	Withdrawal:      {out: giveOrCarry, pair: carryPair},
	Swap:            {in: receive, out: give, pair: exchange, through: SwapClearing, trade: true},
	Conversion:      {in: carryIn, out: carryOut, pair: convertPair, through: SwapClearing},
	Bridge:          {in: carryIn, out: carryOut, pair: carryPair, through: TransferClearing},
	Intercompany:    {pair: betweenEntities},
	Internal:        {in: carryIn, out: carryOut, pair: carryPair, through: TransferClearing},
	TypeFee:         {out: give},
	Minting:         {in: receive, out: give, pair: exchange, through: SwapClearing},
	StakingReward:   {in: receive},
	ValidatorReward: {in: receive},
	Invoice:         {in: receive},
	Bill:            {out: give},
	ClaimReward:     {in: receive},
	Borrow:          {in: receive, out: lend},
	Repayment:       {in: repaid, out: give},
	ReservesChange:  {in: carryIn, out: carryOut, pair: carryPair},
	RealizedPNL:     {in: receive, out: give, trade: true},
	Income:          {in: receive},
	Expense:         {out: give},
	Refund:          {in: receive, out: give},
	Chargeback:      {in: receive, out: give},
	NFT:             {in: receive, out: give, pair: exchange, through: SwapClearing, trade: true},
	Unknown:         {in: receiveOrCarry, out: giveOrCarry, pair: carryPair, through: Suspense},
}

// acquires tells that what comes in was bought, so that a fee may add to its basis.
func (t Type) acquires() bool { return t == Swap || t == Minting || t == NFT }

// Exists tells that something of a type can come in, or go out.
func Exists(t Type, inflow bool) bool {
	if inflow {
		return forms[t].in != nil
	}
	return forms[t].out != nil
}
