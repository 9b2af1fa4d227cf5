package automation_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/automation/template"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func expense(code, name, parent string) client.FirmTemplateAccount {
	a := client.FirmTemplateAccount{Code: code, Name: name, Type: "Expense"}
	if parent != "" {
		a.ParentCode = &parent
	}
	return a
}

// firmAndClient returns a firm and an organization that it works for, with the firm's record of it.
func firmAndClient(t *testing.T, s *apitest.Service) (firm, books *apitest.Tenant, clientID string) {
	t.Helper()
	firm, books = s.Found(t, "firm"), s.Found(t, "client")
	return firm, books, books.Hire(t, firm).ID
}

func newTemplate(t *testing.T, firm *apitest.Tenant, p client.CreateFirmTemplate) client.FirmTemplate {
	t.Helper()
	if p.Name == "" {
		p.Name = "Template"
	}
	made, err := firm.Client.CreateFirmTemplate(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func statuses(a client.AppliedFirmTemplate) (out []string) {
	for _, i := range a.Items {
		out = append(out, i.Field+" "+i.Status)
	}
	return out
}

func wantStatuses(t *testing.T, a client.AppliedFirmTemplate, want ...string) {
	t.Helper()
	if got := statuses(a); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAClientTakesOverAChartOfItsFirm(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		ctx := t.Context()
		firm, books, _ := firmAndClient(t, s)
		group, no := expense("6500", "Nodes", "6000"), false
		group.IsPostable = &no
		made := newTemplate(t, firm, client.CreateFirmTemplate{Kind: "chart", Accounts: []client.FirmTemplateAccount{
			expense("6510", "Node providers", "6500"), // below an account that comes later
			group, expense("6030", "software and Subscriptions", ""),
		}, Tags: []client.FirmTemplateTag{{Kind: "department", Name: " Validators "}}})
		if made.ItemCount != 4 || made.Version != "1" || made.Tags[0].Name != "Validators" {
			t.Errorf("%s", apitest.JSON(t, made))
		}
		var offered []client.FirmTemplate
		for one, err := range books.Client.OfferedTemplates(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			offered = append(offered, one)
		}
		if len(offered) != 1 || offered[0].ID != made.ID || offered[0].Accounts != nil {
			t.Errorf("%s", apitest.JSON(t, offered))
		}
		before := books.AuditCount(t)
		dry, err := books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{DryRun: true})
		if err != nil || books.AuditCount(t) != before || !dry.DryRun || dry.Items[0].ID != nil {
			t.Fatalf("%s %v", apitest.JSON(t, dry), err)
		}
		wantStatuses(t, dry, "accounts[0] created", "accounts[1] created", "accounts[2] unchanged", "tags[0] created")
		done, err := books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{ExpectedVersion: new("1")})
		if err != nil || done.Created != 3 || done.Unchanged != 1 || done.Conflicts != 0 {
			t.Fatalf("%s %v", apitest.JSON(t, done), err)
		}
		wantStatuses(t, done, statuses(dry)...)
		nodes, parent := books.AccountByCode(t, "6510"), books.AccountByCode(t, "6500")
		if nodes.ID != *done.Items[0].ID || *nodes.ParentAccountID != parent.ID || parent.IsPostable ||
			*parent.ParentAccountID != books.AccountByCode(t, "6000").ID {
			t.Errorf("%s %s", apitest.JSON(t, nodes), apitest.JSON(t, parent))
		}
		var applied []client.AuditEntry
		for e, err := range books.Client.AuditLog(ctx, nil) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Action == "firm_template.applied" {
				applied = append(applied, e)
			}
		}
		if len(applied) != 1 || !strings.Contains(string(applied[0].After), nodes.ID) {
			t.Errorf("%s", apitest.JSON(t, applied))
		}
		before = books.AuditCount(t)
		again, err := books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{})
		if err != nil || again.Unchanged != 4 || books.AuditCount(t) != before {
			t.Errorf("%s %v", apitest.JSON(t, again), err)
		}
		if _, err := firm.Client.UpdateFirmTemplate(ctx, made.ID, client.UpdateFirmTemplate{
			Accounts: &[]client.FirmTemplateAccount{expense("6510", "Something else", "")}}); err != nil {
			t.Fatal(err)
		}
		if now := books.AccountByCode(t, "6510"); now.Name != "Node providers" {
			t.Errorf("a change of the template changed the books of the client: %s", apitest.JSON(t, now))
		}
		_, err = books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{ExpectedVersion: new("1")})
		apitest.WantError(t, "a version that is not the present one", err, 409, nil, "version 2")
	})
}

