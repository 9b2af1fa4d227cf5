package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func (a *API) getOrganization(ctx context.Context, _ *struct{}) (Data[Organization], error) {
	o, err := a.app.Org.Get(ctx)
	return Data[Organization]{viewOrganization(o)}, err
}

func (a *API) updateOrganization(ctx context.Context, in *struct{ Body UpdateOrganization }) (Data[Organization], error) {
	b := in.Body
	p := organization.UpdateParams{Name: b.Name, Timezone: b.Timezone, TimeFormat: b.TimeFormat, WebAddress: b.WebAddress}
	if b.LogoURL.Set {
		p.LogoURL = &b.LogoURL.Value // null and "" both clear it
	}
	o, err := a.app.Org.Update(ctx, p)
	return Data[Organization]{viewOrganization(o)}, err
}

func (a *API) listMembers(ctx context.Context, in *struct{ paging }) (List[Member], error) {
	members, err := a.app.Access.Members(ctx, in.request())
	return listOf(members, viewMember), err
}

func viewOrganization(o organization.Organization) Organization {
	return Organization{
		ID: o.ID, Name: o.Name, WebAddress: db.OrNull(o.WebAddress), Timezone: o.Timezone, TimeFormat: o.TimeFormat,
		OnboardingStatus: db.OrNull(o.OnboardingStatus), CreatedAt: stamp(o.CreatedAt), UpdatedAt: stampOrNull(
			o.UpdatedAt), LogoURL: db.OrNull(o.LogoURL),
	}
}

func viewMember(m access.Member) Member {
	return Member{ID: m.UserID, Email: m.Email, Name: db.OrNull(m.Name), Role: string(m.Role), CreatedAt: stamp(m.JoinedAt)}
}
