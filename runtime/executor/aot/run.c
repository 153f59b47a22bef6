/*
 * A model compiled ahead of time: one C function that takes inputs, outputs and
 * planned memory.
 *
 * Happy path: create binds parameters and constants once and prepares the call's
 * arguments. A run inserts the caller's inputs, creates the outputs, calls the
 * function, and returns the outputs.
 */
#include "runtime/executor/aot/run.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "runtime/value/error.h"
#include "runtime/value/storage_pool.h"

struct msd_aot {
	const struct msd_aot_metadata *meta;
	struct msd_function *main;
	struct msd_storage_pool *pool; /* for the outputs */
	/* Arguments common to all calls: bound inputs and planned memory; the rest is
	 * None. */
	struct msd_any *args;
	struct msd_any *call; /* arguments of one call; borrowed, except the outputs */
	size_t n_args;
	size_t *inputs; /* indices of the inputs that are not bound */
	size_t n_inputs;
};

void msd_aot_destroy(struct msd_aot *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; a->args != NULL && i < a->n_args; i++)
		msd_any_drop(&a->args[i]);
	free(a->args);
	free(a->call);
	free(a->inputs);
	msd_storage_pool_close(a->pool);
	free(a);
}

/* @t with the bool type of the ABI. */
static struct msd_dtype dtype_of(struct msd_dtype t)
{
	static const struct msd_dtype uint1 = {MSD_DT_UINT, 1, 1};

	return t.code == MSD_DT_BOOL ? uint1 : t;
}

static msd_err bind_param(struct msd_aot *a, size_t i,
			  const struct msd_tensor_blob *blob, struct msd_diag *d)
{
	const struct msd_aot_tensor *t = &a->meta->inputs[i];

	if (blob->data.n != msd_aot_tensor_bytes(t) ||
	    !msd_dtype_eq(dtype_of(blob->dtype), dtype_of(t->dtype))) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "parameter %.64s: not the dtype and shape that the "
				    "model has for it",
				    t->name);
	}
	struct msd_tensor *copy =
		msd_tensor_new(dtype_of(t->dtype), t->shape, (size_t)t->ndim);
	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (blob->data.n > 0)
		memcpy(copy->dl.data, blob->data.p, blob->data.n);
	a->args[i] = msd_of_obj(&copy->obj);
	return MSD_OK;
}

static msd_err bind_params(struct msd_aot *a, const struct msd_params *params,
			   struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < (size_t)a->meta->n_inputs; i++) {
		const struct msd_tensor_blob *blob =
			msd_params_find(params, a->meta->inputs[i].name);
		if (blob != NULL) {
			err = bind_param(a, i, blob, d);
		} else {
			a->inputs[a->n_inputs++] = i;
		}
	}
	return err;
}

static msd_err read_constant(const struct msd_aot_constant *k,
			     struct msd_tensor_blob *ret, struct msd_diag *d)
{
	if (k->n_data < 0 || k->data == NULL || k->offset < 0 ||
	    k->offset > INT64_MAX / 2)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "metadata: a bad constant");
	struct msd_cur c = msd_cur_of(
		(struct msd_span){(const uint8_t *)k->data, (size_t)k->n_data});
	return msd_tensor_blob_read(&c, ret, d);
}

static struct msd_tensor *bytes_new(size_t n)
{
	const int64_t extent = (int64_t)n;

	return msd_tensor_new((struct msd_dtype){MSD_DT_UINT, 8, 1}, &extent, 1);
}

/* Put all constants in one block, each at its offset. */
static msd_err put_constants(struct msd_aot *a, struct msd_any *ret, struct msd_diag *d)
{
	struct msd_tensor_blob blob;
	size_t end = 0;

	for (int64_t i = 0; i < a->meta->n_constants; i++) {
		const struct msd_aot_constant *k = &a->meta->constants[i];
		msd_err err = read_constant(k, &blob, d);
		if (err != MSD_OK)
			return err;
		if (end < (size_t)k->offset + blob.data.n)
			end = (size_t)k->offset + blob.data.n;
	}
	struct msd_tensor *block = bytes_new(end);
	if (block == NULL)
		return msd_diag_no_memory(d);
	memset(block->dl.data, 0, end);
	*ret = msd_of_obj(&block->obj);
	for (int64_t i = 0; i < a->meta->n_constants; i++) {
		const struct msd_aot_constant *k = &a->meta->constants[i];
		msd_err err = read_constant(k, &blob, d);
		if (err != MSD_OK)
			return err;
		memcpy((uint8_t *)block->dl.data + k->offset, blob.data.p, blob.data.n);
	}
	return MSD_OK;
}

