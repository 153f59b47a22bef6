/*
 * RNN states. Normal path: a sequence takes a slot, whose first state is the model's
 * initial one; a forward reads the state at the sequence's place in its history and
 * writes the next place; the end of the forward moves the sequence there. Failures: no
 * free slot, unknown sequences, more tokens taken back than the history has, layers or
 * states that do not exist.
 */
#include "runtime/kv/rnn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kv/cache.h"
#include "runtime/kv/state.h"
#include "runtime/value/error.h"

struct sequence {
	int64_t id;
	int64_t length;
	int64_t n_back; /* tokens that can be taken back */
	int64_t place;  /* in the history */
	bool is_used;
};

struct msd_kv_rnn {
	struct msd_kv_state state;
	int64_t n_layers;
	int64_t max_sequences;
	int64_t history;
	int64_t n_states;
	struct msd_array *gets; /* owned, as the next two */
	struct msd_array *sets;
	struct msd_array *init;
	struct msd_tensor **memory; /* [layer * n_states + state] */
	struct sequence *slots;
	struct msd_ints free; /* slots, the next one last */
	/* The forward. */
	bool is_open;
	int64_t n;
	int64_t *lengths;
	struct msd_ints batch; /* slots of its sequences */
	struct msd_tensor *slot_ids;
	struct msd_tensor *places;
};

static struct msd_kv_rnn *self_of(struct msd_kv_state *s)
{
	return (struct msd_kv_rnn *)(void *)s;
}

static void forward_drop(struct msd_kv_rnn *r)
{
	if (r->slot_ids != NULL)
		msd_obj_unref(&r->slot_ids->obj);
	if (r->places != NULL)
		msd_obj_unref(&r->places->obj);
	free(r->lengths);
	r->slot_ids = NULL;
	r->places = NULL;
	r->lengths = NULL;
	r->batch.n = 0;
	r->n = 0;
	r->is_open = false;
}

static void rnn_delete(void *self, int flags)
{
	struct msd_kv_rnn *r = self;

	if ((flags & MSD_STRONG_GONE) != 0) {
		forward_drop(r);
		for (int64_t i = 0; r->memory != NULL && i < r->n_layers * r->n_states;
		     i++) {
			if (r->memory[i] != NULL)
				msd_obj_unref(&r->memory[i]->obj);
		}
		free(r->memory);
		free(r->slots);
		msd_ints_finish(&r->free);
		msd_ints_finish(&r->batch);
		msd_obj_unref(&r->gets->obj);
		msd_obj_unref(&r->sets->obj);
		msd_obj_unref(&r->init->obj);
	}
	if ((flags & MSD_WEAK_GONE) != 0)
		free(r);
}

struct msd_kv_rnn *msd_kv_rnn_of(const struct msd_any *v)
{
	struct msd_kv_state *s = msd_kv_state_of(v);

	return s != NULL && s->obj.deleter == rnn_delete ? self_of(s) : NULL;
}

struct msd_obj *msd_kv_rnn_obj(struct msd_kv_rnn *r)
{
	return &r->state.obj;
}

/* The slot of sequence @id; -1: it has none. */
static int64_t slot_of(const struct msd_kv_rnn *r, int64_t id)
{
	for (int64_t i = 0; i < r->max_sequences; i++) {
		if (r->slots[i].is_used && r->slots[i].id == id)
			return i;
	}
	return -1;
}

static int64_t slot_find(const struct msd_kv_rnn *r, int64_t id)
{
	const int64_t slot = slot_of(r, id);

	if (slot < 0) {
		(void)msd_abi_raise("ValueError",
				    "sequence %" PRId64 " is not in the state", id);
	}
	return slot;
}

/* Bytes of one state, and of a slot's history of it. */
static size_t state_bytes(const struct msd_kv_rnn *r, int64_t state)
{
	return msd_dltensor_bytes(msd_any_dltensor(&r->init->items[state]));
}

static char *state_at(const struct msd_kv_rnn *r, int64_t layer, int64_t state,
		      int64_t slot, int64_t place)
{
	const struct msd_tensor *t = r->memory[layer * r->n_states + state];

	return (char *)t->dl.data +
	       (size_t)(slot * r->history + place) * state_bytes(r, state);
}

static void rnn_clear(struct msd_kv_state *s)
{
	struct msd_kv_rnn *r = self_of(s);

	forward_drop(r);
	r->free.n = 0;
	for (int64_t i = r->max_sequences; i-- > 0;) {
		r->slots[i].is_used = false;
		r->free.v[r->free.n++] = (int32_t)i;
	}
}

