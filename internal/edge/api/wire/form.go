package wire

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Limits of a form. A file may take long to arrive as long as it keeps arriving.
const (
	formMax      = 1<<30 + 1<<20 // a file of 1 GiB and the other parts
	partMax      = 1 << 20       // a part that is not a file
	partsMax     = 100
	formRate     = 64 << 10 // minimum average bytes per second
	formTimeout  = 30 * time.Minute
	formTemplate = "bursar-upload-*"
)

// Media types of bodies.
const (
	FormType = "multipart/form-data"
	JSONType = "application/json"
)

// File is a part of a form that is a file. It is stored on the disk of this node until the request is answered.
type File struct {
	*os.File
	FileName string
	named    bool // it still has a name in its folder
}

// UnmarshalJSON does nothing: decodeForm sets the file.
func (*File) UnmarshalJSON([]byte) error { return nil }

// Schema returns the schema of a file in a form.
func (*File) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "binary"}
}

// form holds the parts of a form.
type form struct {
	texts map[string][]string
	files map[string]*File
	sums  map[string]string // a hash of each part, independent of the boundary
}

// close deletes the files.
func (f *form) close() {
	for _, file := range f.files {
		_ = file.Close()
		if file.named {
			_ = os.Remove(file.Name())
		}
	}
}

// DeleteLeftoverUploads deletes files of uploads that a crash left behind in a folder: those of earlier versions, or of a system that
// does not allow a file without a name. Younger ones may belong to another process. It returns how many it deleted.
func DeleteLeftoverUploads(dir string) (n int, err error) {
	found, err := filepath.Glob(filepath.Join(dir, formTemplate))
	for _, name := range found {
		info, statErr := os.Stat(name)
		if statErr != nil || time.Since(info.ModTime()) < formTimeout {
			continue
		}
		if removeErr := os.Remove(name); removeErr == nil {
			n++
		} else if !errors.Is(removeErr, os.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return n, err
}

// digest returns a hash that is the same for forms with the same contents.
func (f *form) digest() []byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f.sums)) {
		writeText(h, name)
		writeText(h, f.sums[name])
	}
	return h.Sum(nil)
}

// writeText writes a string with its length, so that the end of one cannot be mistaken for the beginning of the next.
func writeText(h hash.Hash, text string) {
	h.Write(binary.AppendUvarint(nil, uint64(len(text))))
	io.WriteString(h, text)
}

var errFormType = &transportError{http.StatusUnsupportedMediaType, "the body must be a form, with Content-Type: " + FormType}

// steady reads a body that must keep arriving: each byte read extends the deadline.
type steady struct {
	io.Reader
	control *http.ResponseController
	limit   time.Time
	read    int64
}

func (s *steady) Read(p []byte) (int, error) {
	_ = s.control.SetReadDeadline(s.limit.Add(time.Duration(s.read) * time.Second / formRate))
	n, err := s.Reader.Read(p)
	s.read += int64(n)
	return n, err
}

// readForm reads a form and stores its files on disk. The plan tells which parts are files; the others are kept in memory.
func readForm(w http.ResponseWriter, r *http.Request, plan *bodyPlan, timeout time.Duration,
	memory *Reservation) (*form, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != FormType || params["boundary"] == "" {
		return nil, errFormType
	}
	if r.ContentLength > formMax {
		return nil, errFormTooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(formTimeout + SendTimeout))
	body := &steady{http.MaxBytesReader(w, r.Body, formMax), control, time.Now().Add(timeout), 0}
	f := &form{texts: map[string][]string{}, files: map[string]*File{}, sums: map[string]string{}}
	parts := multipart.NewReader(body, params["boundary"])
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			if _, err := io.Copy(io.Discard, body); err != nil { // less arrived after the last part than was announced
				f.close()
				return nil, formError(err)
			}
			_ = control.SetReadDeadline(time.Time{}) // from here on reading only detects a closed connection
			return f, nil
		}
		if err == nil && n == partsMax {
			err = fault.Malformedf("the form has more than %d parts", partsMax)
		}
		if err == nil {
			err = f.add(part, plan, memory)
		}
		if err != nil {
			f.close()
			return nil, formError(err)
		}
	}
}

