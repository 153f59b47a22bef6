/*
 * Functions that code written against TVM calls on a graph or AOT executor:
 * set_input, run, get_output and related ones.
 *
 * Happy path: set_input finds the input by name or number, compares dtype and shape,
 * and lets the kind copy the tensor. run lets the kind execute, then copies to the
 * tensors of set_output_zero_copy. get_output returns the kind's tensor.
 * msd_executor_ops covers the differences between the kinds.
 */
#include "runtime/executor/executor.h"

#include <inttypes.h>
#include <stdlib.h>

#include "runtime/module/c_name.h"
#include "runtime/module/check.h"
#include "runtime/value/error.h"
#include "runtime/value/tensor_text.h"

static struct msd_executor *executor_of(struct msd_instance *self)
{
	return (struct msd_executor *)self;
}

typedef struct msd_model_tensor (*list_fn)(const struct msd_executor *x, uint32_t i);

/* True if the caller's @name means @own. */
static bool is_name(const struct msd_executor *x, struct msd_span name, const char *own)
{
	return x->ops->has_c_names ? msd_c_name_is(name, own) : msd_span_is(name, own);
}

static int refuse_number(const struct msd_executor *x, const char *what, list_fn at,
			 int64_t number)
{
	struct msd_buf list = {0};

	msd_executor_list(x, at == x->ops->input, &list);
	const int rc = msd_abi_raise_code(
		MSD_BAD_ARGUMENT,
		"argument 0: the model has no %s %" PRId64 "; its %ss are: %.*s", what,
		number, what, (int)list.n, (const char *)list.p);
	msd_buf_finish(&list);
	return rc;
}

static int find(const struct msd_executor *x, const char *what, uint32_t n, list_fn at,
		const struct msd_any *v, uint32_t *ret)
{
	struct msd_span name;

	if (v->type == MSD_T_INT && v->as.i >= 0 && v->as.i < (int64_t)n) {
		*ret = (uint32_t)v->as.i;
		return 0;
	}
	if (v->type == MSD_T_INT)
		return refuse_number(x, what, at, v->as.i);
	if (!msd_any_str(v, &name)) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument 0: expected the %s's name or "
					  "number, got %s",
					  what, msd_type_name(v->type));
	}
	for (*ret = 0; *ret < n; (*ret)++) {
		const char *own = at(x, *ret).name;
		if (own != NULL && is_name(x, name, own))
			return 0;
	}
	*ret = MSD_NO_SUCH_NAME;
	return 0;
}

int msd_executor_find_input(const struct msd_executor *x, const struct msd_any *v,
			    uint32_t *ret)
{
	return find(x, "input", x->n_inputs, x->ops->input, v, ret);
}

static int find_output(const struct msd_executor *x, const struct msd_any *v,
		       uint32_t *ret)
{
	if (find(x, "output", x->n_outputs, x->ops->output, v, ret) != 0)
		return -1;
	return *ret == MSD_NO_SUCH_NAME ? msd_executor_no_output(x, v) : 0;
}

/* An extent of -1 matches any extent; an unranked tensor matches any shape. */
static bool shape_fits(const struct msd_model_tensor *want,
		       const struct msd_dltensor *t)
{
	if (want->is_unranked)
		return true;
	if (t->ndim != (int32_t)want->ndim)
		return false;
	for (uint32_t i = 0; i < want->ndim; i++) {
		if (want->shape[i] >= 0 && t->shape[i] != want->shape[i])
			return false;
	}
	return true;
}

/* Check that argument @at has the type of the model's input or output @i. */
static int check(const char *what, uint32_t i, const struct msd_model_tensor *want,
		 const struct msd_any *v, int at)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	char expected[MSD_TENSOR_TEXT_MAX];
	char got[MSD_TENSOR_TEXT_MAX];

	if (t != NULL && t->strides == NULL && msd_dtype_fits(want->dtype, t->dtype) &&
	    shape_fits(want, t))
		return 0;
	return msd_abi_raise_code(
		MSD_BAD_ARGUMENT,
		"argument %d, for %s %u%s%.64s%s: expected %s, got %s", at, what, i,
		want->name != NULL ? " (" : "", want->name != NULL ? want->name : "",
		want->name != NULL ? ")" : "",
		msd_tensor_text(want->dtype, want->shape, want->ndim, expected),
		t != NULL && t->strides != NULL ? "a strided tensor"
						: msd_tensor_text_of(v, got));
}

