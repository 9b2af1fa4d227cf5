package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// forFirm restricts routes to members of a firm who see all of it. A firm that is the client of another firm does not lend it its clients.
func forFirm(routes ...wire.Route) []wire.Route {
	for i, r := range routes {
		routes[i] = r.WholeOrganization().MembersOnly()
	}
	return routes
}

func (h handlers) firm() []wire.Route {
	const client = "/v1/firm/clients/{client_id}"
	return wire.Tag{Name: "Firm", Description: "An accounting firm and its clients. A client is another organization, which has given the " +
		"firm access and can end it at any time. People of the firm work for a client with the header X-Organization-Id, as far as their " +
		"role for the client allows."}.Routes(forFirm(
		wire.Get("/v1/firm/settings", h.getFirmSettings, "Get the firm settings").
			Describe("The answer is 404 if the organization is not an accounting firm."),
		wire.Patch("/v1/firm/settings", h.updateFirmSettings, "Update the firm settings").
			Describe("The first change, which must name the firm, makes the organization an accounting firm.").Privileged(),
		wire.Get("/v1/firm/clients", h.listFirmClients, "List clients").
			Describe("Owners, admins and auditors of the firm see all clients, other people those for which they have a role."),
		wire.Get(client, h.getFirmClient, "Get a client"),
		wire.Post("/v1/firm/clients", h.createFirmClient, "Add a client").
			Describe("Creates books for the client, for which you become the partner. Nobody of the client can sign in until a request invites "+
				"its owner. With `existing`, the client has books already: it is pending until an owner or admin of them grants access by a "+
				"request.").
			Privileged().Creates().MayConflict(),
		wire.First(wire.Patch(client, h.updateFirmClient, "Update a client").Privileged(), h.findFirmClient, h.checkFirmClient),
		wire.Delete(client, h.endFirmClient, "End the work for a client").
			Describe("The access of the firm ends, and what it has asked for is cancelled. The client keeps its books, with everything that the "+
				"firm has done in them. The record of the client remains as ended. While nobody of the client owns the books, the answer is 409.").
			Sensitive().Privileged().OwnTransactions().MayConflict(),
		wire.Put(client+"/people/{user_id}", h.setFirmClientRole, "Give somebody of the firm a role for a client").
			Describe("A preparer keeps the books, as an accountant does. A reviewer also closes and reopens periods and reads the audit log. A "+
				"partner may do what an admin may, and write rules. None of them can change who belongs to the client, create keys, or let "+
				"others in.").
			Privileged().OwnTransactions().MayConflict(),
		wire.Delete(client+"/people/{user_id}", h.removeFirmClientRole, "End the work of somebody of the firm for a client").
			Privileged().OwnTransactions().MayConflict(),
	)...)
}

func (h handlers) firmAccess() []wire.Route {
	return wire.Tag{Name: "Firm access", Description: "Which accounting firm works for the organization, and who of it."}.Routes(
		wire.Get("/v1/firm-access", h.listFirmAccess, "List the firms that have access, or had").
			Describe("The latest is first. At most one is active."),
		wire.Delete("/v1/firm-access/{client_id}", h.endFirmAccess, "End the access of a firm").
			Describe("Takes effect on every node within a second. Ending it again changes nothing.").
			Sensitive().WholeOrganization().Privileged().MembersOnly().MayConflict(),
	)
}

func (h handlers) getFirmSettings(ctx context.Context, _ *struct{}) (wire.Data[FirmSettings], error) {
	s, err := h.app.Firms.GetSettings(ctx)
	return wire.DataOf(viewFirm(s)), err
}

func (h handlers) updateFirmSettings(ctx context.Context, in *struct{ Body UpdateFirmSettings }) (wire.Data[FirmSettings], error) {
	s, err := h.app.Firms.UpdateSettings(ctx, firm.UpdateSettingsParams{FirmName: in.Body.FirmName, WebAddress: in.Body.WebAddress})
	return wire.DataOf(viewFirm(s)), err
}

func viewFirm(s firm.Settings) FirmSettings {
	return FirmSettings{ID: s.ID, FirmName: s.FirmName, WebAddress: db.OrNull(s.WebAddress), LogoURL: db.OrNull(s.LogoURL),
		CreatedAt: wire.Timestamp(s.CreatedAt), UpdatedAt: wire.TimestampOrNull(s.UpdatedAt)}
}

// clientPath is the parameter of operations on one client.
type clientPath struct {
	ID string `path:"client_id" minLength:"1" maxLength:"64" doc:"Client."`
}

func (h handlers) listFirmClients(ctx context.Context, in *struct {
	wire.Paging
	Status string `query:"status" enum:"pending,active,ended" doc:"Only clients in this state."`
}) (wire.List[FirmClient], error) {
	found, err := h.app.Firms.Clients(ctx, firm.ClientFilter{Status: firm.Status(in.Status)}, in.Request())
	return wire.ListOf(found, viewClient), err
}

