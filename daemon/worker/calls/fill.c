/*
 * tensor.fill: set every element of a resident tensor to one number.
 *
 * Happy path: the number is encoded once in the tensor's element type, where it must
 * fit. It is repeated in a chunk, and the chunk is copied until the tensor is full.
 * Failures name the number, the type and its range, before an element is changed.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/calls/call.h"
#include "daemon/worker/handlers.h"
#include "proto/base/half.h"
#include "runtime/device/device.h"

#define MAX_ELEMENT_BYTES 64u
#define RANGE_MAX 96                  /* bytes of a range text */
#define CHUNK_BYTES ((size_t)1 << 20) /* host buffer, copied repeatedly */

/* True for an integer type that supports values other than 0. */
static bool is_int(struct msd_dtype t)
{
	const bool has_code =
		t.code == MSD_DT_INT || t.code == MSD_DT_UINT || t.code == MSD_DT_BOOL;

	return has_code && (t.bits == 1 || (t.bits % 8 == 0 && t.bits <= 64));
}

/* Format the integers that a tensor of @t can hold: "integers from -128 to 127". */
static void int_range(struct msd_dtype t, char out[static RANGE_MAX])
{
	const bool is_bool =
		t.code == MSD_DT_BOOL || (t.code == MSD_DT_UINT && t.bits == 1);
	const uint64_t top = is_bool ? 1
			     : t.code == MSD_DT_UINT
				     ? UINT64_MAX >> (64 - t.bits)
				     : (uint64_t)INT64_MAX >> (64 - t.bits);
	const int64_t least = t.code == MSD_DT_INT ? -(int64_t)top - 1 : 0;

	(void)snprintf(out, RANGE_MAX, "integers from %" PRId64 " to %" PRIu64, least,
		       top);
}

/* Format the values that a tensor of @t can be filled with. */
static void range_of(struct msd_dtype t, char out[static RANGE_MAX])
{
	const bool is_float = t.code == MSD_DT_FLOAT || t.code == MSD_DT_BFLOAT;
	const char *most = t.code == MSD_DT_BFLOAT ? "3.3895314e38"
			   : t.bits == 16          ? "65504"
			   : t.bits == 32          ? "3.4028235e38"
						   : "1.7976931348623157e308";

	if (is_int(t)) {
		int_range(t, out);
	} else if (is_float && (t.bits == 16 || t.bits == 32 || t.bits == 64)) {
		(void)snprintf(out, RANGE_MAX,
			       "numbers from -%s to %s, inf, -inf and nan", most, most);
	} else {
		(void)snprintf(out, RANGE_MAX, "0 alone");
	}
}

static void value_text(const struct msd_wire_value *v, char out[static RANGE_MAX])
{
	if (v->kind == MSD_K_INT) {
		(void)snprintf(out, RANGE_MAX, "%" PRId64, v->as.i);
	} else if (v->kind == MSD_K_FLOAT) {
		(void)snprintf(out, RANGE_MAX, "%.15g", v->as.f);
	} else if (v->kind == MSD_K_BOOL) {
		(void)snprintf(out, RANGE_MAX, "%s", v->as.b ? "true" : "false");
	} else {
		(void)snprintf(out, RANGE_MAX, "a %s", msd_kind_name(v->kind));
	}
}

static msd_err refuse(const struct msd_wire_value *v, struct msd_dtype t,
		      struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];
	char range[RANGE_MAX];
	char got[RANGE_MAX];

	range_of(t, range);
	value_text(v, got);
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "a tensor of %s is filled with %s; got %s",
			    msd_dtype_format(t, name), range, got);
}

static bool int_fits(int64_t i, struct msd_dtype t)
{
	const unsigned bits = t.bits;

	if (t.code == MSD_DT_BOOL || (t.code == MSD_DT_UINT && bits == 1))
		return i == 0 || i == 1;
	if (t.code == MSD_DT_UINT)
		return i >= 0 && (bits >= 63 || i >> bits == 0);
	return bits == 64 ||
	       (i >= -((int64_t)1 << (bits - 1)) && i < ((int64_t)1 << (bits - 1)));
}

static bool is_zero(const struct msd_wire_value *v)
{
	return (v->kind == MSD_K_BOOL && !v->as.b) ||
	       (v->kind == MSD_K_INT && v->as.i == 0) ||
	       (v->kind == MSD_K_FLOAT && v->as.f == 0 && !signbit(v->as.f));
}

/* Convert @f to the bits of float type @t, rounded to nearest; false if the type is
 * not supported. */
static bool float_bits(double f, struct msd_dtype t, uint64_t *ret)
{
	const float single = (float)f;
	uint32_t low;

	memcpy(&low, &single, sizeof(low));
	if (t.code == MSD_DT_FLOAT && t.bits == 64) {
		memcpy(ret, &f, sizeof(*ret));
	} else if (t.code == MSD_DT_FLOAT && t.bits == 32) {
		*ret = low;
	} else if (t.code == MSD_DT_FLOAT && t.bits == 16) {
		*ret = msd_half_from_double(f);
	} else if (t.code == MSD_DT_BFLOAT && t.bits == 16 && !isnan(f)) {
		*ret = (low + 0x7fff + ((low >> 16) & 1)) >> 16; /* nearest even */
	} else if (t.code == MSD_DT_BFLOAT && t.bits == 16) {
		*ret = 0x7fc0;
	} else {
		return false;
	}
	return true;
}

