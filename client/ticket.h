#ifndef MSD_CLIENT_TICKET_H
#define MSD_CLIENT_TICKET_H
/*
 * A request of a client, from modser_start() until its result has been delivered and
 * its response has arrived. A ticket whose deadline has passed at the client has
 * `ended` while its response is still `due`; the late response is discarded.
 */
#include <sys/uio.h>

#include "client/modser.h"
#include "proto/method.h"
#include "proto/recognise.h"
#include "proto/value.h"

struct msd_ticket_out {
	/* requested dtype and shape; in a client segment, its place */
	struct msd_wire_tensor tensor;
	void *data; /* caller's memory; NULL: the result's block */
};

struct msd_ticket {
	uint64_t id;
	enum msd_method
		method; /* MSD_M_COUNT: a method that this build does not know */
	struct msd_ticket *next; /* in the send queue, or in the request pool */

	struct msd_buf head; /* frame header and body */
	struct iovec *iov;   /* head, tensors, padding; advanced as it is sent */
	size_t n_iov, cap_iov;
	size_t at_iov; /* first entry that is not completely sent */
	bool begun;    /* some bytes were sent */
	int fd;        /* owned; sent with the first byte; -1: none */

	struct msd_ticket_out *outs;
	size_t n_outs, cap_outs;

	modser_done_fn done;
	void (*progress)(void *ctx, uint64_t bytes, uint64_t total_bytes);
	void *ctx;
	uint64_t deadline_ns;  /* the client's own deadline; 0: none */
	modser_result *result; /* NULL after delivery */
	bool ended;
	bool due; /* the response has not arrived */
};

/** Create an empty ticket; NULL: out of memory. */
struct msd_ticket *msd_ticket_create(void);
/**
 * Encode a request into @t, an empty ticket with an id. Borrows the data of tensors;
 * a tensor in @segments, a list, is encoded by its place. @asked: cache of bodies
 * that have passed the scan; NULL: no cache. Errors: as modser_start(); the caller
 * then empties or destroys @t.
 */
MSD_MUST_CHECK msd_err msd_ticket_fill(struct msd_ticket *t, const char *method,
				       const modser_value *params, size_t n_params,
				       const modser_options *options,
				       const modser_segment *segments,
				       struct msd_memory *asked, struct msd_diag *d);
/** Bytes of the separate buffers of @t. */
size_t msd_ticket_bytes(const struct msd_ticket *t);
/**
 * The request is finished: release everything except these buffers, which the next
 * request reuses.
 */
void msd_ticket_empty(struct msd_ticket *t);
void msd_ticket_destroy(struct msd_ticket *t); /* NULL is fine */

#endif
