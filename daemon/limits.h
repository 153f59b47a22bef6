#ifndef MSD_DAEMON_LIMITS_H
#define MSD_DAEMON_LIMITS_H
/*
 * Table of the limits that the operator may set; `modserd --help` and server.info
 * print it. Limits that the protocol fixes are in proto/limits.h.
 *
 * X(field, option, when, default, sentence); all are uint64_t. `when`: RELOAD applies
 * a change to a running daemon; RESTART needs a new start. Sizes are in bytes, times
 * in ms or us as the field's name says; options are set with a unit. A default of 0
 * for a memory or for processes means a share of the machine: msd_limits_size().
 * max_directs is 0 if the kernel passes descriptors: msd_option_defaults().
 */
#define MSD_LIMIT_MAP(X)                                                               \
	X(max_connections, "max-connections", RELOAD, 1024,                            \
	  "client connections at a time")                                              \
	X(reserved_connections, "reserved-connections", RELOAD, 16,                    \
	  "connections that only the daemon's own user may use, on unix sockets")      \
	X(max_peer_connections, "max-peer-connections", RELOAD, 512,                   \
	  "client connections of one user or address")                                 \
	X(max_modules, "max-modules", RELOAD, 256, "modules at a time")                \
	X(max_workers, "max-workers", RELOAD, 64, "worker processes of one module")    \
	X(max_upload, "max-upload-size", RELOAD, 4ull << 30,                           \
	  "bytes of one uploaded artifact")                                            \
	X(max_upload_memory, "max-upload-memory", RELOAD, 0,                           \
	  "bytes of all uploads that are not loaded yet, and of all current pulls")    \
	X(max_uploads, "max-concurrent-uploads", RELOAD, 8,                            \
	  "uploads of one connection at a time")                                       \
	X(max_payload, "max-payload", RELOAD, 4ull << 30,                              \
	  "tensor bytes of one request")                                               \
	X(max_json, "max-json", RELOAD, 16ull << 20,                                   \
	  "bytes of the JSON of an HTTP inference request, and of its reply")          \
	X(max_memory, "max-memory", RESTART, 0,                                        \
	  "tensor bytes of all requests in flight")                                    \
	X(max_connection_memory, "max-connection-memory", RESTART, 0,                  \
	  "bytes that requests and replies of one connection hold; beyond that the "   \
	  "daemon stops reading")                                                      \
	X(max_peer_memory, "max-peer-memory", RESTART, 0,                              \
	  "bytes of requests and replies of all connections of one user or address")   \
	X(max_total_memory, "max-total-memory", RESTART, 0,                            \
	  "bytes of requests and replies of all connections")                          \
	X(max_segment_bytes, "max-peer-segment-memory", RELOAD, 0,                     \
	  "bytes of shared segments of one user or address")                           \
	X(max_segment_memory, "max-segment-memory", RELOAD, 0,                         \
	  "bytes of shared segments of all clients")                                   \
	X(max_worker_memory, "max-worker-memory", RELOAD, 0,                           \
	  "bytes of data that one worker may allocate")                                \
	X(max_worker_files, "max-worker-files", RELOAD, 1024,                          \
	  "descriptors of one worker, at least 128")                                   \
	X(max_worker_processes, "max-worker-processes", RELOAD, 0,                     \
	  "processes and threads of one worker and of its children, if the daemon "    \
	  "has a delegated control group")                                             \
	X(max_worker_core, "max-worker-core", RELOAD, 0,                               \
	  "bytes of the core file of a worker that dies")                              \
	X(max_rpc_files, "max-rpc-files", RELOAD, 64,                                  \
	  "files of one session of TVM's RPC (--tvm-rpc)")                             \
	X(max_store, "max-store", RESTART, 0,                                          \
	  "bytes that the store may hold; auto: 95 % of its disk")                     \
	X(max_pulls, "max-pulls", RELOAD, 4, "concurrent pulls")                       \
	X(fetch_stall_ms, "fetch-stall", RELOAD, 10000,                                \
	  "time without data, or below 64 bytes/s, after which a pull fails")          \
	X(fetch_retry_ms, "fetch-retry", RELOAD, 1000,                                 \
	  "longest pause before an interrupted pull continues; it doubles each time")  \
	X(max_handles, "max-handles", RELOAD, 65536, "handles of one connection")      \
	X(max_tensors, "max-tensors", RELOAD, 16384,                                   \
	  "resident tensors of one connection in one worker; twice that for its user " \
	  "or address")                                                                \
	X(max_resident, "max-resident", RELOAD, 0,                                     \
	  "bytes of resident tensors of one connection in one worker; twice that for " \
	  "its user or address")                                                       \
	X(max_executors, "max-executors", RELOAD, 256,                                 \
	  "sessions of one connection in one worker; twice that for its user or "      \
	  "address")                                                                   \
	X(max_objects, "max-objects", RELOAD, 16384,                                   \
	  "objects of one connection in one worker; twice that for its user or "       \
	  "address")                                                                   \
	X(max_directs, "max-directs", RELOAD, 16,                                      \
	  "direct channels of clients to one worker (channel.open), 16 at most; one "  \
	  "user may have half of them; off by default before Linux 6.16")              \
	X(spin_us, "spin", RELOAD, 50,                                                 \
	  "time, 50us at most, that a worker polls a direct channel before it "        \
	  "sleeps; "                                                                   \
	  "it polls only on several processors and if recent polls succeeded")         \
	X(max_queued, "max-reply-buffer", RELOAD, 256ull << 20,                        \
	  "bytes of unread replies of one connection; beyond that the daemon closes "  \
	  "it")                                                                        \
	X(max_in_flight, "max-in-flight", RELOAD, 1024,                                \
	  "requests in flight of one connection; beyond that the daemon stops "        \
	  "reading")                                                                   \
	X(max_wait_ms, "max-wait", RELOAD, 0,                                          \
	  "time that a call with a deadline may wait in its module's queue; a call "   \
	  "that would wait longer fails at once")                                      \
	X(ready_wait_ms, "ready-wait", RELOAD, 5000,                                   \
	  "time that a call without a deadline waits until its module is ready")       \
	X(load_ms, "load-timeout", RELOAD, 120000, "time that a load may take")        \
	X(watch_ms, "watch", RELOAD, 300000,                                           \
	  "time after an update of a stored module in which a failure brings the "     \
	  "previous edition back")                                                     \
	X(drain_delay_ms, "drain-delay", RELOAD, 0,                                    \
	  "time after SIGTERM in which the daemon reports \"not ready\" and still "    \
	  "serves, before it drains")                                                  \
	X(drain_ms, "drain", RELOAD, 10000,                                            \
	  "time that unload and SIGTERM wait for running calls")                       \
	X(kill_grace_ms, "kill-grace", RELOAD, 1000,                                   \
	  "time past the deadline of a call after which its worker is killed")         \
	X(max_run_ms, "max-run", RELOAD, 600000,                                       \
	  "run time after which the worker of a call is killed; a module's section "   \
	  "or "                                                                        \
	  "load may set another")                                                      \
	X(write_stall_ms, "write-stall", RELOAD, 30000,                                \
	  "time without progress after which a client that does not read is closed")   \
	X(read_stall_ms, "read-stall", RELOAD, 30000,                                  \
	  "time that a client may take for 64 KiB, or the rest, of a frame; for the "  \
	  "whole frame while others wait for tensor memory")                           \
	X(first_frame_ms, "first-frame", RELOAD, 10000,                                \
	  "time after which a connection without a complete frame is closed")          \
	X(idle_ms, "idle", RELOAD, 0,                                                  \
	  "time without requests after which a connection is closed")                  \
	X(slow_call_ms, "slow-call", RELOAD, 1000,                                     \
	  "duration from which `modser slowlog` lists a call")                         \
	X(max_deaths, "max-deaths", RELOAD, 5,                                         \
	  "worker deaths within a minute that quarantine a module")

#include <stdint.h>

#define MSD_LEAST_WORKER_FILES 128u /* own descriptors of a worker start at 100 */

/* In one worker, for all its clients together. */
#define MSD_MAX_RESIDENTS 65536u /* tensors */
#define MSD_MAX_INSTANCES 1024u
#define MSD_MAX_HELD_OBJECTS 65536u

struct msd_limits {
#define MSD_LIMIT_FIELD(field, option, when, value, sentence) uint64_t field;
	MSD_LIMIT_MAP(MSD_LIMIT_FIELD)
#undef MSD_LIMIT_FIELD
};

/**
 * Called by the supervisor at start: replace each 0 by its share of a machine of
 * @machine_bytes and @n_cores.
 */
void msd_limits_size(struct msd_limits *l, uint64_t machine_bytes, unsigned n_cores);

#endif
