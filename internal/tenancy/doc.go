// Package tenancy groups who uses the service: organizations, and the API keys and members that act for them.
package tenancy
