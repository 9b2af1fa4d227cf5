package posting_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// settlementExample is an example in books with unit balances. Before lists what is outstanding, debits less credits, as
// "account: quantity unit carrying", or "B/account: …" for the other legal entity; the unit * is everything on the account. Lines
// show the units on the accounts that it names, and on due-from and due-to accounts.
type settlementExample struct {
	example
	grows  book.Side
	owed   bool
	parked bool
	valued bool
	before []string
}

var settlementExamples = []settlementExample{
	{example: example{name: "borrowed", kind: posting.Borrow, in: "Wallet: 10 ETH = 20000.00", target: "LOAN",
		lines: "Cr LOAN 20000.00 (10 ETH); Dr Wallet 20000.00", lots: "Wallet 10 ETH 20000.00 2025-09-15"}, grows: book.Credit},
	{example: example{name: "repaid after a revaluation", kind: posting.Repayment, out: "Wallet: 10 ETH = 26000.00", target: "LOAN",
		holds: []string{"Wallet: 10 ETH 20000.00 2025-08-01"},
		lines: "Dr LOAN 25000.00 (10 ETH); Cr Wallet 20000.00; Dr Unrealized loss 1000.00; Cr Gain 6000.00"},
		grows: book.Credit, before: []string{"LOAN: -10 ETH -25000.00"}},
	{example: example{name: "repaid in part", kind: posting.Repayment, out: "Wallet: 4 ETH = 10400.00", target: "LOAN",
		holds: []string{"Wallet: 10 ETH 20000.00 2025-08-01"},
		lines: "Dr LOAN 10000.00 (4 ETH); Cr Wallet 8000.00; Dr Unrealized loss 400.00; Cr Gain 2400.00"},
		grows: book.Credit, before: []string{"LOAN: -10 ETH -25000.00"}},
	{example: example{name: "a third, rounded", kind: posting.Repayment, out: "Wallet: 1 ETH = 3.00", target: "LOAN",
		holds: []string{"Wallet: 1 ETH 3.00 2025-08-01"},
		lines: "Dr LOAN 3.33 (1 ETH); Cr Wallet 3.00; Cr Unrealized gain 0.33"},
		grows: book.Credit, before: []string{"LOAN: -3 ETH -10.00"}},
	{example: example{name: "repaid with interest in kind", kind: posting.Repayment, out: "Wallet: 10.5 ETH = 27300.00", target: "LOAN",
		holds: []string{"Wallet: 10.5 ETH 21000.00 2025-08-01"},
		lines: "Dr LOAN 25000.00 (10 ETH); Dr Interest expense 1300.00; Cr Wallet 21000.00; Dr Unrealized loss 1000.00; Cr Gain 6300.00"},
		grows: book.Credit, before: []string{"LOAN: -10 ETH -25000.00"}},
	{example: example{name: "repaid with interest that was accrued", kind: posting.Repayment, out: "Wallet: 10050 USDC = 10050.00",
		target: "LOAN", holds: []string{"Wallet: 10050 USDC 10048.50 2025-08-01"},
		lines: "Dr LOAN 10000.00 (10000 USDC); Dr LOAN 50.00; Cr Wallet 10048.50; Cr Gain 1.50"},
		grows: book.Credit, before: []string{"LOAN: -10000 USDC -10000.00", "LOAN: -50 USD -50.00"}},
	{example: example{name: "repaid with more interest than was accrued", kind: posting.Repayment, out: "Wallet: 10050 USDC = 10050.00",
		target: "LOAN", holds: []string{"Wallet: 10050 USDC 10048.50 2025-08-01"},
		lines: "Dr LOAN 10000.00 (10000 USDC); Dr LOAN 30.00; Dr Interest expense 20.00; Cr Wallet 10048.50; Cr Gain 1.50"},
		grows: book.Credit, before: []string{"LOAN: -10000 USDC -10000.00", "LOAN: -30 USD -30.00"}},
	{example: example{name: "repaid but for units worth nothing", kind: posting.Repayment, out: "Wallet: 5 ETH = 10000.00", target: "LOAN",
		holds: []string{"Wallet: 5 ETH 10000.00 2025-08-01"},
		lines: "Dr LOAN 10000.00 (5.000001 ETH); Cr Wallet 10000.00"},
		grows: book.Credit, before: []string{"LOAN: -5.000001 ETH -10000.00"}},
	{example: example{name: "repaid net of the gas", kind: posting.Repayment, out: "Wallet: 10.1 ETH fee 0.1 = 26260.00 fee 260.00",
		target: "LOAN", holds: []string{"Wallet: 10.1 ETH 20200.00 2025-08-01"},
		lines: "Dr LOAN 25000.00 (10 ETH); Dr Network fees 260.00; Cr Wallet 20200.00; Dr Unrealized loss 1000.00; Cr Gain 6060.00"},
		grows: book.Credit, before: []string{"LOAN: -10 ETH -25000.00"}},
	{example: example{name: "repaid what was booked before units", kind: posting.Repayment, out: "Wallet: 10 ETH = 26000.00", target: "LOAN",
		holds: []string{"Wallet: 10 ETH 20000.00 2025-08-01"},
		lines: "Dr LOAN 26000.00; Cr Wallet 20000.00; Cr Gain 6000.00"}, grows: book.Credit},
	{example: example{name: "repaid what has contradictory units", kind: posting.Repayment, out: "Wallet: 10 ETH = 26000.00", target: "LOAN",
		holds: []string{"Wallet: 10 ETH 20000.00 2025-08-01"},
		lines: "Dr LOAN 26000.00 (10 ETH); Cr Wallet 20000.00; Cr Gain 6000.00"}, grows: book.Credit,
		before: []string{"LOAN: -10 ETH 5.00"}},
	{example: example{name: "lent", kind: posting.Borrow, out: "ETH: 1 ETH = 2500.00", target: "LREC",
		lines: "Dr LREC 2500.00 (1 ETH); Cr ETH 1500.00; Cr Gain 1000.00"}, grows: book.Debit},
	{example: example{name: "back at a higher price", kind: posting.Repayment, in: "ETH: 1 ETH = 3000.00", target: "LREC",
		lines: "Cr LREC 2500.00 (1 ETH); Dr ETH 3000.00; Cr Unrealized gain 500.00", lots: "ETH 1 ETH 3000.00 2025-09-15"},
		grows: book.Debit, before: []string{"LREC: 1 ETH 2500.00"}},
	{example: example{name: "back after the revaluation booked it", kind: posting.Repayment, in: "ETH: 1 ETH = 3000.00", target: "LREC",
		lines: "Cr LREC 3000.00 (1 ETH); Dr ETH 3000.00", lots: "ETH 1 ETH 3000.00 2025-09-15"},
		grows: book.Debit, before: []string{"LREC: 1 ETH 3000.00"}},
	{example: example{name: "back with interest in kind", kind: posting.Repayment, in: "ETH: 1.05 ETH = 3150.00", target: "LREC",
		lines: "Cr LREC 2500.00 (1 ETH); Cr Interest income 150.00; Dr ETH 3150.00; Cr Unrealized gain 500.00",
		lots:  "ETH 1.05 ETH 3150.00 2025-09-15"}, grows: book.Debit, before: []string{"LREC: 1 ETH 2500.00"}},
	{example: example{name: "back under a policy that parks now", kind: posting.Repayment, in: "ETH: 1 ETH = 3000.00", target: "LREC",
		policy: posting.Policy{ParkLoans: true},
		lines:  "Cr LREC 2500.00 (1 ETH); Dr ETH 3000.00; Cr Unrealized gain 500.00", lots: "ETH 1 ETH 3000.00 2025-09-15"},
		grows: book.Debit, valued: true, before: []string{"LREC: 1 ETH 2500.00"}},
	{example: example{name: "parked, back with interest in kind", kind: posting.Repayment, in: "ETH: 1.05 ETH = 3150.00", target: "Loan",
		policy: posting.Policy{ParkLoans: true}, holds: []string{"Loan: 1 ETH 2000.00 2025-01-09"},
		lines: "Cr Loan 2000.00 (1 ETH); Cr Interest income 150.00; Dr ETH 2150.00",
		lots:  "ETH 1 ETH 2000.00 2025-01-09; ETH 0.05 ETH 150.00 2025-09-15"}, grows: book.Debit, parked: true},
	{example: example{name: "parked, back under a policy that derecognizes now", kind: posting.Repayment, in: "ETH: 1 ETH = 3000.00",
		target: "Loan", holds: []string{"Loan: 1 ETH 2000.00 2025-01-09"},
		lines: "Cr Loan 2000.00 (1 ETH); Dr ETH 2000.00", lots: "ETH 1 ETH 2000.00 2025-01-09"}, grows: book.Debit, parked: true},
	{example: example{name: "interest after everything parked is back", kind: posting.Repayment, in: "ETH: 0.05 ETH = 150.00", target: "Loan",
		lines: "Cr Interest income 150.00; Dr ETH 150.00", lots: "ETH 0.05 ETH 150.00 2025-09-15"}, grows: book.Debit, parked: true},
	{example: example{name: "interest in kind without a price", kind: posting.Repayment, in: "ETH: 1.05 ETH", target: "Loan",
		holds: []string{"Loan: 1 ETH 2000.00 2025-01-09"}, lines: "Cr Loan 2000.00 (1 ETH); Dr ETH 2000.00",
		lots: "ETH 1 ETH 2000.00 2025-01-09; ETH 0.05 ETH 0.00 2025-09-15 ?"}, grows: book.Debit, parked: true},
	{example: example{name: "more comes out of a reserve than was parked", kind: posting.ReservesChange, in: "ETH: 1.05 ETH = 3150.00",
		target: "Loan", holds: []string{"Loan: 1 ETH 2000.00 2025-01-09"},
		lines: "Cr Loan 2150.00 (1.05 ETH); Dr ETH 2150.00", lots: "ETH 1 ETH 2000.00 2025-01-09; ETH 0.05 ETH 150.00 2025-09-15 ?"},
		grows: book.Debit, parked: true},
	{example: example{name: "more arrives than left", kind: posting.Internal, in: "ETH: 1.05 ETH = 3150.00", target: "Transfer clearing",
		holds: []string{"Transfer clearing: 1 ETH 2000.00 2025-01-09"},
		lines: "Cr Transfer clearing 2150.00 (1.05 ETH); Dr ETH 2150.00",
		lots:  "ETH 1 ETH 2000.00 2025-01-09; ETH 0.05 ETH 150.00 2025-09-15 ?"}, parked: true},
	{example: example{name: "collateral given", kind: posting.ReservesChange, out: "ETH: 1 ETH = 2400.00", target: "Loan",
		lines: "Dr Loan 1500.00 (1 ETH); Cr ETH 1500.00", lots: "Loan 1 ETH 1500.00 2025-01-10"}, grows: book.Debit},
	{example: example{name: "collateral back", kind: posting.ReservesChange, in: "ETH: 1 ETH = 9999.00", target: "Loan",
		holds: []string{"Loan: 1 ETH 1500.00 2025-01-09"},
		lines: "Cr Loan 1500.00 (1 ETH); Dr ETH 1500.00", lots: "ETH 1 ETH 1500.00 2025-01-09"}, grows: book.Debit, parked: true},
	{example: example{name: "borrowed euros repaid", kind: posting.Repayment, out: "Bank EUR: 1000 EUR = 1150.00", target: "LOAN",
		lines: "Dr LOAN 1080.00 (1000 EUR); Cr Bank EUR 1150.00; Dr FX loss 70.00"},
		grows: book.Credit, before: []string{"LOAN: -1000 EUR -1080.00", "LOAN: -10 ETH -25000.00"}},
	{example: example{name: "borrowed dollars repaid", kind: posting.Repayment, out: "Bank: 1000 USD = 1000.00", target: "LOAN",
		lines: "Dr LOAN 1000.00; Cr Bank 1000.00"}, grows: book.Credit, before: []string{"LOAN: -1000 EUR -1080.00"}},
	{example: example{name: "dollars repaid with interest", kind: posting.Repayment, out: "Bank: 1050 USD = 1050.00", target: "LOAN",
		lines: "Dr LOAN 1000.00; Dr Interest expense 50.00; Cr Bank 1050.00"}, grows: book.Credit,
		before: []string{"LOAN: -1000 USD -1000.00", "LOAN: -1000 * -1000.00"}},
	{example: example{name: "dollars back with interest", kind: posting.Repayment, in: "Bank: 1050 USD = 1050.00", target: "LREC",
		lines: "Cr LREC 1000.00; Cr Interest income 50.00; Dr Bank 1050.00"}, grows: book.Debit,
		before: []string{"LREC: 1000 USD 1000.00", "LREC: 1000 * 1000.00"}},
	{example: example{name: "a loan in ETH repaid in dollars", kind: posting.Repayment, out: "Bank: 1050 USD = 1050.00", target: "LOAN",
		lines: "Dr LOAN 1050.00; Cr Bank 1050.00"}, grows: book.Credit,
		before: []string{"LOAN: -10 USD -10.00", "LOAN: -1 ETH -1000.00", "LOAN: -1010 * -1010.00"}},
	{example: example{name: "dollars repaid before amounts counted", kind: posting.Repayment, out: "Bank: 1050 USD = 1050.00", target: "LOAN",
		lines: "Dr LOAN 1050.00; Cr Bank 1050.00"}, grows: book.Credit},
	{example: example{name: "reserve in euros held", kind: posting.ReservesChange, out: "Stripe: 500 EUR = 540.00", target: "Reserve",
		lines: "Dr Reserve 540.00 (500 EUR); Cr Stripe 540.00"}, grows: book.Debit},
	{example: example{name: "reserve in euros released", kind: posting.ReservesChange, in: "Stripe: 200 EUR = 220.00", target: "Reserve",
		lines: "Cr Reserve 216.00 (200 EUR); Dr Stripe 220.00; Cr FX gain 4.00"}, grows: book.Debit,
		before: []string{"Reserve: 500 EUR 540.00"}},
	{example: example{name: "invoice in kind", kind: posting.Invoice, in: "ETH: 2 ETH = 4800.00", target: "AR",
		lines: "Cr AR 5000.00 (2 ETH); Dr ETH 4800.00; Dr Unrealized loss 200.00", lots: "ETH 2 ETH 4800.00 2025-09-15"},
		grows: book.Debit, before: []string{"AR: 2 ETH 5000.00"}},
	{example: example{name: "invoice in kind overpaid", kind: posting.Invoice, in: "ETH: 3 ETH = 7200.00", target: "AR",
		lines: "Cr AR 7400.00 (3 ETH); Dr ETH 7200.00; Dr Unrealized loss 200.00", lots: "ETH 3 ETH 7200.00 2025-09-15"},
		grows: book.Debit, before: []string{"AR: 2 ETH 5000.00"}},
	{example: example{name: "invoice in dollars paid in kind", kind: posting.Invoice, in: "ETH: 2 ETH = 4800.00", target: "AR",
		lines: "Cr AR 4800.00; Dr ETH 4800.00", lots: "ETH 2 ETH 4800.00 2025-09-15"}, grows: book.Debit},
	{example: example{name: "bill in kind", kind: posting.Bill, out: "ETH: 1 ETH = 2400.00", target: "AP",
		lines: "Dr AP 2000.00 (1 ETH); Cr ETH 1500.00; Dr Unrealized loss 400.00; Cr Gain 900.00"},
		grows: book.Credit, before: []string{"AP: -2 ETH -4000.00"}},
	{example: example{name: "deposit of a customer", kind: posting.Deposit, in: "ETH: 1 ETH = 2400.00", target: "Deposits",
		lines: "Cr Deposits 2400.00 (1 ETH); Dr ETH 2400.00", lots: "ETH 1 ETH 2400.00 2025-09-15"}, grows: book.Credit, owed: true},
	{example: example{name: "withdrawn to a loan", kind: posting.Withdrawal, out: "ETH: 1 ETH = 2500.00", target: "LREC",
		lines: "Dr LREC 2500.00 (1 ETH); Cr ETH 1500.00; Cr Gain 1000.00"}, grows: book.Debit, owed: true},
	{example: example{name: "spent on a receivable, net of the gas", kind: posting.Expense,
		out: "ETH: 1 ETH fee 0.1 = 2400.00 fee 240.00", target: "Other receivables",
		lines: "Dr Other receivables 2160.00 (0.9 ETH); Dr Network fees 240.00; Cr ETH 1500.00; Cr Gain 900.00"},
		grows: book.Debit, owed: true},
	{example: example{name: "earned against an obligation", kind: posting.Income, in: "ETH: 1 ETH = 2400.00", target: "Deposits",
		lines: "Cr Deposits 2400.00 (1 ETH); Dr ETH 2400.00", lots: "ETH 1 ETH 2400.00 2025-09-15"}, grows: book.Credit, owed: true},
	{example: example{name: "withdrawn to cash", kind: posting.Withdrawal, out: "ETH: 1 ETH = 2500.00", target: "Cash",
		lines: "Dr Cash 2500.00; Cr ETH 1500.00; Cr Gain 1000.00"}, grows: book.Debit},
	{example: example{name: "lent to an account of cash", kind: posting.Borrow, out: "ETH: 1 ETH = 2500.00", target: "Cash",
		lines: "Dr Cash 2500.00 (1 ETH); Cr ETH 1500.00; Cr Gain 1000.00"}, grows: book.Debit},
	{example: example{name: "refund of what was invoiced in dollars", kind: posting.Refund, out: "ETH: 1 ETH = 2500.00", target: "AR",
		lines: "Dr AR 2500.00; Cr ETH 1500.00; Cr Gain 1000.00"}, grows: book.Debit, owed: true},
	{example: example{name: "purchase on account", kind: posting.Swap, in: "ETH: 1 ETH = 2400.00", target: "AP",
		lines: "Cr AP 2400.00; Dr ETH 2400.00", lots: "ETH 1 ETH 2400.00 2025-09-15"}, grows: book.Credit},
	{example: example{name: "intercompany, basis carried over", kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00",
		in: "B/BETH: 0.9 ETH = 2160.00",
		lines: "Dr DueFromB 1350.00 (0.9 ETH); Dr Network fees 240.00; Cr ETH 1500.00; Cr Gain 90.00; Dr BETH 1350.00; " +
			"Cr DueToA 1350.00 (0.9 ETH)",
		lots: "BETH 0.9 ETH 1350.00 2025-01-10"}},
	{example: example{name: "intercompany at fair value", kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 1 ETH",
		policy: posting.Policy{FairValue: true},
		lines:  "Dr DueFromB 2400.00 (1 ETH); Cr ETH 1500.00; Cr Gain 900.00; Dr BETH 2400.00; Cr DueToA 2400.00 (1 ETH)",
		lots:   "BETH 1 ETH 2400.00 2025-09-15"}},
	{example: example{name: "returned to the legal entity that it came from", kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00",
		in: "B/BETH: 1 ETH",
		lines: "Dr DueToB 1700.00 (1 ETH); Cr ETH 1500.00; Cr Unrealized gain 200.00; Dr BETH 1500.00; Cr DueFromA 1800.00 (1 ETH); " +
			"Dr Unrealized loss 300.00",
		lots: "BETH 1 ETH 1500.00 2025-01-10"}, before: []string{"DueToB: -1 ETH -1700.00", "B/DueFromA: 1 ETH 1800.00"}},
	{example: example{name: "a part returned", kind: posting.Intercompany, out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 1 ETH",
		lines: "Dr DueToB 500.00 (1 ETH); Cr ETH 1500.00; Dr Unrealized loss 1000.00; Dr BETH 1500.00; Cr DueFromA 500.00 (1 ETH); " +
			"Cr Unrealized gain 1000.00",
		lots: "BETH 1 ETH 1500.00 2025-01-10"}, before: []string{"DueToB: -4 ETH -2000.00", "B/DueFromA: 4 ETH 2000.00"}},
	{example: example{name: "more returned than was owed", kind: posting.Intercompany, out: "ETH: 2 ETH = 4800.00", in: "B/BETH: 2 ETH",
		policy: posting.Policy{FairValue: true},
		lines: "Dr DueToB 2000.00 (0.5 ETH); Dr DueFromB 3600.00 (1.5 ETH); Cr ETH 3000.00; Cr Unrealized gain 800.00; Cr Gain 1800.00; " +
			"Dr BETH 4800.00; Cr DueFromA 1200.00 (0.5 ETH); Cr DueToA 3600.00 (1.5 ETH)",
		lots: "BETH 2 ETH 4800.00 2025-09-15"}, before: []string{"DueToB: -0.5 ETH -2000.00", "B/DueFromA: 0.5 ETH 1200.00"}},
	{example: example{name: "what only one of the two has in its books is not returned", kind: posting.Intercompany,
		out: "ETH: 1 ETH = 2400.00", in: "B/BETH: 1 ETH",
		lines: "Dr DueFromB 1500.00 (1 ETH); Cr ETH 1500.00; Dr BETH 1500.00; Cr DueToA 1500.00 (1 ETH)",
		lots:  "BETH 1 ETH 1500.00 2025-01-10"}, before: []string{"DueToB: -1 ETH -1700.00"}},
	{example: example{name: "dollars returned", kind: posting.Intercompany, out: "Bank: 100 USD = 100.00", in: "B/Bank B: 100 USD = 100.00",
		lines: "Dr DueToB 70.00; Dr DueFromB 30.00; Cr Bank 100.00; Dr Bank B 100.00; Cr DueFromA 70.00; Cr DueToA 30.00"},
		before: []string{"DueToB: -70 USD -70.00", "B/DueFromA: 70 USD 70.00"}},
	{example: example{name: "euros returned", kind: posting.Intercompany, out: "Bank EUR: 100 EUR = 108.00", in: "B/Bank B: 100 EUR = 109.00",
		lines: "Dr DueToB 110.00 (100 EUR); Cr Bank EUR 108.00; Cr FX gain 2.00; Dr Bank B 108.00; Cr DueFromA 110.00 (100 EUR); " +
			"Dr FX loss 2.00"},
		before: []string{"DueToB: -200 EUR -220.00", "B/DueFromA: 200 EUR 220.00"}},
	{example: example{name: "euros to another legal entity", kind: posting.Intercompany, out: "Bank EUR: 100 EUR = 108.00",
		in:    "B/Bank B: 100 EUR = 109.00",
		lines: "Dr DueFromB 108.00 (100 EUR); Cr Bank EUR 108.00; Dr Bank B 108.00; Cr DueToA 108.00 (100 EUR)"}},
	{example: example{name: "dollars to another legal entity", kind: posting.Intercompany, out: "Bank: 100 USD = 100.00",
		in:    "B/Bank B: 100 USD = 100.00",
		lines: "Dr DueFromB 100.00; Cr Bank 100.00; Dr Bank B 100.00; Cr DueToA 100.00"}},
	{example: example{name: "a value of exactly nothing is not known", kind: posting.ClaimReward, in: "ETH: 1 ETH = 0.00", target: "Rewards",
		lots: "ETH 1 ETH 0.00 2025-09-15 ?"}},
	{example: example{name: "dust is worth something", kind: posting.ClaimReward, in: "ETH: 0.000001 ETH = 0.0024", target: "Rewards",
		lots: "ETH 0.000001 ETH 0.00 2025-09-15"}},
	{example: example{name: "one's own token has no cost", kind: posting.Minting, in: "Own: 1000 OWN", lots: "Own 1000 OWN 0.00 2025-09-15"}},
	{example: example{name: "a free mint costs its gas", kind: posting.Minting, out: "ETH: 0.005 ETH fee 0.005 = 12.00 fee 12.00",
		in: "NFT: 1 NFTA", lines: "Dr Network fees 12.00; Cr ETH 7.50; Cr Gain 4.50", lots: "NFT 1 NFTA 0.00 2025-09-15"}},
}