func TestATemplateInConflictCreatesNothingAndNamesEveryConflict(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		ctx := t.Context()
		firm, books, _ := firmAndClient(t, s)
		if _, err := books.Client.ArchiveLedgerAccount(ctx, books.AccountByCode(t, "6070").ID); err != nil {
			t.Fatal(err)
		}
		contra, group := expense("6060", "Marketing", ""), expense("6080", "Rent and office", "")
		contra.NormalBalance, group.IsPostable = new("credit"), new(false)
		made := newTemplate(t, firm, client.CreateFirmTemplate{Kind: "chart", Accounts: []client.FirmTemplateAccount{
			expense("6599", "New", "6000"), expense("6030", "Hosting", ""), expense("6070", "Travel", ""), contra, group,
			{Code: "1010", Name: "Bank accounts", Type: "Liability"}, expense("6700", "Lost", "6999"), expense("6701", "Wrong", "1000"),
		}})
		fields := []string{"accounts[1]", "accounts[2]", "accounts[3]", "accounts[4]", "accounts[5]", "accounts[6]", "accounts[7]"}
		before := books.AuditCount(t)
		_, err := books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{})
		apitest.WantError(t, "conflicts", err, 409, fields, "the code 6030 belongs to the account Software and subscriptions")
		if books.AuditCount(t) != before {
			t.Error("something was written")
		}
		dry, err := books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{DryRun: true})
		if err != nil || dry.Conflicts != 7 || dry.Created != 1 {
			t.Fatalf("%s %v", apitest.JSON(t, dry), err)
		}
		for i, reason := range []string{"", "not to Hosting", "archived", "normal balance is debit", "lines can be posted", "of type Asset",
			"no account with the code 6999", "must be an account of type Expense"} {
			if got := dry.Items[i].Reason; (got == nil) != (reason == "") || got != nil && !strings.Contains(*got, reason) {
				t.Errorf("item %d: %s", i, apitest.JSON(t, dry.Items[i]))
			}
		}
		if books.AuditCount(t) != before {
			t.Error("a dry run wrote something")
		}
	})
}

func TestAClientTakesOverRulesAsItsOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		ctx := t.Context()
		firm, books, _ := firmAndClient(t, s)
		made := newTemplate(t, firm, client.CreateFirmTemplate{Kind: "rules", Rules: []client.FirmTemplateRule{
			{RuleType: "classification", MemoContains: new("Hetzner"), LedgerAccountCode: new("6030"), PayeeName: new("Hetzner Online"),
				Tag: &client.FirmTemplateTag{Kind: "department", Name: "Engineering"}},
			{RuleType: "classification", Merchant: new("AWS"), Splits: []client.FirmTemplateSplit{{LedgerAccountCode: "6030", Percent: "60"},
				{LedgerAccountCode: "5010", Percent: "40"}}, Enabled: new(false)},
			{RuleType: "cash_application", Name: new("Fees"), Statement: new("Fees are income."), Matcher: new("fee"),
				LedgerAccountCode: new("4590")},
		}})
		done, err := books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{})
		if err != nil {
			t.Fatal(err)
		}
		wantStatuses(t, done, "rules[0].tag created", "rules[0] created", "rules[1] created", "rules[2] created")
		rule, err := books.Client.MemoryRule(ctx, *done.Items[1].ID)
		if err != nil || *rule.MemoContains != "hetzner" || *rule.LedgerAccountID != books.AccountByCode(t, "6030").ID ||
			*rule.TagID != *done.Items[0].ID || !*rule.Enabled {
			t.Errorf("%s %v", apitest.JSON(t, rule), err)
		}
		if fees, err := books.Client.MemoryRule(ctx, *done.Items[3].ID); err != nil || *fees.LedgerAccountName != "Other income" {
			t.Errorf("%s %v", apitest.JSON(t, fees), err)
		}
		again, err := books.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{})
		if err != nil || again.Unchanged != 4 || again.Created != 0 {
			t.Errorf("%s %v", apitest.JSON(t, again), err)
		}
		other, err := firm.Client.CreateFirmTemplate(ctx, client.CreateFirmTemplate{Name: "Others", Kind: "rules",
			Rules: []client.FirmTemplateRule{
				{RuleType: "classification", MemoContains: new("HETZNER"), LedgerAccountCode: new("5010")},
				{RuleType: "classification", MemoContains: new("ovh"), LedgerAccountCode: new("9999")},
				{RuleType: "classification", MemoContains: new("group"), LedgerAccountCode: new("6000")},
				{RuleType: "classification", MemoContains: new("fine"), LedgerAccountCode: new("6030")},
			}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = books.Client.ApplyFirmTemplate(ctx, other.ID, client.ApplyFirmTemplate{})
		apitest.WantError(t, "conflicts", err, 409, []string{"rules[0]", "rules[1]", "rules[2]"}, "the rule "+rule.RuleID+" matches the same")
		for r, err := range books.Client.MemoryRules(ctx) {
			if err != nil || r.MemoContains != nil && *r.MemoContains == "fine" {
				t.Errorf("a rule was created although others are in conflict: %v", err)
			}
		}
		for r, err := range firm.Client.MemoryRules(ctx) {
			t.Errorf("the firm has the rule %s: %v", r.RuleID, err)
		}
	})
}

func TestTemplatesEndWithTheAccessOfTheFirm(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		ctx := t.Context()
		firm, books, clientID := firmAndClient(t, s)
		made, stranger := firm.NewTemplate(t), s.Found(t, "stranger")
		missing := func(n *apitest.Tenant) {
			t.Helper()
			for one, err := range n.Client.OfferedTemplates(ctx) {
				t.Errorf("%s %v", apitest.JSON(t, one), err)
			}
			_, err := n.Client.OfferedTemplate(ctx, made.ID)
			apitest.WantError(t, "reading it", err, 404, nil, "not found")
			_, err = n.Client.ApplyFirmTemplate(ctx, made.ID, client.ApplyFirmTemplate{})
			apitest.WantError(t, "applying it", err, 404, nil, "not found")
			_, err = n.Client.FirmTemplate(ctx, made.ID)
			apitest.WantError(t, "reading it as the firm", err, 404, nil, "not found")
		}
		missing(stranger)
		if got, err := books.Client.OfferedTemplate(ctx, made.ID); err != nil || len(got.Accounts) != 1 {
			t.Errorf("%s %v", apitest.JSON(t, got), err)
		}
		offer, err := s.App.Templates.FindOffer(actor.With(ctx, actor.Actor{OrganizationID: books.Organization.ID}), made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := books.Client.EndFirmAccess(ctx, clientID); err != nil {
			t.Fatal(err)
		}
		missing(books)
		who := actor.Actor{OrganizationID: books.Organization.ID, UserID: books.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes}
		if _, err := s.App.Templates.Apply(actor.With(ctx, who), offer, template.ApplyParams{}); err == nil {
			t.Error("a template that was read before the access ended was taken over")
		}
	})
}

