package db_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// asNewRole returns the configuration of a database for a new role without rights, and the name of the role. The role stays until the
// cluster of the tests is removed.
func asNewRole(t *testing.T, c db.Config) (db.Config, string) {
	t.Helper()
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	role := strings.Replace(strings.TrimPrefix(u.Path, "/"), "test", "role", 1)
	dbtest.ExecUnchecked(t, c, "CREATE ROLE "+role+" LOGIN PASSWORD '"+role+"'")
	u.User = url.UserPassword(role, role)
	c.URL = u.String()
	return c, role
}

func prepare(t *testing.T, c db.Config) error {
	t.Helper()
	d, err := db.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return d.Prepare(t.Context())
}

// advice is the statement that an error tells the administrator to run.
var advice = regexp.MustCompile("`([^`]+)`")

func TestARoleWithoutTheRightsToSetUpTheDatabaseIsToldWhatToDoAndThatWorks(t *testing.T) {
	t.Parallel()
	const mayNot, extension = "may not create tables in the schema public", "may not install the extensions btree_gin pg_trgm"
	for name, x := range map[string]struct {
		before string
		says   []string // one after the other
	}{
		"no right":                         {"", []string{mayNot}},
		"no schema":                        {"DROP SCHEMA public", []string{"has no schema in which the role ROLE may create tables"}},
		"a schema of another role":         {"CREATE SCHEMA ROLE", []string{mayNot}},
		"a right on a schema":              {"GRANT CREATE ON SCHEMA public TO ROLE", []string{extension}},
		"its own schema":                   {"CREATE SCHEMA AUTHORIZATION ROLE", []string{extension}},
		"its own schema, and searches":     {"CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin; CREATE SCHEMA AUTHORIZATION ROLE", nil},
		"its own schema, and the database": {"CREATE SCHEMA AUTHORIZATION ROLE; GRANT CREATE ON DATABASE NAME TO ROLE", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := dbtest.EmptyPostgres(t)
			c, role := asNewRole(t, owner)
			in := strings.NewReplacer("ROLE", role, "NAME", strings.Replace(role, "role", "test", 1))
			if x.before != "" {
				dbtest.ExecUnchecked(t, owner, in.Replace(x.before))
			}
			for _, says := range x.says {
				err := prepare(t, c)
				if err == nil || !strings.Contains(err.Error(), in.Replace(says)) || strings.Contains(err.Error(), "SQLSTATE") ||
					strings.Contains(err.Error(), "\n") {
					t.Fatalf("%v, want %q", err, says)
				}
				dbtest.ExecUnchecked(t, owner, advice.FindStringSubmatch(err.Error())[1])
			}
			for range 2 { // the second time the tables are there
				if err := prepare(t, c); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestTablesOfAnotherProgramAreLeftAlone(t *testing.T) {
	t.Parallel()
	c := dbtest.EmptyPostgres(t)
	dbtest.ExecUnchecked(t, c, "CREATE TABLE organizations (name text)")
	if err := prepare(t, c); err == nil || !strings.Contains(err.Error(), "that Bursar did not create: use an empty database") ||
		strings.Contains(err.Error(), "SQLSTATE") {
		t.Errorf("%v", err)
	}
}

func TestARoleThatDoesNotOwnTheTablesIsToldWhoDoes(t *testing.T) {
	t.Parallel()
	owner := dbtest.Postgres(t)
	c, role := asNewRole(t, owner)
	dbtest.ExecUnchecked(t, owner, "GRANT CREATE ON SCHEMA public TO "+role)
	err := prepare(t, c)
	if err == nil || !strings.Contains(err.Error(), "belong to the role bursar_test: connect as that role instead of "+role) ||
		strings.Contains(err.Error(), "SQLSTATE") {
		t.Errorf("%v", err)
	}
}
