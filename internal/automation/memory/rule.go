package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/rules/classify"
)

// RuleType is the purpose of a rule.
type RuleType string

// The types of rules.
const (
	Classification  RuleType = "classification"
	CashApplication RuleType = "cash_application"
)

// The treatments of a payment whose invoice a cash application rule matches.
const (
	RouteToAccount     = "route_to_account"
	RequireHumanReview = "require_human_review"
)

// The ways in which a cash application rule compares its matcher with a line.
const (
	MatchContains = "contains"
	MatchExact    = "exact"
)

// Rule is one version of a rule. Fields of the other type are empty.
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

	LedgerAccountID string           `json:"ledger_account_id"`
	Splits          []classify.Split `json:"splits"` // instead of LedgerAccountID
}

// ruleNoun names a rule in errors.
const ruleNoun = "rule"

// condition is a property of a rule with its value.
type condition struct {
	name  string
	value any
}

// conditions lists the properties of a rule that are set, in a readable order.
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
	if len(r.Splits) > 0 {
		out = append(out, condition{"splits", r.Splits})
	}
	if r.Type == Classification {
		out = append(out, condition{"priority", r.Priority}, condition{"enabled", r.Enabled})
	}
	return out
}

// text returns the stored form of a rule: JSON with one property per line, so that differences are readable.
func (r Rule) text() string {
	var b strings.Builder
	b.WriteString("{")
	for i, s := range r.conditions() {
		if i > 0 {
			b.WriteString(",")
		}
		value, err := json.Marshal(s.value)
		if err != nil {
			panic(fmt.Sprintf("memory: a rule that cannot be written down: %v", err)) // texts, numbers and booleans can always be encoded
		}
		fmt.Fprintf(&b, "\n  %q: %s", s.name, value)
	}
	b.WriteString("\n}\n")
	return b.String()
}

// facts returns the fields for the audit log and events.
func (r Rule) facts() map[string]any {
	out := map[string]any{"rule_id": r.ID, "version": versionText(r.Version)}
	for _, s := range r.conditions() {
		out[s.name] = s.value
	}
	return out
}

// Matching returns the rule in the form that the matcher uses.
func (r Rule) Matching() classify.Rule {
	return classify.Rule{
		ID: r.ID, Version: r.Version, Priority: r.Priority,
		MemoContains: r.MemoContains, Category: r.ProviderCategory, Merchant: r.Merchant, Address: r.Address, Asset: r.AssetType,
		Direction:       r.Direction,
		LedgerAccountID: r.LedgerAccountID, Splits: r.Splits, TransactionType: r.TransactionType, PayeeName: r.PayeeName, TagID: r.TagID,
	}
}
