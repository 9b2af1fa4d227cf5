package treasury

import (
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Decision is a ledger account and a transaction type, with the rule that determines them.
type Decision struct {
	LedgerAccountID *string `json:"ledger_account_id" doc:"Ledger account; null if none."`
	TransactionType *string `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type: what happened economically."`
	RuleID          *string `json:"rule_id" doc:"Rule that matched; null if none."`
}

// Suggestion is what the latest classification run suggests for a transaction that is not booked.
type Suggestion struct {
	Decision
	Splits              []SuggestedSplit `json:"splits,omitempty" doc:"Ledger accounts to divide the amount among, in place of ledger_account_id; omitted if none."`
	RuleVersion         *string          `json:"rule_version" doc:"Version of the rule; null if none."`
	Confidence          string           `json:"confidence" format:"decimal" doc:"Confidence from 0 to 1. A rule has confidence 1." example:"0.93"`
	Reasons             []string         `json:"reasons" doc:"Reasons, in sentences."`
	Examples            []string         `json:"example_transaction_ids" doc:"Transactions on which the suggestion is based, latest first."`
	ClassificationRunID string           `json:"classification_run_id" doc:"Classification run that made the suggestion."`
}

// SuggestedSplit is the share of the amount that a rule books to one of several ledger accounts.
type SuggestedSplit struct {
	LedgerAccountID string `json:"ledger_account_id" doc:"Ledger account."`
	Percent         string `json:"percent" format:"decimal" doc:"Percentage of the amount."`
	Memo            string `json:"memo,omitempty" doc:"Memo of the line; omitted if none."`
}

func DecisionOf(account, kind, rule string) Decision {
	return Decision{db.OrNull(account), db.OrNull(kind), db.OrNull(rule)}
}

// Confidence formats a percentage as a number from 0 to 1.
func Confidence(percent int64) string {
	return money.FromInt(percent).Quo(money.FromInt(100), 2).String()
}

func viewSuggestion(who actor.Actor, stored *transaction.Suggestion, foreign map[string]bool) *Suggestion {
	s := stored.For(who, foreign)
	if s == nil {
		return nil
	}
	var splits []SuggestedSplit
	for _, p := range s.Splits {
		splits = append(splits, SuggestedSplit{p.LedgerAccountID, p.Percent, p.Memo})
	}
	return &Suggestion{
		Splits:              splits,
		Decision:            DecisionOf(s.LedgerAccountID, string(s.Type), s.RuleID),
		RuleVersion:         wire.VersionOrNull(s.RuleVersion),
		Confidence:          Confidence(s.Confidence),
		Reasons:             wire.NonNil(s.Reasons),
		Examples:            wire.NonNil(s.Examples),
		ClassificationRunID: s.RunID,
	}
}
