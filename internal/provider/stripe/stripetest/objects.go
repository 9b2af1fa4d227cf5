package stripetest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"
)

// next returns a number that no other object has. It is also the time of creation of the next object.
func (s *Server) next() int64 {
	s.number++
	return s.number
}

// add stores an object with a new id and time, unless it has them.
func (s *Server) add(list, prefix, object string, o Object, with Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.next()
	out := Object{"id": fmt.Sprintf("%s_%d", prefix, n), "object": object, "created": n, "livemode": false, "metadata": Object{}}
	maps.Copy(out, o)
	maps.Copy(out, with)
	s.lists[list] = append(s.lists[list], out)
	return out
}

// Customer adds a customer.
func (s *Server) Customer(name string, with Object) Object {
	return s.add("customers", "cus", "customer", Object{"name": name, "email": strings.ToLower(name) + "@example.com"}, with)
}

// Line returns a line of an invoice.
func (s *Server) Line(description string, amount int64, with Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Object{"id": fmt.Sprintf("il_%d", s.next()), "object": "line_item", "amount": amount, "currency": "usd", "description": description,
		"quantity": int64(1), "discount_amounts": []Object{}, "taxes": []Object{}}
	maps.Copy(out, with)
	return out
}

// Invoice adds an open invoice to a customer, with lines that add up to its total unless it says otherwise.
func (s *Server) Invoice(customer Object, lines []Object, with Object) Object {
	total := int64(0)
	for _, l := range lines {
		total += l["amount"].(int64)
	}
	out := s.add("invoices", "in", "invoice", Object{"customer": customer["id"], "customer_name": customer["name"],
		"customer_email": customer["email"], "currency": "usd", "status": "open", "total": total, "subtotal": total, "amount_due": total,
		"amount_paid": int64(0), "amount_remaining": total, "_lines": lines, "status_transitions": Object{}}, with)
	if out["number"] == nil && out["status"] != "draft" {
		s.mu.Lock()
		out["number"] = strings.ToUpper(out["id"].(string))
		s.mu.Unlock()
	}
	return out
}

// Change changes an object and adds the event that Stripe would send, which it returns.
func (s *Server) Change(o Object, event string, with Object) Object {
	s.mu.Lock()
	was := Object{}
	for name := range with {
		was[name] = o[name]
	}
	maps.Copy(o, with)
	data := Object{"object": maps.Clone(shown(o))}
	s.mu.Unlock()
	if len(was) > 0 {
		data["previous_attributes"] = was
	}
	return s.add("events", "evt", "event", Object{"type": event, "api_version": "2026-03-25.dahlia", "data": data}, nil)
}

