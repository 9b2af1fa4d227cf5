package template

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// Status says what becomes of an item of a template when it is taken over.
type Status string

// The statuses.
const (
	Created   Status = "created"
	Unchanged Status = "unchanged" // the organization has it already
	Conflict  Status = "conflict"  // the organization has something else in its place, or lacks what it needs
)

// ItemType is the type of record that an item becomes.
type ItemType string

// The types of items.
const (
	LedgerAccountItem ItemType = "ledger_account"
	TagItem           ItemType = "tag"
	RuleItem          ItemType = "rule"
)

// Item is what becomes of an item of a template.
type Item struct {
	Field    string // where it is in the template, such as accounts[3]
	Type     ItemType
	Name     string
	Status   Status
	RecordID string // of the record; empty if there is none
	Reason   string // of a conflict
}

// Applied is what became of a template.
type Applied struct {
	TemplateID string
	Version    int64
	Items      []Item
}

// Count returns how many items have a status.
func (a Applied) Count(s Status) (n int64) {
	for _, i := range a.Items {
		if i.Status == s {
			n++
		}
	}
	return n
}

// needRules is what writing rules needs, and needChart what creating ledger accounts and tags by a template needs.
var (
	needRules = actor.Need{Class: actor.Write, Scope: actor.ScopeRules, Roles: []actor.Role{actor.Owner}, FirmRole: actor.Partner,
		WholeOrganization: true}
	needChart = actor.Need{Class: actor.Privileged, Scope: actor.ScopeAll, WholeOrganization: true}
)

// ApplyParams say how a template is taken over.
type ApplyParams struct {
	ExpectedVersion *string // of the template; nil: whatever it is

	// Dry reports conflicts instead of failing because of them. The caller rolls the database transaction back.
	Dry bool
}

// Apply takes over a template: it creates what the actor's organization lacks, and leaves everything else as it is. If anything conflicts
// with what the organization has, nothing is created. Applying a template again creates nothing.
func (s *Service) Apply(ctx context.Context, o Offer, p ApplyParams) (out Applied, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		a, err := firm.FindActive(ctx, tx)
		if fault.KindOf(err) == fault.NotFound || err == nil && a.FirmOrganizationID != o.firmOrganizationID {
			return fault.Missing(noun) // the access has ended since the template was read
		}
		if err != nil {
			return err
		}
		need := needChart
		if o.Kind == Rules {
			need = needRules
		}
		if err := actor.From(ctx).Authorize(need); err != nil {
			return err
		}
		if err := o.requireVersion(p.ExpectedVersion); err != nil {
			return err
		}
		t, err := newApplication(ctx, tx, o)
		if err != nil {
			return err
		}
		if err := t.applyAll(ctx, tx); err != nil {
			return err
		}
		out = Applied{TemplateID: o.ID, Version: o.Version, Items: t.items}
		if !p.Dry {
			if err := out.conflicts(); err != nil {
				return err
			}
		}
		out.record(ctx, tx, o, a)
		return nil
	})
	return out, err
}

// conflicts returns a Conflict fault that names every item in conflict, or nil.
func (a Applied) conflicts() error {
	var faults fault.List
	for _, i := range a.Items {
		if i.Status == Conflict {
			faults.AddConflictf(i.Field, "%s", i.Reason)
		}
	}
	return faults.Err()
}

// record adds to the audit log where what was created comes from. The created records have audit records of their own.
func (a Applied) record(ctx context.Context, tx *db.Tx, o Offer, from firm.Access) {
	created := []string{}
	for _, i := range a.Items {
		if i.Status == Created {
			created = append(created, i.RecordID)
		}
	}
	if len(created) == 0 {
		return
	}
	audit.Record(ctx, tx, audit.Change{Action: "firm_template.applied", ResourceType: "applied_firm_template", ResourceID: o.ID, NoEvent: true,
		After: map[string]any{"firm_template_id": o.ID, "name": o.Name, "kind": o.Kind, "version": o.Version, "firm_id": from.FirmID,
			"created": created}})
}

