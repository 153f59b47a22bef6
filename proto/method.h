#ifndef MSD_PROTO_METHOD_H
#define MSD_PROTO_METHOD_H
#include "proto/base/bytes.h"

/*
 * Rights that methods require; the supervisor decides which client has which right
 * (daemon/supervisor/edge/access/authorization.h). ANY needs no right, and NONE cannot
 * be granted; the rows before them can be granted and revoked.
 *
 * X(enumerator, name)
 */
#define MSD_RIGHT_MAP(X)                                                               \
	X(LOOKUP, "lookup")                                                            \
	X(CALL, "call")                                                                \
	X(LOAD, "load")                                                                \
	X(READ, "read")                                                                \
	X(ADMIN, "admin")                                                              \
	X(ANY, "any")                                                                  \
	X(NONE, "-")

enum msd_right {
#define MSD_RIGHT_ENUM(e, name) MSD_RIGHT_##e,
	MSD_RIGHT_MAP(MSD_RIGHT_ENUM)
#undef MSD_RIGHT_ENUM
};

/** "load", "-", ...: as in the documents. Static. */
const char *msd_right_name(enum msd_right right);

/*
 * The method table: `modserd --api` prints it and PROTOCOL.md documents it (a test
 * compares the two). `where`: S answered by the supervisor, W forwarded to the
 * module's worker, L used only between supervisor and worker (refused from clients).
 * The supervisor also sends some of S to the worker. daemon/worker/CHANNEL.md lists
 * all messages between them (a test records and compares them).
 *
 * The lookup is linear, so the most frequent methods are first.
 *
 * X(enumerator, name, where, right, params, result)
 */
