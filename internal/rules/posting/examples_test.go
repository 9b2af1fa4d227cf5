package posting_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// example is one event on the base state, in the notation of ledger_test.go.
type example struct {
	name    string
	kind    posting.Type
	out, in string
	fees    []string
	target  string
	policy  posting.Policy
	holds   []string // lots besides the base
	lines   string
	lots    string // made by the entry; of what left see left
	left    string // of the base, where it matters
	oracle  string // the example of testdata/examples.beancount with the same figures
}

// The first two lots of the engine, unchanged.
const untouched = "ETH 2 ETH 3000.00 2025-01-10; ETH 3 ETH 6000.00 2025-06-01"

var worked = []example{
	{name: "bank deposit", kind: posting.Deposit, in: "Bank: 10000 USD fee 15 = 10000.00 fee 15.00", target: "Capital", oracle: "E01",
		lines: "Cr Capital 10000.00; Dr Bank fees 15.00; Dr Bank 9985.00"},
	{name: "withdrawal of ETH", kind: posting.Withdrawal, out: "ETH: 2.5 ETH fee 0.005 = 6000.00 fee 12.00", target: "Target", oracle: "E02",
		lines: "Dr Target 5988.00; Dr Network fees 12.00; Cr ETH 4000.00; Cr Gain 2000.00", left: "ETH 2.5 ETH 5000.00 2025-06-01"},
	{name: "swap", kind: posting.Swap, out: "ETH: 1.0 ETH = 2400.00", in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00", oracle: "E03",
		lines: "Dr USDC 2394.00; Dr Trading fees 6.00; Cr ETH 1500.00; Cr Gain 900.00", lots: "USDC 2394 USDC 2394.00 2025-09-15"},
	{name: "swap, fees net", kind: posting.Swap, out: "ETH: 1.0 ETH = 2400.00", in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00",
		policy: posting.Policy{NetFees: true}, lines: "Dr USDC 2394.00; Cr ETH 1500.00; Cr Gain 894.00",
		lots: "USDC 2394 USDC 2394.00 2025-09-15"},
	{name: "swap, fees capitalized", kind: posting.Swap, out: "ETH: 1.0 ETH = 2400.00", in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00",
		policy: posting.Policy{Capitalize: true}, lines: "Dr USDC 2400.00; Cr ETH 1500.00; Cr Gain 900.00",
		lots: "USDC 2394 USDC 2400.00 2025-09-15"},
	{name: "purchase with money", kind: posting.Swap, out: "Exchange: 5000 USD fee 10 = 5000.00 fee 10.00", in: "ETH2: 2 ETH = 4990.00",
		lines: "Dr ETH2 4990.00; Dr Trading fees 10.00; Cr Exchange 5000.00", lots: "ETH2 2 ETH 4990.00 2025-09-15"},
	{name: "purchase with money, capitalized", kind: posting.Swap, out: "Exchange: 5000 USD fee 10 = 5000.00 fee 10.00",
		in:     "ETH2: 2 ETH = 4990.00",
		policy: posting.Policy{Capitalize: true}, lines: "Dr ETH2 5000.00; Cr Exchange 5000.00", lots: "ETH2 2 ETH 5000.00 2025-09-15"},
	{name: "wrap", kind: posting.Conversion, out: "ETH: 2.502 ETH fee 0.002 = 6004.80 fee 4.80", in: "WETH: 2.5 WETH = 6000.00", oracle: "E04",
		lines: "Dr WETH 4001.00; Dr Network fees 4.80; Cr ETH 4004.00; Cr Gain 1.80",
		lots:  "WETH 1.998 WETH 2997.00 2025-01-10; WETH 0.502 WETH 1004.00 2025-06-01"},
	{name: "bridge", kind: posting.Bridge, out: "ETH: 1.000 ETH = 2400.00", in: "Arb: 0.998 ETH = 2395.20", oracle: "E05",
		lines: "Dr Arb 1497.00; Dr Network fees 4.80; Cr ETH 1500.00; Cr Gain 1.80", lots: "Arb 0.998 ETH 1497.00 2025-01-10"},
	{name: "intercompany, basis carried over", kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 1 ETH = 2400.00",
		oracle: "E06",
		lines:  "Dr DueFromB 1500.00; Cr ETH 1500.00; Dr BETH 1500.00; Cr DueToA 1500.00", lots: "BETH 1 ETH 1500.00 2025-01-10"},
	{name: "intercompany at fair value", kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 1 ETH = 2400.00",
		policy: posting.Policy{FairValue: true}, lines: "Dr DueFromB 2400.00; Cr ETH 1500.00; Cr Gain 900.00; Dr BETH 2400.00; Cr DueToA 2400.00",
		lots: "BETH 1 ETH 2400.00 2025-09-15"},
	{name: "internal transfer", kind: posting.Internal, out: "ETH: 1.000 ETH fee 0.001 = 2400.00 fee 2.40",
		in: "B: 0.999 ETH = 2397.60", oracle: "E07",
		lines: "Dr B 1498.50; Dr Network fees 2.40; Cr ETH 1500.00; Cr Gain 0.90", lots: "B 0.999 ETH 1498.50 2025-01-10"},
	{name: "fee", kind: posting.TypeFee, out: "ETH: 0.01 ETH = 24.00", target: "Fees", oracle: "E08",
		lines: "Dr Fees 24.00; Cr ETH 15.00; Cr Gain 9.00", left: "ETH 1.99 ETH 2985.00 2025-01-10; ETH 3 ETH 6000.00 2025-06-01"},
	{name: "mint", kind: posting.Minting, out: "ETH: 0.105 ETH fee 0.005 = 252.00 fee 12.00", in: "NFT: 1 NFTA", oracle: "E09",
		lines: "Dr NFT 240.00; Dr Network fees 12.00; Cr ETH 157.50; Cr Gain 94.50", lots: "NFT 1 NFTA 240.00 2025-09-15"},
	{name: "mint, gas capitalized", kind: posting.Minting, out: "ETH: 0.105 ETH fee 0.005 = 252.00 fee 12.00", in: "NFT: 1 NFTA",
		policy: posting.Policy{Capitalize: true},
		lines:  "Dr NFT 252.00; Cr ETH 157.50; Cr Gain 94.50", lots: "NFT 1 NFTA 252.00 2025-09-15"},
	{name: "mint of one's own token", kind: posting.Minting, in: "Own: 1000 OWN = 500.00", lots: "Own 1000 OWN 0.00 2025-09-15"},
	{name: "staking reward", kind: posting.StakingReward, in: "ETH: 0.05 ETH fee 0.005 = 120.00 fee 12.00", target: "Staking", oracle: "E10",
		lines: "Cr Staking 120.00; Dr Network fees 12.00; Dr ETH 108.00", lots: "ETH 0.045 ETH 108.00 2025-09-15"},
	{name: "validator reward", kind: posting.ValidatorReward, in: "ETH: 0.2 ETH = 480.00", target: "Validator", oracle: "E11",
		lines: "Cr Validator 480.00; Dr ETH 480.00", lots: "ETH 0.2 ETH 480.00 2025-09-15"},
	{name: "invoice paid by card", kind: posting.Invoice, in: "Bank: 1200 USD fee 25.10 = 1200.00 fee 25.10", target: "AR", oracle: "E12",
		lines: "Cr AR 1200.00; Dr Bank fees 25.10; Dr Bank 1174.90"},
	{name: "bill", kind: posting.Bill, out: "Bank: 905 USD fee 5 = 905.00 fee 5.00", target: "AP", oracle: "E13",
		lines: "Dr AP 900.00; Dr Bank fees 5.00; Cr Bank 905.00"},
	{name: "claimed reward", kind: posting.ClaimReward, in: "UNI: 300 UNI = 1830.00", target: "Rewards", oracle: "E14",
		lines: "Cr Rewards 1830.00; Dr UNI 1830.00", lots: "UNI 300 UNI 1830.00 2025-09-15"},
	{name: "borrowed", kind: posting.Borrow, in: "USDC: 10000 USDC = 10000.00", target: "Loan", oracle: "E15",
		lines: "Cr Loan 10000.00; Dr USDC 10000.00", lots: "USDC 10000 USDC 10000.00 2025-09-15"},
	{name: "repaid", kind: posting.Repayment, out: "USDC: 10050 USDC = 10050.00", target: "Loan",
		holds: []string{"USDC: 10050 USDC 10048.50 2025-09-01"}, oracle: "E16",
		lines: "Dr Loan 10050.00; Cr USDC 10048.50; Cr Gain 1.50", left: untouched},
	{name: "reserve held", kind: posting.ReservesChange, out: "Stripe: 500 USD = 500.00", target: "Reserve", oracle: "E17",
		lines: "Dr Reserve 500.00; Cr Stripe 500.00"},
	{name: "profit of trading", kind: posting.RealizedPNL, in: "USDC: 350.25 USDC fee 1.25 = 350.25 fee 1.25", target: "PnL", oracle: "E18",
		lines: "Cr PnL 350.25; Dr Trading fees 1.25; Dr USDC 349.00", lots: "USDC 349 USDC 349.00 2025-09-15"},
	{name: "income", kind: posting.Income, in: "Bank: 800 USD = 800.00", target: "Other", oracle: "E19",
		lines: "Cr Other 800.00; Dr Bank 800.00"},
	{name: "contractor paid in ETH", kind: posting.Expense, out: "ETH: 0.625 ETH = 1500.00", target: "Contractors", oracle: "E20",
		lines: "Dr Contractors 1500.00; Cr ETH 937.50; Cr Gain 562.50"},
	{name: "refund given", kind: posting.Refund, out: "Bank: 120 USD = 120.00", target: "SalesRefunds", oracle: "E21 REFUND out",
		lines: "Dr SalesRefunds 120.00; Cr Bank 120.00"},
	{name: "refund got", kind: posting.Refund, in: "Bank: 60 USD = 60.00", target: "Software", oracle: "E21 REFUND in",
		lines: "Cr Software 60.00; Dr Bank 60.00"},
	{name: "chargeback lost", kind: posting.Chargeback, out: "Stripe: 265 USD fee 15 = 265.00 fee 15.00", target: "Chargebacks", oracle: "E22",
		lines: "Dr Chargebacks 250.00; Dr Bank fees 15.00; Cr Stripe 265.00"},
	{name: "NFT sold", kind: posting.NFT, out: "NFT: 1 NFTA", in: "ETH: 0.3 ETH fee 0.015 = 720.00 fee 36.00",
		holds: []string{"NFT: 1 NFTA 240.00 2025-08-01"}, oracle: "E23",
		lines: "Dr ETH 684.00; Dr Trading fees 36.00; Cr NFT 240.00; Cr Gain 480.00", lots: "ETH 0.285 ETH 684.00 2025-09-15"},
	{name: "unknown arrival", kind: posting.Unknown, in: "ETH: 0.4 ETH = 960.00", oracle: "E25",
		lines: "Cr Suspense 960.00; Dr ETH 960.00", lots: "ETH 0.4 ETH 960.00 2025-09-15"},
}

