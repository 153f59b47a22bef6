#ifndef MSD_RUNTIME_KV_RNN_H
#define MSD_RUNTIME_KV_RNN_H
/*
 * The state of a recurrent language model (TVM's RNNState): each sequence has a slot
 * with its states after the last forwards, so that a few single tokens can be taken
 * back. The model's own functions read and write the slots. On the CPU only.
 *
 * Functions that fail raise their error and return -1.
 */
#include "runtime/value/value.h"

#define MSD_KV_MAX_STATES 64 /* of a layer */

struct msd_kv_rnn_config {
	int64_t n_layers;
	int64_t max_sequences;
	int64_t history; /* states that a slot keeps */
	/* For each state of a layer: functions that read and write it, and its first
	 * value, a tensor. */
	const struct msd_array *gets;
	const struct msd_array *sets;
	const struct msd_array *init;
};

struct msd_kv_rnn;
/** NULL with the error raised. */
struct msd_kv_rnn *msd_kv_rnn_new(const struct msd_kv_rnn_config *config);
/** The RNN state in @v, or NULL. */
struct msd_kv_rnn *msd_kv_rnn_of(const struct msd_any *v);
struct msd_obj *msd_kv_rnn_obj(struct msd_kv_rnn *r);
/** Read the states of the forward's sequences into @out, or write them from @in. */
int msd_kv_rnn_get(struct msd_kv_rnn *r, int64_t layer, int64_t state,
		   const struct msd_any *out);
int msd_kv_rnn_set(struct msd_kv_rnn *r, int64_t layer, int64_t state,
		   const struct msd_any *in);
/** A copy of the state of a sequence. */
int msd_kv_rnn_read(struct msd_kv_rnn *r, int64_t layer, int64_t state, int64_t id,
		    struct msd_any *ret);

#endif