#define MSD_METHOD_MAP(X)                                                              \
	X(CALL, "call", W, CALL, "[\"name:function\" | function | object, arg...]",    \
	  "[[out...], return]")                                                        \
	X(HELLO, "session.hello", S, ANY, "[{client?, protocol?, token?, objects?}]",  \
	  "{server, version, protocol, limits, features}")                             \
	X(PING, "ping", S, ANY, "[]", "nil")                                           \
	X(CANCEL, "cancel", S, ANY, "[id]", "bool: true when it was still queued")     \
	X(SERVER_INFO, "server.info", S, LOOKUP, "[]", "{...}")                        \
	X(SERVER_METRICS, "server.metrics", S, LOOKUP, "[]", "str: for Prometheus")    \
	X(SERVER_MONITOR, "server.monitor", S, ADMIN,                                  \
	  "[{from?, wait_ms?, every?, module?}?]", "{requests, from, next}")           \
	X(SERVER_SLOWLOG, "server.slowlog", S, ADMIN, "[]", "[{number, at, ...}]")     \
	X(SERVER_RELOAD, "server.reload", S, ADMIN, "[]", "[{key, name, ...}]")        \
	X(CLIENT_LIST, "client.list", S, LOOKUP, "[]", "[{connection, peer, ...}]")    \
	X(CLIENT_KILL, "client.kill", S, ADMIN, "[connection]", "nil")                 \
	X(ACL_WHOAMI, "acl.whoami", S, ANY, "[]", "{user, peer, acl, rights, lines}")  \
	X(ACL_LIST, "acl.list", S, ADMIN, "[]", "[{kind, name, rights, ...}]")         \
	X(ACL_LOG, "acl.log", S, ADMIN, "[]", "[{first, last, user, ...}]")            \
	X(ACL_DRY_RUN, "acl.dry_run", S, ADMIN, "[user, method, name?]",               \
	  "{allowed, needs, line}")                                                    \
	X(MODULE_UPLOAD, "module.upload", S, LOAD,                                     \
	  "[\"begin\", bytes] | [\"find\", sha256] | [\"write\", upload, offset, "     \
	  "tensor] | "                                                                 \
	  "[\"commit\", upload] | [\"abort\", upload]",                                \
	  "upload | nil | {bytes} | nil")                                              \
	X(MODULE_LOAD, "module.load", S, LOAD,                                         \
	  "[name, upload, {replace?, file?, device?, graph?, params?, model?, "        \
	  "files?, workers?, batch?, within_ms?, max_run_ms?, keep_alive_ms?, "        \
	  "threads?, engine?, era?, tvm_inputs?, fill?, format?, input?, outputs?, "   \
	  "signature?, keep?}]",                                                       \
	  "{name, state, functions, model}")                                           \
	X(MODULE_PULL, "module.pull", S, LOAD,                                         \
	  "[name, uri, {sha256?, device?, workers?, batch?, within_ms?, max_run_ms?, " \
	  "keep_alive_ms?, threads?, engine?, era?, tvm_inputs?, fill?, format?, "     \
	  "input?, outputs?, signature?, progress?}]",                                 \
	  "{name, state, functions, model}")                                           \
	X(MODULE_READ, "module.read", S, READ, "[name, {sha256, from?, bytes?}?]",     \
	  "{version, files} | bin")                                                    \
	X(MODULE_ROLLBACK, "module.rollback", S, LOAD, "[name]",                       \
	  "{name, state, functions, model}")                                           \
	X(MODULE_SLEEP, "module.sleep", S, LOAD, "[name]", "nil")                      \
	X(MODULE_UNLOAD, "module.unload", S, LOAD, "[name]",                           \
	  "nil, when the process is gone")                                             \
	X(STORE_LIST, "store.list", S, ADMIN, "[after?]", "{editions, after}")         \
	X(STORE_VERIFY, "store.verify", S, ADMIN, "[after?]",                          \
	  "{faults, files, after}")                                                    \
	X(STORE_COLLECT, "store.collect", S, ADMIN, "[]",                              \
	  "{removed, removed_bytes, kept, kept_bytes}")                                \
	X(STORE_PIN, "store.pin", S, ADMIN, "[name, pinned]", "nil")                   \
	X(MODULE_INSTANCE, "module.instance", W, CALL, "[name]", "instance")           \
	X(INSTANCE_FREE, "instance.free", S, CALL, "[instance...]", "nil")             \
	X(OBJECT_FREE, "object.free", S, CALL, "[object...]", "nil")                   \
	X(OBJECT_DESCRIBE, "object.describe", W, CALL, "[object]",                     \
	  "{type, is_function, ancestors, fields}")                                    \
	X(MODULE_LIST, "module.list", S, LOOKUP, "[]", "[{name, state, ...}]")         \
	X(MODULE_DESCRIBE, "module.describe", S, LOOKUP, "[name]",                     \
	  "{name, state, era, machine, built_ms, sandbox, inspect, model, functions, " \
	  "...}")                                                                      \
	X(MODULE_WAIT, "module.wait", S, LOOKUP, "[name]",                             \
	  "{name, state, functions, model}, when READY")                               \
	X(MODULE_LOGS, "module.logs", S, LOOKUP, "[name, {from?, wait_ms?}?]",         \
	  "str: the last of its stderr | {text, from, next}")                          \
	X(MODULE_PLAN, "module.plan", W, LOOKUP, "[name, {from?}?]",                   \
	  "{nodes, from, next, shapes, threads, arena_bytes, packed_bytes, "           \
	  "shared_bytes, rows}")                                                       \
	X(MODULE_PROFILE, "module.profile", W, ADMIN,                                  \
	  "[\"name:function\" | function, arg...]", "[[out...], times]")               \
	X(FUNCTION_LIST, "function.list", S, LOOKUP, "[name]",                         \
	  "[{name, signature?, ...}]")                                                 \
	X(FUNCTION_GET, "function.get", S, LOOKUP, "[name, function]", "function")     \
	X(FUNCTION_FREE, "function.free", S, LOOKUP, "[function]", "nil")              \
	X(TENSOR_ALLOC, "tensor.alloc", W, CALL, "[name, dtype, shape, device?]",      \
	  "tensor")                                                                    \
	X(TENSOR_COPY, "tensor.copy", W, CALL, "[from, to]", "tensor | nil")           \
	X(TENSOR_FILL, "tensor.fill", W, CALL, "[tensor, number]", "nil")              \
	X(TENSOR_FREE, "tensor.free", S, CALL, "[tensor...]", "nil")                   \
	X(SEGMENT_ADD, "segment.add", S, CALL, "[bytes] + descriptor",                 \
	  "number of the segment")                                                     \
	X(SEGMENT_REMOVE, "segment.remove", S, CALL, "[number]", "nil")                \
	X(CHANNEL_OPEN, "channel.open", S, CALL, "[name]",                             \
	  "{requests, bytes, workers, pid} + descriptor")                              \
	X(WORKER_OPEN, "worker.open", L, NONE,                                         \
	  "[{name, file, graph, params, workers, max_out, max_data, max_lent, "        \
	  "max_files, max_core, spin_us, device?, batch?, within_ms?, threads?, "      \
	  "engine?, era?, tvm_inputs?, fill?, format?, input?, outputs?, "             \
	  "signature?, model?, files?, plugins?, sandbox?, may_read?, may_write?}]",   \
	  "{device, era, machine, built_ms, shared_weights?, sandbox, inspect, "       \
	  "functions, left_out?}")                                                     \
	X(WORKER_RESUME, "worker.resume", L, NONE, "[]",                               \
	  "{device, era, machine, built_ms, shared_weights?, sandbox, inspect, "       \
	  "functions, left_out?}")                                                     \
	X(WORKER_SEGMENT, "worker.segment", L, NONE,                                   \
	  "[direction, index, bytes] + descriptor", "-")                               \
	X(WORKER_RELEASE, "worker.release", L, NONE, "[segment, offset, ...]", "-")    \
	X(WORKER_PEER, "worker.peer", L, NONE,                                         \
	  "[number, requests, bytes, slow_ns, write_stall_ms, read_stall_ms, "         \
	  "functions] + descriptor | [number]",                                        \
	  "-")                                                                         \
	X(FETCH_GET, "fetch.get", L, NONE,                                             \
	  "[{uri, sha256?, have?, etag?, etag_sha256?, max_bytes, stall_ms, "          \
	  "retry_ms}]",                                                                \
	  "{bytes, sha256, file, etag?} + descriptor?")                                \
	X(FETCH_PROGRESS, "fetch.progress", L, NONE, "[id, bytes, total]", "-")        \
	X(FETCH_DEVICES, "fetch.devices", L, NONE, "[]", "{devices, ...}")

enum msd_method {
#define MSD_METHOD_ENUM(e, name, where, right, params, result) MSD_M_##e,
	MSD_METHOD_MAP(MSD_METHOD_ENUM)
#undef MSD_METHOD_ENUM
		MSD_M_COUNT
};

struct msd_method_row {
	const char *name;
	size_t name_bytes;
	char where; /* 'S', 'W' or 'L' */
	enum msd_right right;
	const char *params;
	const char *result;
};

/** The method called @name, MSD_M_COUNT if there is none. */
enum msd_method msd_method_find(struct msd_span name);
/** True if a worker answers it and the supervisor forwards it. False for MSD_M_COUNT.
 */
bool msd_method_is_forwarded(enum msd_method method);
/** The table row of @method; NULL for MSD_M_COUNT. Static. */
const struct msd_method_row *msd_method_row(enum msd_method method);

#endif
