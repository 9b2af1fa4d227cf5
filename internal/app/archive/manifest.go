package archive

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	formatName    = "bursar-archive"
	formatVersion = 1

	manifestFile = "manifest.json"
	folder       = "tables/"
	extension    = ".jsonl"
)

// Manifest says what an archive contains.
type Manifest struct {
	Format           string   `json:"format"`
	FormatVersion    int      `json:"format_version"`
	Program          string   `json:"program"` // the version of Bursar that wrote it
	Schema           int64    `json:"schema"`
	OrganizationID   string   `json:"organization_id"`
	OrganizationName string   `json:"organization_name"`
	MadeAt           string   `json:"made_at"`
	AuditSequence    int64    `json:"audit_sequence"` // of the last record of the audit log
	AuditHash        string   `json:"audit_hash"`
	Unrecorded       []string `json:"unrecorded_users"` // whose last change a job was still to record in the audit log
	Tables           []Table  `json:"tables"`

	// LeftOut has the reason for each table that the archive has nothing of.
	LeftOut map[string]string `json:"left_out"`
}

// Table says what an archive has of a table.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	Bytes   int64    `json:"bytes"`
	SHA256  string   `json:"sha256"`
}

// Rows returns how many rows all tables have.
func (m *Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// entry returns the name of the file of a table.
func entry(table string) string { return folder + table + extension }

// kept returns the tables that archives have, in the order in which rows are stored.
func kept() []db.ArchivedTable {
	return slices.DeleteFunc(db.ArchivedTables(), func(a db.ArchivedTable) bool { return a.LeftOut != "" })
}

// parseManifest reads a manifest and returns an error unless this version of the program can import what it describes.
func parseManifest(content []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(content, m); err != nil {
		return nil, damaged("%s is not JSON: %v", manifestFile, err)
	}
	schema, err := db.SchemaVersion()
	if err != nil {
		return nil, err
	}
	switch {
	case m.Format != formatName:
		return nil, damaged("%s does not describe an archive of Bursar", manifestFile)
	case m.FormatVersion != formatVersion || m.Schema != schema:
		return nil, fmt.Errorf("the archive was written by Bursar %s with the schema %d, and this is another version, with the schema %d: "+
			"use the same version for both databases, and export the organization again", printable(m.Program), m.Schema, schema)
	case !id.Valid(id.Organization, m.OrganizationID):
		return nil, damaged("it has no organization")
	}
	return m, m.checkTables()
}

// checkTables returns an error unless the manifest describes exactly the tables that archives have, with their columns.
func (m *Manifest) checkTables() error {
	all := kept()
	if len(m.Tables) != len(all) {
		return damaged("it describes %d tables instead of %d", len(m.Tables), len(all))
	}
	for i, a := range all {
		t := m.Tables[i]
		if t.Name != a.Name {
			return damaged("it describes the table %s instead of %s", printable(t.Name), a.Name)
		}
		l, err := a.Layout()
		if err != nil {
			return err
		}
		if want := l.Names(); !slices.Equal(t.Columns, want) {
			return damaged("the columns of %s are %s instead of %s", t.Name, printable(fmt.Sprint(t.Columns)), fmt.Sprint(want))
		}
		if t.Rows < 0 || t.Bytes < 0 {
			return damaged("%s has %d rows and %d bytes", t.Name, t.Rows, t.Bytes)
		}
		if one := a.Name == "organizations" || a.Name == "organization_state"; one && t.Rows != 1 {
			return damaged("%s has %d rows instead of 1", t.Name, t.Rows)
		}
	}
	return nil
}

// printable returns a text of an archive for a message: on one line, and not too long.
func printable(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most]
	}
	quoted := fmt.Sprintf("%q", text)
	return quoted[1 : len(quoted)-1]
}

// damaged returns the error of an archive that is not as Write writes them.
func damaged(format string, args ...any) error {
	return fmt.Errorf("the archive is damaged, or is none: "+format, args...)
}
