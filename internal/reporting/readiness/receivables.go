package readiness

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
)

// inspectPendingApplications warns of cash applications that wait for their review, of deposits until the end of the period. It only warns:
// a deposit of the period that is not booked fails as an unposted transaction, and the use of a rest is booked on the day of the review.
func inspectPendingApplications(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) (
	[]period.CheckResult, error) {
	waiting, err := application.PendingUntil(ctx, tx, p.End)
	if err != nil {
		return nil, err
	}
	ids := map[string][]string{}
	for _, a := range waiting {
		ids[a.LegalEntityID] = append(ids[a.LegalEntityID], a.ID)
	}
	out := make([]period.CheckResult, len(entities))
	for i, e := range entities {
		found := ids[e.ID]
		out[i] = warning(period.NewCheckResult(e, CodePendingApplications, int64(len(found)), found[:min(samplesMax, len(found))],
			"no cash application waits for its review",
			"cash applications wait for their review: "+sample(found, len(found))+
				". Confirm or void them (POST /v1/cash-applications/{application_id}/confirm or /void)"))
	}
	return out, nil
}

// inspectUnappliedCash warns of deposits of which something is unapplied at the end of the period. It only warns, because what is not
// applied is a liability that the balance sheet shows.
func inspectUnappliedCash(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) ([]period.CheckResult, error) {
	rests, err := application.Rests(ctx, tx, application.RestsFilter{}, p.End)
	if err != nil {
		return nil, err
	}
	ids, texts := map[string][]string{}, map[string][]string{}
	for _, r := range rests {
		ids[r.LegalEntityID] = append(ids[r.LegalEntityID], r.DepositID)
		texts[r.LegalEntityID] = append(texts[r.LegalEntityID], r.Amount.Fixed(r.Currency)+" "+r.Currency+" of "+r.DepositNumber)
	}
	out := make([]period.CheckResult, len(entities))
	for i, e := range entities {
		found := ids[e.ID]
		out[i] = warning(period.NewCheckResult(e, CodeUnappliedCash, int64(len(found)), found[:min(samplesMax, len(found))],
			"all deposits that were booked as payments of invoices are applied",
			"deposits are not applied to invoices, or not all of them: "+sample(texts[e.ID], len(found))+
				". Apply the rest (POST /v1/cash-applications), or leave it: it is a liability"))
	}
	return out, nil
}

// warning returns a result that warns where it would fail.
func warning(v period.CheckResult) period.CheckResult {
	if v.Status == period.Fail {
		v.Status = period.Warn
	}
	return v
}
