/*
 * Reading, happy path: magic and version, the dict (npy_header.c), the dtype of the
 * file or of the caller, a matching length. Elements that are already in order are
 * borrowed from the file. Otherwise they are copied, with bytes swapped and columns
 * converted to rows. Writing: only the header; the data follow unchanged.
 */
#include "client/cli/values/npy.h"

#include <stdlib.h>
#include <string.h>

#include "client/cli/values/number.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6u
#define HEAD_ALIGN 64u /* numpy pads the header to a multiple of this */

/* The dtype of the header's kind and size; false for void and unknown types. */
static bool native_dtype(const struct msd_npy_header *h, struct msd_dtype *ret)
{
	static const struct {
		char kind;
		uint8_t code;
		uint8_t min, max; /* element sizes in bytes */
	} rows[] = {{'b', MSD_DT_BOOL, 1, 1},
		    {'i', MSD_DT_INT, 1, 8},
		    {'u', MSD_DT_UINT, 1, 8},
		    {'f', MSD_DT_FLOAT, 2, 8},
		    {'c', MSD_DT_COMPLEX, 8, 16}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].kind == h->kind && h->size_bytes >= rows[i].min &&
		    h->size_bytes <= rows[i].max &&
		    (h->size_bytes & (h->size_bytes - 1)) == 0) {
			*ret = (struct msd_dtype){rows[i].code,
						  (uint8_t)(8 * h->size_bytes), 1};
			return true;
		}
	}
	return false;
}

/* True if each element takes a byte, although the type has fewer bits. */
static bool is_packed(const struct msd_npy_header *h, struct msd_dtype t)
{
	return t.lanes == 1 && t.bits > 0 && t.bits < 8 && h->size_bytes == 1 &&
	       (h->kind == 'i' || h->kind == 'u' || h->kind == 'b');
}

static msd_err choose_dtype(const struct msd_npy_header *h, const struct msd_dtype *as,
			    struct msd_dtype *ret, struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];
	uint64_t bits;

	if (as == NULL) {
		if (native_dtype(h, ret))
			return MSD_OK;
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"the element type %c%u is ambiguous; name it: @FILE:bfloat16",
			h->kind, h->size_bytes);
	}
	bits = (uint64_t)as->bits * as->lanes;
	if (is_packed(h, *as)) {
		*ret = *as;
		return MSD_OK;
	}
	if (bits != 8ull * h->size_bytes) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "elements of %u bytes cannot be read as %s of %llu "
				    "bits: the sizes differ",
				    h->size_bytes, msd_dtype_format(*as, name),
				    (unsigned long long)bits);
	}
	*ret = *as;
	return MSD_OK;
}

/* Bytes of the unit that has a byte order; for a complex number it is each half. */
static uint32_t word_bytes(const struct msd_npy_header *h)
{
	if (h->kind == 'c')
		return h->size_bytes / 2;
	return h->kind == 'V' ? 1 : h->size_bytes;
}

static void copy_swapped(uint8_t *to, const uint8_t *from, uint32_t n, uint32_t word)
{
	for (uint32_t at = 0; at < n; at += word) {
		for (uint32_t i = 0; i < word; i++)
			to[at + i] = from[at + word - 1 - i];
	}
}

/* Write the elements of @from to @to, row-major and little-endian. */
static void convert(const struct msd_npy_header *h, const uint8_t *from, uint8_t *to,
		    uint64_t n)
{
	uint64_t stride[MSD_MAX_NDIM]; /* in elements of the file */
	int64_t index[MSD_MAX_NDIM] = {0};
	uint32_t word = h->is_big_endian ? word_bytes(h) : 1;
	uint64_t step = 1;
	uint64_t at = 0;

	for (uint32_t i = 0; i < h->ndim; i++) {
		uint32_t dim = h->is_fortran ? i : h->ndim - 1 - i;

		stride[dim] = step;
		step *= (uint64_t)h->shape[dim];
	}
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *element = from + at * h->size_bytes;

		if (word > 1) {
			copy_swapped(to, element, h->size_bytes, word);
		} else {
			memcpy(to, element, h->size_bytes);
		}
		to += h->size_bytes;
		for (uint32_t dim = h->ndim; dim-- > 0;) {
			at += stride[dim];
			if (++index[dim] < h->shape[dim])
				break;
			at -= stride[dim] * (uint64_t)h->shape[dim];
			index[dim] = 0;
		}
	}
}

