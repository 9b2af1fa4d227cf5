package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest/pgcluster"
)

// engine creates empty databases of one kind.
type engine struct {
	name   string // as printed
	create func(name string) (database, error)
}

// onSQLite runs a measurement on SQLite.
func onSQLite(measure func(*bench, engine) ([]figure, error)) func(*bench) ([]figure, error) {
	return func(b *bench) ([]figure, error) {
		return measure(b, engine{name: "SQLite", create: func(name string) (database, error) {
			dir, err := os.MkdirTemp(b.dir, name+"-")
			return database{dir: dir}, err
		}})
	}
}

// onPostgres runs a measurement on PostgreSQL: on a server of its own that ends with it, unless the run has one.
func onPostgres(measure func(*bench, engine) ([]figure, error)) func(*bench) ([]figure, error) {
	return func(b *bench) (figures []figure, err error) {
		if b.postgres != nil {
			return measure(b, engine{name: "PostgreSQL", create: b.postgres})
		}
		if err := os.Chmod(b.dir, 0o755); err != nil { // PostgreSQL runs as a user of its own
			return nil, err
		}
		cluster, err := pgcluster.Start(b.ctx, pgcluster.Options{Dir: b.dir})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, cluster.Close()) }()
		return measure(b, engine{name: "PostgreSQL", create: func(name string) (database, error) {
			return createDatabase(b.ctx, cluster, strings.ReplaceAll(name, "-", "_"))
		}})
	}
}

func createDatabase(ctx context.Context, cluster *pgcluster.Cluster, name string) (database, error) {
	pool, err := sql.Open("pgx", cluster.URL("postgres"))
	if err != nil {
		return database{}, err
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return database{}, err
	}
	defer conn.Close()
	if err := pgcluster.CreateDatabase(ctx, conn, name, ""); err != nil {
		return database{}, err
	}
	d := database{url: pgcluster.ServiceURL(cluster.URL("postgres"), name), admin: cluster.URL(name)}
	return d, pgcluster.SearchByIndex(ctx, d.admin)
}

// database is a database, and the API key of its organization once it has one.
type database struct {
	dir   string // of a SQLite database
	url   string // of a PostgreSQL database, for the service
	admin string // of the same, for statements that bypass the service
	key   string
}

// flags name the database on the command line.
func (d database) flags() []string {
	if d.url != "" {
		return []string{"--database-url", d.url}
	}
	return []string{"--data", d.dir}
}

// open opens the database without the service.
func (d database) open() (pool *sql.DB, closePool func() error, err error) {
	if d.url != "" {
		if pool, err = sql.Open("pgx", d.admin); err != nil {
			return nil, nil, err
		}
		return pool, pool.Close, nil
	}
	handle, err := db.Open(db.Config{Dir: d.dir})
	if err != nil {
		return nil, nil, err
	}
	return handle.Jobs(), handle.Close, nil
}

// folder creates a SQLite database with an organization in it.
func (b *bench) folder(name string) (database, error) {
	return b.initialize(database{dir: filepath.Join(b.dir, name)})
}

// create creates a database with an organization in it.
func (b *bench) create(e engine, name string) (database, error) {
	d, err := e.create(name)
	if err != nil {
		return d, err
	}
	return b.initialize(d)
}
