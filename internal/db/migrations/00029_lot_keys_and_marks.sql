-- +goose Up

-- The last event of a pool stayed where it was when that event was undone. It is the last one that is stored.
UPDATE lot_pools SET last_order_key = COALESCE((SELECT max(l.order_key) FROM lots AS l WHERE l.organization_id = lot_pools.organization_id
    AND l.pool = lot_pools.pool), '');
UPDATE lot_pools SET last_order_key = (SELECT max(c.order_key) FROM lot_consumptions AS c WHERE c.organization_id = lot_pools.organization_id
        AND c.pool = lot_pools.pool)
    WHERE EXISTS (SELECT 1 FROM lot_consumptions AS c WHERE c.organization_id = lot_pools.organization_id AND c.pool = lot_pools.pool
        AND c.order_key > lot_pools.last_order_key);

-- A slice of a lot has the marks of that lot, also after these have changed.
CREATE INDEX lots_by_parent ON lots (organization_id, parent_asset_id) WHERE parent_asset_id IS NOT NULL;
CREATE TABLE lot_marks (
    organization_id {text} NOT NULL,
    asset_id        {text} NOT NULL,
    basis_pending   {boolean} NOT NULL,
    provisional     {boolean} NOT NULL,
    PRIMARY KEY (organization_id, asset_id)
) {clustered};
INSERT INTO lot_marks (organization_id, asset_id, basis_pending, provisional)
    WITH RECURSIVE slice AS (
        SELECT l.organization_id, l.asset_id, p.basis_pending, p.provisional FROM lots AS l
            JOIN lots AS p ON p.organization_id = l.organization_id AND p.asset_id = l.parent_asset_id WHERE p.parent_asset_id IS NULL
        UNION ALL SELECT l.organization_id, l.asset_id, s.basis_pending, s.provisional FROM slice AS s
            JOIN lots AS l ON l.organization_id = s.organization_id AND l.parent_asset_id = s.asset_id)
    SELECT organization_id, asset_id, basis_pending, provisional FROM slice;
UPDATE lots SET
    basis_pending = (SELECT m.basis_pending FROM lot_marks AS m WHERE m.organization_id = lots.organization_id AND m.asset_id = lots.asset_id),
    provisional = (SELECT m.provisional FROM lot_marks AS m WHERE m.organization_id = lots.organization_id AND m.asset_id = lots.asset_id)
    WHERE EXISTS (SELECT 1 FROM lot_marks AS m WHERE m.organization_id = lots.organization_id AND m.asset_id = lots.asset_id
        AND (m.basis_pending <> lots.basis_pending OR m.provisional <> lots.provisional));
DROP TABLE lot_marks;
DROP INDEX lots_by_parent;

-- +goose Down
