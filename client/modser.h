#ifndef MODSER_H
#define MODSER_H
/*
 * libmodser: the client library of modserd.
 *
 * A client is one connection to one daemon. Requests are independent: any number may
 * be in flight, and answers from different modules arrive in any order. Every request
 * ends in exactly one result, which is a value or an error. If the connection is
 * lost, all requests in flight end with MODSER_IO. If the daemon exits before it
 * begins a request, that request ends with MODSER_DRAINING.
 *
 *   blocking      modser_open(), modser_call(), modser_request(), modser_load()
 *   pipelined     modser_start() many, then modser_wait() for each
 *   in a loop     watch modser_fd() for modser_events(), call modser_process();
 *                 the function given to modser_start() receives the results
 *
 * The library does not copy tensors. It gathers arguments from the caller's memory.
 * Data arrives directly in the memory of an `out` argument, or else in a block that
 * the result owns. Data is row-major, compact and little-endian, in elements of the
 * dtype; a bool takes one byte.
 *
 * Threads: a client and its results belong to one thread at a time; two clients are
 * independent of each other.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MODSER_API __attribute__((visibility("default"), warn_unused_result))
#define MODSER_API_VOID __attribute__((visibility("default")))
#else
#define MODSER_API
#define MODSER_API_VOID
#endif

#define MODSER_MAX_NDIM 32u
#define MODSER_MAX_WAY 4u
#define MODSER_TENSOR_ALIGN 128u /* bytes; alignment of result blocks */

/* Error codes. The protocol fixes the numbers; they never change. A daemon newer than
 * this header may send codes that are not listed here. */
typedef enum modser_err {
	MODSER_OK = 0,
	MODSER_NOMEM = 1,
	MODSER_PROTOCOL = 2, /* the peer is not modserd, or it is broken */
	MODSER_BAD_REQUEST = 3,
	MODSER_TOO_LARGE = 4,
	MODSER_UNKNOWN_METHOD = 5,
	MODSER_UNKNOWN_OPTION = 6,
	MODSER_NOT_FOUND = 7,
	MODSER_EXISTS = 8,
	MODSER_NOT_READY = 9,
	MODSER_DEADLINE = 10,
	MODSER_CANCELLED = 11,
	MODSER_STALE_HANDLE = 12,
	MODSER_BAD_ARGUMENT = 13,
	MODSER_CALL_FAILED = 14,
	MODSER_BAD_ARTIFACT = 15,
	MODSER_UNSUPPORTED = 16,
	MODSER_WORKER_LOST = 17,
	MODSER_GPU_FAULT = 18,
	MODSER_QUARANTINED = 19,
	MODSER_REFUSED = 20,
	MODSER_NO_SPACE = 21,
	MODSER_BUSY = 22,
	MODSER_DRAINING = 23,
	MODSER_IO = 24, /* no connection, or the connection was lost */
	MODSER_INTERNAL = 25,
	MODSER_MODULE_FAILED = 26,
	MODSER_NOT_VERIFIED = 27 /* the digest or signature does not match */
} modser_err;

/* Complete error. All texts are NUL-terminated UTF-8 and never NULL. */
typedef struct modser_error {
	modser_err code;
	const char *name;    /* stable, e.g. "NOT_FOUND" */
	const char *message; /* the cause; names the file, function or argument */
	const char *hint;    /* what the user can do */
} modser_error;

/* DLPack's type codes. */
typedef struct modser_dtype {
	uint8_t code;
	uint8_t bits; /* bits of one lane */
	uint16_t lanes;
} modser_dtype;

/* DLPack's device types; type 0 means "the device on which the call runs". */
typedef struct modser_device {
	int32_t type;
	int32_t id;
} modser_device;

/* Object on the server that belongs to this connection. */
typedef struct modser_handle {
	uint32_t slot;
	uint32_t generation;
} modser_handle;

