/* The arguments of RPCTimeEvaluator. */
#include "daemon/rpc_session/timer.h"

#include "runtime/value/registry.h"

#define FLUSH_ARGS "cache_flush_cpu_non_first_arg"
#define LINE_BYTES 64u
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
	struct msd_rpc_timer t = {.measure = MSD_MEASURE_DEFAULT};
	struct msd_measure *m = &t.measure;
	uint32_t at = 7;
	msd_err err = MSD_OK;

	if (args->n < LEAST_ARGS) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "expected at least %u arguments, got %u",
				    LEAST_ARGS, args->n);
	}
	err = int_at(args, 4, 1, &m->number, d);
	if (err == MSD_OK)
		err = int_at(args, 5, 1, &m->repeat, d);
	if (err == MSD_OK)
		err = int_at(args, 6, 0, &m->min_repeat_ms, d);
	if (err == MSD_OK && args->n >= ZERO_ARGS)
		err = int_at(args, at++, 0, &m->limit_zero, d);
	if (err == MSD_OK && args->n >= COOLDOWN_ARGS)
		err = int_at(args, at++, 0, &m->cooldown_ms, d);
	if (err == MSD_OK && args->n >= COOLDOWN_ARGS)
		err = int_at(args, at++, 1, &m->repeats_to_cooldown, d);
	if (err == MSD_OK && args->n >= FLUSH_ARGS_COUNT)
		err = int_at(args, at, 0, &t.flush_bytes, d);
	if (err == MSD_OK && m->repeat > MSD_RPC_MAX_REPEATS) {
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
