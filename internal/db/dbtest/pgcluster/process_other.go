//go:build unix && !linux

package pgcluster

import (
	"errors"
	"syscall"
)

// attributes detach the server from the caller's terminal signals; only Linux can tie its life to the caller's.
func (u *serverUser) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if u != nil {
		attr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid}
	}
	return attr
}

// children is empty here: backends notice within moments that the postmaster died.
func children(int) []int { return nil }

// adoptOrphans does nothing here: init takes orphans.
func adoptOrphans() {}

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
