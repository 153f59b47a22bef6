#ifndef MSD_RUNTIME_KV_WINDOW_H
#define MSD_RUNTIME_KV_WINDOW_H
/*
 * Growth of sequences, with windows that slide: a sequence with a window keeps its
 * first tokens (the sink) and the last ones.
 */
#include "runtime/kv/sequences.h"

/* The changes that an append makes. */
struct msd_kv_growth {
	int32_t n_new;  /* pages to append to the last block */
	int32_t n_old;  /* pages behind the sink that the window leaves */
	int32_t first;  /* index of these */
	int32_t length; /* the last block's */
	int32_t offset; /* its window's */
	int32_t sink;   /* the last block's */
	int32_t total;  /* length of the sequence */
};

/** Let @id have a window of @size tokens, the first @sink of which stay. */
int msd_kv_window_enable(struct msd_kv_table *t, int64_t id, int64_t size,
			 int64_t sink);
/**
 * Plan an append of @n tokens to @s, if @n_free pages are free. Returns 0, or
 * -1 with the error raised.
 */
int msd_kv_growth_plan(const struct msd_kv_table *t, const struct msd_kv_sequence *s,
		       int64_t n, int64_t n_free, struct msd_kv_growth *ret);
/** Apply it. False: memory is short. */
MSD_MUST_CHECK bool msd_kv_growth_apply(struct msd_kv_table *t,
					struct msd_kv_sequence *s,
					const struct msd_kv_growth *g);

#endif
