package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	folderPrefix = "bursar-pg-"
	lockName     = "owner.lock"
	// sweepAge is the age below which a folder is kept, because its owner may not have locked it yet.
	sweepAge = time.Minute
	// memoryMin is how much memory must be free to store a cluster in memory; a long test may fill that much.
	memoryMin = 2 << 30
)

// folder is the folder of a cluster. Its lock shows other processes that its owner is alive.
type folder struct {
	path string
	lock *os.File
}

// newFolder creates the folder of a cluster and makes the user that the server runs as its owner.
func newFolder(parent string, owner *serverUser) (*folder, error) {
	if parent == "" {
		parent = defaultParent()
		sweep(parent)
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("create the folder of PostgreSQL: %w", err)
	}
	if err := owner.canEnter(parent); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("create the folder of PostgreSQL: %w", err)
	}
	lock, err := os.Create(filepath.Join(path, lockName))
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err == nil && owner != nil {
		err = os.Chown(path, int(owner.uid), int(owner.gid))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create the folder of PostgreSQL: %w", err), os.RemoveAll(path))
	}
	return &folder{path: path, lock: lock}, nil
}

func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	return errors.Join(err, f.lock.Close())
}

// defaultParent returns a folder in memory if there is room: fsync costs nothing there, so that durable settings are as
// fast as others.
func defaultParent() string {
	const memory = "/dev/shm"
	if free, err := freeBytes(memory); err == nil && free >= memoryMin && writable(memory) {
		return memory
	}
	return os.TempDir()
}

func writable(dir string) bool {
	probe, err := os.MkdirTemp(dir, folderPrefix+"probe-")
	if err != nil {
		return false
	}
	return os.Remove(probe) == nil
}

// sweep removes the folders of owners that were killed before they could do so: in memory they would stay until the
// machine restarts. Errors are ignored.
func sweep(parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, folderPrefix+"*", lockName))
	if err != nil {
		return
	}
	for _, path := range locks {
		lock, err := os.Open(path)
		if err != nil {
			continue
		}
		info, err := lock.Stat()
		abandoned := err == nil && time.Since(info.ModTime()) > sweepAge &&
			syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
		if abandoned {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = lock.Close()
	}
}

// serverUser is the user that the server runs as if the caller is root, which PostgreSQL refuses; nil means the caller.
type serverUser struct {
	name     string
	uid, gid uint32
}

func unprivileged() (*serverUser, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return &serverUser{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL refuses to run as root: create a user named postgres, or run as another user")
}

// canEnter returns an error if the server's user has no access to a folder; the message of initdb would be unclear.
func (u *serverUser) canEnter(dir string) error {
	if u == nil {
		return nil
	}
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("create the folder of PostgreSQL: %w", err)
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("user %s, as which PostgreSQL runs, cannot enter %s: choose another folder or chmod o+x it",
				u.name, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
