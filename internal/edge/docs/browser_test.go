package docs_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browserTimeout is how long a browser may take for one step. Starting it takes long on a machine that is busy with other tests.
const browserTimeout = 2 * time.Minute

// browser is a page in a headless Chromium, controlled by the DevTools protocol: JSON messages through two pipes, each with a
// zero byte at its end.
type browser struct {
	*testing.T
	commands *os.File
	events   *os.File
	reader   *bufio.Reader
	session  string
	last     int // the number of the last command
}

// openBrowser starts a browser with an empty page. It ends with the test.
func openBrowser(t *testing.T) *browser {
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
	b := &browser{T: t, commands: commands, events: events, reader: bufio.NewReader(events)}
	t.Cleanup(func() {
		_, _ = commands.Close(), events.Close() // the browser ends when its pipes are closed
		_ = process.Wait()
	})
	var page struct{ TargetID, SessionID string }
	b.command("Target.createTarget", map[string]any{"url": "about:blank"}, &page)
	b.command("Target.attachToTarget", map[string]any{"targetId": page.TargetID, "flatten": true}, &page)
	b.session = page.SessionID
	return b
}

// command sends a command and decodes its result, unless the target is nil.
func (b *browser) command(method string, params map[string]any, into any) {
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
	_ = b.events.SetReadDeadline(time.Now().Add(browserTimeout))
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
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil || answer.Error != nil {
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

// value returns the value of a JavaScript expression. It is empty while a page is loading.
func (b *browser) value(expression string) string {
	b.Helper()
	var out struct{ Result struct{ Value any } }
	b.command("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true}, &out)
	return fmt.Sprint(out.Result.Value)
}

// want waits until an expression has a value.
func (b *browser) want(expression, value string) {
	b.Helper()
	got := ""
	for deadline := time.Now().Add(browserTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = b.value(expression); got == value {
			return
		}
	}
	b.Fatalf("%s is %q, want %q", expression, got, value)
}

// open loads a page and waits until its script has run.
func (b *browser) open(url string) {
	b.Helper()
	b.command("Page.navigate", map[string]any{"url": url}, nil)
	b.want("document.readyState + document.documentElement.className", "completejs")
}

// press presses a key that has a name, or types a character.
func (b *browser) press(key string) {
	b.Helper()
	text := map[string]string{"Enter": "\r"}[key]
	if len(key) == 1 {
		text = key
	}
	b.command("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": text}, nil)
	b.command("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// enter types a text where the focus is.
func (b *browser) enter(text string) {
	b.Helper()
	b.command("Input.insertText", map[string]any{"text": text}, nil)
}

// click clicks the middle of the element that an expression returns.
func (b *browser) click(element string) {
	b.Helper()
	var x, y float64
	at := b.value("(r => (r.left + r.right) / 2 + ' ' + (r.top + r.bottom) / 2)(" + element + ".getBoundingClientRect())")
	if _, err := fmt.Sscan(at, &x, &y); err != nil {
		b.Fatalf("%s is at %q", element, at)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.command("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
}

func TestAReaderSearchesAsTheyTypeAndOpensAResult(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(described(t))
	defer site.Close()
	b := openBrowser(t)
	const shown, first = "!document.getElementById('instant').hidden", "document.querySelector('#instant a')"

	b.open(site.URL + "/docs")
	b.want(shown, "false")
	b.press("/")
	b.want("document.activeElement.id", "q")
	b.enter("close a month")
	b.want(shown, "true")
	b.want(first+".getAttribute('href')", "/docs/guides/close-a-month")
	if title := b.value(first + ".querySelector('b').textContent"); !strings.Contains(strings.ToLower(title), "close a month") {
		t.Errorf("the first result is titled %q", title)
	}
	b.click(first)
	b.want("location.pathname", "/docs/guides/close-a-month")
	b.want("document.querySelectorAll('article.guide h1').length", "1")

	// With the keyboard, to a field inside a closed list, which opens.
	const field = "createLegalEntity.body.cost_basis_method"
	b.want("document.readyState + document.documentElement.className", "completejs")
	b.press("/")
	b.enter("cost_basis_method")
	b.want(shown, "true")
	b.want(first+".getAttribute('href')", "/docs/legal-entities#"+field)
	b.press("ArrowDown")
	b.want("document.activeElement === "+first, "true")
	b.press("Enter")
	b.want("location.pathname + location.hash", "/docs/legal-entities#"+field)
	b.want("document.getElementById('"+field+"').checkVisibility()", "true")

	// Escape closes the list.
	b.want("document.readyState + document.documentElement.className", "completejs")
	b.press("/")
	b.enter("tag")
	b.want(shown, "true")
	b.press("Escape")
	b.want(shown, "false")
}