var further = []example{
	{name: "sale at a loss", kind: posting.Swap, out: "Old: 1 ETH = 1700.00", in: "Bank: 1700 USD = 1700.00",
		holds: []string{"Old: 1 ETH 2000.00 2025-02-01"},
		lines: "Dr Bank 1700.00; Cr Old 2000.00; Dr Loss 300.00"},
	{name: "dust", kind: posting.Deposit, in: "ETH: 0.000001 ETH = 0.0024", target: "Other", lots: "ETH 0.000001 ETH 0.00 2025-09-15"},
	{name: "all of it a fee", kind: posting.Withdrawal, out: "ETH: 0.005 ETH fee 0.005 = 12.00 fee 12.00", target: "Target",
		lines: "Dr Network fees 12.00; Cr ETH 7.50; Cr Gain 4.50"},
	{name: "all of it a fee, fees net", kind: posting.Withdrawal, out: "ETH: 0.005 ETH fee 0.005 = 12.00 fee 12.00", target: "Target",
		policy: posting.Policy{NetFees: true},
		lines:  "Dr Network fees 12.00; Cr ETH 7.50; Cr Gain 4.50"},
	{name: "withdrawal, fees net", kind: posting.Withdrawal, out: "ETH: 2.5 ETH fee 0.005 = 6000.00 fee 12.00", target: "Target",
		policy: posting.Policy{NetFees: true},
		lines:  "Dr Target 5988.00; Cr ETH 4000.00; Cr Gain 1988.00"},
	{name: "fee quantity not said", kind: posting.Internal, out: "ETH: 1.000 ETH = 2400.00 fee 2.40",
		lines: "Dr Transfer clearing 1500.00; Cr ETH 1500.00",
		lots:  "Transfer clearing 1 ETH 1500.00 2025-01-10"},
	{name: "gas of a token transfer", kind: posting.Internal, out: "USDC: 100 USDC = 100.00", in: "Cold: 100 USDC = 100.00",
		fees:  []string{"ETH: 0.001 ETH = 2.40"},
		holds: []string{"USDC: 100 USDC 99.00 2025-03-01"}, lots: "Cold 100 USDC 99.00 2025-03-01",
		lines: "Dr Cold 99.00; Dr Network fees 2.40; Cr USDC 99.00; Cr ETH 1.50; Cr Gain 0.90"},
	{name: "gas of a swap, fees net", kind: posting.Swap, out: "USDC: 100 USDC = 100.00", in: "Bank: 100 USD = 100.00",
		fees:  []string{"ETH: 0.001 ETH = 2.40"},
		holds: []string{"USDC: 100 USDC 99.00 2025-03-01"}, policy: posting.Policy{NetFees: true},
		lines: "Dr Bank 100.00; Cr USDC 99.00; Cr ETH 1.50; Dr Loss 1.40; Cr Gain 0.90"},
	{name: "out-leg of a transfer", kind: posting.Internal, out: "ETH: 2.5 ETH = 6000.00",
		lines: "Dr Transfer clearing 4000.00; Cr ETH 4000.00",
		lots:  "Transfer clearing 2 ETH 3000.00 2025-01-10; Transfer clearing 0.5 ETH 1000.00 2025-06-01"},
	{name: "transfer without a price", kind: posting.Internal, out: "ETH: 1 ETH", in: "Cold: 1 ETH",
		lines: "Dr Cold 1500.00; Cr ETH 1500.00", lots: "Cold 1 ETH 1500.00 2025-01-10"},
	{name: "in-leg of a transfer, parked", kind: posting.Internal, in: "Cold: 0.5 ETH = 1200.00",
		holds: []string{"Transfer clearing: 0.5 ETH 1000.00 2025-06-02"},
		lines: "Cr Transfer clearing 1000.00; Dr Cold 1000.00", lots: "Cold 0.5 ETH 1000.00 2025-06-02"},
	{name: "in-leg of a transfer, not parked", kind: posting.Bridge, in: "Cold: 0.5 ETH = 1200.00",
		lines: "Cr Transfer clearing 1200.00; Dr Cold 1200.00", lots: "Cold 0.5 ETH 1200.00 2025-09-15 ?"},
	{name: "in-leg of a transfer, half parked", kind: posting.Internal, in: "Cold: 0.5 ETH fee 0.1 = 1200.00 fee 240.00",
		holds: []string{"Transfer clearing: 0.25 ETH 500.00 2025-06-02"},
		lines: "Cr Transfer clearing 1100.00; Dr Network fees 240.00; Dr Cold 900.00; Cr Gain 40.00",
		lots:  "Cold 0.15 ETH 300.00 2025-06-02; Cold 0.25 ETH 600.00 2025-09-15 ?"},
	{name: "withdrawal to a clearing account", kind: posting.Withdrawal, out: "ETH: 1 ETH = 2400.00", target: "Transfer clearing",
		lines: "Dr Transfer clearing 1500.00; Cr ETH 1500.00", lots: "Transfer clearing 1 ETH 1500.00 2025-01-10"},
	{name: "withdrawal to another source", kind: posting.Withdrawal, out: "ETH: 1 ETH = 2400.00", target: "@Cold",
		lines: "Dr Cold 1500.00; Cr ETH 1500.00", lots: "Cold 1 ETH 1500.00 2025-01-10"},
	{name: "unknown from another source", kind: posting.Unknown, in: "Cold: 1 ETH = 2400.00", target: "@ETH",
		lines: "Cr ETH 1500.00; Dr Cold 1500.00", lots: "Cold 1 ETH 1500.00 2025-01-10"},
	{name: "unknown outflow", kind: posting.Unknown, out: "ETH: 1 ETH = 2400.00", target: "Suspense",
		lines: "Dr Suspense 2400.00; Cr ETH 1500.00; Cr Gain 900.00"},
	{name: "out-leg of a swap", kind: posting.Swap, out: "ETH: 1 ETH = 2400.00",
		lines: "Dr Swap clearing 2400.00; Cr ETH 1500.00; Cr Gain 900.00"},
	{name: "in-leg of a swap", kind: posting.Swap, in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00",
		lines: "Cr Swap clearing 2400.00; Dr Trading fees 6.00; Dr USDC 2394.00", lots: "USDC 2394 USDC 2394.00 2025-09-15"},
	{name: "in-leg of a swap, capitalized", kind: posting.Swap, in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00",
		policy: posting.Policy{Capitalize: true},
		lines:  "Cr Swap clearing 2400.00; Dr USDC 2400.00", lots: "USDC 2394 USDC 2400.00 2025-09-15"},
	{name: "transfer of money", kind: posting.Internal, out: "Bank: 1000 USD = 1000.00", in: "Savings: 985 USD = 985.00",
		lines: "Dr Savings 985.00; Dr Bank fees 15.00; Cr Bank 1000.00"},
	{name: "change of money", kind: posting.Swap, out: "Bank EUR: 1000 EUR = 1085.00", in: "Bank: 1080 USD = 1080.00",
		lines: "Dr Bank 1080.00; Cr Bank EUR 1085.00; Dr FX loss 5.00"},
	{name: "money to another legal entity", kind: posting.Intercompany, out: "Bank: 100 USD fee 1 = 100.00 fee 1.00",
		in:    "B/Bank B: 99 USD = 99.00",
		lines: "Dr DueFromB 99.00; Dr Bank fees 1.00; Cr Bank 100.00; Dr Bank B 99.00; Cr DueToA 99.00"},
	{name: "intercompany with a shortfall, at fair value and fees net", kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00",
		in: "B/BETH: 0.9 ETH = 2160.00",
		policy: posting.Policy{FairValue: true,
			NetFees: true}, lines: "Dr DueFromB 2160.00; Cr ETH 1500.00; Cr Gain 660.00; Dr BETH 2160.00; Cr DueToA 2160.00",
		lots: "BETH 0.9 ETH 2160.00 2025-09-15"},
	{name: "intercompany with a shortfall, and more than is held", kind: posting.Intercompany, out: "ETH>Vault: 1 ETH = 2400.00",
		in:    "B/BETH: 0.9 ETH = 2160.00",
		holds: []string{"ETH/Vault: 0.6 ETH 600.00 2025-02-01"}, lines: "Dr DueFromB 500.00; Dr Network fees 240.00; Cr Vault 600.00; " +
			"Cr Gain 140.00; Dr BETH 500.00; Cr DueToA 500.00",
		lots: "BETH 0.5 ETH 500.00 2025-02-01; BETH 0.4 ETH 0.00 2025-09-15 ?"},
	{name: "intercompany with gas", kind: posting.Intercompany, out: "ETH: 1 ETH", in: "B/BETH: 1 ETH",
		fees: []string{"Gas: 1 SOL = 2.00"}, holds: []string{"Gas: 1 SOL 3.00 2025-02-01"},
		lines: "Dr DueFromB 1500.00; Dr Network fees 2.00; Cr ETH 1500.00; Cr Gas 3.00; Dr Loss 1.00; Dr BETH 1500.00; Cr DueToA 1500.00",
		lots:  "BETH 1 ETH 1500.00 2025-01-10"},
	{name: "two fees to one account", kind: posting.Withdrawal, out: "ETH: 1 ETH = 2400.00 fee 4.00", target: "Target",
		fees: []string{"Gas: 1 SOL = 2.00"}, holds: []string{"Gas: 1 SOL 1.00 2025-02-01"},
		lines: "Dr Target 2396.00; Dr Network fees 6.00; Cr ETH 1500.00; Cr Gas 1.00; Cr Gain 901.00"},
	{name: "lent", kind: posting.Borrow, out: "ETH: 1 ETH = 2400.00", target: "Loan",
		lines: "Dr Loan 2400.00; Cr ETH 1500.00; Cr Gain 900.00"},
	{name: "lent and parked", kind: posting.Borrow, out: "ETH: 1 ETH = 2400.00", target: "Loan", policy: posting.Policy{ParkLoans: true},
		lines: "Dr Loan 1500.00; Cr ETH 1500.00", lots: "Loan 1 ETH 1500.00 2025-01-10"},
	{name: "got back with interest", kind: posting.Repayment, in: "ETH: 1.1 ETH = 2640.00", target: "Loan",
		policy: posting.Policy{ParkLoans: true}, holds: []string{"Loan: 1 ETH 1500.00 2025-01-09"},
		lines: "Cr Loan 1740.00; Dr ETH 1740.00", lots: "ETH 1 ETH 1500.00 2025-01-09; ETH 0.1 ETH 240.00 2025-09-15"},
	{name: "got back", kind: posting.Repayment, in: "ETH: 1 ETH = 2400.00", target: "Loan", lines: "Cr Loan 2400.00; Dr ETH 2400.00",
		lots: "ETH 1 ETH 2400.00 2025-09-15"},
	{name: "reserve of an asset", kind: posting.ReservesChange, out: "ETH: 1 ETH = 2400.00", target: "Reserve",
		lines: "Dr Reserve 1500.00; Cr ETH 1500.00", lots: "Reserve 1 ETH 1500.00 2025-01-10"},
	{name: "loss of trading", kind: posting.RealizedPNL, out: "ETH: 0.1 ETH = 240.00", target: "PnL",
		lines: "Dr PnL 240.00; Cr ETH 150.00; Cr Gain 90.00"},
	{name: "NFT bought", kind: posting.NFT, out: "ETH: 0.1 ETH = 240.00", in: "NFT: 1 NFTA = 250.00",
		lines: "Dr NFT 240.00; Cr ETH 150.00; Cr Gain 90.00", lots: "NFT 1 NFTA 240.00 2025-09-15"},
	{name: "chargeback won", kind: posting.Chargeback, in: "Stripe: 250 USD = 250.00", target: "Chargebacks",
		lines: "Cr Chargebacks 250.00; Dr Stripe 250.00"},
	{name: "another account than the source's", kind: posting.Deposit, in: "Bank>Petty cash: 10 USD = 10.00", target: "Capital",
		lines: "Cr Capital 10.00; Dr Petty cash 10.00"},
	{name: "own token with gas", kind: posting.Minting, out: "ETH: 0.005 ETH = 12.00", in: "Own: 1000 OWN",
		lines: "Dr Network fees 12.00; Cr ETH 7.50; Cr Gain 4.50", lots: "Own 1000 OWN 0.00 2025-09-15"},
	{name: "own token from elsewhere", kind: posting.Deposit, in: "Own: 1000 OWN = 500.00", target: "Capital",
		lines: "Cr Capital 500.00; Dr Own 500.00", lots: "Own 1000 OWN 500.00 2025-09-15"},
	{name: "all value a fee, fees net", kind: posting.Withdrawal, out: "ETH: 0.005 ETH fee 0.001 = 12.00 fee 12.00", target: "Target",
		policy: posting.Policy{NetFees: true},
		lines:  "Dr Network fees 12.00; Cr ETH 7.50; Cr Gain 4.50"},
	{name: "all quantity a fee, fees net", kind: posting.Withdrawal, out: "ETH: 1 ETH fee 1 = 2400.00 fee 4.00", target: "Target",
		policy: posting.Policy{NetFees: true},
		lines:  "Dr Target 2396.00; Dr Network fees 4.00; Cr ETH 1500.00; Cr Gain 900.00"},
	{name: "swap of two assets is worth what was received", kind: posting.Swap, out: "ETH: 1 ETH = 2401.17 fee 1.00",
		in:    "USDC: 2400 USDC = 2400.00",
		lines: "Dr USDC 2400.00; Dr Trading fees 1.00; Cr ETH 1500.00; Cr Gain 901.00", lots: "USDC 2400 USDC 2400.00 2025-09-15"},
	{name: "swap for what has no price is worth what was given", kind: posting.Swap, out: "ETH: 1 ETH = 2401.00 fee 1.00", in: "New: 7 NEW",
		lines: "Dr New 2400.00; Dr Trading fees 1.00; Cr ETH 1500.00; Cr Gain 901.00", lots: "New 7 NEW 2400.00 2025-09-15"},
	{name: "purchase with money costs the money", kind: posting.Swap, out: "Exchange: 5000 USD = 5000.00",
		in:    "New: 2 ETH fee 0.1 = 5100.00 fee 10.00",
		lines: "Dr New 4990.00; Dr Trading fees 10.00; Cr Exchange 5000.00", lots: "New 1.9 ETH 4990.00 2025-09-15"},
	{name: "purchase with money, fees net", kind: posting.Swap, out: "Exchange: 5000 USD fee 10 = 5000.00 fee 10.00", in: "New: 2 ETH",
		policy: posting.Policy{NetFees: true},
		lines:  "Dr New 5000.00; Cr Exchange 5000.00", lots: "New 2 ETH 5000.00 2025-09-15"},
	{name: "what is minted costs what was given", kind: posting.Minting, out: "ETH: 0.1 ETH = 240.00", in: "LP: 3 LP = 300.00",
		lines: "Dr LP 240.00; Cr ETH 150.00; Cr Gain 90.00", lots: "LP 3 LP 240.00 2025-09-15"},
	{name: "free mint", kind: posting.Minting, out: "ETH: 0.005 ETH fee 0.005 = 12.00 fee 12.00", in: "NFT: 1 NFTA",
		lines: "Dr Network fees 12.00; Cr ETH 7.50; Cr Gain 4.50", lots: "NFT 1 NFTA 0.00 2025-09-15"},
	{name: "conversion with fees in both assets", kind: posting.Conversion, out: "ETH: 1.2 ETH fee 0.2 = 2880.00 fee 480.00",
		in:    "WETH: 2 WETH fee 0.5 = 2400.00 fee 600.00",
		lines: "Dr WETH 1125.00; Dr Network fees 1080.00; Cr ETH 1800.00; Cr Gain 405.00", lots: "WETH 1.5 WETH 1125.00 2025-01-10"},
	{name: "conversion whose second slice takes the rest", kind: posting.Conversion, out: "ETH: 3 ETH", in: "LST: 1 LST",
		lines: "Dr LST 5000.00; Cr ETH 5000.00",
		lots:  "LST 0.666666666666666667 LST 3000.00 2025-01-10; LST 0.333333333333333333 LST 2000.00 2025-06-01"},
	{name: "conversion of slices too small to become anything", kind: posting.Conversion, out: "Gas: 3 SOL",
		in:    "LST: 0.000000000000000001 LST",
		holds: []string{"Gas: 1 SOL 1.00 2025-02-01", "Gas: 1 SOL 2.00 2025-02-02", "Gas: 1 SOL 4.00 2025-02-03"},
		lines: "Dr LST 7.00; Cr Gas 7.00", lots: "LST 0.000000000000000001 LST 7.00 2025-02-03"},
	{name: "conversion whose last slice is too small", kind: posting.Conversion, out: "Gas: 3 SOL", in: "LST: 0.000000000000000001 LST",
		holds: []string{"Gas: 2 SOL 1.00 2025-02-01", "Gas: 1 SOL 2.00 2025-02-02"}, lines: "Dr LST 3.00; Cr Gas 3.00",
		lots: "LST 0.000000000000000001 LST 3.00 2025-02-01"},
	{name: "transfer of more than is held", kind: posting.Internal, out: "ETH: 6 ETH = 14400.00", in: "Cold: 6 ETH",
		lines: "Dr Cold 9000.00; Cr ETH 9000.00",
		lots:  "Cold 2 ETH 3000.00 2025-01-10; Cold 3 ETH 6000.00 2025-06-01; Cold 1 ETH 0.00 2025-09-15 ?"},
	{name: "parking of more than is held", kind: posting.Bridge, out: "ETH: 6 ETH",
		lines: "Dr Transfer clearing 9000.00; Cr ETH 9000.00",
		lots: "Transfer clearing 2 ETH 3000.00 2025-01-10; Transfer clearing 3 ETH 6000.00 2025-06-01; Transfer clearing 1 ETH " +
			"0.00 2025-09-15 ?"},
	{name: "transfer priced by the in-leg", kind: posting.Internal, out: "ETH: 1.000 ETH", in: "Cold: 0.999 ETH = 2397.60",
		lines: "Dr Cold 1498.50; Dr Network fees 2.40; Cr ETH 1500.00; Cr Gain 0.90", lots: "Cold 0.999 ETH 1498.50 2025-01-10"},
	{name: "transfer that lost more than its fee", kind: posting.Internal, out: "ETH: 1.000 ETH fee 0.001 = 2400.00 fee 2.45",
		in:    "Cold: 0.99 ETH",
		lines: "Dr Cold 1485.00; Dr Network fees 24.00; Cr ETH 1500.00; Cr Gain 9.00", lots: "Cold 0.99 ETH 1485.00 2025-01-10"},
	{name: "transfer whose fee is stated without its value", kind: posting.Internal, out: "ETH: 1.000 ETH fee 0.001 = 2400.00",
		in:    "Cold: 0.999 ETH",
		lines: "Dr Cold 1498.50; Dr Network fees 2.40; Cr ETH 1500.00; Cr Gain 0.90", lots: "Cold 0.999 ETH 1498.50 2025-01-10"},
	{name: "transfer whose fee is stated", kind: posting.Internal, out: "ETH: 1.000 ETH fee 0.001 = 2400.00 fee 2.45", in: "Cold: 0.999 ETH",
		lines: "Dr Cold 1498.50; Dr Network fees 2.45; Cr ETH 1500.00; Cr Gain 0.95", lots: "Cold 0.999 ETH 1498.50 2025-01-10"},
	{name: "transfer of foreign money over a change of rates", kind: posting.Internal, out: "Bank EUR: 1000 EUR = 1080.00",
		in:    "Savings EUR: 1000 EUR = 1090.00",
		lines: "Dr Savings EUR 1080.00; Cr Bank EUR 1080.00"},
	{name: "transfer of money without quantities", kind: posting.Internal, out: "Bank: 0 USD = 1000.00",
		in:    "Savings: 0 USD = 990.00 fee 5.00",
		lines: "Dr Savings 985.00; Dr Bank fees 15.00; Cr Bank 1000.00"},
	{name: "transfer of money without quantities, all of it", kind: posting.Internal, out: "Bank: 0 USD = 1000.00",
		in: "Savings: 1000 USD = 1000.00", lines: "Dr Savings 1000.00; Cr Bank 1000.00"},
	{name: "transfer of money of which the second value is not known", kind: posting.Internal, out: "Bank: 0 USD = 1000.00 fee 1.00",
		in:    "Savings: 0 USD",
		lines: "Dr Savings 999.00; Dr Bank fees 1.00; Cr Bank 1000.00"},
	{name: "transfer of money between currencies", kind: posting.Internal, out: "Bank EUR: 1000 EUR = 1085.00 fee 2.00",
		in:    "Bank: 1084 USD = 1084.00",
		lines: "Dr Bank 1084.00; Dr Bank fees 2.00; Cr Bank EUR 1085.00; Cr FX gain 1.00"},
	{name: "fee that took no quantity", kind: posting.Internal, in: "Cold: 0.5 ETH = 1200.00 fee 3.00",
		holds: []string{"Transfer clearing: 0.5 ETH 1000.00 2025-06-02"},
		lines: "Cr Transfer clearing 1003.00; Dr Network fees 3.00; Dr Cold 1000.00", lots: "Cold 0.5 ETH 1000.00 2025-06-02"},
	{name: "from another source with a fee", kind: posting.Deposit, in: "Cold: 1 ETH fee 0.001 = 2400.00 fee 2.40", target: "@ETH",
		lines: "Cr ETH 1500.00; Dr Network fees 2.40; Dr Cold 1498.50; Cr Gain 0.90", lots: "Cold 0.999 ETH 1498.50 2025-01-10"},
	{name: "from another source without a price", kind: posting.Deposit, in: "Cold: 1 ETH", target: "@ETH",
		lines: "Cr ETH 1500.00; Dr Cold 1500.00", lots: "Cold 1 ETH 1500.00 2025-01-10"},
	{name: "slices leave the accounts that carry them", kind: posting.Expense, out: "ETH: 6 ETH = 14400.00", target: "Target",
		holds: []string{"ETH/Vault: 1 ETH 2000.00 2025-01-01"},
		lines: "Dr Target 14400.00; Cr Vault 2000.00; Cr ETH 9000.00; Cr Gain 3400.00"},
	{name: "lots of the named account", kind: posting.Expense, out: "ETH>Vault: 1 ETH = 2400.00", target: "Target",
		holds: []string{"ETH/Vault: 1 ETH 2000.00 2025-02-01"},
		lines: "Dr Target 2400.00; Cr Vault 2000.00; Cr Gain 400.00", left: untouched},
	{name: "transfer from the named account", kind: posting.Internal, out: "ETH>Vault: 1 ETH", in: "Cold>Safe: 1 ETH",
		holds: []string{"ETH/Vault: 1 ETH 2000.00 2025-02-01"},
		lines: "Dr Safe 2000.00; Cr Vault 2000.00", lots: "Safe 1 ETH 2000.00 2025-02-01"},
	{name: "purchase with a fee in money besides", kind: posting.Swap, out: "Exchange: 100 USD = 100.00", in: "New: 1 SOL",
		fees:  []string{"Exchange: 1 USD = 0.50"},
		lines: "Dr New 100.00; Dr Bank fees 0.50; Cr Exchange 100.00; Cr Exchange 0.50", lots: "New 1 SOL 100.00 2025-09-15"},
	{name: "gas of a claim", kind: posting.ClaimReward, in: "UNI: 300 UNI = 1830.00", target: "Rewards",
		fees:  []string{"ETH: 0.001 ETH = 2.40"},
		lines: "Cr Rewards 1830.00; Dr Network fees 2.40; Dr UNI 1830.00; Cr ETH 1.50; Cr Gain 0.90", lots: "UNI 300 UNI 1830.00 2025-09-15"},
	{name: "fee to the account of its role", kind: posting.TypeFee, out: "ETH: 0.01 ETH = 24.00",
		lines: "Dr Network fees 24.00; Cr ETH 15.00; Cr Gain 9.00"},
	{name: "more out than held", kind: posting.Expense, out: "ETH: 6 ETH = 14400.00", target: "Target",
		lines: "Dr Target 14400.00; Cr ETH 9000.00; Cr Gain 5400.00"},
}

