package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The books are for the user of the service only: nobody else on the machine may read the files or list the folder.
const (
	privateFile   fs.FileMode = 0o600
	privateFolder fs.FileMode = 0o700
)

// createPrivate creates an empty file for SQLite, and its folder, unless they exist. SQLite would let everybody read it; it gives the
// write-ahead log and its index the mode of the database.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), privateFolder); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, privateFile)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create a file in the data folder: %w", err)
	}
	return f.Close()
}

// makePrivate takes the rights of others on the files of a SQLite database away, which earlier versions gave, and those on the folder if
// it holds nothing else. It logs what it cannot change, such as a file of another user.
func (d *DB) makePrivate() {
	if d.engine != SQLite {
		return
	}
	entries, err := os.ReadDir(d.config.Dir)
	ours := true
	for _, entry := range entries {
		path := filepath.Join(d.config.Dir, entry.Name())
		switch {
		case entry.Type().IsRegular() && strings.HasPrefix(entry.Name(), File):
			err = errors.Join(err, restrict(path, privateFile))
		case entry.IsDir() && entry.Name() == AnchorsFolder:
			err = errors.Join(err, restrict(path, privateFolder))
		default:
			ours = false
		}
	}
	if ours {
		err = errors.Join(err, restrict(d.config.Dir, privateFolder))
	}
	if err != nil {
		d.log.Warn("other users of this machine may be able to read the books", "error", err)
	}
}

// restrict takes the rights that a mode does not have away from a file, if there are any.
func restrict(path string, mode fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // SQLite has removed it meanwhile
		return nil
	case err != nil || info.Mode().Perm()&^mode == 0:
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&mode)
}