/*
 * If memory was planned, the function takes further arguments: one block of the
 * constants, if there are any, and the workspaces. If the planner found only
 * constants, the function takes just these; TVM's own executor omits them.
 */
static size_t count_planned(const struct msd_aot_metadata *meta)
{
	return (meta->n_constants > 0) + (size_t)meta->n_pools;
}

static msd_err put_planned(struct msd_aot *a, struct msd_diag *d)
{
	struct msd_any *at = &a->args[a->meta->n_inputs + a->meta->n_outputs];
	msd_err err = MSD_OK;

	if (a->meta->n_constants > 0)
		err = put_constants(a, at++, d);

	for (int64_t i = 0; err == MSD_OK && i < a->meta->n_pools; i++) {
		struct msd_tensor *t =
			bytes_new(msd_aot_tensor_bytes(&a->meta->pools[i]));
		if (t == NULL)
			return msd_diag_no_memory(d);
		*at++ = msd_of_obj(&t->obj);
	}
	return err;
}

msd_err msd_aot_create(const struct msd_aot_metadata *meta, struct msd_function *main,
		       const struct msd_params *params, struct msd_aot **ret,
		       struct msd_diag *d)
{
	struct msd_aot *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return msd_diag_no_memory(d);
	a->meta = meta;
	a->main = main;
	a->n_args = (size_t)(meta->n_inputs + meta->n_outputs) + count_planned(meta);
	a->args = calloc(a->n_args + 1, sizeof(*a->args));
	a->call = calloc(a->n_args + 1, sizeof(*a->call));
	a->inputs = calloc((size_t)meta->n_inputs + 1, sizeof(*a->inputs));
	a->pool = msd_storage_pool_create();
	const bool is_ok = a->args != NULL && a->call != NULL && a->inputs != NULL &&
			   a->pool != NULL;
	msd_err err = is_ok ? bind_params(a, params, d) : msd_diag_no_memory(d);
	if (err == MSD_OK)
		err = put_planned(a, d);
	if (err != MSD_OK) {
		msd_aot_destroy(a);
		return err;
	}
	*ret = a;
	return MSD_OK;
}

struct msd_model_tensor msd_aot_describe(const struct msd_aot_tensor *t)
{
	return (struct msd_model_tensor){.name = t->name,
					 .dtype = dtype_of(t->dtype),
					 .shape = t->shape,
					 .ndim = (uint32_t)t->ndim};
}

msd_err msd_aot_signature(const struct msd_aot *a, struct msd_signature *ret,
			  struct msd_diag *d)
{
	const size_t n_outputs = (size_t)a->meta->n_outputs;
	struct msd_model_tensor *t = calloc(a->n_inputs + n_outputs + 1, sizeof(*t));
	const struct msd_model_io io = {t, a->n_inputs, t + a->n_inputs, n_outputs, 0};

	if (t == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < a->n_inputs; i++)
		t[i] = msd_aot_describe(&a->meta->inputs[a->inputs[i]]);
	for (size_t i = 0; i < n_outputs; i++)
		t[a->n_inputs + i] = msd_aot_describe(&a->meta->outputs[i]);
	msd_err err = msd_model_signature("run", &io, ret, d);
	ret->has_c_names = err == MSD_OK;
	free(t);
	return err;
}

