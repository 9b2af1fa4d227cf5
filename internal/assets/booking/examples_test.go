package booking_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// example is one event on the base state: two lots of ETH in the wallet A. Of a pair the first leg goes out.
type example struct {
	name   string
	kind   string
	legs   []string
	target string
	policy entity.CreateParams
	holds  []string // what came in before, besides the base
	owed   string   // the balance of the target before, debits less credits
	lines  string
	lots   string // everything that is left; nothing means that the base is as it was
}

const untouched = "A 2 ETH 3000.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"

var (
	net        = entity.CreateParams{FeeTreatment: entity.FeesNetted}
	capitalize = entity.CreateParams{FeeTreatment: entity.FeesCapitalized}
	fairValue  = entity.CreateParams{IntercompanyBasis: entity.BasisAtFairValue}
	park       = entity.CreateParams{LoansOut: entity.LoansParked}
)

var examples = []example{
	{name: "deposit", kind: "DEPOSIT", legs: []string{"Bank in 10000 USD = 10000.00 fee 15.00"}, target: "Paid-in capital",
		lines: "Cr Paid-in capital 10000.00; Dr Bank fees 15.00; Dr Bank 9985.00"},
	{name: "deposit of ETH", kind: "DEPOSIT", legs: []string{"A in 1 ETH = 2400.00 fee 2.40"}, target: "Paid-in capital",
		lines: "Cr Paid-in capital 2400.00; Dr Network fees 2.40; Dr A 2397.60", lots: untouched + "; A 1 ETH 2397.60 2025-09-15"},
	{name: "deposit of ETH, fee in ETH", kind: "DEPOSIT", legs: []string{"A in 1 ETH = 2400.00 fee 2.40 (0.001)"}, target: "Paid-in capital",
		lines: "Cr Paid-in capital 2400.00; Dr Network fees 2.40; Dr A 2397.60", lots: untouched + "; A 0.999 ETH 2397.60 2025-09-15"},
	{name: "deposit of ETH, fee in ETH without a value", kind: "DEPOSIT", legs: []string{"A in 1 ETH (0.001)"}, target: "Paid-in capital",
		lines: "Cr Paid-in capital 2400.00; Dr Network fees 2.40; Dr A 2397.60", lots: untouched + "; A 0.999 ETH 2397.60 2025-09-15"},
	{name: "deposit of ETH, fee in ETH of which the value is not stated", kind: "DEPOSIT", legs: []string{"A in 1 ETH = 2400.00 (0.001)"},
		target: "Paid-in capital",
		lines:  "Cr Paid-in capital 2400.00; Dr Network fees 2.40; Dr A 2397.60", lots: untouched + "; A 0.999 ETH 2397.60 2025-09-15"},
	{name: "deposit with a fee in another asset and no value", kind: "DEPOSIT", legs: []string{"A in 100 USDC = 100.00 gas 0.001 ETH"},
		target: "Paid-in capital",
		lines:  "Cr Paid-in capital 100.00; Dr Network fees 2.40; Dr A 100.00; Cr A 1.50; Cr Realized gains 0.90",
		lots:   "A 1.999 ETH 2998.50 2025-01-10; A 3 ETH 6000.00 2025-06-01; A 100 USDC 100.00 2025-09-15"},
	{name: "sale to a bank account", kind: "WITHDRAWAL", legs: []string{"A out 1 BTC = 45000.00"}, target: "Bank",
		holds: []string{"A in 1 BTC = 30000.00"},
		lines: "Dr Bank 45000.00; Cr A 30000.00; Cr Realized gains 15000.00"},
	{name: "purchase from a bank account", kind: "DEPOSIT", legs: []string{"A in 1 BTC = 30000.00"}, target: "Bank",
		lines: "Cr Bank 30000.00; Dr A 30000.00", lots: untouched + "; A 1 BTC 30000.00 2025-09-15"},
	{name: "sale linked to the record of the bank", kind: "SWAP", legs: []string{"A out 1 BTC = 45000.00", "Bank in 45000 USD"},
		holds: []string{"A in 1 BTC = 30000.00"},
		lines: "Dr Bank 45000.00; Cr A 30000.00; Cr Realized gains 15000.00"},
	{name: "withdrawal", kind: "WITHDRAWAL", legs: []string{"A out 2.5 ETH = 6000.00 fee 12.00 (0.005)"}, target: "Contractors",
		lines: "Dr Contractors 5988.00; Dr Network fees 12.00; Cr A 4000.00; Cr Realized gains 2000.00", lots: "A 2.5 ETH 5000.00 2025-06-01"},
	{name: "withdrawal, fees netted", kind: "WITHDRAWAL", legs: []string{"A out 2.5 ETH = 6000.00 fee 12.00 (0.005)"},
		target: "Contractors", policy: net,
		lines: "Dr Contractors 5988.00; Cr A 4000.00; Cr Realized gains 1988.00", lots: "A 2.5 ETH 5000.00 2025-06-01"},
	{name: "withdrawal of money", kind: "WITHDRAWAL", legs: []string{"Bank out 500 USD = 500.00 fee 5.00"}, target: "Distributions",
		lines: "Dr Distributions 495.00; Dr Bank fees 5.00; Cr Bank 500.00"},
	{name: "swap", kind: "SWAP", legs: []string{"A out 1.0 ETH = 2400.00", "A in 2400 USDC = 2400.00 fee 6.00 (6)"},
		lines: "Dr A 2394.00; Dr Trading fees 6.00; Cr A 1500.00; Cr Realized gains 900.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 2394 USDC 2394.00 2025-09-15; A 3 ETH 6000.00 2025-06-01"},
	{name: "swap, fees netted", kind: "SWAP", legs: []string{"A out 1.0 ETH = 2400.00", "A in 2400 USDC = 2400.00 fee 6.00 (6)"}, policy: net,
		lines: "Dr A 2394.00; Cr A 1500.00; Cr Realized gains 894.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 2394 USDC 2394.00 2025-09-15; A 3 ETH 6000.00 2025-06-01"},
	{name: "swap, fees capitalized", kind: "SWAP", legs: []string{"A out 1.0 ETH = 2400.00", "A in 2400 USDC = 2400.00 fee 6.00 (6)"},
		policy: capitalize,
		lines:  "Dr A 2400.00; Cr A 1500.00; Cr Realized gains 900.00",
		lots:   "A 1 ETH 1500.00 2025-01-10; A 2394 USDC 2400.00 2025-09-15; A 3 ETH 6000.00 2025-06-01"},
	{name: "purchase", kind: "SWAP", legs: []string{"Kraken out 5000 USD = 5000.00 fee 10.00", "Kraken in 2 ETH"},
		lines: "Dr Kraken 4990.00; Dr Trading fees 10.00; Cr Kraken 5000.00", lots: untouched + "; Kraken 2 ETH 4990.00 2025-09-15"},
	{name: "purchase, fees capitalized", kind: "SWAP", legs: []string{"Kraken out 5000 USD = 5000.00 fee 10.00", "Kraken in 2 ETH"},
		policy: capitalize,
		lines:  "Dr Kraken 5000.00; Cr Kraken 5000.00", lots: untouched + "; Kraken 2 ETH 5000.00 2025-09-15"},
	{name: "sale at a loss", kind: "SWAP", legs: []string{"Kraken out 1 SOL = 1700.00", "Kraken in 1700 USD = 1700.00"},
		holds: []string{"Kraken in 1 SOL = 2000.00"},
		lines: "Dr Kraken 1700.00; Cr Kraken 2000.00; Dr Realized losses 300.00"},
	{name: "swap without its other leg", kind: "SWAP", legs: []string{"A out 1 ETH = 2400.00"},
		lines: "Dr Swap clearing 2400.00; Cr A 1500.00; Cr Realized gains 900.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "other leg of a swap", kind: "SWAP", legs: []string{"A in 2400 USDC = 2400.00"},
		lines: "Cr Swap clearing 2400.00; Dr A 2400.00", lots: untouched + "; A 2400 USDC 2400.00 2025-09-15"},
	{name: "wrap", kind: "NON_TAXABLE_CONVERSION", legs: []string{"A out 2.502 ETH = 6004.80 fee 4.80 (0.002)", "A in 2.5 WETH = 6000.00"},
		lines: "Dr A 4001.00; Dr Network fees 4.80; Cr A 4004.00; Cr Realized gains 1.80",
		lots:  "A 0.502 WETH 1004.00 2025-06-01; A 1.998 WETH 2997.00 2025-01-10; A 2.498 ETH 4996.00 2025-06-01"},
	{name: "wrap at another ratio", kind: "NON_TAXABLE_CONVERSION", legs: []string{"A out 2.5 ETH = 6000.00", "A in 2.25 WETH = 6000.00"},
		lines: "Dr A 4000.00; Cr A 4000.00", lots: "A 0.45 WETH 1000.00 2025-06-01; A 1.8 WETH 3000.00 2025-01-10; A 2.5 ETH 5000.00 2025-06-01"},
	{name: "bridge", kind: "BRIDGE", legs: []string{"A out 1.000 ETH = 2400.00", "Arb in 0.998 ETH = 2395.20"},
		lines: "Dr Arb 1497.00; Dr Network fees 4.80; Cr A 1500.00; Cr Realized gains 1.80",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; Arb 0.998 ETH 1497.00 2025-01-10"},
	{name: "intercompany", kind: "INTERCOMPANY TRANSFER", legs: []string{"A out 1 ETH = 2400.00", "SubA in 1 ETH = 2400.00"},
		lines: "Dr Due from Sub 1500.00; Cr A 1500.00; Dr SubA 1500.00; Cr Due to US 1500.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; SubA 1 ETH 1500.00 2025-01-10"},
	{name: "intercompany at fair value", kind: "INTERCOMPANY TRANSFER", legs: []string{"A out 1 ETH = 2400.00",
		"SubA in 1 ETH = 2400.00"}, policy: fairValue,
		lines: "Dr Due from Sub 2400.00; Cr A 1500.00; Cr Realized gains 900.00; Dr SubA 2400.00; Cr Due to US 2400.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; SubA 1 ETH 2400.00 2025-09-15"},
	{name: "intercompany of money", kind: "INTERCOMPANY TRANSFER", legs: []string{"Bank out 500 USD = 500.00", "SubBank in 500 USD = 500.00"},
		lines: "Dr Due from Sub 500.00; Cr Bank 500.00; Dr SubBank 500.00; Cr Due to US 500.00"},
	{name: "internal transfer", kind: "INTERNAL TRANSFER", legs: []string{"A out 1.000 ETH = 2400.00 fee 2.40 (0.001)",
		"B in 0.999 ETH = 2397.60"},
		lines: "Dr B 1498.50; Dr Network fees 2.40; Cr A 1500.00; Cr Realized gains 0.90",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 0.999 ETH 1498.50 2025-01-10"},
	{name: "internal transfer of money", kind: "INTERNAL TRANSFER", legs: []string{"Bank out 1000 USD = 1000.00 fee 10.00",
		"Stripe in 990 USD = 990.00"},
		lines: "Dr Stripe 990.00; Dr Bank fees 10.00; Cr Bank 1000.00"},
	{name: "fee", kind: "FEE", legs: []string{"A out 0.01 ETH = 24.00"}, target: "Validator and node costs",
		lines: "Dr Validator and node costs 24.00; Cr A 15.00; Cr Realized gains 9.00",
		lots:  "A 1.99 ETH 2985.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "fee by itself", kind: "FEE", legs: []string{"A out 0.01 ETH = 24.00"},
		lines: "Dr Network fees 24.00; Cr A 15.00; Cr Realized gains 9.00", lots: "A 1.99 ETH 2985.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "nothing but a fee", kind: "WITHDRAWAL", legs: []string{"A out 0.005 ETH = 12.00 fee 12.00 (0.005)"}, target: "Contractors",
		lines: "Dr Network fees 12.00; Cr A 7.50; Cr Realized gains 4.50", lots: "A 1.995 ETH 2992.50 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "mint", kind: "MINTING", legs: []string{"A out 0.105 ETH = 252.00 fee 12.00 (0.005)", "A in 1 NFT token 7"},
		lines: "Dr A 240.00; Dr Network fees 12.00; Cr A 157.50; Cr Realized gains 94.50",
		lots:  "A 1 NFT 240.00 2025-09-15; A 1.895 ETH 2842.50 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "mint, gas capitalized", kind: "MINTING", legs: []string{"A out 0.105 ETH = 252.00 fee 12.00 (0.005)",
		"A in 1 NFT token 7"}, policy: capitalize,
		lines: "Dr A 252.00; Cr A 157.50; Cr Realized gains 94.50",
		lots:  "A 1 NFT 252.00 2025-09-15; A 1.895 ETH 2842.50 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "staking reward", kind: "STAKING_REWARD", legs: []string{"A in 0.05 ETH = 120.00 fee 12.00 (0.005)"}, target: "Staking income",
		lines: "Cr Staking income 120.00; Dr Network fees 12.00; Dr A 108.00", lots: "A 0.045 ETH 108.00 2025-09-15; " + untouched},
	{name: "validator reward", kind: "VALIDATOR_REWARD", legs: []string{"A in 0.2 ETH = 480.00"}, target: "Validator revenue",
		lines: "Cr Validator revenue 480.00; Dr A 480.00", lots: "A 0.2 ETH 480.00 2025-09-15; " + untouched},
	{name: "invoice", kind: "INVOICE", legs: []string{"Stripe in 1200 USD = 1200.00 fee 25.10"}, target: "Accounts receivable",
		lines: "Cr Accounts receivable 1200.00; Dr Bank fees 25.10; Dr Stripe 1174.90"},
	{name: "bill", kind: "BILL", legs: []string{"Bank out 905 USD = 905.00 fee 5.00"}, target: "Accounts payable",
		lines: "Dr Accounts payable 900.00; Dr Bank fees 5.00; Cr Bank 905.00"},
	{name: "claimed reward", kind: "CLAIM REWARD", legs: []string{"A in 300 UNI = 1830.00"}, target: "Reward income",
		lines: "Cr Reward income 1830.00; Dr A 1830.00", lots: untouched + "; A 300 UNI 1830.00 2025-09-15"},
	{name: "borrowed", kind: "BORROW", legs: []string{"A in 10000 USDC = 10000.00"}, target: "Loans payable",
		lines: "Cr Loans payable 10000.00; Dr A 10000.00", lots: "A 10000 USDC 10000.00 2025-09-15; " + untouched},
	{name: "lent", kind: "BORROW", legs: []string{"A out 1 ETH = 2400.00"}, target: "Loans receivable",
		lines: "Dr Loans receivable 2400.00; Cr A 1500.00; Cr Realized gains 900.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "lent and kept", kind: "BORROW", legs: []string{"A out 1 ETH = 2400.00"}, target: "Loans receivable", policy: park,
		lines: "Dr Loans receivable 1500.00; Cr A 1500.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; Loans receivable 1 ETH 1500.00 2025-01-10"},
	{name: "repaid", kind: "REPAYMENT", legs: []string{"A out 10050 USDC = 10050.00"}, target: "Loans payable", owed: "-10050.00",
		holds: []string{"A in 10050 USDC = 10048.50"},
		lines: "Dr Loans payable 10050.00; Cr A 10048.50; Cr Realized gains 1.50"},
	{name: "repaid to us", kind: "REPAYMENT", legs: []string{"A in 1 ETH = 2400.00"}, target: "Loans receivable", owed: "2400.00",
		lines: "Cr Loans receivable 2400.00; Dr A 2400.00", lots: "A 1 ETH 2400.00 2025-09-15; " + untouched},
	{name: "reserve held", kind: "RESERVES CHANGE", legs: []string{"Stripe out 500 USD = 500.00"}, target: "Reserves held by processors",
		lines: "Dr Reserves held by processors 500.00; Cr Stripe 500.00"},
	{name: "reserve released", kind: "RESERVES CHANGE", legs: []string{"Stripe in 500 USD = 500.00"}, target: "Reserves held by processors",
		lines: "Cr Reserves held by processors 500.00; Dr Stripe 500.00"},
	{name: "reserve of ETH", kind: "RESERVES CHANGE", legs: []string{"A out 1 ETH = 2400.00"}, target: "Reserves held by processors",
		lines: "Dr Reserves held by processors 1500.00; Cr A 1500.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; Reserves held by processors 1 ETH 1500.00 2025-01-10"},
	{name: "profit of trading", kind: "REALIZED_PNL", legs: []string{"Kraken in 350.25 USDC = 350.25 fee 1.25 (1.25)"},
		target: "Trading profit and loss",
		lines:  "Cr Trading profit and loss 350.25; Dr Trading fees 1.25; Dr Kraken 349.00",
		lots:   untouched + "; Kraken 349 USDC 349.00 2025-09-15"},
	{name: "loss of trading", kind: "REALIZED_PNL", legs: []string{"A out 0.1 ETH = 240.00"}, target: "Trading profit and loss",
		lines: "Dr Trading profit and loss 240.00; Cr A 150.00; Cr Realized gains 90.00",
		lots:  "A 1.9 ETH 2850.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "income", kind: "INCOME", legs: []string{"Bank in 800 USD = 800.00"}, target: "Interest income",
		lines: "Cr Interest income 800.00; Dr Bank 800.00"},
	{name: "expense", kind: "EXPENSE", legs: []string{"A out 0.625 ETH = 1500.00"}, target: "Contractors",
		lines: "Dr Contractors 1500.00; Cr A 937.50; Cr Realized gains 562.50",
		lots:  "A 1.375 ETH 2062.50 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "refund given", kind: "REFUND", legs: []string{"Bank out 120 USD = 120.00"}, target: "Sales refunds",
		lines: "Dr Sales refunds 120.00; Cr Bank 120.00"},
	{name: "refund got", kind: "REFUND", legs: []string{"Bank in 60 USD = 60.00"}, target: "Software and subscriptions",
		lines: "Cr Software and subscriptions 60.00; Dr Bank 60.00"},
	{name: "refund got in ETH", kind: "REFUND", legs: []string{"A in 0.025 ETH = 60.00"}, target: "Software and subscriptions",
		lines: "Cr Software and subscriptions 60.00; Dr A 60.00", lots: "A 0.025 ETH 60.00 2025-09-15; " + untouched},
	{name: "chargeback lost", kind: "CHARGEBACK", legs: []string{"Stripe out 265 USD = 265.00 fee 15.00"}, target: "Chargebacks",
		lines: "Dr Chargebacks 250.00; Dr Bank fees 15.00; Cr Stripe 265.00"},
	{name: "chargeback won", kind: "CHARGEBACK", legs: []string{"Stripe in 250 USD = 250.00"}, target: "Chargebacks",
		lines: "Cr Chargebacks 250.00; Dr Stripe 250.00"},
	{name: "NFT bought", kind: "NFT", legs: []string{"A out 0.1 ETH = 240.00", "A in 1 NFT token 7"},
		lines: "Dr A 240.00; Cr A 150.00; Cr Realized gains 90.00",
		lots:  "A 1 NFT 240.00 2025-09-15; A 1.9 ETH 2850.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "NFT sold", kind: "NFT", legs: []string{"A out 1 NFT token 7", "A in 0.3 ETH = 720.00 fee 36.00 (0.015)"},
		holds: []string{"A in 1 NFT = 240.00 token 7", "A in 1 NFT = 200.00 token 8"},
		lines: "Dr A 684.00; Dr Trading fees 36.00; Cr A 240.00; Cr Realized gains 480.00",
		lots:  "A 0.285 ETH 684.00 2025-09-15; A 1 NFT 200.00 2025-08-01; " + untouched},
	{name: "dust", kind: "DEPOSIT", legs: []string{"A in 0.000001 ETH = 0.0024"}, target: "Interest income",
		lots: "A 0.000001 ETH 0.00 2025-09-15; " + untouched},
	{name: "gas in another asset", kind: "INTERNAL TRANSFER", legs: []string{"A out 100 USDC = 100.00 gas 0.001 ETH",
		"B in 100 USDC = 100.00"}, holds: []string{"A in 100 USDC = 99.00"},
		lines: "Dr B 99.00; Dr Network fees 2.40; Cr A 99.00; Cr A 1.50; Cr Realized gains 0.90",
		lots:  "A 1.999 ETH 2998.50 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 100 USDC 99.00 2025-08-01"},
	{name: "gas that the value counts", kind: "EXPENSE", legs: []string{"A out 100 USDC = 102.40 fee 2.40 gas 0.001 ETH"},
		target: "Contractors", holds: []string{"A in 100 USDC = 99.00"},
		lines: "Dr Contractors 100.00; Dr Network fees 2.40; Cr A 99.00; Cr A 1.50; Cr Realized gains 1.90",
		lots:  "A 1.999 ETH 2998.50 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "gas of a sale, fees netted", kind: "SWAP", legs: []string{"A out 100 USDC = 100.00 gas 0.001 ETH",
		"Bank in 100 USD = 100.00"}, holds: []string{"A in 100 USDC = 99.00"}, policy: net,
		lines: "Dr Bank 100.00; Cr A 99.00; Cr A 1.50; Dr Realized losses 1.40; Cr Realized gains 0.90",
		lots:  "A 1.999 ETH 2998.50 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "mint of an own token", kind: "MINTING", legs: []string{"A in 1000 OWN = 500.00"}, lots: "A 1000 OWN 0.00 2025-09-15; " +
		untouched},
	{name: "mint of an own token, paid for", kind: "MINTING", legs: []string{"A out 0.01 ETH = 24.00", "A in 1000 OWN"},
		lines: "Dr Network fees 24.00; Cr A 15.00; Cr Realized gains 9.00",
		lots:  "A 1.99 ETH 2985.00 2025-01-10; A 1000 OWN 0.00 2025-09-15; A 3 ETH 6000.00 2025-06-01"},
	{name: "mint without what was paid", kind: "MINTING", legs: []string{"A in 1 NFT = 240.00 token 7"},
		lines: "Cr Swap clearing 240.00; Dr A 240.00", lots: "A 1 NFT 240.00 2025-09-15; " + untouched},
	{name: "invoice paid in ETH", kind: "INVOICE", legs: []string{"A in 0.5 ETH = 1200.00"}, target: "Accounts receivable",
		lines: "Cr Accounts receivable 1200.00; Dr A 1200.00", lots: "A 0.5 ETH 1200.00 2025-09-15; " + untouched},
	{name: "bill paid in ETH", kind: "BILL", legs: []string{"A out 0.5 ETH = 1200.00"}, target: "Accounts payable",
		lines: "Dr Accounts payable 1200.00; Cr A 750.00; Cr Realized gains 450.00",
		lots:  "A 1.5 ETH 2250.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "refund given in ETH", kind: "REFUND", legs: []string{"A out 0.5 ETH = 1200.00"}, target: "Sales refunds",
		lines: "Dr Sales refunds 1200.00; Cr A 750.00; Cr Realized gains 450.00",
		lots:  "A 1.5 ETH 2250.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "purchase without a quote", kind: "SWAP", legs: []string{"Bank out 5000 USD", "A in 2 ETH"},
		lines: "Dr A 5000.00; Cr Bank 5000.00", lots: "A 2 ETH 5000.00 2025-09-15; " + untouched},
	{name: "the target is another source", kind: "WITHDRAWAL", legs: []string{"A out 1 ETH = 2400.00"}, target: "B",
		lines: "Dr B 1500.00; Cr A 1500.00", lots: "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 1 ETH 1500.00 2025-01-10"},
	{name: "the target is another source, inwards", kind: "DEPOSIT", legs: []string{"B in 1 ETH = 2400.00"}, target: "A",
		lines: "Cr A 1500.00; Dr B 1500.00", lots: "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 1 ETH 1500.00 2025-01-10"},
	{name: "the target is a clearing account", kind: "WITHDRAWAL", legs: []string{"A out 1 ETH = 2400.00"}, target: "Transfer clearing",
		lines: "Dr Transfer clearing 1500.00; Cr A 1500.00",
		lots:  "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; Transfer clearing 1 ETH 1500.00 2025-01-10"},
	{name: "the price is looked up", kind: "EXPENSE", legs: []string{"A out 0.625 ETH"}, target: "Contractors",
		lines: "Dr Contractors 1500.00; Cr A 937.50; Cr Realized gains 562.50",
		lots:  "A 1.375 ETH 2062.50 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
	{name: "foreign money", kind: "INCOME", legs: []string{"Euro in 1000 EUR"}, target: "Interest income",
		lines: "Cr Interest income 1100.00; Dr Euro 1100.00"},
	{name: "foreign money, valued", kind: "BILL", legs: []string{"Euro out 1000 EUR = 1000.00 EUR fee 10.00"}, target: "Accounts payable",
		lines: "Dr Accounts payable 1089.00; Dr Bank fees 11.00; Cr Euro 1100.00"},
	{name: "dust at its price", kind: "CLAIM REWARD", legs: []string{"A in 0.000001 ETH"}, target: "Interest income",
		lots: "A 2 ETH 3000.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; A 0.000001 ETH 0.00 2025-09-15"},
	{name: "own money, valued in foreign money", kind: "INCOME", legs: []string{"Bank in 300 USD = 250.00 EUR"}, target: "Interest income",
		lines: "Cr Interest income 300.00; Dr Bank 300.00"},
	{name: "value in foreign money", kind: "EXPENSE", legs: []string{"A out 0.5 ETH = 1000.00 EUR"}, target: "Contractors",
		lines: "Dr Contractors 1100.00; Cr A 750.00; Cr Realized gains 350.00", lots: "A 1.5 ETH 2250.00 2025-01-10; A 3 ETH 6000.00 2025-06-01"},
}

const eventDay, holdDay = "2025-09-15", "2025-08-01"

// base books the two lots of ETH, and other holdings.
func (w *world) base(holds ...string) {
	w.Helper()
	all := []transaction.Transaction{w.add("2025-01-10", "A in 2 ETH = 3000.00"), w.add("2025-06-01", "A in 3 ETH = 6000.00")}
	for _, text := range holds {
		all = append(all, w.add(holdDay, text))
	}
	w.batch("DEPOSIT", "Paid-in capital", all...)
}

func (w *world) batch(kind, target string, all ...transaction.Transaction) []booking.Booked {
	w.Helper()
	var ps []booking.Params
	for _, t := range all {
		ps = append(ps, booking.Params{TransactionID: t.ID, Type: kind, LedgerAccountID: w.accountID(target), AutoPost: true})
	}
	made, err := w.bookings.Create(w.ctx, ps, noPrefix)
	if err != nil {
		w.Fatal(err)
	}
	return made
}

// owes posts the balance of an account from before the books began: debits less credits.
func (w *world) owes(target, amount string) {
	w.Helper()
	side, other := book.Debit, book.Credit
	if strings.HasPrefix(amount, "-") {
		side, other, amount = other, side, amount[1:]
	}
	_, err := w.bookings.Create(w.ctx, []booking.Params{{ByHand: &journal.CreateParams{LegalEntityID: w.us, AccountingDate: holdDay,
		Status: journal.Posted, Lines: []journal.LineParams{
			{LedgerAccountID: w.accountID(target), Side: side, Amount: amount, Currency: "USD"},
			{LedgerAccountID: w.accountID("Opening balance equity"), Side: other, Amount: amount, Currency: "USD"}}}}}, noPrefix)
	if err != nil {
		w.Fatal(err)
	}
}

// addTo adds the transactions of an example and links them.
func (e example) addTo(w *world, day string) []transaction.Transaction {
	w.Helper()
	var legs []transaction.Transaction
	for _, text := range e.legs {
		legs = append(legs, w.add(day, text))
	}
	if len(legs) == 2 {
		kind := map[string]transfer.Kind{"SWAP": transfer.Swap, "NON_TAXABLE_CONVERSION": transfer.Swap, "NFT": transfer.Swap,
			"MINTING": transfer.Swap}[e.kind]
		if _, err := w.links.Link(w.ctx, transfers.LinkParams{TransactionIDs: []string{legs[0].ID, legs[1].ID}, Kind: kind}); err != nil {
			w.Fatal(err)
		}
	}
	return legs
}

// Every worked example is booked through each of its legs.
func TestExamples(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		own := true
		if _, err := assetpolicy.NewService(world.db).Put(world.ctx, assetpolicy.PutParams{AssetType: "OWN", OwnToken: &own}); err != nil {
			t.Fatal(err)
		}
		world.price("ETH", "2025-09-15", "2400")
		world.rate("EUR", "USD", "2025-09-15", "1.1")
		for _, x := range examples {
			for asked, text := range x.legs {
				t.Run(strings.Join([]string{x.name, text}, ": "), func(t *testing.T) {
					w := world.newEntities(t, x.policy)
					w.base(x.holds...)
					if x.owed != "" {
						w.owes(x.target, x.owed)
					}
					legs := x.addTo(w, eventDay)
					made := w.book(legs[asked], x.kind, x.target)
					if got := w.lines(made.Entry); got != x.lines {
						t.Errorf("lines\n got %s\nwant %s", got, x.lines)
					}
					want := x.lots
					if want == "" {
						want = untouched
					}
					if got := w.lots(); got != sorted(want) {
						t.Errorf("lots\n got %s\nwant %s", got, sorted(want))
					}
					if made.TransactionID != legs[0].ID {
						t.Errorf("it is the entry of %s", made.TransactionID)
					}
					w.expectBooked(made.Entry, legs...)
				})
			}
		}
	})
}