// input returns the input of the example, and what is outstanding before it.
func (x settlementExample) input() posting.Input {
	in := x.example.input()
	in.Units, in.Target.Grows, in.Target.OwedInKind, in.Target.Parked, in.Target.Valued = true, x.grows, x.owed, x.parked, x.valued
	in.Target.Lots = len(x.holds) > 0 && x.parked
	for _, text := range x.before {
		account, rest, _ := strings.Cut(text, ": ")
		f, entity := strings.Fields(rest), "A"
		if other, of, is := strings.Cut(account, "/"); is {
			entity, account = other, of
		}
		in.Outstanding = append(in.Outstanding,
			posting.UnitBalance{Entity: entity, Account: account, Unit: strings.Trim(f[1], "*"), Quantity: dec(f[0]), Carrying: dec(f[2])})
	}
	return in
}

// formatUnits formats lines with the units on the target and on intercompany accounts.
func (x settlementExample) formatUnits(e booking) string {
	texts := strings.Split(formatLines(e), "; ")
	for i, l := range e.Lines {
		if (l.Account == x.target || strings.HasPrefix(l.Account, "Due")) && l.Unit != "" {
			texts[i] += " (" + l.Quantity.String() + " " + l.Unit + ")"
		}
	}
	return strings.Join(texts, "; ")
}

