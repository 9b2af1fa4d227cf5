package reference

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// countMax bounds how many rows of a table are counted, because other writes of the organization wait meanwhile.
const countMax = 1000

// Use is how many rows of one table refer to a record.
type Use struct {
	Table   string
	Count   int64  // at most countMax
	Example string // what users know the first row by; empty where rows have no name

	one, many string
}

// String describes the rows, for example "3 journal lines, for example of JE-1".
func (u Use) String() string {
	text := u.many
	if u.Count == 1 {
		text = u.one
	}
	text = fmt.Sprintf("%d %s", u.Count, text)
	if u.Count >= countMax {
		text = "at least " + text
	}
	if u.Example != "" {
		text += ", for example " + u.Example
	}
	return text
}

// Uses lists the rows that refer to one record, by table.
type Uses []Use

// String lists the uses, separated by semicolons.
func (u Uses) String() string {
	texts := make([]string, len(u))
	for i, one := range u {
		texts[i] = one.String()
	}
	return strings.Join(texts, "; ")
}

// To returns what refers to the record of a table and so prevents its deletion.
func To(ctx context.Context, tx *db.Tx, table, id string) (Uses, error) {
	return find(ctx, tx, linksTo(table, blocking), id)
}

// ToActive returns what refers to the record of a table and prevents archiving it.
func ToActive(ctx context.Context, tx *db.Tx, table, id string) (Uses, error) {
	return find(ctx, tx, linksTo(table, func(l link) bool { return l.Active != "" }).active(), id)
}

// Fixing returns what refers to the record of a table and prevents a change to one of its fields.
func Fixing(ctx context.Context, tx *db.Tx, table, field, id string) (Uses, error) {
	return find(ctx, tx, linksTo(table, func(l link) bool { return slices.Contains(l.Fixes, field) }), id)
}

// Used returns an SQL condition that is true if something prevents the deletion of the record whose id is in a column of the statement
// around it. The column must be qualified.
func Used(table, column string) string { return exists(linksTo(table, blocking), column) }

// DeleteDependents deletes the rows that are part of a record or restate it. The caller has called To before and deletes
// the record itself.
func DeleteDependents(ctx context.Context, tx *db.Tx, table, id string) error {
	for _, l := range linksTo(table, func(l link) bool { return l.Cascades }) {
		if err := removeRows(ctx, tx, l, id); err != nil {
			return err
		}
	}
	return nil
}

// Dangling is a reference to a record that does not exist.
type Dangling struct {
	Table string // the table of the referring row
	ID    string // the id it refers to
}

// FindDangling returns the references to records of a table that do not exist, each id once for each referring column.
func FindDangling(ctx context.Context, tx *db.Tx, table string) (out []Dangling, err error) {
	for _, l := range declaredTo(table, func(l link) bool { return !l.List && l.table.Name != table }) {
		ids, err := selectDangling(ctx, tx, l)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, Dangling{l.table.Name, id})
		}
	}
	return out, nil
}

// link is a declared reference and the table that has the column.
type link struct {
	db.Link
	table db.Table
}

type links []link

// linksTo returns the references to a table that satisfy a condition, in the order of db.Tables. It panics for a table whose references
// do not say what prevents a deletion.
func linksTo(table string, which func(link) bool) links {
	if !db.TableNamed(table).Guarded {
		panic("reference: the table " + table + " is not guarded")
	}
	return declaredTo(table, which)
}

// declaredTo returns the references to a table that satisfy a condition, in the order of db.Tables.
func declaredTo(table string, which func(link) bool) (out links) {
	for _, t := range db.Tables {
		for _, l := range t.References {
			if one := (link{l, t}); l.To == table && which(one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// blocking reports whether rows of a reference can prevent a deletion.
func blocking(l link) bool { return l.Ignored == "" }

// active narrows references to the rows that prevent archiving.
func (all links) active() links {
	out := slices.Clone(all)
	for i := range out {
		out[i].Blocks = out[i].Active
	}
	return out
}

// words returns what users call one row and several rows of a reference.
func (l link) words() (one, many string) {
	if l.One != "" {
		return l.One, l.Many
	}
	return l.table.One, l.table.Many
}

// shown returns an example as users see it.
func (l link) shown(example string) string {
	if example == "" || l.table.Shown == "" {
		return example
	}
	return fmt.Sprintf(l.table.Shown, example)
}
