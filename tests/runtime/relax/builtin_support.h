#ifndef MSD_TEST_BUILTIN_SUPPORT_H
#define MSD_TEST_BUILTIN_SUPPORT_H

#include "proto/base/diag.h"
#include "runtime/value/value.h"
/* Calls of the runtime's packed functions, as a VM or compiled code makes them. */

#define MAX_ARGS 32
static const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
static const struct msd_dtype int64 = {MSD_DT_INT, 64, 1};

/* A call in the making; owns its arguments, result and error. */
struct call {
	struct msd_any args[MAX_ARGS];
	int32_t n;
	struct msd_any ret;
	struct msd_diag d;
};

void push(struct call *c, struct msd_any v); /* takes the reference */
void push_ints(struct call *c, const int64_t *v, size_t n);
#define PUSH_INTS(c, ...)                                                              \
	push_ints(c, (const int64_t[]){__VA_ARGS__},                                   \
		  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Values with one reference. */
struct msd_any text(const char *s);
struct msd_any dtype_value(struct msd_dtype t);
struct msd_any tensor(struct msd_dtype t, const int64_t *dim, size_t n);
struct msd_any x34(void); /* float32[3, 4] */
struct msd_any heap_of(int64_t a, int64_t b);
int64_t cell_of(const struct msd_any *heap, int i);

/** Call @name; false when it failed: then the error is in c->d. */
bool run_call(struct call *c, const char *name);
/** Drop everything; the call can be used again. */
void finish(struct call *c);
/** Call and assert: success; or failure with exactly @message, finished. */
void expect_ok(struct call *c, const char *name);
void expect_error(struct call *c, const char *name, const char *message);
const struct msd_shape *ret_shape(const struct call *c);

#endif
