#ifndef MSD_SUPERVISOR_SHARED_WEIGHTS_H
#define MSD_SUPERVISOR_SHARED_WEIGHTS_H
/*
 * The packed weights of a framework's model, which its workers share: a memfd. The
 * first worker of a module with several fills and seals it while it opens the
 * artifact; workers that start later map it. If the first one is lost, or does not
 * fill it, the file is dropped, and a worker that starts next gets a new one.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_process;

struct msd_shared_weights {
	bool has_file;
	bool is_off;    /* a worker has opened the model without filling one */
	int fd;         /* with has_file */
	uint64_t bytes; /* its size */
	const struct msd_process *filler; /* fills it now; NULL: it is sealed */
};

/**
 * Pass the file to the worker @p, which starts, before worker.open. A new file has room
 * for the weights of a model of @model_bytes, at most @most_bytes (0: no limit).
 * Without one the worker packs its own.
 */
void msd_shared_weights_pass(struct msd_shared_weights *s, struct msd_process *p,
			     uint64_t model_bytes, uint64_t most_bytes);
/** @p has opened the artifact: a file that it has filled is used from now on. */
void msd_shared_weights_opened(struct msd_shared_weights *s,
			       const struct msd_process *p);
/** @p is gone. */
void msd_shared_weights_lost(struct msd_shared_weights *s, const struct msd_process *p);
/** Close the file; workers keep their mappings. Legal more than once. */
void msd_shared_weights_finish(struct msd_shared_weights *s);

#endif
