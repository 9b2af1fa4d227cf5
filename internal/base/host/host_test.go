package host_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/host"
)

// longest returns a name of 253 characters, with parts of 63.
func longest() string {
	part := strings.Repeat("a", 63)
	return strings.Join([]string{part, part, part, strings.Repeat("a", 61)}, ".")
}

func TestAHostCanExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"example.com", "EXAMPLE.com", "example.com.", "localhost", "a", "my_service.internal", "_a.example",
		"r3---sn-4g5e6nz7.example.com", "1.example", "0x7f.example", "example.0x7g", "xn--bcher-kva.example", "XN--BCHER-KVA.example",
		"xn--ls8h.example", "xn--r8jz45g.xn--zckzah", "192.0.2.1", "255.255.255.255", "::1", "2001:db8::1", "::ffff:192.0.2.1",
		longest(), longest() + "."} {
		if problem := host.Problem(name); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func TestAHostCannotExist(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"":                                "no characters",
		".":                               "no characters",
		"a..example":                      "no characters",
		".example":                        "no characters",
		"example..":                       "no characters",
		strings.Repeat("a", 64) + ".com":  "a part of it has 64 characters",
		longest() + "a":                   "254 characters",
		"-a.example":                      `"-a"`,
		"a-.example":                      `"a-"`,
		"a b.example":                     `"a b"`,
		"a%00.example":                    `"a%00"`,
		"bücher.example":                  `"bücher"`,
		"xn--a":                           `"xn--a" is not the code`,
		"xn--":                            `"xn--" has`,
		"XN--A.example":                   "is not the code",
		"xn--example-.com":                `"xn--example-"`,
		"xn--abc-.example":                `"xn--abc-"`,
		"xn--0.example":                   "is not the code",
		"1.2.3.4.5":                       "ends in the number 5",
		"1.2.3":                           "ends in the number 3",
		"0x7f.1":                          "ends in the number 1",
		"0x7f000001":                      "ends in the number 0x7f000001",
		"0x":                              "ends in the number 0x",
		"2130706433":                      "ends in the number 2130706433",
		"0177.0.0.1":                      "ends in the number 1",
		"1.2.3.256":                       "ends in the number 256",
		"127.0.0.0x1":                     "ends in the number 0x1",
		"127.0.0.1.":                      "ends in the number 1",
		"example.1":                       "ends in the number 1",
		"1::2::3":                         "IPv6",
		"fe80::1%eth0":                    "IPv6",
		"example:com":                     "IPv6",
		strings.Repeat("1", 300) + "::1":  "IPv6",
		strings.Repeat("a.", 127) + "com": "257 characters",
	} {
		if problem := host.Problem(name); !strings.Contains(problem, says) {
			t.Errorf("%s: %q, want %q", name, problem, says)
		}
	}
}

func TestTheHostAndThePortOfAURLCanExist(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"https://a.example/":        "",
		"https://a.example:443/":    "",
		"https://a.example:65535":   "",
		"https://[2001:db8::1]:80/": "",
		"https://[::1]/":            "",
		"https://a.example:/":       "a port from 1 to 65535",
		"https://[::1]:/":           "a port from 1 to 65535",
		"https://a.example:0/":      "a port from 1 to 65535",
		"https://a.example:065/":    "a port from 1 to 65535",
		"https://a.example:65536/":  "a port from 1 to 65535",
		"https://0x7f.1:80/":        "the name of a host that can exist, or an IP address: it ends in the number 1",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if problem := host.URLProblem(u); !strings.Contains(problem, says) || (problem == "") != (says == "") {
			t.Errorf("%s: %q, want %q", text, problem, says)
		}
	}
}
