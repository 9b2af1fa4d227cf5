package site_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/browsertest"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// chromium is a browser in which somebody visits a service.
type chromium struct {
	*browsertest.Page
	service *service
}

// chromium starts a browser with an empty page. It ends with the test.
func (s *service) chromium() *chromium { return &chromium{browsertest.Open(s.T), s} }

// open loads a page.
func (b *chromium) open(path string) {
	b.Helper()
	b.Command("Page.navigate", map[string]any{"url": b.service.url + path}, nil)
	b.Want("document.readyState", "complete")
}

// fill fills in a field of the page.
func (b *chromium) fill(id, text string) {
	b.Helper()
	b.Value(fmt.Sprintf("document.getElementById(%q).value = %q", id, text))
}

// press presses the button with a text.
func (b *chromium) press(text string) {
	b.Helper()
	button := fmt.Sprintf("[...document.querySelectorAll('button, a.button')].find(b => b.checkVisibility() && "+
		"b.innerText.trim() === %q)", text)
	b.Want("Boolean("+button+")", "true")
	b.Value(button + ".click()")
}

// shows waits until the page is at a path and shows a text.
func (b *chromium) shows(path, text string) {
	b.Helper()
	b.Want(fmt.Sprintf("location.pathname + document.body.innerText.includes(%q)", text), path+"true")
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
	b.Command("WebAuthn.enable", map[string]any{}, nil)
	var device struct{ AuthenticatorID string }
	b.Command("WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{"protocol": "ctap2", "transport": "internal",
		"hasResidentKey": true, "hasUserVerification": true, "isUserVerified": true, "automaticPresenceSimulation": true}}, &device)

	b.signInWithPassword()
	b.open("/account/passkeys/new")
	b.Want("document.querySelector('[data-without]').hidden", "true")
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
	b.Value("document.querySelector('a[href^=\"/account/passkeys/psk_\"]').click()")
	b.Want("location.pathname.startsWith('/account/passkeys/psk_')", "true")
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
	b.Command("Page.enable", map[string]any{}, nil)
	b.Command("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "window.blocked = []; " +
		"document.addEventListener('securitypolicyviolation', e => blocked.push(e.violatedDirective + ' ' + e.blockedURI));"}, nil)
	b.open("/sign-in")
	b.Want("getComputedStyle(document.querySelector('.card')).borderTopWidth", "1px")
	b.signInWithPassword()
	for _, path := range []string{"/account", "/account/authenticator", "/account/passkeys/new", "/account/email", "/account/password",
		"/confirm", app.SetupPath + "?state=x"} {
		b.open(path)
		if got := b.Value("blocked.join('; ')"); got != "" {
			t.Errorf("%s: %s", path, got)
		}
		for _, width := range []int{1200, 390} {
			b.Command("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1,
				"mobile": false}, nil)
			if got := b.Value("document.documentElement.scrollWidth > window.innerWidth"); got != "false" {
				t.Errorf("%s is too wide for %d pixels", path, width)
			}
		}
	}
	b.Command("Emulation.clearDeviceMetricsOverride", map[string]any{}, nil)
	b.open("/account/authenticator")
	b.press("Set up an authenticator app")
	b.Want("document.querySelector('.qr img') !== null && document.querySelector('.qr img').naturalWidth > 0", "true")
	if got := b.Value("blocked.join('; ')"); got != "" || !strings.HasPrefix(b.Value("document.querySelector('.qr img').src"), "data:") {
		t.Errorf("%s", got)
	}
}
