#ifndef MSD_DAEMON_LIMITS_H
#define MSD_DAEMON_LIMITS_H
/*
 * Limits that the operator may set, all in one table: `modserd --help` and
 * server.info print it. What the protocol fixes stands in proto/limits.h.
 *
 * X(field, option, default, sentence); all are uint64_t. Sizes in bytes, times in ms.
 * A default of 0 for a memory means a part of the machine's: msd_limits_size().
 */
#define MSD_LIMIT_MAP(X)                                                               \
	X(max_connections, "max-connections", 1024, "client connections at a time")    \
	X(reserved_connections, "reserved-connections", 16,                            \
	  "of these only for the daemon's own user on unix sockets")                   \
	X(max_peer_connections, "max-peer-connections", 512,                           \
	  "client connections of one user or address")                                 \
	X(max_modules, "max-modules", 256, "modules at a time")                        \
	X(max_workers, "max-workers", 64, "worker processes of one module")            \
	X(max_upload, "max-upload", 4ull << 30, "bytes of one uploaded artifact")      \
	X(max_upload_memory, "max-upload-memory", 0,                                   \
	  "bytes of all artifacts that are uploaded and not loaded")                   \
	X(max_uploads, "max-uploads", 8, "uploads of one connection at a time")        \
	X(max_payload, "max-payload", 4ull << 30, "tensor bytes of one request")       \
	X(max_memory, "max-memory", 0, "tensor bytes of all requests in flight")       \
	X(max_connection_memory, "max-connection-memory", 0,                           \
	  "bytes that requests and replies of one connection hold; then reading "      \
	  "stops")                                                                     \
	X(max_peer_memory, "max-peer-memory", 0, "the same of one user or address")    \
	X(max_total_memory, "max-total-memory", 0, "the same of all connections")      \
	X(max_worker_memory, "max-worker-memory", 0,                                   \
	  "bytes of data that one worker may allocate")                                \
	X(max_worker_files, "max-worker-files", 1024,                                  \
	  "descriptors of one worker, at least 128")                                   \
	X(max_worker_core, "max-worker-core", 0,                                       \
	  "bytes of the core file that a dying worker may leave")                      \
	X(max_store, "max-store", 0,                                                   \
	  "bytes that the store may hold; 0: what its disk has, but for a twentieth")  \
	X(max_handles, "max-handles", 65536, "handles of one connection")              \
	X(max_tensors, "max-tensors", 16384,                                           \
	  "resident tensors of one connection in one worker; of its peer twice that")  \
	X(max_executors, "max-executors", 256,                                         \
	  "instances of one connection in one worker; of its peer twice that")         \
	X(max_queued, "max-queued", 256ull << 20,                                      \
	  "reply bytes queued for one connection; a slower reader is disconnected")    \
	X(max_in_flight, "max-in-flight", 1024,                                        \
	  "requests in flight of one connection; then reading stops")                  \
	X(ready_wait_ms, "ready-wait", 5000,                                           \
	  "how long a call without a deadline waits for its module")                   \
	X(load_ms, "load-timeout", 120000, "how long a load may take")                 \
	X(drain_ms, "drain", 10000, "how long unload and SIGTERM wait for calls")      \
	X(kill_grace_ms, "kill-grace", 1000,                                           \
	  "how long a call may overrun its deadline before its worker is killed")      \
	X(write_stall_ms, "write-stall", 30000,                                        \
	  "how long a connection may refuse to read a reply")                          \
	X(read_stall_ms, "read-stall", 30000,                                          \
	  "how long a connection may take for 64 KiB, or the rest, of a frame that "   \
	  "it has begun; for all of it while others wait for its tensor memory")       \
	X(first_frame_ms, "first-frame", 10000,                                        \
	  "how long a connection may be open without one whole frame; 0: for ever")    \
	X(idle_ms, "idle", 0,                                                          \
	  "how long a connection without requests in flight may be silent; 0: for "    \
	  "ever")                                                                      \
	X(max_deaths, "max-deaths", 5,                                                 \
	  "deaths within a minute that quarantine a module")

#include <stdint.h>

#define MSD_LEAST_WORKER_FILES 128u /* it keeps its own above 100 */

struct msd_limits {
#define MSD_LIMIT_FIELD(field, option, value, sentence) uint64_t field;
	MSD_LIMIT_MAP(MSD_LIMIT_FIELD)
#undef MSD_LIMIT_FIELD
};

/** The supervisor's, at its start: give the memories that are 0 their part of a machine
 * of @machine_bytes. */
void msd_limits_size(struct msd_limits *l, uint64_t machine_bytes);

#endif
