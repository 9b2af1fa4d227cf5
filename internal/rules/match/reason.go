package match

import (
	"fmt"
	"strings"
)

// Reason says why, as a code for programs and a sentence for people.
type Reason struct {
	Code Code
	Text string
}

// Code is the code of a reason.
type Code string

// Reasons for a suggestion, besides those for its customer, whose codes are the kinds of evidence (Basis).
const (
	NumbersInMemo      Code = "numbers_in_memo"
	AmountEqual        Code = "amount_equal"
	AmountNear         Code = "amount_within_tolerance"
	WholeBalance       Code = "whole_balance"
	OldestInvoices     Code = "oldest_invoices"
	ConsecutiveRun     Code = "consecutive_invoices"
	BalanceLessFew     Code = "balance_less_few"
	SumOfInvoices      Code = "sum_of_invoices"
	PartOfInvoice      Code = "part_of_invoice"
	MoreThanDue        Code = "more_than_due"
	OneOfSeveral       Code = "one_of_several"
	FeeIncluded        Code = "fee_included"
	CustomerUnknown    Code = "customer_unknown"
	customerCodePrefix      = "customer_by_"
)

// Doubts: reasons against applying a suggestion without a person.
const (
	LowConfidence     Code = "low_confidence"
	HasDifference     Code = "has_difference"
	NotUnique         Code = "not_unique"
	PayerLearned      Code = "payer_learned"
	SearchIncomplete  Code = "search_incomplete"
	NameDiffers       Code = "name_differs"
	EvidenceConflicts Code = "evidence_conflicts"
	SeveralCustomers  Code = "several_customers"
	NumberUnconfirmed Code = "number_unconfirmed"
	NumberLeftOut     Code = "number_left_out"
)

// Notes, which are doubts about every suggestion too.
const (
	NumberUnknown   Code = "number_unknown"
	NumberClosed    Code = "number_closed"
	NumberAmbiguous Code = "number_ambiguous"
	SecondPayment   Code = "second_payment"
	PayerAmbiguous  Code = "payer_ambiguous"
)

// Reasons why an invoice is no candidate.
const (
	NotOpen       Code = "not_open"
	NothingDue    Code = "nothing_due"
	IsReserved    Code = "reserved"
	OtherCurrency Code = "other_currency"
	OtherEntity   Code = "other_legal_entity"
	IssuedLater   Code = "issued_later"
)

func because(code Code, format string, args ...any) Reason {
	return Reason{code, fmt.Sprintf(format, args...)}
}

// enumerate joins names for a sentence, and counts those beyond the first few.
func enumerate(names []string) string {
	const shown = 5
	if rest := len(names) - shown; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), rest)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// excerpt shortens a text of the payer for a sentence.
func excerpt(text string) string {
	const shown = 60
	if runes := []rune(strings.ToValidUTF8(text, "")); len(runes) > shown {
		return string(runes[:shown]) + "…"
	}
	return strings.ToValidUTF8(text, "")
}
