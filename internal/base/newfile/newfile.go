// Package newfile writes files that hold copies of the books, such as backups and anchors: completely or not at all, and readable by
// their owner only.
package newfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// mode lets nobody but the owner of a file read it.
const mode fs.FileMode = 0o600

// Write creates a file with what a function writes. Until that is on the disk, it is in a file whose name also ends in .part, which is
// removed if anything fails; one that a crash has left is overwritten. A file that exists is not changed: the error is then fs.ErrExist.
func Write(path string, write func(*os.File) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	f, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return explain(path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(explain(path, err), os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(f.Chmod(mode), write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes the name of a new file durable. Some file systems cannot sync folders, and need not.
func syncFolder(path string) {
	if f, err := os.Open(path); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// explain names the file that was to be written, and says what to do about a full disk.
func explain(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("%s was not written, because there is no space: free some, or name a file on another disk: %w", path, err)
	}
	return fmt.Errorf("%s was not written: %w", path, err)
}
