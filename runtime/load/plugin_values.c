#include "runtime/load/plugin_values.h"

#include <stddef.h>

#include "runtime/value/error.h"
#include "runtime/value/function.h"
#include "runtime/value/registry.h"

/* Both sides use the layouts of tvm-ffi. */
_Static_assert(sizeof(modserd_any) == sizeof(struct msd_any) &&
		       offsetof(modserd_any, as) == offsetof(struct msd_any, as),
	       "a value");
_Static_assert(sizeof(modserd_tensor) == sizeof(struct msd_dltensor) &&
		       offsetof(modserd_tensor, shape) ==
			       offsetof(struct msd_dltensor, shape) &&
		       offsetof(modserd_tensor, byte_offset) ==
			       offsetof(struct msd_dltensor, byte_offset),
	       "a tensor");

static const struct msd_any *in(const modserd_any *v)
{
	return (const void *)v;
}

static struct msd_any *out(modserd_any *v)
{
	return (void *)v;
}

static int raise_error(const char *kind, const char *message)
{
	return msd_abi_raise_bytes(kind, msd_span_of(message));
}

static const char *text(const modserd_any *v, size_t *ret_bytes)
{
	struct msd_span s;

	if (!msd_any_str(in(v), &s)) {
		(void)msd_abi_raise("TypeError", "expected a str or bytes, got %s",
				    msd_type_name(v->type));
		return NULL;
	}
	*ret_bytes = s.n;
	return (const char *)s.p;
}

static const modserd_tensor *tensor(const modserd_any *v)
{
	const struct msd_dltensor *t = msd_any_dltensor(in(v));
	const char *what = NULL;

	if (t == NULL) {
		what = msd_type_name(v->type);
	} else if (t->device.type != MSD_DEV_CPU &&
		   t->device.type != MSD_DEV_CUDA_HOST) {
		what = "one of a device";
	} else if (!msd_dltensor_is_compact(t)) {
		what = "one with strides";
	}
	if (what == NULL)
		return (const void *)t;
	(void)msd_abi_raise("TypeError",
			    "expected a row-major tensor of the host, got %s", what);
	return NULL;
}

static int set_text(const char *p, size_t bytes, int is_bytes, modserd_any *ret)
{
	const struct msd_span s = {(const uint8_t *)p, bytes};

	return msd_any_text(s, is_bytes == 0, out(ret)) ? 0 : msd_abi_no_memory();
}

static modserd_tensor *set_tensor(const modserd_tensor *like, modserd_any *ret)
{
	const struct msd_dtype dtype = {like->code, like->bits, like->lanes};
	struct msd_tensor *t = NULL;

	if (like->n_dims < 0 || like->n_dims > MSD_MAX_NDIM) {
		(void)msd_abi_raise("ValueError", "a tensor has 0 to %u axes, not %d",
				    MSD_MAX_NDIM, (int)like->n_dims);
		return NULL;
	}
	for (int32_t i = 0; i < like->n_dims; i++) {
		if (like->shape[i] < 0) {
			(void)msd_abi_raise("ValueError",
					    "a tensor has a negative extent");
			return NULL;
		}
	}
	t = msd_tensor_new(dtype, like->shape, (size_t)like->n_dims);
	if (t == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	*out(ret) = msd_of_obj(&t->obj);
	return (void *)&t->dl;
}

static int set_function(modserd_call *call, void *self, void (*finish)(void *self),
			modserd_any *ret)
{
	struct msd_function *fn = msd_function_new(self, (msd_safe_call)call, finish);

	if (fn == NULL)
		return msd_abi_no_memory();
	*out(ret) = msd_of_obj(&fn->obj);
	return 0;
}

static int find(const char *name, modserd_any *ret)
{
	struct msd_function *fn = msd_registry_find(msd_span_of(name));

	if (fn == NULL) {
		return msd_abi_raise("ValueError", "no packed function is called %s",
				     name);
	}
	msd_obj_ref(&fn->obj);
	*out(ret) = msd_of_obj(&fn->obj);
	return 0;
}

static int call(const modserd_any *function, const modserd_any *args, int32_t n_args,
		modserd_any *ret)
{
	if (function->type != MSD_T_FUNCTION) {
		return msd_abi_raise("TypeError", "expected a function, got %s",
				     msd_type_name(function->type));
	}
	struct msd_function *fn = (struct msd_function *)(void *)in(function)->as.obj;
	*out(ret) = msd_none();
	return fn->call(fn, in(args), n_args, out(ret));
}

static int keep(const modserd_any *v, modserd_any *ret)
{
	return msd_any_copy(in(v), out(ret)) ? 0 : msd_abi_no_memory();
}

static void release(modserd_any *v)
{
	msd_any_drop(out(v));
}

void msd_plugin_values_put(modserd_host *host)
{
	host->raise = raise_error;
	host->text = text;
	host->tensor = tensor;
	host->set_text = set_text;
	host->set_tensor = set_tensor;
	host->set_function = set_function;
	host->find = find;
	host->call = call;
	host->keep = keep;
	host->release = release;
}
