/*
 * relax.run.print, relax.run.assert_op and vm.builtin.debug_print: output of the
 * model itself. It goes to the standard output of the process, like printf() of
 * compiled code.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/packed/render.h"

/* Write the values from @first on in the format at @at. If the format is empty,
 * separate them by @between. */
static void write_values(FILE *out, struct msd_args a, int32_t at, int32_t first,
			 const char *between)
{
	struct msd_span format;

	if (msd_any_str(&a.v[at], &format) && format.n > 0) {
		msd_render_format(out, format, a.v + first, a.n - first);
		return;
	}
	for (int32_t i = first; i < a.n; i++) {
		(void)fputs(i > first ? between : "", out);
		msd_render(out, &a.v[i]);
	}
}

static bool is_format(struct msd_args a, int32_t i)
{
	struct msd_span format;

	return msd_any_str(&a.v[i], &format) || msd_args_refuse(a, i, "str") == 0;
}

/* Text under construction. */
struct text {
	FILE *out;
	char *p;
	size_t n;
};

static bool text_open(struct text *t)
{
	*t = (struct text){0};
	t->out = open_memstream(&t->p, &t->n);
	if (t->out == NULL)
		(void)msd_abi_no_memory();
	return t->out != NULL;
}

/* Complete the text; false, with nothing to free, if memory is short. */
static bool text_close(struct text *t)
{
	if (fclose(t->out) == 0)
		return true;
	free(t->p);
	(void)msd_abi_no_memory();
	return false;
}

/* Write whole lines in as few writes as possible, so that output of other writers
 * does not split them. */
static int text_print(struct text *t)
{
	size_t done = 0;

	(void)fputc('\n', t->out);
	if (!text_close(t))
		return -1;
	while (done < t->n) {
		ssize_t n = write(STDOUT_FILENO, t->p + done, t->n - done);

		if (n < 0 && errno != EINTR)
			break; /* stdout is closed: not an error of the model */
		done += n > 0 ? (size_t)n : 0;
	}
	free(t->p);
	return 0;
}

/* (format, values...) */
static int print(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct text t;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 1, -1) || !is_format(a, 0) || !text_open(&t))
		return -1;
	write_values(t.out, a, 0, 1, " ");
	return text_print(&t);
}

/* (where, tensor) */
static int debug_print(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct text t;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 2, 2) || !is_format(a, 0) || !text_open(&t))
		return -1;
	msd_render(t.out, &args[0]);
	(void)fputs(": data =\n", t.out);
	msd_render(t.out, &args[1]);
	return text_print(&t);
}

/* A bool, an int, or a bool tensor without dimensions. */
static bool read_condition(struct msd_args a, bool *ret)
{
	char name[MSD_DTYPE_NAME_MAX];
	struct msd_dltensor *t;

	if (a.v[0].type == MSD_T_BOOL || a.v[0].type == MSD_T_INT) {
		*ret = a.v[0].as.i != 0;
		return true;
	}
	if (!msd_args_host_tensor(a, 0, &t))
		return false;
	const bool is_bool = t->dtype.code == MSD_DT_BOOL ||
			     (t->dtype.code == MSD_DT_UINT && t->dtype.bits == 1);
	if (is_bool && t->dtype.lanes == 1 && t->ndim == 0) {
		*ret = *(const uint8_t *)msd_dltensor_at(t) != 0;
		return true;
	}
	(void)msd_abi_raise("ValueError",
			    "The condition must be a bool scalar, but given a %s "
			    "tensor of %d dimensions",
			    msd_dtype_format(t->dtype, name), (int)t->ndim);
	return false;
}

/* (condition, format, values...) */
static int assert_op(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct text t;
	bool holds;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 2, -1) || !is_format(a, 1) || !read_condition(a, &holds))
		return -1;
	if (holds)
		return 0;
	if (!text_open(&t))
		return -1;
	write_values(t.out, a, 1, 2, ", ");
	if (!text_close(&t))
		return -1;
	int rc = msd_abi_raise("AssertionError", "%s",
			       t.n > 0 ? t.p : "Assertion Failed");
	free(t.p);
	return rc;
}

const struct msd_global msd_globals_print[] = MSD_GLOBAL_TABLE(MSD_PACKED_PRINT);
