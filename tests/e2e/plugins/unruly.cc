/* A library as tvm-ffi's headers make one, whose functions and objects misbehave. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
struct any {
	int32_t type;
	uint32_t small;
	union {
		int64_t i;
		void *p;
	} v;
};
struct bytes {
	const char *p;
	size_t n;
};
struct object {
	uint64_t counts;
	int32_t type;
	uint32_t pad;
	void (*deleter)(void *self, int flags);
};
int TVMFFIStringFromByteArray(const struct bytes *in, struct any *ret);
int TVMFFIFunctionGetGlobal(const struct bytes *name, void **ret);
int TVMFFIFunctionCall(void *f, const struct any *args, int32_t n, struct any *ret);
int TVMFFIObjectDecRef(void *object);
int32_t TVMFFITypeGetOrAllocIndex(const struct bytes *key, int32_t index, int32_t depth,
				  int32_t n_children, int32_t may_overflow,
				  int32_t parent);
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *text);
}

#define FUNCTION(name)                                                                 \
	extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##name(        \
		void *self, const struct any *args, int32_t n, struct any *ret)

/* The exception leaves a function that promises to catch all. */
FUNCTION(throws)
{
	(void)self, (void)args, (void)n, (void)ret;
	throw 1;
}

static int deeper(volatile char *above)
{
	volatile char here[4096];

	here[0] = above[0];
	return deeper(here) + here[0];
}

FUNCTION(recurses)
{
	volatile char begin[1] = {1};

	(void)self, (void)args, (void)n;
	ret->type = 1;
	ret->v.i = deeper(begin);
	return 0;
}

/* A str with a NUL in it, or one that is not UTF-8. */
FUNCTION(with_nul)
{
	static const struct bytes text = {"before\0behind it", 16};

	(void)self, (void)args, (void)n;
	return TVMFFIStringFromByteArray(&text, ret);
}

FUNCTION(not_utf8)
{
	static const struct bytes text = {"\xff\xfe long enough", 14};

	(void)self, (void)args, (void)n;
	return TVMFFIStringFromByteArray(&text, ret);
}

/* An array of that many ints. */
FUNCTION(many)
{
	static const struct bytes name = {"ffi.Array", 9};
	const size_t size = (size_t)args[0].v.i;
	struct any *items = (struct any *)calloc(size + 1, sizeof(*items));
	void *make = NULL;

	(void)self, (void)n;
	for (size_t i = 0; i < size; i++)
		items[i].type = 1;
	int rc = TVMFFIFunctionGetGlobal(&name, &make);
	if (rc == 0)
		rc = TVMFFIFunctionCall(make, items, (int32_t)size, ret);
	free(items);
	return rc;
}

/* Raises an error that no caller takes, and calls a function of the host. */
static void end(void *self, int flags)
{
	static const struct bytes name = {"ffi.Array", 9};
	struct any made = {0, 0, {0}};
	void *make = NULL;

	if ((flags & 1) != 0 && TVMFFIFunctionGetGlobal(&name, &make) == 0 &&
	    TVMFFIFunctionCall(make, NULL, 0, &made) == 0)
		(void)TVMFFIObjectDecRef(made.v.p);
	TVMFFIErrorSetRaisedFromCStr("ValueError", "raised by a deleter");
	if ((flags & 2) != 0)
		free(self);
}

FUNCTION(busy_end)
{
	static const struct bytes key = {"test.BusyEnd", 12};
	struct object *o = (struct object *)calloc(1, sizeof(*o));

	(void)self, (void)args, (void)n;
	o->counts = 1 | (uint64_t)1 << 32;
	o->type = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, 64);
	o->deleter = end;
	ret->type = o->type;
	ret->v.p = o;
	return 0;
}
