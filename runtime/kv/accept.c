/*
 * Operations on the contents of a paged cache: accepting nodes of token trees, reading
 * keys and values.
 */
#include <inttypes.h>

#include "runtime/kv/cache.h"
#include "runtime/kv/tree.h"
#include "runtime/value/error.h"

/* The copies that move the tokens of accepted paths together. */
struct moves {
	struct msd_ints indptr;
	struct msd_ints from;
	struct msd_ints to;
};

/* The sequences of an acceptance and their nodes, as the last forward had them. */
static int accept_check(const struct msd_kv_cache *c, const struct msd_shape *ids,
			const struct msd_shape *leaves)
{
	if (ids->ndim != leaves->ndim || (int64_t)ids->ndim > c->batch.n) {
		return msd_abi_raise(
			"ValueError",
			"%zu sequences and %zu nodes; the last forward had "
			"%" PRId64 " sequences",
			ids->ndim, leaves->ndim, c->batch.n);
	}
	for (size_t i = 0; i < ids->ndim; i++) {
		const struct msd_kv_sequence *s = msd_kv_find(&c->table, ids->dim[i]);
		const int64_t leaf = leaves->dim[i];

		if (s == NULL)
			return -1;
		if (ids->dim[i] != c->batch.ids[i]) {
			return msd_abi_raise(
				"ValueError",
				"sequence %" PRId64
				": entry %zu of the last forward was %" PRId64,
				ids->dim[i], i, c->batch.ids[i]);
		}
		if (leaf < -1 || leaf >= (int64_t)s->parents.n) {
			return msd_abi_raise(
				"ValueError",
				"sequence %" PRId64
				": its token tree of %zu nodes has no node "
				"%" PRId64,
				s->id, s->parents.n, leaf);
		}
		const int64_t kept = leaf < 0 ? 0 : s->depths.v[leaf] + 1;
		if (kept > c->batch.lengths[i] ||
		    c->batch.lengths[i] - kept > s->length) {
			return msd_abi_raise("ValueError",
					     "sequence %" PRId64 ": %" PRId64
					     " nodes are accepted, the last "
					     "forward appended %" PRId64,
					     s->id, kept, c->batch.lengths[i]);
		}
	}
	return 0;
}

/* Append the copies of sequence @i, whose tokens begin at slot @first of the batch. */
static bool moves_append(const struct msd_kv_cache *c, const struct msd_kv_sequence *s,
			 int64_t leaf, int64_t first, struct moves *m)
{
	const int32_t *slots = c->batch.slots_of.v + first;
	int32_t path[MSD_KV_MAX_TREE];
	int32_t n = leaf < 0 ? 0 : s->depths.v[leaf] + 1;

	for (int32_t i = n, node = (int32_t)leaf; i-- > 0; node = s->parents.v[node])
		path[i] = node;
	for (int32_t i = 0; i < n; i++) {
		/* the path is where it belongs up to its first gap */
		if (path[i] == i)
			continue;
		if (!msd_ints_push(&m->from, slots[path[i]]) ||
		    !msd_ints_push(&m->to, slots[i]))
			return false;
	}
	return msd_ints_push(&m->indptr, (int32_t)m->from.n);
}

static int moves_run(struct msd_kv_cache *c, int64_t n, struct moves *m)
{
	const bool is_ok = msd_ints_append(&m->from, &m->to);
	struct msd_tensor *indptr = is_ok ? msd_ints_tensor(&m->indptr, 1) : NULL;
	struct msd_tensor *places = is_ok ? msd_ints_tensor(&m->from, 2) : NULL;
	int rc = indptr != NULL && places != NULL ? 0 : msd_abi_no_memory();

	for (int64_t i = 0; rc == 0 && i < c->c.n_layers; i++) {
		const struct msd_any args[] = {msd_kv_tensor(c->pages[i]),
					       msd_kv_tensor(indptr),
					       msd_kv_tensor(places), msd_int(n)};

		rc = msd_kv_kernel_call(c, MSD_KV_COMPACT, args, 4);
	}
	msd_obj_unref(indptr != NULL ? &indptr->obj : NULL);
	msd_obj_unref(places != NULL ? &places->obj : NULL);
	return rc;
}

/* Move the accepted tokens of all sequences to the front. As in TVM the last sequence
 * decides: if its tree is a chain, nothing is moved. */
