#include "client/cli/values/json.h"

#include <math.h>

#include "client/cli/values/number.h"
#include "client/cli/values/print.h"
#include "proto/base/json.h"
#include "proto/dtype.h"
#include "proto/type_text.h"

static void put_str(struct msd_buf *out, const modser_value *v)
{
	msd_json_str(out, (struct msd_span){(const uint8_t *)v->as.str.p, v->as.str.n});
}

/* Append a value whose kind has its own text form. */
static void put_quoted(struct msd_buf *out, const modser_value *v)
{
	struct msd_buf text = {0};

	msd_print_value(&text, v, false);
	msd_json_str(out, (struct msd_span){text.p, text.n});
	msd_buf_finish(&text);
}

/* Append dimension @dim and the inner ones, from element @at on; returns the next
 * element. */
static uint64_t put_data(struct msd_buf *out, const modser_tensor *t, uint32_t dim,
			 uint64_t at)
{
	uint32_t rank = t->ndim + (t->dtype.lanes > 1);

	if (dim == rank) {
		msd_number_put_element(out, t, at, true);
		return at + 1;
	}
	uint64_t n = dim < t->ndim ? (uint64_t)t->shape[dim] : t->dtype.lanes;
	msd_buf_put_u8(out, '[');
	for (uint64_t i = 0; i < n && !out->bad; i++) {
		if (i > 0)
			msd_buf_printf(out, ", ");
		at = put_data(out, t, dim + 1, at);
	}
	msd_buf_put_u8(out, ']');
	return at;
}

void msd_json_put_type(struct msd_buf *out, const modser_tensor *t)
{
	char name[MSD_DTYPE_NAME_MAX];
	struct msd_dtype type = {t->dtype.code, t->dtype.bits, t->dtype.lanes};

	msd_buf_printf(out,
		       "\"dtype\": \"%s\", \"shape\": ", msd_dtype_format(type, name));
	msd_shape_put(out, t->shape, t->ndim, ", ");
}

static void put_tensor(struct msd_buf *out, const modser_tensor *t)
{
	msd_buf_put_u8(out, '{');
	msd_json_put_type(out, t);
	msd_buf_printf(out, ", \"data\": ");
	if (t->bytes == 0) { /* the other extents may be very large */
		msd_buf_printf(out, "[]");
	} else {
		(void)put_data(out, t, 0, 0);
	}
	msd_buf_put_u8(out, '}');
}

static void put_items(struct msd_buf *out, const modser_value *v)
{
	bool is_map = v->kind == MODSER_MAP;

	msd_buf_put_u8(out, is_map ? '{' : '[');
	for (size_t i = 0; i < v->as.tuple.n; i++) {
		const modser_value *item = &v->as.tuple.item[is_map ? 2 * i : i];

		if (i > 0)
			msd_buf_printf(out, ", ");
		if (is_map) {
			if (item->kind == MODSER_STR) {
				put_str(out, item);
			} else {
				put_quoted(out, item);
			}
			msd_buf_printf(out, ": ");
			item++;
		}
		msd_json_put_value(out, item);
	}
	msd_buf_put_u8(out, is_map ? '}' : ']');
}

void msd_json_put_value(struct msd_buf *out, const modser_value *v)
{
	switch ((int)v->kind) {
	case MODSER_NIL:
		msd_buf_printf(out, "null");
		return;
	case MODSER_BOOL:
	case MODSER_INT:
		msd_print_value(out, v, false);
		return;
	case MODSER_FLOAT:
		if (isnan(v->as.f) || isinf(v->as.f)) {
			put_quoted(out, v);
		} else {
			msd_print_value(out, v, false);
		}
		return;
	case MODSER_STR:
		put_str(out, v);
		return;
	case MODSER_BYTES:
		msd_buf_printf(out, "{\"bytes\": ");
		put_quoted(out, v);
		msd_buf_put_u8(out, '}');
		return;
	case MODSER_SHAPE:
		msd_shape_put(out, v->as.shape.dim, v->as.shape.ndim, ", ");
		return;
	case MODSER_TENSOR:
		put_tensor(out, &v->as.tensor);
		return;
	case MODSER_TUPLE:
	case MODSER_MAP:
		put_items(out, v);
		return;
	default:
		put_quoted(out, v);
		return;
	}
}
