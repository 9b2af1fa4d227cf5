package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// rights are what the role that the service connects as may do, as far as migrations depend on it.
type rights struct {
	role, database string
	schema         string // where tables are created; empty if there is none
	creates        bool   // whether the role may create tables in it
	named          bool   // whether there is a schema with the name of the role, which PostgreSQL looks into first
	lacking        string // extensions that are not there and that the role may not install
	owner          string // of a table of ours in it that is not the role's; empty if there is none
}

// explainRights returns what to do about a migration that failed for lack of rights in PostgreSQL, or because something else is in the way.
// It returns nil for every other error.
func (d *DB) explainRights(ctx context.Context, failed error) error {
	state := sqlState(failed)
	if state != insufficientPrivilege && state != noSchema && state != duplicateTable {
		return nil
	}
	r, err := d.readRights(ctx)
	if err != nil {
		return nil // the failure itself says more than that nothing can be found out about it
	}
	role := pgx.Identifier{r.role}.Sanitize()
	schema := "CREATE SCHEMA AUTHORIZATION " + role
	if r.named {
		schema = "ALTER SCHEMA " + role + " OWNER TO " + role
	}
	schema = strings.Join(append([]string{schema}, r.extend(r.role)...), "; ")
	switch {
	case state == duplicateTable:
		return fmt.Errorf("the schema %s of the database %s has tables with the names of ours that Bursar did not create: use an empty database",
			r.schema, r.database)
	case r.owner != "":
		return fmt.Errorf("the tables in the schema %s of the database %s belong to the role %s: connect as that role instead of %s",
			r.schema, r.database, r.owner, r.role)
	case r.schema == "":
		return fmt.Errorf("the database %s has no schema in which the role %s may create tables: let its administrator run `%s` in it, then "+
			"start again", r.database, r.role, schema)
	case !r.creates:
		return fmt.Errorf("the role %s may not create tables in the schema %s of the database %s: let its administrator run `%s` in it, then "+
			"start again", r.role, r.schema, r.database, schema)
	case r.lacking != "":
		return fmt.Errorf("the role %s may not install the extensions %s, which searches need, in the database %s: let its administrator "+
			"run `%s` in it, then start again", r.role, r.lacking, r.database, strings.Join(r.extend(r.schema), "; "))
	}
	return nil
}

// extend returns the statements that install what is lacking in a schema.
func (r rights) extend(schema string) (out []string) {
	for name := range strings.FieldsSeq(r.lacking) {
		out = append(out, "CREATE EXTENSION "+name+" SCHEMA "+pgx.Identifier{schema}.Sanitize())
	}
	return out
}

// extensions are those that migrations install.
var extensions = []string{"btree_gin", "pg_trgm"}

// The SQLSTATEs of what explainRights explains.
const (
	insufficientPrivilege = "42501"
	noSchema              = "3F000"
	duplicateTable        = "42P07"
)

func (d *DB) readRights(ctx context.Context) (r rights, err error) {
	names := make([]string, len(Tables))
	for i, t := range Tables {
		names[i] = t.Name
	}
	err = d.read.QueryRowContext(ctx, `SELECT current_user, current_database(), coalesce(current_schema(), ''),
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
		EXISTS (SELECT 1 FROM pg_namespace n WHERE n.nspname = current_user),
		coalesce((SELECT string_agg(x, ' ' ORDER BY x) FROM unnest($2::text[]) AS x
			WHERE NOT has_database_privilege(current_database(), 'CREATE') AND x NOT IN (SELECT e.extname::text FROM pg_extension e)), ''),
		coalesce((SELECT min(pg_get_userbyid(c.relowner)::text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND (c.relname = ANY($1) OR c.relname = 'goose_db_version')
			AND NOT pg_has_role(c.relowner, 'USAGE')), '')`, names, extensions).Scan(
		&r.role, &r.database, &r.schema, &r.creates, &r.named, &r.lacking, &r.owner)
	return r, err
}
