package interchange_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/notation"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is an organization with its books.
type world struct {
	*apitest.Service
	t     rapid.TB
	ctx   context.Context
	org   string
	codes map[string]string // account ids by code
}

func enter(t rapid.TB, s *apitest.Service, f organization.Created) *world {
	ctx := actor.With(context.Background(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes})
	return &world{Service: s, t: t, ctx: ctx, org: f.Organization.ID, codes: map[string]string{}}
}

// company is a legal entity to create.
type company struct{ name, currency string }

// newWorld creates an organization in a time zone with these legal entities and empty books.
func newWorld(t rapid.TB, s *apitest.Service, zone string, companies ...company) *world {
	t.Helper()
	f, err := s.App.Org.Create(context.Background(), organization.CreateParams{Name: companies[0].name, Email: "a@example.com",
		Currency: companies[0].currency, Timezone: zone})
	if err != nil {
		t.Fatal(err)
	}
	w := enter(t, s, f)
	for _, c := range companies[1:] {
		if _, err := s.App.Entities.Create(w.ctx, entity.CreateParams{Name: c.name, BaseCurrency: c.currency}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// emptyCopy creates an organization with legal entities of the same names and currencies, and empty books.
func (w *world) emptyCopy(t rapid.TB) *world {
	t.Helper()
	o, err := w.App.Org.Get(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	var companies []company
	for _, e := range w.entities() {
		companies = append(companies, company{e.Name, e.BaseCurrency})
	}
	out := newWorld(t, w.Service, o.Timezone, companies...)
	for i, e := range out.entities() {
		if _, err := w.App.Entities.Update(out.ctx, e.ID,
			entity.UpdateParams{FiscalYearStartMonth: &w.entities()[i].FiscalYearStartMonth}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (w *world) read(fn db.Func) {
	w.t.Helper()
	if err := w.App.DB.Read(w.ctx, w.org, fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) entities() (out []entity.LegalEntity) {
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = entity.All(ctx, tx)
		return err
	})
	return out
}

// export returns the exported books.
func (w *world) export(format notation.Format, p interchange.ExportParams) string {
	w.t.Helper()
	var out bytes.Buffer
	n := notation.NewWriter(format, &out)
	if err := w.App.Exchange.Export(w.ctx, p, n); err != nil {
		w.t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		w.t.Fatal(err)
	}
	return out.String()
}

// importText imports a journal.
func (w *world) importText(format notation.Format, text string) interchange.Imported {
	w.t.Helper()
	done, err := w.tryImport(interchange.ImportParams{Format: format}, text)
	if err != nil {
		w.t.Fatal(err)
	}
	return done
}

func (w *world) tryImport(p interchange.ImportParams, text string) (interchange.Imported, error) {
	if p.Format == "" {
		p.Format = notation.Hledger
	}
	p.Name = "books"
	return w.App.Exchange.Import(w.ctx, p, strings.NewReader(text))
}

// run runs another program on a journal, whose path replaces FILE in the arguments, and returns its output.
func run(t rapid.TB, text, name string, args ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bursar-books-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "books")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "FILE" {
			args[i] = path
		}
	}
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil || complaint.Len() > 0 {
		t.Fatalf("%s %v: %v (scripts/setup installs it)\n%.4000s\n%.4000s", name, args, err, complaint.String(), out)
	}
	return string(out)
}

// content is the entire content of an organization's books, as texts that can be compared between organizations.
type content struct {
	entries    []string
	accounts   []string
	rates      []string
	statements []string
}

// content reads everything. Entries are identified by their ids; numbers are omitted, because they are assigned anew.
// If only the entries were transferred, as through another program's output, an account is reduced to its name.
func (w *world) content(entriesOnly bool) (c content) {
	w.t.Helper()
	n := &names{entities: map[string]string{}, tags: map[string]string{}, accounts: map[string]string{}, plain: entriesOnly}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		if err := n.fill(ctx, tx); err != nil {
			return err
		}
		accounts, err := account.All(ctx, tx)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			c.accounts = append(c.accounts, fmt.Sprintf("%s: %s %s postable=%t clearing=%t monetary=%t archived=%t asset=%q role=%q",
				n.accounts[a.ID], a.Type, a.NormalBalance, a.Postable, a.Clearing, a.Monetary,
				a.Archived(), a.AssetType, n.role(a.Role)))
		}
		if err := fx.Each(ctx, tx, func(q fx.Quotation) error {
			c.rates = append(c.rates, fmt.Sprintf("%s %s%s %s %q", q.Date, q.Base, q.Quote, q.Rate, q.Source))
			return nil
		}); err != nil {
			return err
		}
		return journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
			c.entries = append(c.entries, n.entry(e))
			return nil
		})
	})
	slices.Sort(c.entries)
	slices.Sort(c.accounts)
	for _, e := range w.entities() {
		c.statements = append(c.statements, w.statements(n, e)...)
	}
	if entriesOnly {
		c.accounts, c.rates = nil, nil
	}
	return c
}

