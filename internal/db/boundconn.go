package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// Row-level security restricts a PostgreSQL transaction to the organization in a setting that lasts as long as the
// transaction. The connections of this file send the setting in the same message as BEGIN, or as the only statement of a
// read without a transaction, so that it costs no round trip. It never outlives the transaction: a pool between Bursar
// and the server may give the session to anybody next.

const (
	// organizationSetting names the setting with the organization of a transaction.
	organizationSetting = "bursar.organization"
	// allOrganizations is its value in a transaction across organizations. No identifier is like it.
	allOrganizations = "*"
)

// bindingKey finds the organization that a context binds statements to.
type bindingKey struct{}

// bindTo returns a context in which transactions that begin, and statements outside of one, are bound to an organization;
// empty means across organizations. Statements that are not bound at all see no rows of any organization.
func bindTo(ctx context.Context, org string) context.Context {
	if org == "" {
		org = allOrganizations
	}
	return context.WithValue(ctx, bindingKey{}, org)
}

// setOrganization returns the command that binds the transaction under way.
func setOrganization(org string) string {
	if org == "" {
		org = allOrganizations
	}
	return "SET LOCAL " + organizationSetting + " = '" + strings.ReplaceAll(org, "'", "''") + "'"
}

// bindQueued is setOrganization as a statement to be queued.
func bindQueued(org string) queued {
	if org == "" {
		org = allOrganizations
	}
	return queued{text: "SELECT set_config('" + organizationSetting + "', $1, true)", values: []any{org}}
}

// boundConnector opens connections that bind what runs on them to the organization of its context.
type boundConnector struct{ driver.Connector }

// Connect opens a connection.
func (c boundConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner := conn.(*stdlib.Conn)
	inner.Conn().TypeMap().RegisterType(&pgtype.Type{Name: "numeric", OID: pgtype.NumericOID, Codec: textNumeric{}})
	return &boundConn{inner}, nil
}

// textNumeric receives decimals as text, as package stdlib does: it keeps the number of decimal places.
type textNumeric struct{ pgtype.NumericCodec }

// PreferredFormat returns the text format.
func (textNumeric) PreferredFormat() int16 { return pgtype.TextFormatCode }

type boundConn struct{ *stdlib.Conn }

// pgxConn returns the connection of pgx below a connection of the pool.
func pgxConn(driverConn any) *pgx.Conn { return driverConn.(*boundConn).Conn.Conn() }

var isolationLevels = map[sql.IsolationLevel]string{
	sql.LevelDefault: "", sql.LevelReadCommitted: " ISOLATION LEVEL READ COMMITTED",
	sql.LevelRepeatableRead: " ISOLATION LEVEL REPEATABLE READ",
}

// BeginTx begins a transaction and binds it, in one message.
func (c *boundConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	org, bound := ctx.Value(bindingKey{}).(string)
	level, known := isolationLevels[sql.IsolationLevel(opts.Isolation)]
	switch {
	case !bound:
		return c.Conn.BeginTx(ctx, opts)
	case !known:
		return nil, fmt.Errorf("db: a bound transaction cannot have the isolation level %s", sql.IsolationLevel(opts.Isolation))
	case c.Conn.Conn().IsClosed():
		return nil, driver.ErrBadConn
	}
	begin := "BEGIN" + level
	if opts.ReadOnly {
		begin += " READ ONLY"
	}
	tx, err := c.Conn.Conn().BeginTx(ctx, pgx.TxOptions{BeginQuery: begin + "; " + setOrganization(org)})
	if err != nil {
		return nil, err
	}
	return boundTx{ctx, tx}, nil
}

type boundTx struct {
	ctx context.Context
	tx  pgx.Tx
}

// Commit commits the transaction.
func (t boundTx) Commit() error { return t.tx.Commit(t.ctx) }

// Rollback rolls the transaction back.
func (t boundTx) Rollback() error { return t.tx.Rollback(t.ctx) }

// QueryContext runs a query. Outside of a transaction it is bound by a statement sent with it: the server runs the two in
// one transaction of its own, because they come in one message.
func (c *boundConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	org, bound := ctx.Value(bindingKey{}).(string)
	conn := c.Conn.Conn()
	const idle = 'I'
	switch {
	case conn.IsClosed():
		return nil, driver.ErrBadConn
	case !bound || conn.PgConn().TxStatus() != idle:
		return c.Conn.QueryContext(ctx, query, args)
	}
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.Value
	}
	bind, b := bindQueued(org), &pgx.Batch{}
	b.Queue(bind.text, bind.values...)
	b.Queue(query, values...)
	results := conn.SendBatch(ctx, b)
	if _, err := results.Exec(); err != nil {
		_ = results.Close() // returns the same error again
		if pgconn.SafeToRetry(err) {
			return nil, driver.ErrBadConn
		}
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	r := &boundRows{results: results, rows: rows, types: conn.TypeMap()}
	r.more = rows.Next() // the columns are known when the first row is
	if err := rows.Err(); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// boundRows are the rows of a query that was sent together with its binding.
type boundRows struct {
	results pgx.BatchResults
	rows    pgx.Rows
	types   *pgtype.Map
	more    bool
	started bool
}

// Columns returns the names of the columns.
func (r *boundRows) Columns() []string {
	names := make([]string, len(r.rows.FieldDescriptions()))
	for i, f := range r.rows.FieldDescriptions() {
		names[i] = f.Name
	}
	return names
}

// Close ends the query.
func (r *boundRows) Close() error {
	r.rows.Close()
	return r.results.Close()
}

// Next reads a row.
func (r *boundRows) Next(dest []driver.Value) error {
	if r.started {
		r.more = r.rows.Next()
	}
	r.started = true
	if !r.more {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, f := range r.rows.FieldDescriptions() {
		raw := r.rows.RawValues()[i]
		t, known := r.types.TypeForOID(f.DataTypeOID)
		switch {
		case raw == nil:
			dest[i] = nil
		case !known:
			dest[i] = string(raw)
		default:
			v, err := t.Codec.DecodeDatabaseSQLValue(r.types, f.DataTypeOID, f.Format, raw)
			if err != nil {
				return fmt.Errorf("read column %s: %w", f.Name, err)
			}
			dest[i] = v
		}
	}
	return nil
}
