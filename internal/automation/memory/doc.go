// Package memory stores the documents that an organization keeps for people and agents, and the rules that
// classification and cash application follow. Nothing is overwritten: every version is kept with its author and
// rationale. A revision counts the changes to all of them, so that the rules of any earlier moment can be read.
package memory
