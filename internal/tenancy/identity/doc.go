// Package identity lets people sign in: with a password, a second factor, a passkey or an account at an OpenID provider. It keeps their
// sessions, mails them links to set a password or to confirm an address, and slows down whoever guesses.
//
// A person may be a member of several organizations, so that none of this belongs to an organization. What happens is recorded in the audit
// log of each organization that the person is a member of.
package identity
