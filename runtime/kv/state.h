#ifndef MSD_RUNTIME_KV_STATE_H
#define MSD_RUNTIME_KV_STATE_H
/*
 * The state of a language model over its calls: the tokens of several sequences. A
 * model drives it by vm.builtin.kv_state_*: add a sequence, begin a forward of some
 * sequences, run the model, end the forward. Paged caches (cache.h) and RNN states
 * (rnn.h) are its kinds. Objects of the types registry, used by one thread at a time.
 *
 * Operations that fail raise their error and return -1.
 */
#include "runtime/kv/batch.h"
#include "runtime/value/value.h"

struct msd_kv_state;
struct msd_kv_state_ops {
	void (*clear)(struct msd_kv_state *s);
	int (*add)(struct msd_kv_state *s, int64_t id);
	int (*remove)(struct msd_kv_state *s, int64_t id);
	int (*fork)(struct msd_kv_state *s, int64_t parent, int64_t child, int64_t at);
	int (*pop)(struct msd_kv_state *s, int64_t id, int64_t n);
	int (*begin)(struct msd_kv_state *s, const struct msd_kv_request *r);
	int (*end)(struct msd_kv_state *s);
};

#define MSD_KV_STATE_MARK 0x4d736456u /* in obj.pad: the state has our fields */
struct msd_kv_state {
	struct msd_obj obj;
	const struct msd_kv_state_ops *ops;
};

enum msd_kv_type {
	MSD_KV_PAGED, /* relax.vm.PagedAttentionKVCache */
	MSD_KV_RNN,   /* relax.vm.RNNStateImp */
	MSD_KV_OLDER, /* relax.vm.AttentionKVCacheLegacy, which is no state */
};
/** The index of a type, with TVM's keys and ancestors. */
int32_t msd_kv_type(enum msd_kv_type type);
/** Initialise the header of a new state. */
void msd_kv_state_init(struct msd_kv_state *s, enum msd_kv_type type,
		       const struct msd_kv_state_ops *ops,
		       void (*deleter)(void *self, int flags));
/** The state in @v; NULL if it is something else, or a library's. */
struct msd_kv_state *msd_kv_state_of(const struct msd_any *v);

#endif