/* Take a slot for the new sequence @id; -1 with the error raised. */
static int64_t slot_take(struct msd_kv_rnn *r, int64_t id)
{
	if (slot_of(r, id) >= 0) {
		(void)msd_abi_raise("ValueError",
				    "sequence %" PRId64 " is already in the state", id);
		return -1;
	}
	if (r->free.n == 0) {
		(void)msd_abi_raise("ValueError",
				    "sequence %" PRId64
				    ": the state was created for %" PRId64 " sequences",
				    id, r->max_sequences);
		return -1;
	}
	const int64_t slot = r->free.v[--r->free.n];
	r->slots[slot] = (struct sequence){.id = id, .is_used = true};
	return slot;
}

static int rnn_add(struct msd_kv_state *s, int64_t id)
{
	struct msd_kv_rnn *r = self_of(s);
	const int64_t slot = slot_take(r, id);

	if (slot < 0)
		return -1;
	for (int64_t i = 0; i < r->n_layers * r->n_states; i++) {
		const int64_t state = i % r->n_states;
		const struct msd_dltensor *t = msd_any_dltensor(&r->init->items[state]);

		memcpy(state_at(r, i / r->n_states, state, slot, 0),
		       (const char *)t->data + t->byte_offset, state_bytes(r, state));
	}
	return 0;
}

static int rnn_remove(struct msd_kv_state *s, int64_t id)
{
	struct msd_kv_rnn *r = self_of(s);
	const int64_t slot = slot_find(r, id);

	if (slot < 0)
		return -1;
	r->slots[slot].is_used = false;
	r->free.v[r->free.n++] = (int32_t)slot;
	return 0;
}

/* The position of the fork is not looked at: a state has no tokens to cut. */
static int rnn_fork(struct msd_kv_state *s, int64_t parent, int64_t child, int64_t at)
{
	struct msd_kv_rnn *r = self_of(s);
	const int64_t from = slot_find(r, parent);
	const int64_t to = from >= 0 ? slot_take(r, child) : -1;

	(void)at;
	if (to < 0)
		return -1;
	r->slots[to] = r->slots[from];
	r->slots[to].id = child;
	for (int64_t i = 0; i < r->n_layers * r->n_states; i++) {
		const int64_t layer = i / r->n_states;
		const int64_t state = i % r->n_states;

		memcpy(state_at(r, layer, state, to, 0),
		       state_at(r, layer, state, from, 0),
		       (size_t)r->history * state_bytes(r, state));
	}
	return 0;
}

static int rnn_pop(struct msd_kv_state *s, int64_t id, int64_t n)
{
	struct msd_kv_rnn *r = self_of(s);
	const int64_t slot = slot_find(r, id);
	struct sequence *q = &r->slots[slot >= 0 ? slot : 0];

	if (slot < 0)
		return -1;
	if (n < 0 || n > q->n_back) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 ": %" PRId64
				     " tokens can be taken back, not %" PRId64,
				     id, q->n_back, n);
	}
	q->length -= n;
	q->n_back -= n;
	q->place = (q->place - n + r->history) % r->history;
	return 0;
}

static int request_check(const struct msd_kv_rnn *r, const struct msd_kv_request *q)
{
	size_t at = 0;

	if (q->ids->ndim != q->lengths->ndim || q->ids->ndim < 1 ||
	    (int64_t)q->ids->ndim > r->max_sequences) {
		return msd_abi_raise("ValueError",
				     "a batch of %zu sequences with %zu lengths: "
				     "expected as many, from 1 to %" PRId64,
				     q->ids->ndim, q->lengths->ndim, r->max_sequences);
	}
	for (size_t i = 0; i < q->ids->ndim; i++) {
		if (slot_find(r, q->ids->dim[i]) < 0)
			return -1;
		if (q->lengths->dim[i] <= 0 || q->lengths->dim[i] > INT32_MAX) {
			return msd_abi_raise("ValueError",
					     "sequence %" PRId64
					     " cannot grow by %" PRId64 " tokens",
					     q->ids->dim[i], q->lengths->dim[i]);
		}
		for (size_t j = 0; j < i; j++) {
			if (q->ids->dim[j] == q->ids->dim[i]) {
				return msd_abi_raise("ValueError",
						     "sequence %" PRId64
						     " is twice in the batch",
						     q->ids->dim[i]);
			}
		}
		for (int64_t j = 0; q->parents != NULL && j < q->lengths->dim[i]; j++) {
			if (at >= q->parents->ndim || q->parents->dim[at++] != j - 1) {
				return msd_abi_raise("ValueError",
						     "sequence %" PRId64
						     ": an RNN state takes only chains "
						     "as token trees",
						     q->ids->dim[i]);
			}
		}
	}
	return 0;
}

