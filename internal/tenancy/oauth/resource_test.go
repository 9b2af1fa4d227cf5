package oauth_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func TestAResourceIsThisServiceOrRefused(t *testing.T) {
	t.Parallel()
	for service, resources := range map[string]map[string]bool{
		"https://books.acme.example": {
			"": true, "https://books.acme.example": true, "https://books.acme.example/": true, "https://books.acme.example/v1": true,
			"https://books.acme.example/v1/": true, "https://Books.ACME.example:443/v1": true, "HTTPS://books.acme.example": true,
			"http://books.acme.example": false, "https://books.acme.example:8443": false, "https://books.acme.example.evil.example": false,
			"https://evil.example/https://books.acme.example": false, "https://books.acme.example@evil.example": false,
			"https://user@books.acme.example": false, "https://books.acme.example#v1": false, "https://books.acme.example?x=1": false,
			"https://books.acme.example/v1/../x": false, "//books.acme.example": false, "books.acme.example": false, "/v1": false,
			"urn:books": false, "https:books.acme.example": false, `https://books.acme.example\@evil.example`: false, "%zz": false,
		},
		"https://acme.example:8443/books": {
			"https://acme.example:8443/books": true, "https://acme.example:8443/books/v1": true, "https://acme.example:8443": false,
			"https://acme.example:8443/bookshop": false, "https://acme.example/books": false,
		},
		"": {"": true, "https://books.acme.example": false},
	} {
		for resource, want := range resources {
			if wrong := oauth.CheckResources(service, []string{resource}); (wrong == nil) != want ||
				wrong != nil && wrong.Code != oauth.InvalidTarget {
				t.Errorf("%q for %q: %v", resource, service, wrong)
			}
		}
	}
}
