package cli_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestAServiceWithoutOrganizationsSaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	c := db.Config{Dir: filepath.Join(t.TempDir(), "data")}
	p := serve(t, c)
	line := p.logged(t, "no organization yet")
	if !strings.Contains(line, "bursar init --data "+c.Dir+" --organization") {
		t.Errorf("the command it names is not the one to type: %s", line)
	}
	address := p.ready(t)
	// It serves the new organization without a restart.
	key := found(t, c).APIKey
	if _, err := once(address, key).Organization(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheLogIsOneObjectALine(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	p := serve(t, c, "--log-level", "debug")
	_, _ = once(p.ready(t), "nonsense").Organization(t.Context())
	p.terminate(t)
	p.wait(t)
	for line := range strings.Lines(strings.TrimSpace(p.log.text())) {
		var entry struct {
			Time  time.Time
			Level string
			Msg   string
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time.IsZero() || entry.Level == "" || entry.Msg == "" {
			t.Errorf("%q: %v", line, err)
		}
	}
	if strings.Contains(p.log.text(), "nonsense") {
		t.Error("the log tells the key somebody tried")
	}
}

func TestTheEnvironmentSetsWhatFlagsDoNot(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	host := freeAddress(t)
	key := found(t, c).APIKey
	env := []string{"BURSAR_DATA=" + c.Dir, "BURSAR_ADDR=" + host, "BURSAR_LOG_LEVEL=debug", "BURSAR_LOG_FORMAT=pretty"}
	p := start(t, env, "serve")
	p.logged(t, "ready")
	org, err := once("http://"+host, key).Organization(t.Context())
	if err != nil || org.Name != "Acme" {
		t.Errorf("%+v, %v", org, err)
	}
	p.logged(t, "/v1/organization") // only the debug level logs a request
	other := db.Config{Dir: t.TempDir()}
	if r := program(t, env, "verify").mustDo(t); !strings.Contains(r.out, "1 organization") {
		t.Errorf("verify says %q", r.out)
	}
	program(t, env, "verify", "--data", other.Dir).mustFail(t, 1, other.Dir) // the flag overrides the variable
}

func TestThePasswordOfTheDatabaseIsNeverShown(t *testing.T) {
	t.Parallel()
	const password = "hunter2correcthorse"
	withPassword := func(url string) []string {
		return []string{"BURSAR_DATABASE_URL=" + strings.Replace(url, "postgres@", "postgres:"+password+"@", 1)}
	}
	working := withPassword(dbtest.Postgres(t).URL)
	broken := withPassword("postgres://postgres@127.0.0.1:1/none?sslmode=disable")
	invalid := withPassword("postgres://postgres@127.0.0.1:port/none")
	keywords := []string{"BURSAR_DATABASE_URL=host=127.0.0.1 port=none password=" + password}
	initialize := []string{"init", "--organization", "Acme", "--email", "owner@acme.example"}
	for _, env := range [][]string{working, broken, invalid, keywords} {
		for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"serve", "--nope"}, initialize, {"verify"}, {"migrate"},
			{"backup", "copy.db"}} {
			r := program(t, env, args...)
			if strings.Contains(r.out+r.err, password) {
				t.Errorf("%v with %v shows it:\n%s%s", args, env, r.out, r.err)
			}
		}
	}
	for says, env := range map[string][]string{`"msg":"ready"`: working, "is not reachable": broken} {
		p := start(t, env, "serve", "--addr", "127.0.0.1:0", "--log-level", "debug")
		p.logged(t, says)
		p.terminate(t)
		p.wait(t)
		if strings.Contains(p.log.text()+p.out.text(), password) {
			t.Errorf("serve shows it:\n%s%s", p.log.text(), p.out.text())
		}
	}
}

func TestAnAddressInUseIsSaidSo(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	host := listener.Addr().String()
	program(t, nil, on(dbtest.SQLite(t), "serve", "--addr", host)...).mustFail(t, 1, host, "in use", "--addr")
}

// certificate creates a self-signed certificate for this machine.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(
			time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, raw []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", key), pool
}

