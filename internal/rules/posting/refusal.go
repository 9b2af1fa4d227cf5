package posting

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Reason is why a transaction cannot be booked.
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
	BadSplits      Reason = "bad_splits"
	NotOutstanding Reason = "not_outstanding"
	WrongCurrency  Reason = "wrong_currency"
	fieldType             = "transaction_type"
	fieldValue            = "value_fiat"
	fieldQuantity         = "quantity"
	fieldTarget           = "ledger_account_id"
	fieldPartner          = "transaction_id"
	fieldSplits           = "splits"
)

// Refusal says why a transaction cannot be booked and names the field at fault, if there is one. It unwraps to a conflict,
// so that the API can return it as it is.
type Refusal struct {
	Reason  Reason
	Field   string
	Message string
	Role    string    // MissingRole: the role that no account has
	Rate    Rate      // MissingRate: the rate that is needed
	At      time.Time // NoValue: when the asset moved, for which a price is needed
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// Unwrap returns the refusal as a conflict.
func (r *Refusal) Unwrap() error {
	if r.Field == "" {
		return fault.Conflictf("%s", r.Message)
	}
	return fault.ConflictAt([]fault.Field{{Name: r.Field, Message: r.Message}}, "%s", r.Message)
}

func refuse(reason Reason, field, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)}
}
