package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// signedMessage is a message whose signature verify.mjs checks.
type signedMessage struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func (d delivery) signedBy(secret string) signedMessage {
	m := signedMessage{Secret: secret, Headers: map[string]string{}, Body: d.body}
	for name := range d.header {
		m.Headers[strings.ToLower(name)] = d.header.Get(name) // as node presents them
	}
	return m
}

// acceptedByNPM reports for each message whether the npm package standardwebhooks accepts its signature.
func acceptedByNPM(t *testing.T, messages []signedMessage) (accepted []bool) {
	t.Helper()
	input, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", filepath.Join(webhookTools, "verify.mjs"))
	var complaints bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(input), &complaints
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &accepted)
	}
	if err != nil || len(accepted) != len(messages) {
		t.Fatalf("%v, %d answers to %d messages: %s", err, len(accepted), len(messages), complaints.String())
	}
	return accepted
}

// webhookTools is the folder with the npm package.
var webhookTools = filepath.Join("..", "..", "..", "tools", "webhook-receiver")

func TestTheNPMPackageOfStandardWebhooksVerifiesWhatIsSentDuringAndAfterARotation(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(webhookTools, "node_modules", "standardwebhooks")); err != nil {
		t.Skipf("the npm packages are not installed: run scripts/test, or npm ci --prefix tools/webhook-receiver")
	}
	c, to := dbtest.SQLite(t), receive(t)
	service := once(serve(t, c, "--allow-private-networks").ready(t), found(t, c).APIKey)
	e, err := service.CreateWebhookEndpoint(t.Context(), client.CreateWebhookEndpoint{URL: to.URL, Types: []string{"tag.created"}})
	if err != nil {
		t.Fatal(err)
	}
	var checks []signedMessage
	var want []bool
	var what []string
	check := func(name, secret string, accepted bool, deliveries ...delivery) {
		for _, d := range deliveries {
			checks, want, what = append(checks, d.signedBy(secret)), append(want, accepted), append(what, name)
		}
	}
	// send has an event and a test sent, and returns both.
	send := func(name string) []delivery {
		t.Helper()
		before := len(to.deliveries())
		addTag(t, service, name)
		eventually(t, "the event arrives", func(context.Context) error {
			if len(to.deliveries()) == before {
				return fmt.Errorf("nothing arrives")
			}
			return nil
		})
		if a, err := service.TestWebhookEndpoint(t.Context(), e.ID); err != nil || *a.StatusCode != http.StatusNoContent {
			t.Fatalf("%+v %v", a, err)
		}
		return to.deliveries()[before:]
	}
	rotate := func(overlap int64) string {
		t.Helper()
		rotated, err := service.RotateWebhookSecret(t.Context(), e.ID, client.RotateWebhookSecret{OverlapHours: &overlap})
		if err != nil {
			t.Fatal(err)
		}
		return rotated.Secret
	}
	first := send("Zoë & <first>")
	second := rotate(1)
	during := send("during the rotation")
	third := rotate(0)
	after := send("after it")
	check("before the rotation, with its secret", e.Secret, true, first...)
	check("before the rotation, with the next secret", second, false, first...)
	check("during the rotation, with the former secret", e.Secret, true, during...)
	check("during the rotation, with the next secret", second, true, during...)
	check("after the rotation, with its secret", third, true, after...)
	check("after the rotation, with the former secret", second, false, after...)
	changed := first[0]
	changed.body = strings.Replace(changed.body, "first", "other", 1)
	check("a changed body", e.Secret, false, changed)
	for i, accepted := range acceptedByNPM(t, checks) {
		if accepted != want[i] {
			t.Errorf("%s: accepted is %v for %+v", what[i], accepted, checks[i])
		}
	}
	if len(checks) != 13 {
		t.Errorf("%d messages were checked, want two of each kind and the one that was changed", len(checks))
	}
}
