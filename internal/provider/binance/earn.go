package binance

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

// subscription reads what moves from the wallets into a product of Simple Earn, which is flexible or locked.
func subscription(product string) func(json.RawMessage) ([]intake.Record, error) {
	return func(original json.RawMessage) ([]intake.Record, error) {
		var row struct {
			ID     identifier `json:"purchaseId"`
			Amount amount     `json:"amount"`
			Asset  asset      `json:"asset"`
			Time   instant    `json:"time"`
			Status text       `json:"status"`
		}
		if err := json.Unmarshal(original, &row); err != nil {
			return nil, err
		}
		if err := earnStates.check(string(row.Status)); err != nil {
			return nil, err
		}
		r := intake.Record{ExternalID: product + "-subscription", Timestamp: row.Time.Time,
			Description: "Simple Earn " + product + " subscription", ProviderCategory: product + " subscription"}
		return movement(r, row.ID, leg{suffix: "out", asset: row.Asset, moved: row.Amount, out: true, kind: typeMove},
			leg{suffix: "in", asset: row.Asset, moved: row.Amount, kind: typeMove})
	}
}

// redemption reads what moves from a product of Simple Earn into the wallets. If a locked product is redeemed early, less arrives.
func redemption(product string) func(json.RawMessage) ([]intake.Record, error) {
	return func(original json.RawMessage) ([]intake.Record, error) {
		var row struct {
			ID       identifier `json:"redeemId"`
			Amount   amount     `json:"amount"`
			Original amount     `json:"originalAmount"`
			Asset    asset      `json:"asset"`
			Time     instant    `json:"time"`
			Status   text       `json:"status"`
		}
		if err := json.Unmarshal(original, &row); err != nil {
			return nil, err
		}
		if err := earnStates.check(string(row.Status)); err != nil {
			return nil, err
		}
		if !row.Original.known {
			row.Original = row.Amount
		}
		r := intake.Record{ExternalID: product + "-redemption", Timestamp: row.Time.Time,
			Description: "Simple Earn " + product + " redemption", ProviderCategory: product + " redemption"}
		return movement(r, row.ID, leg{suffix: "out", asset: row.Asset, moved: row.Original, out: true, kind: typeMove},
			leg{suffix: "in", asset: row.Asset, moved: row.Amount, kind: typeMove})
	}
}

var errOtherReward = errors.New("it is a reward of another kind than the one that was asked for")

// realTime reads a reward that was added to a position in a flexible product. The other rewards of Simple Earn are paid into the spot
// wallet and are among the payouts. These rewards have no ids: Binance states one for a product, an asset and a day.
func realTime(original json.RawMessage) ([]intake.Record, error) {
	var row struct {
		Asset   asset      `json:"asset"`
		Amount  amount     `json:"rewards"`
		Project identifier `json:"projectId"`
		Type    text       `json:"type"`
		Time    instant    `json:"time"`
	}
	if err := json.Unmarshal(original, &row); err != nil {
		return nil, err
	}
	if row.Type != kindRealTime {
		return nil, errOtherReward
	}
	if row.Project == "" {
		return nil, errNoID
	}
	r := intake.Record{ExternalID: "realtime-reward", Timestamp: row.Time.Time, Description: "Simple Earn real-time reward",
		ProviderCategory: string(row.Type)}
	at := row.Time.UTC().Format("20060102T150405.000")
	id := strings.Join([]string{string(row.Project), string(row.Asset), at, row.Amount.String()}, ":")
	return movement(r, identifier(id), leg{asset: row.Asset, moved: row.Amount})
}

// kindRealTime is the kind of these rewards.
const kindRealTime = "REALTIME"