static bool forward_make(struct msd_kv_rnn *r, const struct msd_kv_request *q)
{
	struct msd_ints places = {0};
	bool is_ok;

	forward_drop(r);
	r->n = (int64_t)q->ids->ndim;
	r->lengths = calloc(q->ids->ndim, sizeof(*r->lengths));
	is_ok = r->lengths != NULL;
	for (int64_t i = 0; is_ok && i < r->n; i++) {
		const int64_t slot = slot_of(r, q->ids->dim[i]);

		r->lengths[i] = q->lengths->dim[i];
		is_ok = msd_ints_push(&r->batch, (int32_t)slot) &&
			msd_ints_push(&places, (int32_t)r->slots[slot].place);
	}
	if (is_ok) {
		r->slot_ids = msd_ints_tensor(&r->batch, 1);
		r->places = msd_ints_tensor(&places, 1);
	}
	msd_ints_finish(&places);
	return r->slot_ids != NULL && r->places != NULL;
}

static int rnn_begin(struct msd_kv_state *s, const struct msd_kv_request *q)
{
	struct msd_kv_rnn *r = self_of(s);

	if (r->is_open) {
		return msd_abi_raise("RuntimeError",
				     "a forward is open: call "
				     "vm.builtin.kv_state_end_forward first");
	}
	if (request_check(r, q) != 0)
		return -1;
	if (!forward_make(r, q)) {
		forward_drop(r);
		return msd_abi_no_memory();
	}
	r->is_open = true;
	return 0;
}

static int no_forward(void)
{
	return msd_abi_raise("RuntimeError", "no forward is open: call "
					     "vm.builtin.kv_state_begin_forward first");
}

static int rnn_end(struct msd_kv_state *s)
{
	struct msd_kv_rnn *r = self_of(s);

	if (!r->is_open)
		return no_forward();
	for (int64_t i = 0; i < r->n; i++) {
		struct sequence *q = &r->slots[r->batch.v[i]];
		const int64_t n = q->n_back + 1;

		q->length += r->lengths[i];
		/* several tokens make one state: they cannot be taken back */
		q->n_back = n < r->history - 1 ? n : r->history - 1;
		if (r->lengths[i] > 1)
			q->n_back = 0;
		q->place = (q->place + 1) % r->history;
	}
	forward_drop(r);
	return 0;
}

static const struct msd_kv_state_ops ops = {
	.clear = rnn_clear,
	.add = rnn_add,
	.remove = rnn_remove,
	.fork = rnn_fork,
	.pop = rnn_pop,
	.begin = rnn_begin,
	.end = rnn_end,
};

static bool index_check(const char *what, int64_t i, int64_t n)
{
	if (i >= 0 && i < n)
		return true;
	(void)msd_abi_raise("ValueError",
			    "%s %" PRId64 " does not exist: there are %" PRId64, what,
			    i, n);
	return false;
}

/* Call the function that reads or writes a state. */
static int call(struct msd_kv_rnn *r, const struct msd_array *functions, int64_t layer,
		int64_t state, const struct msd_any *v)
{
	struct msd_any ignored = msd_none();

	if (!r->is_open)
		return no_forward();
	if (!index_check("layer", layer, r->n_layers) ||
	    !index_check("state", state, r->n_states))
		return -1;
	struct msd_function *fn =
		(struct msd_function *)(void *)functions->items[state].as.obj;
	const struct msd_any args[] = {
		msd_kv_tensor(r->memory[layer * r->n_states + state]),
		msd_kv_tensor(r->slot_ids), msd_kv_tensor(r->places), *v};
	const int rc = fn->call(fn, args, 4, &ignored);
	msd_any_drop(&ignored);
	return rc;
}

int msd_kv_rnn_get(struct msd_kv_rnn *r, int64_t layer, int64_t state,
		   const struct msd_any *out)
{
	return call(r, r->gets, layer, state, out);
}

int msd_kv_rnn_set(struct msd_kv_rnn *r, int64_t layer, int64_t state,
		   const struct msd_any *in)
{
	return call(r, r->sets, layer, state, in);
}

int msd_kv_rnn_read(struct msd_kv_rnn *r, int64_t layer, int64_t state, int64_t id,
		    struct msd_any *ret)
{
	const int64_t slot = slot_find(r, id);
	const struct msd_dltensor *like;
	struct msd_tensor *t;