func (e example) input() posting.Input {
	in := posting.Input{Type: e.kind, Out: leg(e.out), In: leg(e.in), Target: target(e.target), Policy: e.policy, Books: books()}
	for _, f := range e.fees {
		in.Fees = append(in.Fees, *leg(f))
	}
	return in
}

func TestEveryWorkedExampleIsBookedAsWritten(t *testing.T) {
	t.Parallel()
	for _, x := range slices.Concat(worked, further, bySource, byQuantity, split) {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := base()
			s.addLots(x.holds...)
			e, err := bookInput(t, s, x.input())
			if err != nil {
				t.Fatal(err)
			}
			if got := formatLines(e); got != x.lines {
				t.Errorf("lines\n  %s\nwant\n  %s", got, x.lines)
			}
			var made []lot
			for _, l := range e.Lots {
				made = append(made, lot{Place: l.Place, asset: l.Asset, quantity: l.Quantity, basis: l.Basis, at: l.AcquiredAt,
					pending: l.BasisPending})
				if l.Provisional != (x.kind == posting.Unknown && x.target == "") {
					t.Errorf("provisional: %t", l.Provisional)
				}
			}
			if got := formatLots(made); got != x.lots {
				t.Errorf("lots\n  %s\nwant\n  %s", got, x.lots)
			}
			if got := formatLots(s.lots); x.left != "" && got != x.left {
				t.Errorf("left\n  %s\nwant\n  %s", got, x.left)
			}
		})
	}
}