func TestBalancesHaveUnitsAndAreSettledByThem(t *testing.T) {
	t.Parallel()
	for _, x := range settlementExamples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := base()
			s.addLots(x.holds...)
			e, err := bookInput(t, s, x.input())
			if err != nil {
				t.Fatal(err)
			}
			if got := x.formatUnits(e); got != x.lines {
				t.Errorf("lines\n  %s\nwant\n  %s", got, x.lines)
			}
			var made []lot
			for _, l := range e.Lots {
				made = append(made, lot{Place: l.Place, asset: l.Asset, quantity: l.Quantity, basis: l.Basis, at: l.AcquiredAt,
					pending: l.BasisPending})
			}
			if got := formatLots(made); got != x.lots {
				t.Errorf("lots\n  %s\nwant\n  %s", got, x.lots)
			}
		})
	}
}

// What is outstanding is known only after the lots of all entries of a batch, so an entry can be settled again with others.
func TestAnEntryIsSettledAgainFromItsValue(t *testing.T) {
	t.Parallel()
	x := settlementExamples[1]
	in := x.input()
	outstanding := in.Outstanding
	in.Outstanding = nil
	plan, err := posting.Prepare(in)
	if err != nil {
		t.Fatal(err)
	}
	s := base()
	s.addLots(x.holds...)
	e, err := plan.Entry(s.answer(plan.LotRequests, func(string) string { return "USD" }))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"A LOAN ETH", "A LOAN USD"} {
		if of := plan.Settlements(e); len(of) != 2 || of[i].Entity+" "+of[i].Account+" "+of[i].Unit != want {
			t.Errorf("it settles %v", of)
		}
	}
	for range 2 {
		settled, err := plan.Settle(e, outstanding)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.formatUnits(booking{Entry: settled}); got != x.lines {
			t.Errorf("lines\n  %s\nwant\n  %s", got, x.lines)
		}
		if e, err = plan.Settle(settled, nil); err != nil || x.formatUnits(booking{Entry: e}) !=
			"Dr LOAN 26000.00; Cr Wallet 20000.00; Cr Gain 6000.00" {
			t.Errorf("with nothing outstanding: %s, %v", formatLines(booking{Entry: e}), err)
		}
	}
}

