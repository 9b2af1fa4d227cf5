package db

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
)

// CountArchived returns how many rows of a table the archive of the organization has.
func CountArchived(ctx context.Context, tx *Tx, a ArchivedTable) (int64, error) {
	return One[int64](ctx, tx, "count", "SELECT count(*) FROM "+a.Name+" WHERE "+a.condition())
}

// EachArchived calls fn with each row of a table that the archive of the organization has, in the order of the primary key. It holds one
// row in memory. The values are those of the columns of the layout: nil, int64, bool, []byte, or the text of a text, a decimal or a time.
// The slice is used again for the next row.
func EachArchived(ctx context.Context, tx *Tx, a ArchivedTable, fn func(values []any) error) error {
	l, err := a.Layout()
	if err != nil {
		return err
	}
	query := "SELECT " + strings.Join(l.Names(), ", ") + " FROM " + a.Name + " WHERE " + a.condition()
	if len(l.Key) > 0 {
		query += " ORDER BY " + strings.Join(l.Key, ", ")
	}
	began := time.Now()
	rows, err := tx.query(ctx, query, nil)
	if err != nil {
		return err
	}
	n, err := eachRow(rows, a, l, fn)
	return tx.trans.note(tx.db.ran(ctx, tx.org, query, began, n, err))
}

func eachRow(rows *sql.Rows, a ArchivedTable, l Layout, fn func([]any) error) (n int64, err error) {
	defer rows.Close()
	raw, into, values := make([]any, len(l.Columns)), make([]any, len(l.Columns)), make([]any, len(l.Columns))
	for i := range raw {
		into[i] = &raw[i]
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return n, err
		}
		for i, c := range l.Columns {
			if values[i], err = archivedValue(c, raw[i]); err != nil {
				return n, fmt.Errorf("db: column %s of %s: %w", c.Name, a.Name, err)
			}
			if _, redacted := a.Redacted[c.Name]; redacted && values[i] != nil {
				values[i] = RedactedText
			}
		}
		if err := fn(values); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

// archivedValue returns what a driver has read as an archive has it.
func archivedValue(c Column, v any) (any, error) {
	switch t := v.(type) {
	case nil:
		return nil, nil
	case time.Time:
		return clock.Format(t), nil // some that earlier versions have stored on PostgreSQL have microseconds, which nothing shows
	case int64:
		if c.Type == BooleanColumn {
			return t != 0, nil
		}
		return t, nil
	case []byte:
		if c.Type != BytesColumn {
			return string(t), nil
		}
		return t, nil
	case string, bool:
		return t, nil
	}
	return nil, fmt.Errorf("a %T is not expected there", v)
}

// InsertArchived stores rows of a table as EachArchived returns them. Those of a table without organizations of which there is one with
// the same key already are left as they are; the number is of those that were stored. What the database refuses is an Invalid fault.
func InsertArchived(ctx context.Context, tx *Tx, a ArchivedTable, rows [][]any) (stored int64, err error) {
	l, err := a.Layout()
	if err != nil {
		return 0, err
	}
	suffix := ""
	if a.Merged() {
		suffix = " ON CONFLICT (" + strings.Join(l.Key, ", ") + ") DO NOTHING"
	}
	for len(rows) > 0 {
		n, query, args := len(rows), "", []any(nil)
		if tx.db.engine == Postgres {
			query, args = arraysOf(a, l, rows)
		} else {
			n = chunk(len(rows))
			query, args = valuesOf(a, l, rows[:n])
		}
		done, err := tx.Exec(ctx, query+suffix, args...)
		if err != nil {
			return stored, refused(a, err)
		}
		stored, rows = stored+done, rows[n:]
	}
	return stored, nil
}

// columnsOf returns the columns of an INSERT, and what comes before the values of a row.
func (a ArchivedTable) columnsOf(l Layout) (columns, before string) {
	columns = strings.Join(l.Names(), ", ")
	if TableNamed(a.Name).scoped() {
		columns, before = "organization_id, "+columns, "@org, "
	}
	return columns, before
}

func valuesOf(a ArchivedTable, l Layout, rows [][]any) (string, []any) {
	columns, before := a.columnsOf(l)
	one := "(" + before + strings.TrimSuffix(strings.Repeat("?, ", len(l.Columns)), ", ") + ")"
	args := make([]any, 0, len(rows)*len(l.Columns))
	for _, row := range rows {
		args = append(args, row...)
	}
	return "INSERT INTO " + a.Name + " (" + columns + ") VALUES " + strings.TrimSuffix(strings.Repeat(one+", ", len(rows)), ", "), args
}

// archivedArrays has the types of arrays in which PostgreSQL gets the values of a column.
var archivedArrays = map[ColumnType]string{TextColumn: "text[]", DecimalColumn: "text[]::numeric[]", TimeColumn: "text[]::timestamptz[]",
	BytesColumn: "text[]::bytea[]", IntegerColumn: "text[]::bigint[]", BooleanColumn: "text[]::boolean[]"}

func arraysOf(a ArchivedTable, l Layout, rows [][]any) (string, []any) {
	columns, before := a.columnsOf(l)
	names, casts, args := l.Names(), make([]string, len(l.Columns)), make([]any, len(l.Columns))
	for i, c := range l.Columns {
		casts[i] = "?::" + archivedArrays[c.Type]
		values := make([]*string, len(rows))
		for n, row := range rows {
			values[n] = archivedText(row[i])
		}
		args[i] = values
	}
	list := strings.Join(names, ", ")
	return "INSERT INTO " + a.Name + " (" + columns + ") SELECT " + before + "u." + strings.Join(names, ", u.") + " FROM unnest(" +
		strings.Join(casts, ", ") + ") AS u(" + list + ")", args
}

func archivedText(v any) *string {
	switch t := v.(type) {
	case string:
		return &t
	case int64:
		return ptr(strconv.FormatInt(t, 10))
	case bool:
		return ptr(strconv.FormatBool(t))
	case []byte:
		return ptr(`\x` + hex.EncodeToString(t))
	}
	return nil
}

// refused returns an Invalid fault for rows that the database refuses because of what they are, and every other error unchanged.
func refused(a ArchivedTable, err error) error {
	why := ""
	var e *pgconn.PgError
	switch code, lite := sqliteCode(err); {
	case isDuplicate(err):
		why = "this database has a row with the same key already, or the archive has one twice"
	case lite && code&0xff == 19, lite && code&0xff == 20: // SQLITE_CONSTRAINT, SQLITE_MISMATCH
		why = err.Error()
	case errors.As(err, &e) && (strings.HasPrefix(e.Code, "22") || strings.HasPrefix(e.Code, "23")):
		why = e.Message
	default:
		return err
	}
	return fault.Malformedf("a row of the table %s cannot be stored: %s", a.Name, why)
}

// AnalyzeArchived updates PostgreSQL's statistics about tables within the database transaction that has filled them, so that it chooses the
// right indexes for what follows. It does nothing on SQLite, which has no statistics here.
func AnalyzeArchived(ctx context.Context, tx *Tx, tables ...ArchivedTable) error {
	if tx.db.engine != Postgres {
		return nil
	}
	if err := tx.trans.send(ctx); err != nil {
		return err
	}
	for _, a := range tables {
		if _, err := tx.trans.execOne(ctx, queued{text: "ANALYZE " + TableNamed(a.Name).Name}); err != nil {
			return tx.trans.note(err)
		}
	}
	return nil
}
