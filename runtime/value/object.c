/* Reference counts as in TVMFFIObject: all strong references together hold one weak
 * reference. Deleters are the object's own, and may be of another library. */
#include <stdlib.h>

#include "runtime/value/value.h"

#define STRONG_MASK 0xffffffffu
#define ONE_WEAK ((uint64_t)1 << 32)

void msd_obj_unref(struct msd_obj *obj)
{
	uint64_t old;

	if (obj == NULL)
		return;
	old = __atomic_fetch_sub(&obj->counts, 1, __ATOMIC_ACQ_REL);
	if (old == MSD_FRESH_COUNTS) {
		if (obj->deleter != NULL)
			obj->deleter(obj, MSD_STRONG_GONE | MSD_WEAK_GONE);
		return;
	}
	if ((old & STRONG_MASK) != 1)
		return;
	if (obj->deleter != NULL)
		obj->deleter(obj, MSD_STRONG_GONE);
	old = __atomic_fetch_sub(&obj->counts, ONE_WEAK, __ATOMIC_ACQ_REL);
	if (old >> 32 == 1 && obj->deleter != NULL)
		obj->deleter(obj, MSD_WEAK_GONE);
}

bool msd_obj_is_shared(const struct msd_obj *obj)
{
	return (__atomic_load_n(&obj->counts, __ATOMIC_ACQUIRE) & STRONG_MASK) > 1;
}

void msd_any_drop(struct msd_any *v)
{
	if (v->type >= MSD_T_OBJECT)
		msd_obj_unref(v->as.obj);
	*v = msd_none();
}
