// Package integration groups what passes data on to other systems: webhooks.
package integration
