package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/bursarhq/bursar/client"
)

const (
	memoryRatioMax = 1.5
	memoryFew      = 10
	memoryClients  = 16
	memoryPath     = "knowledge/a.md"
)

// memory compares reading a document among few with reading one that has many versions among many: the cost of a document
// must not grow with the number of documents or versions.
func (b *bench) memory(e engine) (figures []figure, err error) {
	few, err := b.create(e, "memory")
	if err != nil {
		return nil, err
	}
	many, err := b.initialize(few, "--another")
	if err != nil {
		return nil, err
	}
	s, err := b.serve(few)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	other := &server{host: s.host, key: many.key}
	documents, versions := pick(b, 100_000, 5_000, 50), pick(b, 10_000, 1_000, 10)
	if err := remember(b.ctx, s.client(), memoryFew, 1); err != nil {
		return nil, err
	}
	if err := remember(b.ctx, other.client(), documents, versions); err != nil {
		return nil, err
	}
	connections := dial(s.host, 1)
	defer connections.close()
	for _, m := range []struct{ name, path string }{
		{"one document", "/v1/memory/file?path=" + memoryPath},
		{"its last versions", "/v1/memory/history?limit=1&path=" + memoryPath},
		{"a page of documents", "/v1/memory/file?path=knowledge/"},
	} {
		young, old := &auditService{server: s, connections: connections}, &auditService{server: other, connections: connections}
		if _, err := connections.run(b.warmup(), other.get(m.path)); err != nil {
			return nil, err
		}
		y, o, err := turns(pick(b, 1000, 300, 10), young, s.get(m.path), old, other.get(m.path))
		if err != nil {
			return nil, err
		}
		f := figure{name: "memory on " + e.name + ", " + m.name,
			note: fmt.Sprintf("median %s with %d documents, %s with %d and %d versions of it",
				rounded(y.at(0.5)), memoryFew, rounded(o.at(0.5)), documents, versions)}
		ratio := o.at(0.5).Seconds() / y.at(0.5).Seconds()
		if f.value = fmt.Sprintf("%.2f", ratio); m.name != "a page of documents" { // which has more on it
			f.target, f.verdict = fmt.Sprintf("<= %.1f", memoryRatioMax), b.judge(ratio <= memoryRatioMax)
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// remember writes documents, and many versions of one of them.
func remember(ctx context.Context, c *client.Client, documents, versions int) error {
	text := "# A document\n\n" + strings.Repeat("It says what somebody wants to be remembered.\n", 20)
	for v := range versions {
		file := client.PutMemoryDocument{Content: text + strconv.Itoa(v), Rationale: "bench"}
		if v > 0 {
			file.ExpectedVersion = new(strconv.Itoa(v))
		}
		if err := c.PutMemory(ctx, memoryPath, file); err != nil {
			return err
		}
	}
	failed := make([]error, memoryClients)
	var wg sync.WaitGroup
	for w := range memoryClients {
		wg.Go(func() {
			for i := 1 + w; i < documents && failed[w] == nil; i += memoryClients {
				failed[w] = c.PutMemory(ctx, fmt.Sprintf("knowledge/%06d.md", i), client.PutMemoryDocument{Content: text, Rationale: "bench"})
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}
