#ifndef MSD_CLIENT_TICKET_H
#define MSD_CLIENT_TICKET_H
/*
 * One request of a client, from modser_start() until its result has been handed over
 * and its response has arrived. A ticket whose deadline has passed at the client has
 * `ended` while its response is still `due`: the late response is thrown away.
 */
#include <sys/uio.h>

#include "client/modser.h"
#include "proto/method.h"
#include "proto/recognise.h"
#include "proto/value.h"

struct msd_ticket_out {
	/* Dtype and shape as asked for; in a segment that is lent, its place. */
	struct msd_wire_tensor tensor;
	void *data; /* the caller's; NULL: the result's block */
};

struct msd_ticket {
	uint64_t id;
	enum msd_method method;  /* MSD_M_COUNT: none that this build knows */
	struct msd_ticket *next; /* in the queue of what is to be sent, or of spares */

	struct msd_buf head; /* frame header and body */
	struct iovec *iov;   /* head, tensors, padding; advanced while it is sent */
	size_t n_iov, cap_iov;
	size_t at_iov; /* the first that is not wholly sent */
	bool begun;    /* some of it was sent */
	int fd;        /* owned; goes with its first byte; -1: none */

	struct msd_ticket_out *outs;
	size_t n_outs, cap_outs;

	modser_done_fn done;
	void (*progress)(void *ctx, uint64_t bytes, uint64_t total_bytes);
	void *ctx;
	uint64_t deadline_ns;  /* of the client's own patience; 0: none */
	modser_result *result; /* NULL once it was handed over */
	bool ended;
	bool due; /* the response has not arrived */
};

/** An empty one; NULL: out of memory. */
struct msd_ticket *msd_ticket_create(void);
/**
 * Encode a request into @t, an empty ticket that has its id. Borrows the data of
 * tensors; what lies in @segments, a list, is named by its place. @asked: bodies that
 * have passed the scan, which need it no more; NULL: none are remembered. Errors: as
 * modser_start(); @t is to be emptied or destroyed.
 */
MSD_MUST_CHECK msd_err msd_ticket_fill(struct msd_ticket *t, const char *method,
				       const modser_value *params, size_t n_params,
				       const modser_options *options,
				       const modser_segment *segments,
				       struct msd_memory *asked, struct msd_diag *d);
/** Bytes of the buffers that it has beside itself. */
size_t msd_ticket_bytes(const struct msd_ticket *t);
/** It is over: let go of all but these buffers, which the next request has then. */
void msd_ticket_empty(struct msd_ticket *t);
void msd_ticket_destroy(struct msd_ticket *t); /* NULL is fine */

#endif