static msd_err read_head(struct msd_cur *c, struct msd_npy_header *h,
			 struct msd_diag *d)
{
	const uint8_t *magic = msd_cur_read(c, MAGIC_BYTES);

	if (magic == NULL || memcmp(magic, MAGIC, MAGIC_BYTES) != 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "not a .npy file: wrong magic");
	uint8_t major = msd_cur_u8(c);
	uint8_t minor = msd_cur_u8(c);
	if (c->bad || major < 1 || major > 3 || minor != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    ".npy version %u.%u; expected 1.0 to 3.0", major,
				    minor);
	}
	uint32_t n = major == 1 ? msd_cur_u16(c) : msd_cur_u32(c);
	if (n > MSD_NPY_HEADER_MAX) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "a .npy header of %u bytes, at most %u", n,
				    MSD_NPY_HEADER_MAX);
	}
	struct msd_span text = {msd_cur_read(c, n), n};
	if (c->bad) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "not a .npy file: it ends in its header");
	}
	return msd_npy_header_read(text, h, d);
}

static msd_err check_length(const struct msd_npy_header *h, size_t left,
			    uint64_t *ret_elements, uint64_t *ret_bytes,
			    struct msd_diag *d)
{
	uint64_t bytes;

	if (!msd_shape_elements(h->shape, h->ndim, ret_elements) ||
	    __builtin_mul_overflow(*ret_elements, h->size_bytes, &bytes))
		return msd_diag_set(d, MSD_BAD_REQUEST, "its shape is too large");
	if (bytes != left) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"it has %zu bytes of elements, but its shape needs %llu", left,
			(unsigned long long)bytes);
	}
	*ret_bytes = bytes;
	return MSD_OK;
}

/* True if @v, an element of @h, is in the range of @t; for a type that is not an
 * integer, @v holds the bits. */
static bool has_value(const struct msd_npy_header *h, struct msd_dtype t, uint8_t v)
{
	const int value = h->kind == 'i' ? (int8_t)v : (int)v;
	const int n = 1 << (t.code == MSD_DT_INT ? t.bits - 1 : t.bits);

	return value < n && value >= (t.code == MSD_DT_INT ? -n : 0);
}

/* Pack elements of a byte each, as the protocol requires. */
static msd_err pack(const struct msd_npy_header *h, uint64_t n, struct msd_npy *npy,
		    struct msd_diag *d)
{
	const unsigned bits = npy->dtype.bits;
	uint8_t *packed = calloc((size_t)(n / 8 + 1), bits);
	char name[MSD_DTYPE_NAME_MAX];

	if (packed == NULL)
		return msd_diag_set(d, MSD_NOMEM, "no memory to convert it");
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t v = npy->data[i];

		if (!has_value(h, npy->dtype, v)) {
			free(packed);
			return msd_diag_set(d, MSD_BAD_REQUEST, "%d is not a %s",
					    h->kind == 'i' ? (int8_t)v : (int)v,
					    msd_dtype_format(npy->dtype, name));
		}
		msd_number_put_bits(packed, i * bits, bits, v);
	}
	free(npy->converted);
	npy->data = npy->converted = packed;
	npy->bytes = (n * bits + 7) / 8;
	return MSD_OK;
}

