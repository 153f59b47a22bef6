#ifndef MODSER_H
#define MODSER_H
/*
 * libmodser: the client library of modserd.
 *
 * A client is one connection to one daemon. Requests are started and answered
 * independently of each other: any number may be in flight, answers come in any order
 * between modules. Every request ends in exactly one result, which is a value or an
 * error; a lost connection ends all of them with MODSER_IO, or, when its daemon ends
 * and has not begun them, with MODSER_DRAINING.
 *
 *   blocking      modser_open(), modser_call(), modser_request(), modser_load()
 *   pipelined     modser_start() many, then modser_wait() for each
 *   in a loop     watch modser_fd() for modser_events(), call modser_process(); results
 *                 come to the function given to modser_start()
 *
 * Tensors travel without a copy in this library: arguments are gathered from the
 * caller's memory, and data comes straight into memory that the caller gave for an
 * `out` argument, else into a block that the result owns. Data is row-major and
 * compact, little-endian, in elements of the dtype; bool is one byte per element.
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
#define MODSER_TENSOR_ALIGN 128u /* bytes; of data in blocks that results own */

/* What went wrong. Numbers are protocol and never change; a daemon newer than this
 * header may send others. */
typedef enum modser_err {
	MODSER_OK = 0,
	MODSER_NOMEM = 1,
	MODSER_PROTOCOL = 2, /* the peer is not modserd, or broken */
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
	MODSER_IO = 24, /* no connection, or it broke */
	MODSER_INTERNAL = 25,
	MODSER_MODULE_FAILED = 26,
	MODSER_NOT_VERIFIED = 27 /* the bytes are not what was promised */
} modser_err;

/* An error in full. All texts are NUL-terminated UTF-8 and never NULL. */
typedef struct modser_error {
	modser_err code;
	const char *name;    /* stable, e.g. "NOT_FOUND" */
	const char *message; /* the cause: names the file, function or argument */
	const char *hint;    /* what to do */
} modser_error;

/* DLPack's type codes. */
typedef struct modser_dtype {
	uint8_t code;
	uint8_t bits; /* of one lane */
	uint16_t lanes;
} modser_dtype;

/* DLPack's device types; type 0 is "wherever the call runs". */
typedef struct modser_device {
	int32_t type;
	int32_t id;
} modser_device;

/* Something on the server that belongs to this connection. */
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
	MODSER_OUT,      /* argument alone: a tensor for the callee to fill */
	MODSER_RESIDENT, /* a tensor kept on the server */
	MODSER_FUNCTION,
	MODSER_MODULE,
	MODSER_INSTANCE,
	MODSER_UPLOAD,
	MODSER_TUPLE,
	MODSER_MAP,
	MODSER_RESULT_OF /* argument alone: the result of an earlier request */
} modser_kind;

typedef struct modser_tensor {
	modser_dtype dtype;
	modser_device device;
	uint32_t ndim;
	const int64_t *shape; /* NULL is fine when ndim is 0 */
	/* TENSOR argument: read, never written. OUT argument: where the data shall
	 * come, or NULL for the result's own block. In results: the data. */
	void *data;
	uint64_t bytes; /* of data; in arguments 0 is fine: dtype and shape decide */
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
			const char *p; /* in results NUL-terminated */
			size_t n;      /* bytes without the NUL */
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
		struct {
			uint64_t id;    /* of that request, which was `promised` */
			uint32_t n_way; /* 0: the whole result; else the way into it: */
			uint32_t way[MODSER_MAX_WAY]; /* an index of a TUPLE each */
		} result_of;
	} as;
};

typedef struct modser_client modser_client;
typedef struct modser_result modser_result;

/**
 * Takes over @result, which it must end with modser_result_free(), now or later. It may
 * start further requests, and must not close the client or wait on it.
 */
typedef void (*modser_done_fn)(void *ctx, modser_result *result);

