package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/archive"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// unpacked returns the files of an archive by name.
func unpacked(t *testing.T, content []byte) map[string]string {
	t.Helper()
	z := must[*zip.Reader](t)(zip.NewReader(bytes.NewReader(content), int64(len(content))))
	out := map[string]string{}
	for _, f := range z.File {
		r := must[io.ReadCloser](t)(f.Open())
		out[f.Name] = string(must[[]byte](t)(io.ReadAll(r)))
		r.Close()
	}
	return out
}

// packed returns an archive of files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := must[io.Writer](t)(z.Create(name))
		must[int](t)(io.WriteString(f, files[name]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// changed returns an archive after a change of its files and its manifest.
func changed(t *testing.T, content []byte, change func(files map[string]string, m *archive.Manifest)) []byte {
	t.Helper()
	files, m := unpacked(t, content), &archive.Manifest{}
	if err := json.Unmarshal([]byte(files["manifest.json"]), m); err != nil {
		t.Fatal(err)
	}
	change(files, m)
	files["manifest.json"] = string(must[[]byte](t)(json.Marshal(m)))
	return packed(t, files)
}

// forged returns an archive in which a table has other rows, and a manifest that agrees with them.
func forged(table, rows string) func(map[string]string, *archive.Manifest) {
	return func(files map[string]string, m *archive.Manifest) {
		files["tables/"+table+".jsonl"] = rows
		sum := sha256.Sum256([]byte(rows))
		for i := range m.Tables {
			if t := &m.Tables[i]; t.Name == table {
				t.SHA256, t.Bytes, t.Rows = hex.EncodeToString(sum[:]), int64(len(rows)), int64(strings.Count(rows, "\n"))
			}
		}
	}
}

// replaced is forged for a text in the rows of a table, which must be there.
func replaced(table, text, with string) func(map[string]string, *archive.Manifest) {
	return func(files map[string]string, m *archive.Manifest) {
		rows := files["tables/"+table+".jsonl"]
		if !strings.Contains(rows, text) {
			panic(table + " has no " + text + ": " + rows)
		}
		forged(table, strings.Replace(rows, text, with, 1))(files, m)
	}
}

func TestADamagedOrHostileArchiveIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		content := exported(t, w.App, w.org)
		config := map[db.Engine]func(testing.TB) db.Config{db.SQLite: dbtest.SQLite, db.Postgres: dbtest.Postgres}[d.Engine()]
		there := app.New(dbtest.Open(t, config(t)), nil)
		refuses := func(what string, content []byte, says string) {
			t.Helper()
			_, err := imports(t.Context(), there, content, archive.ImportParams{})
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want an error that says %q", what, err, says)
			}
			if ids, err := there.Org.IDs(t.Context()); err != nil || len(ids) > 0 {
				t.Fatalf("%s has left %v, %v", what, ids, err)
			}
		}
		type change = func(map[string]string, *archive.Manifest)
		for what, c := range map[string]struct {
			change change
			says   string
		}{
			"no manifest":     {func(_ map[string]string, m *archive.Manifest) { *m = archive.Manifest{} }, "does not describe an archive"},
			"another schema":  {func(_ map[string]string, m *archive.Manifest) { m.Schema-- }, "use the same version for both"},
			"no organization": {func(_ map[string]string, m *archive.Manifest) { m.OrganizationID = "../../x" }, "it has no organization"},
			"another organization": {func(_ map[string]string, m *archive.Manifest) { m.OrganizationID = "org_01jd0000000000000000000000" },
				"another organization"},
			"a missing table":                 {func(f map[string]string, _ *archive.Manifest) { delete(f, "tables/lots.jsonl") }, "tables/lots.jsonl is missing"},
			"a missing table in the manifest": {func(_ map[string]string, m *archive.Manifest) { m.Tables = m.Tables[1:] }, "tables instead of"},
			"a further table":                 {func(f map[string]string, _ *archive.Manifest) { f["tables/sessions.jsonl"] = "[]\n" }, "which archives do not have"},
			"a path":                          {func(f map[string]string, _ *archive.Manifest) { f["../../etc/passwd"] = "x" }, "which archives do not have"},
			"a table that is another": {func(_ map[string]string, m *archive.Manifest) { m.Tables[3].Name = "sessions; DROP TABLE users" },
				"describes the table sessions; DROP TABLE users instead of"},
			"another column":                   {func(_ map[string]string, m *archive.Manifest) { m.Tables[0].Columns[0] = "name = '' --" }, "the columns of organizations"},
			"another hash":                     {func(_ map[string]string, m *archive.Manifest) { m.Tables[9].SHA256 = strings.Repeat("0", 64) }, "SHA-256"},
			"another number of rows":           {func(_ map[string]string, m *archive.Manifest) { m.Tables[1].Rows++ }, "rows instead of"},
			"another size":                     {func(_ map[string]string, m *archive.Manifest) { m.Tables[1].Bytes++ }, "bytes instead of"},
			"a row of another organization":    {replaced("oauth_clients", w.org, "org_01jd0000000000000000000000"), "belongs to another organization"},
			"a bad user":                       {replaced("users", "usr_", "x"), "its id is not that of a user"},
			"a bad address":                    {replaced("users", "acme@example.com", "ACME@example.com"), "its email address is not valid"},
			"a duplicate row":                  {doubled("tags"), "a row of the table tags cannot be stored"},
			"two organizations":                {doubled("organizations"), "organizations has 2 rows"},
			"a changed posting":                {replaced("journal_lines", `"100"`, `"101"`), "nothing was imported"},
			"a changed audit record":           {replaced("audit_log", "journal_entry.posted", "journal_entry.postex"), "nothing was imported"},
			"another name of the organization": {replaced("organizations", `"acme"`, `"acmf"`), "nothing was imported"},
			"another name of a key":            {replaced("api_keys", "First key", "Other key"), "nothing was imported"},
			"another webhook address":          {replaced("webhook_endpoints", "https://", "https://x."), "nothing was imported"},
			"a value in another format":        {replaced("journal_lines", `"100"`, `"\u00310`+`0"`), "is not equal to it"},
			"spaces":                           {replaced("tags", `[`, `[ `), "the column"},
			"too many values":                  {replaced("tags", "]\n", ",1]\n"), "something else than"},
			"too few values":                   {forged("tags", "[\"a\"]\n"), "values instead of"},
			"no list":                          {forged("tags", "{}\n"), "is not a list"},
			"no JSON":                          {forged("tags", "\"a\n"), "is not a list"},
			"no end":                           {forged("tags", "[\"a"+`\`+"\n"), "is not a text"},
		} {
			t.Run(what, func(t *testing.T) { refuses(what, changed(t, content, c.change), c.says) })
		}
		refuses("nothing", nil, "not a whole ZIP file")
		refuses("half of it", content[:len(content)/2], "not a whole ZIP file")
		refuses("a text", []byte("2026-01-01 * x\n"), "not a whole ZIP file")
		twice := changed(t, content, func(map[string]string, *archive.Manifest) {})
		twice = bytes.ReplaceAll(twice, []byte("tables/lot_uses.jsonl"), []byte("tables/lot_pool.jsonl"))
		refuses("a renamed file", bytes.ReplaceAll(twice, []byte("tables/lot_pool.jsonl"), []byte("tables/webhooks.jsonl")), "")
		for _, at := range within(t, content, "tables/audit_log.jsonl") {
			flipped := bytes.Clone(content)
			flipped[at] ^= 1
			refuses(fmt.Sprintf("the bit at %d", at), flipped, "")
		}
		imported(t, there, changed(t, content, func(map[string]string, *archive.Manifest) {})) // packed again, it is still good
	})
}

// within returns places in the content of a file of an archive. A bit that is flipped in a date of the ZIP file, say, does no harm,
// nor does the first bit of the content, which says that the first block is the last one, if there is only one.
func within(t *testing.T, content []byte, name string) []int64 {
	t.Helper()
	for _, f := range must[*zip.Reader](t)(zip.NewReader(bytes.NewReader(content), int64(len(content)))).File {
		if f.Name == name {
			from, size := must[int64](t)(f.DataOffset()), int64(f.CompressedSize64)
			return []int64{from + size/5, from + size/3, from + size/2, from + size*2/3}
		}
	}
	t.Fatalf("the archive has no %s", name)
	return nil
}

func doubled(table string) func(map[string]string, *archive.Manifest) {
	return func(files map[string]string, m *archive.Manifest) {
		rows := files["tables/"+table+".jsonl"]
		forged(table, rows+rows)(files, m)
	}
}

func TestALineThatIsTooLongAndAFileThatIsTooLargeAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Open(t, dbtest.SQLite(t)))
	there := app.New(dbtest.Open(t, dbtest.SQLite(t)), nil)
	for what, c := range map[string]struct{ rows, says string }{
		"a long line": {"[" + strings.Repeat(" ", 1<<20) + "\n", "it is longer than 500000 bytes"},
		"a bomb":      {strings.Repeat("\n", 4<<20), "more than 250 times as large"},
	} {
		content := changed(t, exported(t, w.App, w.org), forged("tags", c.rows))
		from, err := archive.OpenWithin(bytes.NewReader(content), int64(len(content)), 500_000, 2<<20)
		if err == nil {
			_, err = archive.Import(t.Context(), there, from, archive.ImportParams{})
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAValueOfAnotherTypeIsRefused(t *testing.T) {
	t.Parallel()
	for kind, c := range map[db.ColumnType]struct{ good, bad []string }{
		db.TextColumn: {[]string{`""`, `"a\u0000\"\\"`, `"é"`},
			[]string{"1", "true", "[]", "", `"`, `"a`, `"\x"`, `a"`, "\"\xff\"", "\"\t\""}},
		db.DecimalColumn: {[]string{`"0"`, `"-1.50"`},
			[]string{"1", `"1e3"`, `"NaN"`, `""`, `"0x10"`, `" 1"`, `"1."`, `"+1"`, `"` + strings.Repeat("9", 500) + `"`}},
		db.TimeColumn: {[]string{`"2026-01-01T00:00:00.000Z"`},
			[]string{"1", `"2026-01-01"`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00.000+01:00"`, `"2026-13-01T00:00:00.000Z"`, `"now"`}},
		db.IntegerColumn: {[]string{"0", "-9223372036854775808"}, []string{`"1"`, "1.5", "1e3", "true", "9223372036854775808", " 1", "0x1", "1_0"}},
		db.BooleanColumn: {[]string{"true", "false"}, []string{"1", `"true"`, "True"}},
		db.BytesColumn:   {[]string{`""`, `"AA=="`}, []string{"1", `"*"`, `"A"`}},
	} {
		columns := []db.Column{{Name: "first", Type: db.IntegerColumn}, {Name: "x", Type: kind}, {Name: "last", Type: db.TextColumn, Null: true}}
		for _, text := range c.good {
			if values, err := archive.ParseLine([]byte("[1,"+text+",null]"), columns); err != nil || len(values) != 3 || values[2] != nil {
				t.Errorf("%s %s: %v, %v", kind, text, values, err)
			}
		}
		for _, text := range append(c.bad, "null") {
			if values, err := archive.ParseLine([]byte("[1,"+text+",null]"), columns); err == nil {
				t.Errorf("%s %s: %v", kind, text, values)
			}
		}
	}
}

func TestALineIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	columns := []db.Column{{Name: "a", Type: db.TextColumn, Null: true}, {Name: "b", Type: db.IntegerColumn},
		{Name: "c", Type: db.BytesColumn}, {Name: "d", Type: db.BooleanColumn}}
	rapid.Check(t, func(r *rapid.T) {
		want := []any{rapid.String().Draw(r, "text"), rapid.Int64().Draw(r, "integer"), rapid.SliceOf(rapid.Byte()).Draw(r, "bytes"),
			rapid.Bool().Draw(r, "boolean")}
		line, err := archive.AppendLine(nil, want)
		if !utf8.ValidString(want[0].(string)) {
			if err == nil {
				r.Fatal("a text that is not UTF-8 was written")
			}
			return
		}
		got, err2 := archive.ParseLine(bytes.TrimSuffix(line, []byte("\n")), columns)
		again, err3 := archive.AppendLine(nil, got)
		if err := errors.Join(err, err2, err3); err != nil || got[0] != want[0] || got[1] != want[1] || !bytes.Equal(again, line) {
			r.Fatalf("%q is %v, %v", line, got, err)
		}
	})
}
