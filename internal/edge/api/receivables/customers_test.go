package receivables_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestACustomerIsCreatedFoundChangedArchivedAndDeleted(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made, err := n.Client.CreateCustomer(t.Context(), client.CreateCustomer{Name: "  Élan SA ", Email: "a@example.com",
			ExternalReferences: []client.ExternalReference{{Provider: " Stripe", ExternalID: "cus_1"}}, PayerNames: []string{"ELAN  sa"},
			Addresses: []string{"0xAb"}})
		if err != nil || made.Name != "Élan SA" || made.PaymentTermsDays != 30 || made.ExternalReferences[0].Provider != "stripe" ||
			made.IsArchived || !strings.HasPrefix(made.ID, "cus_") ||
			!slices.Equal(made.Guidance.AllowedActions, []string{"edit", "archive", "delete"}) {
			t.Fatalf("%+v %v", made, err)
		}
		if got, err := n.Client.Customer(t.Context(), made.ID); err != nil || apitest.JSON(t, got) != apitest.JSON(t, made) {
			t.Errorf("%+v %v", got, err)
		}
		for _, query := range []string{"search=éLAN", "external_id=cus_1", "is_archived=false"} {
			if got := customerNames(t, n, query); !slices.Equal(got, []string{"Élan SA"}) {
				t.Errorf("%s: %q", query, got)
			}
		}
		for _, query := range []string{"search=%25", "external_id=CUS_1", "is_archived=true"} {
			if got := customerNames(t, n, query); len(got) != 0 {
				t.Errorf("%s: %q", query, got)
			}
		}
		changed, err := n.Client.UpdateCustomer(t.Context(), made.ID, client.UpdateCustomer{Name: new("Elan"), Email: client.Null[string](),
			PaymentTermsDays: new(0), PayerNames: &[]string{}, Addresses: &[]string{"0xAb", "bc1q"}})
		if err != nil || changed.Name != "Elan" || changed.Email != nil || changed.PaymentTermsDays != 0 || len(changed.PayerNames) != 0 ||
			!slices.Equal(changed.Addresses, []string{"0xAb", "bc1q"}) || len(changed.ExternalReferences) != 1 || changed.UpdatedAt == nil {
			t.Errorf("%+v %v", changed, err)
		}
		before := n.AuditCount(t)
		if again, err := n.Client.UpdateCustomer(t.Context(), made.ID, client.UpdateCustomer{Name: new(" Elan")}); err != nil ||
			apitest.JSON(t, again) != apitest.JSON(t, changed) || n.AuditCount(t) != before {
			t.Errorf("%+v %v: nothing changed, but something was written", again, err)
		}
		archived, err := n.Client.ArchiveCustomer(t.Context(), made.ID)
		if err != nil || !archived.IsArchived || archived.ArchivedAt == nil {
			t.Errorf("%+v %v", archived, err)
		}
		if back, err := n.Client.UnarchiveCustomer(t.Context(), made.ID); err != nil || back.IsArchived {
			t.Errorf("%+v %v", back, err)
		}
		if err := n.Client.DeleteCustomer(t.Context(), made.ID); err != nil {
			t.Error(err)
		}
		if _, err := n.Client.Customer(t.Context(), made.ID); !client.IsNotFound(err) {
			t.Error(err)
		}
		if _, err := n.Client.CreateCustomer(t.Context(), client.CreateCustomer{Name: "Next",
			ExternalReferences: []client.ExternalReference{{Provider: "stripe", ExternalID: "cus_1"}}}); err != nil {
			t.Errorf("the id of a deleted customer is not free: %v", err)
		}
	})
}

func customerNames(t *testing.T, n *apitest.Tenant, query string) []string {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for c, err := range n.Client.Customers(t.Context(), values) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.Name)
	}
	return out
}

func TestEveryFaultOfACustomerIsNamed(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		taken := n.NewCustomer(t, "First").ExternalReferences[0]
		_, err := n.Client.CreateCustomer(t.Context(), client.CreateCustomer{Name: " ", Email: "no address", PaymentTermsDays: new(1),
			PayerNames: []string{"A b", "a  B"}, Addresses: []string{"0x 1", " "},
			ExternalReferences: []client.ExternalReference{{Provider: "a b", ExternalID: "1"}, {Provider: "x", ExternalID: "1"},
				{Provider: "X", ExternalID: "1"}, taken}})
		apitest.WantError(t, "all", err, 400, []string{"name", "email", "payer_names[1]", "addresses[0]", "addresses[1]",
			"external_references[0].provider", "external_references[2].external_id", "external_references[3].external_id"}, "is given twice")
		_, err = n.Client.CreateCustomer(t.Context(), client.CreateCustomer{Name: "Second",
			ExternalReferences: []client.ExternalReference{taken}})
		apitest.WantError(t, "taken", err, 409, []string{"external_references[0].external_id"}, "belongs to the customer cus_")
	})
}

func TestACustomerWithInvoicesIsArchivedAndNotDeleted(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		draft := l.invoice(t, "draft", "2026-01-31", "4010 10.00")
		apitest.WantConflict(t, l.Client.DeleteCustomer(t.Context(), l.customer.ID), "1 invoice, for example INV-1", "/archive")
		if got, err := l.Client.ArchiveCustomer(t.Context(), l.customer.ID); err != nil ||
			!slices.Equal(got.Guidance.AllowedActions, []string{"edit", "unarchive"}) {
			t.Errorf("%+v %v", got, err)
		}
		_, err := l.Client.CreateInvoice(t.Context(), l.params("draft", "2026-01-31", "4010 10.00"))
		apitest.WantError(t, "archived", err, 409, []string{"customer_id"}, "is archived")
		if _, err := l.Client.OpenInvoice(t.Context(), draft.ID); err != nil {
			t.Errorf("a draft from before is not opened: %v", err)
		}
	})
}
