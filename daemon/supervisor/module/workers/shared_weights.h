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

struct msd_replica;

struct msd_shared_weights {
	bool has_file;
	bool is_off;                /* a worker has opened the model without filling one */
	int fd;                     /* with has_file */
	uint64_t bytes;             /* its size */
	struct msd_replica *filler; /* a worker that fills it now; NULL: it is sealed */
};

/** Pass the file to @rep, which starts, before worker.open. Without one it packs. */
void msd_shared_weights_pass(struct msd_replica *rep);
/** @rep has opened the artifact: a file that it has filled is used from now on. */
void msd_shared_weights_opened(struct msd_replica *rep);
/** @rep is gone. */
void msd_shared_weights_lost(struct msd_replica *rep);
/** Close the file; workers keep their mappings. Legal more than once. */
void msd_shared_weights_finish(struct msd_shared_weights *s);

#endif
