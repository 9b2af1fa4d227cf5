package archive_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"testing"
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

var _ = json.Marshal
