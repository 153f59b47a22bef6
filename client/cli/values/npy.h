#ifndef MSD_CLI_NPY_H
#define MSD_CLI_NPY_H
/*
 * numpy's .npy files, versions 1 to 3 (NEP 1, numpy/lib/format.py): magic, version, the
 * length of a header that is a Python dict, the header, the elements.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_NPY_HEADER_MAX (64u * 1024u) /* bytes; numpy writes less than 200 */

/* Parsed dict of the header. */
struct msd_npy_header {
	char kind;           /* of descr: b i u f c V */
	bool is_big_endian;  /* for elements with a byte order */
	uint32_t size_bytes; /* of an element */
	bool is_fortran;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
};

struct msd_npy {
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
	const uint8_t *data; /* row-major, little-endian; borrowed from file or below */
	uint8_t *converted;  /* owned: from a Fortran-order or big-endian file */
	uint64_t bytes;
};

/**
 * Parse the dict @text. Errors: MSD_BAD_REQUEST, MSD_UNSUPPORTED for elements that
 * are not numbers.
 */
MSD_MUST_CHECK msd_err msd_npy_header_read(struct msd_span text,
					   struct msd_npy_header *ret,
					   struct msd_diag *d);
/**
 * Read @file (borrowed while @ret is used). @as: read the elements as this type of
 * the same size, or as a type of less than 8 bits if they are byte integers; NULL:
 * use the file's type, which must not be void. End with msd_npy_finish(). Errors:
 * MSD_BAD_REQUEST (not .npy, truncated, extra bytes, sizes that differ),
 * MSD_UNSUPPORTED (object, structured, ...), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_npy_read(struct msd_span file, const struct msd_dtype *as,
				    struct msd_npy *ret, struct msd_diag *d);
void msd_npy_finish(struct msd_npy *npy); /* NULL is fine */

/**
 * Append everything that precedes the elements. A type that .npy cannot name is
 * written as void of its size; a type that does not fill bytes as a row of @bytes
 * uint8.
 */
void msd_npy_put_header(struct msd_buf *out, struct msd_dtype dtype,
			const int64_t *shape, uint32_t ndim, uint64_t bytes);

#endif
