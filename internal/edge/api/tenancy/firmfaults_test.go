package tenancy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// Whether a client that has given access has an owner is known to its organization only, and the text is at fault, too.
func TestFaultsOfARequestToAClientAreReportedTogether(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, ids := aFirmOf(t, s, s.Found(t, "a"))
		for _, body := range []map[string]any{
			{"client_id": ids[0], "integrations": []any{}, "typo": 1},
			{"client_id": ids[0], "integrations": []any{}, "typo": 1, "message": strings.Repeat("x", 10_000)},
		} {
			answer := f.PostJSON(t, "/v1/firm/requests", body, nil)
			for _, field := range []string{"typo", "integrations", "message"} {
				if _, sent := body[field]; sent && (answer.Status != http.StatusBadRequest || !answer.Blames(t, field)) {
					t.Errorf("%s is not blamed: %d %s", field, answer.Status, answer.Body)
				}
			}
		}
	})
}
