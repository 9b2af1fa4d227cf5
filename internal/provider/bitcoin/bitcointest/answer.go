package bitcointest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	pageSize   = 25
	blocksSize = 10
)

// Answer answers a request.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, _ []byte) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case s.Revoked():
		refuse(w, http.StatusUnauthorized, "Unauthorized")
	case r.Method != http.MethodGet || r.URL.RawQuery != "":
		refuse(w, http.StatusNotFound, "endpoint does not exist")
	case len(parts) == 1 && parts[0] == "blocks":
		s.answerBlocks(w)
	case len(parts) == 2 && parts[0] == "block-height":
		height, err := strconv.Atoi(parts[1])
		switch {
		case err != nil:
			refuse(w, http.StatusBadRequest, "Invalid number")
		case height < 0 || height >= len(s.blocks):
			refuse(w, http.StatusNotFound, "Block not found")
		default:
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, s.blocks[height].id) // an error means that the connector has hung up
		}
	case len(parts) < 2 || parts[0] != "address":
		refuse(w, http.StatusNotFound, "endpoint does not exist")
	case len(parts[1]) < 26:
		refuse(w, http.StatusBadRequest, "Invalid Bitcoin address")
	case len(parts) == 2:
		s.answerStats(w, parts[1])
	case len(parts) == 4 && parts[2] == "txs" && parts[3] == "chain":
		s.answerHistory(w, parts[1], "")
	case len(parts) == 5 && parts[2] == "txs" && parts[3] == "chain":
		s.answerHistory(w, parts[1], parts[4])
	default:
		refuse(w, http.StatusNotFound, "endpoint does not exist")
	}
}

// refuse answers with an error as Esplora does: as text.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, message) // an error means that the connector has hung up
}

func answer(w http.ResponseWriter, with any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(with); err != nil {
		panic(err)
	}
}

// row is an object of an answer.
type row = map[string]any

// answerBlocks answers with the newest blocks.
func (s *Server) answerBlocks(w http.ResponseWriter) {
	out := []row{}
	for height := len(s.blocks) - 1; height >= 0 && len(out) < blocksSize; height-- {
		b := s.blocks[height]
		out = append(out, row{"id": b.id, "height": height, "version": 536870912, "timestamp": b.at.Unix(), "tx_count": len(b.txs),
			"size": 1, "weight": 4, "merkle_root": b.id, "mediantime": b.at.Unix()})
	}
	answer(w, out)
}

// answerStats answers with the sums of an address.
func (s *Server) answerStats(w http.ResponseWriter, address string) {
	var count, funded, fundedSum, spent, spentSum int64
	for _, b := range s.blocks {
		for _, t := range b.txs {
			if s.touches(t, address) {
				count++
			}
			for _, c := range t.Out {
				if c.Address == address {
					funded, fundedSum = funded+1, fundedSum+c.Value
				}
			}
			for _, at := range t.Spends {
				if c := s.coins[at]; c.Address == address {
					spent, spentSum = spent+1, spentSum+c.Value
				}
			}
		}
	}
	answer(w, row{"address": address, "mempool_stats": row{"tx_count": 0, "funded_txo_count": 0, "funded_txo_sum": 0, "spent_txo_count": 0,
		"spent_txo_sum": 0}, "chain_stats": row{"tx_count": count, "funded_txo_count": funded, "funded_txo_sum": fundedSum,
		"spent_txo_count": spent, "spent_txo_sum": spentSum}})
}

// answerHistory answers with the transactions of an address, the newest blocks first, those of a block by their ids.
func (s *Server) answerHistory(w http.ResponseWriter, address, last string) {
	out, seen := []row{}, last == ""
	for height := len(s.blocks) - 1; height >= 0; height-- {
		b := s.blocks[height]
		txs := slices.Clone(b.txs)
		slices.SortFunc(txs, func(x, y Tx) int { return strings.Compare(y.id, x.id) })
		for _, t := range txs {
			if !s.touches(t, address) {
				continue
			}
			if seen && len(out) < pageSize {
				out = append(out, s.show(t, b, height))
			}
			seen = seen || t.id == last
		}
	}
	answer(w, out)
}

// show returns a transaction as Esplora does.
func (s *Server) show(t Tx, b block, height int) row {
	in, out, fee := []row{}, []row{}, int64(0)
	add := func(id string, n int, c Coin) {
		fee += c.Value
		in = append(in, row{"txid": id, "vout": n, "prevout": coin(c), "scriptsig": "", "scriptsig_asm": "", "is_coinbase": false,
			"sequence": 4294967293})
	}
	for _, at := range t.Spends {
		add(at.ID, at.N, s.coins[at])
	}
	for n, c := range t.Foreign {
		add(strings.Repeat("f", 64), n, c)
	}
	for _, c := range t.Out {
		fee -= c.Value
		out = append(out, coin(c))
	}
	if t.Coinbase {
		fee = 0
		in = append(in, row{"txid": strings.Repeat("0", 64), "vout": 4294967295, "prevout": nil, "scriptsig": "03", "scriptsig_asm": "",
			"is_coinbase": true, "sequence": 4294967295})
	}
	return row{"txid": t.id, "version": 2, "locktime": 0, "vin": in, "vout": out, "size": 222, "weight": 561, "fee": fee,
		"status": row{"confirmed": true, "block_height": height, "block_hash": b.id, "block_time": b.at.Unix()}}
}

func coin(c Coin) row {
	return row{"scriptpubkey": c.Script, "scriptpubkey_asm": "", "scriptpubkey_type": "v0_p2wpkh", "scriptpubkey_address": c.Address,
		"value": c.Value}
}
