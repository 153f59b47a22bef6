/*
 * Formats values as text. For people, large tensors show only their edges and
 * terminal control characters are escaped. For scripts everything is printed, one
 * value a line.
 */
#include "client/cli/values/print.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/cli/values/number.h"
#include "proto/base/utf8.h"
#include "proto/dtype.h"
#include "proto/type_text.h"

#define ELEMENTS_SHOWN 1000u /* on a terminal; a larger tensor shows its edges */
#define EDGE 3

static void put_escaped(struct msd_buf *out, const char *p, size_t n, const char *keep)
{
	struct msd_span s = {(const uint8_t *)p, n};

	while (s.n > 0) {
		const size_t run = msd_utf8_shown(s);

		msd_buf_put(out, s.p, run);
		if (run == s.n)
			return;
		const uint8_t c = s.p[run];

		if (c != 0 && strchr(keep, c) != NULL) {
			msd_buf_put_u8(out, c);
		} else if (c == '\n') {
			msd_buf_printf(out, "\\n");
		} else if (c == '\t') {
			msd_buf_printf(out, "\\t");
		} else {
			msd_buf_printf(out, "\\x%02x", c);
		}
		s.p += run + 1;
		s.n -= run + 1;
	}
}

void msd_print_line(struct msd_buf *out, const char *p, size_t n)
{
	put_escaped(out, p, n, "");
}

void msd_print_piece(struct msd_buf *out, const char *p, size_t n)
{
	put_escaped(out, p, n, "\n\t");
}

void msd_print_text(struct msd_buf *out, const char *p, size_t n)
{
	msd_print_piece(out, p, n);
	if (n > 0 && p[n - 1] != '\n')
		msd_buf_put_u8(out, '\n');
}

/* Printer state: @dim more dimensions from the first. */
struct printer {
	struct msd_buf *out;
	const modser_tensor *t;
	bool cut;
};

static uint32_t rank_of(const modser_tensor *t)
{
	return t->ndim + (t->dtype.lanes > 1); /* lanes count as one more dimension */
}

static uint64_t extent_of(const modser_tensor *t, uint32_t dim)
{
	return dim < t->ndim ? (uint64_t)t->shape[dim] : t->dtype.lanes;
}

/* Append dimension @dim and the inner ones, from element @at on. */
static void put_dim(struct printer *p, uint32_t dim, uint64_t at)
{
	uint64_t below = 1;

	if (dim == rank_of(p->t)) {
		msd_number_put_element(p->out, p->t, at, false);
		return;
	}
	uint64_t extent = extent_of(p->t, dim);
	for (uint32_t i = dim + 1; i < rank_of(p->t); i++)
		below *= extent_of(p->t, i);
	msd_buf_put_u8(p->out, '[');
	for (uint64_t i = 0; i < extent && !p->out->bad; i++) {
		if (i > 0)
			msd_buf_printf(p->out, ", ");
		if (p->cut && extent > 2 * EDGE && i == EDGE) {
			msd_buf_printf(p->out, "..., ");
			i = extent - EDGE;
		}
		put_dim(p, dim + 1, at + i * below);
	}
	msd_buf_put_u8(p->out, ']');
}

static void put_dtype(struct msd_buf *out, modser_dtype t)
{
	char name[MSD_DTYPE_NAME_MAX];

	msd_buf_printf(
		out, "%s",
		msd_dtype_format((struct msd_dtype){t.code, t.bits, t.lanes}, name));
}

static void put_tensor(struct msd_buf *out, const modser_tensor *t, bool for_people)
{
	struct printer p = {.out = out, .t = t};

	if (for_people && t->ndim > 0) {
		put_dtype(out, t->dtype);
		msd_shape_put(out, t->shape, t->ndim, ", ");
		msd_buf_put_u8(out, ' ');
		p.cut = t->bytes * 8 / t->dtype.bits > ELEMENTS_SHOWN;
	}
	if (t->bytes == 0) { /* the other extents may be very large */
		msd_buf_printf(out, "[]");
	} else {
		put_dim(&p, 0, 0);
	}
}

