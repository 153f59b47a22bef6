/* The gates of recurrent networks. */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/math.h"

/* A vector is whole or not for all of a step: the compiler fuses products and sums
 * alike on each level only if no branch parts them. */
INLINE vec some(const float *p, const bool is_whole, size_t n)
{
	return is_whole ? load(p) : load_some(p, n, 0);
}

INLINE void put(float *p, vec v, const bool is_whole, size_t n)
{
	if (is_whole) {
		store(p, v);
	} else {
		store_some(p, v, n);
	}
}

INLINE void step_lstm(const float *sums, size_t n, const bool is_whole, size_t left,
		      float *cell, float *state)
{
	const vec in = msd_sigmoid(some(sums, is_whole, left));
	const vec out = msd_sigmoid(some(sums + n, is_whole, left));
	const vec forget = msd_sigmoid(some(sums + 2 * n, is_whole, left));
	const vec next = msd_tanh(some(sums + 3 * n, is_whole, left));
	const vec kept = msd_fused(forget, some(cell, is_whole, left), in * next);

	put(cell, kept, is_whole, left);
	put(state, out * msd_tanh(kept), is_whole, left);
}

void LEVEL(lstm)(const float *sums, size_t n, float *cell, float *state)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		step_lstm(sums + i, n, true, LANES, cell + i, state + i);
	if (i < n)
		step_lstm(sums + i, n, false, n - i, cell + i, state + i);
}

INLINE void step_gru(const float *update, const float *sums, const bool is_whole,
		     size_t left, float *state)
{
	const vec u = some(update, is_whole, left);
	const vec next = msd_tanh(some(sums, is_whole, left));
	const vec rest = (all(1) - u) * next;

	put(state, msd_fused(u, some(state, is_whole, left), rest), is_whole, left);
}

void LEVEL(gru)(const float *update, const float *sums, size_t n, float *state)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		step_gru(update + i, sums + i, true, LANES, state + i);
	if (i < n)
		step_gru(update + i, sums + i, false, n - i, state + i);
}
