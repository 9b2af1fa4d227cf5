//go:build unix && !linux

package pgcluster

import (
	"errors"
	"syscall"
)

// attributes detaches the server from the caller's terminal signals; only Linux can also end it with the caller.
func (u *serverUser) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if u != nil {
		attr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid}
	}
	return attr
}

// children returns nothing here: backends notice within moments that the postmaster died.
func children(int) []int { return nil }

// adoptOrphans does nothing here: init adopts orphans.
func adoptOrphans() {}

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
