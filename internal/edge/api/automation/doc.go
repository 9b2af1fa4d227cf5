// Package automation serves the routes of automation: memory, rules and classification runs.
package automation
