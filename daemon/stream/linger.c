/* The codec of a connection after its last reply: all bytes are dropped. */
#include "daemon/stream/codec.h"
#include "daemon/stream/conn.h"

#define MOST_BYTES (8ull << 20)

static size_t want(struct msd_conn *c, struct iovec *pieces, size_t *buffer_bytes)
{
	(void)c;
	(void)pieces;
	(void)buffer_bytes;
	return 0;
}

static void end(struct msd_conn *c)
{
	msd_conn_close(c, MSD_OK, "it is answered");
}

static size_t take(struct msd_conn *c, uint8_t *p, size_t n)
{
	(void)p;
	c->dropped_bytes += n;
	if (c->dropped_bytes > MOST_BYTES)
		end(c);
	return 0;
}

/* The peer must close. */
static bool is_within(const struct msd_conn *c)
{
	(void)c;
	return true;
}

const struct msd_codec msd_linger_codec = {.want = want,
					   .take = take,
					   .is_within = is_within,
					   .ended = end,
					   .reads_per_turn = 1};
