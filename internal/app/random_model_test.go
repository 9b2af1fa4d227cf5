package app_test

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// The model of the books uses whole cents and indexes instead of ids, and recomputes everything each time. It implements
// the rules of accounting without knowing how the service stores the books.

// fine is the outcome of an operation that succeeds.
const fine = fault.Kind(-1)

// verdict is the predicted outcome of an operation. wanting means that it fails because a rate or an open month is
// missing, which the guidance of an entry does not predict.
type verdict struct {
	kind    fault.Kind
	wanting bool
}

type modelLine struct {
	entity, account int
	debit           bool
	cents           int64
	currency        string
	tags            []int
	base            int64 // once it is posted
}

type modelEntry struct {
	id         string
	status     string // draft, posted, deleted
	origin     string
	date       time.Time
	intended   *time.Time
	month      string // once it is posted
	entity     int
	tags       []int
	lines      []modelLine
	prev, next int // numbers, 0 for none
}

type model struct {
	zone       *time.Location
	now        func() time.Time
	currencies []string         // by entity
	closed     [][]string       // by entity, the keys of closed months in order
	archived   []bool           // by account
	rates      map[string]int64 // ten-thousandths, by pair and day
	entries    []*modelEntry    // by number, from 1
}

func (m *model) monthOf(at time.Time) string { return calendar.MonthOf(at, m.zone).Key() }

func (m *model) through(entity int) string {
	if n := len(m.closed[entity]); n > 0 {
		return m.closed[entity][n-1]
	}
	return ""
}

// entities returns the legal entities of an entry and of its lines.
func (e *modelEntry) entities() []int {
	out := []int{e.entity}
	for _, l := range e.lines {
		out = append(out, l.entity)
	}
	return out
}

func (m *model) throughAll(e *modelEntry) (key string) {
	for _, entity := range e.entities() {
		key = max(key, m.through(entity))
	}
	return key
}

// compose predicts whether an entry is valid as a draft.
func (m *model) compose(e *modelEntry) verdict {
	type purse struct {
		entity   int
		currency string
	}
	sums := map[purse]int64{}
	out := verdict{kind: fine}
	for _, l := range e.lines {
		if l.debit {
			sums[purse{l.entity, l.currency}] += l.cents
		} else {
			sums[purse{l.entity, l.currency}] -= l.cents
		}
		switch {
		case l.account < 0:
			out = worse(out, verdict{kind: fault.NotFound})
		case m.archived[l.account]:
			out = worse(out, verdict{kind: fault.Conflict})
		}
	}
	for _, sum := range sums {
		if sum != 0 {
			out = worse(out, verdict{kind: fault.Invalid})
		}
	}
	return out
}

// worse returns the more serious of two outcomes: invalid input, then missing records, then conflicts with the books.
func worse(a, b verdict) verdict {
	order := []fault.Kind{fine, fault.Conflict, fault.NotFound, fault.Invalid}
	if slices.Index(order, b.kind) > slices.Index(order, a.kind) {
		return b
	}
	return a
}

// post posts an entry, or predicts the failure and leaves the entry unchanged.
func (m *model) post(e *modelEntry) verdict {
	date := e.date
	if through := m.throughAll(e); m.monthOf(date) <= through {
		last, _ := calendar.ParseKey(through)
		if last.Next().Key() > m.monthOf(m.now()) {
			return verdict{fault.Conflict, true}
		}
		date = last.Next().Start(m.zone)
	}
	lines := slices.Clone(e.lines)
	if e.origin != "reversal" && !m.translate(lines, date) {
		return verdict{fault.Conflict, true}
	}
	if !date.Equal(e.date) {
		intended := e.date
		e.intended = &intended
	}
	e.date, e.lines, e.status, e.month = date, lines, "posted", m.monthOf(date)
	return verdict{kind: fine}
}

// translate sets the amounts of lines in the base currency of their entity. It rounds the total of each side once and
// splits it so that the parts add up to it.
func (m *model) translate(lines []modelLine, date time.Time) bool {
	type side struct {
		entity   int
		currency string
		debit    bool
	}
	foreign := map[side][]int{}
	for i, l := range lines {
		lines[i].base = l.cents
		if l.currency != m.currencies[l.entity] {
			k := side{l.entity, l.currency, l.debit}
			foreign[k] = append(foreign[k], i)
		}
	}
	for k, indexes := range foreign {
		rate, ok := m.rates[k.currency+m.currencies[k.entity]+calendar.DateOf(date, m.zone)]
		if !ok {
			return false
		}
		weight := int64(0)
		for _, i := range indexes {
			weight += lines[i].cents
		}
		rest := divide(weight*rate, 10_000)
		for _, i := range indexes {
			lines[i].base = divide(rest*lines[i].cents, weight)
			rest, weight = rest-lines[i].base, weight-lines[i].cents
		}
	}
	return true
}

