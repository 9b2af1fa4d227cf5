package app_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

const (
	lives     = "3" // on each engine, in every run
	soakLives = "300"
	steps     = "50" // of a life, about
)

func TestMain(m *testing.M) {
	count := lives
	if os.Getenv("BURSAR_SOAK") == "1" {
		count = soakLives
	}
	for name, value := range map[string]string{"rapid.checks": count, "rapid.steps": steps, "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// life is an organization lived at random, beside the model of it.
type life struct {
	*rapid.T
	app      *app.App
	ctx      context.Context
	now      *clock.Manual
	org      string
	entities []string
	accounts []string
	tags     []string
	model    *model
}

func TestSoakBooksLivedAtRandomAgreeWithTheModelAndVerifyAtEveryStep(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		a := app.New(dbtest.Open(t, c), nil)
		rapid.Check(t, func(r *rapid.T) {
			l := begin(r, t.Context(), a, now)
			r.Repeat(map[string]func(*rapid.T){
				"":          func(r *rapid.T) { l.on(r).agree() },
				"create":    func(r *rapid.T) { l.on(r).create(1, false) },
				"create 2":  func(r *rapid.T) { l.on(r).create(1, false) },
				"batch":     func(r *rapid.T) { l.on(r).create(4, false) },
				"dry run":   func(r *rapid.T) { l.on(r).create(2, true) },
				"edit":      func(r *rapid.T) { l.on(r).edit() },
				"delete":    func(r *rapid.T) { l.on(r).remove() },
				"post":      func(r *rapid.T) { l.on(r).post() },
				"unpost":    func(r *rapid.T) { l.on(r).unpost() },
				"reverse":   func(r *rapid.T) { l.on(r).reverse() },
				"correct":   func(r *rapid.T) { l.on(r).correct() },
				"close":     func(r *rapid.T) { l.on(r).close() },
				"reopen":    func(r *rapid.T) { l.on(r).reopen() },
				"zone":      func(r *rapid.T) { l.on(r).zone() },
				"archive":   func(r *rapid.T) { l.on(r).archive() },
				"unarchive": func(r *rapid.T) { l.on(r).unarchive() },
				"rate":      func(r *rapid.T) { l.on(r).rate() },
				"wait":      func(r *rapid.T) { now.Advance(time.Duration(rapid.IntRange(1, 240).Draw(r, "hours")) * time.Hour) },
			})
		})
	})
}

// begin founds an organization with two legal entities, some accounts and tags.
func begin(r *rapid.T, ctx context.Context, a *app.App, now *clock.Manual) *life {
	f, err := a.Org.Create(ctx, organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		r.Fatal(err)
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes})
	l := &life{T: r, app: a, ctx: ctx, now: now, org: f.Organization.ID, entities: []string{f.LegalEntity.ID}}
	de, err := a.Entities.Create(ctx, entity.CreateParams{Name: "DE", BaseCurrency: "EUR"})
	if err != nil {
		r.Fatal(err)
	}
	l.entities = append(l.entities, de.ID)
	for i := range 4 {
		made, err := a.Accounts.Create(ctx, account.CreateParams{Name: fmt.Sprint("Account ", i), Type: account.Asset})
		if err != nil {
			r.Fatal(err)
		}
		l.accounts = append(l.accounts, made.ID)
	}
	for i := range 2 {
		made, err := a.Tags.Create(ctx, tag.Project, fmt.Sprint("Tag ", i))
		if err != nil {
			r.Fatal(err)
		}
		l.tags = append(l.tags, made.ID)
	}
	l.model = &model{
		zone: time.UTC, now: now.Now, currencies: []string{"USD", "EUR"}, closed: make([][]string, 2), archived: make([]bool,
			len(l.accounts)), rates: map[string]int64{},
	}
	l.quote()
	for range 10 { // rapid gives up on a life that begins with deeds it has nothing for
		l.create(1, false)
	}
	return l
}

// quote stores rates of most days.
func (l *life) quote() {
	var all []fx.PutParams
	for day := -180; day < 60; day++ {
		if day%8 == 0 {
			continue
		}
		date, rate := l.now.Now().AddDate(0, 0, day).Format(time.DateOnly), int64(7000+(day+180)*37%9000)
		for i, base := range l.model.currencies {
			quote := l.model.currencies[1-i]
			all = append(all, fx.PutParams{Base: base, Quote: quote, Date: date, Rate: tenThousandths(rate + int64(i))})
			l.model.rates[base+quote+date] = rate + int64(i)
		}
	}
	if _, err := l.app.FX.Put(l.ctx, all); err != nil {
		l.Fatal(err)
	}
}

func tenThousandths(n int64) string { return money.FromInt(n).Quo(money.FromInt(10_000), 4).String() }

// someAccount is most often one of those that are not archived.
func (l *life) someAccount() int {
	return rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3}).Draw(l.T, "account")
}

