package automation

import (
	"context"
	"encoding/json"

	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

// documentKind and ruleKind are the parameter that distinguishes the two kinds of memory.
type (
	documentKind struct {
		Kind string `query:"kind" enum:"document" default:"document" doc:"Kind of memory. Defaults to document."`
	}
	ruleKind struct {
		Kind string `query:"kind" required:"true" enum:"rule" doc:"Kind of memory: rule."`
	}
)

// memoryPath is the parameter of operations on one file.
type memoryPath struct {
	Path string `query:"path" required:"true" minLength:"1" maxLength:"512" doc:"Relative path of the file, ending in .md, .markdown, .yaml or .yml." example:"knowledge/vendors.md"`
}

// memoryRuleID is the parameter of operations on one rule.
type memoryRuleID struct {
	RuleID string `query:"rule_id" required:"true" minLength:"1" maxLength:"128" doc:"Identifier of the rule: rul_ and 26 characters."`
}

// deletion holds the parameters of a deletion.
type deletion struct {
	ExpectedVersion string `query:"expected_version" required:"true" minLength:"1" maxLength:"20" doc:"Version that you last read. If another version is stored, the answer is 409." example:"1"`
	Rationale       string `query:"rationale" minLength:"1" maxLength:"2000" doc:"Reason; stored with the deletion."`
}

func (h handlers) getMemory(ctx context.Context, in *struct {
	documentKind
	Path   string `query:"path" minLength:"1" maxLength:"512" doc:"Path of a file, or of a folder if it ends in a slash. Omit for all files."`
	Cursor string `query:"cursor" minLength:"1" maxLength:"256" doc:"The next_cursor of the previous page. The path must be the same."`
}) (MemoryFiles, error) {
	found, err := h.app.Memory.List(ctx, in.Path, in.Cursor)
	out := MemoryFiles{
		Success:    true,
		Documents:  make([]MemoryDocument, len(found.Items)),
		Truncated:  found.Truncated,
		NextCursor: db.OrNull(found.NextCursor),
		Missing:    in.Path != "" && in.Cursor == "" && len(found.Items) == 0,
	}
	for i, d := range found.Items {
		out.Documents[i] = MemoryDocument{
			Path:        d.Path,
			Layer:       string(d.Layer),
			Version:     wire.Version(d.Version),
			Content:     d.Content,
			Suppressed:  d.Suppressed,
			Frontmatter: json.RawMessage("null"),
		}
		if d.Frontmatter != "" {
			out.Documents[i].Frontmatter = json.RawMessage(d.Frontmatter)
		}
	}
	return out, err
}

func (h handlers) putMemory(ctx context.Context, in *struct {
	documentKind
	memoryPath
	Body PutMemoryDocument
}) (MemoryDocumentWritten, error) {
	err := h.app.Memory.Put(ctx, memory.PutParams{
		Path:            in.Path,
		Content:         in.Body.Content,
		Rationale:       in.Body.Rationale,
		ExpectedVersion: in.Body.ExpectedVersion.OrNil(),
	})
	return MemoryDocumentWritten{true, in.Path, string(memory.Org), in.Body.Rationale}, err
}

func (h handlers) deleteMemory(ctx context.Context, in *struct {
	documentKind
	memoryPath
	deletion
}) (MemoryDocumentDeleted, error) {
	err := h.app.Memory.Delete(ctx, in.Path, in.ExpectedVersion, in.Rationale)
	return MemoryDocumentDeleted{true, in.Path, true}, err
}

func (h handlers) listMemoryHistory(ctx context.Context, in *struct {
	documentKind
	memoryPath
	wire.Paging
	Version string `query:"version" minLength:"1" maxLength:"20" doc:"Return only this version, with its content."`
}) (wire.List[MemoryVersion], error) {
	return h.history(ctx, memory.HistoryParams{Path: in.Path, Version: in.Version}, in.Request())
}

func (h handlers) listMemoryRuleHistory(ctx context.Context, in *struct {
	ruleKind
	memoryRuleID
	wire.Paging
	Version string `query:"version" minLength:"1" maxLength:"20" doc:"Return only this version, with its content."`
}) (wire.List[MemoryVersion], error) {
	return h.history(ctx, memory.HistoryParams{RuleID: in.RuleID, Version: in.Version}, in.Request())
}

func (h handlers) history(ctx context.Context, p memory.HistoryParams, r page.Request) (wire.List[MemoryVersion], error) {
	past, err := h.app.Memory.History(ctx, p, r)
	return wire.ListOf(past, func(v memory.VersionDiff) MemoryVersion {
		out := MemoryVersion{
			Version:   wire.Version(v.Number),
			CreatedAt: wire.Timestamp(v.CreatedAt),
			UserID:    db.OrNull(v.UserID),
			APIKeyID:  db.OrNull(v.APIKeyID),
			Rationale: db.OrNull(v.Rationale),
			Deleted:   v.Deleted,
			Diff:      v.Diff,
		}
		if p.Version != "" && !v.Deleted {
			out.Content = &v.Content
		}
		return out
	}), err
}

func (h handlers) getMemoryRules(ctx context.Context, in *struct {
	ruleKind
	RuleID string `query:"rule_id" minLength:"1" maxLength:"128" doc:"Return only this rule."`
	Cursor string `query:"cursor" minLength:"1" maxLength:"256" doc:"The next_cursor of the previous page."`
}) (out MemoryRules, err error) {
	out = MemoryRules{Success: true, Rules: []MemoryRule{}}
	if in.RuleID != "" {
		if in.Cursor != "" {
			return out, fault.Invalidf("cursor", "cannot be combined with rule_id, because a single rule is one page")
		}
		r, err := h.app.Memory.GetRule(ctx, in.RuleID)
		out.Rules = append(out.Rules, viewMemoryRule(r))
		return out, err
	}
	rules, err := h.app.Memory.ListRules(ctx, in.Cursor)
	for _, r := range rules.Items {
		out.Rules = append(out.Rules, viewMemoryRule(r))
	}
	out.NextCursor = db.OrNull(rules.NextCursor)
	return out, err
}

func (h handlers) putMemoryRule(ctx context.Context, in *struct {
	ruleKind
	RuleID string `query:"rule_id" minLength:"1" maxLength:"128" doc:"Rule to replace. Omit to create a rule."`
	Body   PutMemoryRule
}) (MemoryRuleWritten, error) {
	b := in.Body
	r, err := h.app.Memory.PutRule(ctx, memory.PutRuleParams{
		RuleID:          in.RuleID,
		ExpectedVersion: b.ExpectedVersion.OrNil(),
		Rationale:       b.Rationale.Value,
		Rule:            b.params(),
	})
	return MemoryRuleWritten{true, r.ID, wire.Version(r.Version), viewMemoryRule(r)}, err
}

func (b PutMemoryRule) params() memory.RuleParams {
	return memory.RuleParams{
		Type:              memory.RuleType(b.RuleType),
		MemoContains:      b.MemoContains.OrNil(),
		ProviderCategory:  b.ProviderCategory.OrNil(),
		Merchant:          b.Merchant.OrNil(),
		Address:           b.Address.OrNil(),
		AssetType:         b.AssetType.OrNil(),
		Direction:         b.Direction.OrNil(),
		TransactionType:   b.TransactionType.OrNil(),
		PayeeName:         b.PayeeName.OrNil(),
		TagID:             b.TagID.OrNil(),
		Priority:          b.Priority.OrNil(),
		Enabled:           b.Enabled.OrNil(),
		Name:              b.Name.OrNil(),
		Statement:         b.Statement.OrNil(),
		Action:            b.Action.OrNil(),
		Matcher:           b.Matcher.OrNil(),
		MatchMode:         b.MatchMode.OrNil(),
		LedgerAccountID:   b.LedgerAccountID.OrNil(),
		LedgerAccountName: b.LedgerAccountName.OrNil(),
		Splits:            ruleSplits(b.Splits),
	}
}

func ruleSplits(splits []RuleSplit) (out []classify.Split) {
	for _, s := range splits {
		out = append(out, classify.Split{LedgerAccountID: s.LedgerAccountID, Percent: s.Percent, Memo: s.Memo})
	}
	return out
}

func (h handlers) deleteMemoryRule(ctx context.Context, in *struct {
	ruleKind
	memoryRuleID
	deletion
}) (MemoryRuleDeleted, error) {
	err := h.app.Memory.DeleteRule(ctx, in.RuleID, in.ExpectedVersion, in.Rationale)
	return MemoryRuleDeleted{true, in.RuleID, true}, err
}

func viewMemoryRule(r memory.Rule) MemoryRule {
	out := MemoryRule{
		RuleID:            r.ID,
		Version:           wire.Version(r.Version),
		RuleType:          string(r.Type),
		MemoContains:      db.OrNull(r.MemoContains),
		ProviderCategory:  db.OrNull(r.ProviderCategory),
		Merchant:          db.OrNull(r.Merchant),
		Address:           db.OrNull(r.Address),
		AssetType:         db.OrNull(r.AssetType),
		Direction:         db.OrNull(string(r.Direction)),
		TransactionType:   db.OrNull(r.TransactionType),
		PayeeName:         db.OrNull(r.PayeeName),
		TagID:             db.OrNull(r.TagID),
		Name:              db.OrNull(r.Name),
		Statement:         db.OrNull(r.Statement),
		Action:            db.OrNull(r.Action),
		Matcher:           db.OrNull(r.Matcher),
		MatchMode:         db.OrNull(r.MatchMode),
		LedgerAccountID:   db.OrNull(r.LedgerAccountID),
		LedgerAccountName: db.OrNull(r.LedgerAccountName),
		UpdatedAt:         wire.Timestamp(r.UpdatedAt),
	}
	for _, s := range r.Splits {
		out.Splits = append(out.Splits, RuleSplit{s.LedgerAccountID, s.Percent, s.Memo})
	}
	if r.Type == memory.Classification {
		out.Priority, out.Enabled = &r.Priority, &r.Enabled
	}
	return out
}
