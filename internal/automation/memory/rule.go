package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/rules/classify"
)

// RuleType says what a rule is for.
type RuleType string

// The types of rules.
const (
	Classification  RuleType = "classification"
	CashApplication RuleType = "cash_application"
)

// What becomes of a payment whose invoice a cash application rule matches.
const (
	RouteToAccount     = "route_to_account"
	RequireHumanReview = "require_human_review"
)

// How the matcher of a cash application rule is held against a line.
const (
	MatchContains = "contains"
	MatchExact    = "exact"
)

// Rule is a rule as one version says it. What belongs to the other type is empty.
type Rule struct {
	ID        string    `json:"-"`
	Version   int64     `json:"-"`
	UpdatedAt time.Time `json:"-"` // when this version was written

	Type RuleType `json:"rule_type"`

	MemoContains     string             `json:"memo_contains"`
	ProviderCategory string             `json:"provider_category"`
	Merchant         string             `json:"merchant"`
	Address          string             `json:"address"`
	AssetType        string             `json:"asset_type"`
	Direction        classify.Direction `json:"direction"`
	TransactionType  string             `json:"transaction_type"`
	PayeeName        string             `json:"payee_name"`
	TagID            string             `json:"tag_id"`
	Priority         int64              `json:"priority"`
	Enabled          bool               `json:"enabled"`

	Name              string `json:"name"`
	Statement         string `json:"statement"`
	Action            string `json:"action"`
	Matcher           string `json:"matcher"`
	MatchMode         string `json:"match_mode"`
	LedgerAccountName string `json:"ledger_account_name"`

	LedgerAccountID string `json:"ledger_account_id"`
}

// ruleNoun is what a rule is called where it is missing.
const ruleNoun = "rule"

// condition is a property of a rule and what it says.
type condition struct {
	name  string
	value any
}

// conditions lists what a rule says, in an order that reads well. What is empty is left out.
func (r Rule) conditions() []condition {
	list := []condition{
		{"rule_type", string(r.Type)}, {"name", r.Name}, {"statement", r.Statement}, {"matcher", r.Matcher}, {"match_mode", r.MatchMode},
		{"memo_contains", r.MemoContains}, {"provider_category", r.ProviderCategory}, {"merchant", r.Merchant}, {"address", r.Address},
		{"asset_type", r.AssetType}, {"direction", string(r.Direction)}, {"action", r.Action}, {"ledger_account_id", r.LedgerAccountID},
		{"ledger_account_name", r.LedgerAccountName}, {"transaction_type", r.TransactionType}, {"payee_name", r.PayeeName}, {"tag_id", r.TagID},
	}
	out := list[:0]
	for _, s := range list {
		if s.value != "" {
			out = append(out, s)
		}
	}
	if r.Type == Classification {
		out = append(out, condition{"priority", r.Priority}, condition{"enabled", r.Enabled})
	}
	return out
}

// text is a rule as its version keeps it: JSON of one property a line, so that a difference shows what was changed.
func (r Rule) text() string {
	var b strings.Builder
	b.WriteString("{")
	for i, s := range r.conditions() {
		if i > 0 {
			b.WriteString(",")
		}
		value, err := json.Marshal(s.value)
		if err != nil {
			panic(fmt.Sprintf("memory: a rule that cannot be written down: %v", err)) // texts, numbers and truth values always can
		}
		fmt.Fprintf(&b, "\n  %q: %s", s.name, value)
	}
	b.WriteString("\n}\n")
	return b.String()
}

// facts is what the audit and events say of a rule.
func (r Rule) facts() map[string]any {
	out := map[string]any{"rule_id": r.ID, "version": versionText(r.Version)}
	for _, s := range r.conditions() {
		out[s.name] = s.value
	}
	return out
}

// Matching is the rule as the matcher takes it.
func (r Rule) Matching() classify.Rule {
	return classify.Rule{
		ID: r.ID, Version: r.Version, Priority: r.Priority,
		MemoContains: r.MemoContains, Category: r.ProviderCategory, Merchant: r.Merchant, Address: r.Address, Asset: r.AssetType,
		Direction:       r.Direction,
		LedgerAccountID: r.LedgerAccountID, TransactionType: r.TransactionType, PayeeName: r.PayeeName, TagID: r.TagID,
	}
}
