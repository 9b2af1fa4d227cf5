// Package integration serves the routes with which other systems follow an organization: events and webhooks.
package integration
