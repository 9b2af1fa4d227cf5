// Package tenancy serves the routes of the organization: its profile and members, API keys and the audit log.
package tenancy
