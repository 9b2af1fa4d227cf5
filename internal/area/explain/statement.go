package explain

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/entity"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/area/report"
	"github.com/bursarhq/bursar/internal/area/tag"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// cell is where a figure of a statement stands.
type cell struct {
	account    account.Account
	at, before *period.Period // before is nil for the first period
	entities   []entity.LegalEntity
	translated bool
}

// cell finds what a query about a statement names.
func (i *inquiry) cell(ctx context.Context) (c cell, err error) {
	if c.at, c.before, err = i.month(i.q.PeriodID); err != nil {
		return c, err
	}
	if c.entities, err = i.whose(ctx); err != nil {
		return c, err
	}
	for _, e := range c.entities {
		c.translated = c.translated || i.q.PresentationCurrency != "" && e.BaseCurrency != i.q.PresentationCurrency
	}
	if i.q.LedgerAccountID != "" {
		c.account, err = account.Get(ctx, i.tx, i.q.LedgerAccountID)
	}
	return c, err
}

// whose gives the legal entities that are added together: those asked for, or all that the key is for. One that it is not for is missing like one
// that is not there, and so is a tag.
func (i *inquiry) whose(ctx context.Context) (out []entity.LegalEntity, err error) {
	all, err := entity.All(ctx, i.tx)
	if err != nil {
		return nil, err
	}
	who, ids := actor.From(ctx), i.q.LegalEntityIDs
	found := map[string]bool{}
	for _, e := range all {
		if who.Sees(e.ID) && (len(ids) == 0 || slices.Contains(ids, e.ID)) {
			out = append(out, e)
			found[e.ID] = true
		}
	}
	for _, id := range ids {
		if !found[id] {
			return nil, fault.Missing("legal entity")
		}
	}
	if i.q.TagID != "" {
		_, err = tag.Get(ctx, i.tx, i.q.TagID)
	}
	return out, err
}

// computed tells that an account takes no lines and shows what others come to.
func computed(a account.Account) bool {
	return a.Role == account.RoleCurrentEarnings || a.Role == account.RoleRetainedEarnings || a.Role == account.RoleTranslationAdjustment
}

func permanent(a account.Account) bool { return a.Type != account.Revenue && a.Type != account.Expense }

// natural turns debits less credits into the sign an account grows in.
func natural(a account.Account, balance money.Decimal) money.Decimal {
	if a.NormalBalance == account.Credit {
		return balance.Neg()
	}
	return balance
}

// params asks a statement for some periods. Of an account that is not computed from others, nothing else has to be read.
func params(q Query, a account.Account, months ...*period.Period) report.Params {
	p := report.Params{TagID: q.TagID, LegalEntityIDs: q.LegalEntityIDs, PresentationCurrency: q.PresentationCurrency}
	for _, m := range months {
		if m != nil {
			p.PeriodIDs = append(p.PeriodIDs, m.ID)
		}
	}
	if a.ID != "" && !computed(a) {
		p.AccountIDs = []string{a.ID}
	}
	return p
}

// of restricts a query to one legal entity.
func (q Query) of(legalEntityID string) Query {
	q.LegalEntityIDs = []string{legalEntityID}
	return q
}

// booked is the query without translation: what the books say.
func (q Query) booked() *Query {
	q.PresentationCurrency = ""
	return &q
}

// lines is which lines a cell is made of.
func (i *inquiry) lines(c cell, side string) lineFilter {
	f := lineFilter{accountID: c.account.ID, tagID: i.q.TagID, from: c.at.Start, until: c.at.End, side: side, entities: []string{}}
	for _, e := range c.entities {
		f.entities = append(f.entities, e.ID)
	}
	return f
}

// turning gives the legal entities whose fiscal year begins with the period.
func (c cell) turning() (out []entity.LegalEntity) {
	month, err := strconv.Atoi(c.at.Key[len("2006-"):])
	for _, e := range c.entities {
		if err == nil && c.before != nil && int(e.FiscalYearStartMonth) == month {
			out = append(out, e)
		}
	}
	return out
}

// apart explains a figure of several legal entities with different currencies by that of each. figure gives it.
func (i *inquiry) apart(c cell, figure func(Query) (money.Decimal, error)) error {
	for _, e := range c.entities {
		q := i.q.of(e.ID)
		value, err := figure(q)
		if err != nil {
			return err
		}
		i.out.some(e.Name, value, &q)
	}
	i.out.rest("netted between legal entities")
	return nil
}

// translate explains a figure of one legal entity by that of its books.
func (i *inquiry) translate(c cell, value money.Decimal, rate statement.Rate) {
	e := c.entities[0]
	text := "the rate of " + c.at.Key
	if rate.Known() {
		text = rate.Times.Quo(rate.Over, ratePlaces).String()
	}
	i.out.add(fmt.Sprintf("%s %s at %s", value.Fixed(e.BaseCurrency), e.BaseCurrency, text), *i.out.Value, i.q.booked(), NoList)
}

// ratePlaces is to how many digits an average of rates is shown.
const ratePlaces = 10

// wrongRow blames a row that a statement has not.
func wrongRow(names ...string) error {
	text := ""
	for n, name := range names {
		if n > 0 {
			text += ", "
		}
		text += name
	}
	return fault.Invalidf("row", "must be one of %s", text)
}