static void release(struct msd_executor *x, uint32_t i)
{
	msd_obj_unref(x->held[i]);
	x->held[i] = NULL;
}

int msd_executor_set_one(struct msd_executor *x, const struct msd_any *key,
			 const struct msd_any *v, int at)
{
	uint32_t i = MSD_NO_SUCH_NAME;

	if (msd_executor_find_input(x, key, &i) != 0)
		return -1;
	if (i == MSD_NO_SUCH_NAME)
		return msd_executor_no_input(x, key, at - 1);
	const struct msd_model_tensor want = x->ops->input(x, i);
	if (check("input", i, &want, v, at) != 0 ||
	    x->ops->set(x, i, msd_any_dltensor(v)) != 0)
		return -1;
	release(x, i);
	return 0;
}

/* (input, tensor), or several such pairs. */
static int set_input(struct msd_instance *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	(void)ret;
	if (n % 2 != 0) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected pairs of an input and its tensor; "
					  "got %d arguments",
					  n);
	}
	for (int32_t k = 0; k < n; k += 2) {
		if (msd_executor_set_one(executor_of(self), &args[k], &args[k + 1],
					 k + 1) != 0)
			return -1;
	}
	return 0;
}

static int set_input_zero_copy(struct msd_instance *self, const struct msd_any *args,
			       int32_t n, struct msd_any *ret)
{
	struct msd_executor *x = executor_of(self);
	uint32_t i = MSD_NO_SUCH_NAME;

	if (msd_executor_find_input(x, &args[0], &i) != 0)
		return -1;
	if (i == MSD_NO_SUCH_NAME)
		return msd_executor_no_input(x, &args[0], 0);
	const struct msd_model_tensor want = x->ops->input(x, i);
	if (check("input", i, &want, &args[1], 1) != 0)
		return -1;
	if (!msd_instance_is_resident(&args[1]) ||
	    !x->ops->share(x, i, msd_any_dltensor(&args[1])))
		return set_input(self, args, n, ret);
	msd_obj_ref(args[1].as.obj);
	release(x, i);
	x->held[i] = args[1].as.obj;
	return 0;
}

static int set_output_zero_copy(struct msd_instance *self, const struct msd_any *args,
				int32_t n, struct msd_any *ret)
{
	struct msd_executor *x = executor_of(self);
	uint32_t i = MSD_NO_SUCH_NAME;

	(void)n;
	(void)ret;
	if (find_output(x, &args[0], &i) != 0)
		return -1;
	const struct msd_model_tensor want = x->ops->output(x, i);
	if (check("output", i, &want, &args[1], 1) != 0)
		return -1;
	if (!msd_instance_is_resident(&args[1])) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument 1, for output %u: expected a "
					  "resident tensor, which stays after the call",
					  i);
	}
	msd_obj_ref(args[1].as.obj);
	if (x->outs[i] != NULL)
		msd_obj_unref(&x->outs[i]->obj);
	x->outs[i] = args[1].as.p;
	return 0;
}

static int copy_output(struct msd_executor *x, uint32_t i,
		       const struct msd_dltensor *to)
{
	struct msd_any made = msd_none();

	if (x->ops->get_output(x, i, &made) != 0)
		return -1;
	const int rc = msd_instance_copy(to, msd_any_dltensor(&made));
	msd_any_drop(&made);
	return rc;
}

static int run(struct msd_instance *self, const struct msd_any *args, int32_t n,
	       struct msd_any *ret)
{
	struct msd_executor *x = executor_of(self);
	int rc = x->ops->run(x);

	(void)args;
	(void)n;
	(void)ret;
	for (uint32_t i = 0; rc == 0 && i < x->n_outputs; i++) {
		if (x->outs[i] != NULL)
			rc = copy_output(x, i, &x->outs[i]->dl);
	}
	return rc;
}

/* (device type, device id, inputs by name or number...) -> all outputs. The call's
 * own device replaces the given one. */
