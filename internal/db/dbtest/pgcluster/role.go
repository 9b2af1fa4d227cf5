package pgcluster

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
)

// role is who the service connects as in tests and benchmarks: an ordinary role that owns its databases, so that row-level
// security applies to it as in production. It does not apply to the administrator of a cluster, who is a superuser.
const role = "bursar_test"

// ServiceURL returns the address of a database for the role of the service, given that of any database of the cluster for
// the administrator.
func ServiceURL(admin, database string) string {
	u := parse(admin)
	u.Path, u.User = "/"+database, url.UserPassword(role, role)
	return u.String()
}

// AdminURL returns the address of a database for the administrator, given that of any database for the administrator, and
// that of this one for the role of the service.
func AdminURL(admin, service string) string {
	u := parse(service)
	u.User = parse(admin).User
	return u.String()
}

func parse(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // addresses come from Cluster.URL, or from the environment of a test
	}
	return u
}

// CreateDatabase creates a database that the role of the service owns, and the role if it is not there yet. No other
// process may do so at the same time.
func CreateDatabase(ctx context.Context, admin *sql.Conn, name, options string) error {
	var exists bool
	if err := admin.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1)", role).Scan(&exists); err != nil {
		return err
	}
	statements := []string{"CREATE DATABASE " + name + " OWNER " + role + " " + options}
	if !exists {
		statements = append([]string{"CREATE ROLE " + role + " LOGIN PASSWORD '" + role + "'"}, statements...)
	}
	for _, s := range statements {
		if _, err := admin.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// SearchByIndex does what only the administrator of a database may, so that searches in it use their index under row-level
// security: see docs/OPERATIONS.md.
func SearchByIndex(ctx context.Context, address string) error {
	return ExecAt(ctx, address, "ALTER FUNCTION pg_catalog.textlike(text, text) LEAKPROOF")
}

// ExecAt runs a statement in the database with an address.
func ExecAt(ctx context.Context, address, statement string) error {
	pool, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
