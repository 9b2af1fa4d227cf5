package main

import (
	"errors"
	"fmt"
	"time"
)

const (
	readClients  = 16
	readRatioMin = 0.30
	readPath     = "/v1/organization"
	constantPath = "/healthz"
)

// contender is one of the servers and paths that are measured alternately.
type contender struct {
	server      *server
	connections *connections
	next        request
	total       tally
	cpu         time.Duration
}

func contend(s *server, path string) *contender {
	return &contender{server: s, connections: dial(s.host, readClients), next: s.get(path)}
}

// turn measures for a while and returns the rate.
func (c *contender) turn(d time.Duration) (float64, error) {
	before, err := c.server.cpu()
	if err != nil {
		return 0, err
	}
	t, err := c.connections.run(d, c.next)
	if err != nil {
		return 0, err
	}
	after, err := c.server.cpu()
	c.cpu += after - before
	c.total.add(t)
	return t.rate(), err
}

// cpuEach returns the server's processor time per request.
func (c *contender) cpuEach() time.Duration {
	return c.cpu / time.Duration(max(1, len(c.total.latencies)))
}

// cpuRatio compares the processor time per request. The kernel counts hundredths of a second, which a tiny run may not reach.
func cpuRatio(one, other *contender) string {
	if one.cpuEach() == 0 || other.cpuEach() == 0 {
		return "too little to tell"
	}
	return fmt.Sprintf("%.2f", one.cpuEach().Seconds()/other.cpuEach().Seconds())
}

// measureRead compares an authenticated read with a constant from the same server, and with the least a Go server can do.
func measureRead(b *bench) (figures []figure, err error) {
	service, err := b.serveNew("read")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	bare, err := b.constant()
	if err != nil {
		return nil, err
	}
	defer func() { _ = bare.stop() }() // a signal is how it always ends
	var all []*contender
	for _, of := range []struct {
		server *server
		path   string
	}{{service, readPath}, {service, constantPath}, {bare, "/"}} {
		c := contend(of.server, of.path)
		defer c.connections.close()
		if _, err := c.connections.run(b.warmup(), c.next); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	var ofConstant, ofBare []float64
	for range pick(b, 12, 5, 2) {
		var rates [3]float64
		for i, c := range all {
			if rates[i], err = c.turn(pick(b, 400*time.Millisecond, 150*time.Millisecond, 20*time.Millisecond)); err != nil {
				return nil, err
			}
		}
		ofConstant, ofBare = append(ofConstant, rates[0]/rates[1]), append(ofBare, rates[0]/rates[2])
	}
	ratio, read, constant := median(ofConstant), all[0], all[1]
	return []figure{
		{name: "read, of a constant", value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf(">= %.2f", readRatioMin),
			verdict: b.judge(ratio >= readRatioMin),
			note: fmt.Sprintf("GET %s %.0f/s, GET %s %.0f/s, %d clients", readPath, read.total.rate(), constantPath,
				constant.total.rate(), readClients)},
		{name: "read, of bare net/http", value: fmt.Sprintf("%.2f", median(ofBare)), target: "", verdict: noTarget,
			note: fmt.Sprintf("a constant from net/http alone %.0f/s", all[2].total.rate())},
		{name: "read, server CPU", value: cpuRatio(constant, read), target: "",
			verdict: noTarget,
			note: fmt.Sprintf("a read takes %s of the server's CPU, the constant %s, bare net/http %s", read.cpuEach(),
				constant.cpuEach(), all[2].cpuEach())},
	}, nil
}
