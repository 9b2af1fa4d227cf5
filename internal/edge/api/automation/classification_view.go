package automation

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/treasury"
)

// ClassificationRun classifies transactions by rules and precedents.
type ClassificationRun struct {
	ID            string                     `json:"id" doc:"Identifier: cls_ and 26 characters."`
	Action        string                     `json:"action" enum:"suggest,draft,post" doc:"What to do where a rule matches. suggest: note it on the transaction. draft: create a draft. post: post an entry."`
	DryRun        bool                       `json:"dry_run" doc:"Whether this is a dry run, which writes nothing but its results."`
	Filter        treasury.TransactionFilter `json:"filter" doc:"Which transactions the run covers. Posted transactions are excluded unless the filter asks for them."`
	RulesRevision string                     `json:"rules_revision" doc:"Revision of the rules that the run uses. Later changes of the rules do not affect the run."`
	Status        string                     `json:"status" enum:"pending,running,completed,failed,cancelled" doc:"Status of the run."`
	Progress      ClassificationProgress     `json:"progress" doc:"Progress of the run."`
	Counts        ClassificationCounts       `json:"counts" doc:"Counts so far, by outcome."`
	Error         *string                    `json:"error" doc:"Why it failed and what to do next; null if it did not fail."`
	treasury.RunTimes
}

// ClassificationProgress is the progress of a run.
type ClassificationProgress struct {
	Done    int64 `json:"done" minimum:"0" doc:"Number of transactions processed."`
	Total   int64 `json:"total" minimum:"0" doc:"Number of transactions that matched the filter when the run was created."`
	Percent int64 `json:"percent" minimum:"0" maximum:"100" doc:"Progress in percent; 100 only when completed."`
}

// ClassificationCounts counts transactions by outcome.
type ClassificationCounts struct {
	Classified int64 `json:"classified" minimum:"0" doc:"A rule matched and nothing was booked, because the run is a dry run or only suggests."`
	Drafted    int64 `json:"drafted" minimum:"0" doc:"A rule matched and a draft was created."`
	Posted     int64 `json:"posted" minimum:"0" doc:"A rule matched and an entry was posted."`
	Refused    int64 `json:"refused" minimum:"0" doc:"A rule matched, but the transaction cannot be booked that way. The result says why."`
	Suggested  int64 `json:"suggested" minimum:"0" doc:"No rule matched; earlier bookings suggest a classification."`
	Unmatched  int64 `json:"unmatched" minimum:"0" doc:"No rule matched and nothing suggests a classification."`
	Skipped    int64 `json:"skipped" minimum:"0" doc:"Not processed: spam, already booked, or dated in a closed period."`
}

// CreateClassificationRun selects transactions and what to do with them.
type CreateClassificationRun struct {
	TransactionIDs []string                    `json:"transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"Identifiers of the transactions."`
	Filter         *treasury.TransactionFilter `json:"filter,omitempty" doc:"Filter for the transactions. Posted transactions are excluded unless the filter asks for them."`
	ExpectedCount  *int64                      `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Expected number of transactions. A different number is a conflict."`
	Action         string                      `json:"action" enum:"suggest,draft,post" doc:"What to do where a rule matches. suggest: note it on the transaction. draft: create a draft. post: post an entry."`
	DryRun         bool                        `json:"dry_run,omitempty" doc:"If true, only return what the rules decide; nothing but the results is written. Defaults to false."`
}

// RuleMatch is a version of a rule that matches a transaction.
type RuleMatch struct {
	RuleID  string `json:"rule_id" doc:"Identifier of the rule."`
	Version string `json:"version" doc:"Version of the rule."`
}

