// Package access is who may come in: people, their membership in organizations, and API keys.
package access
