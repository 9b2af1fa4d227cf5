// Package access decides who may use an organization: users, their membership in organizations, and API keys. A request
// is authenticated by an API key, which acts for a user or for the organization itself.
package access