func (h handlers) getFirmClient(ctx context.Context, in *struct{ clientPath }) (wire.Data[FirmClient], error) {
	c, err := h.app.Firms.GetClient(ctx, in.ID)
	return wire.DataOf(viewClient(c)), err
}

func (h handlers) createFirmClient(ctx context.Context, in *struct{ Body CreateFirmClient }) (wire.Data[FirmClient], error) {
	c, err := h.app.Firms.CreateClient(ctx, firm.CreateClientParams{Name: in.Body.Name, Email: in.Body.Email, Existing: in.Body.Existing,
		BaseCurrency: in.Body.BaseCurrency, Timezone: in.Body.Timezone})
	return wire.DataOf(viewClient(c)), err
}

// clientUpdate is a change of a client, with the client as it was found.
type clientUpdate struct {
	clientPath
	Body UpdateFirmClient

	found firm.Client
}

// findFirmClient reads what the answer says of the people who work for the client, which is stored in its own organization.
func (h handlers) findFirmClient(ctx context.Context, in *clientUpdate) (_ *wire.Data[FirmClient], _ func() error, err error) {
	in.found, err = h.app.Firms.GetClient(ctx, in.ID)
	return nil, nil, err
}

func (h handlers) checkFirmClient(ctx context.Context, in *clientUpdate) error {
	_, err := h.app.Firms.UpdateClient(ctx, in.found, in.ID, firm.UpdateClientParams{Name: in.Body.Name, Email: in.Body.Email})
	return err
}

func (h handlers) updateFirmClient(ctx context.Context, in *clientUpdate) (wire.Data[FirmClient], error) {
	c, err := h.app.Firms.UpdateClient(ctx, in.found, in.ID, firm.UpdateClientParams{Name: in.Body.Name, Email: in.Body.Email})
	return wire.DataOf(viewClient(c)), err
}

func (h handlers) endFirmClient(ctx context.Context, in *struct{ clientPath }) (wire.Data[wire.Deleted], error) {
	return wire.DeletedOf(in.ID), h.app.Firms.EndClient(ctx, in.ID)
}

// clientPerson is the parameter of operations on the role of somebody for a client.
type clientPerson struct {
	clientPath
	UserID string `path:"user_id" minLength:"1" maxLength:"64" doc:"Member of the firm."`
}

func (h handlers) setFirmClientRole(ctx context.Context, in *struct {
	clientPerson
	Body SetClientRole
}) (wire.Data[FirmClient], error) {
	c, err := h.app.Firms.SetRole(ctx, in.ID, in.UserID, actor.FirmRole(in.Body.Role))
	return wire.DataOf(viewClient(c)), err
}

func (h handlers) removeFirmClientRole(ctx context.Context, in *struct{ clientPerson }) (wire.Data[wire.Deleted], error) {
	return wire.DeletedOf(in.UserID), h.app.Firms.RemoveRole(ctx, in.ID, in.UserID)
}

func viewClient(c firm.Client) FirmClient {
	return FirmClient{ID: c.ID, Name: c.Name, Email: c.Email, OrganizationID: db.OrNull(c.OrganizationID), Status: string(c.Status),
		Role: db.OrNull(string(c.Role)), People: viewPeople(c.People), CreatedBy: db.OrNull(c.CreatedBy),
		CreatedAt: wire.Timestamp(c.CreatedAt), UpdatedAt: wire.TimestampOrNull(c.UpdatedAt), EndedAt: wire.TimestampOrNull(c.EndedAt)}
}

func viewPeople(people []firm.Person) []FirmPerson {
	out := []FirmPerson{}
	for _, p := range people {
		out = append(out, FirmPerson{UserID: p.UserID, Email: db.OrNull(p.Email), Name: db.OrNull(p.Name), Role: string(p.Role)})
	}
	return out
}

func (h handlers) listFirmAccess(ctx context.Context, in *struct{ wire.Paging }) (wire.List[FirmAccess], error) {
	found, err := h.app.Firms.AccessList(ctx, in.Request())
	return wire.ListOf(found, viewAccess), err
}

func (h handlers) endFirmAccess(ctx context.Context, in *struct{ clientPath }) (wire.Data[wire.Deleted], error) {
	return wire.DeletedOf(in.ID), h.app.Firms.EndAccess(ctx, in.ID)
}

func viewAccess(a firm.Access) FirmAccess {
	return FirmAccess{ID: a.ClientID, FirmID: a.FirmID, FirmOrganizationID: a.FirmOrganizationID, FirmName: db.OrNull(a.FirmName),
		WebAddress: db.OrNull(a.WebAddress), Status: string(a.Status), People: viewPeople(a.People), GrantedBy: db.OrNull(a.GrantedBy),
		GrantedAt: wire.Timestamp(a.GrantedAt), EndedBy: db.OrNull(a.EndedBy), EndedAt: wire.TimestampOrNull(a.EndedAt)}
}
