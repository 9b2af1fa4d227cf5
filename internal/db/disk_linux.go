package db

import "syscall"

// freeBytes returns how many bytes can be written to the file system of a folder, if that is known.
func freeBytes(dir string) (free uint64, known bool) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, false
	}
	return stat.Bavail * uint64(stat.Bsize), true
}
