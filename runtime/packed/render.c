/* Values as text in numpy's format, for relax.run.print. */
#include "runtime/packed/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/packed/args.h"
#include "runtime/value/element.h"

#define MAX_SHOWN 16 /* elements per dimension */
#define MAX_NESTED 8 /* nesting depth of tuples */

/* The fewest digits that read back as the same number, with a dot as in numpy. */
static void render_float(FILE *out, double v, int max_digits)
{
	char text[40];

	if (isnan(v) || isinf(v)) {
		(void)fputs(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf", out);
		return;
	}
	for (int digits = 1; digits <= max_digits; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, v);
		const double back = strtod(text, NULL);
		if (max_digits > 9 ? back == v : (float)back == (float)v)
			break;
	}
	(void)fputs(text, out);
	if (strpbrk(text, ".e") == NULL)
		(void)fputc('.', out);
}

static void render_element(FILE *out, const struct msd_dltensor *t, int64_t i)
{
	const struct msd_dtype dtype = t->dtype;
	const union msd_number v = msd_number_load(dtype, msd_dltensor_at(t), i);
	const bool is_bool = dtype.code == MSD_DT_BOOL || dtype.bits == 1;

	const enum msd_number_kind kind = msd_number_kind(dtype);

	if (kind == MSD_N_FLOAT) {
		render_float(out, v.f, dtype.bits == 64 ? 17 : 9);
	} else if (kind == MSD_N_UINT64) {
		(void)fprintf(out, "%" PRIu64, (uint64_t)v.i);
	} else if (is_bool) {
		(void)fputs(v.i != 0 ? "True" : "False", out);
	} else {
		(void)fprintf(out, "%" PRId64, v.i);
	}
}

/* Brackets close and open at the ends of dimensions. A cursor replaces recursion. */
static void render_elements(FILE *out, const struct msd_dltensor *t)
{
	int64_t at[MSD_MAX_NDIM] = {0};
	int32_t d = 0;
	int64_t offset = 0;

	for (int32_t i = 0; i < t->ndim; i++)
		(void)fputc('[', out);
	while (d >= 0) {
		render_element(out, t, offset);
		for (d = t->ndim - 1; d >= 0; d--) {
			if (++at[d] < t->shape[d] && at[d] < MAX_SHOWN)
				break;
			(void)fputs(at[d] < t->shape[d] ? " ...]" : "]", out);
			at[d] = 0;
		}
		if (d < 0)
			return;
		(void)fputs(d == t->ndim - 1 ? " " : "\n", out);
		for (int32_t i = d + 1; i < t->ndim; i++)
			(void)fputc('[', out);
		offset = 0;
		for (int32_t i = 0; i < t->ndim; i++)
			offset = offset * t->shape[i] + at[i];
	}
}

static void render_tensor(FILE *out, const struct msd_dltensor *t)
{
	char name[MSD_DTYPE_NAME_MAX];
	uint64_t n;
	const bool is_here =
		t->device.type == MSD_DEV_CPU || t->device.type == MSD_DEV_CUDA_HOST;

	if (msd_number_kind(t->dtype) == MSD_N_NONE || !is_here ||
	    !msd_dltensor_is_compact(t)) {
		(void)fprintf(out, "<%s tensor>", msd_dtype_format(t->dtype, name));
	} else if (!msd_shape_elements(t->shape, (size_t)t->ndim, &n) || n == 0) {
		(void)fputs("[]", out);
	} else {
		render_elements(out, t);
	}
}

static void render_shape(FILE *out, const struct msd_shape *s)
{
	(void)fputc('(', out);
	for (size_t i = 0; i < s->ndim; i++)
		(void)fprintf(out, "%s%" PRId64, i > 0 ? ", " : "", s->dim[i]);
	(void)fputc(')', out);
}

static void render_nested(FILE *out, const struct msd_any *v, int left)
{
	struct msd_span text;

	switch (v->type) {
	case MSD_T_NONE:
		(void)fputs("None", out);
		return;
	case MSD_T_INT:
		(void)fprintf(out, "%" PRId64, v->as.i);
		return;
	case MSD_T_BOOL:
		(void)fputs(v->as.i != 0 ? "True" : "False", out);
		return;
	case MSD_T_FLOAT:
		render_float(out, v->as.f, 17);
		return;
	case MSD_T_TENSOR:
	case MSD_T_DLTENSOR:
		render_tensor(out, msd_any_dltensor(v));
		return;
	case MSD_T_SHAPE:
		render_shape(out, (const struct msd_shape *)(const void *)v->as.obj);
		return;
	default:
		break;
	}
	if (msd_any_str(v, &text)) {
		(void)fwrite(text.p, 1, text.n, out);
	} else if (v->type == MSD_T_ARRAY && left > 0) {
		const struct msd_array *a =
			(const struct msd_array *)(const void *)v->as.obj;

		(void)fputc('(', out);
		for (int64_t i = 0; i < a->size; i++) {
			(void)fputs(i > 0 ? ", " : "", out);
			render_nested(out, &a->items[i], left - 1);
		}
		(void)fputc(')', out);
	} else {
		(void)fprintf(out, "<%s>", msd_type_name(v->type));
	}
}

void msd_render(FILE *out, const struct msd_any *v)
{
	render_nested(out, v, MAX_NESTED);
}

/* Length of a placeholder at the front of @s ("{}", "{3}"), 0 if there is none. @ret
 * gets the index of its value. */
static size_t place(struct msd_span s, int32_t next, int32_t *ret)
{
	int32_t named = 0;
	size_t i = 1;

	if (s.n < 2 || s.p[0] != '{')
		return 0;
	for (; i < s.n && i < 5 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		named = named * 10 + (s.p[i] - '0');
	if (i >= s.n || s.p[i] != '}')
		return 0;
	*ret = i == 1 ? next : named;
	return i + 1;
}

void msd_render_format(FILE *out, struct msd_span format, const struct msd_any *v,
		       int32_t n)
{
	int32_t next = 0;

	while (format.n > 0) {
		int32_t which;
		size_t used = place(format, next, &which);
		const uint8_t c = format.p[0];

		if (used > 0 && which < n) {
			msd_render(out, &v[which]);
			next += used == 2;
		} else {
			(void)fputc(c, out);
			used = 1;
			if ((c == '{' || c == '}') && format.n > 1 && format.p[1] == c)
				used = 2;
		}
		format.p += used;
		format.n -= used;
	}
}
