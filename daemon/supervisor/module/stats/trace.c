#include "daemon/supervisor/module/stats/trace.h"

#include "daemon/supervisor/module/stats/call_stats.h"

/* The worker's report of its part of a call, by the worker's clock. */
struct told {
	uint64_t to_worker_ns, copy_in_ns, copy_out_ns;
	uint64_t n_joined; /* calls that it ran as one; 0: it ran alone */
};

static void read_told(struct msd_span worker, struct told *ret)
{
	struct msd_wire_value key, value;
	struct msd_cur c;
	uint32_t n;

	*ret = (struct told){0};
	if (!msd_map_open(worker, &c, &n))
		return;
	while (n-- > 0 && msd_value_read(&c, &key, NULL) == MSD_OK &&
	       key.kind == MSD_K_STR && msd_value_read(&c, &value, NULL) == MSD_OK) {
		if (value.kind != MSD_K_INT || value.as.i < 0)
			continue;
		if (msd_span_is(key.as.str, "to_worker_ns"))
			ret->to_worker_ns = (uint64_t)value.as.i;
		if (msd_span_is(key.as.str, "copy_in_ns"))
			ret->copy_in_ns = (uint64_t)value.as.i;
		if (msd_span_is(key.as.str, "copy_out_ns"))
			ret->copy_out_ns = (uint64_t)value.as.i;
		if (msd_span_is(key.as.str, "joined"))
			ret->n_joined = (uint64_t)value.as.i;
	}
}

/* Take @ns of @rest, or all that is left of it. */
static uint64_t take(uint64_t *rest, uint64_t ns)
{
	const uint64_t taken = ns < *rest ? ns : *rest;

	*rest -= taken;
	return taken;
}

void msd_trace_write(const struct msd_req *r, struct msd_span worker, uint64_t now_ns,
		     struct msd_buf *out)
{
	const uint64_t *spent = r->at.spent_ns;
	const uint64_t run_ns = spent[MSD_STAGE_RUN];
	const uint64_t tail_ns = now_ns - r->at.since_ns;
	uint64_t rest = spent[MSD_STAGE_WORKER];
	struct told told;

	read_told(worker, &told);
	msd_pack_map(out, 2u + (told.n_joined > 0));
	if (told.n_joined > 0)
		msd_pack_pair_uint(out, "joined", told.n_joined);
	msd_pack_pair_uint(out, "exec_ns", run_ns);
	msd_pack_cstr(out, "trace");
	msd_pack_map(out, 8);
	msd_pack_pair_uint(out, "read_ns", spent[MSD_STAGE_READ]);
	msd_pack_pair_uint(out, "queue_ns", spent[MSD_STAGE_QUEUE]);
	msd_pack_pair_uint(out, "to_worker_ns", take(&rest, told.to_worker_ns));
	msd_pack_pair_uint(out, "copy_in_ns", take(&rest, told.copy_in_ns));
	msd_pack_pair_uint(out, "run_ns", run_ns);
	msd_pack_pair_uint(out, "copy_out_ns", take(&rest, told.copy_out_ns));
	msd_pack_pair_uint(out, "reply_ns", rest + tail_ns);
	msd_pack_pair_uint(out, "total_ns",
			   spent[MSD_STAGE_READ] + spent[MSD_STAGE_QUEUE] +
				   spent[MSD_STAGE_WORKER] + run_ns + tail_ns);
}
