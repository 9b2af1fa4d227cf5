// Package classify decides what transactions are: by the rules that an organization wrote, which compile into one matcher, and where none
// matches by what was booked before.
package classify

// Direction is which way a rule looks.
type Direction string

// The directions.
const (
	Any        Direction = "ANY"
	Deposit    Direction = "DEPOSIT"
	Withdrawal Direction = "WITHDRAWAL"
)

// Rule says what becomes of the transactions that it matches. All of its conditions that are not empty must hold.
type Rule struct {
	ID       string
	Version  int64
	Priority int64 // the highest goes first among those that are equally specific

	MemoContains string    // a part of what a memo or a payee says
	Category     string    // of the platform, all of it
	Merchant     string    // of a card, all of its name
	Address      string    // from or to, all of it
	Asset        string    // the symbol of what moved
	Direction    Direction // empty is Any

	LedgerAccountID string
	TransactionType string // empty where the account and the direction say it
	PayeeName       string
	TagID           string
}

// Subject is a transaction as far as rules and precedents look at it. Texts are as the transaction has them: they are folded here.
type Subject struct {
	Inflow   bool
	Texts    []string // description, memo, vendor, who is at the other end
	Category string
	Merchant string
	From, To string
	Asset    string
}
