// Package integration groups what other systems use to follow an organization: the feed of events, webhooks, and general ledgers that
// posted entries are sent to.
package integration
