package docs_test

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/webhooksign"
)

// webhookTools is the folder with the npm packages that the TypeScript receiver needs.
var webhookTools = filepath.Join(documentRoot, "tools", "webhook-receiver")

// receiverCode returns the program in a language of the guide to webhooks: its only block that is a whole program.
func receiverCode(t *testing.T, language string) string {
	t.Helper()
	found, all := "", regexp.MustCompile("(?s)```"+language+"\n(.*?)```")
	for _, block := range all.FindAllStringSubmatch(textOfGuide(t, "events-and-webhooks"), -1) {
		if strings.Contains(block[1], "WEBHOOK_SECRET") {
			found += block[1]
		}
	}
	if found == "" {
		t.Fatalf("the guide has no receiver in %s", language)
	}
	return found
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func TestTheReceiverInGoVerifiesSignatures(t *testing.T) {
	t.Parallel()
	file := write(t, "receiver.go", receiverCode(t, "go"))
	program := filepath.Join(filepath.Dir(file), "receiver")
	run(t, ".", "go", "vet", file)
	run(t, ".", "go", "build", "-o", program, file)
	checkReceiver(t, program)
}

func TestTheReceiverInTypeScriptVerifiesSignatures(t *testing.T) {
	t.Parallel()
	packages, err := filepath.Abs(filepath.Join(webhookTools, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(packages, "typescript")); err != nil {
		t.Skipf("the npm packages are not installed: run scripts/test, or npm ci --prefix tools/webhook-receiver")
	}
	file := write(t, "receiver.mts", receiverCode(t, "ts"))
	dir := filepath.Dir(file)
	if err := os.Symlink(packages, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	compiler := filepath.Join(packages, "typescript", "bin", "tsc")
	run(t, dir, "node", compiler, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", file)
	const command = "npx tsc --types node receiver.mts\n"
	if !strings.Contains(textOfGuide(t, "events-and-webhooks"), command) {
		t.Errorf("the guide does not say %s", command)
	}
	run(t, dir, "node", append([]string{compiler}, strings.Fields(command)[2:]...)...)
	checkReceiver(t, "node", filepath.Join(dir, "receiver.mjs"))
}

func TestTheReceiverInPythonVerifiesSignatures(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the receiver in Python is not tested")
	}
	checkReceiver(t, python, write(t, "receiver.py", receiverCode(t, "python")))
}

// checkReceiver starts a receiver and sends it requests that it must accept and others that it must refuse.
func checkReceiver(t *testing.T, command ...string) {
	t.Helper()
	key, old := webhooksign.NewKey(), webhooksign.NewKey()
	address, printed := startReceiver(t, key.Secret(), command)
	const event = `{"id":"evt_1","type":"customer.created","created_at":"2026-11-01T10:00:00.000Z","organization_id":"org_1","data":{"name":"Zoë"}}`
	send := func(what string, accepted bool, change func(h http.Header, body *string)) {
		t.Helper()
		h, body := http.Header{"Content-Type": {"application/json"}}, event
		key.SetHeaders(h, "evt_1", time.Now(), []byte(body))
		change(h, &body)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/hook", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = h
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		_ = res.Body.Close()
		if ok := res.StatusCode/100 == 2; ok != accepted || !ok && res.StatusCode/100 != 4 {
			t.Errorf("%s is answered with %s", what, res.Status)
		}
	}
	signed := func(k webhooksign.Key, at time.Time) func(http.Header, *string) {
		return func(h http.Header, body *string) { k.SetHeaders(h, "evt_1", at, []byte(*body)) }
	}
	send("a wrong signature", false, signed(old, time.Now()))
	send("a changed body", false, func(_ http.Header, body *string) { *body = strings.Replace(*body, "Zoë", "Eve", 1) })
	send("a changed id", false, func(h http.Header, _ *string) { h.Set(webhooksign.HeaderID, "evt_2") })
	send("a changed time", false, func(h http.Header, _ *string) { h.Set(webhooksign.HeaderTimestamp, "1") })
	send("a request that was recorded", false, signed(key, time.Now().Add(-10*time.Minute)))
	send("a request of the future", false, signed(key, time.Now().Add(10*time.Minute)))
	for _, name := range []string{webhooksign.HeaderID, webhooksign.HeaderTimestamp, webhooksign.HeaderSignature} {
		send("a request without "+name, false, func(h http.Header, _ *string) { h.Del(name) })
	}
	if text := printed(); text != "" {
		t.Errorf("it handles what it refuses:\n%s", text)
	}
	send("a right signature", true, func(http.Header, *string) {})
	send("the same event again", true, signed(key, time.Now().Add(-time.Minute)))
	send("a signature with each secret", true, func(h http.Header, body *string) {
		h.Set(webhooksign.HeaderSignature, old.Sign("evt_1", time.Now(), []byte(*body))+" "+h.Get(webhooksign.HeaderSignature))
	})
	if text := strings.TrimSpace(printed()); text != "customer.created evt_1" {
		t.Errorf("it handles %q, want the event once", text)
	}
}

// startReceiver starts a receiver on a free port, after it has refused to start without a secret. It returns its address, and a function
// that returns what it has printed.
func startReceiver(t *testing.T, secret string, command []string) (address string, printed func() string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	_ = listener.Close()
	_, port, _ := net.SplitHostPort(host)
	process := func(secret string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret, "PORT="+port)
		return c
	}
	var ended *exec.ExitError
	if err := process("").Run(); !errors.As(err, &ended) {
		t.Errorf("without a secret it ends with %v, want an error", err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer
	c := process(secret)
	c.Stdout, c.Stderr = out, &complaints
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
		_ = out.Close()
		if t.Failed() {
			t.Logf("what it says:\n%s", complaints.String())
		}
	})
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", host); err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(limit) {
			t.Fatal("it does not start")
		}
	}
	return "http://" + host, func() string {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}
