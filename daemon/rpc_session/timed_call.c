/* A function with its arguments, which timer.h measures. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/rpc_session/timer.h"
#include "proto/base/clock.h"

struct timed {
	struct msd_rpc_session *session;
	const struct msd_rpc_object *o;
	struct msd_any *args, *used; /* a call may change the arguments that it gets */
	uint32_t n;
	uint8_t *from, *to; /* to copy, so that caches hold nothing else */
};

static msd_err call_with(const struct timed *t, const struct msd_rpc_object *o,
			 struct msd_diag *d)
{
	struct msd_any ret;

	if (t->n > 0)
		memcpy(t->used, t->args, t->n * sizeof(*t->used));
	const msd_err err = msd_rpc_session_enter(o, t->used, t->n, &ret, d);
	if (err == MSD_OK)
		msd_any_drop(&ret);
	return err;
}

static msd_err call(void *ctx, struct msd_diag *d)
{
	const struct timed *t = ctx;

	return call_with(t, t->o, d);
}

static msd_err prepare(void *ctx, struct msd_diag *d)
{
	const struct timed *t = ctx;
	const struct msd_rpc_timer *how = t->o->timer;

	for (uint32_t i = 1; how->flushes_args && i < t->n; i++) {
		const struct msd_dltensor *dl = msd_any_dltensor(&t->args[i]);
		if (dl != NULL && dl->device.type == MSD_DEV_CPU) {
			msd_rpc_timer_flush((const uint8_t *)dl->data + dl->byte_offset,
					    msd_dltensor_bytes(dl));
		}
	}
	if (how->preparing == NULL)
		return MSD_OK;
	const struct msd_rpc_object preparing = {.function = how->preparing};
	return call_with(t, &preparing, d);
}

static void flush(void *ctx)
{
	const struct timed *t = ctx;

	if (t->from != NULL)
		memcpy(t->to, t->from, t->o->timer->flush_bytes);
}

static msd_err sync_devices(void *ctx, struct msd_diag *d)
{
	const struct timed *t = ctx;

	return msd_rpc_devices_sync(&t->session->devices, d);
}

static uint64_t now_ns(void *ctx)
{
	(void)ctx;
	return msd_now_ns();
}

static void cool_down(void *ctx, uint64_t ms)
{
	const struct timespec t = {.tv_sec = (time_t)(ms / 1000),
				   .tv_nsec = (long)(ms % 1000) * 1000000};

	(void)ctx;
	(void)nanosleep(&t, NULL);
}

static msd_err allocate(struct timed *t, double **ret, struct msd_diag *d)
{
	const struct msd_rpc_timer *how = t->o->timer;

	*ret = calloc(how->measure.repeat, sizeof(**ret));
	t->used = calloc((size_t)t->n + 1, sizeof(*t->used));
	if (how->flush_bytes > 0) {
		t->from = calloc(1, how->flush_bytes);
		t->to = calloc(1, how->flush_bytes);
	}
	if (*ret == NULL || t->used == NULL ||
	    (how->flush_bytes > 0 && (t->from == NULL || t->to == NULL)))
		return msd_diag_no_memory(d);
	return MSD_OK;
}

msd_err msd_rpc_session_time(struct msd_rpc_session *s, const struct msd_rpc_object *o,
			     struct msd_any *args, uint32_t n, struct msd_diag *d)
{
	struct timed t = {.session = s, .o = o, .args = args, .n = n};
	const struct msd_measured of = {call,   prepare,   flush, sync_devices,
					now_ns, cool_down, &t};
	struct msd_rpc_value v = {.kind = MSD_RPC_BYTES};
	double *seconds = NULL;
	msd_err err = allocate(&t, &seconds, d);

	if (err == MSD_OK) {
		msd_rpc_session_note(s, "call of", msd_function_name(o->function));
		err = msd_measure_run(&o->timer->measure, &of, seconds, d);
		msd_rpc_session_note(s, NULL, NULL);
	}
	if (err == MSD_OK) {
		v.as.bytes =
			(struct msd_span){(const uint8_t *)seconds,
					  o->timer->measure.repeat * sizeof(*seconds)};
		msd_rpc_session_result(s, MSD_T_BYTES, 12, v);
	}
	free(seconds);
	free(t.used);
	free(t.from);
	free(t.to);
	return err;
}
