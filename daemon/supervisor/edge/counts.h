#ifndef MSD_SUPERVISOR_COUNTS_H
#define MSD_SUPERVISOR_COUNTS_H
/*
 * What was done for all clients since the start. Who does it says so here; who tells of
 * it reads (daemon/supervisor/facts/). Nothing is ever taken back.
 */
#include <stdint.h>

#include "daemon/supervisor/tls/handshake.h"
#include "proto/err.h"

/* Why nobody comes in by a proxy. X(enumerator, word) */
#define MSD_GATE_FAULT_MAP(X)                                                          \
	X(FORGED, "forged")   /* a header of somebody who is no trusted proxy */       \
	X(MISSING, "missing") /* a trusted proxy without one */                        \
	X(WRONG, "wrong")                                                              \
	X(LATE, "late")                                                                \
	X(GONE, "gone") /* it, or the daemon */

enum msd_gate_fault {
#define MSD_GATE_FAULT_ENUM(e, word) MSD_GATE_##e,
	MSD_GATE_FAULT_MAP(MSD_GATE_FAULT_ENUM)
#undef MSD_GATE_FAULT_ENUM
		MSD_GATE_FAULT_COUNT
};

/* Why a connection is let in no further. X(enumerator, word) */
#define MSD_REFUSAL_MAP(X)                                                             \
	X(ALL, "connections")   /* as many as there may be */                          \
	X(RESERVED, "reserved") /* the last places are the operator's */               \
	X(FDS, "descriptors")   /* and so are the last of these */                     \
	X(PEER, "peer")         /* as many as its peer may have */                     \
	X(CONFINED, "confined") /* it comes out of a sandbox */                        \
	X(MEMORY, "memory")

enum msd_refusal {
#define MSD_REFUSAL_ENUM(e, word) MSD_REFUSAL_##e,
	MSD_REFUSAL_MAP(MSD_REFUSAL_ENUM)
#undef MSD_REFUSAL_ENUM
		MSD_REFUSAL_COUNT
};

struct msd_counts {
	uint64_t connections;
	uint64_t refused[MSD_REFUSAL_COUNT];      /* connections, by cause */
	uint64_t http_connections, http_requests; /* of those of all */
	uint64_t http_ended;                      /* of these connections */
	uint64_t http_unreadable; /* what came by HTTP and was no request */
	uint64_t handshakes;      /* of TLS, completed; those that failed: */
	uint64_t handshakes_failed[MSD_HANDSHAKE_FAULT_COUNT];
	uint64_t gate_failed[MSD_GATE_FAULT_COUNT];
	uint64_t requests, calls, pulls;
	uint64_t errors[MSD_ERR_COUNT]; /* what the daemon itself answered, by code */
	uint64_t lost_calls[MSD_ERR_COUNT]; /* of these, calls that reached no module */
};

/** A connection became a session. Returns its number. */
static inline uint64_t msd_counts_connection(struct msd_counts *c)
{
	return ++c->connections;
}
/** A connection was let in no further. */
static inline void msd_counts_refused(struct msd_counts *c, enum msd_refusal cause)
{
	c->refused[cause]++;
}
/** One that became a session speaks HTTP. */
static inline void msd_counts_http_connection(struct msd_counts *c)
{
	c->http_connections++;
}
/** And is over. */
static inline void msd_counts_http_end(struct msd_counts *c)
{
	c->http_ended++;
}
/** A whole request came by HTTP, which counts as one of all, too. */
static inline void msd_counts_http_request(struct msd_counts *c)
{
	c->requests++;
	c->http_requests++;
}
/** What came by HTTP could not be read. */
static inline void msd_counts_http_unreadable(struct msd_counts *c)
{
	c->http_unreadable++;
}
/** A handshake was done. */
static inline void msd_counts_handshake(struct msd_counts *c)
{
	c->handshakes++;
}
/** One failed. */
static inline void msd_counts_handshake_fault(struct msd_counts *c,
					      enum msd_handshake_fault fault)
{
	c->handshakes_failed[fault]++;
}
/** Somebody was refused at the gate. */
static inline void msd_counts_gate_fault(struct msd_counts *c,
					 enum msd_gate_fault fault)
{
	c->gate_failed[fault]++;
}
/** A whole request came. */
static inline void msd_counts_request(struct msd_counts *c)
{
	c->requests++;
}
/** A request went to a module. */
static inline void msd_counts_call(struct msd_counts *c)
{
	c->calls++;
}
/** A module is to be pulled. */
static inline void msd_counts_pull(struct msd_counts *c)
{
	c->pulls++;
}
/** A request was answered with an error that no worker sent. */
static inline void msd_counts_error(struct msd_counts *c, msd_err err)
{
	c->errors[err < MSD_ERR_COUNT ? err : MSD_INTERNAL]++;
}
/** A call was answered so that came to no module, whose tally would have it. */
static inline void msd_counts_lost_call(struct msd_counts *c, msd_err err)
{
	c->lost_calls[err < MSD_ERR_COUNT ? err : MSD_INTERNAL]++;
}
/** Of all codes. */
static inline uint64_t msd_counts_errors(const struct msd_counts *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < MSD_ERR_COUNT; i++)
		n += c->errors[i];
	return n;
}

#endif
