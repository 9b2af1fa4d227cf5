package quickbooks_test

import (
	"net/http"
	"testing"

	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/quickbooks"
	"github.com/bursarhq/bursar/internal/provider/quickbooks/quickbookstest"
)

var busy = providertest.Status(http.StatusOK, "", "",
	`{"Fault":{"Error":[{"Message":"ThrottleExceeded","Detail":"Request has exceeded the limit","code":"3001"}],"type":"SystemFault"}}`)

func TestItConforms(t *testing.T) {
	t.Parallel()
	for name, fake := range map[string]func() ledgertest.Fake{
		"USD":          func() ledgertest.Fake { return quickbookstest.New("USD", false) },
		"EUR of many":  func() ledgertest.Fake { return quickbookstest.New("EUR", true) },
		"JPY and only": func() ledgertest.Fake { return quickbookstest.New("JPY", false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledgertest.Conforms(t, ledgertest.Suite{Connector: quickbooks.Connector{}, Fake: fake, Busy: busy, Wrong: []string{"refresh_token"}})
		})
	}
}
