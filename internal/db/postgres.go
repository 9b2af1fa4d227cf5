package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	connsDefault = 24
	// connsMin is what a migration needs: one connection holds the lock while another changes the schema.
	connsMin       = 2
	connectTimeout = 5 * time.Second
)

func (d *DB) openPostgres() error {
	d.engine = Postgres
	config, err := pgx.ParseConfig(d.config.URL)
	if err != nil {
		// The message of pgx is left out, because it quotes the address with the password.
		return fmt.Errorf("the database address is not valid: it must look like postgres://user:password@host:5432/name")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "bursar"
	}
	conns := d.config.MaxConns
	if conns == 0 {
		conns = connsDefault
	}
	if conns < connsMin {
		return fmt.Errorf("db: %d is too small a number of PostgreSQL connections: set MaxConns to at least %d, or to 0 for the default of %d",
			conns, connsMin, connsDefault)
	}
	pool := sql.OpenDB(boundConnector{stdlib.GetConnector(*config)})
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	d.write, d.read = pool, pool
	return nil
}

// unsafeError names a setting of PostgreSQL that would lose acknowledged writes in a crash.
type unsafeError struct{ Setting string }

func (e *unsafeError) Error() string {
	return fmt.Sprintf("PostgreSQL has %s off: a crash would lose writes that were already acknowledged. Turn it on, or start with "+
		"--allow-data-loss-on-crash", e.Setting)
}

// checkDurability returns an unsafeError if a setting of PostgreSQL means that a commit may not survive a crash. SQLite's
// settings are ours; see sqliteDSN.
func (d *DB) checkDurability(ctx context.Context) error {
	if d.engine == SQLite {
		return nil
	}
	for _, setting := range []string{"fsync", "synchronous_commit"} {
		var value string
		if err := d.read.QueryRowContext(ctx, "SHOW "+setting).Scan(&value); err != nil {
			return translate(ctx, err)
		}
		if value != "off" {
			continue
		}
		if !d.config.AllowDataLoss {
			return &unsafeError{setting}
		}
		d.log.Warn("PostgreSQL may lose acknowledged writes in a crash", "setting", setting, "value", value)
	}
	return nil
}

// VacuumAnalyze updates PostgreSQL's statistics about a table after many rows were inserted: PostgreSQL itself does so
// only from time to time, and may choose the wrong index until then. It does nothing on SQLite, which has no statistics
// here.
func (d *DB) VacuumAnalyze(ctx context.Context, table string) error {
	if d.engine != Postgres {
		return nil
	}
	if _, ok := tablesByName[table]; !ok {
		return fmt.Errorf("db: there is no table %s", table)
	}
	_, err := d.write.ExecContext(ctx, "VACUUM (ANALYZE) "+table)
	return translate(ctx, err)
}
