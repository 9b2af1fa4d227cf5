package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/integration/webhook"
)

func TestAnEndpointMustBeAnAddressOnTheInternet(t *testing.T) {
	t.Parallel()
	eachWith(t, webhook.Config{}, func(w *world) {
		for _, url := range []string{"http://example.com", "https://127.0.0.1/", "https://localhost/", "https://10.0.0.1/", "https://[::1]/",
			"https://169.254.169.254/latest", "https://u:p@example.com", "https://example.com/#x", "https://", "ftp://example.com", "example.com",
			"https://example.com/" + strings.Repeat("a", 2048), "https://exa mple.com", "https://[::ffff:127.0.0.1]/",
			"https://example.com:/", "https://example.com:0/", "https://example.com:99999/", "https://" + strings.Repeat("a", 64) + ".com/",
			"https://a..com/", "https://xn--a/", "https://1.2.3.4.5/", "https://0x7f.1/", "https://2130706433/", "https://127.0.0.1./"} {
			_, err := w.sender.Create(w.ctx, webhook.CreateParams{URL: url})
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Name != "url" {
				w.Errorf("%s: %v", url, err)
			}
		}
		e, err := w.sender.Create(w.ctx, webhook.CreateParams{URL: "https://example.com/hook?x=1", Types: []string{"a.b", "a.*", "a.b"}})
		if err != nil || len(e.Types) != 2 || !strings.HasPrefix(e.Secret.Reveal(), "whsec_") {
			w.Errorf("%+v %v", e, err)
		}
		for _, p := range []webhook.CreateParams{{Types: []string{"*"}}, {Types: []string{"a"}}, {Types: []string{"a.b.c"}},
			{Types: make([]string, 101)}, {Description: strings.Repeat("x", 501)}} {
			p.URL = "https://example.com"
			if _, err := w.sender.Create(w.ctx, p); fault.KindOf(err) != fault.Invalid {
				w.Errorf("%v: %v", p.Types, err)
			}
		}
	})
}

func TestAnOrganizationHasAHundredEndpointsAtMost(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		for range webhook.EndpointsMax {
			w.create("https://example.com", false)
		}
		if _, err := w.sender.Create(w.ctx, webhook.CreateParams{URL: "https://example.com"}); fault.KindOf(err) != fault.Conflict {
			w.Errorf("%v", err)
		}
	})
}

func TestAChangeNeedsTheLatestVersion(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		e := w.create("https://example.com", false)
		changed, err := w.sender.Update(w.ctx, e.ID, webhook.UpdateParams{Description: new("x")}, e.ETag())
		if err != nil || changed.ETag() == e.ETag() {
			w.Fatalf("%+v %v", changed, err)
		}
		same, err := w.sender.Update(w.ctx, e.ID, webhook.UpdateParams{Description: new("x")}, "")
		if err != nil || same.ETag() != changed.ETag() {
			w.Errorf("nothing was changed: %+v %v", same, err)
		}
		if _, err := w.sender.Disable(w.ctx, e.ID, e.ETag()); fault.KindOf(err) != fault.Conflict {
			w.Errorf("%v", err)
		}
		if err := w.sender.Delete(w.ctx, e.ID, e.ETag()); fault.KindOf(err) != fault.Conflict {
			w.Errorf("%v", err)
		}
		other, ctx := w.found("theirs")
		if _, err := w.sender.Get(ctx, e.ID); fault.KindOf(err) != fault.NotFound {
			w.Errorf("%s sees it: %v", other, err)
		}
	})
}

// rebinding answers the first question for a name with an address on the Internet, and later ones with this machine.
func rebinding(t *testing.T, asked *atomic.Int32) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for buf := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			q := m.Questions[0]
			answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
			if q.Type == dnsmessage.TypeA {
				address := "127.0.0.1"
				if asked.Add(1) == 1 {
					address = "192.0.2.1" // where nothing answers, and nothing is allowed to
				}
				answer.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body: &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()}}}
			}
			if packed, err := answer.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	var dialer net.Dialer
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestANameThatComesToStandForThisMachineIsNotReached(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	eachWith(t, webhook.Config{Resolver: rebinding(t, &asked)}, func(w *world) {
		r := receive(w)
		_, port, _ := net.SplitHostPort(r.Listener.Addr().String())
		e := w.create("https://rebinding.example.com:"+port+"/", false)
		w.happen("one")
		w.deliver(e)
		w.clock.Advance(10e9)
		w.deliver(e)
		d := w.deliveries(e, "")
		if len(d) != 1 || d[0].Attempts != 2 || !strings.Contains(d[0].Error, "the host is on a private network") {
			w.Errorf("%+v", d)
		}
		equal(w.T, r.types())
	})
}