static void put_items(struct msd_buf *out, const modser_value *v, bool for_people)
{
	bool is_map = v->kind == MODSER_MAP;

	msd_buf_put_u8(out, is_map ? '{' : '(');
	for (size_t i = 0; i < v->as.tuple.n; i++) {
		if (i > 0)
			msd_buf_printf(out, ", ");
		if (is_map) {
			msd_print_value(out, &v->as.tuple.item[2 * i], for_people);
			msd_buf_printf(out, ": ");
		}
		msd_print_value(out, &v->as.tuple.item[is_map ? 2 * i + 1 : i],
				for_people);
	}
	msd_buf_put_u8(out, is_map ? '}' : ')');
}

static void put_handle(struct msd_buf *out, const char *what, modser_handle h)
{
	msd_buf_printf(out, "<%s %u.%u>", what, h.slot, h.generation);
}

static void put_device(struct msd_buf *out, modser_device device)
{
	char name[MSD_DTYPE_NAME_MAX];

	msd_buf_printf(out, "%s:%d", msd_device_type_format(device.type, name),
		       device.id);
}

static void put_bytes(struct msd_buf *out, const modser_value *v)
{
	for (size_t i = 0; i < v->as.str.n; i++)
		msd_buf_printf(out, "%02x", (unsigned char)v->as.str.p[i]);
}

void msd_print_value(struct msd_buf *out, const modser_value *v, bool for_people)
{
	switch (v->kind) {
	case MODSER_NIL:
		msd_buf_printf(out, "none");
		return;
	case MODSER_BOOL:
		msd_buf_printf(out, "%s", v->as.b ? "true" : "false");
		return;
	case MODSER_INT:
		msd_buf_printf(out, "%lld", (long long)v->as.i);
		return;
	case MODSER_FLOAT:
		msd_number_put(out, v->as.f, true);
		return;
	case MODSER_STR:
		msd_print_line(out, v->as.str.p, v->as.str.n);
		return;
	case MODSER_BYTES:
		put_bytes(out, v);
		return;
	case MODSER_DTYPE:
		put_dtype(out, v->as.dtype);
		return;
	case MODSER_DEVICE:
		put_device(out, v->as.device);
		return;
	case MODSER_SHAPE:
		msd_shape_put(out, v->as.shape.dim, v->as.shape.ndim, ", ");
		return;
	case MODSER_TENSOR:
		put_tensor(out, &v->as.tensor, for_people);
		return;
	case MODSER_OUT:
	case MODSER_RESIDENT:
		put_handle(out, "tensor", v->as.tensor.handle);
		return;
	case MODSER_FUNCTION:
		put_handle(out, "function", v->as.handle);
		return;
	case MODSER_MODULE:
		put_handle(out, "module", v->as.handle);
		return;
	case MODSER_INSTANCE:
		put_handle(out, "instance", v->as.handle);
		return;
	case MODSER_UPLOAD:
		put_handle(out, "upload", v->as.handle);
		return;
	case MODSER_TUPLE:
	case MODSER_MAP:
		put_items(out, v, for_people);
		return;
	case MODSER_RESULT_OF: /* only in arguments */
		return;
	case MODSER_OBJECT:
		msd_buf_printf(out, "<%s>", v->as.object.type);
		return;
	}
}

bool msd_print_for_people(void)
{
	return isatty(STDOUT_FILENO) == 1;
}

size_t msd_print_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
		       ? size.ws_col
		       : SIZE_MAX;
}

void msd_print_flush_to(struct msd_buf *out, FILE *file)
{
	if (out->n > 0)
		(void)fwrite(out->p, 1, out->n, file);
	msd_buf_finish(out);
}

void msd_print_flush(struct msd_buf *out)
{
	msd_print_flush_to(out, stdout);
}
