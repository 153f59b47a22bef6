/* What the stand-in driver keeps: objects, queues, faults. One lock would be
 * enough for a driver; here it is the caller's (stub_driver.c). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

static struct object *objects;
static _Thread_local struct object *current;

static unsigned n_calls, fail_call, n_kernels, fault_kernel, n_violations, delay;
static int fail_code, sticky_code;
static const char *fail_symbol;
static char fail_name[64];
static char first[256];
static FILE *log_file;
static struct {
	const char *symbol; /* NULL: free */
	unsigned n;
} counts[64];

static unsigned last_grid[3], last_block[3], last_shared;
static uint32_t last_attributes;
static uint64_t last_map, last_global;

void violation(const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (n_violations++ == 0)
		memcpy(first, text, sizeof(first));
	(void)fprintf(stderr, "stub cuda: violation: %s\n", text);
	if (log_file != NULL)
		(void)fprintf(log_file, "violation: %s\n", text);
}

__attribute__((constructor)) static void read_environment(void)
{
	const char *path = getenv("STUB_CUDA_LOG");
	const char *fail = getenv("STUB_CUDA_FAIL");
	const char *fault = getenv("STUB_CUDA_FAULT");
	const char *slow = getenv("STUB_CUDA_DELAY");

	if (path != NULL)
		log_file = fopen(path, "ae");
	if (log_file != NULL)
		(void)setvbuf(log_file, NULL, _IOLBF, 0);
	if (fail != NULL && sscanf(fail, "%63[^,],%d", fail_name, &fail_code) == 2)
		fail_symbol = fail_name;
	if (fault != NULL)
		(void)sscanf(fault, "%u", &fault_kernel);
	if (slow != NULL)
		(void)sscanf(slow, "%u", &delay);
}

static void count(const char *symbol)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (counts[i].symbol == NULL)
			counts[i].symbol = symbol;
		if (strcmp(counts[i].symbol, symbol) == 0) {
			counts[i].n++;
			return;
		}
	}
}

int enter(const char *symbol)
{
	count(symbol);
	if (log_file != NULL)
		(void)fprintf(log_file, "%s\n", symbol);
	if (fail_symbol != NULL && strcmp(fail_symbol, symbol) == 0) {
		fail_symbol = NULL;
		return fail_code;
	}
	if (++n_calls == fail_call)
		return fail_code;
	return sticky_code;
}

int enter_context(const char *symbol)
{
	int code = enter(symbol);

	if (code != OK)
		return code;
	if (current == NULL || !current->is_alive) {
		violation("%s without a context", symbol);
		return INVALID_CONTEXT;
	}
	return OK;
}

struct object *context_current(void)
{
	return current;
}

void context_make_current(struct object *context)
{
	current = context;
}

struct object *object_new(enum kind kind, struct object *context)
{
	struct object *o = calloc(1, sizeof(*o));

	if (o == NULL)
		abort();
	o->kind = kind;
	o->is_alive = true;
	o->context = context;
	o->next = objects;
	objects = o;
	return o;
}

bool object_ok(const void *p, enum kind kind, const char *what)
{
	for (const struct object *o = objects; o != NULL; o = o->next) {
		if (o != p)
			continue;
		if (o->kind == kind && o->is_alive &&
		    (kind == CONTEXT || o->context == current))
			return true;
		violation("%s: a handle that is %s", what,
			  o->kind != kind ? "of another kind"
			  : !o->is_alive  ? "dead"
					  : "another context's");
		return false;
	}
	violation("%s: no such handle", what);
	return false;
}

void work_add(struct object *stream, const struct work *w)
{
	struct work *copy = malloc(sizeof(*copy));

	if (copy == NULL)
		abort();
	*copy = *w;
	copy->next = NULL;
	if (stream->graph != NULL)
		stream = stream->graph;
	if (stream->last != NULL) {
		stream->last->next = copy;
	} else {
		stream->first = copy;
	}
	stream->last = copy;
}

int capture_check(struct object *stream)
{
	if (stream->graph == NULL)
		return OK;
	stream->graph->is_invalid = true;
	return CAPTURE_UNSUPPORTED;
}

