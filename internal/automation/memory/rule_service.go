package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

func (r ruleRow) rule() (Rule, error) {
	out := Rule{}
	if err := json.Unmarshal([]byte(r.Content), &out); err != nil {
		return out, fmt.Errorf("memory: rule %s version %d: %w", r.ID, r.Version, err)
	}
	out.ID, out.Version, out.UpdatedAt = r.ID, r.Version, r.CreatedAt
	return out, nil
}

func rulesOf(rows []ruleRow) ([]Rule, error) {
	out := make([]Rule, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = r.rule(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// FindRule returns the current version of a rule. It is a building block.
func FindRule(ctx context.Context, tx *db.Tx, ruleID string) (Rule, error) {
	r, err := findRule(ctx, tx, ruleID)
	if err != nil {
		return Rule{}, err
	}
	return r.rule()
}

// ClassificationRules returns the classification rules that were enabled at a revision, as of that revision and by id.
// It is a building block.
func ClassificationRules(ctx context.Context, tx *db.Tx, revision int64) ([]classify.Rule, error) {
	rows, err := selectRulesAt(ctx, tx, revision)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(rows)
	out := []classify.Rule{}
	for _, r := range rules {
		if r.Type == Classification && r.Enabled {
			out = append(out, r.Matching())
		}
	}
	return out, err
}

// rulesPerPage is how many rules a page has.
const rulesPerPage = 50

// CashApplicationRules returns the rules for cash applications. It is a building block.
func CashApplicationRules(ctx context.Context, tx *db.Tx) ([]Rule, error) {
	rows, err := selectCashApplicationRules(ctx, tx)
	if err != nil {
		return nil, err
	}
	return rulesOf(rows)
}

// AllRules returns the current version of every rule by id. It is a building block.
func AllRules(ctx context.Context, tx *db.Tx) ([]Rule, error) {
	rows, err := selectAllRules(ctx, tx)
	if err != nil {
		return nil, err
	}
	return rulesOf(rows)
}

// ListRules returns rules in the order of their creation.
func (s *Service) ListRules(ctx context.Context, cursor string) (page.Page[Rule], error) {
	p := page.Request{Limit: rulesPerPage, Cursor: cursor}
	key := func(r Rule) string { return r.ID }
	return page.ListByKey("memory-rules", nil, p, "", key, func(above string, limit int) (out []Rule, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err := selectRulePage(ctx, tx, above, limit)
			if err == nil {
				out, err = rulesOf(rows)
			}
			return err
		})
		return out, err
	})
}

// GetRule returns one rule.
func (s *Service) GetRule(ctx context.Context, ruleID string) (r Rule, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = FindRule(ctx, tx, ruleID)
		return err
	})
	return r, err
}

// PutRuleParams create a rule if there is no id, and otherwise replace the rule with that id, which must be at the
// expected version.
type PutRuleParams struct {
	RuleID          string
	ExpectedVersion *string
	Rationale       string
	Rule            RuleParams
}

func (p PutRuleParams) validate(faults *fault.List) {
	validateRationale(faults, p.Rationale, false)
	switch {
	case p.RuleID != "" && p.ExpectedVersion == nil:
		faults.Addf("expected_version", "is required to replace a rule: it is the version that was last read")
	case p.RuleID == "" && p.ExpectedVersion != nil:
		faults.Addf("expected_version", "must be null or omitted for a new rule: send rule_id to replace an existing one")
	}
}

// validateRationale requires a rationale that is not blank, if it is given or required.
func validateRationale(faults *fault.List, text string, needed bool) {
	if n := utf8.RuneCountInString(text); n > rationaleMax || (needed || n > 0) && strings.TrimSpace(text) == "" {
		faults.Addf("rationale", "must have 1 to %d characters, and not only spaces", rationaleMax)
	}
}

// PutRule creates or replaces a rule. It classifies nothing by itself: later runs apply the rule.
func (s *Service) PutRule(ctx context.Context, p PutRuleParams) (r Rule, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = PutRule(ctx, tx, p)
		return err
	})
	return r, err
}

// PutRule creates or replaces a rule of the organization. It runs in the caller's transaction.
func PutRule(ctx context.Context, tx *db.Tx, p PutRuleParams) (r Rule, err error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return r, err
	}
	t := &textReader{}
	p.validate(&t.faults)
	if r, err = p.Rule.resolve(ctx, tx, t); err != nil {
		return r, err
	}
	change := audit.Change{Action: "rule.updated", ResourceType: ruleNoun}
	before := Rule{ID: tx.NewID(id.Rule)}
	if p.RuleID != "" {
		if before, err = FindRule(ctx, tx, p.RuleID); err != nil {
			return r, err
		}
		if err := before.requireVersion(*p.ExpectedVersion); err != nil {
			return r, err
		}
		change.Before = before.facts()
	}
	r.ID, r.Version, r.UpdatedAt = before.ID, before.Version+1, tx.Now()
	v, err := addVersion(ctx, tx, Version{ItemID: r.ID, Number: r.Version, Content: r.text(), Rationale: p.Rationale})
	if err != nil {
		return r, err
	}
	if err := upsertRule(ctx, tx, r); err != nil {
		return r, err
	}
	change.ResourceID, change.After, change.Object, change.Parts = r.ID, r.facts(), r, []audit.Part{v.part()}
	audit.Record(ctx, tx, change)
	return r, nil
}

// requireVersion returns a conflict if the rule is not at the expected version.
func (r Rule) requireVersion(version string) error {
	if version == versionText(r.Version) {
		return nil
	}
	return fault.Conflictf("the rule is now at version %d: read it again and send that version as expected_version", r.Version)
}

// DeleteRule deletes a rule that is at the expected version. Its versions are kept.
func (s *Service) DeleteRule(ctx context.Context, ruleID, expectedVersion, rationale string) error {
	var faults fault.List
	if validateRationale(&faults, rationale, false); faults.Err() != nil {
		return faults.Err()
	}
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		r, err := FindRule(ctx, tx, ruleID)
		if err != nil {
			return err
		}
		if err := r.requireVersion(expectedVersion); err != nil {
			return err
		}
		v, err := addVersion(ctx, tx, Version{ItemID: r.ID, Number: r.Version + 1, Deleted: true, Rationale: rationale})
		if err != nil {
			return err
		}
		if err := removeRule(ctx, tx, r.ID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "rule.updated", ResourceType: ruleNoun, ResourceID: r.ID, Before: r.facts(),
			Parts: []audit.Part{v.part()}})
		return nil
	})
}
