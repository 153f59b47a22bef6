#ifndef MSD_STORE_VECTOR_H
#define MSD_STORE_VECTOR_H
/*
 * The tests of a manifest, which a module must pass before it serves.
 *
 *   {"function": "main", "inputs": [T, ...], "outputs": [T, ...],
 *    "rtol": 1e-5, "atol": 1e-8}
 *   T: {"dtype": "float32", "shape": [1, 10], "data": [0.5, ...]}
 *      or, for any dtype, "base64" in place of "data": the bytes, row-major and
 *      little-endian
 */
#include <jansson.h>

#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_VECTORS 64u
#define MSD_VECTOR_TENSORS 64u          /* inputs, and outputs, of one test */
#define MSD_VECTOR_BYTES (512u * 1024u) /* maximum size of all tensors together */
#define MSD_VECTOR_FUNCTION 256u        /* maximum size of a function name */

struct msd_vector_tensor {
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
	uint8_t *data; /* owned; NULL if there are no bytes */
	uint64_t bytes;
};

struct msd_vector {
	char function[MSD_VECTOR_FUNCTION];
	struct msd_vector_tensor *inputs, *outputs; /* owned */
	uint32_t n_inputs, n_outputs;
	double rtol, atol;
};

struct msd_vectors {
	struct msd_vector *at; /* owned */
	uint32_t n;
	uint64_t bytes; /* total size of the tensors */
};

/**
 * Parse a manifest's "tests"; NULL: there are none. Finish in every case. Errors:
 * MSD_BAD_ARTIFACT, MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_vectors_read(const json_t *tests, struct msd_vectors *ret,
					struct msd_diag *d);
void msd_vectors_finish(struct msd_vectors *v);

#endif