msd_err msd_npy_read(struct msd_span file, const struct msd_dtype *as,
		     struct msd_npy *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(file);
	struct msd_npy_header h;
	struct msd_npy npy = {0};
	uint64_t n;
	msd_err err = read_head(&c, &h, d);

	if (err == MSD_OK)
		err = choose_dtype(&h, as, &npy.dtype, d);
	if (err == MSD_OK)
		err = check_length(&h, c.left, &n, &npy.bytes, d);
	if (err != MSD_OK)
		return err;
	npy.ndim = h.ndim;
	memcpy(npy.shape, h.shape, sizeof(npy.shape));
	npy.data = c.p;
	if ((h.is_fortran && h.ndim > 1) || (h.is_big_endian && word_bytes(&h) > 1)) {
		npy.converted = malloc((size_t)npy.bytes + 1);
		if (npy.converted == NULL)
			return msd_diag_set(d, MSD_NOMEM, "no memory to convert it");
		convert(&h, c.p, npy.converted, n);
		npy.data = npy.converted;
	}
	if (as != NULL && is_packed(&h, *as)) {
		err = pack(&h, n, &npy, d);
		if (err != MSD_OK) {
			msd_npy_finish(&npy);
			return err;
		}
	}
	*ret = npy;
	return MSD_OK;
}

void msd_npy_finish(struct msd_npy *npy)
{
	if (npy != NULL)
		free(npy->converted);
}

/* numpy's letter for @t, or 0. */
static char letter_of(struct msd_dtype t)
{
	if (t.lanes != 1 || t.bits < 8 || (t.bits & (t.bits - 1u)) != 0)
		return 0;
	switch (t.code) {
	case MSD_DT_BOOL:
		return t.bits == 8 ? 'b' : 0;
	case MSD_DT_INT:
		return t.bits <= 64 ? 'i' : 0;
	case MSD_DT_UINT:
		return t.bits <= 64 ? 'u' : 0;
	case MSD_DT_FLOAT:
		return t.bits >= 16 && t.bits <= 64 ? 'f' : 0;
	case MSD_DT_COMPLEX:
		return t.bits >= 64 ? 'c' : 0;
	default:
		return 0;
	}
}

static void put_dict(struct msd_buf *out, struct msd_dtype t, const int64_t *shape,
		     uint32_t ndim)
{
	char letter = letter_of(t);
	unsigned size = (unsigned)t.bits * t.lanes / 8;

	if (letter != 0) {
		msd_buf_printf(out, "{'descr': '%c%c%u'", size == 1 ? '|' : '<', letter,
			       size);
	} else {
		msd_buf_printf(out, "{'descr': '|V%u'", size);
	}
	msd_buf_printf(out, ", 'fortran_order': False, 'shape': (");
	for (uint32_t i = 0; i < ndim; i++) {
		msd_buf_printf(out, "%lld%s", (long long)shape[i],
			       ndim == 1      ? ","
			       : i + 1 < ndim ? ", "
					      : "");
	}
	msd_buf_printf(out, "), }");
}

void msd_npy_put_header(struct msd_buf *out, struct msd_dtype dtype,
			const int64_t *shape, uint32_t ndim, uint64_t bytes)
{
	int64_t row = (int64_t)bytes;
	size_t start = out->n;

	msd_buf_put(out, MAGIC "\x01\x00\x00\x00", MAGIC_BYTES + 4);
	size_t text = out->n;
	if ((unsigned)dtype.bits * dtype.lanes % 8 == 0) {
		put_dict(out, dtype, shape, ndim);
	} else {
		put_dict(out, (struct msd_dtype){MSD_DT_UINT, 8, 1}, &row, 1);
	}
	while ((out->n - start + 1) % HEAD_ALIGN != 0 && !out->bad)
		msd_buf_put_u8(out, ' ');
	msd_buf_put_u8(out, '\n');
	if (!out->bad)
		msd_put_le16(out->p + text - 2, (uint16_t)(out->n - text));
}
