#include "graph/serializer/build/blocks.h"

#include <stdio.h>

bool msd_blocks_check(const struct msd_blocks *b, char why[static MSD_BLOCKS_FAULT])
{
	if (b->n_edges != 2 * b->n || b->n + 1 > b->ndim ||
	    b->ndim + MSD_MAX_BLOCKS > MODSER_GRAPH_MAX_NDIM) {
		(void)snprintf(why, MSD_BLOCKS_FAULT, "%zu blocks of %zu dimensions",
			       b->n, b->ndim);
		return false;
	}
	for (size_t i = 0; i < b->ndim; i++) {
		if (b->dims[i] < (i > 0 ? 1 : -1)) {
			(void)snprintf(why, MSD_BLOCKS_FAULT,
				       "extent %zu of its input is open", i);
			return false;
		}
	}
	for (size_t i = 0; i < b->n; i++) {
		if (b->size[i] < 1 || b->size[i] > INT16_MAX || b->edge[2 * i] < 0 ||
		    b->edge[2 * i + 1] < 0 || b->edge[2 * i] > INT32_MAX ||
		    b->edge[2 * i + 1] > INT32_MAX) {
			(void)snprintf(why, MSD_BLOCKS_FAULT, "block %zu has size %d",
				       i, (int)b->size[i]);
			return false;
		}
	}
	return true;
}

/* The axes behind the blocks stay, from the place @n of the first reshape on. */
static void keep_others(const struct msd_blocks *b, size_t n,
			struct msd_blocks_moves *ret)
{
	for (size_t i = b->n + 1; i < b->ndim; i++, n++) {
		ret->parted[n] = b->dims[i];
		ret->dims[i] = b->dims[i];
		ret->perm[n] = (int64_t)n;
	}
	ret->n = n;
}

void msd_blocks_to_batch(const struct msd_blocks *b, struct msd_blocks_moves *ret)
{
	size_t n = 1;

	*ret = (struct msd_blocks_moves){.parted = {-1}, .dims = {-1}};
	for (size_t i = 0; i < b->n; i++) {
		int64_t *pads = ret->pads + 1 + i;

		pads[0] = b->edge[2 * i];
		pads[b->ndim] = b->edge[2 * i + 1];
		ret->dims[1 + i] =
			(b->dims[1 + i] + pads[0] + pads[b->ndim]) / b->size[i];
		ret->parted[n] = ret->dims[1 + i];
		ret->parted[n + 1] = b->size[i];
		ret->perm[i] = (int64_t)n + 1;
		ret->perm[b->n + 1 + i] = (int64_t)n;
		n += 2;
	}
	keep_others(b, n, ret);
}

void msd_blocks_to_space(const struct msd_blocks *b, struct msd_blocks_moves *ret)
{
	size_t n = b->n;

	*ret = (struct msd_blocks_moves){.dims = {-1}};
	ret->parted[n++] = -1;
	ret->perm[0] = (int64_t)b->n;
	for (size_t i = 0; i < b->n; i++, n++) {
		ret->parted[i] = b->size[i];
		ret->parted[n] = b->dims[1 + i];
		ret->perm[1 + 2 * i] = (int64_t)n;
		ret->perm[2 + 2 * i] = (int64_t)i;
		ret->dims[1 + i] = b->dims[1 + i] * b->size[i];
		ret->begin[i] = b->edge[2 * i];
		ret->end[i] = ret->dims[1 + i] - b->edge[2 * i + 1];
		ret->axis[i] = (int64_t)i + 1;
		ret->step[i] = 1;
	}
	keep_others(b, n, ret);
}
