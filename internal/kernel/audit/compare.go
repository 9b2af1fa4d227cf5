package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
)

// statement is what a record states of one resource.
type statement struct {
	resource
	record *LogRecord

	digest   string                // of all rows, or empty
	tables   map[string]tableState // nil if the record states no rows
	facts    map[string]any        // of records of earlier versions, and to name what differs from a digest
	exists   bool                  // the record only says that the resource exists
	unstated bool                  // the record says nothing about the resource, because earlier versions did not state such
}

// comparison holds what is stored against what the audit log states.
type comparison struct {
	tx    *db.Tx
	found *finding.List
	rows  map[string]int64           // by table, how many rows belong to resources that were compared
	waits map[string]map[string]bool // by table, the keys of rows whose change is recorded by a job that is not done
	named map[string]map[string]bool // by type, the ids of resources that were compared; nil unless they are collected
}

// folded are the types of resources that records speak of under the id of another resource: a record states only those that
// changed, so that what is to be stored follows from all records of that other resource.
var folded = map[string]bool{"fx_rate": true, "period_closing": true}

// folding are the types of these other resources.
var folding = map[string]bool{"fx_rate": true, "accounting_period": true}

// compare compares the resources that some records are the last to state with what is stored.
func (c *comparison) compare(ctx context.Context, records []LogRecord) error {
	var all []statement
	for i := range records {
		some, err := c.statementsOf(ctx, &records[i])
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	latest, err := c.latest(ctx, all)
	if err != nil {
		return err
	}
	byType := map[string][]statement{}
	for _, s := range latest {
		byType[s.kind] = append(byType[s.kind], s)
	}
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		if err := c.compareType(ctx, kind, byType[kind]); err != nil {
			return err
		}
	}
	return nil
}

// compareType compares statements about resources of one type.
func (c *comparison) compareType(ctx context.Context, kind string, statements []statement) error {
	ids := make([]string, len(statements))
	for i, s := range statements {
		ids[i] = s.id
	}
	now, err := readStored(ctx, c.tx, kind, ids)
	if err != nil {
		return err
	}
	c.waits = map[string]map[string]bool{}
	for _, t := range db.StatedTablesOf(kind) {
		if t.RecordedBy == "" {
			continue
		}
		if c.waits[t.Table], err = job.Waiting(ctx, c.tx, t.RecordedBy, t.Key); err != nil {
			return err
		}
	}
	for _, s := range statements {
		if c.named != nil {
			c.name(s.resource)
			continue
		}
		for table, rows := range now[s.id] {
			c.rows[table] += int64(len(rows))
		}
		c.compareOne(s, now[s.id])
	}
	return nil
}

func (c *comparison) name(r resource) {
	if c.named[r.kind] == nil {
		c.named[r.kind] = map[string]bool{}
	}
	c.named[r.kind][r.id] = true
}

// latest leaves out statements about resources that a later record states, and the second of two about the same resource.
func (c *comparison) latest(ctx context.Context, all []statement) ([]statement, error) {
	ids := make([]string, 0, len(all))
	for _, s := range all {
		if !folded[s.kind] {
			ids = append(ids, s.id)
		}
	}
	last, err := selectLast(ctx, c.tx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]statement, 0, len(all))
	for _, s := range all {
		stating := s.resource
		if with := statingType(s.kind); with != "" {
			stating.kind = with
		}
		if folded[s.kind] || s.record.Sequence >= last[stating] {
			out = append(out, s)
		}
	}
	return out, nil
}

// statementsOf returns what a record states.
func (c *comparison) statementsOf(ctx context.Context, r *LogRecord) ([]statement, error) {
	own := resource{r.ResourceType, r.ResourceID}
	if folding[own.kind] {
		return c.fold(ctx, own, r)
	}
	d, err := parseState(r.State)
	if err != nil {
		return nil, err
	}
	if d == nil {
		out, err := c.earlier(ctx, own, r)
		return append(out, unmentioned(own, r, nil)...), err
	}
	out := append(d.statements(own, r), unmentioned(own, r, d)...)
	if d.Range == nil {
		return out, nil
	}
	more, err := c.numbered(ctx, r, *d.Range)
	return append(out, more...), err
}

// statingType returns the type of the resource whose records state resources of a type, or an empty text if their own do.
func statingType(kind string) string {
	if tables := db.StatedTablesOf(kind); len(tables) > 0 {
		return tables[0].With
	}
	return ""
}

// unmentioned returns a statement without content about each resource that a record could state and does not.
func unmentioned(own resource, r *LogRecord, d *document) (out []statement) {
	for _, kind := range db.StatedWith(own.kind) {
		if d != nil {
			if _, stated := d.Resources[kind][own.id]; stated {
				continue
			}
		}
		out = append(out, statement{resource: resource{kind, own.id}, record: r, unstated: true})
	}
	return out
}

// statements returns what a state says about resources.
func (d *document) statements(own resource, r *LogRecord) (out []statement) {
	if d.Digest != "" && isDigested(own.kind) {
		out = append(out, statement{resource: own, record: r, digest: d.Digest, facts: factsOf(r.After)})
	}
	for kind, resources := range d.Resources {
		for id, tables := range resources {
			out = append(out, statement{resource: resource{kind, id}, record: r, tables: tables})
		}
	}
	return out
}