/* How to treat one request; all zero is what NULL means. */
typedef struct modser_options {
	/* Milliseconds from here to the answer; 0: none. The daemon keeps it; when the
	 * daemon itself does not answer, the client gives up a second later. */
	uint32_t deadline_ms;
	bool unordered; /* no order is needed: any worker may run it, the earliest due
			   first */
	/* For "call": as many as there are arguments, each the name of its parameter,
	 * or NULL for the first one that no other argument is for. NULL: all in order.
	 * Copied. */
	const char *const *names;
	/* For "call": the instance whose function it is; generation 0: the module's. */
	modser_handle instance;
	modser_done_fn done; /* NULL: modser_wait() collects the result */
	void *ctx;           /* passed to done */
	/* For "call": where it runs, "cpu" or the module's own device; tensors that
	 * name no device go there and come back. NULL: where the module is. */
	const char *device;
	/* For "module.pull" with {progress: true}: called with @ctx while the request
	 * is in flight, as the daemon gets on; @total_bytes is 0 while it is not known.
	 * Treat it as you do `done`. NULL is fine. */
	void (*progress)(void *ctx, uint64_t bytes, uint64_t total_bytes);
	/* For "call": when it is cancelled, or this connection ends, and the call is
	 * not done a second later, its worker is killed, as if a deadline had passed.
	 */
	bool kill_abandoned;
	bool trace; /* for "call": modser_result_trace() tells where its time went */
	/* For "call": it may wait for all others of the module, whoever asks. */
	bool background;
	/* Later requests may name its result, before it is there: modser_result_of().
	 * Of those that have ended the daemon keeps the last 64. */
	bool promised;
	/* For "call", in place of `instance`: the id of the `promised` module.instance
	 * that makes it; 0: none. */
	uint64_t instance_of;
} modser_options;

/**
 * Connect to the daemon at @address: "unix:PATH", "tcp://HOST:PORT" or
 * "tls://HOST:PORT" (by OpenSSL 3, which is opened then; MODSER_TLS_CA, MODSER_TLS_CERT
 * and MODSER_TLS_KEY of the environment name PEM files); NULL:
 * $MODSER_HOST, else the default socket (/run/modserd/modserd.sock for root, else
 * $XDG_RUNTIME_DIR/modserd/modserd.sock, else /tmp/modserd-UID/modserd.sock; where that
 * is absent, /run's).
 *
 * Several addresses with a comma between two are of daemons that do the same. Each is
 * connected to and asked for an answer, in their order; the first that does answer and
 * is not about to end is taken, else the first that is. @timeout_ms is shared by those
 * that are left; without it each but the last has 3 s. The client is of that daemon
 * alone: when it is lost, open the list again. What had not been answered then may have
 * run.
 *
 * @timeout_ms bounds connecting, without resolving the name; 0: no bound.
 * Blocks. On success the caller owns *@ret and ends it with modser_close(). On failure
 * *@ret is unchanged and @ret_why, unless NULL, holds a result that tells why; the
 * caller frees it. Errors: MODSER_BAD_REQUEST (the address), MODSER_REFUSED (the
 * default socket's directory is not the user's own), MODSER_DEADLINE, MODSER_IO,
 * MODSER_NOMEM.
 */
MODSER_API modser_err modser_open(const char *address, uint32_t timeout_ms,
				  modser_client **ret, modser_result **ret_why);
/**
 * Make a client of @fd, a connected stream socket, which is taken over: modser_close()
 * closes it, a failure does at once. Never blocks. Errors: MODSER_NOMEM, MODSER_IO (it
 * is no descriptor), with *@ret unchanged.
 */
MODSER_API modser_err modser_open_fd(int fd, modser_client **ret);
/**
 * Disconnect. Requests still in flight end with MODSER_CANCELLED first, those with a
 * done function by calling it. Results stay valid. NULL is fine.
 */
MODSER_API_VOID void modser_close(modser_client *client);

/**
 * Queue one request; modser_process() or a blocking function sends it. Never blocks.
 *
 * @method: "ping", "call", "module.list", ... as PROTOCOL.md lists them; @params: its
 * parameters. For "call": a STR "module:function" or a FUNCTION, then the arguments.
 * @options: NULL is fine. *@ret_id, unless NULL, names the request for modser_wait().
 * Params are copied, but for the data of tensors and the memory given for OUT: those
 * must stay until the request has ended.
 * On failure nothing was queued and modser_why() tells why. Errors: MODSER_BAD_REQUEST
 * (a value that cannot be a parameter), MODSER_BAD_ARGUMENT (a tensor whose dtype,
 * shape and bytes disagree), MODSER_TOO_LARGE, MODSER_NOMEM, MODSER_IO (the connection
 * is lost), MODSER_DRAINING (the same, as its daemon has ended).
 */
