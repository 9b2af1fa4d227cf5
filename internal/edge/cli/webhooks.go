package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/webhooksign"
)

const (
	deliveryTimeout = 15 * time.Second // as for a webhook endpoint
	answerMax       = 64 << 10         // bytes of an answer that are read, so that its connection can be used again
)

func (s *settings) webhooks() *cobra.Command {
	c := &cobra.Command{
		Use:     "webhooks",
		Short:   "Develop receivers of webhooks",
		Long:    "Develop receivers of webhooks. Webhook endpoints themselves are managed under /v1/webhook-endpoints.",
		Example: "  bursar webhooks listen --forward http://localhost:3000/hook",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.listenWebhooks())
	return c
}

// listenFlags are the flags of webhooks listen.
type listenFlags struct {
	eventFlags
	forward, secret string
}

func (s *settings) listenWebhooks() *cobra.Command {
	l := &listenFlags{}
	c := &cobra.Command{
		Use:   "listen",
		Short: "Forward events to a receiver on this machine as webhooks",
		Long: "Forward the events of an organization to a receiver that you develop, signed as webhooks are, until Ctrl-C. Needs no webhook\n" +
			"endpoint and no public address: events are read from a running service, with the API key of the organization.\n\n" +
			"Prints the secret with which the receiver verifies signatures, unless BURSAR_WEBHOOK_SECRET or --secret sets it, then one line\n" +
			"for each delivery with the status of the answer and how long it took. A delivery that fails is not repeated; those of a\n" +
			"webhook endpoint are, over three days.",
		Example: "  BURSAR_API_KEY=bur_… bursar webhooks listen --forward http://localhost:3000/hook\n" +
			"  bursar webhooks listen --forward http://localhost:3000/hook --type 'invoice.*'\n" +
			"  BURSAR_WEBHOOK_SECRET=whsec_… bursar webhooks listen --forward http://localhost:3000/hook\n" +
			"  bursar webhooks listen --forward http://localhost:3000/hook --after evt_01jd…",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.listen(c, l) },
	}
	l.flags(c)
	f := c.Flags()
	f.StringVar(&l.forward, "forward", "", "address of the receiver (required)")
	text(f, &l.secret, "secret", "BURSAR_WEBHOOK_SECRET", "",
		"secret to sign with, such as that of a webhook endpoint: whsec_ and base64; by default, a new one; better set in the environment, "+
			"because others on this machine can read the arguments of a command")
	required(c, "forward")
	return c
}

func (s *settings) listen(c *cobra.Command, l *listenFlags) error {
	if !isWebAddress(l.forward) {
		return &usageError{fmt.Errorf("--forward must be an address such as http://localhost:3000/hook, not %q", l.forward), c.CommandPath()}
	}
	key := webhooksign.NewKey()
	if c.Flags().Changed("secret") || l.secret != "" {
		var err error
		if key, err = webhooksign.ParseKey(l.secret); err != nil {
			return &usageError{fmt.Errorf("--secret is not valid: %w", err), c.CommandPath()}
		}
	}
	f, err := l.follower(c, s)
	if err != nil {
		return err
	}
	if err := f.try(c.Context()); err != nil {
		return l.unreachable(err)
	}
	fmt.Fprintf(s.out, "Forwarding events to %s\n", l.forward)
	if l.secret == "" {
		fmt.Fprintf(s.out, "Secret: %s\n", key.Secret())
	}
	fmt.Fprintln(s.out, "Deliveries that fail are not repeated. Press Ctrl-C to stop.")
	d := &deliverer{settings: s, to: l.forward, key: key, http: &http.Client{
		Timeout:       deliveryTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	return l.unreachable(f.follow(c.Context(), func(e client.Event) error { return d.deliver(c.Context(), e) }))
}

// deliverer posts events to a receiver, as a webhook endpoint receives them.
type deliverer struct {
	*settings
	to   string
	key  webhooksign.Key
	http *http.Client
}

// deliver posts an event and prints what the receiver answered. A failure is not an error: the receiver is being developed.
func (d *deliverer) deliver(ctx context.Context, e client.Event) error {
	begun := time.Now()
	status, err := d.post(ctx, e, begun)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	took := time.Since(begun).Milliseconds()
	if err != nil {
		status = "failed, not repeated: " + err.Error()
	}
	_, err = fmt.Fprintln(d.out, printable(fmt.Sprintf("%s  %-*s  %-*s  %5d ms  %s", begun.UTC().Format(time.DateTime), typeWidth, e.Type,
		idWidth, e.ID, took, status)))
	return err
}

// post returns the status of the answer, and an error unless it is a success.
func (d *deliverer) post(ctx context.Context, e client.Event, at time.Time) (string, error) {
	body := envelope(e)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.to, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Bursar-Webhooks/1") // as webhook endpoints see it
	d.key.SetHeaders(req.Header, e.ID, at, body)
	res, err := d.http.Do(req)
	if lost, ok := errors.AsType[*url.Error](err); ok {
		if lost.Timeout() {
			return "", fmt.Errorf("no answer within %s", deliveryTimeout)
		}
		return "", lost.Err
	}
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, answerMax) // the status alone counts
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return "", errors.New(res.Status)
	}
	return res.Status, nil
}
