/* vm.builtin.rnn_state_*: states of recurrent language models. */
#include "artifact/provides/packed.h"
#include "runtime/kv/rnn.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* (layers, sequences, history, functions that read, functions that write, values) */
static int create(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_rnn_config g = {0};
	struct msd_array *lists[3];
	struct msd_kv_rnn *r;

	(void)self;
	if (!msd_args_count(a, 6, 6) || !msd_args_int(a, 0, &g.n_layers) ||
	    !msd_args_int(a, 1, &g.max_sequences) || !msd_args_int(a, 2, &g.history))
		return -1;
	for (int32_t i = 0; i < 3; i++) {
		if (!msd_args_tuple(a, 3 + i, &lists[i]))
			return -1;
	}
	g.gets = lists[0];
	g.sets = lists[1];
	g.init = lists[2];
	r = msd_kv_rnn_new(&g);
	if (r == NULL)
		return -1;
	*ret = msd_of_obj(msd_kv_rnn_obj(r));
	return 0;
}

/* (state, layer, index, ...) */
static struct msd_kv_rnn *open_args(struct msd_args a, int64_t *ret_layer,
				    int64_t *ret_state)
{
	struct msd_kv_rnn *r;

	if (!msd_args_count(a, 4, 4))
		return NULL;
	r = msd_kv_rnn_of(&a.v[0]);
	if (r == NULL) {
		(void)msd_args_refuse(a, 0, "an RNN state");
		return NULL;
	}
	return msd_args_int(a, 1, ret_layer) && msd_args_int(a, 2, ret_state) ? r
									      : NULL;
}

/* (state, layer, index, out) */
static int get(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t layer;
	int64_t state;
	struct msd_kv_rnn *r = open_args(a, &layer, &state);
	struct msd_dltensor *t;

	(void)self, (void)ret;
	return r != NULL && msd_args_host_tensor(a, 3, &t)
		       ? msd_kv_rnn_get(r, layer, state, &args[3])
		       : -1;
}

/* (state, layer, index, in) -> state */
static int set(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t layer;
	int64_t state;
	struct msd_kv_rnn *r = open_args(a, &layer, &state);
	struct msd_dltensor *t;

	(void)self;
	if (r == NULL || !msd_args_host_tensor(a, 3, &t) ||
	    msd_kv_rnn_set(r, layer, state, &args[3]) != 0)
		return -1;
	return msd_return_copy(&args[0], ret);
}

/* (state, layer, index, sequence) -> tensor */
static int debug_get(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t layer;
	int64_t state;
	struct msd_kv_rnn *r = open_args(a, &layer, &state);
	int64_t id;

	(void)self;
	return r != NULL && msd_args_int(a, 3, &id)
		       ? msd_kv_rnn_read(r, layer, state, id, ret)
		       : -1;
}

const struct msd_global msd_globals_rnn_state[] =
	MSD_GLOBAL_TABLE(MSD_PACKED_RNN_STATE);
