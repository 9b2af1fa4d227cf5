package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	starts      = 5
	startMax    = 300 * time.Millisecond
	startWait   = 30 * time.Second
	rssMax      = 80.0 // MB, of a million bytes
	rssRequests = 20
	rssAfter    = 3 * time.Second
)

// measureStart measures the time from the start of the process to its first responses, on an existing database.
func measureStart(b *bench) ([]figure, error) {
	k, err := b.folder("start")
	if err != nil {
		return nil, err
	}
	var alive, useful []time.Duration
	for range pick(b, starts, starts, 1) {
		a, u, err := b.startOnce(k)
		if err != nil {
			return nil, err
		}
		alive, useful = append(alive, a), append(useful, u)
	}
	answer := median(useful)
	return []figure{
		{name: "start, to a read", value: rounded(answer).String(), target: "< " + startMax.String(), verdict: b.judge(answer < startMax),
			note: fmt.Sprintf("median of %d, until an authenticated GET %s answers 200", starts, readPath)},
		{name: "start, to liveness", value: rounded(median(alive)).String(), target: "", verdict: noTarget,
			note: "until GET " + constantPath + " answers"},
	}, nil
}

// startOnce does not wait for the log line "ready": what counts is when a client gets a response.
func (b *bench) startOnce(k database) (alive, useful time.Duration, err error) {
	host, err := freeAddress()
	if err != nil {
		return 0, 0, err
	}
	cmd := b.command("serve", "--data", k.dir, "--addr", host, "--rate-limit", "0", "--log-level", "error")
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	s := &server{cmd, host, k.key}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := until(began, func() error { return answers(s, constantPath) }); err != nil {
		return 0, 0, err
	}
	alive = time.Since(began)
	err = until(began, func() error { return answers(s, readPath) })
	return alive, time.Since(began), err
}

func answers(s *server, path string) error {
	c := dial(s.host, 1)
	defer c.close()
	_, err := c.times(1, s.get(path))
	return err
}

// until retries at intervals that are short compared with what is measured.
func until(began time.Time, try func() error) error {
	for {
		err := try()
		if err == nil || time.Since(began) > startWait {
			return err
		}
		time.Sleep(500 * time.Microsecond)
	}
}

// freeAddress chooses the address in advance, so that requests can be sent from the moment the process starts.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// measureRSS measures the memory of an idle service.
func measureRSS(b *bench) (figures []figure, err error) {
	s, err := b.serveNew("rss")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	began := time.Now()
	c := dial(s.host, 1)
	defer c.close()
	if _, err := c.times(rssRequests, s.get(readPath)); err != nil {
		return nil, err
	}
	after := pick(b, rssAfter, rssAfter, 100*time.Millisecond)
	time.Sleep(time.Until(began.Add(after)))
	rss, err := s.memory("VmRSS")
	if err != nil {
		return nil, err
	}
	peak, err := s.memory("VmHWM")
	return []figure{{name: "memory, idle", value: fmt.Sprintf("%.0f MB", rss), target: fmt.Sprintf("< %.0f MB", rssMax),
		verdict: b.judge(rss < rssMax),
		note:    fmt.Sprintf("resident %s after the start and %d reads; at most %.0f MB so far", after, rssRequests, peak)}}, err
}

// memory returns one of the kernel's figures about the memory of the process, in MB.
func (s *server) memory(name string) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for row := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(row, name+":"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			return float64(kib) * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("/proc/PID/status has no %s", name)
}
