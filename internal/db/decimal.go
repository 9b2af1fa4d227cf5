package db

import (
	"database/sql/driver"
	"sync"

	"modernc.org/sqlite"

	"github.com/bursarhq/bursar/internal/base/money"
)

// registerDecimals teaches SQLite exact decimals: DECIMAL compares text as numbers, dec_add and dec_sum add without rounding.
// The driver keeps one registry for the process, hence once.
var registerDecimals = sync.OnceFunc(func() {
	sqlite.MustRegisterCollationUtf8("DECIMAL", compareDecimals)
	sqlite.MustRegisterDeterministicScalarFunction("dec_add", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		if args[0] == nil || args[1] == nil {
			return nil, nil
		}
		a, err := decimalOf(args[0])
		if err != nil {
			return nil, err
		}
		b, err := decimalOf(args[1])
		if err != nil {
			return nil, err
		}
		return a.Add(b).String(), nil
	})
	sqlite.MustRegisterFunction("dec_sum", &sqlite.FunctionImpl{NArgs: 1, Deterministic: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return &decimalSum{}, nil }})
})

// compareDecimals orders text that is no decimal before all that is, by bytes: a collation may not fail.
func compareDecimals(a, b string) int {
	x, errX := decimalOf(a)
	y, errY := decimalOf(b)
	switch {
	case errX == nil && errY == nil:
		return x.Cmp(y)
	case errX == nil:
		return 1
	case errY == nil:
		return -1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// decimalOf parses a stored decimal. Sums may have more digits than the API accepts; a float is refused.
func decimalOf(v driver.Value) (d money.Decimal, err error) {
	err = d.Scan(v)
	return d, err
}

// decimalSum implements dec_sum, also as a window function. Like SQL's sum it returns NULL for no rows.
type decimalSum struct {
	total money.Decimal
	rows  int
}

func (s *decimalSum) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	return s.move(args[0], 1)
}

func (s *decimalSum) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	return s.move(args[0], -1)
}

func (s *decimalSum) move(v driver.Value, rows int) error {
	if v == nil {
		return nil
	}
	d, err := decimalOf(v)
	if err != nil {
		return err
	}
	if rows < 0 {
		d = d.Neg()
	}
	s.total, s.rows = s.total.Add(d), s.rows+rows
	return nil
}

func (s *decimalSum) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if s.rows == 0 {
		return nil, nil
	}
	return s.total.String(), nil
}

func (s *decimalSum) Final(*sqlite.FunctionContext) {}
