package site_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
)

// TestAPhoneAnswersARequest does what a client does, in a window as small as that of a phone and without scripts. With BURSAR_SCREENSHOTS,
// pictures of the pages are written to that folder.
func TestAPhoneAnswersARequest(t *testing.T) {
	t.Parallel()
	s := startAsking(t, dbtest.SQLite(t))
	c := s.newClient(false)
	r, path := s.ask(c, "kraken", "quickbooks", "file", "coinbase")
	b := s.chromium()
	b.Command("Page.enable", map[string]any{}, nil)
	b.Command("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.Command("Emulation.setDeviceMetricsOverride", map[string]any{"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true}, nil)
	look := func(name string) {
		t.Helper()
		if got := b.Value("document.documentElement.scrollWidth > window.innerWidth"); got != "false" {
			t.Errorf("%s is too wide for a phone", name)
		}
		small := b.Value("[...document.querySelectorAll('button:not(.link), a.button, select, " +
			"input:not([type=hidden],[type=radio],[type=checkbox])')]" +
			".filter(e => e.getBoundingClientRect().height < 44).map(e => e.outerHTML).join(' ')")
		if small != "" {
			t.Errorf("%s: too small for a finger: %s", name, small)
		}
		folder := os.Getenv("BURSAR_SCREENSHOTS")
		if folder == "" {
			return
		}
		var out struct{ Data string }
		b.Command("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &out)
		picture, err := base64.StdEncoding.DecodeString(out.Data)
		s.must(err)
		s.must(os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600))
	}
	b.open(path)
	b.shows(path, "asks you to connect your accounts")
	look("request")
	b.open(path + "/0")
	look("kraken")
	for name, value := range s.exchange.Credentials() {
		b.fill("field_"+name, value)
	}
	b.press("Connect")
	b.shows(path, "The account is connected.")
	look("connected")
	b.open(path + "/1")
	b.press("Go on to QuickBooks Online")
	b.shows(path+"/1", "Go on at QuickBooks Online")
	look("hosted")
	b.open(path + "/2")
	look("file")
	b.open(path + "/3")
	look("coinbase")
	b.open(path)
	b.press("That is all")
	b.shows(path+"/done", "Thank you, that is all")
	look("done")
	if got := s.request(r.ID); got.Status != firmrequest.Completed {
		t.Errorf("%+v", got)
	}

	existing := s.newClient(true)
	_, path = s.ask(existing, "kraken")
	b.open(path)
	b.shows(path, "It will be able to")
	look("access")
	b.press("Sign in")
	b.shows("/sign-in", "with which you own the books")
	b.fill("email", ada)
	b.fill("password", good)
	b.press("Sign in")
	b.shows(path, "Give access to Ledger & Partners")
	look("grant")
	b.press("Give access to Ledger & Partners")
	b.shows(path, "Access was granted.")
}
