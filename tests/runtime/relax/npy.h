#ifndef MSD_TEST_NPY_H
#define MSD_TEST_NPY_H
/* Arrays of numpy files: .npy alone or inside a stored (not compressed) .npz. */
#include "proto/base/bytes.h"
#include "runtime/value/dltensor.h"

struct msd_tensor;

/** A whole file; empty when it cannot be read. The caller owns the buffer. */
struct msd_buf file_read(const char *path);
/** Tensor of a .npy's bytes, or NULL: C order and simple dtypes alone. One reference.
 */
struct msd_tensor *npy_read(struct msd_span file);
/** The member @name (without ".npy") of a .npz; empty when there is none. */
struct msd_span npz_find(struct msd_span file, const char *name);
/** Write @t as version 1.0; false when the file cannot be written. */
bool npy_write(const char *path, const struct msd_dltensor *t);

#endif
