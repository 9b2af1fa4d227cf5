package automation

import (
	"context"

	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/automation/template"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// firmTemplates returns the operations of a firm on its templates, and those of its clients.
func (h handlers) firmTemplates() []wire.Route {
	const own, offered = "/v1/firm/templates", "/v1/firm-templates"
	apply := wire.Post(offered+"/{template_id}/apply", h.applyFirmTemplate, "Take over a template of the accounting firm").
		Describe("Creates the ledger accounts, tags and rules of the template that the organization lacks. They are its own from then on: " +
			"what the firm changes in the template later changes nothing here. If anything conflicts with what the organization has, nothing is " +
			"created, and the answer is 409 and names each item in conflict; a dry run lists them. Applying a template again creates only " +
			"what is new in it. A template with rules needs what writing rules needs: an owner, or a partner of the firm, and the scope " +
			"`write:operational-rules`.").
		WholeOrganization().Privileged().LargeWrite()
	return wire.Tag{Name: "Firm templates", Description: "Charts of accounts and sets of rules that an accounting firm offers to its " +
		"clients, who take over copies. Rules apply only to the organization that has them: nothing is inherited."}.Routes(
		wire.Get(own, h.listFirmTemplates, "List the templates of the firm").WholeOrganization().MembersOnly().
			Describe("In the order of their creation, without their content."),
		wire.Get(own+"/{template_id}", h.getFirmTemplate, "Get a template of the firm").WholeOrganization().MembersOnly(),
		wire.Post(own, h.createFirmTemplate, "Create a template").WholeOrganization().MembersOnly().Privileged().Creates().
			Describe("A template names ledger accounts by code and tags by kind and name, because it belongs to no chart of accounts. The "+
				"organization must be an accounting firm, and can have 100 templates."),
		wire.Patch(own+"/{template_id}", h.updateFirmTemplate, "Update a template").WholeOrganization().MembersOnly().Privileged().
			Describe("Changes nothing at clients that have taken it over: they can apply it again."),
		wire.Delete(own+"/{template_id}", h.deleteFirmTemplate, "Delete a template").WholeOrganization().MembersOnly().Privileged().
			Describe("What clients have taken over stays theirs."),
		wire.Get(offered, h.listOfferedTemplates, "List the templates of the accounting firm that works for the organization").
			Describe("In the order of their creation, without their content. There are none if no firm has access to the organization."),
		wire.Get(offered+"/{template_id}", h.getOfferedTemplate,
			"Get a template of the accounting firm that works for the organization"),
		wire.Prepared(apply, h.prepareFirmTemplate).ReadsAcross(),
	)
}

// templatePath is the parameter of operations on one template.
type templatePath struct {
	ID string `path:"template_id" minLength:"1" maxLength:"64" doc:"Identifier of the template."`
}

func (h handlers) listFirmTemplates(ctx context.Context, in *wire.Paging) (wire.List[FirmTemplateSummary], error) {
	found, err := h.app.Templates.List(ctx, in.Request())
	return wire.ListOf(found, viewFirmTemplateSummary), err
}

func (h handlers) getFirmTemplate(ctx context.Context, in *templatePath) (wire.Data[FirmTemplate], error) {
	t, err := h.app.Templates.Get(ctx, in.ID)
	return wire.DataOf(viewFirmTemplate(t)), err
}

func (h handlers) createFirmTemplate(ctx context.Context, in *struct{ Body CreateFirmTemplate }) (wire.Data[FirmTemplate], error) {
	b := in.Body
	t, err := h.app.Templates.Create(ctx, template.CreateParams{
		Name: b.Name, Description: b.Description.Value, Kind: template.Kind(b.Kind),
		Content: template.Content{Accounts: templateAccounts(b.Accounts), Tags: templateTags(b.Tags), Rules: templateRules(b.Rules)},
	})
	return wire.DataOf(viewFirmTemplate(t)), err
}

func (h handlers) updateFirmTemplate(ctx context.Context, in *struct {
	templatePath
	Body UpdateFirmTemplate
}) (wire.Data[FirmTemplate], error) {
	b := in.Body
	p := template.UpdateParams{Name: b.Name, Description: b.Description.OrZero(), ExpectedVersion: b.ExpectedVersion.OrNil()}
	if b.Accounts != nil {
		p.Accounts = new(templateAccounts(*b.Accounts))
	}
	if b.Tags != nil {
		p.Tags = new(templateTags(*b.Tags))
	}
	if b.Rules != nil {
		p.Rules = new(templateRules(*b.Rules))
	}
	t, err := h.app.Templates.Update(ctx, in.ID, p)
	return wire.DataOf(viewFirmTemplate(t)), err
}

func (h handlers) deleteFirmTemplate(ctx context.Context, in *templatePath) (wire.Data[wire.Deleted], error) {
	return wire.DeletedOf(in.ID), h.app.Templates.Delete(ctx, in.ID)
}

func (h handlers) listOfferedTemplates(ctx context.Context, in *wire.Paging) (wire.List[FirmTemplateSummary], error) {
	found, err := h.app.Templates.Offers(ctx, in.Request())
	return wire.ListOf(found, viewFirmTemplateSummary), err
}

func (h handlers) getOfferedTemplate(ctx context.Context, in *templatePath) (wire.Data[FirmTemplate], error) {
	o, err := h.app.Templates.FindOffer(ctx, in.ID)
	return wire.DataOf(viewFirmTemplate(o.Template)), err
}

// appliesTemplate takes over a template, which is read in the organization of the firm before the database transaction.
type appliesTemplate struct {
	templatePath
	Body  ApplyFirmTemplate
	offer template.Offer
}

// IsDryRun reports whether nothing is to be written.
func (a *appliesTemplate) IsDryRun() bool { return a.Body.DryRun }

func (h handlers) prepareFirmTemplate(ctx context.Context, in *appliesTemplate) (err error) {
	in.offer, err = h.app.Templates.FindOffer(ctx, in.ID)
	return err
}

func (h handlers) applyFirmTemplate(ctx context.Context, in *appliesTemplate) (wire.Data[AppliedFirmTemplate], error) {
	dry := in.Body.DryRun
	done, err := h.app.Templates.Apply(ctx, in.offer, template.ApplyParams{ExpectedVersion: in.Body.ExpectedVersion.OrNil(), Dry: dry})
	out := AppliedFirmTemplate{TemplateID: done.TemplateID, Version: wire.Version(done.Version), DryRun: dry,
		Created: done.Count(template.Created), Unchanged: done.Count(template.Unchanged), Conflicts: done.Count(template.Conflict),
		Items: make([]AppliedFirmTemplateItem, len(done.Items))}
	for i, item := range done.Items {
		out.Items[i] = AppliedFirmTemplateItem{Field: item.Field, Type: string(item.Type), Name: item.Name, Status: string(item.Status),
			Reason: db.OrNull(item.Reason)}
		if !dry || item.Status != template.Created {
			out.Items[i].ID = db.OrNull(item.RecordID)
		}
	}
	return wire.DataOf(out), err
}

func templateAccounts(accounts []CreateFirmTemplateAccount) []template.Account {
	out := make([]template.Account, len(accounts))
	for i, a := range accounts {
		out[i] = template.Account{
			Code: a.Code, Name: a.Name, Type: account.Type(a.Type), NormalBalance: account.Balance(a.NormalBalance.Value),
			ParentCode: a.ParentCode.Value, Group: a.IsPostable.Set && !a.IsPostable.Null && !a.IsPostable.Value,
			Clearing: a.IsClearingAccount.Value, Monetary: a.IsMonetary.OrNil(), AssetType: a.AssetType.Value,
		}
	}
	return out
}

func templateTags(tags []FirmTemplateTag) []template.Tag {
	out := make([]template.Tag, len(tags))
	for i, t := range tags {
		out[i] = template.Tag{Kind: tag.Kind(t.Kind), Name: t.Name}
	}
	return out
}

func templateRules(rules []CreateFirmTemplateRule) []template.Rule {
	out := make([]template.Rule, len(rules))
	for i, r := range rules {
		out[i] = template.Rule{
			Type:              memory.RuleType(r.RuleType),
			MemoContains:      r.MemoContains.OrNil(),
			ProviderCategory:  r.ProviderCategory.OrNil(),
			Merchant:          r.Merchant.OrNil(),
			Address:           r.Address.OrNil(),
			AssetType:         r.AssetType.OrNil(),
			Direction:         r.Direction.OrNil(),
			TransactionType:   r.TransactionType.OrNil(),
			PayeeName:         r.PayeeName.OrNil(),
			Priority:          r.Priority.OrNil(),
			Enabled:           r.Enabled.OrNil(),
			Name:              r.Name.OrNil(),
			Statement:         r.Statement.OrNil(),
			Action:            r.Action.OrNil(),
			Matcher:           r.Matcher.OrNil(),
			MatchMode:         r.MatchMode.OrNil(),
			LedgerAccountCode: r.LedgerAccountCode.OrNil(),
		}
		if t := r.Tag.OrNil(); t != nil {
			out[i].Tag = &template.Tag{Kind: tag.Kind(t.Kind), Name: t.Name}
		}
		for _, s := range r.Splits {
			out[i].Splits = append(out[i].Splits, template.Split(s))
		}
	}
	return out
}

func viewFirmTemplateSummary(t template.Template) FirmTemplateSummary {
	return FirmTemplateSummary{ID: t.ID, Name: t.Name, Description: db.OrNull(t.Description), Kind: string(t.Kind),
		Version: wire.Version(t.Version), ItemCount: t.ItemCount, CreatedAt: wire.Timestamp(t.CreatedAt),
		UpdatedAt: wire.TimestampOrNull(t.UpdatedAt)}
}

func viewFirmTemplate(t template.Template) FirmTemplate {
	out := FirmTemplate{FirmTemplateSummary: viewFirmTemplateSummary(t), Accounts: []FirmTemplateAccount{}, Tags: []FirmTemplateTag{},
		Rules: []FirmTemplateRule{}}
	for _, a := range t.Content.Accounts {
		out.Accounts = append(out.Accounts, FirmTemplateAccount{
			Code: a.Code, Name: a.Name, Type: string(a.Type), NormalBalance: string(a.Balance()), ParentCode: db.OrNull(a.ParentCode),
			IsPostable: !a.Group, IsClearingAccount: a.Clearing, IsMonetary: a.Monetary, AssetType: db.OrNull(a.AssetType),
		})
	}
	for _, one := range t.Content.Tags {
		out.Tags = append(out.Tags, FirmTemplateTag{Kind: string(one.Kind), Name: one.Name})
	}
	for _, r := range t.Content.Rules {
		out.Rules = append(out.Rules, viewFirmTemplateRule(r))
	}
	return out
}

func viewFirmTemplateRule(r template.Rule) FirmTemplateRule {
	out := FirmTemplateRule{
		RuleType:          string(r.Type),
		MemoContains:      r.MemoContains,
		ProviderCategory:  r.ProviderCategory,
		Merchant:          r.Merchant,
		Address:           r.Address,
		AssetType:         r.AssetType,
		Direction:         r.Direction,
		TransactionType:   r.TransactionType,
		PayeeName:         r.PayeeName,
		Priority:          r.Priority,
		Enabled:           r.Enabled,
		Name:              r.Name,
		Statement:         r.Statement,
		Action:            r.Action,
		Matcher:           r.Matcher,
		MatchMode:         r.MatchMode,
		LedgerAccountCode: r.LedgerAccountCode,
	}
	if r.Tag != nil {
		out.Tag.Value = &FirmTemplateTag{Kind: string(r.Tag.Kind), Name: r.Tag.Name}
	}
	for _, s := range r.Splits {
		out.Splits = append(out.Splits, FirmTemplateSplit(s))
	}
	return out
}