// ClassificationResult is the result of a run for a transaction, with its reasons.
type ClassificationResult struct {
	TransactionID  string `json:"transaction_id" doc:"Identifier of the transaction."`
	SequenceNumber string `json:"sequence_number" doc:"Sequence number for people."`
	Outcome        string `json:"outcome" enum:"classified,drafted,posted,refused,suggested,unmatched,skipped" doc:"Outcome for the transaction."`
	treasury.Decision
	RuleVersion *string `json:"rule_version" doc:"Version of the rule that matched; null if none did."`
	Specificity *int64  `json:"specificity" doc:"How specific the rule is. Of several matching rules the most specific applies, then the one with the highest priority. Null if no rule matched."`

	OtherRules      []RuleMatch `json:"other_rules" doc:"Other rules that matched, best first; at most 20."`
	OtherRulesCount int64       `json:"other_rules_count" minimum:"0" doc:"Number of other rules that matched."`
	PayeeName       *string     `json:"payee_name" doc:"Normalized name of the payee; null if none."`
	TagID           *string     `json:"tag_id" doc:"Tag that the transaction gets; null if none."`
	Confidence      *string     `json:"confidence" format:"decimal" doc:"Confidence from 0 to 1. A rule has confidence 1." example:"0.93"`
	Reasons         []string    `json:"reasons" doc:"Reasons, in sentences."`
	Examples        []string    `json:"example_transaction_ids" doc:"Transactions on which the suggestion is based, latest first."`
	JournalEntryID  *string     `json:"journal_entry_id" doc:"Journal entry that was created; null if none."`
	Message         *string     `json:"message" doc:"Why the transaction was skipped or refused; null otherwise."`
}

// TestMemoryRule selects the rule to test and the range of dates.
type TestMemoryRule struct {
	RuleID    string         `json:"rule_id,omitempty" minLength:"1" maxLength:"128" doc:"Saved rule to test. If rule is given too, that version is tested in its place."`
	Rule      *PutMemoryRule `json:"rule,omitempty" doc:"Classification rule to test. It is not saved."`
	StartDate string         `json:"start_date,omitempty" minLength:"1" maxLength:"64" doc:"Test transactions at or after this time: an RFC 3339 time, or a date in UTC."`
	EndDate   string         `json:"end_date,omitempty" minLength:"1" maxLength:"64" doc:"Test transactions at or before this time: an RFC 3339 time, or a date in UTC."`
}

// MemoryRuleTest is the result of testing a rule.
type MemoryRuleTest struct {
	Examined  int64                    `json:"examined" minimum:"0" doc:"Number of transactions examined one by one. An index excluded the others."`
	Matched   int64                    `json:"matched" minimum:"0" doc:"Number of transactions that the rule matches."`
	Decided   int64                    `json:"decided" minimum:"0" doc:"Of the matched: number that the rule would decide. A more specific rule decides the others."`
	Pending   int64                    `json:"pending" minimum:"0" doc:"Of the decided: number not posted yet."`
	Changed   int64                    `json:"changed" minimum:"0" doc:"Of the pending: number that would be decided differently, or not at all, without the rule."`
	Agreeing  int64                    `json:"posted_agreeing" minimum:"0" doc:"Of the decided: number posted as the rule says."`
	Differing int64                    `json:"posted_differing" minimum:"0" doc:"Of the decided: number posted differently. A run would not change them."`
	Changes   []MemoryRuleTestChange   `json:"changes" doc:"Transactions that would change or were posted differently, earliest first; at most 100."`
	Conflicts []MemoryRuleTestConflict `json:"conflicts" doc:"Other rules that match some of the same transactions, most matches first; at most 50."`
	Truncated bool                     `json:"truncated" doc:"Whether there are more transactions than one test examines. Choose a shorter range of dates."`
}

// MemoryRuleTestChange is a transaction that the rule decides differently.
type MemoryRuleTestChange struct {
	TransactionID  string            `json:"transaction_id" doc:"Identifier of the transaction."`
	SequenceNumber string            `json:"sequence_number" doc:"Sequence number for people."`
	Status         string            `json:"status" enum:"pending,posted" doc:"Whether the transaction is posted already."`
	Before         treasury.Decision `json:"before" doc:"What the other rules decide, or how the transaction was posted. All null if unknown."`
	After          treasury.Decision `json:"after" doc:"What the tested rule decides."`
}

// MemoryRuleTestConflict is another rule that matches some of the same transactions.
type MemoryRuleTestConflict struct {
	RuleMatch
	Matched int64 `json:"matched" minimum:"0" doc:"Number of transactions that both rules match."`
	Wins    int64 `json:"wins" minimum:"0" doc:"Of these: number in which the tested rule applies."`
	Loses   int64 `json:"loses" minimum:"0" doc:"Of these: number in which the other rule applies."`
	Differs bool  `json:"differs" doc:"Whether the two rules decide on different accounts or types for any of them."`
}

// TransformSchema adds an example of one of the two forms.
func (CreateClassificationRun) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"filter": map[string]any{"start_date": "2026-10-01", "end_date": "2026-10-31"},
		"action": "suggest", "dry_run": true}}
	return s
}
