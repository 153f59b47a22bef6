/* The gates of recurrent networks. */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/math.h"

INLINE vec some(const float *p, size_t n)
{
	return n >= LANES ? load(p) : load_some(p, n, 0);
}

INLINE void put(float *p, vec v, size_t n)
{
	if (n >= LANES) {
		store(p, v);
	} else {
		store_some(p, v, n);
	}
}

void LEVEL(lstm)(const float *sums, size_t n, float *cell, float *state)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		const vec in = msd_sigmoid(some(sums + i, left));
		const vec out = msd_sigmoid(some(sums + n + i, left));
		const vec forget = msd_sigmoid(some(sums + 2 * n + i, left));
		const vec next = msd_tanh(some(sums + 3 * n + i, left));
		const vec kept = forget * some(cell + i, left) + in * next;

		put(cell + i, kept, left);
		put(state + i, out * msd_tanh(kept), left);
	}
}

void LEVEL(gru)(const float *update, const float *sums, size_t n, float *state)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		const vec u = some(update + i, left);
		const vec next = msd_tanh(some(sums + i, left));

		put(state + i, (all(1) - u) * next + u * some(state + i, left), left);
	}
}