// Delete removes an object and adds the event that Stripe would send, which it returns.
func (s *Server) Delete(list string, o Object, event string) Object {
	out := s.Change(o, event, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[list] = slices.DeleteFunc(s.lists[list], func(other Object) bool { return other["id"] == o["id"] })
	return out
}

// Touch sets the time of all objects of a list.
func (s *Server) Touch(list string, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.lists[list] {
		o["created"] = at
	}
}

// BalanceTransaction adds a balance transaction.
func (s *Server) BalanceTransaction(kind string, amount, fee int64, with Object) Object {
	return s.add("balance_transactions", "txn", "balance_transaction", Object{"type": kind, "reporting_category": kind, "amount": amount,
		"fee": fee, "net": amount - fee, "currency": "usd", "status": "available", "description": kind, "source": nil}, with)
}

// Sign returns the header of a webhook with a body.
func Sign(body []byte, secret string, at time.Time) string {
	return fmt.Sprintf("t=%d,v1=%x", at.Unix(), webhook.ComputeSignature(at, body, secret))
}

// post answers a write.
func (s *Server) post(path string, form map[string]string) (int, any) {
	parts := strings.Split(strings.TrimPrefix(path, "/v1/"), "/")
	switch {
	case path == "/v1/payment_records/report_payment":
		return s.reportPayment(form)
	case len(parts) == 3 && parts[0] == "invoices" && parts[2] == "pay":
		return s.pay(parts[1], form)
	case len(parts) == 3 && parts[0] == "invoices" && parts[2] == "attach_payment":
		return s.attach(parts[1], form)
	}
	return missing(path)
}

func (s *Server) reportPayment(form map[string]string) (int, any) {
	if !s.records {
		return http.StatusForbidden, failure("invalid_request_error", "", "Your account is not enabled for Payment Records.")
	}
	value, err := strconv.ParseInt(form["amount_requested[value]"], 10, 64)
	if err != nil || value <= 0 || form["initiated_at"] == "" || form["payment_method_details[type]"] == "" {
		return http.StatusBadRequest, failure("invalid_request_error", "parameter_missing", "amount_requested, initiated_at and "+
			"payment_method_details are required")
	}
	n := s.next()
	out := Object{"id": fmt.Sprintf("pr_%d", n), "object": "payment_record", "created": n,
		"amount_requested": Object{"currency": form["amount_requested[currency]"], "value": value},
		"processor_details": Object{"type": "custom", "custom": Object{
			"payment_reference": form["processor_details[custom][payment_reference]"]}}}
	s.lists["payment_records"] = append(s.lists["payment_records"], out)
	return http.StatusOK, out
}

// notOpen answers a payment of an invoice that cannot be paid.
func notOpen(i Object) (int, any) {
	if i["status"] == "paid" {
		return http.StatusBadRequest, failure("invalid_request_error", "invoice_already_paid", "Invoice is already paid")
	}
	return http.StatusBadRequest, failure("invalid_request_error", "invoice_not_editable", fmt.Sprintf("Invoice is %s", i["status"]))
}

func (s *Server) pay(id string, form map[string]string) (int, any) {
	i := s.find("invoices", id)
	switch {
	case i == nil:
		return missing(id)
	case i["status"] != "open" && i["status"] != "uncollectible":
		return notOpen(i)
	case form["paid_out_of_band"] != "true":
		return http.StatusBadRequest, failure("invalid_request_error", "", "There is no payment method")
	}
	s.settle(i, i["amount_remaining"].(int64))
	return http.StatusOK, shown(i)
}

// settle takes an amount off what remains of an invoice.
func (s *Server) settle(i Object, amount int64) {
	i["amount_remaining"] = i["amount_remaining"].(int64) - amount
	i["amount_paid"] = i["amount_paid"].(int64) + amount
	if i["amount_remaining"] == int64(0) {
		i["status"] = "paid"
	}
}

func (s *Server) attach(id string, form map[string]string) (int, any) {
	i, record := s.find("invoices", id), s.find("payment_records", form["payment_record"])
	switch {
	case i == nil:
		return missing(id)
	case record == nil:
		return missing(form["payment_record"])
	case i["status"] != "open" && i["status"] != "uncollectible":
		return notOpen(i)
	}
	value := record["amount_requested"].(Object)["value"].(int64)
	if value > i["amount_remaining"].(int64) {
		return http.StatusBadRequest, failure("invalid_request_error", "", "The payment exceeds what remains to be paid")
	}
	s.settle(i, value)
	n := s.next()
	s.lists["invoice_payments"] = append(s.lists["invoice_payments"], Object{"id": fmt.Sprintf("inpay_%d", n), "object": "invoice_payment",
		"created": n, "invoice": id, "status": "paid", "payment": Object{"type": "payment_record", "payment_record": record["id"]}})
	return http.StatusOK, shown(i)
}

// Attached returns the amounts of the payment records that are attached to invoices, by their references.
func (s *Server) Attached() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int64{}
	for _, p := range s.lists["invoice_payments"] {
		record := s.find("payment_records", p["payment"].(Object)["payment_record"].(string))
		reference := record["processor_details"].(Object)["custom"].(Object)["payment_reference"].(string)
		out[reference] += record["amount_requested"].(Object)["value"].(int64)
	}
	return out
}