/* True if @bits are an infinity of @t. */
static bool is_infinite(uint64_t bits, struct msd_dtype t)
{
	const uint64_t inf = t.code == MSD_DT_BFLOAT ? 0x7f80
			     : t.bits == 16          ? 0x7c00
			     : t.bits == 32          ? 0x7f800000
						     : 0x7ff0000000000000;

	return (bits & ~((uint64_t)1 << (t.bits - 1))) == inf;
}

/* Write @f as float type @t, low byte first; false if it is out of range, or the type
 * is not supported. */
static bool put_float(double f, struct msd_dtype t, uint8_t *out)
{
	uint64_t bits;

	if (!float_bits(f, t, &bits) || (is_infinite(bits, t) && !isinf(f)))
		return false;
	for (unsigned i = 0; i < t.bits / 8u; i++)
		out[i] = (uint8_t)(bits >> (8 * i));
	return true;
}

/* Encode @v as one lane of @t. */
static msd_err encode(const struct msd_wire_value *v, struct msd_dtype t, uint8_t *out,
		      struct msd_diag *d)
{
	const bool is_number = v->kind == MSD_K_INT || v->kind == MSD_K_BOOL;
	const int64_t i = v->kind == MSD_K_BOOL ? v->as.b : v->as.i;

	if (is_zero(v)) /* all bytes are 0 in every type */
		return MSD_OK;
	if (is_int(t) && is_number && int_fits(i, t)) {
		for (unsigned b = 0; b < (t.bits + 7u) / 8u; b++)
			out[b] = (uint8_t)((uint64_t)i >> (8 * b));
		return MSD_OK;
	}
	if (!is_int(t) && (is_number || v->kind == MSD_K_FLOAT) &&
	    put_float(is_number ? (double)i : v->as.f, t, out))
		return MSD_OK;
	return refuse(v, t, d);
}

/* Copy the pattern in @chunk over the @n bytes at @dst. */
static msd_err spread(struct msd_dev *dev, uint8_t *dst, size_t n, const uint8_t *chunk,
		      size_t n_chunk, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t at = 0; err == MSD_OK && at < n; at += n_chunk) {
		err = msd_dev_copy(dev, dst + at, NULL, chunk,
				   n - at < n_chunk ? n - at : n_chunk, d);
	}
	if (err == MSD_OK && dev != NULL)
		err = msd_dev_sync(dev, d);
	return err;
}

static msd_err fill(struct msd_dev *dev, uint8_t *dst, size_t n, const uint8_t *lane,
		    size_t n_lane, struct msd_diag *d)
{
	size_t n_chunk = CHUNK_BYTES - CHUNK_BYTES % n_lane;

	n_chunk = n < n_chunk ? n : n_chunk;
	if (n == 0)
		return MSD_OK;
	uint8_t *chunk = malloc(n_chunk);
	if (chunk == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < n_chunk; i++)
		chunk[i] = lane[i % n_lane];
	msd_err err = spread(dev, dst, n, chunk, n_chunk, d);
	free(chunk);
	return err;
}

static msd_err read_params(const struct msd_request *r, struct msd_wire_tensor *ret,
			   struct msd_wire_value *ret_value, struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value v;

	if (!msd_array_open(r->params, &c, &n) || n != 2 ||
	    msd_value_read(&c, &v, d) != MSD_OK ||
	    msd_value_read(&c, ret_value, d) != MSD_OK || v.kind != MSD_K_TENSOR)
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected [tensor, number]");
	msd_err err = msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, ret, d);
	if (err == MSD_OK && ret->where != MSD_AT_RESIDENT)
		err = msd_diag_set(d, MSD_BAD_ARGUMENT, "the tensor is not a resident");
	return err;
}

msd_err msd_handle_tensor_fill(struct msd_worker *w, struct msd_request *r,
			       struct msd_buf *out, struct msd_diag *d)
{
	uint8_t lane[MAX_ELEMENT_BYTES] = {0};
	struct msd_wire_tensor t;
	struct msd_wire_value value;
	struct msd_device device;
	struct msd_obj *owner;
	struct msd_dev *dev;
	uint8_t *dst;
	msd_err err = read_params(r, &t, &value, d);

	if (err == MSD_OK)
		err = msd_call_locate(r->peer, &t, &dst, &device, &owner, d);
	if (err == MSD_OK)
		err = msd_loaded_reach(w->module, device, &dev, d);
	if (err == MSD_OK)
		err = encode(&value, t.dtype, lane, d);
	if (err == MSD_OK) {
		err = fill(dev, dst, t.bytes, lane,
			   t.dtype.bits >= 8 ? t.dtype.bits / 8u : 1, d);
	}
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "tensor.fill");
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_nil(out);
	return MSD_OK;
}
