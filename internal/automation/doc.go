// Package automation groups the packages that decide on behalf of people: memory, with documents and rules, and
// classification, which applies the rules to transactions.
package automation
