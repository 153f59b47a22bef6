/*
 * Happy path: the first run is a call as any other, and its return value is the
 * answer. The further ones get the same arguments; their return values are dropped.
 * Failures: a run that fails ends the measurement with its error.
 */
#include <string.h>

#include "daemon/confine/crash.h"
#include "daemon/worker/calls/call.h"
#include "proto/base/clock.h"
#include "proto/limits.h"
#include "runtime/device/device.h"
#include "runtime/load/measure.h"

struct measured {
	struct msd_worker *w;
	struct msd_call *call;
	struct msd_dev *dev;  /* NULL: the host */
	struct msd_any *args; /* a copy: a run may change those that it gets */
	struct msd_any *ret;
	uint64_t n_runs;
};

static msd_err run(void *ctx, struct msd_diag *d)
{
	struct measured *m = ctx;
	struct msd_call *call = m->call;
	struct msd_any dropped = msd_none();
	uint64_t ns;

	if (call->n_args > 0)
		memcpy(call->args, m->args, call->n_args * sizeof(*m->args));
	if (m->n_runs++ == 0) {
		const msd_err err = msd_call_invoke(m->w, call, m->ret, &ns, d);
		msd_crash_note("call of", call->func->name); /* later runs keep it */
		return err;
	}
	const msd_err err = msd_loaded_call(m->w->module, call->func->fn, call->args,
					    call->n_args, &dropped, d);
	if (err == MSD_OK)
		msd_any_drop(&dropped);
	return err;
}

static msd_err sync_device(void *ctx, struct msd_diag *d)
{
	const struct measured *m = ctx;

	return m->dev != NULL ? msd_dev_sync(m->dev, d) : MSD_OK;
}

static uint64_t now_ns(void *ctx)
{
	(void)ctx;
	return msd_now_ns();
}

/* Reads the option, which the supervisor has checked. */
static msd_err read_option(const struct msd_request *r, struct msd_measure *ret,
			   struct msd_diag *d)
{
	uint32_t n[3];

	if (!msd_uints_read(msd_map_value(r->options, "repeat"), 3, n) || n[0] == 0 ||
	    n[1] == 0 || n[1] > MSD_MAX_REPEATS)
		return msd_diag_set(d, MSD_BAD_REQUEST, "repeat: expected 3 numbers");
	ret->number = n[0];
	ret->repeat = n[1];
	ret->min_repeat_ms = n[2];
	return MSD_OK;
}

static msd_err repeat(struct msd_worker *w, struct msd_call *call, struct msd_any *ret,
		      uint64_t *ret_ns, struct msd_diag *d)
{
	struct measured m = {.w = w, .call = call, .dev = call->queued, .ret = ret};
	const struct msd_measured of = {
		.call = run, .sync = sync_device, .now_ns = now_ns, .ctx = &m};
	struct msd_measure how = MSD_MEASURE_DEFAULT;
	msd_err err = read_option(call->request, &how, d);

	if (err != MSD_OK)
		return err;
	double *mean_s = msd_arena_alloc(call->arena, how.repeat * sizeof(*mean_s));
	m.args = msd_arena_alloc(call->arena, (call->n_args + 1) * sizeof(*m.args));
	if (mean_s == NULL || m.args == NULL)
		return msd_diag_no_memory(d);
	if (call->n_args > 0)
		memcpy(m.args, call->args, call->n_args * sizeof(*m.args));
	err = msd_measure_run(&how, &of, mean_s, d);
	msd_crash_note(NULL, NULL);
	call->timed = NULL; /* the device has measured only the first run */
	w->last_end_ns = msd_now_ns();
	*ret_ns = w->last_run_ns = w->last_end_ns - call->entered_ns;
	if (err != MSD_OK) {
		msd_any_drop(ret);
		return err;
	}
	w->times = (struct msd_call_times){mean_s, (uint32_t)how.repeat, m.n_runs};
	call->n_joined = m.n_runs < UINT32_MAX ? (uint32_t)m.n_runs : UINT32_MAX;
	return MSD_OK;
}

/* Run it with times of the nodes, which are the result. */
static msd_err profile(struct msd_worker *w, struct msd_call *call, struct msd_any *ret,
		       uint64_t *ret_ns, struct msd_diag *d)
{
	struct msd_any dropped = msd_none();
	msd_err err = msd_loaded_profile_start(w->module, d);

	if (err != MSD_OK)
		return err;
	err = msd_call_invoke(w, call, &dropped, ret_ns, d);
	if (err == MSD_OK) {
		err = msd_loaded_profile_stop(w->module, *ret_ns, ret, d);
	} else {
		msd_loaded_profile_drop(w->module);
	}
	msd_any_drop(&dropped);
	return err;
}

msd_err msd_call_measure(struct msd_worker *w, struct msd_call *call,
			 struct msd_any *ret, uint64_t *ret_ns, struct msd_diag *d)
{
	return call->request->method == MSD_M_MODULE_PROFILE
		       ? profile(w, call, ret, ret_ns, d)
		       : repeat(w, call, ret, ret_ns, d);
}
