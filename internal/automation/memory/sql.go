package memory

import (
	"context"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

type versionRow struct {
	ItemID      string    `db:"item_id"`
	Version     int64     `db:"version"`
	Revision    int64     `db:"revision"`
	Content     string    `db:"content"`
	Frontmatter *string   `db:"frontmatter"`
	Size        int64     `db:"size"`
	Deleted     bool      `db:"deleted"`
	Rationale   *string   `db:"rationale"`
	UserID      *string   `db:"user_id"`
	APIKeyID    *string   `db:"api_key_id"`
	CreatedAt   time.Time `db:"created_at"`
}

func (r versionRow) version() Version {
	return Version{
		ItemID: r.ItemID, Number: r.Version, Revision: r.Revision, Content: r.Content,
		Frontmatter: db.OrEmpty(r.Frontmatter), Size: r.Size, Deleted: r.Deleted, Rationale: db.OrEmpty(r.Rationale),
		UserID:   db.OrEmpty(r.UserID),
		APIKeyID: db.OrEmpty(r.APIKeyID), CreatedAt: r.CreatedAt,
	}
}

func insertVersion(ctx context.Context, tx *db.Tx, v Version) error {
	return db.Insert(ctx, tx, "memory_versions", toRow(v))
}

func toRow(v Version) versionRow {
	return versionRow{
		ItemID: v.ItemID, Version: v.Number, Revision: v.Revision, Content: v.Content,
		Frontmatter: db.OrNull(v.Frontmatter), Size: v.Size, Deleted: v.Deleted, Rationale: db.OrNull(v.Rationale),
		UserID:   db.OrNull(v.UserID),
		APIKeyID: db.OrNull(v.APIKeyID), CreatedAt: v.CreatedAt,
	}
}

// part returns what is stored of a version, for the audit log.
func (v Version) part() audit.Part {
	return audit.Part{Type: "memory_version", ID: v.ItemID + "/" + strconv.FormatInt(v.Number, 10), Table: "memory_versions", Row: toRow(v)}
}

func selectRevision(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "revision", lastRevision)
}

const lastRevision = "SELECT coalesce(max(revision), 0) FROM memory_versions WHERE organization_id = @org"

// ruleRow is a current or deleted rule with one of its versions.
type ruleRow struct {
	ID        string    `db:"rule_id"`
	Version   int64     `db:"version"`
	Content   string    `db:"content"`
	CreatedAt time.Time `db:"created_at"`
}

const selectRules = `SELECT r.rule_id, r.version, v.content, v.created_at FROM memory_rules r
	JOIN memory_versions v ON v.organization_id = r.organization_id AND v.item_id = r.rule_id AND v.version = r.version WHERE
	r.organization_id = @org`

func findRule(ctx context.Context, tx *db.Tx, ruleID string) (ruleRow, error) {
	return db.One[ruleRow](ctx, tx, ruleNoun, selectRules+" AND r.rule_id = ?", ruleID)
}

func selectRulePage(ctx context.Context, tx *db.Tx, above string, limit int) ([]ruleRow, error) {
	return db.All[ruleRow](ctx, tx, selectRules+" AND r.rule_id > ? ORDER BY r.rule_id LIMIT ?", above, limit)
}

func selectAllRules(ctx context.Context, tx *db.Tx) ([]ruleRow, error) {
	return db.All[ruleRow](ctx, tx, selectRules+" ORDER BY r.rule_id")
}

// selectCashApplicationRules reads the rules of this type, which is the first property in the stored form of a rule.
func selectCashApplicationRules(ctx context.Context, tx *db.Tx) ([]ruleRow, error) {
	return db.All[ruleRow](ctx, tx, selectRules+" AND v.content LIKE ? ORDER BY r.rule_id", `{%"rule_type": "`+string(CashApplication)+`"%`)
}

