-- +goose Up

-- Order keys write block numbers of at most 12 digits padded with zeros. Wider ones now have a letter in front that says by how many digits they are
-- wider, so that keys sort as the numbers do (rules/lot.OrderKey); before, they were written as they are. The block begins at the 20th character of a
-- key and ends at the next space: the 32nd character for 12 digits, the 33rd for 13 and so on. All other keys stay as they are.
UPDATE lots SET place = substr(place, 1, 19) || CASE ' ' WHEN substr(place, 33, 1) THEN 'a' WHEN substr(place, 34, 1) THEN 'b'
    WHEN substr(place, 35, 1) THEN 'c' WHEN substr(place, 36, 1) THEN 'd' WHEN substr(place, 37, 1) THEN 'e' WHEN substr(place, 38, 1) THEN 'f'
    ELSE 'g' END || substr(place, 20)
    WHERE substr(place, 17, 1) = ' ' AND substr(place, 32, 1) BETWEEN '0' AND '9';
UPDATE lot_takes SET place = substr(place, 1, 19) || CASE ' ' WHEN substr(place, 33, 1) THEN 'a' WHEN substr(place, 34, 1) THEN 'b'
    WHEN substr(place, 35, 1) THEN 'c' WHEN substr(place, 36, 1) THEN 'd' WHEN substr(place, 37, 1) THEN 'e' WHEN substr(place, 38, 1) THEN 'f'
    ELSE 'g' END || substr(place, 20)
    WHERE substr(place, 17, 1) = ' ' AND substr(place, 32, 1) BETWEEN '0' AND '9';
UPDATE lot_uses SET place = substr(place, 1, 19) || CASE ' ' WHEN substr(place, 33, 1) THEN 'a' WHEN substr(place, 34, 1) THEN 'b'
    WHEN substr(place, 35, 1) THEN 'c' WHEN substr(place, 36, 1) THEN 'd' WHEN substr(place, 37, 1) THEN 'e' WHEN substr(place, 38, 1) THEN 'f'
    ELSE 'g' END || substr(place, 20)
    WHERE substr(place, 17, 1) = ' ' AND substr(place, 32, 1) BETWEEN '0' AND '9';
UPDATE lot_pools SET last_place = substr(last_place, 1, 19) || CASE ' ' WHEN substr(last_place, 33, 1) THEN 'a' WHEN substr(last_place, 34, 1) THEN 'b'
    WHEN substr(last_place, 35, 1) THEN 'c' WHEN substr(last_place, 36, 1) THEN 'd' WHEN substr(last_place, 37, 1) THEN 'e'
    WHEN substr(last_place, 38, 1) THEN 'f' ELSE 'g' END || substr(last_place, 20)
    WHERE substr(last_place, 17, 1) = ' ' AND substr(last_place, 32, 1) BETWEEN '0' AND '9';

-- The last event of a pool may be another one now.
UPDATE lot_pools SET last_place = (SELECT max(x.place) FROM (
        SELECT l.organization_id, l.pool, l.place FROM lots AS l UNION ALL SELECT t.organization_id, t.pool, t.place FROM lot_takes AS t) AS x
        WHERE x.organization_id = lot_pools.organization_id AND x.pool = lot_pools.pool)
    WHERE EXISTS (SELECT 1 FROM lots AS l WHERE l.organization_id = lot_pools.organization_id AND l.pool = lot_pools.pool
            AND substr(l.place, 20, 1) BETWEEN 'a' AND 'g')
        OR EXISTS (SELECT 1 FROM lot_takes AS t WHERE t.organization_id = lot_pools.organization_id AND t.pool = lot_pools.pool
            AND substr(t.place, 20, 1) BETWEEN 'a' AND 'g');
