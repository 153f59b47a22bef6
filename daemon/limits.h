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
	  "of these only for the daemon's own user on unix sockets")                   \
	X(max_peer_connections, "max-peer-connections", RELOAD, 512,                   \
	  "client connections of one user or address")                                 \
	X(max_modules, "max-modules", RELOAD, 256, "modules at a time")                \
	X(max_workers, "max-workers", RELOAD, 64, "worker processes of one module")    \
	X(max_upload, "max-upload", RELOAD, 4ull << 30,                                \
	  "bytes of one uploaded artifact")                                            \
	X(max_upload_memory, "max-upload-memory", RELOAD, 0,                           \
	  "bytes of all artifacts uploaded and not loaded; of all pulled now")         \
	X(max_uploads, "max-uploads", RELOAD, 8,                                       \
	  "uploads of one connection at a time")                                       \
	X(max_payload, "max-payload", RELOAD, 4ull << 30,                              \
	  "tensor bytes of one request")                                               \
	X(max_memory, "max-memory", RESTART, 0,                                        \
	  "tensor bytes of all requests in flight")                                    \
	X(max_connection_memory, "max-connection-memory", RESTART, 0,                  \
	  "bytes that requests and replies of one connection hold; then reading "      \
	  "stops")                                                                     \
	X(max_peer_memory, "max-peer-memory", RESTART, 0,                              \
	  "the same of one user or address")                                           \
	X(max_total_memory, "max-total-memory", RESTART, 0,                            \
	  "the same of all connections")                                               \
	X(max_segment_bytes, "max-segment-bytes", RELOAD, 0,                           \
	  "bytes of the segments that one user or address lends")                      \
	X(max_segment_memory, "max-segment-memory", RELOAD, 0, "the same of all")      \
	X(max_worker_memory, "max-worker-memory", RELOAD, 0,                           \
	  "bytes of data that one worker may allocate")                                \
	X(max_worker_files, "max-worker-files", RELOAD, 1024,                          \
	  "descriptors of one worker, at least 128")                                   \
	X(max_worker_processes, "max-worker-processes", RELOAD, 0,                     \
	  "processes and threads of one worker and all that it starts, where a "       \
	  "control group is delegated")                                                \
	X(max_worker_core, "max-worker-core", RELOAD, 0,                               \
	  "bytes of the core file that a dying worker may leave")                      \
	X(max_store, "max-store", RESTART, 0,                                          \
	  "bytes that the store may hold; 0: what its disk has, but for a twentieth")  \
	X(max_pulls, "max-pulls", RELOAD, 4, "modules that are pulled at a time")      \
	X(fetch_stall_ms, "fetch-stall", RELOAD, 10000,                                \
	  "how long a pull may bring nothing, or less than 64 bytes a second")         \
	X(fetch_retry_ms, "fetch-retry", RELOAD, 1000,                                 \
	  "the longest rest before a pull that was cut goes on; twice as long each "   \
	  "time after that")                                                           \
	X(max_handles, "max-handles", RELOAD, 65536, "handles of one connection")      \
	X(max_tensors, "max-tensors", RELOAD, 16384,                                   \
	  "resident tensors of one connection in one worker; of its peer twice that")  \
	X(max_resident, "max-resident", RELOAD, 0,                                     \
	  "bytes of resident tensors of one connection in one worker; of its peer "    \
	  "twice that")                                                                \
	X(max_executors, "max-executors", RELOAD, 256,                                 \
	  "instances of one connection in one worker; of its peer twice that")         \
	X(max_directs, "max-directs", RELOAD, 16,                                      \
	  "clients' own channels to one worker (channel.open), 16 at most, half of "   \
	  "them one user's; 0: none, which is the default before Linux 6.16")          \
	X(spin_us, "spin", RELOAD, 50,                                                 \
	  "how long, 50us at most, a worker looks for the next call on such a "        \
	  "channel before it sleeps, where it may use more than one processor and "    \
	  "that has paid lately; 0: it sleeps at once")                                \
	X(max_queued, "max-queued", RELOAD, 256ull << 20,                              \
	  "reply bytes queued for one connection; a slower reader is disconnected")    \
	X(max_in_flight, "max-in-flight", RELOAD, 1024,                                \
	  "requests in flight of one connection; then reading stops")                  \
	X(max_wait_ms, "max-wait", RELOAD, 0,                                          \
	  "how long a call with a deadline may wait behind others of its module; one " \
	  "that would wait longer is refused at once; 0: until its deadline")          \
	X(ready_wait_ms, "ready-wait", RELOAD, 5000,                                   \
	  "how long a call without a deadline waits for its module")                   \
	X(load_ms, "load-timeout", RELOAD, 120000, "how long a load may take")         \
	X(watch_ms, "watch", RELOAD, 300000,                                           \
	  "how long a module of the store that has replaced another is watched; when " \
	  "it fails by then, the other one is back")                                   \
	X(drain_delay_ms, "drain-delay", RELOAD, 0,                                    \
	  "how long after SIGTERM the daemon says that it is not ready, and serves "   \
	  "on, before it drains")                                                      \
	X(drain_ms, "drain", RELOAD, 10000,                                            \
	  "how long unload and SIGTERM wait for calls")                                \
	X(kill_grace_ms, "kill-grace", RELOAD, 1000,                                   \
	  "how long a call may overrun its deadline before its worker is killed")      \
	X(max_run_ms, "max-run", RELOAD, 600000,                                       \
	  "how long a call may run before its worker is killed, where its module's "   \
	  "section or load says no other time; 0: as long as it likes")                \
	X(write_stall_ms, "write-stall", RELOAD, 30000,                                \
	  "how long a connection may refuse to read a reply")                          \
	X(read_stall_ms, "read-stall", RELOAD, 30000,                                  \
	  "how long a connection may take for 64 KiB, or the rest, of a frame that "   \
	  "it has begun; for all of it while others wait for its tensor memory")       \
	X(first_frame_ms, "first-frame", RELOAD, 10000,                                \
	  "how long a connection may be open without one whole frame; 0: for ever")    \
	X(idle_ms, "idle", RELOAD, 0,                                                  \
	  "how long a connection without requests in flight may be silent; 0: for "    \
	  "ever")                                                                      \
	X(slow_call_ms, "slow-call", RELOAD, 1000,                                     \
	  "from how long on `modser slowlog` tells of a call; 0: of none")             \
	X(max_deaths, "max-deaths", RELOAD, 5,                                         \
	  "deaths within a minute that quarantine a module")

#include <stdint.h>

#define MSD_LEAST_WORKER_FILES 128u /* own descriptors of a worker start at 100 */

/* In one worker, for all its clients together. */
#define MSD_MAX_RESIDENTS 65536u /* tensors */
#define MSD_MAX_INSTANCES 1024u

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
