package db

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// Engine is one of the two databases.
type Engine string

// The engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// words are the fragments in which the engines differ, by the name they have in braces in migrations and queries. Each says why.
var words = map[string]map[Engine]string{
	// Text compares by bytes on SQLite; a PostgreSQL database would use its locale, and keyset pages would differ.
	"text": {SQLite: "TEXT", Postgres: `TEXT COLLATE "C"`},
	// SQLite has no exact decimal: text under our own collation compares and sorts as a number.
	"decimal": {SQLite: "TEXT COLLATE DECIMAL", Postgres: "NUMERIC"},
	// SQLite has no time: fixed-width UTC text sorts as time does.
	"timestamp": {SQLite: "TEXT", Postgres: "TIMESTAMPTZ"},
	"bytes":     {SQLite: "BLOB", Postgres: "BYTEA"},
	"integer":   {SQLite: "INTEGER", Postgres: "BIGINT"},
	// SQLite's strict tables have no truth values.
	"boolean": {SQLite: "INTEGER", Postgres: "BOOLEAN"},
	// SQLite would take any value in any column and keep a second copy of the key; PostgreSQL does neither.
	"clustered": {SQLite: "STRICT, WITHOUT ROWID", Postgres: ""},
	// PostgreSQL writes a changed row anew: with room for it on its page, the indexes need not change.
	"updated": {SQLite: "STRICT, WITHOUT ROWID", Postgres: "WITH (fillfactor = 50)"},
	// Rows longer than a quarter of a page stay out of the key: SQLite would spill each into a page of its own.
	"heap": {SQLite: "STRICT", Postgres: ""},
	// A search index of SQLite's names rows by an integer that must not change; PostgreSQL's names them by itself.
	"row_key":     {SQLite: "row_key INTEGER PRIMARY KEY,", Postgres: ""},
	"primary_key": {SQLite: "UNIQUE", Postgres: "PRIMARY KEY"},
	// Lines of a migration for one engine alone.
	"sqlite":   {SQLite: "", Postgres: "--"},
	"postgres": {SQLite: "--", Postgres: ""},
	// SQLite has one writer, which is the lock.
	"for_update":  {SQLite: "", Postgres: "FOR UPDATE"},
	"skip_locked": {SQLite: "", Postgres: "FOR UPDATE SKIP LOCKED"},
	// A list of texts is one argument, whatever its length: an array on PostgreSQL, JSON on SQLite, which has none.
	"any": {SQLite: "IN (SELECT value FROM json_each(?))", Postgres: "= ANY(?::text[])"},
	// SQLite knows no figures about the data and might take the wrong index for the one condition that a sign before the column leaves it.
	"unindexed": {SQLite: "+", Postgres: ""},
	// Nor that a condition in parentheses is the one that leaves few rows: an index is worth its detour to the rows then.
	"rare": {SQLite: "unlikely", Postgres: ""},
	// And as rows, of which each has a value.
	"texts": {SQLite: "json_each(?) AS w", Postgres: "unnest(?::text[]) AS w (value)"},
	// PostgreSQL adds NUMERIC exactly; SQLite's + and sum would go through binary floating point.
	"dec_add": {SQLite: "dec_add", Postgres: "numeric_add"},
	"dec_sum": {SQLite: "dec_sum", Postgres: "sum"},
}

// expand replaces every {word} by the engine's fragment. Braces around anything else are left alone.
func expand(e Engine, text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	for name, by := range words {
		text = strings.ReplaceAll(text, "{"+name+"}", by[e])
	}
	return text
}

// bind turns a Go value into what the engine's driver stores, so that areas pass times as they are.
func bind(e Engine, v any) any {
	switch t := v.(type) {
	case time.Time:
		if e == SQLite {
			return clock.Format(t)
		}
		return clock.Stamp(t)
	case *time.Time:
		if t == nil {
			return nil
		}
		return bind(e, *t)
	case []string:
		if e == SQLite {
			list, _ := json.Marshal(t) // texts always encode
			return string(list)
		}
	}
	return v
}
