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

// fragments are the pieces of SQL in which the engines differ, by the name that stands for them in braces in migrations
// and queries. A comment gives the reason for each difference.
var fragments = map[string]map[Engine]string{
	// SQLite compares text by bytes; PostgreSQL would use the locale of the database, and keyset pagination would differ.
	"text": {SQLite: "TEXT", Postgres: `TEXT COLLATE "C"`},
	// SQLite has no exact decimals: text with our own collation compares and sorts as a number.
	"decimal": {SQLite: "TEXT COLLATE DECIMAL", Postgres: "NUMERIC"},
	// SQLite has no type for times: fixed-width UTC text sorts as time does.
	"timestamp": {SQLite: "TEXT", Postgres: "TIMESTAMPTZ"},
	"bytes":     {SQLite: "BLOB", Postgres: "BYTEA"},
	"integer":   {SQLite: "INTEGER", Postgres: "BIGINT"},
	// SQLite's strict tables have no booleans.
	"boolean": {SQLite: "INTEGER", Postgres: "BOOLEAN"},
	// SQLite would accept any value in any column and store a second copy of the key; PostgreSQL does neither.
	"clustered": {SQLite: "STRICT, WITHOUT ROWID", Postgres: ""},
	// PostgreSQL writes a new version of a changed row: with room for it on the same page, the indexes need not change.
	"updated": {SQLite: "STRICT, WITHOUT ROWID", Postgres: "WITH (fillfactor = 50)"},
	// For rows longer than a quarter of a page: in a table clustered by its key, SQLite would store each on a page of its own.
	"heap": {SQLite: "STRICT", Postgres: ""},
	// A full-text index of SQLite identifies rows by an integer that must not change; PostgreSQL needs no such column.
	"row_key":     {SQLite: "row_key INTEGER PRIMARY KEY,", Postgres: ""},
	"primary_key": {SQLite: "UNIQUE", Postgres: "PRIMARY KEY"},
	// Prefixes of lines of a migration that are for one engine only.
	"sqlite":   {SQLite: "", Postgres: "--"},
	"postgres": {SQLite: "--", Postgres: ""},
	// SQLite needs no row locks, because it has one writer.
	"for_update":  {SQLite: "", Postgres: "FOR UPDATE"},
	"skip_locked": {SQLite: "", Postgres: "FOR UPDATE SKIP LOCKED"},
	// A list of texts is one argument, whatever its length: an array on PostgreSQL, JSON on SQLite, which has no arrays.
	"any": {SQLite: "IN (SELECT value FROM json_each(?))", Postgres: "= ANY(?::text[])"},
	// SQLite has no statistics about our data and might choose the wrong index. A sign before a column keeps it from using
	// an index of that column.
	"unindexed": {SQLite: "+", Postgres: ""},
	// For the same reason, SQLite is told that a condition in parentheses leaves few rows, so that it uses an index.
	"rare": {SQLite: "unlikely", Postgres: ""},
	// A list of texts as rows with a column value.
	"texts": {SQLite: "json_each(?) AS w", Postgres: "unnest(?::text[]) AS w (value)"},
	// The same for integers, given as texts. They are converted here and not where they are compared: under row-level security PostgreSQL
	// uses no index for a condition with a conversion that may fail.
	"integers": {SQLite: "(SELECT CAST(value AS INTEGER) AS value FROM json_each(?)) AS w",
		Postgres: "unnest(?::text[]::bigint[]) AS w (value)"},
	// A list of pairs of texts, each given as one text with a space between them, as rows with the columns value and other. OFFSET 0 keeps
	// PostgreSQL from moving split_part into the conditions, for which it would use no index under row-level security.
	"pairs": {SQLite: "(SELECT substr(value, 1, instr(value, ' ') - 1) AS value, substr(value, instr(value, ' ') + 1) AS other " +
		"FROM json_each(?)) AS w",
		Postgres: "(SELECT split_part(u.pair, ' ', 1) AS value, split_part(u.pair, ' ', 2) AS other FROM unnest(?::text[]) AS u (pair) " +
			"OFFSET 0) AS w"},
	// Around the table that is joined to a list, and its conditions: PostgreSQL looks up each item of the list. Otherwise it plans for ten
	// items, however many there are, and may compare all rows with all items. SQLite looks up each item anyway.
	"each":     {SQLite: "", Postgres: "LATERAL (SELECT * FROM"},
	"end_each": {SQLite: "", Postgres: "OFFSET 0) AS found"},
	// PostgreSQL adds NUMERIC exactly; SQLite's + and sum would go through binary floating point.
	"dec_add": {SQLite: "dec_add", Postgres: "numeric_add"},
	"dec_sum": {SQLite: "dec_sum", Postgres: "sum"},
}

// expand replaces every {name} by the engine's fragment. Other braces are left unchanged.
func expand(e Engine, text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	for name, byEngine := range fragments {
		text = strings.ReplaceAll(text, "{"+name+"}", byEngine[e])
	}
	return text
}

// bind converts a Go value to what the engine's driver stores, so that callers can pass times and lists as they are.
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
