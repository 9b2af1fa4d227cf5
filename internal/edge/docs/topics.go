package docs

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

// topic is a convention that all operations share.
type topic struct {
	ID, Title string
	Text      []string // paragraphs
	Caption   string
	Sample    string
	Shell     bool // the sample is a command
	Errors    bool // the table of errors follows
}

// topicsOf returns the conventions, with the limits of this service.
func topicsOf(c Config) []topic {
	limit := "This service sets no limit of its own; a proxy in front of it may."
	if c.RateLimit > 0 {
		limit = fmt.Sprintf("Each key may send %d requests a second, and twice as many in a burst; an organization, with all its keys, "+
			"four times as many. The headers `RateLimit-Policy` and `RateLimit` say which quotas there are and what is left of them. "+
			"Requests with unknown keys count against a quota of the address they come from.", c.RateLimit)
	}
	return append(requestTopics(c), []topic{
		{ID: "pagination", Title: "Lists and pagination", Text: []string{
			fmt.Sprintf("A list returns one page at a time: `limit` records, %d by default and at most %d. While `has_more` is "+
				"true, send "+
				"`next_cursor` as `cursor`, together with the same filters, to get the next page.", page.LimitDefault, page.LimitMax),
			"A cursor marks a position, not a page number: records added or removed in the meantime neither repeat nor hide others.",
		}, Caption: "A page", Sample: "{\n  \"data\": [ … ],\n  \"has_more\": true,\n  \"next_cursor\": " +
			"\"ARBrN2ZQcTl4VnRtMkRhWWVXBDQyMDA\"\n}"},
		{ID: "idempotency", Title: "Idempotency", Text: []string{
			"After a timeout you cannot know whether a request took effect. Where an operation accepts the header " +
				"`" + idempotency.Header +
				"`, send a key of your own, 1 to 255 characters, and repeat the request with the same key: it takes effect once, " +
				"and the first " +
				"response is returned again with `" + idempotency.Replayed + ": true`.",
			"Keys are kept for at least 24 hours. The same key with a different request is refused with `CONFLICT`.",
		}, Caption: "Safe to send twice", Shell: true, Sample: "curl -X POST '" + Base + "/v1/tags' \\\n  -H \"X-API-Key: " +
			"$BURSAR_API_KEY\" \\\n" +
			"  -H \"" + idempotency.Header + ": tag-berlin-2026\" \\\n  -H 'Content-Type: application/json' \\\n" +
			"  -d '{\"name\": \"Berlin conference\", \"kind\": \"project\"}'"},
		{ID: "errors", Title: "Errors", Errors: true, Text: []string{
			"Every error has the same body. Programs should act on `code`; `message` is written for people. A validation error " +
				"lists every " +
				"input to correct in `fields`, all at once.",
		}, Caption: "400 Bad Request", Sample: pretty([]byte(`{"error":{"code":"VALIDATION_ERROR","message":"the request is not valid",` +
			`"request_id":"req_01m7hv2g8retas1rhkq534wdsq","fields":[{"field":"lines[2].amount","message":"must be positive"}]}}`))},
		{ID: "rate-limits", Title: "Rate limits", Text: []string{
			limit + " A request beyond a limit is answered with `429` and has no effect: wait as many seconds as `Retry-After` " +
				"says, then repeat it.",
			"Reports, tests of rules, imports and other large requests are limited by how many are in progress: those beyond it wait for some " +
				"seconds or are answered with `429`, or with `503` if the service as a whole has too many.",
		}, Caption: "Too many requests", Shell: true, Sample: "HTTP/1.1 429 Too Many Requests\nRetry-After: 1\n" +
			"RateLimit-Policy: \"key\";q=1000;w=2\nRateLimit: \"key\";r=0;t=1"},
	}...)
}

func requestTopics(c Config) []topic {
	return []topic{
		{ID: "authentication", Title: "Authentication", Text: []string{
			"Send an API key in the header `X-API-Key`. The key determines the organization. If you also name the organization in " +
				"`X-Organization-Id`, a key of another organization is refused instead of changing the wrong books.",
			"A key can do what its scopes allow, and never more than the user it belongs to. Each operation states what it needs.",
			"An app that acts for other people sends an access token instead, as `Authorization: Bearer …`: see the guide to people, keys and " +
				"apps. A page of the service uses the session of the person who is signed in, which is in a cookie.",
		}, Caption: "Your first request", Shell: true, Sample: "curl '" + Base + "/v1/organization' \\\n  -H \"X-API-Key: " +
			"$BURSAR_API_KEY\""},
		{ID: "requests", Title: "Requests and responses", Text: []string{
			fmt.Sprintf("Bodies are JSON in UTF-8, of at most %d MiB. A parameter or property that the operation does not have is "+
				"refused, and so is "+
				"a name given twice: a typing error is never silently ignored.", c.BodyMax>>20),
			"A form with a file may be larger. If it is refused before all of it has arrived, the connection is closed: send " +
				"`Expect: 100-continue`, or read the response while you send.",
			"A single record is returned as `{\"data\": …}`. Every response carries the id of its request in `X-Request-Id`; " +
				"quote it when you ask for help.",
		}, Caption: "A record", Sample: "{\n  \"data\": { … }\n}"},
		{ID: "amounts", Title: "Amounts", Text: []string{
			fmt.Sprintf("Amounts and quantities are decimal strings, exact to the last digit: up to %d digits before the decimal "+
				"point and %d after "+
				"it, with a leading minus sign where negative values make sense. A JSON number is refused, because many programs "+
				"round numbers "+
				"before they write them.", money.DigitsBeforeMax, money.DigitsAfterMax),
		}, Caption: "Amounts are strings", Sample: "{\n  \"amount\": \"1200.50\",\n  \"quantity\": \"0.000000000000000001\"\n}"},
		{ID: "times", Title: "Times and dates", Text: []string{
			"Times are written as RFC 3339 and returned in UTC with milliseconds, so that sorting the text sorts the times. A date " +
				"without a time is `YYYY-MM-DD`; as the upper bound of a range it stands for its last instant. Dates of journal " +
				"entries, periods, prices and reports are days in the organization's time zone; dates in filters of transactions " +
				"and of the audit log are days in UTC. To select the same instants in both, send times.",
		}, Caption: "A time and a date", Sample: "{\n  \"created_at\": \"2026-10-31T09:30:00.000Z\",\n  \"date\": \"2026-10-31\"\n}"},
	}
}