// formError returns the error to report when a form could not be read.
func formError(err error) error {
	var tooLarge *http.MaxBytesError
	var f *fault.Error
	switch {
	case errors.As(err, &tooLarge):
		return errFormTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errTooSlow
	case errors.As(err, &f) || errors.Is(err, errTooMuch):
		return err
	case errors.As(err, new(*os.PathError)): // a failure of the disk, not of the caller
		if errors.Is(err, syscall.ENOSPC) {
			return fault.UnavailableBecause(err,
				"the server's folder for temporary files is full; nothing was imported, send the file again when there is room")
		}
		return fault.UnavailableBecause(err, "the server could not store the file; nothing was imported, send it again later")
	}
	return fault.Malformedf("the form could not be read: it is malformed or incomplete")
}

// add reads one part.
func (f *form) add(part *multipart.Part, plan *bodyPlan, memory *Reservation) error {
	name := part.FormName()
	h := sha256.New()
	writeText(h, part.FileName())
	from := io.TeeReader(part, h)
	if plan.files[name] != nil && f.files[name] == nil {
		file, err := os.CreateTemp("", formTemplate)
		if err != nil {
			return err
		}
		// Where the system allows it, the file is removed now and disappears with this process, however that ends.
		f.files[name] = &File{file, cmp.Or(part.FileName(), name), os.Remove(file.Name()) != nil}
		if _, err := io.Copy(file, from); err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	} else {
		var text bytes.Buffer
		if n, err := io.CopyN(&text, &accounted{from, memory}, partMax+1); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if n > partMax {
			return fault.Invalidf(name, "must have at most %d MiB", partMax>>20)
		}
		if plan.files[name] != nil {
			f.texts[name] = append(f.texts[name], "") // decodeForm refuses a second file
		}
		f.texts[name] = append(f.texts[name], text.String())
	}
	f.sums[name] += string(h.Sum(nil))
	return nil
}

// rewind lets the files be read from the beginning again.
func (f *form) rewind() error {
	for _, file := range f.files {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	return nil
}

// decodeForm turns a form into the equivalent of a JSON body, validates it against the schema and unmarshals it into the input. Its
// faults are added to those of the parameters, and the faulty values are substituted, except for files. It reports whether the input is
// valid then.
func (d *Decoder) decodeForm(_ *http.Request, got Received, in reflect.Value, how substitution, faults *fault.List) (bool, error) {
	f := got.form
	schema := d.rules.resolve(d.body.schema)
	tree, misread := map[string]any{}, map[string]bool{}
	var found []fault.Field
	for name := range f.files {
		tree[name] = ""
	}
	for _, name := range slices.Sorted(maps.Keys(f.texts)) {
		value, problem := partValue(d.rules, schema.Properties[name], f.texts[name])
		if tree[name] = value; problem != "" {
			faults.Addf(name, "%s", problem)
			found, misread[name] = append(found, fault.Field{Name: name, Message: problem}), true
		}
	}
	invalid, cut := d.rules.validate(d.body.schema, tree)
	faults.MarkCut(cut)
	for _, field := range invalid {
		if at := strings.TrimPrefix(field.Name, "."); !misread[at] {
			faults.Addf(at, "%s", field.Message)
			found = append(found, field)
		}
	}
	if len(found) > 0 && (len(f.files) < len(d.body.files) || len(found) > repairedMax || !how.repair(d.rules, d.body.schema, tree, found)) {
		return false, nil
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return false, err
	}
	target := in.FieldByIndex(d.body.index)
	if err := json.Unmarshal(text, target.Addr().Interface()); err != nil {
		return false, fault.Malformedf("the form does not match its description: %s", err)
	}
	for name, file := range f.files {
		target.FieldByIndex(d.body.files[name]).Set(reflect.ValueOf(file))
	}
	return true, nil
}

// partValue parses the text of a part according to its schema. It returns a problem in words if the text has the wrong form.
func partValue(rules *rules, schema *huma.Schema, texts []string) (any, string) {
	text := texts[0]
	if schema != nil {
		schema = rules.resolve(schema)
	}
	switch {
	case schema == nil: // unknown parts are refused by validation
		return "", ""
	case len(texts) > 1:
		return nil, "is given more than once"
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return nil, "must be UTF-8 without the character U+0000"
	case schema.Type == huma.TypeString:
		return text, ""
	case schema.Type == huma.TypeBoolean:
		v, problem := parseScalar(reflect.TypeFor[bool](), text)
		return v, problem
	}
	read, err := rules.parse([]byte(text), schema, nil)
	switch {
	case err != nil:
		return nil, "must be JSON: " + err.Error()
	case read.stopped:
		return nil, "has too many values that are not allowed"
	}
	return read.value, ""
}
