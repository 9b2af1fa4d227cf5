package webhooksign_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursarhq/bursar/internal/base/webhooksign"
)

func TestTheSignatureIsThatOfThePublishedExample(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	key, err := webhooksign.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	got := key.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("the signature is %s, want %s", got, want)
	}
	if key.Secret() != secret {
		t.Errorf("the secret is %s, want %s", key.Secret(), secret)
	}
}

func TestALibraryOfTheSpecificationVerifiesTheHeaders(t *testing.T) {
	t.Parallel()
	key, other := webhooksign.NewKey(), webhooksign.NewKey()
	body := []byte(`{"id":"evt_1","data":{"name":"Zoë"}}`)
	h := http.Header{}
	key.SetHeaders(h, "evt_1", time.Now(), body)
	for _, try := range []struct {
		key  webhooksign.Key
		body string
		ok   bool
	}{{key, string(body), true}, {other, string(body), false}, {key, string(body) + " ", false}} {
		library, err := standardwebhooks.NewWebhook(try.key.Secret())
		if err != nil {
			t.Fatal(err)
		}
		if err := library.Verify([]byte(try.body), h); (err == nil) != try.ok {
			t.Errorf("%q with %s: %v", try.body, try.key.Secret(), err)
		}
	}
}

func TestASecretThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	encoded := func(size int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, size)) }
	for secret, says := range map[string]string{
		"": "begins with whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "begins with whsec_", "whsec_": "and not 0", "whsec_?": "base64",
		encoded(23): "and not 23", encoded(65): "and not 65",
	} {
		if _, err := webhooksign.ParseKey(secret); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %v, want %q", secret, err, says)
		}
	}
	for _, size := range []int{24, 64} {
		if _, err := webhooksign.ParseKey(encoded(size)); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