func TestAnAccountHoldsLotsOrUnitsAtTheirValue(t *testing.T) {
	t.Parallel()
	for _, x := range []settlementExample{
		{example: example{kind: posting.Borrow, out: "ETH: 1 ETH = 2400.00", target: "LREC"}, grows: book.Debit, parked: true},
		{example: example{kind: posting.Invoice, in: "ETH: 1 ETH = 2400.00", target: "LREC"}, grows: book.Debit, parked: true},
		{example: example{kind: posting.ReservesChange, out: "ETH: 1 ETH", target: "LREC"}, grows: book.Debit, valued: true},
		{example: example{kind: posting.ReservesChange, in: "ETH: 1 ETH = 2400.00", target: "LREC"}, grows: book.Debit, valued: true},
		{example: example{kind: posting.Borrow, out: "ETH: 1 ETH", target: "LREC", policy: posting.Policy{ParkLoans: true}},
			grows: book.Debit, valued: true},
	} {
		_, err := posting.Prepare(x.input())
		if r, is := err.(*posting.Refusal); !is || r.Reason != posting.WrongTarget {
			t.Errorf("%s is not refused: %v", x.kind, err)
		}
	}
}

// A payment may name principal and interest. The units are divided like the amounts, and two parts of one balance are settled
// one after the other.
func TestSplitsCarryTheirPartOfTheUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ splits, lines string }{
		{"LOAN 26000.00, Interest 1300.00",
			"Dr LOAN 25000.00 (10 ETH); Dr Interest 1300.00; Cr Wallet 21000.00; Dr Unrealized loss 1000.00; Cr Gain 6300.00"},
		{"LOAN 13000.00, Interest 1300.00, LOAN 13000.00", "Dr LOAN 12500.00 (5 ETH); Dr Interest 1300.00; Dr LOAN 12500.00 (5 ETH); " +
			"Cr Wallet 21000.00; Dr Unrealized loss 1000.00; Cr Gain 6300.00"},
		{"Interest 27300.00, LOAN 0.00", "Dr Interest 27300.00; Cr Wallet 21000.00; Cr Gain 6300.00"},
	} {
		x := settlementExample{example: example{kind: posting.Repayment, out: "Wallet: 10.5 ETH = 27300.00", target: "LOAN"},
			before: []string{"LOAN: -10 ETH -25000.00"}}
		in := x.input()
		in.Target.Account = ""
		for text := range strings.SplitSeq(c.splits, ", ") {
			account, amount, _ := strings.Cut(text, " ")
			part := dec(amount)
			s := posting.Split{Account: account, Amount: &part}
			if account == "LOAN" {
				s.Grows = book.Credit
			}
			in.Target.Splits = append(in.Target.Splits, s)
		}
		s := base()
		s.addLots("Wallet: 10.5 ETH 21000.00 2025-08-01")
		e, err := bookInput(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.formatUnits(e); got != c.lines {
			t.Errorf("lines\n  %s\nwant\n  %s", got, c.lines)
		}
	}
}

