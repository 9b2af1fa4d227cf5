package posting

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Reason is why there is no entry.
type Reason string

// The reasons.
const (
	Spam           Reason = "spam"
	UnknownType    Reason = "unknown_type"
	WrongDirection Reason = "wrong_direction"
	NoPartner      Reason = "no_partner"
	NotAPair       Reason = "not_a_pair"
	NoValue        Reason = "no_value"
	BadValue       Reason = "bad_value"
	NoQuantity     Reason = "no_quantity"
	NoTarget       Reason = "no_target"
	WrongTarget    Reason = "wrong_target"
	MissingRole    Reason = "missing_role"
	NoCurrency     Reason = "no_currency"
	MissingRate    Reason = "missing_rate"
	WrongEntity    Reason = "wrong_entity"
	WrongAnswer    Reason = "wrong_answer"
	fieldType             = "transaction_type"
	fieldValue            = "value_fiat"
	fieldQuantity         = "quantity"
	fieldTarget           = "ledger_account_id"
	fieldPartner          = "transaction_id"
)

// Refusal says why there is no entry and which input is to blame, if one is. It unwraps to a conflict, so that it can be answered as it is.
type Refusal struct {
	Reason  Reason
	Field   string
	Message string
	Role    string // MissingRole: the one that no account has
	Rate    Rate   // MissingRate: the one that is needed
}

// Error is a sentence.
func (r *Refusal) Error() string { return r.Message }

// Unwrap gives the conflict.
func (r *Refusal) Unwrap() error {
	if r.Field == "" {
		return fault.Conflictf("%s", r.Message)
	}
	return fault.ConflictAt([]fault.Field{{Name: r.Field, Message: r.Message}}, "%s", r.Message)
}

func refuse(reason Reason, field, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)}
}