func TestTheLotEngineIsAskedForJustWhatMoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		example
		want string
	}{
		{example{kind: posting.Withdrawal, out: "ETH: 2.5 ETH fee 0.005 = 6000.00 fee 12.00", target: "Target"},
			"consume 2.5 ETH fee 0.005 from ETH"},
		{example{kind: posting.Withdrawal, out: "ETH>Vault: 2.5 ETH = 6000.00", target: "Target"}, "consume 2.5 ETH fee 0 from Vault alone"},
		{example{kind: posting.TypeFee, out: "ETH: 0.01 ETH = 24.00", target: "Fees"}, "consume 0.01 ETH fee 0.01 from ETH"},
		{example{kind: posting.Minting, out: "ETH: 0.005 ETH = 12.00", in: "Own: 1000 OWN"}, "consume 0.005 ETH fee 0.005 from ETH"},
		{example{kind: posting.Swap, out: "USDC: 9 USDC = 9.00", in: "ETH: 1 ETH = 9.00", fees: []string{"ETH: 0.01 ETH = 24.00"}},
			"consume 0.01 ETH fee 0.01 from ETH; consume 9 USDC fee 0 from USDC"},
		{example{kind: posting.Internal, out: "ETH: 1 ETH = 2400.00", in: "Cold: 0.9 ETH"}, "move 1 ETH fee 0.1 from ETH to Cold"},
		{example{kind: posting.Internal, out: "ETH>Vault: 1 ETH", in: "Cold>Safe: 1 ETH"}, "move 1 ETH fee 0 from Vault alone to Safe"},
		{example{kind: posting.Intercompany, out: "ETH: 1 ETH", in: "B/BETH: 1 ETH"}, "move 1 ETH fee 0 from ETH to BETH"},
		{example{kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 0.9 ETH", policy: posting.Policy{FairValue: true}},
			"consume 1 ETH fee 0.1 from ETH"},
		{example{kind: posting.Conversion, out: "ETH: 1.2 ETH fee 0.2 = 2880.00 fee 480.00",
			in: "WETH: 2 WETH fee 0.5 = 2400.00 fee 600.00"}, "convert 1.2 ETH fee 0.45 from ETH to WETH"},
		{example{kind: posting.Internal, out: "ETH: 1 ETH"}, "park 1 ETH fee 0 from ETH to Transfer clearing"},
		{example{kind: posting.Internal, out: "ETH>Vault: 1 ETH"}, "park 1 ETH fee 0 from Vault alone to Transfer clearing"},
		{example{kind: posting.Internal, in: "Cold: 1 ETH fee 0.2 = 2400.00 fee 480.00"},
			"unpark 1 ETH fee 0.2 from Transfer clearing alone to Cold"},
		{example{kind: posting.Deposit, in: "Cold: 1 ETH", target: "@ETH"}, "move 1 ETH fee 0 from ETH to Cold"},
		{example{kind: posting.Withdrawal, out: "ETH: 1 ETH", target: "@Cold"}, "move 1 ETH fee 0 from ETH to Cold"},
		{example{kind: posting.Deposit, in: "ETH: 1 ETH = 2400.00", target: "Capital"}, ""},
		{example{kind: posting.Bill, out: "Bank: 1 USD = 1.00", target: "AP"}, ""},
	} {
		plan, err := posting.Prepare(c.input())
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		var got []string
		for _, a := range plan.LotRequests {
			text := fmt.Sprintf("%s %s %s fee %s from %s", a.Kind, a.Quantity, a.Asset.Symbol, a.Fee, a.From.Account)
			if a.AccountOnly {
				text += " alone"
			}
			if a.To.Account != "" {
				text += " to " + a.To.Account
			}
			got = append(got, text)
			if a.At != day("2025-09-15") || a.From.Entity != "A" || (a.From.Source == "") != (a.Kind == posting.Unparked) {
				t.Errorf("%+v", a)
			}
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("asks to %s\nwant    %s", got, c.want)
		}
	}
}