static int run_from_inputs(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret)
{
	struct msd_executor *x = executor_of(self);

	if (n % 2 != 0) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected a device's type and number, then "
					  "pairs of an input and its tensor; got %d "
					  "arguments",
					  n);
	}
	for (int32_t k = 2; k < n; k += 2) {
		if (msd_executor_set_one(x, &args[k], &args[k + 1], k + 1) != 0)
			return -1;
	}
	struct msd_array *all = msd_array_new(x->n_outputs);
	if (all == NULL)
		return msd_abi_no_memory();
	int rc = run(self, NULL, 0, NULL);
	for (uint32_t i = 0; rc == 0 && i < x->n_outputs; i++)
		rc = x->ops->get_output(x, i, &all->items[i]);
	if (rc == 0) {
		*ret = msd_of_obj(&all->obj);
	} else {
		msd_obj_unref(&all->obj);
	}
	return rc;
}

static int get_output(struct msd_instance *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_executor *x = executor_of(self);
	uint32_t i = MSD_NO_SUCH_NAME;

	if (find_output(x, &args[0], &i) != 0)
		return -1;
	if (n == 1)
		return x->ops->get_output(x, i, ret);
	const struct msd_model_tensor want = x->ops->output(x, i);
	if (check("output", i, &want, &args[1], 1) != 0)
		return -1;
	return copy_output(x, i, msd_any_dltensor(&args[1]));
}

/* An unknown name is an error; with TVM's input rules (tvm_inputs) the result is
 * None. */
static int get_input(struct msd_instance *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct msd_executor *x = executor_of(self);
	uint32_t i = MSD_NO_SUCH_NAME;

	(void)n;
	if (msd_executor_find_input(x, &args[0], &i) != 0)
		return -1;
	return i != MSD_NO_SUCH_NAME ? x->ops->get_input(x, i, ret)
				     : msd_executor_no_input(x, &args[0], 0);
}

/* Nothing to do: instances of one module always share their parameters. */
static int share_params(struct msd_instance *self, const struct msd_any *args,
			int32_t n, struct msd_any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return 0;
}

static const struct msd_instance_row rows[] = {
	{"get_input", get_input, 1, 1, false},
	{"get_input_index", msd_executor_input_index, 1, 1, false},
	{"get_input_info", msd_executor_input_info, 0, 0, false},
	{"get_input_name", msd_executor_input_name, 1, 1, false},
	{"get_num_inputs", msd_executor_num_inputs, 0, 0, false},
	{"get_num_outputs", msd_executor_num_outputs, 0, 0, false},
	{"get_output", get_output, 1, 2, true},
	{"get_output_info", msd_executor_output_info, 0, 0, false},
	{"load_params", msd_executor_load_params, 1, 1, false},
	{"run", run, 0, 0, false},
	{"run_from_inputs", run_from_inputs, 2, MSD_INSTANCE_ANY_ARGS, false},
	{"set_input", set_input, 2, MSD_INSTANCE_ANY_ARGS, false},
	{"set_input_zero_copy", set_input_zero_copy, 2, 2, false},
	{"set_output_zero_copy", set_output_zero_copy, 2, 2, false},
	{"share_params", share_params, 0, MSD_INSTANCE_ANY_ARGS, false},
};

static void executor_close(struct msd_instance *self)
{
	struct msd_executor *x = executor_of(self);

	x->ops->destroy(x);
}

static const struct msd_instance_ops instance_ops = {
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.close = executor_close,
};

msd_err msd_executor_init(struct msd_executor *x, const struct msd_executor_ops *ops,
			  uint32_t n_inputs, uint32_t n_outputs, struct msd_diag *d)
{
	x->ops = ops;
	x->n_inputs = n_inputs;
	x->n_outputs = n_outputs;
	x->held = calloc((size_t)n_inputs + 1, sizeof(struct msd_obj *));
	x->outs = calloc((size_t)n_outputs + 1, sizeof(struct msd_tensor *));
	if (x->held == NULL || x->outs == NULL)
		return msd_diag_no_memory(d);
	return msd_instance_init(&x->base, &instance_ops, d);
}

void msd_executor_finish(struct msd_executor *x)
{
	for (uint32_t i = 0; x->held != NULL && i < x->n_inputs; i++)
		msd_obj_unref(x->held[i]);
	for (uint32_t i = 0; x->outs != NULL && i < x->n_outputs; i++) {
		if (x->outs[i] != NULL)
			msd_obj_unref(&x->outs[i]->obj);
	}
	free(x->held);
	free(x->outs);
	msd_instance_finish(&x->base);
}
