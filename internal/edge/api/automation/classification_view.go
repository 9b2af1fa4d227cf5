package automation

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/treasury"
)

// ClassificationRun goes through transactions and lets rules decide what they are.
type ClassificationRun struct {
	ID            string                     `json:"id" doc:"cls_ and 26 characters"`
	Action        string                     `json:"action" enum:"suggest,draft,post" doc:"What becomes of what a rule decides: it is noted on the transaction, drafted or posted"`
	DryRun        bool                       `json:"dry_run" doc:"Its results say what rules decide, and nothing is written elsewhere"`
	Filter        treasury.TransactionFilter `json:"filter" doc:"Which transactions it goes through. Posted ones are left out unless it asks for them"`
	RulesRevision string                     `json:"rules_revision" doc:"The rules are those of this moment, whatever becomes of them later"`
	Status        string                     `json:"status" enum:"pending,running,completed,failed,cancelled" doc:"How far it is"`
	Progress      ClassificationProgress     `json:"progress" doc:"How much of it is done"`
	Counts        ClassificationCounts       `json:"counts" doc:"What it came to so far"`
	Error         *string                    `json:"error" doc:"Why it failed, and what to do; null unless it did"`
	CreatedBy     *string                    `json:"created_by" doc:"The user who asked for it; null for a key of nobody"`
	CreatedAt     string                     `json:"created_at" format:"date-time" doc:"When it was asked for"`
	StartedAt     *string                    `json:"started_at" format:"date-time" doc:"When it began"`
	FinishedAt    *string                    `json:"finished_at" format:"date-time" doc:"When it was completed, failed or was cancelled"`
}

// ClassificationProgress says how much of a run is done.
type ClassificationProgress struct {
	Done    int64 `json:"done" minimum:"0" doc:"Transactions that it came to something about"`
	Total   int64 `json:"total" minimum:"0" doc:"Transactions that its filter found when it was made"`
	Percent int64 `json:"percent" minimum:"0" maximum:"100" doc:"How much that is; 100 only when it is completed"`
}

// ClassificationCounts says what became of transactions.
type ClassificationCounts struct {
	Classified int64 `json:"classified" minimum:"0" doc:"A rule decided, and nothing was booked: it was a dry run, or only to suggest"`
	Drafted    int64 `json:"drafted" minimum:"0" doc:"A rule decided, and there is a draft"`
	Posted     int64 `json:"posted" minimum:"0" doc:"A rule decided, and it is booked"`
	Refused    int64 `json:"refused" minimum:"0" doc:"A rule decided, and it cannot be booked so; the result says why"`
	Suggested  int64 `json:"suggested" minimum:"0" doc:"No rule decided, and what was booked before speaks for something"`
	Unmatched  int64 `json:"unmatched" minimum:"0" doc:"Nothing is known of it"`
	Skipped    int64 `json:"skipped" minimum:"0" doc:"Not for a run: spam, booked already, or of a closed month"`
}

// CreateClassificationRun says what a run goes through and what it does about it.
type CreateClassificationRun struct {
	TransactionIDs []string                    `json:"transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"These transactions"`
	Filter         *treasury.TransactionFilter `json:"filter,omitempty" doc:"Every transaction it finds, except posted ones unless it asks for them"`
	ExpectedCount  *int64                      `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"How many transactions there should be; another number is a conflict"`
	Action         string                      `json:"action" enum:"suggest,draft,post" doc:"What becomes of what a rule decides: it is noted on the transaction, drafted or posted"`
	DryRun         bool                        `json:"dry_run,omitempty" doc:"Only say what rules decide; nothing is written but the results"`
}

// RuleMatch is a rule that matches a transaction, in the version that does.
type RuleMatch struct {
	RuleID  string `json:"rule_id" doc:"The rule"`
	Version string `json:"version" doc:"Its version"`
}

