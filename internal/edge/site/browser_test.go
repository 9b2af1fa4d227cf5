package site_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// browserTimeout is how long a browser may take for one step. Starting it takes long on a machine that is busy with other tests.
const browserTimeout = 2 * time.Minute

// chromium is a page in a headless Chromium, controlled by the DevTools protocol: JSON messages through two pipes, each with a zero byte at
// its end.
type chromium struct {
	*service
	commands *os.File
	events   *os.File
	reader   *bufio.Reader
	session  string
	last     int // the number of the last command
}

// chromium starts a browser with an empty page. It ends with the test.
func (s *service) chromium() *chromium {
	s.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		s.Fatalf("%v: run scripts/setup, which installs it", err)
	}
	reads, commands, err := os.Pipe()
	s.must(err)
	events, writes, err := os.Pipe()
	s.must(err)
	arguments := []string{"--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir=" + s.TempDir(), "about:blank"}
	if os.Geteuid() == 0 {
		arguments = append([]string{"--no-sandbox"}, arguments...) // Chromium has no sandbox for root
	}
	process := exec.Command(program, arguments...)
	process.ExtraFiles = []*os.File{reads, writes}
	s.must(process.Start())
	_, _ = reads.Close(), writes.Close()
	b := &chromium{service: s, commands: commands, events: events, reader: bufio.NewReader(events)}
	s.Cleanup(func() {
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
func (b *chromium) command(method string, params map[string]any, into any) {
	b.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	b.must(err)
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
			b.must(json.Unmarshal(answer.Result, into))
		}
		return
	}
}

// value returns the value of a JavaScript expression. It is empty while a page is loading.
func (b *chromium) value(expression string) string {
	b.Helper()
	var out struct{ Result struct{ Value any } }
	b.command("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true, "userGesture": true}, &out)
	return fmt.Sprint(out.Result.Value)
}

// want waits until an expression has a value.
func (b *chromium) want(expression, value string) {
	b.Helper()
	got := ""
	for deadline := time.Now().Add(browserTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = b.value(expression); got == value {
			return
		}
	}
	b.Fatalf("%s is %q, want %q, on %s", expression, got, value, b.value("location.pathname + ' ' + document.body.innerText"))
}

// open loads a page.
func (b *chromium) open(path string) {
	b.Helper()
	b.command("Page.navigate", map[string]any{"url": b.url + path}, nil)
	b.want("document.readyState", "complete")
}

// fill fills in a field of the page.
func (b *chromium) fill(id, text string) {
	b.Helper()
	b.value(fmt.Sprintf("document.getElementById(%q).value = %q", id, text))
}

// press presses the button with a text.
func (b *chromium) press(text string) {
	b.Helper()
	button := fmt.Sprintf("[...document.querySelectorAll('button, a.button')].find(b => b.checkVisibility() && "+
		"b.innerText.trim() === %q)", text)
	b.want("Boolean("+button+")", "true")
	b.value(button + ".click()")
}

// shows waits until the page is at a path and shows a text.
func (b *chromium) shows(path, text string) {
	b.Helper()
	b.want(fmt.Sprintf("location.pathname + document.body.innerText.includes(%q)", text), path+"true")
}

func (b *chromium) signInWithPassword() {
	b.Helper()
	b.open("/sign-in")
	b.fill("email", ada)
	b.fill("password", good)
	b.press("Sign in")
	b.shows("/account", "Your account")
}

func TestABrowserAddsAPasskeySignsInWithItAndConfirmsWithIt(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.SQLite(t), func(*site.Config, *app.Config) {})
	b := s.chromium()
	b.command("WebAuthn.enable", map[string]any{}, nil)
	var device struct{ AuthenticatorID string }
	b.command("WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{"protocol": "ctap2", "transport": "internal",
		"hasResidentKey": true, "hasUserVerification": true, "isUserVerified": true, "automaticPresenceSimulation": true}}, &device)

	b.signInWithPassword()
	b.open("/account/passkeys/new")
	b.want("document.querySelector('[data-without]').hidden", "true")
	b.fill("name", "Virtual device")
	b.press("Add the passkey")
	b.shows("/account", "The passkey was added.")
	b.shows("/account", "Virtual device")

	b.press("Sign out")
	b.shows("/sign-in", "You are signed out.")
	b.open("/sign-in?next=/account/password")
	b.press("Sign in with a passkey")
	b.shows("/account/password", "Change your password")

	s.now.Advance(20 * time.Minute)
	b.open("/account/email")
	b.shows("/confirm", "Confirm that it is you")
	b.press("Confirm with a passkey")
	b.shows("/account/email", "New email address")
	sessions, err := s.app.Identity.Sessions(t.Context(), s.made.Owner.UserID)
	s.must(err)
	if len(sessions) != 1 || sessions[0].Method != identity.ByPasskey {
		t.Errorf("%+v", sessions)
	}

	// The same device cannot be added twice, and the page says so.
	b.open("/account/passkeys/new")
	b.press("Add the passkey")
	b.shows("/account/passkeys/new", "This device has a passkey for your account already.")

	// A passkey that was removed lets nobody in, and the password still does.
	b.open("/account")
	b.value("document.querySelector('a[href^=\"/account/passkeys/psk_\"]').click()")
	b.want("location.pathname.startsWith('/account/passkeys/psk_')", "true")
	b.press("Remove the passkey")
	b.shows("/account", "The passkey was removed.")
	b.press("Sign out")
	b.shows("/sign-in", "You are signed out.")
	b.press("Sign in with a passkey")
	b.shows("/sign-in/passkey", "The passkey was not accepted")
	b.signInWithPassword()
}

func TestThePolicyOfThePagesBlocksNothingThatTheyNeed(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.SQLite(t), func(*site.Config, *app.Config) {})
	b := s.chromium()
	b.command("Page.enable", map[string]any{}, nil)
	b.command("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "window.blocked = []; " +
		"document.addEventListener('securitypolicyviolation', e => blocked.push(e.violatedDirective + ' ' + e.blockedURI));"}, nil)
	b.open("/sign-in")
	b.want("getComputedStyle(document.querySelector('.card')).borderTopWidth", "1px")
	b.signInWithPassword()
	for _, path := range []string{"/account", "/account/authenticator", "/account/passkeys/new", "/account/email"} {
		b.open(path)
		if got := b.value("blocked.join('; ')"); got != "" {
			t.Errorf("%s: %s", path, got)
		}
		if got := b.value("document.documentElement.scrollWidth > window.innerWidth"); got != "false" {
			t.Errorf("%s is too wide", path)
		}
	}
	b.open("/account/authenticator")
	b.press("Set up an authenticator app")
	b.want("document.querySelector('.qr img') !== null && document.querySelector('.qr img').naturalWidth > 0", "true")
	if got := b.value("blocked.join('; ')"); got != "" || !strings.HasPrefix(b.value("document.querySelector('.qr img').src"), "data:") {
		t.Errorf("%s", got)
	}
}
