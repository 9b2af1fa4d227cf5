// Package period keeps accounting periods: calendar months in the organization's time zone. A period is closed for each legal
// entity separately and in order, after readiness checks pass. Closing stores the balances of the period and a digest of its
// entries, which verification compares with the books later. A closed period can be reopened, with a reason.
package period
