// How many bytes an order asks of HBM. Two counts, never mixed:
//   tile loads   every byte the order asks for if nothing were cached (FlashAttention, section 3.2; K and V again
//                for each query tile)
//   compulsory   each element once
// LSE is in every count of every order. One rule a phase (event_traffic) gives both a recording's counters and the
// prediction for a whole problem (tile_loads), so the two cannot disagree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/model/options.h"
#include "kernels/model/order.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/traffic_parts.h"

namespace attn {

struct KernelRow;

// S and P go to HBM and come back: orders that walk in passes and have no rescaling.
bool stores_scores(Order order);

// S is fp32, P and the rest the problem's dtype, statistics fp32; `e` below is the dtype's size.
//
// What one event asks of HBM. `rows` x `cols` are the event's query rows and keys (the ragged extent of its tile,
// 0 where the phase has none); `pass` as in Event.
//   load_q       rows * D * e
//   load_k       cols * D * e         naive: at i = 0 alone, since each pass reads its operands once
//   load_v       cols * Dv * e, and the P tile, rows * cols * e; naive: V at i = 0 alone
//   load_kv      cols * (D + Dv) * e
//   load_state   Q_i, and in fp32 O_i, m_i, l_i
//   mask         the bias tile in fp32, an axis that it repeats over counted once; nothing without a bias
//   store_s      rows * cols * 4
//   max, weights, sum   orders that store S read it here: by max if score_reads >= 1, by weights if >= 2, by sum if
//                       >= 3; weights also writes P
//   store_state  in fp32 O_i, m_i, l_i
//   store_o      O in the dtype, LSE
//   skipped      flash, flash-1: nothing. Orders that store S store and read all of S and P (by `pass`); of the
//                operands only naive asks, and as if the tile were not skipped: its total does not depend on the mask
//   others       nothing, but for an order's own phases: what its row says
// load_q stands once a query tile in naive (pass 0) and flash, even where every tile of it is skipped; once a key
// tile that is not skipped in tiled (with load_k).
Traffic event_traffic(Order order, const Problem& p, Phase phase, std::int32_t pass, std::int64_t i, std::int64_t rows,
                      std::int64_t cols, std::int32_t score_reads);

// Adds an event's bytes, read and written, to a recording's running counters.
void add_traffic(const Traffic& event, std::array<std::uint64_t, kTrafficParts>& counters);

// Tile loads of the whole problem: the sum of event_traffic over the walk of the kernel's order. `o` is resolved;
// a tile extent of 0 stands for one query row or all keys. Tiles that the mask skips ask for nothing, orders that
// store S store all of it.
Traffic tile_loads(const KernelRow& row, const Problem& p, const Options& o);
// The same from the order and how often it reads S back.
Traffic tile_loads(Order order, std::int32_t score_reads, const Problem& p, const Options& o);

// What the problem's pass must read and write once (compulsory_costs), a gradient with what it is of; orders that
// store S also write and read S and P once.
Traffic compulsory(const KernelRow& row, const Problem& p);
Traffic compulsory(Order order, const Problem& p);

// Bytes of the tiles that are on chip at once, by part. Flash orders hold everything at once (P takes the place of
// S); orders that store S hold what their largest pass needs: Q, K, S or S, m, l or P, V, O.
OnChip on_chip_bytes(Order order, const Problem& p, const Options& o);
// Of each pass of the order.
std::vector<OnChip> on_chip_of_passes(Order order, const Problem& p, const Options& o);

}  // namespace attn