// rulesAt selects every rule as of a revision. Ids of rules are between rul_ and rul`, and SQLite joins in the order
// given by CROSS.
const rulesAt = "SELECT v.item_id AS rule_id, v.version, v.content, v.created_at FROM " +
	"(SELECT item_id, max(version) AS version FROM memory_versions " +
	"WHERE organization_id = @org AND item_id > 'rul_' AND item_id < 'rul`' AND revision <= ? GROUP BY item_id) AS l " +
	"CROSS JOIN memory_versions v " +
	"WHERE v.organization_id = @org AND v.item_id = l.item_id AND v.version = l.version AND NOT v.deleted ORDER BY l.item_id"

func selectRulesAt(ctx context.Context, tx *db.Tx, revision int64) ([]ruleRow, error) {
	return db.All[ruleRow](ctx, tx, rulesAt, revision)
}

type ruleKeyRow struct {
	ID              string  `db:"rule_id"`
	Version         int64   `db:"version"`
	LedgerAccountID *string `db:"ledger_account_id"`
	TagID           *string `db:"tag_id"`
}

type ruleSplitRow struct {
	RuleID          string `db:"rule_id"`
	Position        int64  `db:"position"`
	LedgerAccountID string `db:"ledger_account_id"`
}

// splitRows returns the rows of the splits of a rule.
func (r Rule) splitRows() (out []ruleSplitRow) {
	for i, s := range r.Splits {
		out = append(out, ruleSplitRow{r.ID, int64(i), s.LedgerAccountID})
	}
	return out
}

func removeSplits(ctx context.Context, tx *db.Tx, ruleID string) error {
	return tx.Queue(ctx, "DELETE FROM memory_rule_splits WHERE organization_id = @org AND rule_id = ?", ruleID)
}

func selectSplits(ctx context.Context, tx *db.Tx) ([]ruleSplitRow, error) {
	return db.All[ruleSplitRow](ctx, tx, "SELECT "+db.Columns[ruleSplitRow]()+
		" FROM memory_rule_splits WHERE organization_id = @org ORDER BY rule_id, position")
}

func upsertRule(ctx context.Context, tx *db.Tx, r Rule) error {
	if err := removeSplits(ctx, tx, r.ID); err != nil {
		return err
	}
	if rows := r.splitRows(); len(rows) > 0 {
		if err := db.Insert(ctx, tx, "memory_rule_splits", rows...); err != nil {
			return err
		}
	}
	return db.Upsert(ctx, tx, "memory_rules", []ruleKeyRow{{r.ID, r.Version, db.OrNull(r.LedgerAccountID), db.OrNull(r.TagID)}},
		"ON CONFLICT (organization_id, rule_id) DO UPDATE SET version = excluded.version, ledger_account_id = "+
			"excluded.ledger_account_id, tag_id = excluded.tag_id")
}

func removeRule(ctx context.Context, tx *db.Tx, ruleID string) error {
	if err := removeSplits(ctx, tx, ruleID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM memory_rules WHERE organization_id = @org AND rule_id = ?", ruleID)
	return err
}

func selectLastVersion(ctx context.Context, tx *db.Tx, itemID string) (int64, error) {
	return db.One[int64](ctx, tx, "version",
		"SELECT coalesce(max(version), 0) FROM memory_versions WHERE organization_id = @org AND item_id = ?", itemID)
}

// selectSizes returns the sizes of versions, downward from one.
func selectSizes(ctx context.Context, tx *db.Tx, itemID string, from int64, limit int) ([]int64, error) {
	return db.All[int64](ctx, tx, sizesDown, itemID, from, limit)
}

const sizesDown = "SELECT size FROM memory_versions WHERE organization_id = @org AND item_id = ? AND version <= ? ORDER BY " +
	"version DESC LIMIT ?"

// selectVersions returns versions from one up to another, the newest first.
func selectVersions(ctx context.Context, tx *db.Tx, itemID string, from, to int64) ([]versionRow, error) {
	return db.All[versionRow](ctx, tx, "SELECT "+db.Columns[versionRow]()+
		" FROM memory_versions WHERE organization_id = @org AND item_id = ? AND version >= ? AND version <= ? ORDER BY version DESC",
		itemID, from, to)
}
