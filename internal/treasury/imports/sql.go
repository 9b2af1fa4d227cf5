package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

type row struct {
	ID         string     `db:"import_id"`
	SourceID   string     `db:"source_id"`
	FileName   string     `db:"file_name"`
	Format     string     `db:"format"`
	Preset     *string    `db:"preset"`
	Mapping    string     `db:"mapping"`
	Status     string     `db:"status"`
	FileSize   int64      `db:"file_size"`
	BytesRead  int64      `db:"bytes_read"`
	Rows       int64      `db:"rows_read"`
	Created    int64      `db:"created_count"`
	Duplicates int64      `db:"duplicate_count"`
	Skipped    int64      `db:"skipped_count"`
	Faulty     int64      `db:"faulty_count"`
	Faults     int64      `db:"fault_count"`
	Warnings   *string    `db:"warnings"`
	Error      *string    `db:"error_message"`
	UserID     *string    `db:"user_id"`
	APIKeyID   *string    `db:"api_key_id"`
	RequestID  *string    `db:"request_id"`
	LimitedTo  string     `db:"limited_to"`
	Tries      int64      `db:"tries"`
	CreatedAt  time.Time  `db:"created_at"`
	StartedAt  *time.Time `db:"started_at"`
	FinishedAt *time.Time `db:"finished_at"`
}

func toRow(i Import) (row, error) {
	mapping, err := json.Marshal(i.Mapping)
	if err != nil {
		return row{}, err
	}
	warnings, err := i.encodeWarnings()
	return row{
		ID: i.ID, SourceID: i.SourceID, FileName: i.FileName, Format: string(i.Mapping.Format), Preset: db.OrNull(i.Mapping.Preset),
		Mapping: string(mapping), Status: string(i.Status), FileSize: i.FileSize, BytesRead: i.BytesRead,
		Rows: i.Counts.Rows, Created: i.Counts.Created, Duplicates: i.Counts.Duplicates, Skipped: i.Counts.Skipped,
		Faulty: i.Counts.Faulty, Faults: i.Counts.Faults, Warnings: warnings, Error: db.OrNull(i.Error),
		UserID: db.OrNull(i.UserID), APIKeyID: db.OrNull(i.APIKeyID), RequestID: db.OrNull(i.RequestID),
		LimitedTo: strings.Join(i.LegalEntityIDs, " "), CreatedAt: i.CreatedAt, StartedAt: i.StartedAt, FinishedAt: i.FinishedAt,
	}, err
}