// names maps ids to names.
type names struct {
	entities, tags, accounts map[string]string
	plain                    bool
}

func (n *names) fill(ctx context.Context, tx *db.Tx) error {
	entities, err := entity.All(ctx, tx)
	if err != nil {
		return err
	}
	for i, e := range entities {
		n.entities[e.ID] = fmt.Sprintf("%s#%d", e.Name, i)
	}
	tags, err := tag.All(ctx, tx)
	if err != nil {
		return err
	}
	for _, t := range tags {
		n.tags[t.ID] = string(t.Kind) + "=" + t.Name
	}
	chart, err := account.All(ctx, tx)
	if err != nil {
		return err
	}
	byID := map[string]account.Account{}
	for _, a := range chart {
		byID[a.ID] = a
	}
	for _, a := range chart {
		path := ""
		for at, there := a, true; there; at, there = byID[at.ParentID] {
			name := at.String()
			if role := n.role(at.Role); n.plain {
				name = at.Name
			} else if role != "" {
				name = at.Code + " as " + role // its name may be another elsewhere
			}
			path = "/" + name + path
		}
		n.accounts[a.ID] = string(a.Type) + path
	}
	return nil
}

func (n *names) role(role string) string {
	for id, name := range n.entities {
		role = strings.ReplaceAll(role, id, name)
	}
	return role
}

func (n *names) entry(e journal.Entry) string {
	origin := e.OriginatedBy
	if origin == journal.ByHand {
		origin = journal.ByImport // which is its origin in the other books
	}
	text := fmt.Sprintf("%s %s %s at %s for %v, %q %s of %s, tags %v, after %q before %q\n", e.ID, e.Status, origin,
		clock.Format(e.AccountingDate), e.IntendedDate, e.Memo, e.Classification,
		n.entities[e.LegalEntityID], n.tagsOf(e.TagIDs), e.PreviousID, e.NextID)
	for _, l := range e.Lines {
		base := "-"
		if l.Base != nil {
			base = l.Base.String()
		}
		text += fmt.Sprintf("  %s %s of %s: %s %s = %s, %q %v\n", l.Side, n.accounts[l.LedgerAccountID], n.entities[l.LegalEntityID],
			l.Amount, l.Currency, base, l.Memo, n.tagsOf(l.TagIDs))
	}
	return text
}

func (n *names) tagsOf(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = n.tags[id]
	}
	return out
}

