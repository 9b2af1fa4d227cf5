package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

func (h handlers) signIn(ctx context.Context, in *struct{ Body SignIn }) (wire.Data[Me], error) {
	visit := wire.VisitFrom(ctx)
	made, err := h.app.Identity.SignIn(ctx, identity.SignInParams{Email: in.Body.Email, Password: secret.New(in.Body.Password),
		Code: secretOf(in.Body.Code), Origin: visit.Origin})
	if err != nil {
		return wire.Data[Me]{}, err
	}
	if err := h.app.Identity.EndFormer(ctx, visit.Former, visit.Origin); err != nil {
		return wire.Data[Me]{}, err
	}
	visit.Begun = &made
	if visit.Members, err = h.app.Identity.Memberships(ctx, made.Person.UserID); err != nil {
		return wire.Data[Me]{}, err
	}
	visit.Session = &made.Session
	return h.describeMe(ctx, visit, h.chosenIn(ctx, visit))
}

// chosenIn returns the actor of the organization that a session is for, or of none.
func (h handlers) chosenIn(ctx context.Context, v *wire.Visit) actor.Actor {
	who, err := h.app.Firms.ActorOf(ctx, *v.Session, v.Members, "")
	if err != nil { // there is none, or the person has not chosen yet
		return actor.Actor{UserID: v.Session.UserID, SessionID: v.Session.ID, Scopes: actor.Scopes}
	}
	return who
}

func (h handlers) getSession(ctx context.Context, _ *struct{}) (wire.Data[Me], error) {
	return h.describeMe(ctx, wire.VisitFrom(ctx), actor.From(ctx))
}

func (h handlers) chooseOrganization(ctx context.Context, in *struct{ Body ChooseOrganization }) (wire.Data[Me], error) {
	visit := wire.VisitFrom(ctx)
	who, err := h.app.Firms.ActorOf(ctx, *visit.Session, visit.Members, in.Body.OrganizationID)
	if fault.KindOf(err) == fault.NotFound {
		err = fault.MissingAt("organization", "organization_id")
	}
	if err != nil {
		return wire.Data[Me]{}, err
	}
	if err := h.app.Identity.ChooseOrganization(ctx, *visit.Session, who.OrganizationID); err != nil {
		return wire.Data[Me]{}, err
	}
	return h.describeMe(ctx, visit, who)
}

// describeMe returns who makes a request, and what they may do.
func (h handlers) describeMe(ctx context.Context, v *wire.Visit, who actor.Actor) (wire.Data[Me], error) {
	me := Me{Credential: Credential{Type: kindOf(who), ID: who.CredentialID()},
		Scopes: actor.ScopeNames(who.Scopes), LegalEntityIDs: append([]string{}, who.LegalEntityIDs...), AllowedActions: v.Allowed(who),
		Organizations: []MyOrganization{}}
	if who.UserID != "" {
		p, err := h.app.Identity.Find(ctx, who.UserID)
		if err != nil {
			return wire.Data[Me]{}, err
		}
		me.Role = db.OrNull(string(who.Role)) // a key of nobody has none
		me.User = wire.OrNull[SignedInUser]{Value: &SignedInUser{ID: p.UserID, Email: p.Email, Name: db.OrNull(p.Name),
			SecondFactor: p.HasSecondFactor()}}
	}
	if who.OrganizationID != "" {
		o, err := h.app.Org.Get(actor.With(ctx, who))
		if err != nil {
			return wire.Data[Me]{}, err
		}
		me.Organization = wire.OrNull[NamedRecord]{Value: &NamedRecord{ID: o.ID, Name: o.Name}}
		me.FirmID, me.FirmRole = db.OrNull(who.FirmID), db.OrNull(string(who.FirmRole))
	}
	if v.Session != nil {
		until := v.Session.AuthenticatedAt.Add(actor.ConfirmedFor)
		me.ConfirmedUntil = wire.TimestampOrNull(&until)
		for _, m := range v.Members {
			me.Organizations = append(me.Organizations, MyOrganization{ID: m.OrganizationID, Name: m.OrganizationName, Role: string(m.Role)})
		}
	}
	return wire.DataOf(me), nil
}

// kindOf returns what an actor has shown.
func kindOf(who actor.Actor) string {
	switch {
	case who.APIKeyID != "":
		return "api_key"
	case who.AuthorizationID != "":
		return "connected_app"
	}
	return "session"
}

func (h handlers) signOut(ctx context.Context, _ *struct{}) (wire.NoContent, error) {
	visit := wire.VisitFrom(ctx)
	visit.Ended = true
	return wire.NoContent{}, h.endSession(ctx, visit, visit.Session.ID)
}

func (h handlers) endSession(ctx context.Context, v *wire.Visit, sessionID string) error {
	p, err := h.app.Identity.Find(ctx, v.Session.UserID)
	if err != nil {
		return err
	}
	return h.app.Identity.SignOut(ctx, p, v.Origin, sessionID)
}

func (h handlers) confirmSession(ctx context.Context, in *struct{ Body ConfirmSession }) (wire.Data[Me], error) {
	visit := wire.VisitFrom(ctx)
	err := h.app.Identity.Confirm(ctx, *visit.Session, secret.New(in.Body.Password), secretOf(in.Body.Code), visit.Origin)
	if err != nil {
		return wire.Data[Me]{}, err
	}
	visit.Session.AuthenticatedAt = h.app.DB.Clock().Now()
	return h.describeMe(ctx, visit, actor.From(ctx))
}

func (h handlers) changePassword(ctx context.Context, in *struct{ Body ChangePassword }) (wire.NoContent, error) {
	visit := wire.VisitFrom(ctx)
	return wire.NoContent{}, h.app.Identity.ChangePassword(ctx, *visit.Session, secret.New(in.Body.CurrentPassword),
		secret.New(in.Body.Password), visit.Origin)
}

func (h handlers) listSessions(ctx context.Context, _ *struct{}) (SessionList, error) {
	own := wire.VisitFrom(ctx).Session
	all, err := h.app.Identity.Sessions(ctx, own.UserID)
	out := SessionList{Data: []Session{}}
	for _, s := range all {
		out.Data = append(out.Data, Session{ID: s.ID, Current: s.ID == own.ID, Method: string(s.Method), Address: s.Address,
			UserAgent: s.UserAgent, CreatedAt: wire.Timestamp(s.CreatedAt), LastUsedAt: wire.Timestamp(s.SeenAt),
			ExpiresAt: wire.Timestamp(s.ExpiresAt)})
	}
	return out, err
}

func (h handlers) endOneSession(ctx context.Context, in *struct {
	ID string `path:"session_id" minLength:"1" maxLength:"64" doc:"Session to end."`
}) (wire.NoContent, error) {
	visit := wire.VisitFrom(ctx)
	if in.ID == visit.Session.ID {
		visit.Ended = true
	}
	return wire.NoContent{}, h.endSession(ctx, visit, in.ID)
}

func (h handlers) endOtherSessions(ctx context.Context, _ *struct{}) (wire.Data[EndedSessions], error) {
	visit := wire.VisitFrom(ctx)
	p, err := h.app.Identity.Find(ctx, visit.Session.UserID)
	if err != nil {
		return wire.Data[EndedSessions]{}, err
	}
	n, err := h.app.Identity.SignOutOthers(ctx, p, visit.Origin, visit.Session.ID)
	return wire.DataOf(EndedSessions{Ended: n}), err
}

func secretOf(text *string) secret.Text { return secret.New(db.OrEmpty(text)) }
