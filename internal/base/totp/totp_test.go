package totp_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
)

// The secret of RFC 6238, appendix B, in base 32.
var example = secret.New("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")

func TestCodesAreThoseOfTheStandard(t *testing.T) {
	t.Parallel()
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924",
		2000000000: "279037", 20000000000: "353130"} {
		if got, err := totp.Code(example, totp.Step(time.Unix(at, 0))); err != nil || got != want {
			t.Errorf("at %d: %s %v, want %s", at, got, err, want)
		}
	}
}

func TestACodeCountsOnceAndForAboutAMinute(t *testing.T) {
	t.Parallel()
	now := time.Unix(1234567890, 0)
	step := totp.Step(now)
	for offset := int64(-3); offset <= 3; offset++ {
		code, err := totp.Code(example, step+offset)
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := totp.Verify(example, " "+code[:3]+" "+code[3:], now, 0)
		if want := offset >= -1 && offset <= 1; ok != want || ok && got != step+offset || err != nil {
			t.Errorf("%d periods off: %d %t %v", offset, got, ok, err)
		}
		if _, ok, _ := totp.Verify(example, code, now, step+offset); ok {
			t.Errorf("%d periods off: it counts twice", offset)
		}
	}
	for _, wrong := range []string{"", "0", "005925", "0059240", "٠٠٥٩٢٤"} {
		if _, ok, _ := totp.Verify(example, wrong, now, 0); ok {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestSecretsAndCodesAreWrittenForPeopleAndApps(t *testing.T) {
	t.Parallel()
	s, err := totp.NewSecret(bytes.NewReader(bytes.Repeat([]byte{1, 2, 3, 4, 5}, 8)))
	if err != nil || s.Reveal() != "AEBAGBAFAEBAGBAFAEBAGBAFAEBAGBAF" {
		t.Errorf("%s %v", s.Reveal(), err)
	}
	const want = "otpauth://totp/Bursar:ada%40acme.example?issuer=Bursar&secret=AEBAGBAFAEBAGBAFAEBAGBAFAEBAGBAF"
	if got := totp.URL(s, "Bursar", "ada@acme.example"); strings.ReplaceAll(got, "@", "%40") != want {
		t.Errorf("%s", got)
	}
	code, err := totp.NewCode(bytes.NewReader(bytes.Repeat([]byte{1, 2, 3, 4, 5}, 8)), 7)
	if err != nil || code.Reveal() != "aebag-bafae" {
		t.Errorf("%s %v", code.Reveal(), err)
	}
}
