/* The driver's calls: their arguments in segments, and what comes back. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/daemon/worker/driver.h"

uint64_t driver_call(struct driver *w, struct msd_buf *b, const char *function,
		     size_t n_args)
{
	char target[256];
	uint64_t id = driver_begin(w, b, "call", false);

	(void)snprintf(target, sizeof(target), "m:%s", function);
	msd_pack_array(b, 1 + n_args);
	msd_pack_cstr(b, target);
	return id;
}

uint64_t driver_call_plain(struct driver *w, const char *function)
{
	struct msd_buf b = {0};
	uint64_t id = driver_call(w, &b, function, 0);

	driver_send(w, &b);
	return id;
}

static struct msd_wire_tensor float32_of(int64_t n)
{
	return (struct msd_wire_tensor){.dtype = {MSD_DT_FLOAT, 32, 1},
					.device = {.type = MSD_DEV_CPU},
					.bytes = 4 * (uint64_t)n,
					.ndim = 1,
					.shape = {n}};
}

void *driver_put(struct driver *w, struct msd_buf *b, struct msd_wire_tensor *t)
{
	struct msd_slot slot;
	struct msd_diag d = {0};

	cr_assert_eq(msd_segpool_alloc(&w->in, t->bytes, &slot, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	t->where = MSD_AT_SEGMENT;
	t->segment = slot.segment;
	t->offset = slot.offset;
	msd_pack_tensor(b, t);
	return slot.p;
}

float *driver_put_tensor(struct driver *w, struct msd_buf *b, int64_t n)
{
	struct msd_wire_tensor t = float32_of(n);

	return driver_put(w, b, &t);
}

void driver_put_out(struct msd_buf *b, int64_t n)
{
	struct msd_wire_tensor t = float32_of(n);

	t.where = MSD_AT_OUT;
	msd_pack_tensor(b, &t);
}

/* [[out...], return] */
static void open_result(struct driver *w, struct msd_cur *ret, uint32_t *ret_n,
			struct msd_cur *ret_rest)
{
	struct msd_span outs;
	uint32_t n;

	cr_assert_str_eq(driver_error(w), "OK", "%s", driver_message(w));
	cr_assert(msd_array_open(w->body.result, ret_rest, &n) && n == 2);
	cr_assert(msd_object_parse(ret_rest, &outs));
	cr_assert(msd_array_open(outs, ret, ret_n));
}

void driver_out(struct driver *w, uint32_t i, struct msd_wire_tensor *ret)
{
	struct msd_cur c, rest;
	uint32_t n;
	struct msd_wire_value v;
	struct msd_diag d = {0};

	open_result(w, &c, &n, &rest);
	cr_assert_lt(i, n);
	for (uint32_t k = 0; k <= i; k++)
		cr_assert_eq(msd_value_read(&c, &v, &d), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_TENSOR);
	cr_assert_eq(msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, ret, &d),
		     MSD_OK);
}

void driver_return(struct driver *w, struct msd_wire_value *ret)
{
	struct msd_cur c, rest;
	uint32_t n;
	struct msd_diag d = {0};

	open_result(w, &c, &n, &rest);
	cr_assert_eq(msd_value_read(&rest, ret, &d), MSD_OK);
}

void driver_tensor(struct driver *w, struct msd_wire_tensor *ret)
{
	struct msd_cur c = msd_cur_of(w->body.result);
	struct msd_wire_value v;

	cr_assert_str_eq(driver_error(w), "OK", "%s", driver_message(w));
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert_eq(v.kind, MSD_K_TENSOR);
	cr_assert_eq(msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, ret, NULL),
		     MSD_OK);
}

void driver_fill(struct driver *w, const struct msd_wire_tensor *t,
		 const struct msd_wire_value *value)
{
	struct msd_buf b = {0};

	(void)driver_begin(w, &b, "tensor.fill", false);
	msd_pack_array(&b, 2);
	msd_pack_tensor(&b, t);
	if (value->kind == MSD_K_INT) {
		msd_pack_int(&b, value->as.i);
	} else {
		msd_pack_float(&b, value->as.f);
	}
	driver_send(w, &b);
	(void)driver_receive(w);
}

const void *driver_at(struct driver *w, const struct msd_wire_tensor *t)
{
	const void *p = msd_segmap_at(&w->out, t->segment, t->offset, t->bytes);

	cr_assert_eq(t->where, MSD_AT_SEGMENT);
	cr_assert_not_null(p);
	return p;
}

void driver_release(struct driver *w, const struct msd_wire_tensor *t)
{
	struct msd_buf b = {0};

	msd_body_begin_notification(&b, "worker.release");
	msd_pack_array(&b, 2);
	msd_pack_uint(&b, t->segment);
	msd_pack_uint(&b, t->offset);
	driver_send(w, &b);
}
