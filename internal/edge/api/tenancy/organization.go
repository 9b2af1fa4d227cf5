package tenancy

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func (h handlers) getOrganization(ctx context.Context, _ *struct{}) (wire.Data[Organization], error) {
	o, err := h.app.Org.Get(ctx)
	return wire.DataOf(viewOrganization(o)), err
}

func (h handlers) updateOrganization(ctx context.Context, in *struct{ Body UpdateOrganization }) (wire.Data[Organization], error) {
	b := in.Body
	p := organization.UpdateParams{Name: b.Name, Timezone: b.Timezone, TimeFormat: b.TimeFormat, WebAddress: b.WebAddress}
	if b.LogoURL.Set {
		p.LogoURL = &b.LogoURL.Value // null and "" both remove it
	}
	o, err := h.app.Org.Update(ctx, p)
	return wire.DataOf(viewOrganization(o)), err
}

func (h handlers) listMembers(ctx context.Context, in *struct{ wire.Paging }) (wire.List[Member], error) {
	members, err := h.app.Access.Members(ctx, in.Request())
	who := actor.From(ctx)
	return wire.ListOf(members, func(m access.Member) Member { return viewMember(m, who) }), err
}

func viewOrganization(o organization.Organization) Organization {
	return Organization{
		ID:               o.ID,
		Name:             o.Name,
		WebAddress:       db.OrNull(organization.Link(o.WebAddress)),
		Timezone:         o.Timezone,
		TimeFormat:       o.TimeFormat,
		OnboardingStatus: db.OrNull(o.OnboardingStatus),
		CreatedAt:        wire.Timestamp(o.CreatedAt),
		UpdatedAt:        wire.TimestampOrNull(o.UpdatedAt),
		LogoURL:          db.OrNull(organization.Link(o.LogoURL)),
	}
}

// viewMember returns a member as an actor sees it: without legal entities that the actor has no access to.
func viewMember(m access.Member, who actor.Actor) Member {
	visible := slices.DeleteFunc(append([]string{}, m.LegalEntityIDs...), func(id string) bool { return !who.Sees(id) })
	return Member{ID: m.UserID, Email: m.Email, Name: db.OrNull(m.Name), Role: string(m.Role), IsLimited: len(m.LegalEntityIDs) > 0,
		LegalEntityIDs: visible, CreatedAt: wire.Timestamp(m.JoinedAt)}
}