typedef enum modser_kind {
	MODSER_NIL = 0,
	MODSER_BOOL,
	MODSER_INT,
	MODSER_FLOAT,
	MODSER_STR,
	MODSER_BYTES,
	MODSER_DTYPE,
	MODSER_DEVICE,
	MODSER_SHAPE,
	MODSER_TENSOR,
	MODSER_OUT,      /* only in arguments: a tensor that the callee fills */
	MODSER_RESIDENT, /* a tensor kept on the server */
	MODSER_FUNCTION,
	MODSER_MODULE,
	MODSER_INSTANCE,
	MODSER_UPLOAD,
	MODSER_TUPLE,
	MODSER_MAP,
	MODSER_RESULT_OF, /* only in arguments: the result of an earlier request */
	MODSER_OBJECT     /* a value that stays on the server */
} modser_kind;

typedef struct modser_tensor {
	modser_dtype dtype;
	modser_device device;
	uint32_t ndim;
	const int64_t *shape; /* may be NULL when ndim is 0 */
	/* TENSOR argument: read, never written. OUT argument: destination of the
	 * data, or NULL for a block that the result owns. In results: the data. */
	void *data;
	uint64_t bytes;       /* bytes of data; may be 0 in arguments */
	modser_handle handle; /* RESIDENT; data is NULL then */
} modser_tensor;

typedef struct modser_value modser_value;
struct modser_value {
	modser_kind kind;
	union {
		bool b;
		int64_t i;
		double f;
		struct {
			const char *p; /* NUL-terminated in results */
			size_t n;      /* bytes, without the NUL */
		} str;                 /* STR (UTF-8), BYTES */
		modser_dtype dtype;
		modser_device device;
		modser_handle handle; /* FUNCTION, MODULE, INSTANCE, UPLOAD */
		struct {
			const int64_t *dim;
			uint32_t ndim;
		} shape;
		modser_tensor tensor; /* TENSOR, OUT, RESIDENT */
		struct {
			const modser_value *item;
			size_t n; /* TUPLE: items; MAP: pairs, 2 * n items */
		} tuple;
		/*
		 * OBJECT: an argument of functions of its module, and itself a function
		 * to call: the first value of "call". Results may have OBJECT, and MAP
		 * with keys of any kind, only after the request "session.hello" with
		 * {"objects": true}. "object.free" frees objects.
		 */
		struct {
			modser_handle handle;
			bool is_function;
			const char *type; /* key; NUL-terminated; unused in arguments */
		} object;
		struct {
			uint64_t id;    /* id of that request, which was `promised` */
			uint32_t n_way; /* length of the path; 0: the whole result */
			uint32_t way[MODSER_MAX_WAY]; /* TUPLE index at each level */
		} result_of;
	} as;
};

typedef struct modser_client modser_client;
typedef struct modser_result modser_result;

/**
 * Takes ownership of @result; the function must free it with modser_result_free(),
 * now or later. The function may start further requests. It must not close the client
 * or wait on it.
 */
typedef void (*modser_done_fn)(void *ctx, modser_result *result);

/* Options of one request; NULL means the same as all zero. */
typedef struct modser_options {
	/* Milliseconds from now to the answer; 0: no deadline. The daemon enforces
	 * it. If the daemon does not answer, the client gives up one second later. */
	uint32_t deadline_ms;
	bool unordered; /* any worker, earliest deadline first */
	/*
	 * For "call": one entry an argument, the name of its parameter, or NULL for
	 * the first parameter that no other argument names. NULL: all in order.
	 * Copied.
	 */
	const char *const *names;
	/* For "call": the instance that owns the function; generation 0: the module's
	 * function. */
	modser_handle instance;
	modser_done_fn done; /* NULL: modser_wait() collects the result */
	void *ctx;           /* passed to done */
	/*
	 * For "call": the device on which it runs, "cpu" or the module's own device.
	 * Tensors without a device are copied there and back. NULL: the module's
	 * device.
	 */
	const char *device;
	/*
	 * For "module.pull" with {progress: true}: the library calls it with @ctx
	 * while the request is in flight, as the daemon makes progress; @total_bytes
	 * is 0 while it is unknown. The rules of `done` apply. May be NULL.
	 */
	void (*progress)(void *ctx, uint64_t bytes, uint64_t total_bytes);
	/*
	 * For "call": kill the worker if the call is cancelled, or this connection
	 * closes, and the call still runs one second later. The effect is that of a
	 * passed deadline.
	 */
	bool kill_abandoned;
	bool trace; /* for "call": modser_result_trace() returns its times */
	/*
	 * For "call": it may wait for all other calls of the module, from any client.
	 */
	bool background;
	/*
	 * Later requests may refer to its result before it exists:
	 * modser_result_of(). The daemon keeps the last 64 results of requests that
	 * have ended.
	 */
	bool promised;
	/* For "call", instead of `instance`: the id of the `promised` module.instance
	 * request that creates it; 0: none. */
	uint64_t instance_of;
} modser_options;

