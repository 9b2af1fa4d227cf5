package db

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// Each migration is one text for both engines, so that their schemas cannot drift apart; words in braces are the engine's own.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. Nodes that start together take turns.
func (d *DB) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	dialect := goose.DialectSQLite3
	if d.engine == Postgres {
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, d.write, expandedFS{files, d.engine}, options...)
	if err != nil {
		return err
	}
	done, err := p.Up(ctx)
	if err != nil {
		return err
	}
	for _, r := range done {
		d.log.Info("migrated", "version", r.Source.Version, "took", r.Duration)
	}
	return d.migrateJobs(ctx)
}

// expandedFS is a file system whose files have their {words} replaced.
type expandedFS struct {
	fs.FS
	engine Engine
}

// Open reads a file whole: migrations are small.
func (e expandedFS) Open(name string) (fs.File, error) {
	f, err := e.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if _, folder := f.(fs.ReadDirFile); folder {
		return f, nil
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return expandedFile{f, strings.NewReader(expand(e.engine, string(text)))}, nil
}

type expandedFile struct {
	fs.File
	text *strings.Reader
}

func (f expandedFile) Read(p []byte) (int, error) { return f.text.Read(p) }

// migrateJobs makes the job queue's own tables, which the queue versions itself.
func (d *DB) migrateJobs(ctx context.Context) error {
	var err error
	if d.engine == SQLite {
		err = migrateRiver(rivermigrate.New(riversqlite.New(d.write), nil))(ctx)
	} else {
		err = migrateRiver(rivermigrate.New(riverdatabasesql.New(d.write), nil))(ctx)
	}
	if err != nil {
		return fmt.Errorf("the job queue's tables: %w", err)
	}
	return nil
}

func migrateRiver[T any](m *rivermigrate.Migrator[T], err error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err != nil {
			return err
		}
		_, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	}
}
