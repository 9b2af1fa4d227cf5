-- +goose Up

-- What payments that went back, such as refunds and chargebacks, have made due again of what an application paid. Such a payment is an
-- application with negative amounts, whose source_application_id is the one that it takes back.
ALTER TABLE cash_applications ADD COLUMN returned_amount {decimal} NOT NULL DEFAULT '0';

-- +goose Down

ALTER TABLE cash_applications DROP COLUMN returned_amount;
