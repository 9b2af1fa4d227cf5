-- +goose Up

-- What the provider of a mirrored invoice states about it, and when it was asked: status and amount_due of such an invoice are computed
-- from that and from what was applied here without the provider's knowledge.
ALTER TABLE invoices ADD COLUMN stated_status {text};
ALTER TABLE invoices ADD COLUMN stated_amount_due {decimal};
ALTER TABLE invoices ADD COLUMN stated_at {timestamp};

-- Since when a processor may know of an allocation, of what amount, and by which reference: the id of a payment record at Stripe.
ALTER TABLE cash_application_allocations ADD COLUMN attempted_at {timestamp};
ALTER TABLE cash_application_allocations ADD COLUMN attempted_amount {decimal};
ALTER TABLE cash_application_allocations ADD COLUMN report_reference {text};
UPDATE cash_application_allocations SET attempted_at = reported_at, attempted_amount = amount WHERE reported_at IS NOT NULL;

-- So far, what was applied without the provider's knowledge was taken off what the provider stated.
UPDATE invoices SET stated_status = status, stated_amount_due = amount_due WHERE external_id IS NOT NULL;
UPDATE invoices SET stated_status = 'open', stated_amount_due = {dec_add}(amount_due, (SELECT {dec_sum}(l.amount)
        FROM cash_application_allocations l JOIN cash_applications a
            ON a.organization_id = l.organization_id AND a.cash_application_id = l.cash_application_id
        WHERE l.organization_id = invoices.organization_id AND l.invoice_id = invoices.invoice_id AND l.reported_at IS NULL
            AND a.status IN ('applied', 'confirmed')))
    WHERE external_id IS NOT NULL AND status IN ('open', 'paid') AND EXISTS (SELECT 1
        FROM cash_application_allocations l JOIN cash_applications a
            ON a.organization_id = l.organization_id AND a.cash_application_id = l.cash_application_id
        WHERE l.organization_id = invoices.organization_id AND l.invoice_id = invoices.invoice_id AND l.reported_at IS NULL
            AND a.status IN ('applied', 'confirmed') AND (invoices.status = 'open' OR a.stripe_status <> 'failed'));

-- +goose Down

ALTER TABLE cash_application_allocations DROP COLUMN report_reference;
ALTER TABLE cash_application_allocations DROP COLUMN attempted_amount;
ALTER TABLE cash_application_allocations DROP COLUMN attempted_at;
ALTER TABLE invoices DROP COLUMN stated_at;
ALTER TABLE invoices DROP COLUMN stated_amount_due;
ALTER TABLE invoices DROP COLUMN stated_status;
