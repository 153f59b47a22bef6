#ifndef MSD_TESTS_CUDA_STUB_H
#define MSD_TESTS_CUDA_STUB_H
/*
 * A CUDA driver without a device, for tests: libcuda.so.1's functions as the runtime
 * uses them, over host memory. What it does not forgive, it counts as a violation and
 * refuses: unknown or dead handles, another context's, memory that is not there. Work
 * is queued and runs at the next synchronisation, so that whoever forgets to wait sees
 * old bytes. Device addresses cannot be read by the host. Kernels of the fixtures run
 * by name, as C.
 *
 * Environment, for a driver in another process:
 *   STUB_CUDA_LOG=FILE    a line per call
 *   STUB_CUDA_FAIL=NAME,CODE the first call of that function fails
 *   STUB_CUDA_FAULT=K     the K-th kernel that runs reads a bad address
 *   STUB_CUDA_DELAY=MS    a wait for queued work takes so long
 *   STUB_CUDA_DEVICES=N   instead of 2
 *   STUB_CUDA_PIN=0       it pins no memory
 *   STUB_CUDA_NO_PARAMS=1 it does not tell what kernels take, as drivers before 12.4
 *   STUB_CUDA_VERSION=N   of the driver, instead of 13000
 *   STUB_CUDA_IDLE=1      kernels that it does not know do nothing, all rules of
 *                         their launch kept; else their launch is refused
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_API __attribute__((visibility("default")))

/* What tests ask, found with dlsym. */
struct stub_cuda_control {
	void (*fail_at)(unsigned call, int code);      /* counted from now; 0: never */
	void (*fail_on)(const char *symbol, int code); /* its next call */
	void (*fault_at)(unsigned kernel);
	unsigned (*calls)(void);               /* since the last fail_at */
	unsigned (*count)(const char *symbol); /* calls of one function */
	unsigned (*alive)(void);               /* objects that nobody has given back */
	unsigned (*violations)(void);
	const char *(*first_violation)(void);
	size_t (*pinned_bytes)(void);
	void (*set_delay)(unsigned ms);   /* of a wait for queued work */
	void (*set_memory)(size_t bytes); /* of all devices together */
	size_t (*last_alloc)(void);       /* bytes, refused or not */
	/* The last launch, as the driver got it. */
	void (*last_launch)(unsigned grid[3], unsigned block[3], unsigned *shared);
	/* Bit per attribute id of the last launch. */
	uint32_t (*last_attributes)(void);
	/* Of the calling thread's current context; -1: it has none. */
	int (*current_device)(void);
	/* The tensor map that the last kernel got: its first word. */
	uint64_t (*last_map)(void);
	/* The variable of a module that was asked for last: its address. */
	uint64_t (*last_global)(void);
};

/* Codes used here. */
enum {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	INVALID_DEVICE = 101,
	INVALID_IMAGE = 200,
	INVALID_CONTEXT = 201,
	NO_BINARY_FOR_GPU = 209,
	INVALID_PTX = 218,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	NOT_READY = 600,
	ILLEGAL_ADDRESS = 700,
	ALREADY_REGISTERED = 712,
	NOT_REGISTERED = 713,
	COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	NOT_SUPPORTED = 801,
	CAPTURE_UNSUPPORTED = 900,
	CAPTURE_INVALIDATED = 901,
	INVALID_CLUSTER_SIZE = 912,
};

#define STUB_PARAM_SIZES 32
#define STUB_CAPABILITY 90u /* 9.0 */

enum kind { CONTEXT, STREAM, EVENT, MODULE, FUNCTION, LINK, GRAPH, GRAPH_EXEC };

struct object {
	struct object *next;
	enum kind kind;
	bool is_alive;
	struct object *context; /* of all but contexts */
	unsigned n_refs;        /* context */
	int device;
	char *image; /* module; link: its result */
	size_t image_bytes;
	const struct kernel *kernel; /* function */
	struct object *module;
	int max_dynamic; /* function, and what follows: its code's own words */
	int static_shared;
	int max_threads;
	int n_params;                           /* -1: it does not say */
	uint16_t param_sizes[STUB_PARAM_SIZES]; /* 0: it does not say */
	bool has_large_clusters;
	struct work *first, *last; /* stream, graphs */
	struct object *graph;      /* stream: what it is captured to, or NULL */
	bool is_invalid;           /* graph: something could not be captured */
	struct object *stream;     /* event: where it was recorded last */
	bool is_timed, is_done;
	uint64_t done_ns;
	uint64_t global; /* module: its variable's address; 0: nobody has asked */
	char *log;       /* link: where errors go */
	size_t log_bytes;
};

