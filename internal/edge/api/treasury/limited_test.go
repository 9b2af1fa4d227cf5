package treasury_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

const (
	walletOfA  = "0x3fA9c41b7e02D56a8F1c0B94E7d26358aC1be07D"
	walletOfB  = "0x91b0D3F7a64c28E5b0917fAcE35d4628bC90e1A2"
	customerB  = "0x7c2E91aF04d83b56C7e0A19f2bD458630eC7f1B3"
	lookalikeB = "0x7c2E0000b1D27c61f04A99c3E58a0b4417d6F1b3" // as the customer, four characters at each end
	tokenUSDC  = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	tokenNew   = "0x5bD1C8a3F60e94B7d2c01E86a7f39B50c84dE211"
)

// arrival is an incoming transfer of a token to a wallet.
func arrival(sourceID, externalID, quantity, symbol, contract, from string) object {
	external := object{"timestamp": "2026-01-15T12:00:00Z", "description": "Transfer", "direction": "credit", "quantity": quantity,
		"currency": symbol}
	if quantity != "0" && symbol == "USDC" {
		external["value_fiat"] = object{"gross": quantity, "fee": "0", "net": quantity, "currency": "USD"}
	}
	return object{"source_id": sourceID, "external_id": externalID, "external": external,
		"crypto": object{"chain": "ethereum", "contract_address": contract, "from_address": from, "transaction_hash": "0xb0"}}
}

// wallets creates a wallet of each of two legal entities. It returns a key for the first, and arrivals at the second: a payment of a
// customer, and transfers of an unknown token in one transaction.
func wallets(t *testing.T, n *apitest.Tenant) (a, key string) {
	t.Helper()
	other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
	a = n.NewSource(t, client.CreateSource{SourceType: "wallet", Name: "A", Address: walletOfA, Chain: "ethereum"}).ID
	b := n.NewSource(t, client.CreateSource{SourceType: "wallet", Name: "B", Address: walletOfB, Chain: "ethereum",
		LegalEntityID: other.ID}).ID
	all := []object{arrival(b, "0", "5000", "USDC", tokenUSDC, customerB)}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		all = append(all, arrival(b, id, "9", "NEWT", tokenNew, lookalikeB))
	}
	if answer := n.PostJSON(t, "/v1/transactions", object{"transactions": all}, nil); answer.Status != http.StatusCreated {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return a, n.Limited(t, n.LegalEntity.ID)
}

// probes are arrivals at a wallet whose verdict depends on what arrived at the others.
func probes(sourceID, prefix string) object {
	return object{"transactions": []object{
		arrival(sourceID, prefix+"look-alike", "0", "USDC", tokenUSDC, lookalikeB),
		arrival(sourceID, prefix+"airdrop", "9", "NEWT", tokenNew, ""),
		arrival(sourceID, prefix+"wallet", "0", "USDC", tokenUSDC, walletOfB),
		arrival(sourceID, prefix+"counterparty", "0", "USDC", tokenUSDC, customerB),
	}}
}

func TestTheSpamFilterTellsAKeyNothingAboutOtherLegalEntities(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		a, key := wallets(t, n)
		limited := &apitest.Tenant{}
		*limited = *n.At(s)
		limited.Key, limited.Client = key, client.New(s.URL, key)
		for _, dry := range []bool{true, false} {
			body := probes(a, "limited ")
			body["dry_run"] = dry
			got := limited.PostJSON(t, "/v1/transactions", body, nil)
			text := strings.ToLower(string(got.Body))
			for _, word := range []string{"lookalike_address", "mass_airdrop", "real_counterparty", strings.ToLower(customerB) + ", "} {
				if got.Status >= 300 || strings.Contains(text, word) {
					t.Errorf("%q, dry run %v: %d %s", word, dry, got.Status, got.Body)
				}
			}
		}
		// A key for the whole organization is judged by all of it. What it stored is explained to the other without the texts.
		whole := n.PostJSON(t, "/v1/transactions", probes(a, "whole "), nil)
		for _, word := range []string{strings.ToLower(customerB) + ", a known counterparty", "mass_airdrop", "transfers to the organization"} {
			if !strings.Contains(string(whole.Body), word) {
				t.Errorf("%q is missing: %s", word, whole.Body)
			}
		}
		seen := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/transactions?include_spam=true&limit=100", Key: key})
		if text := string(seen.Body); seen.Status != http.StatusOK || strings.Contains(text, "a known counterparty") ||
			strings.Contains(text, "to the organization") || strings.Contains(text, "of the organization's wallets") ||
			!strings.Contains(text, "Based on earlier transactions of the organization.") || !strings.Contains(text, "lookalike_address") {
			t.Errorf("%d %s", seen.Status, seen.Body)
		}
	})
}

func TestAKeyIsJudgedByTheHistoryOfItsOwnLegalEntities(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		a, key := wallets(t, n)
		limited := &apitest.Tenant{}
		*limited = *n.At(s)
		limited.Key, limited.Client = key, client.New(s.URL, key)
		own := object{"transactions": []object{arrival(a, "paid", "700", "USDC", tokenUSDC, customerB)}}
		if got := limited.PostJSON(t, "/v1/transactions", own, nil); got.Status != http.StatusCreated {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		got := limited.PostJSON(t, "/v1/transactions", probes(a, "then "), nil)
		if text := string(got.Body); !strings.Contains(text, strings.ToLower(customerB)+", a known counterparty") {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	})
}

func TestAnImportIsJudgedAsTheKeyThatUploadedIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		a, key := wallets(t, n)
		file := "Transaction ID,Date,Description,Amount,Currency,From address,Contract address\n" +
			"1,2026-01-15T12:00:00Z,Transfer,9,NEWT," + lookalikeB + "," + tokenNew + "\n" +
			"2,2026-01-15T12:00:00Z,Transfer,-1,ETH,,\n"
		c := client.New(s.URL, key)
		made, err := c.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(file), FileName: "wallet.csv", SourceID: a})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.App.Imports.Run(t.Context(), n.Organization.ID, made.ID, nil); err != nil {
			t.Fatal(err)
		}
		seen := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/transactions?include_spam=true", Key: key})
		if text := string(seen.Body); !strings.Contains(text, "unknown_token") || strings.Contains(text, "lookalike_address") ||
			strings.Contains(text, "mass_airdrop") {
			t.Errorf("%d %s", seen.Status, seen.Body)
		}
	})
}
