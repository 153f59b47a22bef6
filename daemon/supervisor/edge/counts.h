#ifndef MSD_SUPERVISOR_COUNTS_H
#define MSD_SUPERVISOR_COUNTS_H
/* Counters of the work for all clients since the start. The code that does the work
 * increments them; daemon/supervisor/facts/ reads them. They never decrease. */
#include <stdint.h>

#include "daemon/supervisor/tls/handshake.h"
#include "proto/base/err.h"

/* Causes of failed PROXY headers. X(enumerator, word) */
#define MSD_PROXY_ACCEPT_FAULT_MAP(X)                                                  \
	X(FORGED, "forged")   /* a header from an untrusted peer */                    \
	X(MISSING, "missing") /* a trusted proxy sent no header */                     \
	X(WRONG, "wrong")                                                              \
	X(LATE, "late")                                                                \
	X(GONE, "gone") /* the peer closed it, or the daemon stops */

enum msd_proxy_accept_fault {
#define MSD_PROXY_ACCEPT_FAULT_ENUM(e, word) MSD_PROXY_ACCEPT_##e,
	MSD_PROXY_ACCEPT_FAULT_MAP(MSD_PROXY_ACCEPT_FAULT_ENUM)
#undef MSD_PROXY_ACCEPT_FAULT_ENUM
		MSD_PROXY_ACCEPT_FAULT_COUNT
};

/* Causes of rejected connections. X(enumerator, word) */
#define MSD_REFUSAL_MAP(X)                                                             \
	X(ALL, "connections")   /* the maximum number of connections */                \
	X(RESERVED, "reserved") /* the remaining slots are for the operator */         \
	X(FDS, "descriptors")   /* the remaining descriptors are for the operator */   \
	X(PEER, "peer")         /* the maximum for its peer */                         \
	X(CONFINED, "confined") /* the peer is sandboxed */                            \
	X(MEMORY, "memory")

enum msd_refusal {
#define MSD_REFUSAL_ENUM(e, word) MSD_REFUSAL_##e,
	MSD_REFUSAL_MAP(MSD_REFUSAL_ENUM)
#undef MSD_REFUSAL_ENUM
		MSD_REFUSAL_COUNT
};

/* Causes of refused clients of TVM's RPC. X(enumerator, word) */
#define MSD_RPC_REFUSAL_MAP(X)                                                         \
	X(HELLO, "hello")   /* none, or another protocol */                            \
	X(KEY, "key")       /* another key, or no right */                             \
	X(FULL, "sessions") /* no place was free in time */

enum msd_rpc_refusal {
#define MSD_RPC_REFUSAL_ENUM(e, word) MSD_RPC_REFUSED_##e,
	MSD_RPC_REFUSAL_MAP(MSD_RPC_REFUSAL_ENUM)
#undef MSD_RPC_REFUSAL_ENUM
		MSD_RPC_REFUSAL_COUNT
};

struct msd_counts {
	uint64_t connections;
	uint64_t refused[MSD_REFUSAL_COUNT];      /* connections, by cause */
	uint64_t http_connections, http_requests; /* included in the totals */
	uint64_t http_ended;                      /* ended HTTP connections */
	uint64_t http_unreadable; /* HTTP input that was not a request */
	uint64_t rpc_started, rpc_ended, rpc_died; /* sessions of TVM's RPC */
	uint64_t rpc_refused[MSD_RPC_REFUSAL_COUNT];
	bool is_at_rpc_tracker; /* the daemon is registered there */
	uint64_t rpc_tracker_failures;
	uint64_t handshakes; /* completed TLS handshakes; then the failed ones */
	uint64_t handshakes_failed[MSD_HANDSHAKE_FAULT_COUNT];
	uint64_t gate_failed[MSD_PROXY_ACCEPT_FAULT_COUNT];
	uint64_t requests, calls, pulls;
	uint64_t errors[MSD_ERR_COUNT]; /* errors that the daemon itself returned, by
					   code */
	uint64_t lost_calls[MSD_ERR_COUNT]; /* included: calls that reached no module */
};

/** Count a connection that became a session. Returns its number. */
static inline uint64_t msd_counts_connection(struct msd_counts *c)
{
	return ++c->connections;
}
/** Count a rejected connection. */
static inline void msd_counts_refused(struct msd_counts *c, enum msd_refusal cause)
{
	c->refused[cause]++;
}
/** Count a session that speaks HTTP. */
static inline void msd_counts_http_connection(struct msd_counts *c)
{
	c->http_connections++;
}
/** Count the end of an HTTP session. */
static inline void msd_counts_http_end(struct msd_counts *c)
{
	c->http_ended++;
}
/** Count a session of TVM's RPC that got a process. */
static inline void msd_counts_rpc_started(struct msd_counts *c)
{
	c->rpc_started++;
}
/** Count the end of such a session. */
static inline void msd_counts_rpc_ended(struct msd_counts *c)
{
	c->rpc_ended++;
}
/** Count such a session whose process died or was killed. */
static inline void msd_counts_rpc_died(struct msd_counts *c)
{
	c->rpc_died++;
}
/** Count a client of TVM's RPC that got no session. */
static inline void msd_counts_rpc_refused(struct msd_counts *c,
					  enum msd_rpc_refusal cause)
{
	c->rpc_refused[cause]++;
}
/** The daemon is, or is not, registered at a tracker of TVM's RPC. */
static inline void msd_counts_rpc_tracker(struct msd_counts *c, bool is_registered)
{
	c->is_at_rpc_tracker = is_registered;
}
/** Count a connection to that tracker that failed or ended. */
static inline void msd_counts_rpc_tracker_failure(struct msd_counts *c)
{
	c->rpc_tracker_failures++;
}
/** Count a complete HTTP request. It also counts as a request. */
static inline void msd_counts_http_request(struct msd_counts *c)
{
	c->requests++;
	c->http_requests++;
}
/** Count HTTP input that cannot be parsed. */
static inline void msd_counts_http_unreadable(struct msd_counts *c)
{
	c->http_unreadable++;
}
/** Count a completed handshake. */
static inline void msd_counts_handshake(struct msd_counts *c)
{
	c->handshakes++;
}
/** Count a failed handshake. */
static inline void msd_counts_handshake_fault(struct msd_counts *c,
					      enum msd_handshake_fault fault)
{
	c->handshakes_failed[fault]++;
}
/** Count a connection that failed at the PROXY accept stage. */
static inline void msd_counts_gate_fault(struct msd_counts *c,
					 enum msd_proxy_accept_fault fault)
{
	c->gate_failed[fault]++;
}
/** Count a complete request. */
static inline void msd_counts_request(struct msd_counts *c)
{
	c->requests++;
}
/** Count a request that was sent to a module. */
static inline void msd_counts_call(struct msd_counts *c)
{
	c->calls++;
}
/** Count a pull. */
static inline void msd_counts_pull(struct msd_counts *c)
{
	c->pulls++;
}
/** Count an error reply that no worker sent. */
static inline void msd_counts_error(struct msd_counts *c, msd_err err)
{
	c->errors[err < MSD_ERR_COUNT ? err : MSD_INTERNAL]++;
}
/**
 * Count an error reply to a call that reached no module, and so is in no module's
 * statistics.
 */
static inline void msd_counts_lost_call(struct msd_counts *c, msd_err err)
{
	c->lost_calls[err < MSD_ERR_COUNT ? err : MSD_INTERNAL]++;
}
/** Return the number of errors of all codes. */
static inline uint64_t msd_counts_errors(const struct msd_counts *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < MSD_ERR_COUNT; i++)
		n += c->errors[i];
	return n;
}

#endif
