#ifndef MSD_CLI_NPY_H
#define MSD_CLI_NPY_H
/*
 * numpy's .npy files, versions 1 to 3 (NEP 1, numpy/lib/format.py): magic, version, the
 * length of a header that is a Python dict, the header, the elements.
 */
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/dtype.h"

#define MSD_NPY_HEADER_MAX (64u * 1024u) /* bytes; numpy's own are below 200 */

/* The header: what stands in the dict. */
struct msd_npy_header {
	char kind;           /* of descr: b i u f c V */
	bool is_big_endian;  /* of elements that have an order */
	uint32_t size_bytes; /* of an element */
	bool is_fortran;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
};

struct msd_npy {
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
	const uint8_t *data; /* row-major, little-endian; borrowed from the file or */
	uint8_t *converted;  /* owned: made of a Fortran order or big-endian file */
	uint64_t bytes;
};

/** Read the dict @text. Errors: MSD_BAD_REQUEST, MSD_UNSUPPORTED for element types that
 * are not numbers. */
MSD_MUST_CHECK msd_err msd_npy_header_read(struct msd_span text,
					   struct msd_npy_header *ret,
					   struct msd_diag *d);
/**
 * Read @file (borrowed while @ret is used). @as: take the elements as this type of the
 * same size, or one of less than 8 bits of integers of a byte; NULL: as what the file
 * says, which must not be void.
 * End with msd_npy_finish(). Errors: MSD_BAD_REQUEST (not .npy, cut, more behind the
 * end, sizes that differ), MSD_UNSUPPORTED (object, structured, ...), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_npy_read(struct msd_span file, const struct msd_dtype *as,
				    struct msd_npy *ret, struct msd_diag *d);
void msd_npy_finish(struct msd_npy *npy); /* NULL is fine */

/**
 * Append everything that stands before the elements. A type that .npy cannot name is
 * written as void of its size; one that does not fill bytes as a row of @bytes uint8.
 */
void msd_npy_put_header(struct msd_buf *out, struct msd_dtype dtype,
			const int64_t *shape, uint32_t ndim, uint64_t bytes);

#endif