func TestWhoMayTakeOverTemplates(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		firm, books, clientID := firmAndClient(t, s)
		chart := firm.NewTemplate(t)
		rules := newTemplate(t, firm, client.CreateFirmTemplate{Kind: "rules", Rules: []client.FirmTemplateRule{
			{RuleType: "classification", MemoContains: new("x"), LedgerAccountCode: new("6030")}}})
		all := []actor.Scope{actor.ScopeAll, actor.ScopeRules}
		apply := func(key string, header http.Header, templateID string) int {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/firm-templates/" + templateID + "/apply", Key: key, Header: header,
				Body: `{"dry_run": true}`}).Status
		}
		for _, c := range []struct {
			who          string
			key          string
			chart, rules int
		}{
			{"the owner", books.Key, 200, 200},
			{"an admin", books.Member(t, actor.Admin, all...), 200, 403},
			{"an owner without the scope for rules", books.Member(t, actor.Owner, actor.ScopeAll), 200, 403},
			{"an accountant", books.Member(t, actor.Accountant, all...), 403, 403},
			{"a viewer", books.Member(t, actor.Viewer, all...), 403, 403},
			{"a limited key", books.Limited(t, books.LegalEntity.ID), 403, 403},
		} {
			if got := apply(c.key, nil, chart.ID); got != c.chart {
				t.Errorf("%s takes over a chart: %d, want %d", c.who, got, c.chart)
			}
			if got := apply(c.key, nil, rules.ID); got != c.rules {
				t.Errorf("%s takes over rules: %d, want %d", c.who, got, c.rules)
			}
		}
		acting := http.Header{"X-Organization-Id": {books.Organization.ID}}
		for _, role := range []actor.FirmRole{actor.Reviewer, actor.Preparer, actor.Partner} {
			if _, err := firm.Client.SetFirmClientRole(t.Context(), clientID, firm.Owner.UserID,
				client.FirmClientRole{Role: string(role)}); err != nil {
				t.Fatal(err)
			}
			want := 403
			if role == actor.Partner {
				want = 200
			}
			for _, id := range []string{chart.ID, rules.ID} {
				if got := apply(firm.Key, acting, id); got != want {
					t.Errorf("a %s takes over a template: %d, want %d", role, got, want)
				}
			}
		}
	})
}

func TestEveryFaultOfATemplateIsNamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		ctx := t.Context()
		firm := s.Found(t, "firm")
		_, err := firm.Client.CreateFirmTemplate(ctx, client.CreateFirmTemplate{Name: "x", Kind: "chart",
			Accounts: []client.FirmTemplateAccount{expense("1", "One", "")}})
		apitest.WantError(t, "an organization that is no firm", err, 409, nil, "PATCH /v1/firm/settings")
		firm.BecomeFirm(t)
		create := func(p client.CreateFirmTemplate) error {
			_, err := firm.Client.CreateFirmTemplate(ctx, p)
			return err
		}
		wrong := expense("2", " ", "3")
		wrong.IsMonetary = new(true)
		apitest.WantError(t, "a chart", create(client.CreateFirmTemplate{Name: " ", Kind: "chart",
			Accounts: []client.FirmTemplateAccount{expense("1", "One", "2"), wrong, expense("3", "Three", "1"), expense("3", "Four", ""),
				{Code: "5", Name: "Five", Type: "Asset", ParentCode: new("1")}, expense(" 6", "Six", "")},
			Tags: []client.FirmTemplateTag{{Kind: "project", Name: "A"}, {Kind: "project", Name: "A "}, {Kind: "project", Name: " "}}}), 400,
			[]string{"name", "accounts[1].name", "accounts[1].is_monetary", "accounts[0].parent_code", "accounts[1].parent_code",
				"accounts[2].parent_code", "accounts[3].code", "accounts[4].parent_code", "accounts[5].code", "tags[1].name", "tags[2].name"}, "")
		apitest.WantError(t, "rules", create(client.CreateFirmTemplate{Name: "x", Kind: "rules", Rules: []client.FirmTemplateRule{
			{RuleType: "classification", MemoContains: new("x"), LedgerAccountCode: new("6030")},
			{RuleType: "classification", MemoContains: new("X"), LedgerAccountCode: new("6040")},
			{RuleType: "classification", LedgerAccountCode: new("6030")},
			{RuleType: "classification", MemoContains: new("y"), Name: new("n")},
			{RuleType: "cash_application", Name: new("n"), Tag: &client.FirmTemplateTag{Kind: "project", Name: "P"}},
			{RuleType: "classification", MemoContains: new("z"), Splits: []client.FirmTemplateSplit{{LedgerAccountCode: "1", Percent: "60"},
				{LedgerAccountCode: "2", Percent: "60"}}},
		}}), 400, []string{"rules[1]", "rules[2].memo_contains", "rules[2].provider_category", "rules[2].merchant", "rules[2].address",
			"rules[2].asset_type", "rules[3].name", "rules[3].ledger_account_code", "rules[4].statement", "rules[4].matcher", "rules[4].tag",
			"rules[4].ledger_account_code", "rules[5].splits"}, "")
		apitest.WantError(t, "rules in a chart", create(client.CreateFirmTemplate{Name: "x", Kind: "chart",
			Rules: []client.FirmTemplateRule{{RuleType: "classification", MemoContains: new("x"), LedgerAccountCode: new("6030")}}}), 400,
			[]string{"rules", "accounts", "tags"}, "")
		apitest.WantError(t, "a chart in rules", create(client.CreateFirmTemplate{Name: "x", Kind: "rules",
			Tags: []client.FirmTemplateTag{{Kind: "project", Name: "A"}}}), 400, []string{"tags", "rules"}, "")
		made := firm.NewTemplate(t)
		_, err = firm.Client.UpdateFirmTemplate(ctx, made.ID, client.UpdateFirmTemplate{Name: new("New"), ExpectedVersion: new("7")})
		apitest.WantError(t, "another version", err, 409, nil, "version 1")
		_, err = firm.Client.UpdateFirmTemplate(ctx, made.ID, client.UpdateFirmTemplate{Accounts: &[]client.FirmTemplateAccount{}})
		apitest.WantError(t, "no accounts any more", err, 400, []string{"accounts", "tags"}, "")
		same, err := firm.Client.UpdateFirmTemplate(ctx, made.ID, client.UpdateFirmTemplate{Name: &made.Name})
		if err != nil || same.Version != "1" {
			t.Errorf("%s %v", apitest.JSON(t, same), err)
		}
		if err := firm.Client.DeleteFirmTemplate(ctx, made.ID); err != nil {
			t.Fatal(err)
		}
		_, err = firm.Client.FirmTemplate(ctx, made.ID)
		apitest.WantError(t, "a deleted template", err, 404, nil, "not found")
	})
}

// Whether there is a template is known to the organization of the firm only, and the text is at fault, too.
func TestFaultsOfTakingOverATemplateAreReportedTogether(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		books, firm := s.Found(t, "books"), s.Found(t, "firm")
		books.Hire(t, firm)
		made := firm.NewTemplate(t)
		answer := books.PostJSON(t, "/v1/firm-templates/"+apitest.UnknownID(made.ID)+"/apply", map[string]any{"typo": 1}, nil)
		for _, field := range []string{"typo", "template_id"} {
			if answer.Status != 400 || !answer.Blames(t, field) {
				t.Errorf("%s is not blamed: %d %s", field, answer.Status, answer.Body)
			}
		}
		answer = books.PostJSON(t, "/v1/firm-templates/"+made.ID+"/apply", map[string]any{"typo": 1}, nil)
		if answer.Status != 400 || !answer.Blames(t, "typo") || answer.Blames(t, "template_id") {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
}

func TestAFirmHasAHundredTemplates(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		firm := s.Found(t, "firm")
		var last client.FirmTemplate
		for range 100 {
			last = firm.NewTemplate(t)
		}
		create := func() error {
			_, err := firm.Client.CreateFirmTemplate(t.Context(), client.CreateFirmTemplate{Name: "x", Kind: "chart",
				Accounts: []client.FirmTemplateAccount{expense("1", "One", "")}})
			return err
		}
		apitest.WantConflict(t, create(), "100 templates", "delete some")
		if err := firm.Client.DeleteFirmTemplate(t.Context(), last.ID); err != nil {
			t.Fatal(err)
		}
		if err := create(); err != nil {
			t.Errorf("after one was deleted: %v", err)
		}
	})
}
