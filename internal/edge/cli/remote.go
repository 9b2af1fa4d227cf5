package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/id"
)

// remote is a running service that a command uses through its API, and the key for it, which needs a scope: apis.read, or apis.all for a
// command that changes something. With a key of an accounting firm, of is the organization of the client that the command acts for.
type remote struct{ url, key, scope, of string }

func (r *remote) flags(c *cobra.Command) {
	f := c.Flags()
	text(f, &r.url, "url", "BURSAR_URL", "http://127.0.0.1:8080", "address of the service")
	text(f, &r.key, "api-key", "BURSAR_API_KEY", "",
		"API key; better set in the environment, because others on this machine can read the arguments of a command")
	text(f, &r.of, "for", "BURSAR_FOR", "",
		"with a key of an accounting firm: id of the organization of a client to act for, such as org_01jd…; by default, the firm itself")
}

// client returns a client of the service.
func (r *remote) client(c *cobra.Command) (*client.Client, error) {
	if r.key == "" {
		return nil, &usageError{fmt.Errorf("an API key is required: set BURSAR_API_KEY, or --api-key; `bursar keys create --scopes %s` "+
			"creates one", cmp.Or(r.scope, "apis.read")), c.CommandPath()}
	}
	if !isWebAddress(r.url) {
		return nil, &usageError{fmt.Errorf("--url must be an address such as http://127.0.0.1:8080, not %q", r.url), c.CommandPath()}
	}
	if r.of != "" && !id.Valid(id.Organization, r.of) {
		return nil, &usageError{fmt.Errorf("--for must be the id of an organization, such as org_01jd…, not %q: `bursar firm clients list` shows "+
			"those of the clients", r.of), c.CommandPath()}
	}
	return client.New(r.url, r.key).For(r.of), nil
}

// unreachable explains that a service does not answer. Other errors are returned as they are.
func (r *remote) unreachable(err error) error {
	if lost, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the service at %s cannot be reached: %w; start it with `bursar serve`, or set its address with --url", r.url, lost.Err)
	}
	return err
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