func TestTheSourceLineOfADisposalNamesItsLots(t *testing.T) {
	t.Parallel()
	e, err := bookInput(t, base(), worked[1].input())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range e.Lines {
		want := ""
		if l.Account == "ETH" {
			want = "FIFO: 2.0 @ 2025-01-10, 0.5 @ 2025-06-01"
		}
		if l.Memo != want {
			t.Errorf("%s: %q, want %q", l.Account, l.Memo, want)
		}
	}
	s := &fifoEngine{}
	for range 23 {
		s.addLots("ETH: 0.1 ETH 1.00 2025-01-10")
	}
	if e, err = bookInput(t, s, example{kind: posting.Expense, out: "ETH: 2.3 ETH = 1.00", target: "Target"}.input()); err != nil {
		t.Fatal(err)
	}
	if got := e.Lines[1].Memo; len(got) > 500 || got[len(got)-12:] != ", and 3 more" {
		t.Errorf("%q", got)
	}
}

func TestAFeeGoesToTheRoleThatIsSaid(t *testing.T) {
	t.Parallel()
	in := example{kind: posting.Withdrawal, out: "ETH: 1 ETH = 2400.00 fee 4.00", target: "Target",
		fees: []string{"ETH: 0.1 ETH = 240.00"}}.input()
	in.Out.FeeRole, in.Fees[0].FeeRole = posting.FeesBank, posting.FeesTrading
	e, err := bookInput(t, base(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got, want :=
		formatLines(e),
		"Dr Target 2396.00; Dr Bank fees 4.00; Dr Trading fees 240.00; Cr ETH 1500.00; Cr ETH 150.00; Cr Gain 990.00"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTheLotEngineIsToldTheProceeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		example
		want string
	}{
		{example{kind: posting.Withdrawal, out: "ETH: 2.5 ETH fee 0.005 = 6000.00 fee 12.00", target: "Target"},
			"5988.00 and 12.00 of the fee, costs 12.00"},
		{example{kind: posting.Swap, out: "ETH: 1.0 ETH = 2400.00", in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00"},
			"2400.00 and 0.00 of the fee, costs 6.00"},
		{example{kind: posting.Swap, out: "ETH: 1.0 ETH = 2400.00", in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00",
			policy: posting.Policy{NetFees: true}}, "2400.00 and 0.00 of the fee, costs 6.00"},
		{example{kind: posting.Swap, out: "ETH: 1.0 ETH = 2400.00", in: "USDC: 2400 USDC fee 6 = 2400.00 fee 6.00",
			policy: posting.Policy{NetFees: true, Capitalize: true}}, "2400.00 and 0.00 of the fee, costs 0.00"},
		{example{kind: posting.TypeFee, out: "ETH: 0.01 ETH = 24.00", target: "Fees"}, "0.00 and 24.00 of the fee, costs 0.00"},
		{example{kind: posting.Expense, out: "USDC: 9 USDC = 9.00", target: "Target", fees: []string{"ETH: 0.01 ETH = 24.00"}},
			"0.00 and 24.00 of the fee, costs 0.00; 9.00 and 0.00 of the fee, costs 24.00"},
		{example{kind: posting.Internal, out: "ETH: 1 ETH = 2400.00", in: "Cold: 0.9 ETH"}, "0.00 and 240.00 of the fee, costs 0.00"},
		{example{kind: posting.Internal, in: "Cold: 1 ETH = 2400.00 fee 3.00"}, "0.00 and 0.00 of the fee, costs 0.00"},
	} {
		plan, err := posting.Prepare(c.input())
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		var got []string
		for _, a := range plan.LotRequests {
			got = append(got, fmt.Sprintf("%s and %s of the fee, costs %s", a.Proceeds.Fixed("USD"), a.FeeProceeds.Fixed("USD"),
				a.Costs.Fixed("USD")))
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.kind, got, c.want)
		}
	}
}

func TestSlicesLeaveTheNamedAccountOrTheirOwnOrThatOfTheSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ out, carried, want string }{
		{"ETH: 1 ETH = 2400.00", "", "ETH"}, {"ETH: 1 ETH = 2400.00", "Vault", "Vault"}, {"ETH>Safe: 1 ETH = 2400.00", "Vault",
			"Safe"}, {"ETH>Safe: 1 ETH = 2400.00", "", "Safe"},
	} {
		plan, err := posting.Prepare(example{kind: posting.Expense, out: c.out, target: "Target"}.input())
		if err != nil {
			t.Fatal(err)
		}
		e, err := plan.Entry([]posting.Answer{{Slices: []posting.Slice{{Lot: "1", Account: c.carried, Quantity: dec("1"), Basis: dec("2400")}}}})
		if err != nil || len(e.Lines) != 2 || e.Lines[1].Account != c.want {
			t.Errorf("%s carried by %q: %+v %v, want it from %s", c.out, c.carried, e.Lines, err, c.want)
		}
	}
}

