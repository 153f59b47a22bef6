/* Descriptions of an executor's inputs and outputs. TVM's get_input_info returns two
 * maps; the wire has no maps, so each input is a tuple of name, shape and dtype. */
#include <inttypes.h>
#include <string.h>

#include "proto/base/bytes.h"
#include "runtime/executor/executor.h"
#include "runtime/value/error.h"

static int text(const char *s, struct msd_any *ret)
{
	return s != NULL ? msd_instance_give_text(s, ret) : 0;
}

/* Return @all if @rc says that it was filled in. */
static int give(int rc, struct msd_array *all, struct msd_any *ret)
{
	if (rc == 0) {
		*ret = msd_of_obj(&all->obj);
	} else {
		msd_obj_unref(&all->obj);
	}
	return rc;
}

static int describe(const struct msd_model_tensor *t, struct msd_any *ret)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	struct msd_array *three = msd_array_new(3);
	struct msd_shape *shape = msd_shape_new(t->shape, t->ndim);

	if (three == NULL || shape == NULL) {
		msd_obj_unref(three != NULL ? &three->obj : NULL);
		msd_obj_unref(shape != NULL ? &shape->obj : NULL);
		return msd_abi_no_memory();
	}
	if (t->is_unranked) { /* None: only a run determines it */
		msd_obj_unref(&shape->obj);
	} else {
		three->items[1] = msd_of_obj(&shape->obj);
	}
	int rc = text(t->name, &three->items[0]);
	if (rc == 0)
		rc = text(msd_dtype_format(t->dtype, dtype), &three->items[2]);
	return give(rc, three, ret);
}

int msd_executor_input_info(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret)
{
	const struct msd_executor *x = (const struct msd_executor *)self;
	uint32_t n_given = 0;
	int rc = 0;

	(void)args;
	(void)n;
	for (uint32_t i = 0; i < x->n_inputs; i++)
		n_given += !x->ops->is_param(x, i);
	struct msd_array *all = msd_array_new(n_given);
	if (all == NULL)
		return msd_abi_no_memory();
	for (uint32_t i = 0, k = 0; rc == 0 && i < x->n_inputs; i++) {
		const struct msd_model_tensor t = x->ops->input(x, i);
		if (!x->ops->is_param(x, i))
			rc = describe(&t, &all->items[k++]);
	}
	return give(rc, all, ret);
}

int msd_executor_output_info(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret)
{
	const struct msd_executor *x = (const struct msd_executor *)self;
	struct msd_array *all = msd_array_new(x->n_outputs);
	int rc = 0;

	(void)args;
	(void)n;
	if (all == NULL)
		return msd_abi_no_memory();
	for (uint32_t i = 0; rc == 0 && i < x->n_outputs; i++) {
		const struct msd_model_tensor t = x->ops->output(x, i);
		rc = describe(&t, &all->items[i]);
	}
	return give(rc, all, ret);
}

int msd_executor_num_inputs(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret)
{
	(void)args;
	(void)n;
	*ret = msd_int(((const struct msd_executor *)self)->n_inputs);
	return 0;
}

int msd_executor_num_outputs(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret)
{
	(void)args;
	(void)n;
	*ret = msd_int(((const struct msd_executor *)self)->n_outputs);
	return 0;
}

int msd_executor_input_index(struct msd_instance *self, const struct msd_any *args,
			     int32_t n, struct msd_any *ret)
{
	uint32_t i = MSD_NO_SUCH_NAME;

	(void)n;
	if (msd_executor_find_input(((const struct msd_executor *)self), &args[0],
				    &i) != 0)
		return -1;
	*ret = msd_int(i != MSD_NO_SUCH_NAME ? (int64_t)i : -1);
	return 0;
}

#define MANY_NAMED 16

/* The names of the inputs that a caller sets, without parameters: "data, mask". */
static void list_inputs(const struct msd_executor *x, struct msd_buf *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_inputs; i++) {
		const char *name = x->ops->input(x, i).name;

		if (x->ops->is_param(x, i) || name == NULL || ++n > MANY_NAMED)
			continue;
		msd_buf_put(out, ", ", n > 1 ? 2 : 0);
		msd_buf_put(out, name, strlen(name));
	}
	if (n > MANY_NAMED)
		msd_buf_put(out, ", ...", 5);
}

int msd_executor_no_input(const struct msd_executor *x, const struct msd_any *name,
			  int at)
{
	struct msd_buf names = {0};
	struct msd_span text = {0};

	if (x->base.tvm_inputs)
		return 0;
	(void)!msd_any_str(name, &text);
	list_inputs(x, &names);
	const int rc = msd_abi_raise_code(
		MSD_BAD_ARGUMENT,
		"argument %d: the model has no input \"%.*s\"; its inputs are: %.*s",
		at, (int)(text.n < 64 ? text.n : 64), (const char *)text.p,
		(int)names.n, (const char *)names.p);
	msd_buf_finish(&names);
	return rc;
}

void msd_executor_list(const struct msd_executor *x, bool is_input, struct msd_buf *out)
{
	const uint32_t n_all = is_input ? x->n_inputs : x->n_outputs;
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_all; i++) {
		const char *name =
			(is_input ? x->ops->input(x, i) : x->ops->output(x, i)).name;

		if ((is_input && x->ops->is_param(x, i)) || ++n > MANY_NAMED)
			continue;
		msd_buf_printf(out, "%s%" PRIu32 "%s%.64s%s", n > 1 ? ", " : "", i,
			       name != NULL ? " (" : "", name != NULL ? name : "",
			       name != NULL ? ")" : "");
	}
	if (n > MANY_NAMED)
		msd_buf_printf(out, ", ...");
}

int msd_executor_no_output(const struct msd_executor *x, const struct msd_any *name)
{
	struct msd_buf list = {0};
	struct msd_span text = {0};

	(void)!msd_any_str(name, &text);
	msd_executor_list(x, false, &list);
	const int rc = msd_abi_raise_code(
		MSD_BAD_ARGUMENT,
		"argument 0: the model has no output \"%.*s\"; its outputs are: %.*s",
		(int)(text.n < 64 ? text.n : 64), (const char *)text.p, (int)list.n,
		(const char *)list.p);
	msd_buf_finish(&list);
	return rc;
}

int msd_executor_input_name(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret)
{
	const struct msd_executor *x = (const struct msd_executor *)self;
	uint32_t i = MSD_NO_SUCH_NAME;

	(void)n;
	if (msd_executor_find_input(x, &args[0], &i) != 0)
		return -1;
	return i != MSD_NO_SUCH_NAME
		       ? msd_instance_give_text(x->ops->input(x, i).name, ret)
		       : 0;
}
