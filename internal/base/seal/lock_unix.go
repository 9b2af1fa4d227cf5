//go:build unix && !solaris && !aix

package seal

import (
	"os"
	"syscall"
)

// lockFile locks a file until it is closed, or returns an error if another process has locked it.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
