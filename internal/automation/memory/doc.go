// Package memory holds what an organization wants to be remembered: documents for people and agents to read, and
// rules that later classification and cash application follow. Nothing is ever overwritten: every version of both is
// kept, with who wrote it and why, and a revision counts the changes to all of them, so that what held at one time
// can be read again.
package memory
