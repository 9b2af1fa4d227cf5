package entity

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Measured is a choice of measurement, effective from a day on, until a later one is effective.
type Measured struct {
	Measurement string
	From        string // YYYY-MM-DD; empty means from the beginning
	CreatedAt   time.Time
}

func (e LegalEntity) measured(at time.Time) Measured {
	return Measured{e.Measurement, e.MeasurementFrom, at}
}

func (e LegalEntity) changesMeasurement(after LegalEntity) bool {
	return e.measured(time.Time{}) != after.measured(time.Time{})
}

// applyMeasurement sets the measurement and its first day. They are one choice: a first day alone is a fault, and a measurement
// without one applies from the beginning.
func (p UpdateParams) applyMeasurement(faults *fault.List, e *LegalEntity) {
	if p.Measurement == nil && p.MeasurementFrom != nil && *p.MeasurementFrom != e.MeasurementFrom {
		faults.Addf("measurement_from", "must be sent together with measurement")
		return
	}
	if p.Measurement != nil && *p.Measurement != e.Measurement {
		e.Measurement, e.MeasurementFrom = *p.Measurement, ""
	}
	set(&e.MeasurementFrom, p.MeasurementFrom)
}

// MeasurementOn returns how a legal entity measures in a period that begins on a day, and the first day of that election. An
// election that is made later replaces the earlier ones from its first day on. It runs in the caller's transaction.
func MeasurementOn(ctx context.Context, tx *db.Tx, e LegalEntity, day string) (measurement, from string, err error) {
	if e.MeasurementFrom <= day {
		return e.Measurement, e.MeasurementFrom, nil
	}
	history, err := selectMeasurements(ctx, tx, e.ID)
	for n := len(history) - 1; n >= 0; n-- {
		if history[n].From <= day {
			return history[n].Measurement, history[n].From, err
		}
	}
	return MeasuredAtCost, "", err
}

// AdoptsFairValueOn reports whether a period that begins on a day is the first one in which a legal entity measures at fair value
// under US GAAP (ASU 2023-08), although it measured otherwise before. It runs in the caller's transaction.
func AdoptsFairValueOn(ctx context.Context, tx *db.Tx, e LegalEntity, day string) (bool, error) {
	measurement, from, err := MeasurementOn(ctx, tx, e, day)
	if err != nil || e.Framework != FrameworkUSGAAP || measurement != MeasuredAtFairValue || from != day {
		return false, err
	}
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return false, err
	}
	before, _, err := MeasurementOn(ctx, tx, e, at.AddDate(0, 0, -1).Format(time.DateOnly))
	return before != MeasuredAtFairValue, err
}

// reasonNotFrom returns why a measurement cannot apply from its first day on, or nothing if it can. A closed period is not measured
// again. A legal entity with lots adopts fair value under US GAAP on the first day of a fiscal year, because the difference is booked
// to its opening retained earnings.
func (s *Service) reasonNotFrom(ctx context.Context, tx *db.Tx, e LegalEntity) (string, error) {
	through, err := s.closedThrough(ctx, tx, e.ID)
	if err != nil {
		return "", err
	}
	closed := through != "" && e.MeasurementFrom != "" && e.MeasurementFrom[:len(through)] <= through
	held, err := reference.Fixing(ctx, tx, table, "measurement", e.ID)
	if err != nil {
		return "", err
	}
	if e.Framework != FrameworkUSGAAP || e.Measurement != MeasuredAtFairValue || len(held) == 0 {
		if closed {
			return fmt.Sprintf("must be after %s, the last closed period: reopen it, or choose a later month", through), nil
		}
		return "", nil
	}
	month, err := calendar.ParseKey(e.MeasurementFrom[:min(len(e.MeasurementFrom), len("2006-01"))])
	if err == nil && int64(month.Month) == e.FiscalYearStartMonth && !closed {
		return "", nil
	}
	possible, err := e.adoptionDay(ctx, tx, through)
	return fmt.Sprintf("must be the first day of a fiscal year that is open, because the difference between fair value and carrying amount "+
		"is booked to opening retained earnings: %s is possible", possible), err
}

// nearestFirstDay returns the day next to another one on which fair value can be adopted: the first day of a fiscal year or, unless
// the framework is US GAAP, of a month.
func (e LegalEntity) nearestFirstDay(day time.Time) string {
	before, step := calendar.MonthOf(day, time.UTC), 1
	if e.Framework == FrameworkUSGAAP {
		before, step = before.Add(-((int(before.Month) - int(e.FiscalYearStartMonth) + monthsOfYear) % monthsOfYear)), monthsOfYear
	}
	after := before.Add(step)
	if day.Sub(before.Start(time.UTC)) <= after.Start(time.UTC).Sub(day) {
		return before.FirstDay()
	}
	return after.FirstDay()
}

// adoptionDay returns the first day of the current fiscal year, or of the next one that begins in an open period.
func (e LegalEntity) adoptionDay(ctx context.Context, tx *db.Tx, closedThrough string) (string, error) {
	name, err := orgstate.Timezone(ctx, tx)
	if err != nil {
		return "", err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return "", err
	}
	month := calendar.MonthOf(tx.Now(), zone)
	for int64(month.Month) != e.FiscalYearStartMonth {
		month = month.Prev()
	}
	for month.Key() <= closedThrough {
		month = month.Add(monthsOfYear)
	}
	return month.Key() + "-01", nil
}