/**
 * Connect to the daemon at @address: "unix:PATH", "tcp://HOST:PORT" or
 * "tls://HOST:PORT". TLS needs OpenSSL 3, which is loaded on first use; the
 * environment variables MODSER_TLS_CA, MODSER_TLS_CERT and MODSER_TLS_KEY name PEM
 * files. NULL: $MODSER_HOST, else the default socket (/run/modserd/modserd.sock for
 * root, else $XDG_RUNTIME_DIR/modserd/modserd.sock, else
 * /tmp/modserd-UID/modserd.sock; if that is absent, the one in /run).
 *
 * @address may list equivalent daemons, separated by commas. The client connects to
 * each in order and pings it. It takes the first daemon that answers and is not
 * draining, else the first that answers. The remaining addresses share @timeout_ms;
 * without it, each address except the last has 3 s. The client stays with that
 * daemon: if the connection is lost, open the list again. Requests without an answer
 * at that time may have run.
 *
 * @timeout_ms bounds connecting, but not name resolution; 0: no bound. Blocks. On
 * success the caller owns *@ret and closes it with modser_close(). On failure *@ret
 * is unchanged and @ret_why, unless NULL, holds a result with the reason; the caller
 * frees it. Errors: MODSER_BAD_REQUEST (the address), MODSER_REFUSED (the user does
 * not own the default socket's directory), MODSER_DEADLINE, MODSER_IO, MODSER_NOMEM.
 */
MODSER_API modser_err modser_open(const char *address, uint32_t timeout_ms,
				  modser_client **ret, modser_result **ret_why);
/**
 * Create a client from @fd, a connected stream socket. Takes ownership of @fd:
 * modser_close() closes it, and a failure closes it at once. Never blocks. Errors:
 * MODSER_NOMEM, MODSER_IO (@fd is not a descriptor), with *@ret unchanged.
 */
MODSER_API modser_err modser_open_fd(int fd, modser_client **ret);
/**
 * Disconnect. Requests in flight first end with MODSER_CANCELLED; their done
 * functions are called. Results stay valid. NULL is fine.
 */
MODSER_API_VOID void modser_close(modser_client *client);

/**
 * Queue one request; modser_process() or a blocking function sends it. Never blocks.
 *
 * @method: "ping", "call", "module.list", ... as listed in PROTOCOL.md; @params: its
 * parameters. For "call": a STR "module:function" or a FUNCTION, then the arguments.
 * @options: NULL is fine. *@ret_id, unless NULL, identifies the request for
 * modser_wait(). Params are copied, except the data of tensors and the memory given
 * for OUT: these must stay valid until the request has ended. On failure nothing is
 * queued and modser_why() gives the reason. Errors: MODSER_BAD_REQUEST (a value that
 * cannot be a parameter), MODSER_BAD_ARGUMENT (dtype, shape and bytes of a tensor
 * disagree), MODSER_TOO_LARGE, MODSER_NOMEM, MODSER_IO (the connection is lost),
 * MODSER_DRAINING (the connection is lost because the daemon exited).
 */
MODSER_API modser_err modser_start(modser_client *client, const char *method,
				   const modser_value *params, size_t n_params,
				   const modser_options *options, uint64_t *ret_id);
/**
 * Block until request @id has ended. Meanwhile, send and receive for all other
 * requests and call their done functions. The caller owns *@ret, the result; returns
 * the result's code. Own errors: MODSER_BAD_REQUEST (no such request without a done
 * function), with *@ret NULL.
 */
MODSER_API modser_err modser_wait(modser_client *client, uint64_t id,
				  modser_result **ret);
/**
 * Like modser_wait(), but does not block, send or receive. Returns false while @id is
 * in flight and when modser_wait() would return MODSER_BAD_REQUEST; *@ret is then
 * unchanged.
 */