// application is a template that is being taken over by an organization.
type application struct {
	offer    Offer
	accounts map[string]account.Account // of the organization by code
	rules    map[matching][]memory.Rule // of the organization
	tags     map[Tag]string             // that rules assign, by id
	items    []Item
}

func newApplication(ctx context.Context, tx *db.Tx, o Offer) (*application, error) {
	t := &application{offer: o, accounts: map[string]account.Account{}, rules: map[matching][]memory.Rule{}, tags: map[Tag]string{}}
	all, err := account.AllUnchecked(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.Code != "" {
			t.accounts[a.Code] = a
		}
	}
	if o.Kind == Rules {
		rules, err := memory.AllRules(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			m := matchingOf(r)
			t.rules[m] = append(t.rules[m], r)
		}
	}
	return t, nil
}

func (t *application) applyAll(ctx context.Context, tx *db.Tx) error {
	content := t.offer.Content
	if err := t.applyAccounts(ctx, tx, content.Accounts); err != nil {
		return err
	}
	for i, wanted := range content.Tags {
		if _, err := t.applyTag(ctx, tx, fmt.Sprintf("tags[%d]", i), wanted); err != nil {
			return err
		}
	}
	for i, r := range content.Rules {
		if err := t.applyRule(ctx, tx, fmt.Sprintf("rules[%d]", i), r); err != nil {
			return err
		}
	}
	return nil
}

// applyAccounts takes over accounts, those above before those below them.
func (t *application) applyAccounts(ctx context.Context, tx *db.Tx, accounts []Account) error {
	at, items := make(map[string]int, len(accounts)), make([]Item, len(accounts))
	for i, a := range accounts {
		at[a.Code] = i
	}
	var apply func(i int) error
	apply = func(i int) error {
		if items[i].Status != "" {
			return nil
		}
		a := accounts[i]
		if above, there := at[a.ParentCode]; there && a.ParentCode != "" {
			if err := apply(above); err != nil {
				return err
			}
		}
		items[i] = Item{Field: fmt.Sprintf("accounts[%d]", i), Type: LedgerAccountItem, Name: a.String()}
		return t.applyAccount(ctx, tx, &items[i], a)
	}
	for i := range accounts {
		if err := apply(i); err != nil {
			return err
		}
	}
	t.items = append(t.items, items...)
	return nil
}

func (t *application) applyAccount(ctx context.Context, tx *db.Tx, item *Item, a Account) error {
	if has, there := t.accounts[a.Code]; there {
		item.RecordID, item.Status = has.ID, Unchanged
		if other := a.difference(has); other != "" {
			item.Status, item.Reason = Conflict, fmt.Sprintf("the code %s belongs to the account %s, %s", a.Code, has.Name, other)
		}
		return nil
	}
	parent, there := t.accounts[a.ParentCode]
	if a.ParentCode != "" && !there {
		item.Status, item.Reason = Conflict, fmt.Sprintf("there is no account with the code %s, below which it belongs", a.ParentCode)
		return nil
	}
	made, err := account.Create(ctx, tx, a.params(parent.ID))
	if err == nil {
		t.accounts[a.Code] = made
	}
	return item.setResult(made.ID, err)
}

// difference says in what an account of the organization differs from that of a template, or nothing if it is the same.
func (a Account) difference(has account.Account) string {
	switch {
	case has.Archived():
		return "which is archived: unarchive it"
	case !strings.EqualFold(strings.TrimSpace(has.Name), strings.TrimSpace(a.Name)):
		return "not to " + a.Name + ": rename one of them, or give yours another code"
	case has.Type != a.Type:
		return fmt.Sprintf("which is of type %s, not %s", has.Type, a.Type)
	case has.NormalBalance != a.Balance():
		return fmt.Sprintf("whose normal balance is %s, not %s", has.NormalBalance, a.Balance())
	case has.Postable == a.Group && a.Group:
		return "to which lines can be posted, whereas that of the template is a group"
	case has.Postable == a.Group:
		return "to which no lines can be posted"
	case has.Clearing != a.Clearing:
		return "which differs in whether it is a clearing account"
	case a.Monetary != nil && has.Monetary != *a.Monetary:
		return "which differs in whether it is monetary"
	case has.AssetType != a.AssetType:
		return fmt.Sprintf("whose asset is %q, not %q", has.AssetType, a.AssetType)
	}
	return ""
}

