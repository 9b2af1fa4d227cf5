// Package tenancy groups who uses the service: organizations, the API keys, members and apps that act for them, how people sign in and are
// invited, and accounting firms with their clients and what they ask these for.
package tenancy