// divide rounds half to even.
func divide(a, b int64) int64 {
	q, r := a/b, a%b
	if 2*r > b || 2*r == b && q%2 == 1 {
		q++
	}
	return q
}

// enter adds an entry to the model, which assigns its number.
func (m *model) enter(e *modelEntry) { m.entries = append(m.entries, e) }

func (m *model) onArchived(e *modelEntry) bool {
	return slices.ContainsFunc(e.lines, func(l modelLine) bool { return m.archived[l.account] })
}

func (m *model) undoable(e *modelEntry) bool {
	return e.status == "posted" && e.next == 0 && e.origin != "reversal" && !m.onArchived(e)
}

func (m *model) unpostable(e *modelEntry) bool {
	return e.status == "posted" && e.next == 0 && e.prev == 0 && m.monthOf(e.date) > m.throughAll(e) && !m.onArchived(e)
}

// unpost makes a posted entry a draft.
func (e *modelEntry) unpost() {
	if e.intended != nil {
		e.date, e.intended = *e.intended, nil
	}
	e.status, e.month = "draft", ""
	e.lines = slices.Clone(e.lines)
	for i := range e.lines {
		e.lines[i].base = 0
	}
}

// mirror returns the reversal of an entry, as a draft.
func (e *modelEntry) mirror(date time.Time) *modelEntry {
	out := *e
	out.status, out.origin, out.date, out.intended, out.next = "draft", "reversal", date, nil, 0
	out.lines = slices.Clone(e.lines)
	for i := range out.lines {
		out.lines[i].debit = !out.lines[i].debit
	}
	return &out
}

// key identifies a stored total: an account of an entity in a month, over all lines or those of a tag.
type key struct {
	tag, entity, account int // tag is -1 over all
	month                string
}

// totals returns the debits and credits of all posted entries.
func (m *model) totals() map[key][2]int64 {
	out := map[key][2]int64{}
	for _, e := range m.entries {
		if e.status != "posted" {
			continue
		}
		for _, l := range e.lines {
			tags := append(slices.Concat(e.tags, l.tags), -1)
			slices.Sort(tags)
			for _, tag := range slices.Compact(tags) {
				k := key{tag, l.entity, l.account, e.month}
				total := out[k]
				if l.debit {
					total[0] += l.base
				} else {
					total[1] += l.base
				}
				out[k] = total
			}
		}
	}
	return out
}

// archivable reports whether an account has neither a balance nor a draft.
func (m *model) archivable(account int) bool {
	held := map[int]int64{}
	for k, total := range m.totals() {
		if k.tag == -1 && k.account == account {
			held[k.entity] += total[0] - total[1]
		}
	}
	for _, h := range held {
		if h != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(m.entries, func(e *modelEntry) bool {
		return e.status == "draft" && slices.ContainsFunc(e.lines, func(l modelLine) bool { return l.account == account })
	})
}

// close closes a month for some entities, if order, time and drafts allow. The existing months come from the books.
func (m *model) close(month string, entities []int, months []string) fault.Kind {
	entities = slices.DeleteFunc(slices.Clone(entities), func(e int) bool { return month <= m.through(e) })
	k, _ := calendar.ParseKey(month)
	if _, end := k.Bounds(m.zone); len(entities) == 0 || m.now().Before(end) {
		return fault.Conflict
	}
	for _, entity := range entities {
		earlier := slices.ContainsFunc(months, func(o string) bool { return o < month && o > m.through(entity) })
		drafts := slices.ContainsFunc(m.entries, func(e *modelEntry) bool {
			return e.status == "draft" && m.monthOf(e.date) == month && slices.ContainsFunc(e.lines, func(l modelLine) bool {
				return l.entity == entity
			})
		})
		if earlier || drafts {
			return fault.Conflict
		}
	}
	for _, entity := range entities {
		m.closed[entity] = append(m.closed[entity], month)
	}
	return fine
}

// reopen opens a month for those of the entities for which it is closed, if it is the last closed month of each.
func (m *model) reopen(month string, entities []int) fault.Kind {
	entities = slices.DeleteFunc(slices.Clone(entities), func(e int) bool { return month > m.through(e) })
	if len(entities) == 0 || slices.ContainsFunc(entities, func(e int) bool { return month != m.through(e) }) {
		return fault.Conflict
	}
	for _, e := range entities {
		m.closed[e] = m.closed[e][:len(m.closed[e])-1]
	}
	return fine
}

// move changes the time zone, unless a posted entry would leave or enter a closed month.
func (m *model) move(zone *time.Location) fault.Kind {
	for _, e := range m.entries {
		if e.status != "posted" {
			continue
		}
		to := calendar.MonthOf(e.date, zone).Key()
		for _, l := range e.lines {
			if to != e.month && min(to, e.month) <= m.through(l.entity) {
				return fault.Conflict
			}
		}
	}
	m.zone = zone
	for _, e := range m.entries {
		if e.status == "posted" {
			e.month = m.monthOf(e.date)
		}
	}
	return fine
}
