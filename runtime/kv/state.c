#include "runtime/kv/state.h"

#include <string.h>

#include "runtime/value/types.h"

static int32_t type_below(const char *key, int32_t parent, int32_t depth,
			  int32_t n_children)
{
	return msd_type_register(&(struct msd_type_request){.key = {key, strlen(key)},
							    .index = -1,
							    .depth = depth,
							    .n_children = n_children,
							    .may_overflow = true,
							    .parent = parent});
}

int32_t msd_kv_type(enum msd_kv_type type)
{
	int32_t state;

	if (type == MSD_KV_OLDER) {
		return type_below("relax.vm.AttentionKVCacheLegacy", MSD_T_OBJECT, 1,
				  0);
	}
	state = type_below("relax.vm.KVState", MSD_T_OBJECT, 1, 0);
	if (type == MSD_KV_RNN) {
		state = type_below("relax.vm.RNNState", state, 2, 0);
		return type_below("relax.vm.RNNStateImp", state, 3, 0);
	}
	state = type_below("relax.vm.AttentionKVCache", state, 2, 0);
	return type_below("relax.vm.PagedAttentionKVCache", state, 3, 0);
}

void msd_kv_state_init(struct msd_kv_state *s, enum msd_kv_type type,
		       const struct msd_kv_state_ops *ops,
		       void (*deleter)(void *self, int flags))
{
	msd_obj_init(&s->obj, msd_kv_type(type), deleter);
	s->obj.pad = MSD_KV_STATE_MARK;
	s->ops = ops;
}

struct msd_kv_state *msd_kv_state_of(const struct msd_any *v)
{
	if (v->type < MSD_T_DYNAMIC || v->as.obj->pad != MSD_KV_STATE_MARK)
		return NULL;
	return (struct msd_kv_state *)(void *)v->as.obj;
}
