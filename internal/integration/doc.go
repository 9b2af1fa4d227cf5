// Package integration groups what other systems use to follow an organization: the feed of events, and webhooks.
package integration