MODSER_API modser_err modser_start(modser_client *client, const char *method,
				   const modser_value *params, size_t n_params,
				   const modser_options *options, uint64_t *ret_id);
/**
 * Block until request @id has ended; send and receive for all others meanwhile, calling
 * their done functions. *@ret is the result, owned by the caller; its code is returned.
 * Errors of its own: MODSER_BAD_REQUEST (no such request without a done function), with
 * *@ret NULL.
 */
MODSER_API modser_err modser_wait(modser_client *client, uint64_t id,
				  modser_result **ret);
/**
 * As modser_wait(), without blocking, sending or receiving: false while @id is in
 * flight, and for what modser_wait() would refuse; *@ret is unchanged then.
 */
MODSER_API bool modser_take(modser_client *client, uint64_t id, modser_result **ret);
/** How many requests have not ended, those with a done function among them. */
MODSER_API size_t modser_in_flight(const modser_client *client);

/* Any loop: watch the descriptor for the events, and call modser_process() when one
 * comes or the timeout is over. Ask anew after every call of this library. */
#define MODSER_READABLE 1u
#define MODSER_WRITABLE 2u
/** The socket, which stays the client's: watch it only. -1: the connection is lost. */
MODSER_API int modser_fd(const modser_client *client);
/** What to watch for: MODSER_READABLE, with MODSER_WRITABLE while something waits to be
 * sent. */
MODSER_API unsigned modser_events(const modser_client *client);
/** Milliseconds until modser_process() has to look at a deadline; -1: there is none. */
MODSER_API int modser_timeout_ms(const modser_client *client);
/**
 * Send and receive what is possible without blocking, and call done functions. Returns
 * MODSER_OK, or why the connection is lost (every request has ended then).
 */
MODSER_API_VOID modser_err modser_process(modser_client *client);

/** Why the last modser_start() failed, or the connection was lost. Never NULL; borrowed
 * until the next call with @client. */
MODSER_API const modser_error *modser_why(modser_client *client);

/*
 * Blocking helpers. *@ret, to be freed by the caller, is NULL only when memory was
 * short; modser_result_error() takes that. Done functions of other requests are called
 * meanwhile; the options' own is ignored.
 */
/**
 * Start one request and wait for its result, whose code is returned. Parameters as for
 * modser_start(). Errors: those of modser_start(), and what the daemon answers.
 */
MODSER_API modser_err modser_request(modser_client *client, const char *method,
				     const modser_value *params, size_t n_params,
				     const modser_options *options,
				     modser_result **ret);
/** modser_request() of "call": @function is "module:function". The result's value is a
 * TUPLE [[out...], return], the out arguments in their order. Short calls one after the
 * other go past the daemon by themselves, over a unix socket (modser_open_direct()),
 * unless MODSER_DIRECT is "off" in the environment. They end as they would through the
 * daemon. Who waits there may keep a processor busy for 50 us a call, unless
 * MODSER_SPIN is "off": modser_open_direct(). */
MODSER_API modser_err modser_call(modser_client *client, const char *function,
				  const modser_value *args, size_t n_args,
				  const modser_options *options, modser_result **ret);

/* How a call is sent again; zero it, and set what stands first. */
typedef struct modser_retry {
	uint32_t
		for_ms; /* from when it was sent first, the waiting with it; 0: never */
	uint32_t daemons; /* that are asked in turn, those of a list; 0: 1 */
	bool idempotent;  /* the call may run twice */
	uint32_t sent;    /* the library's own: how often it was sent */
	uint32_t
		after_ms; /* the library's own: the least that this round's have said */
} modser_retry;

