/*
 * Happy path: one call that is not counted; then the series, each after its
 * preparation. A series that was too short is repeated with more calls. Failures: a
 * call that fails ends the measurement with its error.
 */
#include "daemon/rpc_session/timer.h"

#include "runtime/value/registry.h"

#define FLUSH_ARGS "cache_flush_cpu_non_first_arg"
#define LINE_BYTES 64u
#define MOST_CALLS (UINT64_MAX / 4)
/* Releases of TVM have added numbers; the name of the preparing function is last. */
#define LEAST_ARGS 8u
#define COOLDOWN_ARGS 10u
#define ZERO_ARGS 11u
#define FLUSH_ARGS_COUNT 12u

static msd_err int_at(const struct msd_rpc_args *args, uint32_t i, int64_t least,
		      uint64_t *ret, struct msd_diag *d)
{
	const struct msd_rpc_value *v = &args->values[i];

	if (v->kind != MSD_RPC_INT || v->as.i64 < least) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "argument %u: expected an int from %d on", i,
				    (int)least);
	}
	*ret = (uint64_t)v->as.i64;
	return MSD_OK;
}

static msd_err read_preparing(const struct msd_rpc_value *v, struct msd_rpc_timer *ret,
			      struct msd_diag *d)
{
	if (v->kind != MSD_RPC_TEXT) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the last argument: expected a text");
	}
	if (v->as.bytes.n == 0)
		return MSD_OK;
	ret->flushes_args = msd_span_is(v->as.bytes, FLUSH_ARGS);
	if (!ret->flushes_args)
		ret->preparing = msd_registry_find(v->as.bytes);
	if (ret->flushes_args || ret->preparing != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "Cannot find %.*s in the global function",
			    (int)(v->as.bytes.n < 256 ? v->as.bytes.n : 256),
			    (const char *)v->as.bytes.p);
}

msd_err msd_rpc_timer_read(const struct msd_rpc_args *args, struct msd_rpc_timer *ret,
			   struct msd_diag *d)
{
	struct msd_rpc_timer t = {.limit_zero = 100, .repeats_to_cooldown = 1};
	uint32_t at = 7;
	msd_err err = MSD_OK;

	if (args->n < LEAST_ARGS) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "expected at least %u arguments, got %u",
				    LEAST_ARGS, args->n);
	}
	err = int_at(args, 4, 1, &t.number, d);
	if (err == MSD_OK)
		err = int_at(args, 5, 1, &t.repeat, d);
	if (err == MSD_OK)
		err = int_at(args, 6, 0, &t.min_repeat_ms, d);
	if (err == MSD_OK && args->n >= ZERO_ARGS)
		err = int_at(args, at++, 0, &t.limit_zero, d);
	if (err == MSD_OK && args->n >= COOLDOWN_ARGS)
		err = int_at(args, at++, 0, &t.cooldown_ms, d);
	if (err == MSD_OK && args->n >= COOLDOWN_ARGS)
		err = int_at(args, at++, 1, &t.repeats_to_cooldown, d);
	if (err == MSD_OK && args->n >= FLUSH_ARGS_COUNT)
		err = int_at(args, at, 0, &t.flush_bytes, d);
	if (err == MSD_OK && t.repeat > MSD_RPC_MAX_REPEATS) {
		err = msd_diag_set(d, MSD_BAD_ARGUMENT,
				   "repeat: at most %u are possible",
				   MSD_RPC_MAX_REPEATS);
	}
	if (err == MSD_OK)
		err = read_preparing(&args->values[args->n - 1], &t, d);
	if (err == MSD_OK)
		*ret = t;
	return err;
}

static msd_err run_series(const struct msd_rpc_timed *of, uint64_t number,
			  uint64_t *ret_ns, struct msd_diag *d)
{
	msd_err err;

	of->flush(of->ctx);
	err = of->sync(of->ctx, d);
	const uint64_t begin = of->now_ns(of->ctx);
	for (uint64_t i = 0; i < number && err == MSD_OK; i++)
		err = of->call(of->ctx, d);
	if (err == MSD_OK)
		err = of->sync(of->ctx, d);
	*ret_ns = of->now_ns(of->ctx) - begin;
	return err;
}

/* TVM's rule: so many calls as the last series says, or 1.618 times as many. */
static uint64_t grow(uint64_t number, uint64_t ns, uint64_t min_ms)
{
	const double ms = (double)ns / 1e6;
	const double wanted = (double)min_ms / (ms / (double)number) + 1;
	const double more = (double)number * 1.618;
	const double next = wanted > more ? wanted : more;

	return next < (double)MOST_CALLS ? (uint64_t)next : MOST_CALLS;
}

static msd_err run_repeat(const struct msd_rpc_timer *t, const struct msd_rpc_timed *of,
			  uint64_t *number, double *ret_s, struct msd_diag *d)
{
	uint64_t ns = 0, n_zero = 0;
	msd_err err;

	do {
		if (ns > 0)
			*number = grow(*number, ns, t->min_repeat_ms);
		err = run_series(of, *number, &ns, d);
		n_zero += ns == 0;
	} while (err == MSD_OK && ns < t->min_repeat_ms * 1000000 &&
		 n_zero < t->limit_zero);
	*ret_s = (double)ns / 1e9 / (double)*number;
	return err;
}

msd_err msd_rpc_timer_run(const struct msd_rpc_timer *t, const struct msd_rpc_timed *of,
			  double *ret_s, struct msd_diag *d)
{
	uint64_t number = t->number;
	msd_err err = of->call(of->ctx, d); /* the first call may be slow */

	for (uint64_t i = 0; i < t->repeat && err == MSD_OK; i++) {
		err = of->prepare(of->ctx, d);
		if (err == MSD_OK)
			err = run_repeat(t, of, &number, &ret_s[i], d);
		if (err == MSD_OK && t->cooldown_ms > 0 &&
		    (i + 1) % t->repeats_to_cooldown == 0)
			of->cool_down(of->ctx, t->cooldown_ms);
	}
	return err;
}

void msd_rpc_timer_flush(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i += LINE_BYTES) {
#if defined(__x86_64__)
		__builtin_ia32_clflush((const char *)p + i);
#elif defined(__aarch64__)
		__asm__ volatile("dc civac, %0" ::"r"((const char *)p + i) : "memory");
#else
		(void)p;
#endif
	}
}
