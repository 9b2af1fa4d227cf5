package newfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bursarhq/bursar/internal/base/newfile"
)

func TestANewFileIsCompleteAndForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "books.json")
	if err := os.WriteFile(path+".part", []byte("left by a crash"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := newfile.Write(path, func(f *os.File) error {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is there before it is complete: %v", err)
		}
		_, err := f.WriteString("{}\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "{}\n" {
		t.Errorf("it holds %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

func TestAFileThatExistsIsNotChanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := newfile.Write(path, func(*os.File) error { return errors.New("must not be called") })
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("want fs.ErrExist, got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("it holds %q, %v", text, err)
	}
}

func TestAFileThatCannotBeFinishedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for says, cause := range map[string]error{"because there is no space": syscall.ENOSPC, "was not written: ": errors.New("the cause")} {
		err := newfile.Write(filepath.Join(dir, "new"), func(f *os.File) error {
			_, err := f.WriteString("half")
			return errors.Join(err, cause)
		})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), filepath.Join(dir, "new")) {
			t.Errorf("the error is %v", err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if err := newfile.Write(filepath.Join(dir, "nowhere", "new"), func(*os.File) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
}
