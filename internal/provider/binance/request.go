package binance

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// validFor is for how many milliseconds a request is valid. With the default of 5000, some requests time out.
const validFor = "10000"

// Errors that a request of this package may lead to.
var (
	errMarket = fault.Conflictf("Binance does not know a market")
	errRange  = fault.Conflictf("Binance does not answer for a range of time because it is too long")
)

// The codes of Binance's errors that are told apart.
const (
	codeUnknown       = -1000
	codeDisconnected  = -1001
	codeNotAuthorized = -1002
	codeTooMany       = -1003
	codeUnexpected    = -1006
	codeTimeout       = -1007
	codeOverloaded    = -1008
	codeTimestamp     = -1021
	codeSignature     = -1022
	codeMarket        = -1121
	codeRange         = -1127
	codeKeyFormat     = -2014
	codeKey           = -2015
	codeRangeOfEarn   = -6021
)

// request is a request without what signing adds to it.
type request struct {
	method string // GET by default
	path   string
	query  string
	signed bool
	cost   int
}

// sign returns the signature of the parameters of a request.
func sign(secret, parameters string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(parameters))
	return hex.EncodeToString(mac.Sum(nil))
}

// get sends a request and decodes its answer.
func get(ctx context.Context, s *provider.Session, q request, into any) error {
	_, err := s.Do(ctx, provider.Call{
		Cost: q.cost,
		Build: func(ctx context.Context) (*http.Request, error) {
			query := q.query
			if q.signed {
				if query != "" {
					query += "&"
				}
				query += "recvWindow=" + validFor + "&timestamp=" + strconv.FormatInt(s.Now().UnixMilli(), 10)
				query += "&signature=" + sign(s.Text(provider.APISecret), query)
			}
			method := http.MethodGet
			if q.method != "" {
				method = q.method
			}
			r, err := s.Request(ctx, method, q.path, query, "")
			if err == nil && q.signed {
				r.Header.Set("X-MBX-APIKEY", s.Text(provider.APIKey))
			}
			return r, err
		},
		Explain: func(a provider.Answer) error { return explain(a, into) },
	})
	return err
}

// explain returns the error that an answer states, and otherwise decodes it.
func explain(a provider.Answer, into any) error {
	var failure struct {
		Code    json.RawMessage `json:"code"`
		Msg     json.RawMessage `json:"msg"`
		Message json.RawMessage `json:"message"`
		Success json.RawMessage `json:"success"`
	}
	failed := json.Unmarshal(a.Body, &failure) // an error also means that the answer is an array
	if a.Status == http.StatusForbidden && failed != nil {
		return provider.Busy(0, title) // the page of a firewall, which counts requests, too
	}
	code, err := strconv.Atoi(strings.Trim(string(failure.Code), `"`))
	refused := failed == nil && (err == nil && code != 0 && a.Status >= 400 || string(failure.Success) == "false")
	switch {
	case refused:
		return refusal(code, strings.Trim(string(failure.Msg)+string(failure.Message), `"`))
	case a.Status == http.StatusUnavailableForLegalReasons:
		return fault.Conflictf("Binance does not answer requests from the country of this server")
	case a.Status >= 400:
		return provider.Nonsense(title, fmt.Errorf("status %d without an error", a.Status))
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		return provider.Nonsense(title, err)
	}
	return nil
}

// refusal returns the error that a code of Binance stands for.
func refusal(code int, said string) error {
	switch code {
	case codeTimestamp:
		return provider.ErrClock
	case codeSignature, codeKeyFormat:
		return fault.Unauthorizedf("Binance refuses the API key or its secret key")
	case codeKey:
		return fault.Unauthorizedf("Binance refuses the API key: it does not exist, may not be used from this address, or lacks the " +
			"permission Enable Reading")
	case codeNotAuthorized:
		return fault.Forbiddenf("the API key lacks a permission at Binance: Enable Reading is needed")
	case codeTooMany:
		return provider.Busy(0, title)
	case codeUnknown, codeDisconnected, codeUnexpected, codeTimeout, codeOverloaded:
		return provider.Temporary(title, "%d: %s", code, provider.Clean(said))
	case codeMarket:
		return errMarket
	case codeRange, codeRangeOfEarn:
		return errRange
	}
	return refusedError{fault.Conflictf("Binance refuses the request: %s", provider.Clean(said))}
}

// refusedError is the error for a request that Binance refuses for a reason of its own, and not because of the credentials.
type refusedError struct{ error }

// Unwrap returns the error with its kind.
func (r refusedError) Unwrap() error { return r.error }
