package api

import "github.com/bursarhq/bursar/internal/area/actor"

// routes is every operation of the service. A line gives method, path, class, scope, whether it takes an Idempotency-Key, and its handler;
// all that routes share follows from it.
func (a *API) routes() []Route {
	const (
		read, write, privileged = actor.Read, actor.Write, actor.Privileged
		reads, all              = actor.ScopeRead, actor.ScopeAll
	)
	return []Route{
		on("GET", "/v1/organization", read, reads, plain, a.getOrganization, "Organization", "The organization of the key"),
		on("PATCH", "/v1/organization", privileged, all, plain, a.updateOrganization, "Organization", "Change the organization's profile"),
		on("GET", "/v1/organization/members", read, reads, plain, a.listMembers, "Organization", "The people of the organization"),

		on("GET", "/v1/api-keys", privileged, all, plain, a.listAPIKeys, "API keys", "The organization's API keys, newest first"),
		on("POST", "/v1/api-keys", privileged, all, IDEM, a.createAPIKey, "API keys", "Make an API key; its text is shown only here").creates(),
		on("DELETE", "/v1/api-keys/{api_key_id}", privileged, all, plain, a.revokeAPIKey, "API keys", "Revoke an API key, on every node within a second"),

		on("GET", "/v1/ledger-accounts", read, reads, plain, a.listLedgerAccounts, "Ledger accounts", "The chart of accounts, by sequence number"),
		on("POST", "/v1/ledger-accounts", write, all, IDEM, a.createLedgerAccount, "Ledger accounts", "Make a ledger account").creates(),
		on("GET", "/v1/ledger-accounts/{ledger_account_id}", read, reads, plain, a.getLedgerAccount, "Ledger accounts", "One ledger account"),
		on("PATCH", "/v1/ledger-accounts/{ledger_account_id}", write, all, plain, a.updateLedgerAccount, "Ledger accounts", "Change a ledger account; its type and normal balance only while nothing uses it"),
		on("DELETE", "/v1/ledger-accounts/{ledger_account_id}", write, all, plain, a.deleteLedgerAccount, "Ledger accounts", "Delete an unused ledger account and all below it; anything that refers to one of them prevents it"),
		on("POST", "/v1/ledger-accounts/{ledger_account_id}/archive", write, all, IDEM, a.archiveLedgerAccount, "Ledger accounts", "Put a ledger account away: it takes no new lines; a balance, a draft or an account below it prevents it"),
		on("POST", "/v1/ledger-accounts/{ledger_account_id}/unarchive", write, all, IDEM, a.unarchiveLedgerAccount, "Ledger accounts", "Take an archived ledger account up again"),

		on("GET", "/v1/reports/balance-sheet", read, reads, plain, a.getBalanceSheet, "Reports", "Assets, liabilities and equity at the end of each period").conflicts(),
		on("GET", "/v1/reports/trial-balance", read, reads, plain, a.getTrialBalance, "Reports", "Every account's balance and movement by side, with totals that agree").conflicts(),
		on("GET", "/v1/reports/income-statement", read, reads, plain, a.getIncomeStatement, "Reports", "What was earned in each period, section by section").conflicts(),
		on("GET", "/v1/reports/general-ledger", read, reads, plain, a.listGeneralLedger, "Reports", "Posted lines account by account, with the balance before and after each"),

		on("GET", "/v1/audit-log", read, reads, plain, a.listAuditLog, "Audit log", "Who changed what, newest first").only(actor.Owner, actor.Admin, actor.Auditor),
		on("GET", "/v1/audit-log/verify", read, reads, plain, a.verifyAuditLog, "Audit log", "Recompute the chain of hashes over the log").only(actor.Owner, actor.Admin, actor.Auditor),
	}
}