// fold returns the last statement about each resource that the records of another resource speak of, given its last record,
// and nothing given an earlier one.
func (c *comparison) fold(ctx context.Context, own resource, r *LogRecord) (out []statement, err error) {
	all, err := selectOf(ctx, c.tx, own)
	if err != nil || len(all) == 0 || all[0].Sequence != r.Sequence {
		return nil, err
	}
	seen := map[resource]bool{}
	for i := range all {
		d, err := parseState(all[i].State)
		if err != nil {
			return nil, err
		}
		some := listed(own, &all[i])
		if d != nil {
			some = d.statements(own, &all[i])
		}
		for _, s := range some {
			if !seen[s.resource] {
				seen[s.resource] = true
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// numbered returns what a record states of resources with consecutive numbers.
func (c *comparison) numbered(ctx context.Context, r *LogRecord, n numbered) (out []statement, err error) {
	last := n.First + int64(len(n.Digests)/digestLength) - 1
	ids, now, err := readNumbered(ctx, c.tx, n.Type, n.First, last)
	if err != nil {
		return nil, err
	}
	byNumber := make(map[int64]string, len(ids))
	for _, id := range ids {
		number, err := strconv.ParseInt(*now[id][db.StatedTablesOf(n.Type)[0].Table][0]["number"].Value, 10, 64)
		if err != nil {
			return nil, err
		}
		byNumber[number] = id
	}
	for i := range int64(len(n.Digests) / digestLength) {
		id, there := byNumber[n.First+i]
		if !there {
			c.found.Addf("resources that are missing", "%s number %d does not exist, but %s states it", strings.ReplaceAll(n.Type, "_", " "),
				n.First+i, r.describe())
			continue
		}
		out = append(out, statement{resource: resource{n.Type, id}, record: r, digest: n.Digests[i*digestLength : (i+1)*digestLength]})
	}
	return out, nil
}

// describe names a record in a finding.
func (r *LogRecord) describe() string {
	return fmt.Sprintf("the audit record %d (%s, %s)", r.Sequence, r.Action, clock.Format(r.CreatedAt))
}

// compareOne compares a resource with the last statement about it.
func (c *comparison) compareOne(s statement, now stored) {
	deleted := s.digest == "" && len(s.tables) == 0 && s.facts == nil && !s.exists
	switch {
	case s.unstated || len(db.StatedTablesOf(s.kind)) == 0:
	case deleted && len(now) > 0:
		c.found.Addf("resources that should not exist", "%s exists, but %s states that it does not", s.resource, s.record.describe())
	case deleted:
	case len(now) == 0:
		c.found.Addf("resources that are missing", "%s does not exist, but %s states it", s.resource, s.record.describe())
	case s.digest != "":
		if now.digest(s.kind) != s.digest && !c.compareFacts(s, now) {
			c.found.Addf("resources that were changed",
				"%s was changed outside Bursar: it is not what %s states, which has a digest of its columns only", s.resource, s.record.describe())
		}
	case s.tables != nil:
		c.compareTables(s, now)
	default:
		c.compareFacts(s, now)
	}
}

// compareTables compares the rows of a resource with those a record states.
func (c *comparison) compareTables(s statement, now stored) {
	for _, t := range db.StatedTablesOf(s.kind) {
		if c.waits[t.Table][s.id] {
			continue
		}
		stated, rows := s.tables[t.Table], now[t.Table]
		if n := max(len(stated.Rows), stated.Count); n != len(rows) {
			c.found.Addf("resources that were changed", "%s has %d rows in %s, but %s states %d", s.resource, len(rows), t.Table,
				s.record.describe(), n)
			continue
		}
		if t.Digest && len(stated.Rows) == 0 { // earlier versions stated the rows of some tables that now have a digest
			if len(rows) > 0 && sum(appendTable(nil, t, rows)) != stated.Digest {
				c.found.Addf("resources that were changed", "the rows of %s in %s were changed outside Bursar: they are not those that %s states",
					s.resource, t.Table, s.record.describe())
			}
			continue
		}
		for i, row := range rows {
			c.compareRow(s, t, stated.Rows[i], statedColumns(t, row))
		}
	}
}

// compareRow compares the columns of a row that a record states. Columns that have been added since are not in the record.
func (c *comparison) compareRow(s statement, t *db.StatedTable, stated, now map[string]*string) {
	for _, column := range slices.Sorted(maps.Keys(stated)) {
		found, there := now[column]
		if !there || db.OrEmpty(stated[column]) == db.OrEmpty(found) && (stated[column] == nil) == (found == nil) {
			continue
		}
		c.found.Addf("resources that were changed", "%s: %s of %s is %s, but %s states %s", s.resource, column, t.Table, shown(found),
			s.record.describe(), shown(stated[column]))
	}
}

func shown(value *string) string {
	if value == nil {
		return "empty"
	}
	return strconv.Quote(*value)
}

// factsOf returns facts, or nil.
func factsOf(text string) (out map[string]any) {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&out) != nil {
		return nil // facts that are no object say nothing about columns
	}
	return out
}