MODSER_API bool modser_take(modser_client *client, uint64_t id, modser_result **ret);
/** Number of requests that have not ended, including those with a done function. */
MODSER_API size_t modser_in_flight(const modser_client *client);

/*
 * For any event loop: watch the descriptor for the events, and call modser_process()
 * when one occurs or the timeout expires. Query all three again after every call of
 * this library.
 */
#define MODSER_READABLE 1u
#define MODSER_WRITABLE 2u
/**
 * The socket; the client keeps ownership, so only watch it. -1: the connection is
 * lost.
 */
MODSER_API int modser_fd(const modser_client *client);
/**
 * Events to watch: MODSER_READABLE, plus MODSER_WRITABLE while data waits to be sent.
 */
MODSER_API unsigned modser_events(const modser_client *client);
/** Milliseconds until modser_process() must check a deadline; -1: no deadline. */
MODSER_API int modser_timeout_ms(const modser_client *client);
/**
 * Send and receive as much as possible without blocking, and call done functions.
 * Returns MODSER_OK, or the reason why the connection is lost (every request has
 * ended then).
 */
MODSER_API_VOID modser_err modser_process(modser_client *client);

/**
 * The reason why the last modser_start() failed or the connection was lost. Never
 * NULL; borrowed until the next call with @client.
 */
MODSER_API const modser_error *modser_why(modser_client *client);

/*
 * Blocking helpers. The caller frees *@ret, which is NULL only if memory ran out;
 * modser_result_error() accepts NULL. Done functions of other requests are called
 * meanwhile; the `done` in @options is ignored.
 */
/**
 * Start one request and wait for its result; returns the result's code. Parameters as
 * for modser_start(). Errors: those of modser_start(), and those that the daemon
 * returns.
 */
MODSER_API modser_err modser_request(modser_client *client, const char *method,
				     const modser_value *params, size_t n_params,
				     const modser_options *options,
				     modser_result **ret);
/**
 * modser_request() for "call": @function is "module:function". The result's value is
 * a TUPLE [[out...], return], with the out arguments in order. Over a unix socket,
 * frequent short calls automatically use a direct channel (modser_open_direct()),
 * unless MODSER_DIRECT is "off" in the environment. The results are the same as
 * through the daemon. On that channel a waiting client may poll for up to 50 us a
 * call, unless MODSER_SPIN is "off".
 */
MODSER_API modser_err modser_call(modser_client *client, const char *function,
				  const modser_value *args, size_t n_args,
				  const modser_options *options, modser_result **ret);

/* State and limits of a call's retries; set it to zero, then set the first fields. */
typedef struct modser_retry {
	uint32_t for_ms;   /* since the first attempt; 0: never retry */
	uint32_t daemons;  /* daemons of the address list; 0: 1 */
	bool idempotent;   /* the call may run twice */
	uint32_t sent;     /* internal: number of attempts */
	uint32_t after_ms; /* internal: shortest delay of this round */
} modser_retry;

/**
 * True if the caller should send the call that ended in @result again, after
 * *@ret_wait_ms milliseconds. A call that did not begin is retried: BUSY, DRAINING,
 * no connection (a result of modser_open()), or a NULL @result, if nothing was sent.
 * A call that may have run (the connection or the worker was lost) is retried if it
 * is idempotent. The next of several daemons is tried at once. After a full round the
 * wait is a random time, added to the delay that the daemons asked for; its bound
 * doubles each round.
 *
 * False: the result is final, or no time is left. The caller waits and sends. If
 * modser_fd() is -1, or the next daemon is another one, the caller opens a new
 * client. Do not send a call that refers to an object on the server to another
 * daemon. @elapsed_ms is the time since the first attempt.
 */
MODSER_API bool modser_retry_next(modser_retry *retry, const modser_result *result,
				  uint32_t elapsed_ms, uint32_t *ret_wait_ms);

#define MODSER_NO_MAX_RUN (-1)    /* modser_load_options.max_run_ms */
#define MODSER_NO_KEEP_ALIVE (-1) /* modser_load_options.keep_alive_ms */

