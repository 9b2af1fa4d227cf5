package bitcoin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// pageSize is how many transactions Esplora returns at a time.
	pageSize = 25
	// blocksMax bounds how many blocks a server may return at a time.
	blocksMax = 100
	hashSize  = 32
	// example is the address of a server.
	example = "https://esplora.example.com/api"
)

// errMissing means that the server does not have what it was asked for.
var errMissing = errors.New("the server does not have it")

// client asks a server of Esplora.
type client struct {
	s    *provider.Session
	left int // how many requests the current call should still send
}

// dial returns a client for the server of a session.
func dial(s *provider.Session) (*client, error) {
	if text := s.Text(provider.RPCURL); text != "" {
		u, err := s.Entered(provider.RPCURL, example)
		if err != nil {
			return nil, err
		}
		if u.RawQuery != "" {
			return nil, fault.Invalidf(provider.RPCURL, "must have no question mark: it is the address of a server, such as %s", example)
		}
		s.UseBase(text)
	}
	return &client{s: s, left: requestsMax}, nil
}

// get sends a request and decodes its answer with a function.
func (c *client) get(ctx context.Context, path string, decode func([]byte) error) error {
	c.left--
	_, err := c.s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			return c.s.Request(ctx, http.MethodGet, path, "", "")
		},
		Explain: func(a provider.Answer) error {
			switch {
			case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden:
				return fault.Unauthorizedf("the server of Bitcoin refuses access: check its address, and the key that it contains")
			case a.Status == http.StatusNotFound:
				return errMissing
			case a.Status != http.StatusOK:
				return fault.Conflictf("the server of Bitcoin refuses the request: %s", provider.Clean(string(a.Body)))
			}
			if err := decode(a.Body); err != nil {
				return provider.Nonsense(title, err)
			}
			return nil
		},
	})
	return err
}

// isHash reports whether a text is the hash of a block or a transaction.
func isHash(text string) bool {
	data, err := hex.DecodeString(text)
	return err == nil && len(data) == hashSize
}

// hash returns the hash of the block at a height, and errMissing if the server does not have one.
func (c *client) hash(ctx context.Context, height int64) (out string, err error) {
	err = c.get(ctx, "/block-height/"+strconv.FormatInt(height, 10), func(body []byte) error {
		if out = string(body); !isHash(out) {
			return errors.New("it is not the hash of a block")
		}
		return nil
	})
	return out, err
}

// block is a block of the best chain.
type block struct {
	ID     string `json:"id"`
	Height int64  `json:"height"`
	Time   int64  `json:"timestamp"` // in seconds since 1970
}

// blocks returns the newest blocks, the newest first. There are at least ten, or all.
func (c *client) blocks(ctx context.Context) (out []block, err error) {
	err = c.get(ctx, "/blocks", func(body []byte) error {
		out = nil
		if err := json.Unmarshal(body, &out); err != nil {
			return err
		}
		for i, b := range out {
			if !isHash(b.ID) || b.Height < 0 || b.Time <= 0 || b.Height != out[0].Height-int64(i) {
				return errors.New("they are not consecutive blocks")
			}
		}
		if len(out) == 0 || len(out) > blocksMax || len(out) < depth && out[len(out)-1].Height != 0 {
			return fmt.Errorf("%d blocks", len(out))
		}
		return nil
	})
	return out, err
}

// stats is what an address has received and spent in the blocks of the best chain, in satoshis.
type stats struct{ Count, Funded, Spent int64 }

// stats returns the sums of an address.
func (c *client) stats(ctx context.Context, address string) (out stats, err error) {
	err = c.get(ctx, "/address/"+address, func(body []byte) error {
		var answer struct {
			Chain *struct {
				Count  *int64 `json:"tx_count"`
				Funded *int64 `json:"funded_txo_sum"`
				Spent  *int64 `json:"spent_txo_sum"`
			} `json:"chain_stats"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		found := answer.Chain
		if found == nil || found.Count == nil || found.Funded == nil || found.Spent == nil {
			return errors.New("the sums of an address are missing")
		}
		out = stats{*found.Count, *found.Funded, *found.Spent}
		return nil
	})
	return out, err
}

// page returns the transactions of an address that precede one in its history, the newest first; without one, the newest ones.
func (c *client) page(ctx context.Context, address, before string) (out []transaction, err error) {
	path := "/address/" + address + "/txs/chain"
	if before != "" {
		path += "/" + before
	}
	err = c.get(ctx, path, func(body []byte) error {
		out = nil
		var all []json.RawMessage
		if err := json.Unmarshal(body, &all); err != nil {
			return err
		}
		if all == nil {
			return errors.New("the transactions are missing")
		}
		for _, original := range all {
			t, err := parseTransaction(original)
			if err != nil {
				return err
			}
			if len(out) > 0 && t.Status.Height > out[len(out)-1].Status.Height {
				return errors.New("the transactions are not in the order of their blocks")
			}
			out = append(out, t)
		}
		return nil
	})
	return out, err
}