func (r row) imported() (Import, error) {
	i := Import{
		ID: r.ID, SourceID: r.SourceID, FileName: r.FileName, Status: Status(r.Status), FileSize: r.FileSize, BytesRead: r.BytesRead,
		Counts: Counts{Rows: r.Rows, Created: r.Created, Duplicates: r.Duplicates, Skipped: r.Skipped, Faulty: r.Faulty,
			Faults: r.Faults},
		Error: db.OrEmpty(r.Error), UserID: db.OrEmpty(r.UserID), APIKeyID: db.OrEmpty(r.APIKeyID), RequestID: db.OrEmpty(r.RequestID),
		LegalEntityIDs: strings.Fields(r.LimitedTo), CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
	if err := json.Unmarshal([]byte(r.Mapping), &i.Mapping); err != nil {
		return i, fmt.Errorf("imports: the mapping of %s: %w", r.ID, err)
	}
	if r.Warnings == nil {
		return i, nil
	}
	var w storedWarnings
	if err := json.Unmarshal([]byte(*r.Warnings), &w); err != nil {
		return i, fmt.Errorf("imports: the warnings of %s: %w", r.ID, err)
	}
	i.Counts.Warnings, i.Warnings = w.Count, w.First
	return i, nil
}

// storedWarnings is the JSON in the column warnings.
type storedWarnings struct {
	Count int64          `json:"count"`
	First []intake.Fault `json:"first"`
}

// encodeWarnings returns the warnings of an import as they are stored, nil if there are none.
func (i Import) encodeWarnings() (*string, error) {
	if i.Counts.Warnings == 0 {
		return nil, nil
	}
	text, err := json.Marshal(storedWarnings{i.Counts.Warnings, i.Warnings})
	return db.OrNull(string(text)), err
}

func errNotFound() error { return fault.Missing(noun) }

var selectRows = "SELECT " + db.Columns[row]() + " FROM imports WHERE organization_id = @org"

func insert(ctx context.Context, tx *db.Tx, i Import) error {
	r, err := toRow(i)
	if err != nil {
		return err
	}
	return db.Insert(ctx, tx, "imports", r)
}

func findUnchecked(ctx context.Context, tx *db.Tx, importID string) (Import, error) {
	r, err := selectRow(ctx, tx, importID)
	if err != nil {
		return Import{}, err
	}
	return r.imported()
}

func selectRow(ctx context.Context, tx *db.Tx, importID string) (row, error) {
	return db.One[row](ctx, tx, noun, selectRows+" AND import_id = ?", importID)
}

// selectPage returns the newest imports first, of the given sources, or of all if sources is nil.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, sources []string, below string, limit int) ([]Import, error) {
	q := db.Select(selectRows + " AND status <> 'uploading'")
	if below != "" {
		q.And("import_id < ?", below)
	}
	if f.SourceID != "" {
		q.And("source_id = ?", f.SourceID)
	}
	if f.Status != "" {
		q.And("status = ?", string(f.Status))
	}
	if sources != nil {
		q.And("source_id {any}", sources)
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY import_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	out := make([]Import, len(rows))
	for n, r := range rows {
		if out[n], err = r.imported(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type chunkRow struct {
	ImportID string `db:"import_id"`
	Position int64  `db:"position"`
	Content  []byte `db:"content"`
}

// insertChunks splits a part of a file into chunks and stores them.
func insertChunks(ctx context.Context, tx *db.Tx, importID string, position int64, content []byte) error {
	var rows []chunkRow
	for ; len(content) > 0; position++ {
		n := min(len(content), chunkSize)
		rows = append(rows, chunkRow{importID, position, content[:n]})
		content = content[n:]
	}
	return db.Insert(ctx, tx, "import_chunks", rows...)
}

// renewUpload extends the lease of an upload, and returns an error if the upload was abandoned.
func renewUpload(ctx context.Context, tx *db.Tx, importID string, until time.Time) error {
	n, err := tx.Exec(ctx, "UPDATE imports SET claimed_until = ? WHERE organization_id = @org AND import_id = ? AND status = 'uploading' "+
		"AND claim IS NULL", until, importID)
	if err == nil && n == 0 {
		err = errNotFound()
	}
	return err
}

// selectChunk returns a chunk of a file, or nothing after its end.
func selectChunk(ctx context.Context, tx *db.Tx, importID string, position int64) ([]byte, error) {
	rows, err := db.All[chunkRow](ctx, tx,
		"SELECT import_id, position, content FROM import_chunks WHERE organization_id = @org AND import_id = ? AND position = ?",
		importID, position)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].Content, nil
}

// needed is the condition for an import whose file will still be read, or for an upload in progress. An abandoned
// upload has a claim.
const needed = "(i.status IN ('pending', 'running') OR i.status = 'uploading' AND i.claim IS NULL)"

// deleteChunks deletes some of the chunks of a file that is not needed.
func deleteChunks(ctx context.Context, tx *db.Tx, importID string, limit int64) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM import_chunks WHERE organization_id = @org AND import_id = ?
		AND NOT EXISTS (SELECT 1 FROM imports i WHERE i.organization_id = @org AND i.import_id = ? AND `+needed+`)
		AND position IN (SELECT c.position FROM import_chunks c WHERE c.organization_id = @org AND c.import_id = ? ORDER BY c.position LIMIT ?)`,
		importID, importID, importID, limit)
}

// createFromUpload turns an upload into an import and returns the size of its file.
func createFromUpload(ctx context.Context, tx *db.Tx, i Import) (size int64, err error) {
	size, err = db.One[int64](ctx, tx, "count",
		"SELECT coalesce(sum(length(c.content)), 0) FROM import_chunks c WHERE c.organization_id = @org AND c.import_id = ?", i.ID)
	if err != nil {
		return 0, err
	}
	n, err := tx.Exec(ctx, "UPDATE imports SET source_id = ?, status = ?, created_at = ?, file_size = ?, claimed_until = NULL "+
		"WHERE organization_id = @org AND import_id = ? AND status = 'uploading' AND claim IS NULL", i.SourceID, string(i.Status), i.CreatedAt,
		size, i.ID)
	if err == nil && n == 0 {
		err = errNotFound()
	}
	return size, err
}

// abandonUpload prevents an upload from becoming an import.
func abandonUpload(ctx context.Context, tx *db.Tx, importID string) error {
	_, err := tx.Exec(ctx,
		"UPDATE imports SET claim = 'given up' WHERE organization_id = @org AND import_id = ? AND status = 'uploading'", importID)
	return err
}

func removeUpload(ctx context.Context, tx *db.Tx, importID string) error {
	_, err := tx.Exec(ctx,
		"DELETE FROM imports WHERE organization_id = @org AND import_id = ? AND status = 'uploading' AND claim IS NOT NULL", importID)
	return err
}

type faultRow struct {
	ImportID string  `db:"import_id"`
	Position int64   `db:"position"`
	Line     int64   `db:"line"`
	Column   *string `db:"column_name"`
	Message  string  `db:"message"`
}

func insertFaults(ctx context.Context, tx *db.Tx, importID string, faults []Fault) error {
	rows := make([]faultRow, len(faults))
	for i, f := range faults {
		rows[i] = faultRow{ImportID: importID, Position: f.Position, Line: int64(f.Line), Column: db.OrNull(f.Column), Message: f.Message}
	}
	return db.Insert(ctx, tx, "import_faults", rows...)
}

func selectFaults(ctx context.Context, tx *db.Tx, importID string, above int64, limit int) ([]Fault, error) {
	rows, err := db.All[faultRow](ctx, tx, "SELECT "+db.Columns[faultRow]()+
		" FROM import_faults WHERE organization_id = @org AND import_id = ? AND position > ? ORDER BY position LIMIT ?", importID, above, limit)
	out := make([]Fault, len(rows))
	for i, r := range rows {
		out[i] = Fault{r.Position, intake.Fault{Line: int(r.Line), Column: db.OrEmpty(r.Column), Message: r.Message}}
	}
	return out, err
}