/**
 * Whether the call that has ended in @result is to be sent again, and after how many
 * milliseconds. What was not begun is: BUSY, DRAINING, no connection (a result of
 * modser_open()), or a @result of NULL, when nothing was sent. What may have run (the
 * connection or the worker was lost meanwhile) is when it is idempotent. The next of
 * several daemons is asked at once; when all were, the wait is random up to a bound
 * that doubles each time, upon what the daemons themselves have said.
 *
 * False: the result stands, or there is no time left. The caller waits and sends; where
 * modser_fd() is -1, or another daemon is next, by a new client. A call that names
 * something on the server is not to be sent elsewhere. @elapsed_ms is the time since it
 * was sent first.
 */
MODSER_API bool modser_retry_next(modser_retry *retry, const modser_result *result,
				  uint32_t elapsed_ms, uint32_t *ret_wait_ms);

#define MODSER_NO_MAX_RUN (-1) /* modser_load_options.max_run_ms */

typedef struct modser_load_options {
	bool replace;     /* take the place of a module of that name, once ready */
	const char *file; /* what the daemon calls the bytes in texts; NULL: name */
	/* Milliseconds for the whole, the upload included; what is not loaded by then
	 * is given up, on the daemon too. 0: none. */
	uint32_t deadline_ms;
	/* Called as the upload advances; NULL is fine. */
	void (*progress)(void *ctx, uint64_t sent_bytes, uint64_t total_bytes);
	void *ctx;
	const char *device; /* "opencl:0", "cpu"; NULL: what the library has code for */
	/* A graph executor's graph.json, or a virtual machine's program, and its
	 * .params file, for a library that does not hold them; params alone: what the
	 * library's own modules keep beside it. NULL and 0: none. */
	const void *graph;
	size_t graph_bytes;
	const void *params;
	size_t params_bytes;
	/* Worker processes: so many calls of the module run at the same time. 0: 1. */
	uint32_t workers;
	/* Calls of a function whose tensors all begin with the same open extent are
	 * joined while they wait, up to so many rows, and run as one; the first waits
	 * @batch_within_ms for others. 0: each runs alone; it does not wait. */
	uint32_t batch_rows;
	uint32_t batch_within_ms;
	/* "classic" (TVM 0.6 to 0.20) or "ffi" (0.21 and later): the calling convention
	 * of a library that has no symbol of TVM, as its C target leaves them. NULL:
	 * its symbols tell. */
	const char *era;
	/* An instance's set_input ignores names that the model lacks, as TVM does; else
	 * it refuses them. */
	bool tvm_inputs;
	/* "zero" or "seeded": what stands for weights that were taken out of a
	 * framework's model. NULL: such a model is refused. */
	const char *fill;
	/* Load it again when the daemon starts; it needs a daemon with --store. */
	bool keep;
	/* The 32 bytes of the SHA-256 of all that is loaded, without a graph or params:
	 * with keep no bytes are sent that the daemon's store has. NULL: not known. */
	const uint8_t *sha256;
	/* Of a framework's model, the files that it names (ONNX's external data), by
	 * its names for them; one whose name has no folder is meant wherever the model
	 * has it. Not with graph, params or keep. */
	const struct modser_file *files;
	size_t n_files;
	/* Of a framework's model: its format, such as "onnx" (NULL: its bytes tell),
	 * and the shapes that inputs are to have, "x=float32[1,3,224,224]", of several
	 * with
	 * ':' between them; '?' leaves an extent open. NULL: as the model has them. */
	const char *format;
	const char *input;
	/* How long a call may run before its worker is killed. 0: as the daemon has it;
	 * MODSER_NO_MAX_RUN: as long as it likes. */
	int64_t max_run_ms;
} modser_load_options;

/* A file beside a model; all borrowed. */
typedef struct modser_file {
	const char *name;
	const void *bytes;
	size_t n;
} modser_file;

/**
 * Upload the @n bytes of a library at @bytes and load them as @name. Blocks until the
 * module is READY or has failed. The result's value: {name, state, functions, ...}.
 * @options: NULL is fine. All bytes are borrowed for the call. An upload that fails is
 * given up on the daemon, too. Errors: those of modser_start(), and what the daemon
 * answers (PROTOCOL.md, module.upload and module.load).
 */
