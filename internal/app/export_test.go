package app

import "context"

// VerifyOne is for tests with many organizations that each verify often.
func (a *App) VerifyOne(ctx context.Context, organizationID string) ([]Finding, error) {
	return a.verifyOne(ctx, organizationID)
}
