#ifndef MSD_PROTO_METHOD_H
#define MSD_PROTO_METHOD_H
#include "proto/bytes.h"

/*
 * The method table: what `modserd --api` prints and what PROTOCOL.md documents (a test
 * compares the two). `where`: S answered by the supervisor, W forwarded to the module's
 * worker, L used between supervisor and worker alone (refused from clients). The
 * supervisor sends some of S to the worker, too; daemon/worker/CHANNEL.md has all that
 * passes between them (a test records it and compares).
 *
 * X(enumerator, name, where, params, result)
 */
#define MSD_METHOD_MAP(X)                                                              \
	X(HELLO, "session.hello", S, "[{client?, protocol?}]",                         \
	  "{server, version, protocol, limits, features}")                             \
	X(PING, "ping", S, "[]", "nil")                                                \
	X(CANCEL, "cancel", S, "[id]", "bool: true when it was still queued")          \
	X(SERVER_INFO, "server.info", S, "[]", "{...}")                                \
	X(MODULE_UPLOAD, "module.upload", S,                                           \
	  "[\"begin\", bytes] | [\"write\", upload, offset, tensor] | "                \
	  "[\"commit\", upload] | [\"abort\", upload]",                                \
	  "upload | nil | {bytes} | nil")                                              \
	X(MODULE_LOAD, "module.load", S,                                               \
	  "[name, upload, {replace?, file?, device?, graph?, params?, workers?}]",     \
	  "{name, state, functions}")                                                  \
	X(MODULE_UNLOAD, "module.unload", S, "[name]",                                 \
	  "nil, when the process is gone")                                             \
	X(MODULE_INSTANCE, "module.instance", W, "[name]", "instance")                 \
	X(INSTANCE_FREE, "instance.free", S, "[instance...]", "nil")                   \
	X(MODULE_LIST, "module.list", S, "[]", "[{name, state, ...}]")                 \
	X(MODULE_DESCRIBE, "module.describe", S, "[name]",                             \
	  "{name, state, era, machine, inspect, functions, ...}")                      \
	X(MODULE_WAIT, "module.wait", S, "[name]",                                     \
	  "{name, state, functions}, when READY")                                      \
	X(MODULE_LOGS, "module.logs", S, "[name]", "str: the last of its stderr")      \
	X(FUNCTION_LIST, "function.list", S, "[name]", "[{name, signature?, ...}]")    \
	X(FUNCTION_GET, "function.get", S, "[name, function]", "function")             \
	X(FUNCTION_FREE, "function.free", S, "[function]", "nil")                      \
	X(CALL, "call", W, "[\"name:function\" | function, arg...]",                   \
	  "[[out...], return]")                                                        \
	X(TENSOR_ALLOC, "tensor.alloc", W, "[name, dtype, shape, device?]", "tensor")  \
	X(TENSOR_COPY, "tensor.copy", W, "[from, to]", "tensor | nil")                 \
	X(TENSOR_FILL, "tensor.fill", W, "[tensor, number]", "nil")                    \
	X(TENSOR_FREE, "tensor.free", S, "[tensor...]", "nil")                         \
	X(WORKER_OPEN, "worker.open", L,                                               \
	  "[{name, file, graph, params, threads, workers, max_out, max_data, "         \
	  "device?}]",                                                                 \
	  "{device, era, machine, inspect, functions, left_out?}")                     \
	X(WORKER_SEGMENT, "worker.segment", L,                                         \
	  "[direction, index, bytes] + descriptor", "-")                               \
	X(WORKER_RELEASE, "worker.release", L, "[segment, offset, ...]", "-")

enum msd_method {
#define MSD_METHOD_ENUM(e, name, where, params, result) MSD_M_##e,
	MSD_METHOD_MAP(MSD_METHOD_ENUM)
#undef MSD_METHOD_ENUM
		MSD_M_COUNT
};

struct msd_method_row {
	const char *name;
	size_t name_bytes;
	char where; /* 'S', 'W' or 'L' */
	const char *params;
	const char *result;
};

/** The method called @name, MSD_M_COUNT when there is none. */
enum msd_method msd_method_find(struct msd_span name);
/** What the table says about @method; NULL for MSD_M_COUNT. Static. */
const struct msd_method_row *msd_method_row(enum msd_method method);

#endif
