package audit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// The state of a record is what is stored of the resources that the change concerns, after the change: all columns of all
// rows of the tables that *db.StatedTables declares. Verification reads the same rows again and compares. It has one of two
// forms: a digest of the rows of the record's own resource, or a document with the rows.

// Part is a resource that a record speaks for beside its own, such as each account of a chart that is created at once.
type Part struct {
	Type, ID string

	// Table and Row are what is written. Without a row, what is stored is read before the commit.
	Table string
	Row   any
}

// resource identifies a resource.
type resource struct{ kind, id string }

func (r resource) String() string { return strings.ReplaceAll(r.kind, "_", " ") + " " + r.id }

// stored is what is stored of a resource, by table. A table without rows is absent.
type stored map[string][]db.TextRow

// tableState is what a record states of one table: the rows, or how many there are and their digest.
type tableState struct {
	Rows   []map[string]*string `json:"rows,omitempty"`
	Count  int                  `json:"count,omitempty"`
	Digest string               `json:"digest,omitempty"`
}

// states is what a record states of a resource, by table.
type states map[string]tableState

// document is the form of a state that has rows.
type document struct {
	Digest    string                       `json:"digest,omitempty"` // of the record's own resource
	Range     *numbered                    `json:"range,omitempty"`
	Resources map[string]map[string]states `json:"resources,omitempty"` // by type and id
}

// numbered states resources with consecutive numbers that were created together: a digest for each, one after the other.
type numbered struct {
	Type    string `json:"type"`
	First   int64  `json:"first"`
	Digests string `json:"digests"`
}

// digestLength is the length of a digest: 18 bytes of SHA-256, enough that nobody can construct two states with the same.
const digestLength = 24

// Digest computes the digest of what is about to be stored of a resource. Tables are added in the order of db.StatedTables.
type Digest struct {
	kind string
	buf  []byte
}

// NewDigest returns the digest of a resource of a type.
func NewDigest(kind string) *Digest { return &Digest{kind: kind, buf: make([]byte, 0, 1024)} }

// AddRows adds rows that are about to be written to a table, in their order.
func AddRows[T any](d *Digest, table string, rows ...T) {
	if len(rows) == 0 {
		return
	}
	t := statedTable(d.kind, table)
	d.buf = append(append(d.buf, table...), '\n')
	for i := range rows {
		d.buf = db.AppendRow(d.buf, &rows[i], t)
	}
}

// Sum returns the digest, which is what a Change has as State.
func (d *Digest) Sum() string { return sum(d.buf) }

func sum(buf []byte) string {
	full := sha256.Sum256(buf)
	return base64.RawURLEncoding.EncodeToString(full[:digestLength/4*3])
}

// RangeState returns the State of a change that creates resources with consecutive numbers, from the digest of each.
func RangeState(kind string, first int64, digests []string) string {
	return encode(document{Range: &numbered{kind, first, strings.Join(digests, "")}})
}

func statedTable(kind, table string) *db.StatedTable {
	for _, t := range db.StatedTablesOf(kind) {
		if t.Table == table {
			return t
		}
	}
	panic(fmt.Sprintf("audit: db.StatedTables does not declare %s for %s", table, kind))
}

// isDigested reports whether records state a resource of a type by one digest of all of its rows.
func isDigested(kind string) bool {
	for _, t := range db.StatedTablesOf(kind) {
		if !t.Digest {
			return false
		}
	}
	return len(db.StatedTablesOf(kind)) > 0
}

// digest returns the digest of what was read of a resource. It is the one that Digest computes from the same rows.
func (s stored) digest(kind string) string {
	var buf []byte
	for _, t := range db.StatedTablesOf(kind) {
		buf = appendTable(buf, t, s[t.Table])
	}
	return sum(buf)
}

func appendTable(buf []byte, t *db.StatedTable, rows []db.TextRow) []byte {
	if len(rows) == 0 {
		return buf
	}
	buf = append(append(buf, t.Table...), '\n')
	for _, r := range rows {
		buf = db.AppendTexts(buf, r, t)
	}
	return buf
}

// states returns what a record states of a resource, by table.
func (s stored) states(kind string) states {
	out := states{}
	for _, t := range db.StatedTablesOf(kind) {
		switch rows := s[t.Table]; {
		case len(rows) == 0:
		case t.Digest:
			out[t.Table] = tableState{Count: len(rows), Digest: sum(appendTable(nil, t, rows))}
		default:
			state := tableState{Rows: make([]map[string]*string, len(rows))}
			for i, r := range rows {
				state.Rows[i] = statedColumns(t, r)
			}
			out[t.Table] = state
		}
	}
	return out
}

// longText is the length from which a record states the hash of a text instead of the text.
const longText = 256

// statedColumns returns the columns of a row that records state.
func statedColumns(t *db.StatedTable, r db.TextRow) map[string]*string {
	out := make(map[string]*string, len(r))
	for column, text := range r {
		if t.LeaveOut(column) {
			continue
		}
		if text.Value != nil && len(*text.Value) > longText {
			hash := sha256.Sum256([]byte(*text.Value))
			long := "sha256:" + hex.EncodeToString(hash[:])
			out[column] = &long
			continue
		}
		out[column] = text.Value
	}
	return out
}

// put adds what a record states of a resource to a document.
func (d *document) put(r resource, s states) {
	if d.Resources == nil {
		d.Resources = map[string]map[string]states{}
	}
	if d.Resources[r.kind] == nil {
		d.Resources[r.kind] = map[string]states{}
	}
	d.Resources[r.kind][r.id] = s
}

// parseState reads the state of a record. It returns nil for a record of an earlier version, which has none.
func parseState(text string) (*document, error) {
	if text == "" {
		return nil, nil
	}
	if !strings.HasPrefix(text, "{") {
		return &document{Digest: text}, nil
	}
	d := &document{}
	if err := json.Unmarshal([]byte(text), d); err != nil {
		return nil, fmt.Errorf("audit: the state of a record cannot be read: %w", err)
	}
	return d, nil
}