MODSER_API modser_err modser_load(modser_client *client, const char *name,
				  const void *bytes, size_t n,
				  const modser_load_options *options,
				  modser_result **ret);

/* How to pull; all zero is what NULL means. Its keys are those of modser_load_options.
 */
typedef struct modser_pull_options {
	const char
		*sha256; /* 64 hexadecimal digits: nothing else is taken; NULL: any */
	uint32_t deadline_ms; /* for all of it; 0: none */
	/* Called as the daemon gets on; @total_bytes is 0 while it is not known. */
	void (*progress)(void *ctx, uint64_t bytes, uint64_t total_bytes);
	void *ctx;
	const char *device;
	uint32_t workers;
	uint32_t batch_rows;
	uint32_t batch_within_ms;
	const char *era;
	const char *fill;
	bool tvm_inputs;
	const char *format;
	const char *input;
	int64_t max_run_ms;
} modser_pull_options;

/**
 * Have the daemon get what is at @uri by itself (https://, oci://, modser://, file://
 * of its machine), keep it in its store, and load it as @name in place of a module of
 * that name. Blocks until it is READY or has failed, and the old one serves meanwhile.
 * The result's value: {name, state, functions, ...}. @options: NULL is fine. Errors:
 * those of modser_start(), and what the daemon answers (PROTOCOL.md, module.pull):
 * MODSER_NOT_VERIFIED when what came is not @options->sha256.
 */
MODSER_API modser_err modser_pull(modser_client *client, const char *name,
				  const char *uri, const modser_pull_options *options,
				  modser_result **ret);

/* Results. All that they hand out is borrowed until modser_result_free(). */
/** The request that the result answers; 0 for one of modser_open(). */
MODSER_API uint64_t modser_result_id(const modser_result *result);
/** Never NULL; its code is MODSER_OK when there is a value. NULL: out of memory. */
MODSER_API const modser_error *modser_result_error(const modser_result *result);
/** The value, NULL when the result is an error. */
MODSER_API const modser_value *modser_result_value(const modser_result *result);
/** Of a call: how long the function ran, in nanoseconds by its worker's clock; 0: the
 * daemon did not say. */
MODSER_API uint64_t modser_result_exec_ns(const modser_result *result);
/* Where the time of one call went in the daemon, in nanoseconds; together they are
 * total_ns. */
typedef struct modser_trace {
	uint64_t read_ns;      /* from the request's header to its last byte */
	uint64_t queue_ns;     /* until it was sent to a worker */
	uint64_t to_worker_ns; /* until that took it up: behind calls before it, too */
	uint64_t copy_in_ns;   /* arguments read, and copied to the device */
	uint64_t run_ns;       /* in the function */
	uint64_t copy_out_ns;  /* results copied, and written */
	uint64_t reply_ns;     /* until the answer was there to be sent */
	uint64_t total_ns;
} modser_trace;
/** Of a call with the option `trace`: false, with *@ret unchanged, when the daemon did
 * not say. */
MODSER_API bool modser_result_trace(const modser_result *result, modser_trace *ret);
/** The value of @key, NULL when @map is NULL, not a map, or lacks it. */
MODSER_API const modser_value *modser_find(const modser_value *map, const char *key);
/** End a result and all that it has handed out. NULL is fine. */
MODSER_API_VOID void modser_result_free(modser_result *result);

/*
 * Memory that a client lends the daemon, over a unix socket: tensors of calls that lie
 * there are used and filled where they are, and do not travel. Nothing else changes:
 * data of modser_tensor_arg() and modser_out_arg() that lies in one, at a multiple of
 * MODSER_TENSOR_ALIGN from its start, is found to do so; other data travels as any. For
 * a function that returns its outputs by itself OUT arguments there, behind all others,
 * are the places of what it returns, in order. An OUT's memory is not cleared. While a
 * request is in flight that names memory there, what is written to it may be seen by
 * the function or not.
 */
