// Package automation groups what decides on behalf of people: the memory of documents and rules, and the
// classification runs that apply them to transactions.
package automation
