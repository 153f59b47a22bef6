#ifndef MSD_TESTS_RUNTIME_SUPPORT_H
#define MSD_TESTS_RUNTIME_SUPPORT_H
/* Loading libraries and arrays for the tests of runtime/. Failures abort the test. */
#include "proto/base/diag.h"
#include "runtime/value/value.h"

/* One loaded library with the bytes it needs. */
struct lib {
	int fd;
	struct msd_span file;
	struct msd_loaded *loaded;
	struct msd_diag d; /* of the last operation */
};

/** Load; the result is the load's, lib->loaded is NULL unless MSD_OK. */
msd_err lib_open(struct lib *lib, const char *path, bool probe);
/** Load with probing, fail the test when that does not work. */
void lib_must_open(struct lib *lib, const char *path);
void lib_close(struct lib *lib);
/** Find and call; the code of whichever failed, its text in lib->d. Drops nothing. */
msd_err lib_call(struct lib *lib, const char *name, struct msd_any *args, size_t n,
		 struct msd_any *ret);
/** Signature text of a function, "" when unknown. */
const char *lib_signature(struct lib *lib, const char *name);

/** "<fixtures>/<name>", or NULL after a line that names what is skipped. Static buffer.
 */
const char *fixture_path(const char *name);

/** A tensor from a .npy file, or from the member @key of a .npz file of stored arrays.
 */
struct msd_tensor *npy_read_file(const char *path);
struct msd_tensor *npz_read(const char *path, const char *key);
/** Zeroed tensor of the same dtype and shape. */
struct msd_tensor *tensor_like(const struct msd_tensor *t);
/** A float32 tensor of rank 1 that counts 0, 1, 2, ... */
struct msd_tensor *tensor_counting(int64_t n);

#endif
