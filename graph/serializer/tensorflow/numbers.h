#ifndef MSD_TENSORFLOW_NUMBERS_H
#define MSD_TENSORFLOW_NUMBERS_H
/* Integers that are known while a model is read, and operations on them. A number may
 * be TF_UNKNOWN, as all that follow from it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/serializer/tensorflow/load.h"
#include "proto/base/err.h"

/* Numbers of a scalar or of one dimension. */
struct tf_numbers {
	size_t n;
	bool is_vector;
	int64_t v[TF_MAX_INTS];
};

enum tf_operation {
	TF_ADD,
	TF_SUB,
	TF_MUL,
	TF_FLOOR_DIV,
	TF_FLOOR_MOD,
	TF_MAX,
	TF_MIN,
	TF_LESS,
	TF_LESS_EQUAL,
	TF_GREATER,
	TF_GREATER_EQUAL,
	TF_EQUAL,
	TF_NOT_EQUAL,
	TF_AND,
	TF_OR,
};

/**
 * Combine the numbers of @a and @b in pairs; a single number goes with all of the other
 * list. False: their counts differ, or a result has no int64.
 */
MSD_MUST_CHECK bool tf_numbers_combine(enum tf_operation op, const struct tf_numbers *a,
				       const struct tf_numbers *b,
				       struct tf_numbers *ret);
/** Combine all numbers of @in, which has some, to one. False: a result has no int64. */
MSD_MUST_CHECK bool tf_numbers_reduce(enum tf_operation op, const struct tf_numbers *in,
				      int64_t *ret);
struct tf_stride;
/** Append the numbers of @in that @s chooses to @ret. */
void tf_numbers_slice(const struct tf_numbers *in, const struct tf_stride *s,
		      struct tf_numbers *ret);

#endif
