package statements

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// translation holds the rates by which the books of a legal entity are translated into the currency of the report. What was kept with
// the closing of a period applies first, so that a rate that is stored later does not change what a closed period shows. Where nothing
// was kept, the stored rates apply.
type translation struct {
	entity entity.LegalEntity
	to     string
	rates  *statement.Rates
	kept   map[string]statement.Rate // by journal entry, and that of opening balances under period.RateOpening
	begins calendar.Month            // the first month of the legal entity; set if its opening balances are translated
	latest map[string]*fx.Quotation  // by date, the latest stored rate up to it, or nil if there is none
}

// readRates reads the rates of every legal entity that is translated.
func (r *reading) readRates(ctx context.Context, tx *db.Tx, totals []balance.Total) error {
	r.translations = make([]*translation, len(r.entities))
	if len(r.periods) == 0 {
		return nil
	}
	translated := false
	for i, e := range r.entities {
		if e.BaseCurrency != r.books.Currency {
			n := len(r.periods)
			r.translations[i] = &translation{entity: e, to: r.books.Currency, kept: map[string]statement.Rate{}, latest: map[string]*fx.Quotation{},
				rates: &statement.Rates{Closing: make([]statement.Rate, n), Average: make([]statement.Rate, n)}}
			r.books.Entities[i].Rates, translated = r.translations[i].rates, true
		}
	}
	if !translated {
		return nil
	}
	if err := r.readKept(ctx, tx); err != nil {
		return err
	}
	opened := map[string]bool{}
	for i := range totals {
		if totals[i].PeriodID == r.periods[0].ID {
			opened[totals[i].LegalEntityID] = true
		}
	}
	for _, t := range r.translations {
		if t == nil {
			continue
		}
		if err := t.readStored(ctx, tx, r.periods); err != nil {
			return err
		}
		if opened[t.entity.ID] {
			if err := t.readOpening(ctx, tx); err != nil {
				return err
			}
		}
	}
	return nil
}