typedef struct modser_segment modser_segment;
/**
 * Lend @bytes of new memory, zeros. Blocks. On success the caller owns *@ret and ends
 * it with modser_segment_free(). On failure *@ret is unchanged and @ret_why, unless
 * NULL, holds a result that tells why, or NULL where memory was short; the caller frees
 * it. Errors: MODSER_REFUSED (not a unix socket), MODSER_UNKNOWN_METHOD (an older
 * daemon), MODSER_BAD_REQUEST and MODSER_BUSY (a limit, which is named),
 * MODSER_NO_SPACE, MODSER_NOMEM, MODSER_IO.
 */
MODSER_API modser_err modser_segment_new(modser_client *client, uint64_t bytes,
					 modser_segment **ret, modser_result **ret_why);
/** Its memory, which begins on a page. */
MODSER_API void *modser_segment_data(const modser_segment *segment);
/** Take it back and unmap it: no request that is in flight and no result may have a
 * tensor there. After modser_close(), too. NULL is fine. */
MODSER_API_VOID void modser_segment_free(modser_segment *segment);

/**
 * A channel of its own to a worker of @module, past the daemon, over a unix socket
 * alone. Blocks. On success the caller owns *@ret, a client for `call` with the options
 * deadline_ms and names and nothing else, and ends it with modser_close(); it ends with
 * @client, too. It may end at any time: calls without an answer end with
 * MODSER_DRAINING when the daemon takes it back, and were not begun then, or with
 * MODSER_WORKER_LOST, and may have run. Then call by @client, and ask again. On failure
 * *@ret is unchanged and @ret_why, unless NULL, holds a result that tells why, or NULL
 * where memory was short; the caller frees it. modser_wait() of *@ret looks for what
 * comes for up to 50 us before it blocks, where there are two processors and the last
 * waits were short, unless MODSER_SPIN is "off" in the environment; in a loop
 * (modser_process()) nobody looks. Errors: MODSER_REFUSED (not a unix
 * socket; a user with limits), MODSER_UNKNOWN_METHOD (an older daemon),
 * MODSER_NOT_FOUND, MODSER_NOT_READY, MODSER_UNSUPPORTED, MODSER_BUSY, MODSER_NOMEM,
 * MODSER_IO.
 */
MODSER_API modser_err modser_open_direct(modser_client *client, const char *module,
					 modser_client **ret, modser_result **ret_why);

/* Values for arguments. What they point to is borrowed: texts and shapes until
 * modser_start() has returned, the data of tensors until the request has ended. */
/** nil: nothing, None. */
MODSER_API modser_value modser_nil(void);
/** A bool. */
MODSER_API modser_value modser_bool(bool v);
/** An int64. */
MODSER_API modser_value modser_int(int64_t v);
/** A float64. */
MODSER_API modser_value modser_float(double v);
/** A str: @text is NUL-terminated UTF-8. */
MODSER_API modser_value modser_str(const char *text);
/** The result of the request @id of this client, which was started before with
 * `promised`: requests that follow from each other need not wait for each other's
 * answers. A map's is its `name`. When that request fails, so does the one that names
 * its result, with the same code. */
MODSER_API modser_value modser_result_of(uint64_t id);
/** A tensor to read: @data has modser_tensor_bytes() bytes, NULL when these are 0. */
MODSER_API modser_value modser_tensor_arg(modser_dtype dtype, const int64_t *shape,
					  uint32_t ndim, const void *data);
/** A tensor for the callee to fill: @data has room for modser_tensor_bytes(), or is
 * NULL for a block that the result owns. */
MODSER_API modser_value modser_out_arg(modser_dtype dtype, const int64_t *shape,
				       uint32_t ndim, void *data);
/** Parse numpy's, ml_dtypes' or TVM's name of a dtype; false when it is none, with
 * *@ret unchanged. */
MODSER_API bool modser_dtype_parse(const char *name, modser_dtype *ret);
/** Bytes of a compact tensor; false, with *@ret unchanged, when @dtype has no bits,
 * @ndim is above MODSER_MAX_NDIM, an extent is negative, or the number is too large. */
MODSER_API bool modser_tensor_bytes(modser_dtype dtype, const int64_t *shape,
				    uint32_t ndim, uint64_t *ret);

/** The library's version, "0.1.0". Static. */
MODSER_API const char *modser_version(void);

#ifdef __cplusplus
}
#endif

#endif
