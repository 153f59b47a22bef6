#include "runtime/abi/classic_function.h"

#include <stdlib.h>

#include "runtime/value/error.h"
#include "runtime/value/registry.h"

struct made {
	struct msd_thunk thunk; /* its code is unused: a data pointer */
	msd_classic_c_function call;
	void *resource;
	void (*finish)(void *resource);
};

static int call_step(const struct msd_thunk *thunk, union msd_classic_value *values,
		     int *codes, int n, struct msd_any *ret)
{
	const struct made *m = (const struct made *)(const void *)thunk;

	return m->call(values, codes, n, ret, m->resource);
}

static int call_made(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	return msd_classic_convert(self, args, n, call_step, ret);
}

static void delete_made(void *self, int flags)
{
	struct made *m = self;

	if ((flags & MSD_STRONG_GONE) != 0 && m->finish != NULL)
		m->finish(m->resource);
	if ((flags & MSD_WEAK_GONE) != 0)
		free(m);
}

int msd_classic_function_create(msd_classic_c_function call, void *resource,
				void (*finish)(void *resource), void **ret)
{
	struct made *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return msd_abi_no_memory();
	msd_function_init(&m->thunk.fn, "a library's function", call_made);
	m->thunk.fn.obj.deleter = delete_made;
	m->call = call;
	m->resource = resource;
	m->finish = finish;
	*ret = m;
	return 0;
}

int msd_classic_function_free(void *fn)
{
	msd_obj_unref(fn);
	return 0;
}

int msd_classic_set_return(void *ret, union msd_classic_value *values, int *codes,
			   int n)
{
	struct msd_any *to = ret;
	struct msd_any value;

	if (n != 1) {
		return msd_abi_raise("ValueError", "a function returns 1 value, not %d",
				     n);
	}
	if (msd_classic_take_object(values, codes[0], &value) != 0)
		return -1;
	msd_any_drop(to);
	return msd_any_copy(&value, to) ? 0 : msd_abi_no_memory();
}

int msd_classic_register(const char *name, void *fn, int may_replace)
{
	return msd_registry_set(
		msd_span_of(name), fn,
		MSD_REGISTERED_FOR_CLIENTS |
			(may_replace != 0 ? MSD_REGISTERED_MAY_REPLACE : 0));
}

int msd_classic_get_global(const char *name, void **ret)
{
	struct msd_function *fn = msd_registry_find(msd_span_of(name));

	if (fn != NULL)
		msd_obj_ref(&fn->obj);
	*ret = fn;
	return 0;
}
