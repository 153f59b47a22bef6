/* vm.builtin.kv_state_*: a language model's driver calls these functions on the state
 * of its sequences, a paged cache or an RNN state. */
#include "artifact/provides/packed.h"
#include "runtime/kv/state.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

static bool state_at(struct msd_args a, int32_t i, struct msd_kv_state **ret)
{
	*ret = msd_kv_state_of(&a.v[i]);
	return *ret != NULL || msd_args_refuse(a, i, "a KV state") == 0;
}

/* (state) */
static int clear(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_state *s;

	(void)self, (void)ret;
	if (!msd_args_count(a, 1, 1) || !state_at(a, 0, &s))
		return -1;
	s->ops->clear(s);
	return 0;
}

static bool sequence_of(struct msd_args a, struct msd_kv_state **ret, int64_t *ret_id)
{
	return msd_args_count(a, 2, 2) && state_at(a, 0, ret) &&
	       msd_args_int(a, 1, ret_id);
}

/* (state, sequence) */
static int add_sequence(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct msd_kv_state *s;
	int64_t id;

	(void)self, (void)ret;
	return sequence_of((struct msd_args){args, n}, &s, &id) ? s->ops->add(s, id)
								: -1;
}

/* (state, sequence) */
static int remove_sequence(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	struct msd_kv_state *s;
	int64_t id;

	(void)self, (void)ret;
	return sequence_of((struct msd_args){args, n}, &s, &id) ? s->ops->remove(s, id)
								: -1;
}

/* (state, sequence, new sequence[, its length]) */
static int fork_sequence(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_state *s;
	int64_t parent;
	int64_t child;
	int64_t at = -1;

	(void)self, (void)ret;
	if (!msd_args_count(a, 3, 4) || !state_at(a, 0, &s) ||
	    !msd_args_int(a, 1, &parent) || !msd_args_int(a, 2, &child) ||
	    (n == 4 && !msd_args_int(a, 3, &at)))
		return -1;
	return s->ops->fork(s, parent, child, at);
}

/* (state, sequence, number of tokens) */
static int popn(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_state *s;
	int64_t id;
	int64_t tokens;

	(void)self, (void)ret;
	return msd_args_count(a, 3, 3) && state_at(a, 0, &s) &&
			       msd_args_int(a, 1, &id) && msd_args_int(a, 2, &tokens)
		       ? s->ops->pop(s, id, tokens)
		       : -1;
}

/* (state, sequences, their numbers of tokens[, parents of nodes]) */
static int begin_forward(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_state *s;
	struct msd_shape *ids;
	struct msd_shape *lengths;
	struct msd_shape *parents = NULL;

	(void)self, (void)ret;
	if (!msd_args_count(a, 3, 4) || !state_at(a, 0, &s) ||
	    !msd_args_shape(a, 1, &ids) || !msd_args_shape(a, 2, &lengths))
		return -1;
	if (n == 4 && args[3].type != MSD_T_NONE && !msd_args_shape(a, 3, &parents))
		return -1;
	return s->ops->begin(s, &(struct msd_kv_request){ids, lengths, parents});
}

/* (state) */
static int end_forward(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_state *s;

	(void)self, (void)ret;
	return msd_args_count(a, 1, 1) && state_at(a, 0, &s) ? s->ops->end(s) : -1;
}

const struct msd_global msd_globals_kv_state[] = MSD_GLOBAL_TABLE(MSD_PACKED_KV_STATE);
