// Package automation groups the packages that decide on behalf of people: memory, with documents and rules;
// classification, which applies the rules to transactions; the templates that an accounting firm offers to its clients; and jobs, which run
// one task for many of them.
package automation