func TestWhatWasAGuessStaysOne(t *testing.T) {
	t.Parallel()
	plan, err := posting.Prepare(example{kind: posting.Internal, out: "ETH: 3 ETH", in: "Cold: 3 ETH"}.input())
	if err != nil {
		t.Fatal(err)
	}
	e, err := plan.Entry([]posting.Answer{{Slices: []posting.Slice{
		{Lot: "1", Quantity: dec("1"), Basis: dec("1"), BasisPending: true}, {Lot: "2", Quantity: dec("1"), Basis: dec("1"),
			Provisional: true}, {Quantity: dec("1")},
	}}})
	if err != nil || len(e.Lots) != 3 {
		t.Fatal(e.Lots, err)
	}
	for i, want := range []string{"true false 1", "false true 2", "true false "} {
		if l := e.Lots[i]; fmt.Sprint(l.BasisPending, l.Provisional, " ", l.Parent) != want {
			t.Errorf("%+v, want %s", l, want)
		}
	}
}

func TestAnotherCurrencyIsConvertedAtTheGivenRate(t *testing.T) {
	t.Parallel()
	x := example{kind: posting.Deposit, in: "EU/Bank: 100 USD = 100.00 fee 1.00", target: "Capital"}.input()
	x.Books.Rates[posting.Rate{From: "USD", To: "EUR"}] = dec("0.9215")
	e, err := bookInput(t, base(), x)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := formatLines(e), "Cr Capital 92.15 EUR; Dr Bank fees 0.92 EUR; Dr Bank 91.23 EUR"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// At fair value the recipient owes the value that arrived in its own books, or the converted amount.
	for arrived, want := range map[string]string{"EU/EETH: 1 ETH = 2230.00 fee 10.00 EUR": "2220.00", "EU/EETH: 1 ETH": "2211.60"} {
		z := example{kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: arrived, policy: posting.Policy{FairValue: true}}.input()
		z.Books.Accounts = map[string]string{"due_from:EU": "Due from EU", "due_to:A": "DueToA", posting.RealizedGain: "Gain"}
		z.Books.Rates[posting.Rate{From: "USD", To: "EUR"}] = dec("0.9215")
		if e, err = bookInput(t, base(), z); err != nil {
			t.Fatal(err)
		}
		if got, want := formatLines(e), "Dr Due from EU 2400.00; Cr ETH 1500.00; Cr Gain 900.00; Dr EETH "+want+" EUR; Cr DueToA "+want+
			" EUR"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// A basis carried into another currency is converted as a whole and split over the slices.
	y := example{kind: posting.Intercompany, out: "ETH: 2.5 ETH = 6000.00", in: "EU/EETH: 2.5 ETH"}.input()
	y.Books.Accounts = map[string]string{"due_from:EU": "Due from EU", "due_to:A": "DueToA"}
	y.Books.Rates[posting.Rate{From: "USD", To: "EUR"}] = dec("0.921501")
	if e, err = bookInput(t, base(), y); err != nil {
		t.Fatal(err)
	}
	if got, want := formatLines(e), "Dr Due from EU 4000.00; Cr ETH 4000.00; Dr EETH 3686.00 EUR; Cr DueToA 3686.00 EUR"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if sum := money.Sum(e.Lots[0].Basis, e.Lots[1].Basis); len(e.Lots) != 2 || !sum.Equal(dec("3686")) || e.Lots[0].Currency != "EUR" {
		t.Errorf("%+v", e.Lots)
	}
}
