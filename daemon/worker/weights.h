#ifndef MSD_WORKER_WEIGHTS_H
#define MSD_WORKER_WEIGHTS_H
/*
 * The file of packed weights that the workers of a module share
 * (runtime/engine/weights.h). The supervisor passes it before worker.open: empty to the
 * first worker, which fills it, and sealed to the others.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_peer;
struct msd_run_options;

/**
 * Take the descriptor of worker.segment, ["weights", 0 to fill it or 1 to use it,
 * bytes].
 */
MSD_MUST_CHECK msd_err msd_worker_weights_accept(struct msd_peer *channel,
						 int64_t is_filled, uint64_t bytes,
						 struct msd_diag *d);
/**
 * Before the load of a model with these options, plugins and files, each a list in
 * msgpack.
 */
void msd_worker_weights_begin(const struct msd_run_options *run,
			      struct msd_span plugins, struct msd_span files);
/**
 * After it, also if it failed. Returns the bytes of packed weights that this process
 * shares; they count as its memory.
 */
uint64_t msd_worker_weights_end(void);

#endif