// on goes on with another draw of rapid's.
func (l *life) on(r *rapid.T) *life {
	l.T = r
	return l
}

// same compares an outcome with what the model says.
func (l *life) same(what string, err error, want fault.Kind) bool {
	l.Helper()
	if err == nil != (want == fine) || err != nil && fault.KindOf(err) != want {
		l.Fatalf("%s: %v, the model says %v", what, err, want)
	}
	return err == nil
}

// someDate is within four months before now and one after, often at the edge of a month.
func (l *life) someDate() time.Time {
	hours := rapid.IntRange(-4*31*24, 24*20).Draw(l.T, "hours from now")
	at := clock.Stamp(l.now.Now().Add(time.Duration(hours) * time.Hour))
	if rapid.Bool().Draw(l.T, "at an edge") {
		at = time.Date(at.Year(), at.Month(), 1, rapid.IntRange(-13, 13).Draw(l.T, "hour"), 0, 0, 0, time.UTC)
	}
	return at
}

func (l *life) someTags() (out []int) {
	for i := range l.tags {
		if rapid.IntRange(0, 3).Draw(l.T, "tag") == 0 {
			out = append(out, i)
		}
	}
	return out
}

// someLines are balanced ones of one to three legal entities and currencies, unless they are meant to be faulty.
func (l *life) someLines() (out []modelLine) {
	for range rapid.IntRange(1, 3).Draw(l.T, "groups") {
		line := modelLine{entity: rapid.SampledFrom([]int{0, 0, 1}).Draw(l.T, "entity"), debit: rapid.Bool().Draw(l.T, "debit")}
		line.currency = l.model.currencies[line.entity]
		if rapid.IntRange(0, 4).Draw(l.T, "foreign") == 0 {
			line.currency = l.model.currencies[1-line.entity]
		}
		sum := int64(0)
		for range rapid.IntRange(1, 3).Draw(l.T, "parts") {
			part := line
			part.account, part.cents, part.tags = l.someAccount(), rapid.Int64Range(1, 99_999).Draw(l.T, "cents"), l.someTags()
			out, sum = append(out, part), sum+part.cents
		}
		line.debit, line.cents, line.account = !line.debit, sum, l.someAccount()
		out = append(out, line)
	}
	switch rapid.IntRange(0, 49).Draw(l.T, "flaw") {
	case 0:
		out[0].cents++
	case 1:
		out[0].account = -1
	}
	return out
}

func (l *life) someEntry() *modelEntry {
	e := &modelEntry{status: "draft", origin: "manual", date: l.someDate(), tags: l.someTags(), lines: l.someLines()}
	e.entity = e.lines[0].entity
	return e
}

// some picks an entry that is there, if one is.
func (l *life) some(prefer func(*modelEntry) bool) (*modelEntry, int) {
	var fit, rest []int
	for i, e := range l.model.entries {
		if e.status == "deleted" {
			continue
		}
		if rest = append(rest, i); prefer(e) {
			fit = append(fit, i)
		}
	}
	if len(fit) > 0 && rapid.IntRange(0, 5).Draw(l.T, "fitting") > 0 {
		rest = fit
	}
	if len(rest) == 0 {
		l.Skip("no entries")
	}
	i := rapid.SampledFrom(rest).Draw(l.T, "entry")
	return l.model.entries[i], i + 1
}

func (l *life) tagIDs(tags []int) []string {
	out := []string{}
	for _, i := range tags {
		out = append(out, l.tags[i])
	}
	return out
}

func cents(n int64) string {
	return money.FromInt(n).Quo(money.FromInt(100), 2).String()
}

func (l *life) lineParams(lines []modelLine) (out []journal.LineParams) {
	for _, line := range lines {
		p := journal.LineParams{LedgerAccountID: "lac_unknown", Side: book.Credit, Amount: cents(line.cents), Currency: line.currency,
			LegalEntityID: l.entities[line.entity], TagIDs: l.tagIDs(line.tags)}
		if line.account >= 0 {
			p.LedgerAccountID = l.accounts[line.account]
		}
		if line.debit {
			p.Side = book.Debit
		}
		out = append(out, p)
	}
	return out
}

// state is an entry in words that both sides speak.
func (e *modelEntry) state(l *life, number int) string {
	text := fmt.Sprint(number, " ", e.status, " ", e.origin, " ", e.date.UTC().Format(time.RFC3339), " ", l.entities[e.entity], " ",
		l.tagIDs(e.tags), " ", e.prev, " ", e.next)
	if e.status == "posted" {
		text += " in " + e.month
	}
	if e.intended != nil {
		text += " for " + e.intended.UTC().Format(time.RFC3339)
	}
	for _, line := range e.lines {
		text += fmt.Sprint("\n  ", line.debit, " ", l.accounts[line.account], " ", l.entities[line.entity], " ", cents(line.cents), " ",
			line.currency, " ", l.tagIDs(line.tags))
		if e.status == "posted" {
			text += " = " + cents(line.base)
		}
	}
	return text
}

