package db

import (
	"fmt"
	"slices"
)

// Kind says how a table is spread when one PostgreSQL is not enough.
type Kind string

// The kinds. Tenant tables follow their organization; reference tables are small, read mostly and copied everywhere;
// local ones belong to one coordinator.
const (
	Tenant    Kind = "tenant"
	Reference Kind = "reference"
	Local     Kind = "local"
)

// Table describes one table: who owns it, what users call its rows, and which records its columns refer to.
type Table struct {
	Name string
	Kind Kind

	// PerOrganization means that the rows of a reference table, too, each belong to one organization. In tenant tables all do.
	PerOrganization bool

	// Owner is the package below internal that alone writes the table. Other packages read it through the owner, or are listed with a
	// reason in internal/arch.
	Owner string

	// Unaudited is the reason why a change to the table on behalf of an organization needs no audit row; empty means that it needs one.
	Unaudited string

	// ID is the column with the id of a row; empty where rows have no id of their own.
	ID string

	// One and Many are what users call a row and several rows.
	One, Many string

	// Example is the column that users know a row by, and Shown the format in which they see it, such as "JE-%s"; empty means "%s".
	Example, Shown string

	// Guarded means that a record is deleted only when no other refers to it: each reference to this table says which rows prevent that.
	Guarded bool

	References []Link

	// Unlinked has the reason for each column that is named like an id and refers to no table.
	Unlinked map[string]string
}

// scoped reports whether each row of the table belongs to one organization, so that a transaction of another must not reach it.
func (t Table) scoped() bool { return t.Kind == Tenant || t.PerOrganization }

// Link declares that a column refers to the records of a table. The package kernel/reference makes its statements from it, in which
// conditions name the columns of the referring table without a qualifier.
type Link struct {
	Column string
	To     string

	// Where is the condition under which a row refers to a record at all, besides that the column is not null.
	Where string

	// Blocks is a further condition on rows that prevent the deletion of the record; empty means that all do.
	Blocks string

	// Ignored is the reason why no row prevents the deletion of the record.
	Ignored string

	// Cascades means that rows which do not prevent the deletion of a record are deleted with it.
	Cascades bool

	// Active is the condition on rows that also prevent archiving the record; empty means that none does.
	Active string

	// Fixes lists the fields of the record that cannot change as long as a row refers to it.
	Fixes []string

	// Rows replaces the statement that finds the blocking rows of the record {id}, where that needs a join; its column is called example.
	// All rows of one referenced table are found in one statement, so each table in it has an alias that no other reference uses.
	Rows string

	// Order is the order of the index by which the rows are found. At most some rows are counted, and these are then the first ones.
	Order string

	// Unindexed is the reason why looking for the rows without an index is acceptable.
	Unindexed string

	// List means that the column holds several ids.
	List bool

	// One and Many replace the words of the table.
	One, Many string
}

// Tables lists every table there is; a test compares it with the catalogs of both engines.
var Tables = slices.Concat(kernelTables, tenancyTables, booksTables, treasuryTables, assetTables, receivableTables, integrationTables,
	automationTables, libraryTables)

var tablesByName = func() map[string]Table {
	m := make(map[string]Table, len(Tables))
	for _, t := range Tables {
		if _, twice := m[t.Name]; twice {
			panic(fmt.Sprintf("db: table %s is registered twice", t.Name))
		}
		m[t.Name] = t
	}
	return m
}()

// TableNamed returns the description of a table. It panics when there is none.
func TableNamed(name string) Table {
	t, ok := tablesByName[name]
	if !ok {
		panic(fmt.Sprintf("db: table %s is not registered", name))
	}
	return t
}
