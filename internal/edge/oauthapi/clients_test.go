package oauthapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// visits does what a person does who is sent to an address and allows what the app asks for.
func (w *world) visits(address string) *url.URL {
	w.Helper()
	at, err := url.Parse(address)
	w.must(err)
	if !strings.HasPrefix(address, w.URL+"/oauth/authorize?") {
		w.Fatalf("the app sends people to %s", address)
	}
	return w.approve(at.Query())
}

func TestTheGoPackageOAuth2Connects(t *testing.T) {
	each(t, func(w *world) {
		for what, style := range map[string]oauth2.AuthStyle{"as it finds out": oauth2.AuthStyleAutoDetect,
			"in the body": oauth2.AuthStyleInParams, "in the header": oauth2.AuthStyleInHeader} {
			config := oauth2.Config{ClientID: w.app.ID, RedirectURL: callback, Scopes: []string{"apis.read", "write:memory"},
				Endpoint: oauth2.Endpoint{AuthURL: w.URL + "/oauth/authorize", TokenURL: w.URL + "/oauth/token", AuthStyle: style}}
			secret := oauth2.GenerateVerifier()
			to := w.visits(config.AuthCodeURL("state", oauth2.S256ChallengeOption(secret)))
			token, err := config.Exchange(t.Context(), to.Query().Get("code"), oauth2.VerifierOption(secret))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if token.TokenType != "Bearer" || token.ExpiresIn != 86400 || token.Extra("scope") != "apis.read write:memory" {
				t.Errorf("%s: %+v", what, token)
			}
			get := func(source *oauth2.Token) int {
				got, err := config.Client(t.Context(), source).Get(w.URL + "/v1/tags")
				w.must(err)
				_ = got.Body.Close()
				return got.StatusCode
			}
			if got := get(token); got != http.StatusOK {
				t.Errorf("%s: %d", what, got)
			}
			if got := get(&oauth2.Token{RefreshToken: token.RefreshToken}); got != http.StatusOK { // it refreshes by itself
				t.Errorf("%s, refreshed: %d", what, got)
			}
		}
	})
}

// tools is the folder with the npm packages.
var tools = filepath.Join("..", "..", "..", "tools", "oauth-client")

func TestNPMPackagesConnect(t *testing.T) {
	if _, err := os.Stat(filepath.Join(tools, "node_modules", "openid-client")); err != nil {
		t.Skipf("the npm packages are not installed: run scripts/test, or npm ci --prefix tools/oauth-client")
	}
	each(t, func(w *world) {
		common := map[string]any{"first": 200.0, "second": 200.0, "revoked": 401.0, "refused": "invalid_grant", "rotated": true,
			"scope": "apis.read"}
		for name, more := range map[string]map[string]any{
			"openid-client": {},
			"oauth4webapi":  {"mix_up": "OperationProcessingError", "authorization_servers": []any{w.URL}},
		} {
			maps.Copy(more, common)
			uri := callback
			if name == "oauth4webapi" { // openid-client leaves the query of the address out when it asks for tokens
				uri += "?via=" + name
			}
			got := w.runNode(name+".mjs", w.register(name, uri).ID, uri)
			if fmt.Sprint(got) != fmt.Sprint(more) {
				t.Errorf("%s: %v, want %v", name, got, more)
			}
		}
	})
}

// runNode has a program in JavaScript connect an app. It returns what the program prints last.
func (w *world) runNode(program, clientID, redirectURI string) (result map[string]any) {
	w.Helper()
	c := exec.CommandContext(w.Context(), "node", filepath.Join(tools, program))
	var complaints strings.Builder
	c.Stderr = &complaints
	in, err := c.StdinPipe()
	w.must(err)
	out, err := c.StdoutPipe()
	w.must(err)
	w.must(c.Start())
	settings, err := json.Marshal(map[string]string{"issuer": w.URL, "client_id": clientID, "redirect_uri": redirectURI})
	w.must(err)
	_, err = io.WriteString(in, string(settings)+"\n")
	w.must(err)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		result = map[string]any{}
		w.must(json.Unmarshal(lines.Bytes(), &result))
		if address, ok := result["visit"].(string); ok {
			_, err := io.WriteString(in, w.visits(address).String()+"\n")
			w.must(err)
		}
	}
	if err := c.Wait(); err != nil {
		w.Fatalf("%s: %v: %s", program, err, complaints.String())
	}
	return result
}
