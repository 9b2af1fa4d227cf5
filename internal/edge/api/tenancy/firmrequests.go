package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
)

func (h handlers) firmRequests() []wire.Route {
	const all, one = "/v1/firm/requests", "/v1/firm/requests/{request_id}"
	return wire.Tag{Name: "Firm requests", Description: "What an accounting firm asks its clients for: access to their books, accounts to " +
		"be connected, and files to be uploaded. The client gets a link by mail to a page on which it does so."}.Routes(forFirm(
		wire.Get(all, h.listFirmRequests, "List requests to clients, newest first").
			Describe("Owners, admins and auditors of the firm see all requests, other people those to clients for which they have a role."),
		wire.First(wire.Post(all, h.createFirmRequest, "Ask a client for something").
			Describe("Mails a link to the address of the client, which works for 14 days or until the request ends. A client with existing books "+
				"first grants access to them, and one whose books you have created can become their owner. Without integrations, the request "+
				"asks for that only. email_sent says whether the mail server has accepted the message: if there is none, the operator of the "+
				"service finds it in the folder mail of the data folder, with the link. You can send at most 20 requests a day to an "+
				"address: then the answer is 429, and says when to try again.").Privileged().Creates(),
			h.mailFirmRequest, h.checkFirmRequest).ReadsAcross(),
		wire.Get(one, h.getFirmRequest, "Get a request to a client"),
		wire.First(wire.Post(one+"/resend", h.resendFirmRequest, "Send a request again").
			Describe("Mails a new link to the address that the client has now, which works for 14 days. The former link stops working. "+
				"email_sent says whether the mail server has accepted the message. A request is mailed at most three times an hour: then the "+
				"answer is 429, and says when to try again. A request that has ended is 409.").Privileged(),
			h.mailFirmRequestAgain, h.checkFirmRequestAgain),
		wire.Post(one+"/cancel", h.cancelFirmRequest, "Cancel a request").
			Describe("The link stops working, also for becoming the owner of the books, and setups end that were begun by it and are not "+
				"finished. What was connected stays connected, and files that were uploaded are imported. A request that has ended "+
				"is 409.").Privileged(),
	)...)
}

// requestPath is the parameter of operations on one request.
type requestPath struct {
	ID string `path:"request_id" minLength:"1" maxLength:"64" doc:"Request."`
}

func (h handlers) listFirmRequests(ctx context.Context, in *struct {
	wire.Paging
	ClientID string `query:"client_id" minLength:"1" maxLength:"64" doc:"Only requests to this client."`
	Status   string `query:"status" enum:"pending,completed,cancelled,expired" doc:"Only requests with this status."`
}) (wire.List[FirmRequest], error) {
	found, err := h.app.FirmRequests.List(ctx, firmrequest.Filter{ClientID: in.ClientID, Status: firmrequest.Status(in.Status)}, in.Request())
	return wire.ListOf(found, viewFirmRequest), err
}

func (h handlers) getFirmRequest(ctx context.Context, in *struct{ requestPath }) (wire.Data[FirmRequest], error) {
	r, err := h.app.FirmRequests.Get(ctx, in.ID)
	return wire.DataOf(viewFirmRequest(r)), err
}

// createsFirmRequest holds the description of a request and, once it was mailed, what came of that.
type createsFirmRequest struct {
	Body CreateFirmRequest

	sent *firmrequest.Sent
}

func (c CreateFirmRequest) params() firmrequest.CreateParams {
	p := firmrequest.CreateParams{ClientID: c.ClientID, Message: c.Message}
	for _, i := range c.Integrations {
		p.Integrations = append(p.Integrations, firmrequest.AskParams{Provider: i.Provider, Name: i.Name})
	}
	return p
}

// mailFirmRequest mails the link of a request, before the database transaction that stores it.
func (h handlers) mailFirmRequest(ctx context.Context, in *createsFirmRequest) (_ *wire.Data[FirmRequest], _ func() error, err error) {
	in.sent, err = h.app.FirmRequests.Prepare(ctx, in.Body.params())
	return nil, func() error { return h.app.FirmRequests.Discard(ctx, in.sent) }, err
}

func (h handlers) checkFirmRequest(ctx context.Context, in *createsFirmRequest) error {
	return h.app.FirmRequests.Check(ctx, in.Body.params())
}

func (h handlers) createFirmRequest(ctx context.Context, in *createsFirmRequest) (wire.Data[FirmRequest], error) {
	r, err := h.app.FirmRequests.Create(ctx, in.Body.params(), in.sent)
	return wire.DataOf(viewFirmRequest(r)), err
}

// resendsFirmRequest holds the parameter of a request that is sent again and, once it was mailed, what came of that.
type resendsFirmRequest struct {
	requestPath

	sent *firmrequest.Sent
}

// mailFirmRequestAgain mails a new link of a request, before the database transaction that stores it.
func (h handlers) mailFirmRequestAgain(ctx context.Context, in *resendsFirmRequest) (_ *wire.Data[FirmRequest], _ func() error, err error) {
	in.sent, err = h.app.FirmRequests.PrepareResend(ctx, in.ID)
	return nil, func() error { return h.app.FirmRequests.Discard(ctx, in.sent) }, err
}

func (h handlers) checkFirmRequestAgain(ctx context.Context, in *resendsFirmRequest) error {
	return h.app.FirmRequests.CheckResend(ctx, in.ID)
}

func (h handlers) resendFirmRequest(ctx context.Context, in *resendsFirmRequest) (wire.Data[FirmRequest], error) {
	r, err := h.app.FirmRequests.Resend(ctx, in.ID, in.sent)
	return wire.DataOf(viewFirmRequest(r)), err
}

func (h handlers) cancelFirmRequest(ctx context.Context, in *struct{ requestPath }) (wire.Data[CancelledFirmRequest], error) {
	r, err := h.app.FirmRequests.Cancel(ctx, in.ID)
	return wire.DataOf(CancelledFirmRequest{ID: r.ID, Status: string(r.Status)}), err
}

func viewFirmRequest(r firmrequest.Request) FirmRequest {
	v := FirmRequest{ID: r.ID, ClientID: r.ClientID, OrganizationID: r.OrganizationID, Status: string(r.Status), Email: r.Email,
		Message: db.OrNull(r.Message), Integrations: []FirmRequestIntegration{}, EmailSent: r.EmailSent,
		EmailSentAt: wire.TimestampOrNull(r.EmailSentAt), RequestedAt: wire.Timestamp(r.RequestedAt), ExpiresAt: wire.Timestamp(r.ExpiresAt),
		CreatedBy: db.OrNull(r.CreatedBy), CreatedAt: wire.Timestamp(r.CreatedAt), UpdatedAt: wire.TimestampOrNull(r.UpdatedAt),
		EndedBy: db.OrNull(string(r.EndedBy)), EndedAt: wire.TimestampOrNull(r.EndedAt)}
	for _, i := range r.Integrations {
		v.Integrations = append(v.Integrations, FirmRequestIntegration{Provider: i.Provider, Name: i.Name, Status: string(i.Status),
			ConnectionID: db.OrNull(i.ConnectionID), ImportID: db.OrNull(i.ImportID)})
	}
	return v
}