// Over a life in which every unit comes back, the account ends at 0.00, whatever the parts are.
func TestABalanceEndsAtNothingInAnyParts(t *testing.T) {
	t.Parallel()
	quantity, carrying := dec("7"), dec("10.00")
	for _, part := range []string{"1", "2", "0.5", "3", "0.5"} {
		in := settlementExample{example: example{kind: posting.Repayment, in: "ETH: " + part + " ETH = 1.23", target: "LREC"},
			grows: book.Debit}.input()
		in.Outstanding = []posting.UnitBalance{{Entity: "A", Account: "LREC", Unit: "ETH", Quantity: quantity, Carrying: carrying}}
		e, err := bookInput(t, &fifoEngine{}, in)
		if err != nil {
			t.Fatal(err)
		}
		quantity, carrying = quantity.Sub(e.Lines[0].Quantity), carrying.Sub(e.Lines[0].Amount)
	}
	if !quantity.IsZero() || !carrying.Equal(money.Decimal{}) {
		t.Errorf("%s units are left at %s", quantity, carrying)
	}
}

func TestARepaymentNeedsWhatIsRepaidToBeOutstanding(t *testing.T) {
	t.Parallel()
	out := example{kind: posting.Repayment, out: "Wallet: 10 ETH = 26000.00", target: "LOAN"}
	in := example{kind: posting.Repayment, in: "ETH: 10 ETH = 26000.00", target: "LREC"}
	dollars := example{kind: posting.Repayment, out: "Bank: 1000 USD = 1000.00", target: "LOAN"}
	const nothing = "10 ETH are repaid, but nothing is outstanding on the account %s at that time; book the loan as BORROW first, or " +
		"choose the account on which it was booked"
	for _, c := range []struct {
		settlementExample
		refused string
	}{
		{settlementExample{example: out, grows: book.Credit}, strings.ReplaceAll(nothing, "%s", "LOAN")},
		{settlementExample{example: out, grows: book.Credit, before: []string{"LOAN: 10 ETH 25000.00", "LOAN: 5 USD 5.00"}},
			strings.ReplaceAll(nothing, "%s", "LOAN")},
		{settlementExample{example: in, grows: book.Debit, before: []string{"LREC: -10 ETH -25000.00"}},
			strings.ReplaceAll(nothing, "%s", "LREC")},
		{settlementExample{example: out, grows: book.Credit, before: []string{"LOAN: -3 ETH -6000.00"}},
			"10 ETH are repaid, but only 3 ETH are outstanding on the account LOAN at that time, and what exceeds that is booked as " +
				"interest; book the rest of the loan as BORROW first, or book the interest by itself"},
		{settlementExample{example: out, grows: book.Credit, before: []string{"LOAN: -5 ETH -6000.00"}}, ""},
		{settlementExample{example: out, grows: book.Credit, before: []string{"LOAN: -500 USD -500.00"}}, ""},
		{settlementExample{example: in, grows: book.Debit, before: []string{"LREC: 10 ETH 20000.00"}}, ""},
		{settlementExample{example: example{kind: posting.Bill, out: "Wallet: 10 ETH = 26000.00", target: "AP"}, grows: book.Credit}, ""},
		{settlementExample{example: dollars, grows: book.Credit},
			"1000.00 USD are repaid, but nothing is outstanding on the account LOAN at that time; book the loan as BORROW first, or " +
				"choose the account on which it was booked"},
		{settlementExample{example: dollars, grows: book.Credit, before: []string{"LOAN: 1000 USD 1000.00", "LOAN: 1000 * 1000.00"}},
			"1000.00 USD are repaid, but nothing is outstanding on the account LOAN at that time; book the loan as BORROW first, or " +
				"choose the account on which it was booked"},
		{settlementExample{example: dollars, grows: book.Credit, before: []string{"LOAN: -499.99 USD -499.99", "LOAN: -499.99 * -499.99"}},
			"1000.00 USD are repaid, but only 499.99 USD are outstanding on the account LOAN at that time, and what exceeds that is booked " +
				"as interest; book the rest of the loan as BORROW first, or book the interest by itself"},
		{settlementExample{example: dollars, grows: book.Credit, before: []string{"LOAN: -500 USD -500.00", "LOAN: -500 * -500.00"}}, ""},
		{settlementExample{example: dollars, grows: book.Credit, before: []string{"LOAN: -1 ETH -900.00", "LOAN: -900 * -900.00"}}, ""},
		{settlementExample{example: dollars}, ""}, // an expense has no balance
	} {
		s := base()
		s.addLots("Wallet: 10 ETH 20000.00 2025-08-01")
		input := c.input()
		plan, err := posting.Prepare(input)
		if err != nil {
			t.Fatal(err)
		}
		e, err := plan.Entry(s.answer(plan.LotRequests, func(string) string { return "USD" }))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := plan.RequireOutstanding(e, input.Outstanding, func(account string) string { return "the account " + account }); err != nil {
			got = err.Error()
		}
		if got != c.refused {
			t.Errorf("%s %s%s with %v:\n  %s\nwant\n  %s", c.kind, c.out, c.in, c.before, got, c.refused)
		}
	}
}