/* Queued on a stream. */
enum task { TO_DEVICE, TO_HOST, ON_DEVICE, FILL, KERNEL, RECORD, WAIT };

#define MAX_PARAMS 12
/* What a tensor map of the stand-in holds: a mix of all, then address, extents of the
 * first two dimensions, bytes of a row, and the box's two extents. */
#define STUB_MAP_WORDS 7

struct work {
	struct work *next;
	enum task task;
	uint64_t dst, src; /* addresses of either side */
	size_t n;
	unsigned char value;
	struct object *event; /* RECORD, WAIT */
	const struct kernel *kernel;
	union param {
		uint64_t u64;
		int64_t i64;
		int32_t i32;
		float f32;
		double f64;
	} params[MAX_PARAMS];
	unsigned grid[3], block[3], cluster[3], shared;
	uint64_t barrier; /* the address of the module's variable; 0: it has none */
	uint64_t map[STUB_MAP_WORDS]; /* a tensor map among the parameters */
};

/* A kernel in C: p, l, i, f, d, T (tensor map) say its parameters. It returns false on
 * a bad address. */
struct kernel {
	const char *name;
	const char *params;
	bool (*run)(const struct work *w);
};

/** The kernel of an @image; names may mean another one in another model. */
const struct kernel *kernel_find(const char *name, const void *image, size_t n);
const struct kernel *convnet_kernel_find(const char *name);
/** Those of tests/gpu/own. */
const struct kernel *own_kernel_find(const char *name);
/** Softmax of each row; false when a pointer is NULL. */
bool softmax_rows(float *out, const float *in, int64_t rows, int columns);
/** Host memory behind @n bytes at @address; NULL when that is not all one allocation's.
 */
void *memory_at(uint64_t address, size_t n);
int memory_alloc(struct object *context, uint64_t *ret, size_t n);
int memory_free(struct object *context, uint64_t address);
size_t memory_left(void);
unsigned memory_alive(void);
/** As the functions of stub_cuda_control say. */
void memory_set_limit(size_t bytes);
size_t memory_last_asked(void);

void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Is @p an object of @kind that lives, in the current context? */
bool object_ok(const void *p, enum kind kind, const char *what);
struct object *object_new(enum kind kind, struct object *context);
struct object *context_current(void);
int driver_version(void);
void context_make_current(struct object *context);

/** Count the call @symbol; what it has to return at once, or OK. */
int enter(const char *symbol);
/** The same for what needs a current context. */
int enter_context(const char *symbol);

/* One lock around everything. */
extern pthread_mutex_t stub_mutex;
void stub_unlock(const int *ignored);
#define LOCKED                                                                         \
	(void)pthread_mutex_lock(&stub_mutex);                                         \
	__attribute__((cleanup(stub_unlock))) const int locked = 0;                    \
	(void)locked

/* Return what the call was told to return. */
#define ENTER(call)                                                                    \
	LOCKED;                                                                        \
	const int entered = (call);                                                    \
	if (entered != OK)                                                             \
	return entered

/** What the code of a function's module says of it. */
void facts_read(struct object *function, const char *name);

/** Run what is queued; the context's sticky error afterwards. */
int stream_run(struct object *stream);
int context_run(struct object *context);
void set_sticky(int code);
int sticky(void);
void note_launch(const unsigned grid[3], const unsigned block[3], unsigned shared,
		 uint32_t attributes);
void note_map(uint64_t word);
void note_global(uint64_t address);
size_t pinned_total(void);
unsigned delay_ms(void);
/** To what it is captured to, if it is. */
void work_add(struct object *stream, const struct work *w);
/** "Stream Management", cuStreamBeginCapture: who waits for a stream that is captured
 * invalidates the capture. OK: it is not. */
int capture_check(struct object *stream);
bool kernel_should_fault(void);

/* What each task takes by the device's clock. */
#define STUB_KERNEL_NS 5000000u
#define STUB_COPY_NS 1000000u
/** The device did @w. */
void clock_advance(const struct work *w);
uint64_t clock_ns(void);

#endif
