package lot_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// journal is many histories in beancount's notation, and what our lots make of them. Every event has a day of its
// own, because beancount has no hours, and units cost whole cents, so that nothing is rounded on either side.
type journal struct {
	t      *testing.T
	random *rand.Rand
	text   strings.Builder
	day    time.Time
	// pairs are the quantities by account, day, and the date and unit cost of the lot. beancount takes two lots that agree in both for one.
	pairs map[string]money.Decimal
}

func (j *journal) pair(account, date string, at time.Time, unit, quantity money.Decimal) {
	key := strings.Join([]string{account, date, at.Format(time.DateOnly), unit.String()}, " ")
	j.pairs[key] = j.pairs[key].Add(quantity)
}

// history has two wallets that buy, sell and send to each other.
func (j *journal) history(name string, m lot.Method) {
	config := method(m)
	config.Places = 2
	pools := []*lot.Pool{lot.New(config), lot.New(config)}
	accounts := []string{"Assets:" + name + ":A", "Assets:" + name + ":B"}
	for _, a := range accounts {
		fmt.Fprintf(&j.text, "1970-01-01 open %s %q\n", a, strings.ToUpper(string(m)))
	}
	for n := range 40 {
		j.day = j.day.AddDate(0, 0, 1)
		date := j.day.Format(time.DateOnly)
		i := j.random.IntN(2)
		held := pools[i].Quantity()
		e := lot.Event{Place: lot.Place{At: j.day, ID: fmt.Sprint(n), Kind: lot.Acquire}}
		if !held.IsZero() && j.random.IntN(5) > 1 {
			e.Kind = []lot.Kind{lot.Dispose, lot.Move}[j.random.IntN(2)]
		}
		if e.Kind == lot.Acquire {
			unit := money.FromInt(1+j.random.Int64N(400)).Quo(money.FromInt(4), 2)
			e.Quantity = money.FromInt(1 + j.random.Int64N(30))
			e.Basis = e.Quantity.Mul(unit)
			j.apply(pools[i], &e)
			j.pair(accounts[i], date, j.day, unit, e.Quantity)
			fmt.Fprintf(&j.text, "%s * \"buy\"\n  %s %s ETH {%s USD}\n  Equity:Opening\n", date, accounts[i], e.Quantity, unit)
			continue
		}
		for e.Quantity = money.FromInt(1 + j.random.Int64N(40)); e.Quantity.Cmp(held) > 0; {
			e.Quantity = money.FromInt(1 + j.random.Int64N(40))
		}
		fmt.Fprintf(&j.text, "%s * %q\n  %s -%s ETH {}\n", date, e.Kind, accounts[i], e.Quantity)
		slices := lot.Slices(j.apply(pools[i], &e).Uses)
		for _, s := range slices {
			unit := s.Basis.Quo(s.Quantity, 2)
			j.pair(accounts[i], date, s.AcquiredAt, unit, s.Quantity.Neg())
			if e.Kind == lot.Move {
				fmt.Fprintf(&j.text, "  %s %s ETH {%s USD, %s}\n", accounts[1-i], s.Quantity, unit, s.AcquiredAt.Format(time.DateOnly))
				j.pair(accounts[1-i], date, s.AcquiredAt, unit, s.Quantity)
			}
		}
		if e.Kind == lot.Move {
			e.Kind = lot.Arrive
			j.apply(pools[1-i], &lot.Event{Place: e.Place, Slices: slices})
		} else {
			fmt.Fprintln(&j.text, "  Income:Gain")
		}
	}
}

func (j *journal) apply(p *lot.Pool, e *lot.Event) lot.Result {
	j.t.Helper()
	r, err := p.Apply(e)
	if err != nil {
		j.t.Fatal(err)
	}
	return r
}

func TestBeancountConsumesTheSameLots(t *testing.T) {
	t.Parallel()
	j := &journal{t: t, random: rand.New(rand.NewPCG(3, 5)), day: begin, pairs: map[string]money.Decimal{}}
	j.text.WriteString("1970-01-01 open Equity:Opening\n1970-01-01 open Income:Gain\n")
	// Starting another program takes its time, so all histories are in one file.
	for n := range 12 {
		j.history(fmt.Sprintf("F%d", n), lot.FIFO)
		j.history(fmt.Sprintf("L%d", n), lot.LIFO)
	}
	got := map[string]money.Decimal{}
	for _, row := range j.query("SELECT account, date, cost_date, cost_number, number WHERE account ~ 'Assets'") {
		var unit, quantity money.Decimal
		if err := cmp.Or(unit.Scan(strings.TrimSpace(row[3])), quantity.Scan(strings.TrimSpace(row[4]))); err != nil {
			t.Fatal(row, err)
		}
		key := strings.Join([]string{strings.TrimSpace(row[0]), row[1], row[2], unit.String()}, " ")
		got[key] = got[key].Add(quantity)
	}
	if len(j.pairs) < 800 {
		t.Fatalf("only %d pairs", len(j.pairs))
	}
	keys := slices.Sorted(maps.Keys(j.pairs))
	for _, key := range keys {
		if !got[key].Equal(j.pairs[key]) {
			t.Fatalf("%s: beancount takes %s, we %s", key, got[key], j.pairs[key])
		}
	}
	if len(got) != len(keys) {
		t.Errorf("beancount has %d pairs, we %d", len(got), len(keys))
	}
}

// query lets beancount check the journal, and gives the rows of an answer without its head.
func (j *journal) query(query string) [][]string {
	j.t.Helper()
	path := filepath.Join(j.t.TempDir(), "lots.beancount")
	if err := os.WriteFile(path, []byte(j.text.String()), 0o600); err != nil {
		j.t.Fatal(err)
	}
	var out []byte
	for _, args := range [][]string{{"bean-check", path}, {"bean-query", "-f", "csv", path, query}} {
		var err error
		if out, err = exec.CommandContext(j.t.Context(), args[0], args[1:]...).Output(); err != nil {
			j.t.Fatalf("%s: %v (scripts/setup installs it)\n%.2000s", args[0], err, out)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		j.t.Fatal(err)
	}
	return rows[1:]
}