typedef struct modser_load_options {
	bool replace;     /* replace a module of that name when this one is ready */
	const char *file; /* name of the bytes in the daemon's messages; NULL: name */
	/* Milliseconds for the whole operation, including the upload. After that the
	 * client and the daemon abandon the load. 0: none. */
	uint32_t deadline_ms;
	/* Called as the upload progresses; may be NULL. */
	void (*progress)(void *ctx, uint64_t sent_bytes, uint64_t total_bytes);
	void *ctx;
	const char *device; /* "opencl:0", "cpu"; NULL: by the library's code */
	/*
	 * A graph executor's graph.json, or a virtual machine's program, and its
	 * .params file, for a library that does not contain them. Params without a
	 * graph: the parameters that the library's own modules keep outside it. NULL
	 * and 0: none.
	 */
	const void *graph;
	size_t graph_bytes;
	const void *params;
	size_t params_bytes;
	/* Worker processes, which is the number of calls that run in parallel. 0: 1. */
	uint32_t workers;
	/*
	 * Batch waiting calls of a function whose tensors all begin with the same
	 * open extent, up to this number of rows. The first call waits
	 * @batch_delay_ms for more calls. 0: calls run alone; 0 ms: no wait.
	 */
	uint32_t batch_rows;
	uint32_t batch_delay_ms;
	/*
	 * "classic" (TVM 0.6 to 0.20) or "ffi" (0.21 and later): the calling
	 * convention of a library without TVM symbols, as TVM's C target produces it.
	 * NULL: detected from its symbols.
	 */
	const char *abi;
	/* A session's set_input ignores names that the model lacks, as TVM does;
	 * otherwise it rejects them. */
	bool ignore_unknown_inputs;
	/* "zero" or "seeded": replacement for weights that were removed from a
	 * framework's model. NULL: such a model is rejected. */
	const char *missing_weights;
	/* Load it again when the daemon starts; requires a daemon with --store. */
	bool keep;
	/*
	 * The 32 bytes of the SHA-256 of all loaded bytes, without a graph or params.
	 * With keep, bytes that the daemon's store already has are not sent. NULL:
	 * unknown.
	 */
	const uint8_t *sha256;
	/*
	 * For a framework's model: the files that it refers to (ONNX's external
	 * data), under the model's names for them. A name without a folder matches in
	 * any folder. Not with graph, params or keep.
	 */
	const struct modser_file *files;
	size_t n_files;
	/*
	 * For a framework's model: its format, such as "onnx" (NULL: detected from
	 * its bytes), and the input shapes, "x=float32[1,3,224,224]", separated by
	 * ':'; '?' leaves an extent open. NULL: the model's own shapes.
	 */
	const char *format;
	const char *input;
	/* Longest run time of a call before its worker is killed. 0: the daemon's
	 * default; MODSER_NO_MAX_RUN: no limit. */
	int64_t max_run_ms;
	/* Time without calls after which the workers end, until the next call. 0: the
	 * daemon's default, never; MODSER_NO_KEEP_ALIVE: never. */
	int64_t keep_alive_ms;
	/* Threads of each worker's pool. 0: the daemon's default. */
	uint32_t threads;
	/*
	 * For a framework's model: "auto" (the default: native kernels where they
	 * exist), "native" or "reference"; the names of the tensors to return, with
	 * commas between them; and the signature of a SavedModel. NULL: the default.
	 */
	const char *engine;
	const char *outputs;
	const char *signature;
	/*
	 * A folder of parameters, as tvmjs.dump_tensor_cache writes it, instead of
	 * params: tensor-cache.json or ndarray-cache.json, and the shards that it
	 * names. For a library of the Relax VM; calls need not send these parameters.
	 */
	const char *params_folder;
} modser_load_options;

/* External data file of a model; all borrowed. */
typedef struct modser_file {
	const char *name;
	const void *bytes;
	size_t n;
} modser_file;

/**
 * Upload the @n bytes of a library at @bytes and load them as @name. Blocks until the
 * module is READY or has failed. The result's value: {name, state, functions, ...}.
 * @options: NULL is fine. All bytes are borrowed for the call. A failed upload is
 * aborted on the daemon, too. Errors: those of modser_start(), and those that the
 * daemon returns (PROTOCOL.md, module.upload and module.load).
 */
MODSER_API modser_err modser_load(modser_client *client, const char *name,
				  const void *bytes, size_t n,
				  const modser_load_options *options,
				  modser_result **ret);

