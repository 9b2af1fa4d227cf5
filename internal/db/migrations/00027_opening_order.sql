-- +goose Up

-- Opening balances enter their pools before everything else; their keys began with the date of acquisition until now. A lot before whose date something was
-- consumed from its pool keeps its key: with another one that consumption could be another one, which only a correction of the entry may say. The
-- next change of such a lot moves it.
UPDATE lots SET order_key = '-9161236440054775808 0 000000000000 000000000000 000 ' || asset_id
    WHERE origin = 'manual' AND NOT EXISTS (SELECT 1 FROM lot_consumptions AS c WHERE c.organization_id = lots.organization_id
        AND c.pool = lots.pool AND c.order_key < lots.order_key);

-- Lots are numbered in the order of their keys.
CREATE TABLE lot_numbers (
    organization_id {text} NOT NULL,
    asset_id        {text} NOT NULL,
    seq             {integer} NOT NULL,
    PRIMARY KEY (organization_id, asset_id)
) {clustered};
INSERT INTO lot_numbers (organization_id, asset_id, seq)
    SELECT l.organization_id, l.asset_id, row_number() OVER (PARTITION BY l.organization_id, l.pool ORDER BY l.order_key, l.seq) FROM lots AS l
    WHERE EXISTS (SELECT 1 FROM lots AS m WHERE m.organization_id = l.organization_id AND m.pool = l.pool AND m.origin = 'manual');
UPDATE lots SET seq = (SELECT n.seq FROM lot_numbers AS n WHERE n.organization_id = lots.organization_id AND n.asset_id = lots.asset_id)
    WHERE EXISTS (SELECT 1 FROM lot_numbers AS n WHERE n.organization_id = lots.organization_id AND n.asset_id = lots.asset_id AND n.seq <> lots.seq);
DROP TABLE lot_numbers;

-- +goose Down
