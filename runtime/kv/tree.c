#include "runtime/kv/tree.h"

#include <inttypes.h>

#include "runtime/value/error.h"

int msd_kv_tree_check(const struct msd_kv_sequence *s, const int64_t *parents,
		      int64_t n)
{
	const int64_t have = (int64_t)s->parents.n;

	if (n > MSD_KV_MAX_TREE - have) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 ": a token tree of %" PRId64
				     " nodes, at most %d",
				     s->id, have + n, MSD_KV_MAX_TREE);
	}
	for (int64_t i = 0; i < n; i++) {
		if (parents[i] < -1 || parents[i] >= have + i) {
			return msd_abi_raise(
				"ValueError",
				"sequence %" PRId64 ": node %" PRId64
				" of its token tree has the parent %" PRId64
				", which is not -1 or a node before it",
				s->id, have + i, parents[i]);
		}
	}
	return 0;
}

bool msd_kv_tree_append(struct msd_kv_sequence *s, const int64_t *parents, int64_t n)
{
	if (!msd_ints_reserve(&s->parents, (size_t)n) ||
	    !msd_ints_reserve(&s->depths, (size_t)n))
		return false;
	s->is_accepted = false;
	for (int64_t i = 0; i < n; i++) {
		const int32_t parent = (int32_t)parents[i];

		if (parent != (int32_t)s->parents.n - 1)
			s->is_chain = false;
		s->depths.v[s->depths.n++] = parent < 0 ? 0 : s->depths.v[parent] + 1;
		s->parents.v[s->parents.n++] = parent;
	}
	return true;
}

/* Children follow their parents. So the sizes of subtrees are known from the last node
 * to the first, and the places from the first to the last. */
bool msd_kv_tree_spans(const struct msd_kv_sequence *s, struct msd_ints *ret)
{
	int32_t size[MSD_KV_MAX_TREE];
	int32_t place[MSD_KV_MAX_TREE];
	int32_t next[MSD_KV_MAX_TREE]; /* place of the next child */
	const size_t n = s->parents.n;
	int32_t next_root = 0;

	if (!msd_ints_reserve(ret, 2 * n))
		return false;
	for (size_t i = 0; i < n; i++)
		size[i] = 1;
	for (size_t i = n; i-- > 0;) {
		if (s->parents.v[i] >= 0)
			size[s->parents.v[i]] += size[i];
	}
	for (size_t i = 0; i < n; i++) {
		int32_t *at = s->parents.v[i] < 0 ? &next_root : &next[s->parents.v[i]];

		place[i] = *at;
		*at += size[i];
		next[i] = place[i] + 1;
		ret->v[ret->n++] = place[i];
		ret->v[ret->n++] = place[i] + size[i];
	}
	return true;
}
