#ifndef MSD_RUNTIME_KV_INTS_H
#define MSD_RUNTIME_KV_INTS_H
/* Lists of int32, which become the index tensors that attention kernels read. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct msd_tensor;

struct msd_ints {
	int32_t *v;
	size_t n;
	size_t cap;
};

/** Make room for @more further elements; false if memory is short. */
MSD_MUST_CHECK bool msd_ints_reserve(struct msd_ints *a, size_t more);
MSD_MUST_CHECK bool msd_ints_push(struct msd_ints *a, int32_t v);
MSD_MUST_CHECK bool msd_ints_append(struct msd_ints *a, const struct msd_ints *more);
void msd_ints_finish(struct msd_ints *a);
/** The last element, 0 of an empty list. */
int32_t msd_ints_last(const struct msd_ints *a);
/** An int32 tensor of @rows rows with the elements of @a; NULL: memory is short. */
struct msd_tensor *msd_ints_tensor(const struct msd_ints *a, int64_t rows);

#endif