// readKept reads the rates that were kept with closings.
func (r *reading) readKept(ctx context.Context, tx *db.Tx) error {
	standing, err := snapshot.Closings(ctx, tx)
	if err != nil {
		return err
	}
	entityAt, periodAt := indexByID(r.entities, entityID), indexByID(r.periods, periodID)
	var ids []string
	of := map[string][2]int{}
	for _, c := range standing {
		e, ours := entityAt[c.LegalEntityID]
		if p, read := periodAt[c.PeriodID]; ours && read && r.translations[e] != nil {
			ids, of[c.ID] = append(ids, c.ID), [2]int{e, p}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	kept, err := period.KeptRates(ctx, tx, ids, r.books.Currency)
	for _, k := range kept {
		t, p := r.translations[of[k.ClosingID][0]], of[k.ClosingID][1]
		switch rate := (statement.Rate{Times: k.Sum, Over: money.FromInt(k.Count)}); k.AppliesTo {
		case period.RateClosing:
			t.rates.Closing[p] = rate
		case period.RateAverage:
			t.rates.Average[p] = rate
		default:
			t.kept[k.AppliesTo] = rate
		}
	}
	return err
}

// readStored completes the rates of periods from the first one on for which not all were kept. It reads one row for each month.
func (t *translation) readStored(ctx context.Context, tx *db.Tx, periods []period.Period) error {
	from := 1
	for from < len(periods) && t.rates.Closing[from].Known() && t.rates.Average[from].Known() {
		from++
	}
	if from >= len(periods) {
		return nil
	}
	averages, err := fx.Averages(ctx, tx, t.entity.BaseCurrency, t.to, periods[from].Month().FirstDay(),
		periods[len(periods)-1].Month().LastDay())
	if err != nil {
		return err
	}
	latest, there, err := fx.Latest(ctx, tx, t.entity.BaseCurrency, t.to, periods[from].Month().Prev().LastDay())
	if err != nil {
		return err
	}
	var closing statement.Rate
	if there {
		closing = exact(latest.Rate)
	}
	for i := from; i < len(periods); i++ {
		var average statement.Rate
		if len(averages) > 0 && averages[0].Month == periods[i].Key {
			closing, average = exact(averages[0].Latest), statement.Rate{Times: averages[0].Sum, Over: money.FromInt(averages[0].Count)}
			averages = averages[1:]
		}
		if !t.rates.Closing[i].Known() {
			t.rates.Closing[i] = closing
		}
		if !t.rates.Average[i].Known() {
			t.rates.Average[i] = average
		}
	}
	return nil
}

// readOpening sets the rate of opening balances, which is that of the opening period: the one that was kept with the first closing, or
// that of the beginning of the legal entity's own first month.
func (t *translation) readOpening(ctx context.Context, tx *db.Tx) (err error) {
	if rate, kept := t.kept[period.RateOpening]; kept {
		t.rates.Closing[0] = rate
		return nil
	}
	if t.begins, err = period.FirstMonth(ctx, tx, t.entity); err != nil {
		return err
	}
	q, there, err := fx.AtBeginning(ctx, tx, t.entity.BaseCurrency, t.to, t.begins.FirstDay(), t.begins.LastDay())
	if there {
		t.rates.Closing[0] = exact(q.Rate)
	}
	return err
}

func exact(rate money.Decimal) statement.Rate {
	return statement.Rate{Times: rate, Over: money.FromInt(1)}
}

// totalKey identifies the total of an account of a legal entity in a period.
type totalKey struct{ legalEntityID, ledgerAccountID, periodID string }

// historical translates the lines on equity accounts of legal entities with another currency, each at the rate of its date, and adds
// them up. If a rate is missing, the error is kept for the statements that show equity. Equity has few lines, so this costs little
// however long the history is.
func (r *reading) historical(ctx context.Context, tx *db.Tx, tagID string) (map[totalKey]statement.Sides, error) {
	f := equityFilter{tagID: tagID}
	for i, e := range r.entities {
		if r.translations[i] != nil {
			f.entities = append(f.entities, e.ID)
		}
	}
	for _, a := range r.chart {
		if a.KeepsRates() && a.Postable {
			f.accounts = append(f.accounts, a.ID)
		}
	}
	if len(r.columns) == 0 || len(f.entities) == 0 || len(f.accounts) == 0 {
		return nil, nil
	}
	f.until = r.periods[len(r.periods)-1].End
	lines, err := selectEquity(ctx, tx, f)
	if err != nil {
		return nil, err
	}
	zone, err := snapshot.Zone(ctx, tx)
	if err != nil {
		return nil, err
	}
	places, _ := money.MinorUnits(r.books.Currency)
	entityAt, out := indexByID(r.entities, entityID), map[totalKey]statement.Sides{}
	for _, l := range lines {
		rate, err := r.translations[entityAt[l.LegalEntityID]].rateOf(ctx, tx, l, zone)
		switch {
		case fault.KindOf(err) == fault.Conflict:
			r.unknownRate = err
			continue
		case err != nil:
			return nil, err
		}
		key := totalKey{l.LegalEntityID, l.LedgerAccountID, l.PeriodID}
		sum := out[key]
		sum.Add(l.Side == "DEBIT", rate.Convert(l.Amount, places))
		out[key] = sum
	}
	return out, nil
}

// rateOf returns the rate at which a line on an equity account is translated: the one of its date that was kept with the line, or with
// the closing of its period, or else the latest stored rate up to its date. Opening balances have a rate of their own.
func (t *translation) rateOf(ctx context.Context, tx *db.Tx, l equityRow, zone *time.Location) (statement.Rate, error) {
	if period.IsOpening(l.Date) {
		if rate := t.rates.Closing[0]; rate.Known() {
			return rate, nil
		}
		return statement.Rate{}, t.missing(t.begins.LastDay(), l)
	}
	rate, there, err := fx.Kept(db.OrEmpty(l.Rates)).To(t.to)
	if err != nil || there {
		return exact(rate), err
	}
	if rate, there := t.kept[l.DatedEntryID]; there {
		return rate, nil
	}
	date := calendar.DateOf(l.Date, zone)
	q, known := t.latest[date]
	if !known {
		found, there, err := fx.Latest(ctx, tx, t.entity.BaseCurrency, t.to, date)
		if err != nil {
			return statement.Rate{}, err
		}
		if there {
			q = &found
		}
		t.latest[date] = q
	}
	if q == nil {
		return statement.Rate{}, t.missing(date, l)
	}
	return exact(q.Rate), nil
}

// missing returns the error for a line whose rate is missing.
func (t *translation) missing(date string, l equityRow) error {
	return fault.Conflictf("no rate from %s to %s is stored for %s or a day before it, at which the line of JE-%d on an equity "+
		"account is translated: store it with POST /v1/fx-rates", t.entity.BaseCurrency, t.to, date, l.Number)
}

// missingRate returns the error for a missing rate.
func (r *reading) missingRate(err error) error {
	var missing *statement.MissingRate
	if !errors.As(err, &missing) {
		return err
	}
	t := r.translations[missing.Entity]
	from, month := t.entity.BaseCurrency, t.begins
	if missing.Period > 0 {
		month = r.periods[missing.Period].Month()
	}
	if missing.Average {
		return fault.Conflictf("no rate from %s to %s is stored for a day from %s to %s, which the average of %s needs: store it with "+
			"POST /v1/fx-rates", from, t.to, month.FirstDay(), month.LastDay(), month.Key())
	}
	return fault.Conflictf("no rate from %s to %s is stored for %s or a day before it: store it with POST /v1/fx-rates", from, t.to,
		month.LastDay())
}
