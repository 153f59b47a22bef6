/* Arm's Ethos-N: the only vendor kind that is more than fields. */
#include "artifact/kind/private.h"

/* vec<u32> */
static void skip_orders(struct msd_cur *c)
{
	size_t n = msd_cur_count64(c, sizeof(uint32_t));

	(void)msd_cur_read(c, n * sizeof(uint32_t));
}

/* Symbol, compiled bytes, order (and since 0.10 sizes) of inputs and of outputs. */
static void skip_network(struct msd_cur *c, bool has_sizes)
{
	(void)msd_cur_str64(c);
	(void)msd_cur_str64(c);
	for (int side = 0; side < 2; side++) {
		struct msd_cur ahead = *c;
		uint64_t n = msd_cur_u64(&ahead);

		skip_orders(c);
		if (has_sizes && !c->bad && n <= c->left / sizeof(uint32_t)) {
			(void)msd_cur_read(c, (size_t)n * sizeof(uint32_t));
		} else if (has_sizes) {
			c->bad = true;
		}
	}
}

/* True at a module's key or at the end. */
static bool is_at_boundary(struct msd_cur c)
{
	if (c.left == 0)
		return !c.bad;
	struct msd_span key = msd_cur_str64(&c);
	if (c.bad || key.n == 0 || key.n > 64)
		return false;
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] <= 0x20 || key.p[i] >= 0x7f)
			return false;
	}
	return true;
}

/* Two layouts without a version field: the right one ends where a payload can end. */
msd_err msd_payload_ethos_n(struct msd_cur *c, enum msd_era era,
			    struct msd_payload_info *info, struct msd_diag *d)
{
	(void)era;
	for (int has_sizes = 1; has_sizes >= 0; has_sizes--) {
		struct msd_cur at = *c;
		size_t n = msd_cur_count64(&at, 4 * sizeof(uint64_t));

		for (size_t i = 0; i < n && !at.bad; i++)
			skip_network(&at, has_sizes != 0);
		if (at.bad || !is_at_boundary(at))
			continue;
		*c = at;
		if (info != NULL && !msd_payload_info_add(info, "networks", "%zu", n))
			return msd_diag_no_memory(d);
		return MSD_OK;
	}
	return msd_payload_truncated(d, "networks");
}
