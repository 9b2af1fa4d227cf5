package db_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
)

func TestTheGateRefusesWhatItCannotProve(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// No condition, or one on something else.
		"SELECT name FROM tags",
		"SELECT name FROM tags WHERE organization_id = ?",
		"SELECT name FROM tags WHERE organization_id <> @org",
		"SELECT name FROM tags WHERE organization_id >= @org",
		"SELECT name FROM tags WHERE name = @org",
		"SELECT name FROM tags WHERE tag_id = 'organization_id = @org'",
		"SELECT @org, name FROM tags",
		"SELECT organization_id = @org FROM tags",
		"SELECT name FROM tags ORDER BY organization_id = @org",
		"SELECT name FROM tags GROUP BY name HAVING organization_id = @org",
		"SELECT name FROM api_keys WHERE key_hash = ?",
		"SELECT name FROM {texts} CROSS JOIN {each} tags WHERE name = w.value {end_each}",
		// A condition that not every row has to meet.
		"SELECT name FROM tags WHERE organization_id = @org OR 1 = 1",
		"SELECT name FROM tags WHERE (organization_id = @org OR tag_id = ?)",
		"SELECT name FROM tags WHERE NOT organization_id = @org",
		"SELECT name FROM tags WHERE NOT (organization_id = @org)",
		"SELECT name FROM tags WHERE CASE WHEN x AND organization_id = @org AND y THEN 1 ELSE 1 END = 1",
		"SELECT name FROM tags WHERE coalesce(organization_id = @org, TRUE)",
		"SELECT name FROM tags WHERE name = ? AND x BETWEEN 1 AND organization_id = @org",
		"SELECT name FROM tags WHERE organization_id = @org || name",
		"SELECT name FROM tags WHERE organization_id = @org IS NOT NULL",
		"SELECT name FROM tags -- WHERE organization_id = @org",
		"SELECT name FROM tags /* WHERE organization_id = @org */",
		"SELECT name FROM tags WHERE organization_id = @org; DELETE FROM tags",
		"SELECT name FROM tags WHERE name = E'\\' AND organization_id = @org --'",
		"SELECT name FROM tags WHERE name = $$ WHERE organization_id = @org $$",
		"SELECT name FROM tags WHERE organization_id = @orgs",
		// Tables that are equal to each other, or to themselves, and none of them to @org.
		"SELECT e.memo FROM journal_entries e JOIN journal_lines l ON l.organization_id = e.organization_id",
		"SELECT 1 FROM journal_entries e, journal_lines l WHERE l.organization_id = e.organization_id AND e.organization_id = l.organization_id",
		"SELECT name FROM tags t WHERE t.organization_id = t.organization_id",
		"SELECT name FROM tags WHERE organization_id = tags.organization_id",
		"SELECT name FROM tags t WHERE t.organization_id = u.organization_id",
		"SELECT a.name FROM tags a JOIN tags b ON b.organization_id = a.organization_id JOIN tags c ON c.organization_id = @org",
		"SELECT name FROM tags WHERE EXISTS (SELECT 1 FROM sources s WHERE s.organization_id = tags.organization_id)",
		"SELECT a.name FROM tags a JOIN (SELECT 'org_x' AS organization_id) b ON a.organization_id = b.organization_id",
		"SELECT a.name FROM tags a JOIN (SELECT 'org_x') b (organization_id) ON a.organization_id = b.organization_id",
		"WITH b (organization_id) AS (SELECT 'org_x') SELECT a.name FROM tags a JOIN b ON a.organization_id = b.organization_id",
		"WITH b AS (SELECT 'org_x' organization_id) SELECT a.name FROM tags a JOIN b ON a.organization_id = b.organization_id",
		// Only one of two tables.
		"SELECT a.name FROM tags a, tags b WHERE a.organization_id = @org",
		"SELECT a.name FROM tags a JOIN sources s ON s.source_id = a.name WHERE a.organization_id = @org",
		"SELECT name FROM tags WHERE organization_id = @org AND tag_id IN (SELECT source_id FROM sources)",
		"SELECT name FROM tags WHERE organization_id = @org UNION SELECT name FROM sources",
		"SELECT (SELECT max(s.name) FROM sources s) FROM tags WHERE organization_id = @org",
		"SELECT name FROM (SELECT name FROM tags) t WHERE organization_id = @org",
		"WITH t AS (SELECT * FROM tags) SELECT name FROM t WHERE organization_id = @org",
		"SELECT CASE WHEN TRUE THEN (SELECT max(name) FROM sources) END FROM tags WHERE organization_id = @org",
		// A condition of an outer join restricts one side only.
		"SELECT a.name FROM tags a LEFT JOIN sources s ON a.organization_id = @org AND s.organization_id = @org",
		"SELECT a.name FROM tags a LEFT JOIN sources s ON s.organization_id = @org AND a.organization_id = s.organization_id",
		"SELECT a.name FROM tags a RIGHT JOIN sources s ON s.organization_id = @org AND a.organization_id = @org",
		"SELECT a.name FROM tags a FULL OUTER JOIN sources s ON s.organization_id = @org AND a.organization_id = @org",
		"SELECT a.name FROM tags a NATURAL JOIN sources s WHERE a.organization_id = @org",
		"SELECT a.name FROM tags a JOIN sources s USING (organization_id) WHERE a.organization_id = @org",
		"SELECT a.name FROM (tags a JOIN sources s ON TRUE) WHERE a.organization_id = @org AND s.organization_id = @org",
		// Names in disguise.
		`SELECT name FROM "tags"`, "SELECT name FROM public.tags WHERE organization_id = @org", "SELECT name FROM [tags]",
		"SELECT name FROM `tags`",
		"SELECT name FROM TAGS", "TABLE tags", "TRUNCATE tags", "LOCK TABLE tags", "COPY tags TO STDOUT", "EXPLAIN ANALYZE DELETE FROM tags",
		// Writes.
		"UPDATE tags SET name = ?",
		"UPDATE tags SET organization_id = @org",
		"UPDATE tags SET organization_id = ? WHERE organization_id = @org",
		"UPDATE tags SET (name, organization_id) = (?, ?) WHERE organization_id = @org",
		"UPDATE tags SET name = s.name FROM sources s WHERE tags.organization_id = @org",
		"DELETE FROM tags",
		"DELETE FROM tags USING sources s WHERE s.organization_id = @org",
		"INSERT INTO tags (organization_id, name) VALUES (?, ?)",
		"INSERT INTO tags (organization_id, name) VALUES (@org, ?), (?, ?)",
		"INSERT INTO tags (name, organization_id) VALUES (@org, ?)",
		"INSERT INTO tags VALUES (@org, ?)",
		"INSERT INTO tags (organization_id, name) SELECT s.organization_id, s.name FROM sources s",
		"INSERT INTO tags (organization_id, name) SELECT @org, s.name FROM sources s",
		"INSERT INTO tags (organization_id, name) SELECT @org, 'x' UNION SELECT ?, 'x'",
		"INSERT INTO tags (organization_id, name) SELECT @org || 'x', ?",
		"INSERT INTO tags (organization_id, name) VALUES (@org, ?) ON CONFLICT (name) DO UPDATE SET organization_id = ?",
		"INSERT INTO tags (organization_id, name) VALUES (@org, (SELECT max(name) FROM sources))",
		"REPLACE INTO tags (organization_id, name) VALUES (@org, ?)",
		"WITH gone AS (DELETE FROM tags RETURNING name) SELECT name FROM gone",
	} {
		if err := db.ProvenBound(text); err == nil || !strings.Contains(err.Error(), "tied to @org") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheGateAcceptsWhatIsTied(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SELECT 1",
		"SELECT name FROM users WHERE email = ?",
		"SELECT name FROM tags WHERE organization_id = @org",
		"select NAME from TAGS where @ORG = name AND ORGANIZATION_ID = @org",
		"SELECT name FROM tags WHERE @org = organization_id AND (name = ? OR tag_id = ?) ORDER BY name LIMIT ? {for_update}",
		"SELECT name FROM tags WHERE (organization_id = @org AND name = ?)",
		"SELECT name FROM tags WHERE x BETWEEN ? AND ? AND organization_id = @org",
		"SELECT name FROM tags t WHERE {unindexed}t.organization_id = @org",
		"SELECT name FROM tags WHERE organization_id = @org AND name IS NOT DISTINCT FROM ?",
		"SELECT left(name, 3) FROM tags WHERE organization_id = @org",
		"SELECT l.amount FROM journal_lines l JOIN journal_entries e ON e.organization_id = l.organization_id WHERE l.organization_id = @org",
		"SELECT l.amount FROM journal_lines l JOIN journal_entries e ON e.organization_id = l.organization_id AND e.organization_id = @org",
		"SELECT a.name FROM tags a, tags b, tags c WHERE a.organization_id = b.organization_id AND b.organization_id = c.organization_id " +
			"AND c.organization_id = @org",
		"SELECT 1 FROM tags a LEFT JOIN sources s ON s.organization_id = a.organization_id AND s.name = a.name WHERE a.organization_id = @org",
		"SELECT 1 FROM tags WHERE organization_id = @org AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.organization_id = tags.organization_id)",
		"SELECT name FROM tags WHERE organization_id = @org AND tag_id IN (SELECT source_id FROM sources WHERE organization_id = @org)",
		"SELECT t.name FROM (SELECT name FROM tags WHERE organization_id = @org UNION ALL SELECT s.name FROM sources s " +
			"WHERE s.organization_id = @org) t",
		"WITH t AS (SELECT * FROM tags WHERE organization_id = @org) SELECT 1 FROM t JOIN sources s ON s.organization_id = t.organization_id",
		"SELECT w.value FROM {texts} CROSS JOIN tags t WHERE t.organization_id = @org AND t.name = w.value",
		"SELECT name FROM {texts} CROSS JOIN {each} tags WHERE organization_id = @org AND name = w.value {end_each} ORDER BY name",
		"UPDATE tags SET name = ? WHERE organization_id = @org",
		"UPDATE tags AS t SET name = s.name FROM sources s WHERE t.organization_id = @org AND s.organization_id = t.organization_id",
		"DELETE FROM tags WHERE organization_id = @org AND tag_id {any}",
		"INSERT INTO tags (organization_id, name) VALUES (@org, ?), (@org, ?)",
		"INSERT INTO tags (organization_id, name) VALUES (@org, ?) ON CONFLICT (organization_id, name) DO UPDATE SET name = excluded.name",
		"INSERT INTO tags (organization_id, name) SELECT @org, s.name FROM sources s WHERE s.organization_id = @org ON CONFLICT DO NOTHING",
		"INSERT INTO tags (organization_id, name) SELECT @org, u.name FROM unnest(?::text[], ?::text[]) AS u(name, other)",
		"INSERT INTO tags (organization_id, name) VALUES (@org, ?) RETURNING tag_id",
		"EXPLAIN QUERY PLAN SELECT name FROM tags WHERE organization_id = @org",
	} {
		if err := db.ProvenBound(text); err != nil {
			t.Error(err)
		}
	}
}
