#ifndef MSD_TESTS_PEER_H
#define MSD_TESTS_PEER_H
/*
 * The daemon's end of a connection in the hands of a test. Ids of a client count from
 * 1, so that answers can be written before their requests are sent; a client sends
 * before it receives.
 */
#include "client/modser.h"
#include "proto/base/bytes.h"

struct peer {
	modser_client *client;
	int fd; /* the daemon's end */
};

/** A client connected to a test. Aborts when it cannot be had. */
struct peer peer_open(void);
void peer_close(struct peer *p); /* both ends; either may be closed already */

/** Begin the body of a response without an error in @out: the result is next. */
void peer_begin(struct msd_buf *out, uint64_t id);
/** Put the header in front of @body and @payload behind it into @ret. */
void peer_frame(struct msd_buf *ret, const struct msd_buf *body, const void *payload,
		uint64_t payload_bytes);
/** Write everything; aborts when the other end is gone. */
void peer_write(const struct peer *p, const void *bytes, size_t n);
/** Answer request @id with an int. */
void peer_answer(const struct peer *p, uint64_t id, int64_t v);
/** The same as of a call that ran for @exec_ns: one that comes often is remembered. */
void peer_answer_timed(const struct peer *p, uint64_t id, int64_t v, uint64_t exec_ns);
/** Answer it with an error. */
void peer_refuse(const struct peer *p, uint64_t id, msd_err err, const char *text);
/** [[tensor], nil] as the answer to @id: one float32 vector of @n elements. */
void peer_answer_floats(const struct peer *p, uint64_t id, const float *data,
			int64_t n);
/** The next request: its body to @body, its payload to @payload. */
void peer_read(const struct peer *p, struct msd_buf *body, struct msd_buf *payload);

#endif
