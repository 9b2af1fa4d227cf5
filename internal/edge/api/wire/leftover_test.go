package wire_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func TestUploadsThatACrashLeftBehindAreDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"bursar-upload-1": time.Hour, "bursar-upload-2": time.Minute, "other": time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := wire.DeleteLeftoverUploads(dir); n != 1 || err != nil {
		t.Errorf("%d were deleted, %v", n, err)
	}
	for name, kept := range map[string]bool{"bursar-upload-1": false, "bursar-upload-2": true, "other": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("%s: %v", name, err)
		}
	}
}
