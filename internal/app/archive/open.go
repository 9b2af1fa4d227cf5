package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/bursarhq/bursar/internal/db"
)

const (
	manifestMax = 8 << 20 // bytes

	// ratioMax is how many times as large as in the archive a large file of it may be. Books are some ten times as large.
	ratioMax = 250
)

// limits bound what an archive may have.
type limits struct {
	line      int    // bytes of a row
	ratioFrom uint64 // bytes from which a file is a large one, for ratioMax
}

var usual = limits{line: 64 << 20, ratioFrom: 128 << 20}

// Archive is an archive that was opened to be imported.
type Archive struct {
	Manifest
	files  map[string]*zip.File
	limits limits
}

// signature begins a ZIP file.
var signature = []byte("PK\x03\x04")

// nameAt is where the name of the first file of a ZIP file is.
const nameAt = 30

// Looks reports whether a file looks like an archive: a ZIP file that begins with a table. Workbooks are ZIP files, too.
func Looks(f io.ReaderAt) bool {
	head := make([]byte, nameAt+len(folder))
	_, err := f.ReadAt(head, 0)
	return err == nil && bytes.HasPrefix(head, signature) && string(head[nameAt:]) == folder
}

// Open reads what an archive contains. It returns an error for a file that Write of this version has not written, or that is not whole.
// The rows themselves are looked at when they are imported.
func Open(f io.ReaderAt, size int64) (*Archive, error) { return open(f, size, usual) }

func open(f io.ReaderAt, size int64, l limits) (*Archive, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, damaged("it is not a whole ZIP file (%v); copy or export it again", err)
	}
	out := &Archive{files: map[string]*zip.File{}, limits: l}
	var packed uint64
	for _, one := range z.File {
		if out.files[one.Name] != nil {
			return nil, damaged("%s is in it twice", printable(one.Name))
		}
		packed += one.CompressedSize64
		if one.UncompressedSize64 > l.ratioFrom && one.UncompressedSize64/ratioMax > one.CompressedSize64 {
			return nil, damaged("%s would be more than %d times as large as it is in the archive", printable(one.Name), ratioMax)
		}
		out.files[one.Name] = one
	}
	if packed > uint64(size) {
		return nil, damaged("its files overlap")
	}
	content, err := out.readManifest()
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(content)
	if err != nil {
		return nil, err
	}
	out.Manifest = *m
	return out, out.checkFiles()
}

func (a *Archive) readManifest() ([]byte, error) {
	f := a.files[manifestFile]
	if f == nil {
		return nil, damaged("%s is missing", manifestFile)
	}
	if f.UncompressedSize64 > manifestMax {
		return nil, damaged("%s is too large", manifestFile)
	}
	r, err := f.Open()
	if err != nil {
		return nil, damaged("%s: %v", manifestFile, err)
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, manifestMax))
	if err != nil {
		return nil, damaged("%s: %v", manifestFile, err)
	}
	return content, nil
}

// checkFiles returns an error unless the archive has exactly the files that its manifest describes.
func (a *Archive) checkFiles() error {
	for _, t := range a.Tables {
		f := a.files[entry(t.Name)]
		if f == nil {
			return damaged("%s is missing", entry(t.Name))
		}
		if f.UncompressedSize64 != uint64(t.Bytes) {
			return damaged("%s has %d bytes instead of %d", entry(t.Name), f.UncompressedSize64, t.Bytes)
		}
	}
	for name := range a.files {
		if name != manifestFile && !a.has(name) {
			return damaged("it has a file %s, which archives do not have", printable(name))
		}
	}
	return nil
}

func (a *Archive) has(name string) bool {
	for _, t := range a.Tables {
		if entry(t.Name) == name {
			return true
		}
	}
	return false
}

// each calls fn with the values of each row of a table. It returns an error if the rows are not those that the manifest describes, which
// is known at the end only.
func (a *Archive) each(t Table, of db.ArchivedTable, fn func(values []any, bytes int) error) error {
	l, err := of.Layout()
	if err != nil {
		return err
	}
	r, err := a.files[entry(t.Name)].Open()
	if err != nil {
		return damaged("%s: %v", entry(t.Name), err)
	}
	defer r.Close()
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(r, sum))
	lines.Buffer(make([]byte, 0, min(64<<10, a.limits.line)), a.limits.line)
	rows := int64(0)
	for lines.Scan() {
		rows++
		values, err := parseLine(lines.Bytes(), l.Columns)
		if err != nil {
			return damaged("%s, line %d: %v", entry(t.Name), rows, err)
		}
		if err := fn(values, len(lines.Bytes())); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return damaged("%s, line %d: it is longer than %d bytes", entry(t.Name), rows+1, a.limits.line)
	case err != nil:
		return damaged("%s: %v", entry(t.Name), err)
	case rows != t.Rows:
		return damaged("%s has %d rows instead of %d", entry(t.Name), rows, t.Rows)
	case hex.EncodeToString(sum.Sum(nil)) != t.SHA256:
		return damaged("the SHA-256 of %s is not the one in %s", entry(t.Name), manifestFile)
	}
	return nil
}
