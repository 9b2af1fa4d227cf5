package main

import (
	"fmt"
	"syscall"
	"time"
)

const (
	verifyEntries  = 1_000_000
	verifyMax      = 5 * time.Minute
	verifyMemory   = 500.0 // MB, of a million bytes
	verifyRecent   = 1000
	kilobyte       = 1024 // the unit in which Linux counts the memory of a process
	verifyRecently = "verify, since the last 1,000 records"
)

// verify measures bursar verify on books with many entries: the time and the peak memory of the process, and the time of a
// verification of what changed last.
func (b *bench) verify(e engine) ([]figure, error) {
	k, err := b.create(e, "verify")
	if err != nil {
		return nil, err
	}
	n := pick(b, verifyEntries, verifyEntries/20, 100)
	if err := b.fillEntries(k, n); err != nil {
		return nil, err
	}
	took, peak, err := b.runVerify(k)
	if err != nil {
		return nil, err
	}
	since, _, err := b.runVerify(k, "--since", fmt.Sprint(max(n-verifyRecent, 1)))
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%s, %d journal entries of two lines", e.name, n)
	return []figure{
		{name: "verify, time", value: rounded(took).String(), target: "< " + verifyMax.String(), verdict: b.judgeFrom(full, took < verifyMax),
			note: note},
		{name: "verify, memory", value: fmt.Sprintf("%.0f MB", peak), target: fmt.Sprintf("< %.0f MB", verifyMemory),
			verdict: b.judgeFrom(full, peak < verifyMemory), note: note + ", peak of the process"},
		{name: verifyRecently, value: rounded(since).String(), target: "", verdict: noTarget, note: note},
	}, nil
}

// runVerify runs bursar verify and returns how long it took and its peak memory in MB.
func (b *bench) runVerify(k database, flags ...string) (time.Duration, float64, error) {
	cmd := b.command(append(append(k.flags(), "verify"), flags...)...)
	began := time.Now()
	if _, err := cmd.Output(); err != nil {
		return 0, 0, explain(err)
	}
	took, peak := time.Since(began), 0.0
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = float64(usage.Maxrss) * kilobyte / 1e6
	}
	return took, peak, nil
}