// agree compares the books with the model, and lets them verify themselves.
func (l *life) agree() {
	var got []string
	totals := map[string]string{}
	err := l.app.DB.Read(l.ctx, l.org, func(ctx context.Context, tx *db.Tx) error {
		months, numbers := map[string]string{}, map[string]int64{"": 0}
		all, err := period.All(ctx, tx)
		if err != nil {
			return err
		}
		for _, p := range all {
			months[p.ID] = p.Key
		}
		var entries []journal.Entry
		if err := journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
			entries, numbers[e.ID] = append(entries, e), e.Number
			return nil
		}); err != nil {
			return err
		}
		for _, e := range entries {
			got = append(got, stateOf(e, months, numbers))
		}
		totals, err = storedTotals(ctx, tx)
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
	var want []string
	for i, e := range l.model.entries {
		if e.status != "deleted" {
			want = append(want, e.state(l, i+1))
		}
	}
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				l.Fatalf("entry %d of %d and %d:\n%s\nthe model says\n%s", i, len(got), len(want),
					slices.Concat(got, []string{"none"})[min(i, len(got))], slices.Concat(want, []string{"none"})[min(i, len(want))])
			}
		}
	}
	sums := map[string]string{}
	for k, total := range l.model.totals() {
		name := "all"
		if k.tag >= 0 {
			name = l.tags[k.tag]
		}
		if total == ([2]int64{}) { // of amounts so small that nothing is left when they are translated
			continue
		}
		sums[fmt.Sprint(name, " ", l.entities[k.entity], " ", l.accounts[k.account], " ", k.month)] = cents(total[0]) + " " + cents(total[1])
	}
	if !maps.Equal(totals, sums) {
		l.Fatalf("the totals are\n%v\nthe model says\n%v", totals, sums)
	}
	findings, err := l.app.VerifyOne(l.ctx, l.org)
	if err != nil || len(findings) > 0 {
		l.Fatalf("verify: %v %v", findings, err)
	}
}

func stateOf(e journal.Entry, months map[string]string, numbers map[string]int64) string {
	text := fmt.Sprint(e.Number, " ", e.Status, " ", e.OriginatedBy, " ", e.AccountingDate.Format(time.RFC3339), " ", e.LegalEntityID,
		" ", e.TagIDs, " ", numbers[e.PreviousID], " ", numbers[e.NextID])
	if e.Status == journal.Posted {
		text += " in " + months[e.PeriodID]
	}
	if e.IntendedDate != nil {
		text += " for " + e.IntendedDate.Format(time.RFC3339)
	}
	for _, line := range e.Lines {
		text += fmt.Sprint("\n  ", line.Side == book.Debit, " ", line.LedgerAccountID, " ", line.LegalEntityID, " ", line.Amount, " ",
			line.Currency, " ", line.TagIDs)
		if line.Base != nil {
			text += " = " + line.Base.String()
		}
	}
	return text
}

// storedTotals reads the totals as they are kept, those of nothing left out.
func storedTotals(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	rows, err := db.All[struct {
		Tag     string        `db:"tag_id"`
		Entity  string        `db:"legal_entity_id"`
		Account string        `db:"ledger_account_id"`
		Key     string        `db:"key"`
		Debits  money.Decimal `db:"debits"`
		Credits money.Decimal `db:"credits"`
	}](ctx, tx, `SELECT b.tag_id, b.legal_entity_id, b.ledger_account_id, p.key, b.debits, b.credits FROM account_balances b
		JOIN accounting_periods p ON p.organization_id = b.organization_id AND p.accounting_period_id = b.accounting_period_id WHERE
		b.organization_id = @org`)
	out := map[string]string{}
	for _, r := range rows {
		if r.Tag == "" {
			r.Tag = "all"
		}
		if !r.Debits.IsZero() || !r.Credits.IsZero() {
			out[fmt.Sprint(r.Tag, " ", r.Entity, " ", r.Account, " ", r.Key)] = r.Debits.String() + " " + r.Credits.String()
		}
	}
	return out, err
}

func (l *life) rate() {
	day, rate := l.someDate().Format(time.DateOnly), rapid.Int64Range(1, 50_000).Draw(l.T, "rate")
	pair := rapid.SampledFrom([][2]string{{"USD", "EUR"}, {"EUR", "USD"}}).Draw(l.T, "pair")
	_, err := l.app.FX.Put(l.ctx, []fx.PutParams{{Base: pair[0], Quote: pair[1], Date: day, Rate: tenThousandths(rate)}})
	l.same("store a rate", err, fine)
	l.model.rates[pair[0]+pair[1]+day] = rate
}
