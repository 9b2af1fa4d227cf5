// Package team invites people to organizations by mail. Whoever opens the link of an invitation becomes a member: somebody new sets a
// password, and somebody with an account must be signed in with the address that was invited.
package team