	if (slot < 0 || !index_check("layer", layer, r->n_layers) ||
	    !index_check("state", state, r->n_states))
		return -1;
	like = msd_any_dltensor(&r->init->items[state]);
	t = msd_tensor_new(like->dtype, like->shape, (size_t)like->ndim);
	if (t == NULL)
		return msd_abi_no_memory();
	memcpy(t->dl.data, state_at(r, layer, state, slot, r->slots[slot].place),
	       state_bytes(r, state));
	*ret = msd_of_obj(&t->obj);
	return 0;
}

static bool config_check(const struct msd_kv_rnn_config *g)
{
	if (g->n_layers < 1 || g->n_layers > MSD_KV_MAX_LAYERS ||
	    g->max_sequences < 1 || g->max_sequences > MSD_KV_MAX_SEQUENCES ||
	    g->history < 1 || g->history > 65536 || g->init->size < 1 ||
	    g->init->size > MSD_KV_MAX_STATES || g->gets->size != g->init->size ||
	    g->sets->size != g->init->size) {
		(void)msd_abi_raise("ValueError",
				    "%" PRId64 " layers, %" PRId64
				    " sequences, a history "
				    "of %" PRId64 ", %" PRId64 " states with %" PRId64
				    " and %" PRId64 " functions",
				    g->n_layers, g->max_sequences, g->history,
				    g->init->size, g->gets->size, g->sets->size);
		return false;
	}
	for (int64_t i = 0; i < g->init->size; i++) {
		const struct msd_dltensor *t = msd_any_dltensor(&g->init->items[i]);

		if (t == NULL || t->device.type != MSD_DEV_CPU || t->ndim < 0 ||
		    t->ndim > MSD_MAX_NDIM - 2 || !msd_dltensor_is_compact(t) ||
		    g->gets->items[i].type != MSD_T_FUNCTION ||
		    g->sets->items[i].type != MSD_T_FUNCTION) {
			(void)msd_abi_raise(
				"TypeError",
				"state %" PRId64
				": expected two functions and a compact tensor "
				"on the cpu",
				i);
			return false;
		}
	}
	return true;
}

/* Memory of zeros for all slots of one state. */
static struct msd_tensor *memory_new(const struct msd_kv_rnn *r, int64_t state)
{
	const struct msd_dltensor *t = msd_any_dltensor(&r->init->items[state]);
	int64_t shape[MSD_MAX_NDIM] = {r->max_sequences, r->history};
	struct msd_tensor *made;

	if (t->ndim > 0)
		memcpy(&shape[2], t->shape, (size_t)t->ndim * sizeof(*shape));
	made = msd_tensor_new(t->dtype, shape, (size_t)t->ndim + 2);
	if (made != NULL)
		memset(made->dl.data, 0, msd_dltensor_bytes(&made->dl));
	return made;
}

static struct msd_array *keep(const struct msd_array *a)
{
	struct msd_array *kept = (struct msd_array *)(uintptr_t)a;

	msd_obj_ref(&kept->obj);
	return kept;
}

static bool memories_new(struct msd_kv_rnn *r)
{
	const int64_t n = r->n_layers * r->n_states;

	/* The values may be in memory of this call. */
	for (int64_t i = 0; i < r->n_states; i++) {
		if (r->init->items[i].type == MSD_T_TENSOR &&
		    !msd_tensor_keep(r->init->items[i].as.obj, true))
			return false;
	}

	r->memory = calloc((size_t)n, sizeof(struct msd_tensor *));
	r->slots = calloc((size_t)r->max_sequences, sizeof(*r->slots));
	if (r->memory == NULL || r->slots == NULL ||
	    !msd_ints_reserve(&r->free, (size_t)r->max_sequences))
		return false;
	for (int64_t i = 0; i < n; i++) {
		r->memory[i] = memory_new(r, i % r->n_states);
		if (r->memory[i] == NULL)
			return false;
	}
	return true;
}

struct msd_kv_rnn *msd_kv_rnn_new(const struct msd_kv_rnn_config *config)
{
	struct msd_kv_rnn *r;

	if (!config_check(config))
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	msd_kv_state_init(&r->state, MSD_KV_RNN, &ops, rnn_delete);
	r->n_layers = config->n_layers;
	r->max_sequences = config->max_sequences;
	r->history = config->history;
	r->n_states = config->init->size;
	r->gets = keep(config->gets);
	r->sets = keep(config->sets);
	r->init = keep(config->init);
	if (memories_new(r)) {
		rnn_clear(&r->state);
		return r;
	}
	(void)msd_abi_no_memory();
	msd_obj_unref(&r->state.obj);
	return NULL;
}
