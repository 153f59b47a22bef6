#ifndef MSD_SUPERVISOR_CLIENT_SEGMENT_H
#define MSD_SUPERVISOR_CLIENT_SEGMENT_H
/*
 * Client segments: memfds of clients, with a sealed size, that contain the tensors of
 * their calls. The supervisor does not map them, so a client's changes to its bytes
 * cannot affect it. It passes the descriptor to the worker processes of calls that
 * name it.
 *
 * A segment is released when its client has taken it back or is gone, and no request
 * names it any more. Then each process that has the descriptor is notified.
 */
#include <sys/types.h>

#include "daemon/loop/list.h"
#include "daemon/segments/segpool.h"
#include "proto/base/diag.h"
#include "proto/limits.h"

struct msd_client_segment;

/* All client segments. */
struct msd_client_segments {
	struct msd_client_segment *at[MSD_MAX_LENT]; /* by number; NULL: free */
	uint32_t n;
	uint64_t bytes;
};

struct msd_client_segment {
	struct msd_list borrowers; /* msd_segment_user.of_loan */
	struct msd_client_segments *all;
	int fd; /* owned */
	uint64_t bytes;
	dev_t device; /* identifies the memfd, together with @inode */
	ino_t inode;
	uint16_t number; /* index in `all` */
	uint16_t name;   /* the client's number for it; set by the owner */
	bool is_writable;
	uint32_t refs;
	/** Called when it is released, before it is freed. Set by the owner. */
	void (*on_over)(struct msd_client_segment *l);
	void *owner;
};

/* A process that has the descriptor: embedded in the object that can notify it. */
struct msd_segment_user {
	struct msd_list of_loan; /* msd_client_segment.borrowers */
	struct msd_client_segment *loan;
	/** The segment is released: notify the process, and free @b. */
	void (*take_back)(struct msd_segment_user *b);
};

/**
 * Check @fd, which is borrowed, and set in @loan its size, its identity, and whether
 * it is writable. Errors: MSD_BAD_REQUEST, naming the missing property: a memfd, one
 * of its seals (SHRINK, GROW, SEAL), ordinary pages, @bytes of them.
 */
MSD_MUST_CHECK msd_err msd_client_segment_check(int fd, uint64_t bytes,
						struct msd_client_segment *loan,
						struct msd_diag *d);
/**
 * Create a client segment of @fd, which msd_client_segment_check() has checked into
 * @seen, with one reference for the caller. @fd is taken on success. Errors: MSD_BUSY
 * (the maximum number is reached), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_client_segment_make(struct msd_client_segments *all, int fd,
					       const struct msd_client_segment *seen,
					       struct msd_client_segment **ret,
					       struct msd_diag *d);
void msd_client_segment_unref(struct msd_client_segment *l); /* NULL is allowed */

/* The client segments that a request names. */
struct msd_segment_lookup {
	uint32_t n;
	struct msd_client_segment *of[MSD_MAX_CLIENT_SEGMENTS]; /* one reference each */
};

/** Add @loan to @l once; creates *@l if it is NULL. Returns false if out of memory. */
MSD_MUST_CHECK bool msd_segment_lookup_add(struct msd_segment_lookup **l,
					   struct msd_client_segment *loan);
/** The segment with that number; NULL if @l does not name it. @l may be NULL. */
struct msd_client_segment *msd_segment_lookup_find(const struct msd_segment_lookup *l,
						   uint16_t number);
/** Release all segments of @l. */
void msd_segment_lookup_end(struct msd_segment_lookup **l);

#endif
