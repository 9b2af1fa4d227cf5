// Package browsertest runs a browser in tests of pages.
package browsertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// stepMax is how long a browser may take for one step. Starting it takes long on a machine that is busy with other tests.
const stepMax = 2 * time.Minute

// Page is a page in a headless Chromium, controlled by the DevTools protocol: JSON messages through two pipes, each with a
// zero byte at its end.
type Page struct {
	*testing.T
	commands *os.File
	events   *os.File
	reader   *bufio.Reader
	session  string
	last     int // the number of the last command
}

// Open starts a browser with an empty page. It ends with the test.
func Open(t *testing.T) *Page {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: run scripts/setup, which installs it", err)
	}
	reads, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	events, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{"--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir=" + t.TempDir(), "about:blank"}
	if os.Geteuid() == 0 {
		arguments = append([]string{"--no-sandbox"}, arguments...) // Chromium has no sandbox for root
	}
	process := exec.Command(program, arguments...)
	process.ExtraFiles = []*os.File{reads, writes}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = reads.Close(), writes.Close()
	b := &Page{T: t, commands: commands, events: events, reader: bufio.NewReader(events)}
	t.Cleanup(func() {
		_, _ = commands.Close(), events.Close() // the browser ends when its pipes are closed
		_ = process.Wait()
	})
	var page struct{ TargetID, SessionID string }
	b.Command("Target.createTarget", map[string]any{"url": "about:blank"}, &page)
	b.Command("Target.attachToTarget", map[string]any{"targetId": page.TargetID, "flatten": true}, &page)
	b.session = page.SessionID
	return b
}

// Command sends a command and decodes its result, unless the target is nil.
func (b *Page) Command(method string, params map[string]any, into any) {
	b.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.commands.Write(append(text, 0)); err != nil {
		b.Fatalf("%s: %v", method, err)
	}
	_ = b.events.SetReadDeadline(time.Now().Add(stepMax))
	for {
		text, err := b.reader.ReadBytes(0)
		if err != nil {
			b.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		err = json.Unmarshal(text[:len(text)-1], &answer)
		if err == nil && answer.ID == b.last && strings.Contains(string(answer.Error), "target navigated") {
			return // the expression has led to another page, which is there before the answer
		}
		if err != nil || answer.Error != nil {
			b.Fatalf("%s: %v %s", method, err, text)
		}
		if answer.ID != b.last {
			continue // an event
		}
		if into != nil {
			if err := json.Unmarshal(answer.Result, into); err != nil {
				b.Fatalf("%s: %v %s", method, err, text)
			}
		}
		return
	}
}

// Value returns the value of a JavaScript expression. It is empty while a page is loading.
func (b *Page) Value(expression string) string {
	b.Helper()
	var out struct{ Result struct{ Value any } }
	b.Command("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true, "userGesture": true}, &out)
	return fmt.Sprint(out.Result.Value)
}

// Want waits until an expression has a value.
func (b *Page) Want(expression, value string) {
	b.Helper()
	got := ""
	for deadline := time.Now().Add(stepMax); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = b.Value(expression); got == value {
			return
		}
	}
	b.Fatalf("%s is %q, want %q, on %s", expression, got, value, b.Value("location.pathname + ' ' + document.body.innerText"))
}
