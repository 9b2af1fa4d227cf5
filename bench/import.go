package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bursarhq/bursar/internal/db"
)

const (
	importRatioMin  = 0.3
	importMemoryMax = 200.0  // megabytes
	plainChunk      = 10_000 // rows of a transaction of the plain program
)

// importFigures compares the import of a file with writing the same rows directly to the same table, with all its indexes, in
// another database.
func (b *bench) importFigures(e engine, f *transactionService) ([]figure, error) {
	other, err := b.create(e, "plain")
	if err != nil {
		return nil, err
	}
	how, plainly := "COPY", b.copyPostgres
	if f.url == "" {
		how, plainly = "one prepared insert, 10,000 per transaction", b.copySQLite
	}
	took, err := plainly(f, other)
	if err != nil {
		return nil, err
	}
	ratio := took.Seconds() / f.took.Seconds()
	rate := func(d time.Duration) float64 { return float64(f.rows) / d.Seconds() }
	return []figure{
		{name: "import on " + e.name + ", of the database's own rate", value: fmt.Sprintf("%.2f", ratio),
			target: fmt.Sprintf(">= %.1f", importRatioMin), verdict: b.judge(ratio >= importRatioMin),
			note: fmt.Sprintf("%d rows of CSV: %.0f/s from upload to the last row, %.0f/s by %s", f.rows, rate(f.took), rate(took), how)},
		{name: "import on " + e.name + ", memory", value: fmt.Sprintf("%.0f MB", f.resident),
			target: fmt.Sprintf("< %.0f MB", importMemoryMax), verdict: b.judge(f.resident < importMemoryMax),
			note: "the most the process used"},
	}, nil
}

// copyPostgres writes the rows to a file and times COPY from it.
func (b *bench) copyPostgres(f *transactionService, other database) (took time.Duration, err error) {
	from, err := pgx.Connect(b.ctx, f.admin)
	if err != nil {
		return 0, err
	}
	defer from.Close(b.ctx)
	to, err := pgx.Connect(b.ctx, other.admin)
	if err != nil {
		return 0, err
	}
	defer to.Close(b.ctx)
	file, err := os.Create(filepath.Join(b.dir, "rows"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if _, err := from.PgConn().CopyTo(b.ctx, file, "COPY (SELECT * FROM transactions WHERE source_id = '"+f.source+
		"' ORDER BY number) TO STDOUT"); err != nil {
		return 0, err
	}
	if _, err := file.Seek(0, 0); err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = to.PgConn().CopyFrom(b.ctx, file, "COPY transactions FROM STDIN")
	return time.Since(began), err
}

// copySQLite reads rows in chunks, and times only the inserts and commits.
func (b *bench) copySQLite(f *transactionService, other database) (took time.Duration, err error) {
	from, err := db.Open(db.Config{Dir: f.dir})
	if err != nil {
		return 0, err
	}
	defer from.Close()
	to, err := db.Open(db.Config{Dir: other.dir})
	if err != nil {
		return 0, err
	}
	defer to.Close()
	for after := int64(0); ; {
		columns, rows, last, err := readChunk(b, from.Jobs(), f.source, after)
		if err != nil || len(rows) == 0 {
			return took, err
		}
		after = last
		began := time.Now()
		if err := insertChunk(b, to.Jobs(), columns, rows); err != nil {
			return took, err
		}
		took += time.Since(began)
	}
}

func readChunk(b *bench, from *sql.DB, source string, after int64) (columns []string, out [][]any, last int64, err error) {
	rows, err := from.QueryContext(b.ctx, "SELECT * FROM transactions WHERE row_key > ? AND source_id = ? ORDER BY row_key LIMIT ?",
		after, source, plainChunk)
	if err != nil {
		return nil, nil, 0, err
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, 0, err
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, nil, 0, err
		}
		last = values[0].(int64)
		out = append(out, values)
	}
	return columns, out, last, rows.Err()
}

func insertChunk(b *bench, to *sql.DB, columns []string, rows [][]any) error {
	tx, err := to.BeginTx(b.ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	stmt, err := tx.PrepareContext(b.ctx, "INSERT INTO transactions ("+strings.Join(columns, ", ")+") VALUES ("+
		strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")+")")
	if err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := stmt.ExecContext(b.ctx, row...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
