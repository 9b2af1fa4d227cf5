package lot_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

func at(day string, kind lot.Kind, id string) lot.Place {
	t, err := time.Parse("2006-01-02", day)
	if err != nil {
		panic(err)
	}
	return lot.Place{At: t, Kind: kind, ID: id}
}

func TestReplayStopsWhereItCannotGoOn(t *testing.T) {
	t.Parallel()
	p := lot.New(lot.Config{Places: 2})
	err := p.Replay([]lot.Event{
		{Place: at("2025-02-01", lot.Acquire, "in"), Quantity: money.FromInt(1)},
		{Place: at("2025-03-10", lot.Dispose, "out"), Quantity: money.FromInt(3)},
		{Place: at("2025-03-11", lot.Dispose, "never"), Quantity: money.FromInt(1)},
	}, func(*lot.Event, lot.Result) error { return nil })
	var short *lot.Shortage
	if !errors.As(err, &short) || short.ID != "out" || short.Missing.String() != "2" || !strings.HasPrefix(err.Error(),
		"event out of 2025-03-10: ") {
		t.Errorf("stops with %v", err)
	}
	if p.Quantity().String() != "1" {
		t.Errorf("the pool holds %s", p.Quantity())
	}
}