static bool work_run(const struct work *w)
{
	if (w->task == RECORD) {
		w->event->is_done = true;
		w->event->done_ns = clock_ns();
		return true;
	}
	if (w->task == WAIT) {
		/* What was recorded there before comes first. */
		if (!w->event->is_done && w->event->stream != NULL)
			(void)stream_run(w->event->stream);
		return true;
	}
	clock_advance(w);
	void *dst = w->task == TO_HOST  ? (void *)(uintptr_t)w->dst
		    : w->task == KERNEL ? NULL
					: memory_at(w->dst, w->n);
	const void *src = w->task == TO_DEVICE ? (const void *)(uintptr_t)w->src
			  : w->task == TO_HOST || w->task == ON_DEVICE
				  ? memory_at(w->src, w->n)
				  : NULL;

	if (w->task == KERNEL)
		return !kernel_should_fault() && w->kernel->run(w);
	if (w->task == FILL && dst != NULL)
		memset(dst, w->value, w->n);
	if (w->task != FILL && dst != NULL && src != NULL)
		memmove(dst, src, w->n);
	return dst != NULL && (w->task == FILL || src != NULL);
}

int stream_run(struct object *stream)
{
	while (stream->first != NULL) {
		struct work *w = stream->first;
		stream->first = w->next;
		if (stream->first == NULL)
			stream->last = NULL;
		if (sticky_code == OK && !work_run(w))
			set_sticky(ILLEGAL_ADDRESS);
		free(w);
	}
	return sticky_code;
}

int context_run(struct object *context)
{
	for (struct object *o = objects; o != NULL; o = o->next) {
		if (o->kind == STREAM && o->is_alive && o->context == context)
			(void)stream_run(o);
	}
	return sticky_code;
}

void set_sticky(int code)
{
	sticky_code = code;
}

int sticky(void)
{
	return sticky_code;
}

bool kernel_should_fault(void)
{
	return ++n_kernels == fault_kernel;
}

void note_launch(const unsigned grid[3], const unsigned block[3], unsigned shared,
		 uint32_t attributes)
{
	memcpy(last_grid, grid, sizeof(last_grid));
	memcpy(last_block, block, sizeof(last_block));
	last_shared = shared;
	last_attributes = attributes;
}

void note_map(uint64_t word)
{
	last_map = word;
}

void note_global(uint64_t address)
{
	last_global = address;
}

static uint64_t control_global(void)
{
	return last_global;
}

static void control_fail_at(unsigned call, int code)
{
	n_calls = 0;
	fail_call = call;
	fail_code = code;
}

static void control_fail_on(const char *symbol, int code)
{
	fail_symbol = symbol;
	fail_call = 0;
	fail_code = code;
}

static void control_fault_at(unsigned kernel)
{
	n_kernels = 0;
	fault_kernel = kernel;
	sticky_code = OK;
}

static unsigned control_calls(void)
{
	return n_calls;
}

static unsigned control_count(const char *symbol)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (counts[i].symbol != NULL && strcmp(counts[i].symbol, symbol) == 0)
			return counts[i].n;
	}
	return 0;
}

static unsigned control_alive(void)
{
	unsigned n = memory_alive();

	for (const struct object *o = objects; o != NULL; o = o->next)
		n += o->is_alive && o->kind != FUNCTION;
	return n;
}

static unsigned control_violations(void)
{
	return n_violations;
}

static const char *control_first(void)
{
	return first;
}

static void control_last(unsigned grid[3], unsigned block[3], unsigned *shared)
{
	memcpy(grid, last_grid, sizeof(last_grid));
	memcpy(block, last_block, sizeof(last_block));
	*shared = last_shared;
}

static uint32_t control_attributes(void)
{
	return last_attributes;
}

unsigned delay_ms(void)
{
	return delay;
}

static void control_set_delay(unsigned ms)
{
	delay = ms;
}

static int control_current_device(void)
{
	return current != NULL && current->is_alive ? current->device : -1;
}

static uint64_t control_map(void)
{
	return last_map;
}

extern STUB_API const struct stub_cuda_control stub_cuda;
const struct stub_cuda_control stub_cuda = {
	.fail_at = control_fail_at,
	.fail_on = control_fail_on,
	.fault_at = control_fault_at,
	.calls = control_calls,
	.count = control_count,
	.alive = control_alive,
	.violations = control_violations,
	.first_violation = control_first,
	.pinned_bytes = pinned_total,
	.set_delay = control_set_delay,
	.set_memory = memory_set_limit,
	.last_alloc = memory_last_asked,
	.last_launch = control_last,
	.last_attributes = control_attributes,
	.current_device = control_current_device,
	.last_map = control_map,
	.last_global = control_global,
};