// applyTag takes over a tag and returns its id.
func (t *application) applyTag(ctx context.Context, tx *db.Tx, field string, wanted Tag) (string, error) {
	item := Item{Field: field, Type: TagItem, Name: wanted.String(), Status: Unchanged}
	has, err := tag.Find(ctx, tx, wanted.Kind, wanted.Name)
	if fault.KindOf(err) == fault.NotFound {
		item.Status = Created
		has, err = tag.Ensure(ctx, tx, wanted.Kind, wanted.Name)
	}
	item.RecordID = has.ID
	t.items = append(t.items, item)
	return has.ID, err
}

func (t *application) applyRule(ctx context.Context, tx *db.Tx, field string, r Rule) error {
	item := Item{Field: field, Type: RuleItem, Name: r.title(), Status: Unchanged}
	var missing []string
	for _, code := range r.codes() {
		if _, there := t.accounts[code]; !there {
			missing = append(missing, code)
		}
	}
	if len(missing) > 0 {
		item.Status, item.Reason = Conflict, fmt.Sprintf("there is no ledger account with the code %s: create it, or take over a chart that "+
			"has it, first", strings.Join(missing, " or "))
		t.items = append(t.items, item)
		return nil
	}
	if r.Tag != nil && t.tags[*r.Tag] == "" {
		id, err := t.applyTag(ctx, tx, field+".tag", *r.Tag)
		if err != nil {
			return err
		}
		t.tags[*r.Tag] = id
	}
	p := r.params(chart{
		account: func(code string) (id, name string) { return t.accounts[code].ID, t.accounts[code].Name },
		tag:     func(wanted Tag) string { return t.tags[wanted] },
	})
	wanted, err := p.Read()
	if err != nil {
		return fmt.Errorf("template: the stored rule %s of %s is not valid: %s", field, t.offer.ID, err.Error())
	}
	if same := t.rules[matchingOf(wanted)]; len(same) > 0 {
		item.RecordID = same[0].ID
		if !sameOutcome(same[0], wanted) {
			item.Status, item.Reason = Conflict, fmt.Sprintf("the rule %s matches the same and does something else: change or delete it",
				same[0].ID)
		}
	} else {
		made, err := memory.PutRule(ctx, tx, memory.PutRuleParams{Rule: p, Rationale: t.offer.rationale()})
		if err := item.setResult(made.ID, err); err != nil {
			return err
		}
	}
	t.items = append(t.items, item)
	return nil
}

// title names the rule in a report.
func (r Rule) title() string {
	for _, text := range []*string{r.Name, r.MemoContains, r.Merchant, r.ProviderCategory, r.Address, r.AssetType} {
		if text != nil {
			return *text
		}
	}
	return string(r.Type)
}

// rationale says where a rule comes from.
func (o Offer) rationale() string {
	return fmt.Sprintf("From the template %q of %s (%s, version %d)", o.Name, o.firmName, o.ID, o.Version)
}

// setResult says what became of an item that was to be created. It returns errors that do not concern the item.
func (i *Item) setResult(recordID string, err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		i.Status, i.RecordID = Created, recordID
		return nil
	case !errors.As(err, &f) || f.Kind != fault.Invalid && f.Kind != fault.NotFound && f.Kind != fault.Conflict:
		return err
	}
	i.Status, i.Reason = Conflict, f.Message
	if len(f.Fields) > 0 {
		var reasons []string
		for _, one := range f.Fields {
			reasons = append(reasons, one.Name+": "+one.Message)
		}
		i.Reason = strings.Join(reasons, "; ")
	}
	return nil
}