static int take_inputs(struct msd_aot *a, const struct msd_any *args, int32_t n)
{
	if (n < 0 || (size_t)n != a->n_inputs) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected %zu arguments but got %d",
					  a->n_inputs, n);
	}
	for (size_t i = 0; i < a->n_inputs; i++) {
		const struct msd_aot_tensor *want = &a->meta->inputs[a->inputs[i]];
		const struct msd_dltensor *t = msd_any_dltensor(&args[i]);

		if (t == NULL || t->strides != NULL || t->device.type != MSD_DEV_CPU ||
		    msd_dltensor_bytes(t) != msd_aot_tensor_bytes(want)) {
			return msd_abi_raise_code(MSD_BAD_ARGUMENT,
						  "argument %zu (%.64s): expected a "
						  "compact tensor of %zu bytes on the "
						  "host, got %s",
						  i, want->name,
						  msd_aot_tensor_bytes(want),
						  msd_type_name(args[i].type));
		}
		a->call[a->inputs[i]] = args[i];
	}
	return 0;
}

static int make_output(struct msd_aot *a, size_t i, struct msd_any *ret)
{
	const struct msd_aot_tensor *t = &a->meta->outputs[i];
	struct msd_storage *s =
		msd_storage_pool_allocate(a->pool, msd_aot_tensor_bytes(t));
	struct msd_tensor *made =
		s != NULL ? msd_tensor_view(s->data,
					    (struct msd_device){.type = MSD_DEV_CPU},
					    dtype_of(t->dtype), t->shape,
					    (size_t)t->ndim, &s->obj, NULL, NULL)
			  : NULL;

	if (s != NULL)
		msd_obj_unref(&s->obj); /* the tensor holds a reference */
	if (made == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "out of memory for the outputs");
	*ret = msd_of_obj(&made->obj);
	return 0;
}

static int give_outputs(const struct msd_aot *a, struct msd_any *outputs,
			struct msd_any *ret)
{
	const size_t n = (size_t)a->meta->n_outputs;

	if (n == 1) {
		*ret = outputs[0];
		outputs[0] = msd_none();
		return 0;
	}
	struct msd_array *tuple = msd_array_new(n);
	if (tuple == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "out of memory for the outputs");
	for (size_t i = 0; i < n; i++) {
		tuple->items[i] = outputs[i];
		outputs[i] = msd_none();
	}
	*ret = msd_of_obj(&tuple->obj);
	return 0;
}

/* Call with the inputs in a->call, which also gets the outputs; None on failure. */
static int call_main(struct msd_aot *a)
{
	struct msd_any *outputs = &a->call[a->meta->n_inputs];
	struct msd_any ignored = msd_none();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < (size_t)a->meta->n_outputs; i++)
		rc = make_output(a, i, &outputs[i]);
	if (rc == 0)
		rc = a->main->call(a->main, a->call, (int32_t)a->n_args, &ignored);
	msd_any_drop(&ignored);
	for (size_t i = 0; rc != 0 && i < (size_t)a->meta->n_outputs; i++)
		msd_any_drop(&outputs[i]);
	return rc;
}

static void call_begin(struct msd_aot *a)
{
	memcpy(a->call, a->args, a->n_args * sizeof(*a->args));
}

int msd_aot_run(struct msd_aot *a, const struct msd_any *args, int32_t n,
		struct msd_any *ret)
{
	struct msd_any *outputs = &a->call[a->meta->n_inputs];

	call_begin(a);
	if (take_inputs(a, args, n) != 0 || call_main(a) != 0)
		return -1;
	const int rc = give_outputs(a, outputs, ret);
	for (size_t i = 0; i < (size_t)a->meta->n_outputs; i++)
		msd_any_drop(&outputs[i]);
	return rc;
}

int msd_aot_call(struct msd_aot *a, const struct msd_any *inputs,
		 struct msd_any *outputs)
{
	call_begin(a);
	for (size_t i = 0; i < (size_t)a->meta->n_inputs; i++) {
		if (inputs[i].type != MSD_T_NONE)
			a->call[i] = inputs[i];
	}
	if (call_main(a) != 0)
		return -1;
	memcpy(outputs, &a->call[a->meta->n_inputs],
	       (size_t)a->meta->n_outputs * sizeof(*outputs));
	return 0;
}

const struct msd_aot_metadata *msd_aot_metadata(const struct msd_aot *a)
{
	return a->meta;
}

const struct msd_any *msd_aot_bound(const struct msd_aot *a, size_t i)
{
	return a->args[i].type != MSD_T_NONE ? &a->args[i] : NULL;
}