func TestWithACertificateTheServiceSpeaksHTTPSOnly(t *testing.T) {
	t.Parallel()
	cert, key, pool := certificate(t)
	c := dbtest.SQLite(t)
	f := found(t, c)
	p := serve(t, c, "--tls-cert", cert, "--tls-key", key)
	address := p.ready(t)
	if !strings.HasPrefix(address, "https://127.0.0.1:") {
		t.Fatalf("it calls itself %s", address)
	}
	service := once(address, f.APIKey)
	service.HTTP.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	if _, err := service.Organization(t.Context()); err != nil {
		t.Error(err)
	}
	service.HTTP.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}}
	if _, err := service.Organization(t.Context()); err == nil {
		t.Error("it speaks a version of TLS that is broken")
	}
	if _, err := once(strings.Replace(address, "https:", "http:", 1), f.APIKey).Organization(t.Context()); err == nil {
		t.Error("it takes keys in the clear")
	}
}

func TestACertificateAndItsKeyBelongTogether(t *testing.T) {
	t.Parallel()
	cert, key, _ := certificate(t)
	c := dbtest.SQLite(t)
	for _, args := range [][]string{{"--tls-cert", cert}, {"--tls-key", key}} {
		program(t, nil, on(c, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)...).mustFail(t, 2, "--tls-cert",
			"--tls-key", "Run `bursar serve --help`")
	}
	_, otherKey, _ := certificate(t)
	for _, args := range [][]string{{"--tls-cert", cert, "--tls-key", otherKey}, {"--tls-cert", "none.pem", "--tls-key", key}} {
		program(t, nil, on(c, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)...).mustFail(t, 1, "certificate")
	}
}

func TestTheDemoRunsAndCleansUp(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	p := start(t, []string{"TMPDIR=" + temp}, "demo", "--addr", "127.0.0.1:0", "--invoices", "30")
	address := p.ready(t)
	line, ok := p.out.await("API key", patience)
	if !ok {
		t.Fatal("it prints no key")
	}
	key := regexp.MustCompile(`bur_\w{43}`).FindString(line)
	if org, err := once(address, key).Organization(t.Context()); err != nil || org.Name != "Demo Company" {
		t.Errorf("%+v, %v", org, err)
	}
	eventually(t, "the account at the exchange of the demo is read", func(ctx context.Context) error {
		for c, err := range once(address, key).Connections(ctx, url.Values{"status": {"active"}}) {
			if err != nil || c.Name != "Demo exchange" || c.LastSyncedAt == nil {
				return fmt.Errorf("%+v %w", c, err)
			}
			return nil
		}
		return errors.New("there is no active connection")
	})
	p.terminate(t)
	if code := p.wait(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(p.out.text(), address) {
		t.Errorf("it does not print its address:\n%s", p.out.text())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestNodesThatStartTogetherOnAnEmptyDatabaseShareIt(t *testing.T) {
	t.Parallel()
	c := db.Config{URL: ownCluster(t, nil).URL("postgres")}
	var nodes []*process
	for range 3 {
		nodes = append(nodes, serve(t, c))
	}
	var addresses []string
	for _, p := range nodes {
		addresses = append(addresses, p.ready(t))
	}
	f := found(t, c)
	w := newWitness(t, once(addresses[0], f.APIKey))
	for i, address := range addresses {
		if err := w.rename(once(address, f.APIKey), fmt.Sprintf("node %d", i)); err != nil {
			t.Error(err)
		}
	}
	for _, address := range addresses {
		org, err := once(address, f.APIKey).Organization(t.Context())
		if err != nil || org.Name != "node 2" {
			t.Errorf("%s gives %q, %v", address, org.Name, err)
		}
	}
	service := once(addresses[1], f.APIKey)
	w.check(t, service)
	verifyWhole(t, c, service)
	// A key revoked on one node must stop working on the others within a second.
	extra := &newKey{idempotencyKey: "extra"}
	if err := w.sendKey(service, "Extra", extra); err != nil {
		t.Fatal(err)
	}
	other := once(addresses[2], extra.text)
	if _, err := other.Organization(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := service.RevokeAPIKey(t.Context(), extra.id); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if _, err := other.Organization(t.Context()); statusOf(err) != http.StatusUnauthorized {
		t.Errorf("a second after it was revoked the key gives %v", err)
	}
}
