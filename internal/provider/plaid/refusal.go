package plaid

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// refusal is how Plaid states an error.
type refusal struct {
	Type    string `json:"error_type"`
	Code    string `json:"error_code"`
	Message string `json:"error_message"`
}

// errMutation means that transactions have changed while their pages were read.
var errMutation = errors.New("the transactions have changed while they were read")

// errGone means that an access token is not valid any more.
var errGone error = &goneError{fault.Unauthorizedf("Plaid has no access to the bank any more: connect the bank again")}

// goneError is an error of its own, so that it can be told apart from other refusals of a sign-in.
type goneError struct{ error }

// Unwrap returns the error with its kind.
func (e *goneError) Unwrap() error { return e.error }

func errRegistration(cause string) error {
	return fault.UnavailableBecause(errors.New(cause), "Plaid cannot be used at present: the operator of this service has to check its "+
		"client id and secret of Plaid")
}

// explain returns the error that an answer states, and otherwise decodes it.
func explain(a provider.Answer, into any) error {
	if a.Status == http.StatusOK {
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	}
	var said refusal
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return provider.Nonsense(title, fmt.Errorf("status %d: %w", a.Status, err))
	}
	if said.Code == "" {
		return provider.Nonsense(title, fmt.Errorf("status %d without an error code", a.Status))
	}
	return said.explain()
}

// signIn are the codes that mean that a person has to sign in at the bank again.
var signIn = map[string]bool{"ITEM_LOGIN_REQUIRED": true, "INVALID_CREDENTIALS": true, "INVALID_MFA": true, "INVALID_SEND_METHOD": true,
	"INSUFFICIENT_CREDENTIALS": true, "USER_SETUP_REQUIRED": true, "USER_INPUT_TIMEOUT": true, "PASSWORD_RESET_REQUIRED": true}

// consent are the codes that mean that a person has not permitted Plaid to show what is asked for.
var consent = map[string]bool{"ACCESS_NOT_GRANTED": true, "ADDITIONAL_CONSENT_REQUIRED": true, "NO_ACCOUNTS": true,
	"PRODUCTS_NOT_SUPPORTED": true}

// explain returns the error for a refusal. Its texts are ours: those of Plaid are for developers.
func (r refusal) explain() error {
	switch r.Code {
	case "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION":
		return errMutation
	case "INVALID_API_KEYS", "UNAUTHORIZED_ENVIRONMENT", "UNAUTHORIZED_ROUTE_ACCESS", "INVALID_PRODUCT":
		return errRegistration(r.Code)
	case "INVALID_PUBLIC_TOKEN":
		return fault.Invalidf(publicToken, "is not valid any more: it can be used once, within 30 minutes. Get a new one, or sign in at your "+
			"bank on Plaid's page")
	case "INVALID_LINK_TOKEN":
		return fault.Conflictf("the page of Plaid is not valid any more: start again")
	case "INVALID_ACCESS_TOKEN", "ITEM_NOT_FOUND", "USER_PERMISSION_REVOKED", "USER_ACCOUNT_REVOKED":
		return errGone
	case "ITEM_LOCKED":
		return fault.Unauthorizedf("the bank has locked the account after too many attempts to sign in: unlock it at the bank, then sign in " +
			"again on Plaid's page")
	case "INSTITUTION_NO_LONGER_SUPPORTED", "ITEM_NOT_SUPPORTED":
		return fault.Conflictf("Plaid cannot read this account at the bank: import files of the bank instead")
	case "PRODUCT_NOT_READY":
		return provider.Temporary(title, "%s", r.Code)
	}
	switch {
	case signIn[r.Code]:
		return fault.Unauthorizedf("the bank asks for a new sign-in: renew the connection, which opens Plaid's page")
	case consent[r.Code]:
		return fault.Forbiddenf("the bank does not show the transactions of any account: renew the connection, and share the accounts and " +
			"their transactions on Plaid's page")
	case r.Type == "RATE_LIMIT_EXCEEDED", r.Type == "RATE_LIMIT_ERROR":
		return provider.Busy(0, title)
	case r.Type == "INSTITUTION_ERROR":
		return fault.UnavailableBecause(errors.New(r.Code), "the bank does not answer Plaid at present")
	case r.Type == "API_ERROR":
		return provider.Temporary(title, "%s", r.Code)
	}
	return fault.Conflictf("Plaid refuses the request: %s", provider.Clean(r.Code+" "+r.Message))
}
