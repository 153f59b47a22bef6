/* vm.builtin.*tuple*: tuples are arrays of values. */
#include <inttypes.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* (x...) -> tuple */
static int make_tuple(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_array *t = msd_array_new((size_t)n);
	(void)self;

	if (t == NULL)
		return msd_return_obj(NULL, ret);
	for (int32_t i = 0; i < n; i++) {
		if (!msd_any_copy(&args[i], &t->items[i])) {
			msd_obj_unref(&t->obj);
			return msd_return_obj(NULL, ret);
		}
	}
	return msd_return_obj(&t->obj, ret);
}

/* The field that arguments 0 and 1 specify, or NULL with the error raised. */
static struct msd_any *field_of(struct msd_args a)
{
	struct msd_array *t;
	int64_t i;

	if (!msd_args_count(a, 2, 2) || !msd_args_tuple(a, 0, &t) ||
	    !msd_args_int(a, 1, &i))
		return NULL;
	if (i >= 0 && i < t->size)
		return &t->items[i];
	(void)msd_abi_raise("IndexError",
			    "index %" PRId64 " is outside a tuple of %" PRId64, i,
			    t->size);
	return NULL;
}

/* (tuple, i) -> field */
static int tuple_getitem(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	const struct msd_any *field = field_of((struct msd_args){args, n});
	(void)self;

	return field != NULL ? msd_return_copy(field, ret) : -1;
}

/* (tuple, i): drop the field, so that its memory can be reused */
static int tuple_reset_item(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	struct msd_any *field = field_of((struct msd_args){args, n});
	(void)self;
	(void)ret;

	if (field == NULL)
		return -1;
	msd_any_drop(field);
	return 0;
}

const struct msd_global msd_globals_tuple[] = MSD_GLOBAL_TABLE(MSD_PACKED_TUPLE);
