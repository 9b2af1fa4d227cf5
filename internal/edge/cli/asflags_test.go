package cli

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func TestEveryFaultOfAnAppNamesAFlag(t *testing.T) {
	t.Parallel()
	p := oauth.RegisterParams{Name: "x", RedirectURIs: make([]string, 150), HomepageURL: "ftp://x"}
	text := sentences(p.Validate()).Error()
	if strings.Contains(text, "redirect_uris") || strings.Contains(text, "[") || !strings.Contains(text, "redirect-uri") ||
		!strings.Contains(text, "homepage") || strings.Contains(text, "homepage_url") {
		t.Error(text)
	}
}
