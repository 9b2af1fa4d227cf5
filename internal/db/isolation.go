package db

import (
	"context"
	"fmt"
	"strings"
)

// Row-level security is the second barrier between organizations, on PostgreSQL. The first is the gate, which refuses
// statements that are not tied to @org; a statement that gets past it still finds only rows of its own organization.

// policyName is the name of the policy of each table. A policy is not changed after its creation: to change what it says,
// give it another name, so that isolate creates the new one, and drop this one.
const policyName = "one_organization"

// policyCondition is the condition on rows that a transaction sees and may write. The setting is read once for each
// statement, because it is in a subquery; it is null across organizations, where a row is compared with itself, and empty
// without an organization, which no row is equal to. IS NOT NULL is there for the planner, which would otherwise assume that
// the condition leaves few rows, and choose a slower plan: our statements have the same condition already.
const policyCondition = "CASE WHEN organization_id = coalesce((SELECT nullif(coalesce(current_setting('" + organizationSetting +
	"', true), ''), '" + allOrganizations + "')), organization_id) THEN true END IS NOT NULL"

// isolate turns row-level security on for every table with rows of organizations that does not have it yet. It runs after
// each migration, so that no new table is left out. The owner of a table is not exempt (FORCE), because the service owns
// its tables.
func (d *DB) isolate(ctx context.Context) error {
	if d.engine != Postgres {
		return nil
	}
	names := []string{}
	for _, t := range Tables {
		if t.scoped() {
			names = append(names, t.Name)
		}
	}
	rows, err := d.write.QueryContext(ctx, `SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
		AND c.relname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity
			AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = $2)) ORDER BY c.relname`, names, policyName)
	if err != nil {
		return err
	}
	open, err := readAll[string](ctx, rows)
	if err != nil || len(open) == 0 {
		return err
	}
	var script strings.Builder
	for _, table := range open {
		fmt.Fprintf(&script, "ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\n"+
			"DROP POLICY IF EXISTS %[2]s ON %[1]s;\nCREATE POLICY %[2]s ON %[1]s USING (%[3]s);\n", table, policyName, policyCondition)
	}
	_, err = d.write.ExecContext(ctx, script.String()) // one transaction, as it has no arguments
	return err
}

// bypassesIsolation returns why row-level security does not apply to the role that the service connects as, or an empty
// text.
func (d *DB) bypassesIsolation(ctx context.Context) (why string, err error) {
	if d.engine != Postgres {
		return "", nil
	}
	err = d.read.QueryRowContext(ctx, `SELECT CASE WHEN rolsuper THEN 'it is a superuser' WHEN rolbypassrls THEN 'it has BYPASSRLS' ELSE '' END
		FROM pg_roles WHERE rolname = current_user`).Scan(&why)
	return why, err
}

// searchesByIndex reports whether PostgreSQL may use the index of texts under row-level security: only if it knows that LIKE
// tells nothing about the rows it is applied to, which a superuser has to declare.
func (d *DB) searchesByIndex(ctx context.Context) (yes bool, err error) {
	const query = "SELECT proleakproof FROM pg_proc WHERE oid = 'pg_catalog.textlike(text, text)'::regprocedure"
	err = d.read.QueryRowContext(ctx, query).Scan(&yes)
	return yes, err
}

// checkIsolation warns of a role that row-level security does not apply to, and logs advice if it makes searches slow: to operators who
// read the log of the service, not to everybody who runs a command.
func (d *DB) checkIsolation(ctx context.Context) error {
	if d.engine != Postgres {
		return nil
	}
	why, err := d.bypassesIsolation(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		d.log.Warn("row-level security does not apply to the database role; connect as a role without these rights", "reason", why)
		return nil
	}
	indexed, err := d.searchesByIndex(ctx)
	if err == nil && !indexed {
		d.log.Info("searching texts of transactions does not use its index; let a superuser run this once in the database",
			"statement", "ALTER FUNCTION pg_catalog.textlike(text, text) LEAKPROOF")
	}
	return err
}