// ClassificationResult is what a run came to about a transaction, and why.
type ClassificationResult struct {
	TransactionID     string  `json:"transaction_id" doc:"The transaction"`
	SequenceNumber    string  `json:"sequence_number" doc:"What people call it"`
	Outcome           string  `json:"outcome" enum:"classified,drafted,posted,refused,suggested,unmatched,skipped" doc:"What became of it"`
	treasury.Decision         // what it is
	RuleVersion       *string `json:"rule_version" doc:"The version of the rule that decided"`
	Specificity       *int64  `json:"specificity" doc:"How narrow the rule is: of those that match, the narrowest decides, then the one with the highest priority"`

	OtherRules      []RuleMatch `json:"other_rules" doc:"Rules that matched too, the best first; at most 20"`
	OtherRulesCount int64       `json:"other_rules_count" minimum:"0" doc:"How many matched too"`
	PayeeName       *string     `json:"payee_name" doc:"The clean name of the payee"`
	TagID           *string     `json:"tag_id" doc:"The tag that it gets"`
	Confidence      *string     `json:"confidence" format:"decimal" doc:"From 0 to 1; a rule is certain" example:"0.93"`
	Reasons         []string    `json:"reasons" doc:"Why, in sentences"`
	Examples        []string    `json:"example_transaction_ids" doc:"Transactions that a suggestion rests on, the latest first"`
	JournalEntryID  *string     `json:"journal_entry_id" doc:"The entry that was made"`
	Message         *string     `json:"message" doc:"Why it was skipped or refused"`
}

// TestMemoryRule says which rule is tried on which days.
type TestMemoryRule struct {
	RuleID    string         `json:"rule_id,omitempty" minLength:"1" maxLength:"128" doc:"A saved rule; with rule, that is tried in its place"`
	Rule      *PutMemoryRule `json:"rule,omitempty" doc:"A classification rule as it would be written; nothing is saved"`
	StartDate string         `json:"start_date,omitempty" minLength:"1" maxLength:"64" doc:"On transactions from here on, inclusive: a time, or a date in UTC"`
	EndDate   string         `json:"end_date,omitempty" minLength:"1" maxLength:"64" doc:"On transactions up to here, inclusive"`
}

// MemoryRuleTest is what a rule would have done.
type MemoryRuleTest struct {
	Examined  int64                    `json:"examined" minimum:"0" doc:"Transactions that were looked at one by one; an index left out the others"`
	Matched   int64                    `json:"matched" minimum:"0" doc:"That the rule matches"`
	Decided   int64                    `json:"decided" minimum:"0" doc:"Of those, the ones it would decide; a narrower rule decides the others"`
	Pending   int64                    `json:"pending" minimum:"0" doc:"Of the decided: not posted yet"`
	Changed   int64                    `json:"changed" minimum:"0" doc:"Of the pending: decided otherwise, or not at all, without the rule"`
	Agreeing  int64                    `json:"posted_agreeing" minimum:"0" doc:"Of the decided: posted as the rule says"`
	Differing int64                    `json:"posted_differing" minimum:"0" doc:"Of the decided: posted otherwise, which no run would touch"`
	Changes   []MemoryRuleTestChange   `json:"changes" doc:"What would change and what was posted otherwise, the earliest first; at most 100"`
	Conflicts []MemoryRuleTestConflict `json:"conflicts" doc:"Other rules that match some of the same transactions, those that match the most first; at most 50"`
	Truncated bool                     `json:"truncated" doc:"There are more transactions than one test looks at: narrow the days"`
}

// MemoryRuleTestChange is a transaction that the rule sees otherwise than the others do, or than it was booked.
type MemoryRuleTestChange struct {
	TransactionID  string            `json:"transaction_id" doc:"The transaction"`
	SequenceNumber string            `json:"sequence_number" doc:"What people call it"`
	Status         string            `json:"status" enum:"pending,posted" doc:"Whether it is posted already"`
	Before         treasury.Decision `json:"before" doc:"What the other rules say, or how it was posted; all null where nothing is known"`
	After          treasury.Decision `json:"after" doc:"What the rule says"`
}

// MemoryRuleTestConflict is another rule that matches some of the same transactions.
type MemoryRuleTestConflict struct {
	RuleMatch
	Matched int64 `json:"matched" minimum:"0" doc:"Transactions that both match"`
	Wins    int64 `json:"wins" minimum:"0" doc:"Of those, the ones in which the tested rule goes before it"`
	Loses   int64 `json:"loses" minimum:"0" doc:"And the ones in which it goes before the tested rule"`
	Differs bool  `json:"differs" doc:"Whether it says another account or type for any of them"`
}

// TransformSchema shows one of the two forms as it may be sent.
func (CreateClassificationRun) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"filter": map[string]any{"start_date": "2026-10-01", "end_date": "2026-10-31"},
		"action": "suggest", "dry_run": true}}
	return s
}