/* Options of a pull; NULL means the same as all zero. The keys are those of
 * modser_load_options. */
typedef struct modser_pull_options {
	const char *sha256;   /* required digest, 64 hexadecimal digits; NULL: any */
	uint32_t deadline_ms; /* for the whole pull; 0: none */
	/*
	 * Called as the daemon makes progress; @total_bytes is 0 while it is unknown.
	 */
	void (*progress)(void *ctx, uint64_t bytes, uint64_t total_bytes);
	void *ctx;
	const char *device;
	uint32_t workers;
	uint32_t batch_rows;
	uint32_t batch_delay_ms;
	const char *abi;
	const char *missing_weights;
	bool ignore_unknown_inputs;
	const char *format;
	const char *input;
	int64_t max_run_ms;
	int64_t keep_alive_ms;
	uint32_t threads;
	const char *engine;
	const char *outputs;
	const char *signature;
} modser_pull_options;

/**
 * Let the daemon download @uri (https://, oci://, modser://, file:// on its own
 * machine), keep it in its store, and load it as @name. It replaces a module of that
 * name. Blocks until the module is READY or has failed; the old module serves
 * meanwhile. The result's value: {name, state, functions, ...}. @options: NULL is
 * fine. Errors: those of modser_start(), and those that the daemon returns
 * (PROTOCOL.md, module.pull): MODSER_NOT_VERIFIED if the bytes do not match
 * @options->sha256.
 */
MODSER_API modser_err modser_pull(modser_client *client, const char *name,
				  const char *uri, const modser_pull_options *options,
				  modser_result **ret);

/* Results. All pointers that they return are borrowed until modser_result_free(). */
/** The id of the request; 0 for a result of modser_open(). */
MODSER_API uint64_t modser_result_id(const modser_result *result);
/**
 * Never NULL; its code is MODSER_OK if there is a value. NULL @result: out of memory.
 */
MODSER_API const modser_error *modser_result_error(const modser_result *result);
/** The value; NULL if the result is an error. */
MODSER_API const modser_value *modser_result_value(const modser_result *result);
/**
 * For a call: run time of the function in nanoseconds, by the worker's clock; 0: the
 * daemon did not report it.
 */
MODSER_API uint64_t modser_result_exec_ns(const modser_result *result);
/* Times of one call in the daemon, in nanoseconds; their sum is total_ns. */
typedef struct modser_trace {
	uint64_t read_ns;      /* from the request's header to its last byte */
	uint64_t queue_ns;     /* until it was sent to a worker */
	uint64_t to_worker_ns; /* until the worker took it, including earlier calls */
	uint64_t copy_in_ns;   /* arguments read, and copied to the device */
	uint64_t run_ns;       /* in the function */
	uint64_t copy_out_ns;  /* results copied and written */
	uint64_t reply_ns;     /* until the answer was ready to send */
	uint64_t total_ns;
} modser_trace;
/**
 * For a call with the option `trace`. False, with *@ret unchanged, if the daemon did
 * not report the times.
 */
MODSER_API bool modser_result_trace(const modser_result *result, modser_trace *ret);
/** The value of @key; NULL if @map is NULL, is not a map, or lacks the key. */
MODSER_API const modser_value *modser_find(const modser_value *map, const char *key);
/** Free a result and everything that it returned. NULL is fine. */
MODSER_API_VOID void modser_result_free(modser_result *result);

/*
 * Memory that a client shares with the daemon over a unix socket. The worker reads
 * and fills tensors of calls in place; they are not sent. The rest of the API does
 * not change: modser_tensor_arg() and modser_out_arg() recognize data in a segment,
 * at a multiple of MODSER_TENSOR_ALIGN from its start. All other data is sent as
 * usual. If a function returns its outputs, OUT arguments in a segment, after all
 * other arguments, are the destinations of the returned tensors, in order. The memory
 * of an OUT is not cleared. If the caller writes to memory that a request in flight
 * uses, the function may or may not see the change.
 */
