/* The kernels of tests/gpu/own, as C. */
#include <string.h>

#include "stub.h"

#define TILE 16

static float *floats(const struct work *w, size_t i, int64_t n)
{
	return memory_at(w->params[i].u64, (size_t)n * sizeof(float));
}

/* (out) */
static bool cluster(const struct work *w)
{
	float *out = floats(w, 0, w->grid[0]);

	for (unsigned i = 0; out != NULL && i < w->grid[0]; i++)
		out[i] = (float)(i % w->cluster[0] + 100 * w->cluster[0]);
	return out != NULL;
}

/* (out, n): what the module's variable has when all blocks have added one */
static bool barrier(const struct work *w)
{
	float *out = floats(w, 0, w->grid[0]);
	uint32_t *state = memory_at(w->barrier, sizeof(*state));

	if (out == NULL || state == NULL)
		return false;
	*state += w->grid[0];
	for (unsigned i = 0; i < w->grid[0]; i++)
		out[i] = (float)*state;
	return true;
}

/* (a, out, n) */
static bool first(const struct work *w)
{
	const int64_t n = w->params[2].i64;
	const float *a = floats(w, 0, n);
	float *out = floats(w, 1, n);

	for (int64_t i = 0; a != NULL && out != NULL && i < n; i++)
		out[i] = a[i] + 1.0f;
	return a != NULL && out != NULL;
}

/* (out, n) */
static bool second(const struct work *w)
{
	const int64_t n = w->params[1].i64;
	float *out = floats(w, 0, n);

	for (int64_t i = 0; out != NULL && i < n; i++)
		out[i] *= 2.0f;
	return out != NULL;
}

/* (out, n): as many floats as it has shared memory for */
static bool shared(const struct work *w)
{
	const int64_t n = w->params[1].i64;
	float *out = floats(w, 0, n);

	if (out == NULL || (uint64_t)n * sizeof(float) > w->shared)
		return false;
	for (int64_t i = 0; i < n; i++)
		out[i] = (float)(n - 1 - i);
	return true;
}

/* (map, out, columns): a tile for each block, from where the map says */
static bool tiles(const struct work *w)
{
	const uint64_t row_bytes = w->map[4];
	const int64_t columns = w->params[2].i64;
	const int64_t rows = (int64_t)w->grid[1] * TILE;
	float *out = floats(w, 1, rows * columns);

	if (out == NULL || w->map[5] != TILE || w->map[6] != TILE)
		return false;
	for (int64_t y = 0; y < rows; y++) {
		const float *from = memory_at(w->map[1] + (uint64_t)y * row_bytes,
					      (size_t)columns * sizeof(float));
		if (from == NULL)
			return false;
		memcpy(out + y * columns, from, (size_t)columns * sizeof(float));
	}
	return true;
}

/* (out) */
static bool fails(const struct work *w)
{
	(void)w;
	return false;
}

static const struct kernel kernels[] = {
	{"own_cluster", "p", cluster}, {"own_barrier", "pl", barrier},
	{"own_first", "ppl", first},   {"own_second", "pl", second},
	{"own_shared", "pl", shared},  {"own_tiles", "Tpl", tiles},
	{"own_asserts", "p", fails},   {"own_outside", "p", fails},
};

const struct kernel *own_kernel_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	}
	return NULL;
}
