#include "runtime/abi/anylist.h"

#include "runtime/abi/classic.h"
#include "runtime/abi/ffi021.h"
#include "runtime/value/error.h"

#define ERA_BITS ((uintptr_t)3)

_Static_assert(_Alignof(struct msd_any) > ERA_BITS, "the bits are free");

void *msd_list_handle(struct msd_any *items, enum msd_list_era era)
{
	return (char *)items + era;
}

static enum msd_list_era era_of(const void *list)
{
	return (enum msd_list_era)((uintptr_t)list & ERA_BITS);
}

static struct msd_any *items_of(void *list)
{
	return (void *)((char *)list - era_of(list));
}

/* Classic code passes an int in this pointer parameter. */
static int place_of(void *codes)
{
	return (int)(intptr_t)codes;
}

int msd_list_set_arg(void *list, int index, void *args, void *codes, int arg)
{
	const struct msd_any *item = &items_of(list)[index];
	struct msd_any *values = args;

	if (era_of(list) == MSD_LIST_CLASSIC) {
		return msd_classic_put_object(item,
					      (union msd_classic_value *)args + arg,
					      (int *)codes + arg);
	}
	values[place_of(codes)] = *item; /* borrowed, like arguments */
	if (era_of(list) == MSD_LIST_FFI_021)
		msd_ffi021_put_object(&values[place_of(codes)]);
	return 0;
}

int msd_list_reset(void *list, int index)
{
	msd_any_drop(&items_of(list)[index]);
	return 0;
}

int msd_list_move(void *list, int index, void *args, void *codes, int ret)
{
	struct msd_any *item = &items_of(list)[index];
	struct msd_any old = *item;
	struct msd_any *values = args;

	if (era_of(list) == MSD_LIST_CLASSIC) {
		struct msd_any given;

		if (msd_classic_take_object((union msd_classic_value *)args + ret,
					    ((int *)codes)[ret], &given) != 0)
			return -1;
		if (!msd_any_copy(&given, item)) {
			*item = old;
			return msd_abi_no_memory();
		}
	} else {
		*item = values[place_of(codes)];
		values[place_of(codes)] = msd_none();
		if (era_of(list) == MSD_LIST_FFI_021)
			msd_ffi021_take_object(item);
	}
	msd_any_drop(&old);
	return 0;
}
