package tenancy

import (
	"context"
	"encoding/json"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

type auditLogInput struct {
	wire.Paging
	Action     string `query:"action" minLength:"1" maxLength:"100" doc:"Return only records of this action, such as organization.updated."`
	ResourceID string `query:"resource_id" minLength:"1" maxLength:"512" doc:"Return only changes of this record."`
	UserID     string `query:"user_id" minLength:"1" maxLength:"64" doc:"Return only changes made by this user."`
	StartDate  string `query:"start_date" minLength:"1" maxLength:"40" doc:"Return only changes at or after this time: an RFC 3339 time, or a date in UTC."`
	EndDate    string `query:"end_date" minLength:"1" maxLength:"40" doc:"Return only changes at or before this time: an RFC 3339 time, or a date in UTC, which means its end."`
}

func (h handlers) listAuditLog(ctx context.Context, in *auditLogInput) (wire.List[AuditEntry], error) {
	var faults fault.List
	f := audit.Filter{Action: in.Action, ResourceID: in.ResourceID, UserID: in.UserID}
	f.From, f.To = page.ParseTimeBound(&faults, "start_date", in.StartDate, false), page.ParseTimeBound(&faults, "end_date", in.EndDate, true)
	if err := faults.Err(); err != nil {
		return wire.List[AuditEntry]{}, err
	}
	entries, err := h.app.Audit.List(ctx, f, in.Request())
	return wire.ListOf(entries, viewAuditEntry), err
}

func (h handlers) verifyAuditLog(ctx context.Context, in *struct {
	After int64 `query:"after" minimum:"0" default:"0" doc:"Start after this sequence number. One request verifies at most 100,000 records."`
}) (wire.Data[AuditVerification], error) {
	v, err := h.app.Audit.Verify(ctx, in.After)
	out := AuditVerification{
		Valid:              v.Break == nil,
		Complete:           v.Complete(),
		Checked:            v.Checked,
		LastSequenceNumber: v.LastSequence,
		HeadSequenceNumber: v.HeadSequence,
		HeadHash:           v.HeadHash,
	}
	if v.Break != nil {
		out.BrokenAt, out.Reason = &v.Break.Sequence, &v.Break.Reason
	}
	return wire.DataOf(out), err
}

func viewAuditEntry(r audit.LogRecord) AuditEntry {
	raw := func(text string) json.RawMessage {
		if text == "" {
			return json.RawMessage("null")
		}
		return json.RawMessage(text)
	}
	return AuditEntry{
		SequenceNumber: r.Sequence,
		CreatedAt:      wire.Timestamp(r.CreatedAt),
		Action:         r.Action,
		ResourceType:   r.ResourceType,
		ResourceID:     r.ResourceID,
		UserID:         db.OrNull(r.UserID),
		APIKeyID:       db.OrNull(r.APIKeyID),
		AppID:          db.OrNull(r.AppID),
		FirmID:         db.OrNull(r.FirmID),
		RequestID:      db.OrNull(r.RequestID),
		Before:         raw(r.Before),
		After:          raw(r.After),
		PreviousHash:   r.PreviousHash,
		Hash:           r.Hash,
	}
}
