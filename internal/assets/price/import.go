package price

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// faultsMax bounds how many faults of a file are listed, because a systematic mistake repeats on every line.
const faultsMax = 1000

// ImportParams are the options of an import. With Replace, a stored price gets the value of the file; without it, a different
// value is a fault.
type ImportParams struct{ Dry, Replace bool }

// ImportResult counts what an import did with the prices of a file, or would do.
type ImportResult struct{ Created, Duplicates, Replaced int }

// Import stores every price of a file, or none and returns the faults of all lines. A price that is stored already with the
// same value counts as a duplicate.
func (s *Service) Import(ctx context.Context, f *File, p ImportParams) (done ImportResult, err error) {
	organizationID := actor.From(ctx).OrganizationID
	if p.Dry {
		err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			c, err := f.compare(ctx, tx, p.Replace)
			done = c.counts()
			return err
		})
		return done, err
	}
	err = s.db.WriteAlone(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		c, err := f.compare(ctx, tx, p.Replace)
		if err != nil {
			return err
		}
		done = c.counts()
		if err := insertNew(ctx, tx, c.created, false); err != nil {
			return err
		}
		for _, r := range c.replaced {
			if _, err := saveChange(ctx, tx, r[0], r[1]); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// comparison is the difference between a file and the stored prices.
type comparison struct {
	created    []Price
	replaced   [][2]Price // before and after
	duplicates int
	faults     []lineFault
	conflict   bool // whether every fault is a different stored price
}

// lineFault is a fault of a line.
type lineFault struct {
	number int
	fault.Field
}

func (c comparison) counts() ImportResult {
	return ImportResult{len(c.created), c.duplicates, len(c.replaced)}
}

// compare returns what a file would change, or an error with all of its faults.
func (f *File) compare(ctx context.Context, tx *db.Tx, replace bool) (c comparison, err error) {
	prices, numbers, err := c.read(ctx, tx, f)
	if err != nil {
		return c, err
	}
	there, err := findStored(ctx, tx, prices)
	if err != nil {
		return c, err
	}
	c.conflict = len(c.faults) == 0
	for i, p := range prices {
		old, is := there[p.key()]
		switch {
		case !is:
			c.created = append(c.created, p)
		case old.Value.Equal(p.Value):
			c.duplicates++
		case replace:
			after := old
			after.Value, after.Origin, after.Note = p.Value, p.Origin, cmp.Or(p.Note, old.Note)
			c.replaced = append(c.replaced, [2]Price{old, after})
		default:
			c.addFault(numbers[i], ", price", "is %s, but the stored price %s is %s; import with replace, or remove the line", p.Value, old.ID,
				old.Value)
		}
	}
	return c, c.err()
}

// read returns the valid prices of a file without duplicates, and the numbers of their lines.
func (c *comparison) read(ctx context.Context, tx *db.Tx, f *File) (prices []Price, numbers []int, err error) {
	zone, err := period.Zone(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	c.faults = slices.Clone(f.faults)
	seen := map[priceKey]int{}
	for _, l := range f.lines {
		r := parser{zone: zone}
		p := r.parse(l.Params, lineName(l.number)+", ")
		p.Origin = Import
		if faulty := new(fault.Error); errors.As(r.faults.Err(), &faulty) {
			for _, field := range faulty.Fields {
				c.faults = append(c.faults, f.locate(l, field))
			}
			continue
		}
		first, twice := seen[p.key()]
		switch {
		case !twice:
			seen[p.key()] = len(prices)
			prices, numbers = append(prices, p), append(numbers, l.number)
		case prices[first].Value.Equal(p.Value):
			c.duplicates++
		default:
			c.addFault(l.number, ", price", "differs from line %d, which has the same asset, currency and instant", numbers[first])
		}
	}
	return prices, numbers, nil
}

func (c *comparison) addFault(number int, column, format string, args ...any) {
	c.faults = append(c.faults, lineFault{number, fault.Field{Name: lineName(number) + column, Message: fmt.Sprintf(format, args...)}})
}

// err returns the faults in the order of the lines, or nil.
func (c *comparison) err() error {
	if len(c.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(c.faults, func(a, b lineFault) int { return cmp.Compare(a.number, b.number) })
	var fields []fault.Field
	for _, f := range c.faults[:min(len(c.faults), faultsMax)] {
		fields = append(fields, f.Field)
	}
	if more := len(c.faults) - faultsMax; more > 0 {
		fields = append(fields, fault.Field{Name: "file", Message: fmt.Sprintf("has %d more faults", more)})
	}
	if c.conflict {
		return fault.ConflictAt(fields, "other prices are stored already for the same assets, currencies and instants")
	}
	return &fault.Error{Kind: fault.Invalid, Message: "the file is not valid; nothing was imported", Fields: fields}
}