// statements returns the trial balance, balance sheet and income statement of a legal entity, cell by cell.
func (w *world) statements(n *names, e entity.LegalEntity) (out []string) {
	w.t.Helper()
	p := statements.Params{LegalEntityIDs: []string{e.ID}, OmitZero: true}
	trial, err := w.App.Reports.TrialBalance(w.ctx, p)
	if err != nil {
		w.t.Fatal(err)
	}
	sheet, err := w.App.Reports.BalanceSheet(w.ctx, p)
	if err != nil {
		w.t.Fatal(err)
	}
	income, err := w.App.Reports.IncomeStatement(w.ctx, p)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(trial.Unbalanced)+len(sheet.Unbalanced)+len(sheet.Warnings) > 0 {
		w.t.Errorf("%v %v %v", trial.Unbalanced, sheet.Unbalanced, sheet.Warnings)
	}
	add := func(what, account, period string, figures ...money.Decimal) {
		out = append(out, fmt.Sprint(n.entities[e.ID], " ", what, " ", n.accounts[account], " ", period, " ", figures))
	}
	for i, row := range trial.Rows {
		for c, cell := range row.Cells {
			add("trial balance", trial.Accounts[i].ID, trial.Periods[c].Key, cell.Opening, cell.Debits, cell.Credits, cell.Closing)
		}
	}
	if n.plain { // contra accounts were not transferred
		sheet.Rows, income.Sections = nil, nil
	}
	for i, row := range sheet.Rows {
		for c, cell := range row.Cells {
			add("balance sheet", sheet.Accounts[i].ID, sheet.Periods[c].Key, cell.Opening, cell.Debits, cell.Credits, cell.Closing)
		}
	}
	for s, section := range income.Sections {
		for i, row := range section.Rows {
			for c, amount := range row.Amounts {
				add("income statement", income.Accounts[s][i].ID, income.Periods[c].Key, amount)
			}
		}
	}
	slices.Sort(out)
	return out
}

// same compares two books and reports where they differ.
func same(t rapid.TB, what string, got, want content) {
	t.Helper()
	for part, pair := range map[string][2][]string{
		"entries": {got.entries, want.entries}, "accounts": {got.accounts, want.accounts}, "rates": {got.rates,
			want.rates}, "statements": {got.statements, want.statements},
	} {
		has, wants := map[string]bool{}, map[string]bool{}
		for _, line := range pair[0] {
			has[line] = true
		}
		for _, line := range pair[1] {
			wants[line] = true
		}
		if len(pair[0]) == len(pair[1]) && maps.Equal(has, wants) {
			continue
		}
		const shown = 4
		var more, less []string
		for _, line := range pair[0] {
			if !wants[line] {
				more = append(more, line)
			}
		}
		for _, line := range pair[1] {
			if !has[line] {
				less = append(less, line)
			}
		}
		t.Errorf("%s: of %d %s of %d, %d should not be there:\n%s\nand %d are missing:\n%s", what, len(pair[0]), part, len(pair[1]),
			len(more), strings.Join(more[:min(shown, len(more))], "\n"), len(less), strings.Join(less[:min(shown, len(less))], "\n"))
	}
}

// line parses a short line of an entry: "Dr 1010 10.00" with an optional currency.
func (w *world) line(text string, more ...func(*journal.LineParams)) journal.LineParams {
	w.t.Helper()
	f := strings.Fields(text)
	l := journal.LineParams{Side: book.Credit, LedgerAccountID: w.account(f[1]), Amount: f[2]}
	if f[0] == "Dr" {
		l.Side = book.Debit
	}
	if len(f) > 3 {
		l.Currency = f[3]
	}
	for _, set := range more {
		set(&l)
	}
	return l
}

// account returns the id of an account given by code or id.
func (w *world) account(code string) string {
	w.t.Helper()
	if w.codes[code] == "" {
		w.read(func(ctx context.Context, tx *db.Tx) error {
			accounts, err := account.All(ctx, tx)
			for _, a := range accounts {
				w.codes[a.ID], w.codes[a.Code] = a.ID, a.ID
			}
			return err
		})
	}
	if w.codes[code] == "" {
		w.t.Fatalf("there is no account %s", code)
	}
	return w.codes[code]
}

// post creates an entry, posted unless stated otherwise.
func (w *world) post(p journal.CreateParams) journal.Entry {
	w.t.Helper()
	if p.Status == "" {
		p.Status = journal.Posted
	}
	if p.LegalEntityID == "" {
		p.LegalEntityID = w.entities()[0].ID
	}
	p.OriginatedBy = journal.ByHand
	e, err := w.App.Journal.Create(w.ctx, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return e.Entry
}