static int compact(struct msd_kv_cache *c, const struct msd_shape *ids,
		   const struct msd_shape *leaves)
{
	struct moves m = {0};
	const struct msd_kv_sequence *s =
		ids->ndim > 0 ? msd_kv_find(&c->table, ids->dim[ids->ndim - 1]) : NULL;
	int64_t first = 0;
	int rc = 0;

	if (s == NULL || s->is_chain)
		return 0;
	bool is_ok = msd_ints_push(&m.indptr, 0);
	for (size_t i = 0; is_ok && rc == 0 && i < ids->ndim; i++) {
		s = msd_kv_find(&c->table, ids->dim[i]);
		if (leaves->dim[i] >= c->batch.lengths[i]) {
			rc = msd_abi_raise("ValueError",
					   "sequence %" PRId64 ": node %" PRId64
					   " was not appended by the last forward",
					   s->id, leaves->dim[i]);
		} else {
			is_ok = moves_append(c, s, leaves->dim[i], first, &m);
			first += c->batch.lengths[i];
		}
	}
	if (!is_ok)
		rc = msd_abi_no_memory();
	if (rc == 0 && m.from.n > 0)
		rc = moves_run(c, (int64_t)ids->ndim, &m);
	msd_ints_finish(&m.indptr);
	msd_ints_finish(&m.from);
	msd_ints_finish(&m.to);
	return rc;
}

int msd_kv_cache_accept(struct msd_kv_cache *c, const struct msd_shape *ids,
			const struct msd_shape *leaves)
{
	if (c->batch.is_open) {
		return msd_abi_raise("RuntimeError",
				     "a forward is open: call "
				     "vm.builtin.kv_state_end_forward first");
	}
	if (accept_check(c, ids, leaves) != 0 || compact(c, ids, leaves) != 0)
		return -1;
	for (size_t i = 0; i < ids->ndim; i++) {
		struct msd_kv_sequence *s = msd_kv_find(&c->table, ids->dim[i]);
		const int64_t leaf = leaves->dim[i];
		const int64_t kept = leaf < 0 ? 0 : s->depths.v[leaf] + 1;

		if (msd_kv_pop(&c->table, s->id, c->batch.lengths[i] - kept) != 0)
			return -1;
		msd_kv_forget_tree(s);
	}
	return 0;
}

/* An output of the read: the layers, the tokens, then the sizes of a token. */
static bool out_check(const struct msd_kv_cache *c, const struct msd_any *v, int64_t n,
		      bool is_mla)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	const int32_t ndim = is_mla ? 3 : 4;

	if (t != NULL && t->ndim == ndim && t->device.type == MSD_DEV_CPU &&
	    msd_dtype_eq(t->dtype, c->c.dtype) && t->shape[0] == c->c.n_layers &&
	    t->shape[1] == n && (is_mla || t->shape[2] == c->c.kv_heads) &&
	    t->shape[ndim - 1] == c->c.qk_dim)
		return true;
	(void)msd_abi_raise("ValueError",
			    "expected a tensor of the cache's type with %" PRId64
			    " layers, %" PRId64 " tokens%s, and %" PRId64 " numbers",
			    c->c.n_layers, n, is_mla ? "" : ", the heads of keys",
			    c->c.qk_dim);
	return false;
}

static int read_layers(struct msd_kv_cache *c, struct msd_tensor *slots,
		       const struct msd_any *out, int32_t n_out)
{
	const enum msd_kv_kind kind = n_out == 2 ? MSD_KV_MHA : MSD_KV_MLA;

	for (int64_t i = 0; i < c->c.n_layers; i++) {
		struct msd_any args[5] = {msd_kv_tensor(c->pages[i]),
					  msd_kv_tensor(slots), out[0]};

		if (c->c.kinds[i] != (int64_t)kind) {
			return msd_abi_raise("ValueError",
					     "layer %" PRId64 " is of another kind", i);
		}
		if (n_out == 2)
			args[3] = out[1];
		args[2 + n_out] = msd_int(i);
		if (msd_kv_kernel_call(c, MSD_KV_DEBUG_READ, args, 3 + n_out) != 0)
			return -1;
	}
	return 0;
}

int msd_kv_cache_read(struct msd_kv_cache *c, int64_t id, int64_t begin, int64_t end,
		      const struct msd_any *out, int32_t n_out)
{
	const struct msd_kv_sequence *s = msd_kv_find(&c->table, id);
	struct msd_ints slots = {0};
	struct msd_tensor *t = NULL;
	int rc;

	if (s == NULL)
		return -1;
	if (begin < 0 || begin >= end || end > s->length) {
		return msd_abi_raise("ValueError",
				     "positions %" PRId64 " to %" PRId64
				     ": sequence %" PRId64 " has %d tokens",
				     begin, end, id, (int)s->length);
	}
	for (int32_t i = 0; i < n_out; i++) {
		if (!out_check(c, &out[i], end - begin, n_out == 1))
			return -1;
	}
	if (msd_kv_cache_slots(c, s, &slots) && slots.n >= (size_t)end) {
		const struct msd_ints part = {.v = slots.v + begin,
					      .n = (size_t)(end - begin)};

		t = msd_ints_tensor(&part, 1);
	}
	rc = t != NULL ? read_layers(c, t, out, n_out) : msd_abi_no_memory();
	msd_obj_unref(t != NULL ? &t->obj : NULL);
	msd_ints_finish(&slots);
	return rc;
}