typedef struct modser_segment modser_segment;
/**
 * Create and share @bytes of zeroed memory. Blocks. On success the caller owns *@ret
 * and frees it with modser_segment_free(). On failure *@ret is unchanged and
 * @ret_why, unless NULL, holds a result with the reason, or NULL if memory ran out;
 * the caller frees it. Errors: MODSER_REFUSED (not a unix socket),
 * MODSER_UNKNOWN_METHOD (an older daemon), MODSER_BAD_REQUEST and MODSER_BUSY (a
 * limit; the message names it), MODSER_NO_SPACE, MODSER_NOMEM, MODSER_IO.
 */
MODSER_API modser_err modser_segment_new(modser_client *client, uint64_t bytes,
					 modser_segment **ret, modser_result **ret_why);
/** Start of the memory, page-aligned. */
MODSER_API void *modser_segment_data(const modser_segment *segment);
/**
 * Withdraw the segment and unmap it. No request in flight and no result may have a
 * tensor in it. Allowed after modser_close(). NULL is fine.
 */
MODSER_API_VOID void modser_segment_free(modser_segment *segment);

/**
 * Open a direct channel to a worker of @module that bypasses the daemon; unix sockets
 * only. Blocks. On success the caller owns *@ret and closes it with modser_close().
 * It is a client for `call` with the options deadline_ms and names only. It also
 * closes with @client.
 *
 * The channel may close at any time. Calls without an answer end with MODSER_DRAINING
 * if the daemon closes it; these did not begin. Otherwise they end with
 * MODSER_WORKER_LOST and may have run. In both cases call through @client, and open a
 * new channel. On failure *@ret is unchanged and @ret_why, unless NULL, holds a
 * result with the reason, or NULL if memory ran out; the caller frees it.
 *
 * On a machine with two processors or more, modser_wait() of *@ret polls for up to 50
 * us before it blocks, if recent waits were short. MODSER_SPIN=off in the environment
 * disables this; modser_process() never polls. Errors: MODSER_REFUSED (not a unix
 * socket; a user with limits), MODSER_UNKNOWN_METHOD (an older daemon),
 * MODSER_NOT_FOUND, MODSER_NOT_READY, MODSER_UNSUPPORTED, MODSER_BUSY, MODSER_NOMEM,
 * MODSER_IO.
 */
MODSER_API modser_err modser_open_direct(modser_client *client, const char *module,
					 modser_client **ret, modser_result **ret_why);

/* Constructors of argument values. Pointers are borrowed: texts and shapes until
 * modser_start() has returned, the data of tensors until the request has ended. */
/** nil (None). */
MODSER_API modser_value modser_nil(void);
/** A bool. */
MODSER_API modser_value modser_bool(bool v);
/** An int64. */
MODSER_API modser_value modser_int(int64_t v);
/** A float64. */
MODSER_API modser_value modser_float(double v);
/** A str: @text is NUL-terminated UTF-8. */
MODSER_API modser_value modser_str(const char *text);
/**
 * The result of request @id of this client, which was started with `promised`.
 * Dependent requests can be sent without waiting for each answer. If the result is a
 * map, the value is its `name`. If that request fails, the request that refers to it
 * fails with the same code.
 */
MODSER_API modser_value modser_result_of(uint64_t id);
/** Tensor to read: @data has modser_tensor_bytes() bytes; NULL if that is 0. */
MODSER_API modser_value modser_tensor_arg(modser_dtype dtype, const int64_t *shape,
					  uint32_t ndim, const void *data);
/**
 * Tensor for the callee to fill: @data has room for modser_tensor_bytes(), or is NULL
 * for a block that the result owns.
 */
MODSER_API modser_value modser_out_arg(modser_dtype dtype, const int64_t *shape,
				       uint32_t ndim, void *data);
/**
 * Parse the name of a dtype as numpy, ml_dtypes or TVM writes it; false, with *@ret
 * unchanged, if it is not valid.
 */
MODSER_API bool modser_dtype_parse(const char *name, modser_dtype *ret);
/**
 * Bytes of a compact tensor; false, with *@ret unchanged, if @dtype has no bits,
 * @ndim exceeds MODSER_MAX_NDIM, an extent is negative, or the size overflows.
 */
MODSER_API bool modser_tensor_bytes(modser_dtype dtype, const int64_t *shape,
				    uint32_t ndim, uint64_t *ret);

/** The library's version, "0.1.0". Static storage. */
MODSER_API const char *modser_version(void);

#ifdef __cplusplus
}
#endif

#endif
