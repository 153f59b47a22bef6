/*
 * Shared code of all instances: the table of functions with their argument counts,
 * and memory that outlives a call.
 *
 * Happy path: init creates a function object per row; a call checks the number of
 * arguments and calls the row's function.
 */
#include "runtime/module/instance.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "runtime/value/error.h"

struct msd_instance_func {
	struct msd_function fn; /* first member: calls get it as self */
	struct msd_instance *instance;
	const struct msd_instance_row *row;
};

static int refuse_count(const struct msd_instance_row *row, int32_t n)
{
	const char *s = row->most == 1 ? "" : "s";

	if (row->most == MSD_INSTANCE_ANY_ARGS) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected at least %d arguments, got %d",
					  row->least, n);
	}
	if (row->least == row->most) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected %d argument%s, got %d", row->most,
					  s, n);
	}
	return msd_abi_raise_code(MSD_BAD_ARGUMENT,
				  "expected %d to %d arguments, got %d", row->least,
				  row->most, n);
}

static int row_call(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	const struct msd_instance_func *f = self;

	if (n < f->row->least || n > f->row->most)
		return refuse_count(f->row, n);
	return f->row->call(f->instance, args, n, ret);
}

msd_err msd_instance_init(struct msd_instance *i, const struct msd_instance_ops *ops,
			  struct msd_diag *d)
{
	i->ops = ops;
	i->funcs = calloc(ops->n_rows + 1, sizeof(*i->funcs));
	if (i->funcs == NULL)
		return msd_diag_no_memory(d);
	for (size_t k = 0; k < ops->n_rows; k++) {
		msd_function_init(&i->funcs[k].fn, ops->rows[k].name, row_call);
		i->funcs[k].instance = i;
		i->funcs[k].row = &ops->rows[k];
	}
	return MSD_OK;
}

void msd_instance_finish(struct msd_instance *i)
{
	free(i->funcs);
	i->funcs = NULL;
}

static void list_rows(const struct msd_instance *i, struct msd_buf *out)
{
	for (size_t k = 0; k < i->ops->n_rows; k++)
		msd_buf_printf(out, "%s%s", k > 0 ? ", " : "", i->ops->rows[k].name);
}

msd_err msd_instance_find(struct msd_instance *i, const char *name,
			  struct msd_function **ret, bool *ret_takes_out,
			  struct msd_diag *d)
{
	struct msd_buf names = {0};

	for (size_t k = 0; k < i->ops->n_rows; k++) {
		if (strcmp(i->ops->rows[k].name, name) != 0)
			continue;
		*ret = &i->funcs[k].fn;
		*ret_takes_out = i->ops->rows[k].takes_out;
		return MSD_OK;
	}
	*ret = i->ops->other != NULL ? i->ops->other(i, name) : NULL;
	*ret_takes_out = false;
	if (*ret != NULL)
		return MSD_OK;
	list_rows(i, &names);
	msd_err err = msd_diag_set(d, MSD_NOT_FOUND,
				   "an instance has no function %.64s; it has %.*s",
				   name, (int)names.n, (const char *)names.p);
	msd_buf_finish(&names);
	return err;
}

void msd_instance_close(struct msd_instance *i)
{
	if (i != NULL)
		i->ops->close(i);
}

int msd_instance_raise(struct msd_diag *d, msd_err err)
{
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(d));
	msd_diag_finish(d);
	return -1;
}

int msd_instance_give_text(const char *text, struct msd_any *ret)
{
	struct msd_str *s = msd_str_new(text, strlen(text), MSD_T_STR);

	if (s == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(&s->obj);
	return 0;
}

bool msd_instance_is_resident(const struct msd_any *v)
{
	return v->type == MSD_T_TENSOR &&
	       ((const struct msd_tensor *)v->as.p)->owner != NULL;
}

/* The open device of @t; NULL: the host. */
static struct msd_dev *dev_of(const struct msd_dltensor *t)
{
	return t->device.type == MSD_DEV_CPU ? NULL : msd_dev_peek(t->device);
}

int msd_instance_copy(const struct msd_dltensor *to, const struct msd_dltensor *from)
{
	struct msd_dev *there = dev_of(to);
	struct msd_dev *here = dev_of(from);
	struct msd_diag d = {0};
	msd_err err = msd_dev_copy(there, (char *)to->data + to->byte_offset, here,
				   (const char *)from->data + from->byte_offset,
				   msd_dltensor_bytes(from), &d);

	/* Host memory may change next. */
	if (err == MSD_OK && there != here)
		err = msd_dev_sync(there != NULL ? there : here, &d);
	return err == MSD_OK ? 0 : msd_instance_raise(&d, err);
}

struct msd_tensor *msd_instance_keep(const struct msd_dltensor *t)
{
	struct msd_dev *dev = dev_of(t);
	struct msd_tensor *made = NULL;
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	if (t->strides != NULL) {
		(void)msd_abi_raise_code(MSD_BAD_ARGUMENT, "expected a compact tensor");
		return NULL;
	}
	if (dev != NULL) {
		err = msd_dev_tensor(dev, t->dtype, t->shape, (size_t)t->ndim, &made,
				     &d);
	} else {
		made = msd_tensor_new(t->dtype, t->shape, (size_t)t->ndim);
	}
	if (err != MSD_OK || made == NULL) {
		(void)msd_diag_set(&d, MSD_NOMEM, "no memory to keep a tensor");
		(void)msd_instance_raise(&d, MSD_NOMEM);
		return NULL;
	}
	if (msd_instance_copy(&made->dl, t) != 0) {
		msd_obj_unref(&made->obj);
		return NULL;
	}
	return made;
}
