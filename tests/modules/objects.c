/*
 * A library as tvm-ffi's headers make one, and it needs libtvm_ffi.so: functions about
 * objects that it makes, keeps and passes on. The false libtvm_ffi.so beside it ends
 * the process, so a host must not open it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ffi.h"

enum { T_ERROR = 67, T_FUNCTION = 68, T_MAP = 72, T_LIST = 75 };

typedef struct {
	const char *data;
	size_t size;
} bytes;

typedef struct {
	object head;
	bytes kind, message, backtrace;
	void (*update)(void *self, const bytes *more, int32_t mode);
	object *cause, *context;
} error;

typedef int (*safe_call)(void *self, const any *args, int32_t n, any *ret);

typedef struct {
	object head;
	safe_call call;
	void *cpp_call;
} function;

typedef struct managed {
	dltensor t;
	void *ctx;
	void (*deleter)(struct managed *self);
} managed;

typedef struct {
	int32_t type, depth;
	bytes key;
} type_info;

typedef struct {
	bytes name, doc, metadata;
	int64_t flags, size, alignment, offset;
	int (*getter)(void *field, any *ret);
	void *setter;
	any fallback;
	int32_t static_type;
} field_info;

int TVMFFIObjectIncRef(void *obj);
int TVMFFIObjectDecRef(void *obj);
int TVMFFIStringFromByteArray(const bytes *in, any *ret);
int TVMFFIBytesFromByteArray(const bytes *in, any *ret);
int TVMFFIErrorCreateWithCauseAndExtraContext(const bytes *kind, const bytes *message,
					      const bytes *backtrace, void *cause,
					      void *context, void **ret);
void TVMFFIErrorMoveFromRaised(void **ret);
void TVMFFIErrorSetRaised(void *error);
int TVMFFIFunctionCreate(void *self, safe_call call, void (*deleter)(void *self),
			 void **ret);
int TVMFFIFunctionGetGlobal(const bytes *name, void **ret);
int TVMFFIFunctionSetGlobal(const bytes *name, void *fn, int may_replace);
int TVMFFIEnvTensorAlloc(dltensor *prototype, void **ret);
int TVMFFITensorToDLPack(void *tensor, managed **ret);
int TVMFFITensorFromDLPack(managed *from, int32_t align, int32_t compact, void **ret);
int32_t TVMFFITypeGetOrAllocIndex(const bytes *key, int32_t index, int32_t depth,
				  int32_t n_children, int32_t may_overflow,
				  int32_t parent);
const type_info *TVMFFIGetTypeInfo(int32_t type);
int TVMFFITypeRegisterField(int32_t type, const field_info *info);

static bytes text_of(const any *v)
{
	if (v->type == T_SMALL_STR)
		return (bytes){v->v.small, v->small_len};
	if (v->type == T_STR)
		return *(bytes *)((char *)v->v.p + sizeof(object));
	return (bytes){"?", 1};
}

static int give(int32_t type, void *obj, any *ret)
{
	ret->type = type;
	ret->v.p = obj;
	return obj != NULL ? 0 : -1;
}

static int give_text(const char *text, any *ret)
{
	const bytes in = {text, strlen(text)};

	return TVMFFIStringFromByteArray(&in, ret);
}

#ifdef UNKNOWN_PARENT
__attribute__((constructor)) static void register_types(void)
{
	const bytes key = {"test.Orphan", 11};

	(void)TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, 5000);
}
#endif

/* type_of(x): the key of the type of an argument */
FUNCTION(type_of)
{
	char key[64] = "";

	strncat(key, TVMFFIGetTypeInfo(n > 0 ? args[0].type : T_NONE)->key.data,
		sizeof(key) - 1);
	return give_text(key, ret);
}

/* raise(kind, message): with a cause that is an error, too */
FUNCTION(raise)
{
	const bytes kind = text_of(&args[0]);
	const bytes message = text_of(&args[1]);
	const bytes trace = {"at line 1\n", 10};
	void *cause, *e;

	if (TVMFFIErrorCreateWithCauseAndExtraContext(&message, &kind, &trace, NULL,
						      NULL, &cause) != 0 ||
	    TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &trace, cause,
						      NULL, &e) != 0)
		abort();
	(void)TVMFFIObjectDecRef(cause);
	TVMFFIErrorSetRaised(e);
	return TVMFFIObjectDecRef(e), -1;
}

/* caught(f, args...): "kind|message|kind of the cause" of the error that f raises */
FUNCTION(caught)
{
	function *f = args[0].v.p;
	char text[512];
	error *e;

	if (f->call(f, args + 1, n - 1, ret) == 0)
		return 0;
	TVMFFIErrorMoveFromRaised((void **)&e);
	e->update(e, &(bytes){"caught\n", 7}, 1);
	(void)snprintf(text, sizeof(text), "%.*s|%.*s|%s|%.*s", (int)e->kind.size,
		       e->kind.data, (int)e->message.size, e->message.data,
		       e->cause != NULL ? ((error *)(void *)e->cause)->kind.data : "",
		       (int)e->backtrace.size, e->backtrace.data);
	return TVMFFIObjectDecRef(e), give_text(text, ret);
}

/* again(f, args...): calls f, and raises its error again */
FUNCTION(again)
{
	function *f = args[0].v.p;
	void *e;

	if (f->call(f, args + 1, n - 1, ret) == 0)
		return 0;
	TVMFFIErrorMoveFromRaised(&e);
	TVMFFIErrorSetRaised(e);
	return TVMFFIObjectDecRef(e), -1;
}

static int alive; /* adders */

static int add_own(void *self, const any *args, int32_t n, any *ret)
{
	if (n != 1 || args[0].type != T_INT)
		return fail("TypeError", "an adder takes an int");
	ret->type = T_INT;
	ret->v.i = *(int64_t *)self + args[0].v.i;
	return 0;
}

static void free_own(void *self)
{
	alive--;
	free(self);
}

FUNCTION(adder)
{
	int64_t *own = malloc(sizeof(*own));
	void *f;

	if (own == NULL)
		abort();
	*own = args[0].v.i;
	alive++;
	return TVMFFIFunctionCreate(own, add_own, free_own, &f) == 0
		       ? give(T_FUNCTION, f, ret)
		       : -1;
}

FUNCTION(adders)
{
	ret->type = T_INT;
	ret->v.i = alive;
	return 0;
}

FUNCTION(put)
{
	const bytes name = text_of(&args[0]);

	return TVMFFIFunctionSetGlobal(&name, args[1].v.p, n > 2);
}

/* call(name, args...) of a global function; None if there is none */
FUNCTION(call)
{
	const bytes name = text_of(&args[0]);
	function *f;

	if (TVMFFIFunctionGetGlobal(&name, (void **)&f) != 0)
		return -1;
	if (f == NULL)
		return 0;
	const int rc = f->call(f, args + 1, n - 1, ret);
	return TVMFFIObjectDecRef(f), rc;
}

/* count(n): a float32 tensor 0, 1, ... in memory of the host */
FUNCTION(count)
{
	int64_t shape[] = {args[0].v.i};
	dltensor like = {.device_type = 1,
			 .ndim = 1,
			 .code = 2,
			 .bits = 32,
			 .lanes = 1,
			 .shape = shape};
	void *t;

	if (TVMFFIEnvTensorAlloc(&like, &t) != 0)
		return -1;
	const dltensor *made = (dltensor *)((char *)t + sizeof(object));
	for (int64_t i = 0; i < shape[0]; i++)
		((float *)made->data)[i] = (float)i;
	return give(T_TENSOR, t, ret);
}

static void *held;

/* keep(tensor): keeps a reference over the end of the call */
FUNCTION(keep)
{
	if (n != 1 || args[0].type != T_TENSOR)
		return fail("TypeError", "keep() takes a tensor");
	if (held != NULL)
		(void)TVMFFIObjectDecRef(held);
	held = args[0].v.p;
	ret->type = T_INT;
	ret->v.i = 1;
	return TVMFFIObjectIncRef(held);
}

FUNCTION(kept)
{
	return held == NULL ? 0 : (TVMFFIObjectIncRef(held), give(T_TENSOR, held, ret));
}

FUNCTION(forget)
{
	void *old = held;

	held = NULL;
	return old != NULL ? TVMFFIObjectDecRef(old) : 0;
}

/* through(tensor): the same memory by DLPack; fails without strides */
FUNCTION(through)
{
	const dltensor *t = (dltensor *)((char *)args[0].v.p + sizeof(object));
	managed *m;
	void *made;

	if (args[0].type != T_TENSOR || (t->ndim > 0 && t->strides == NULL))
		return fail("TypeError", "through() takes a tensor with strides");
	if (TVMFFITensorToDLPack(args[0].v.p, &m) != 0)
		return -1;
	if (TVMFFITensorFromDLPack(m, 64, 1, &made) == 0)
		return give(T_TENSOR, made, ret);
	return m->deleter(m), -1;
}

typedef struct {
	object head;
	any *data;
	int64_t size, capacity;
	void (*data_deleter)(void *data);
	any items[2];
} list;

static void keep_list(void *self, int flags)
{
	(void)self, (void)flags; /* a circle is never freed */
}

/* A list that has itself as an item. */
FUNCTION(circle)
{
	static list l = {.head = {.count = 1 | (uint64_t)1 << 32,
				  .type = T_LIST,
				  .deleter = keep_list},
			 .data = l.items,
			 .size = 2,
			 .capacity = 2,
			 .items = {{.type = T_INT}, {.type = T_LIST}}};

	l.items[1].v.p = &l;
	return TVMFFIObjectIncRef(&l), give(T_LIST, &l, ret);
}

/* A list that claims a million items more than there are. */
FUNCTION(endless)
{
	static list l = {.head = {.count = 1 | (uint64_t)1 << 32,
				  .type = T_LIST,
				  .deleter = keep_list},
			 .data = l.items,
			 .size = 1000000,
			 .capacity = 1000000};

	return TVMFFIObjectIncRef(&l), give(T_LIST, &l, ret);
}

static void crash(void *self, int flags)
{
	(void)self, (void)flags;
	*(volatile int *)8 = 1;
}

/* A list with a deleter that crashes. */
FUNCTION(fragile)
{
	static list l = {.head = {.count = 1 | (uint64_t)1 << 32,
				  .type = T_LIST,
				  .deleter = crash},
			 .data = l.items};

	return give(T_LIST, &l, ret);
}

/* same(x): its argument */
FUNCTION(same)
{
	*ret = args[0];
	return args[0].type >= 64 ? TVMFFIObjectIncRef(args[0].v.p) : 0;
}

typedef struct {
	object head;
	int64_t x;
} point;

static int get_x(void *field, any *ret)
{
	if (*(int64_t *)field < 0)
		return fail("ValueError", "x is negative");
	ret->type = T_INT;
	ret->v.i = *(int64_t *)field;
	return 0;
}

static void free_point(void *self, int flags)
{
	if (flags & 2)
		free(self);
}

static int32_t point_type(void)
{
	static const bytes key = {"test.Point", 10};
	static int32_t type;
	const field_info x = {.name = {"x", 1},
			      .size = 8,
			      .alignment = 8,
			      .offset = sizeof(object),
			      .getter = get_x};

	if (type == 0) {
		type = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, 64);
		if (TVMFFITypeRegisterField(type, &x) != 0)
			abort();
	}
	return type;
}

/* point(x): an object of a type of the library, with the field x */
FUNCTION(point)
{
	point *p = calloc(1, sizeof(*p));

	if (p == NULL)
		abort();
	p->head.count = 1 | (uint64_t)1 << 32;
	p->head.type = point_type();
	p->head.deleter = free_point;
	p->x = args[0].v.i;
	return give(p->head.type, p, ret);
}

/* x_of(point) */
FUNCTION(x_of)
{
	if (n != 1 || args[0].type != point_type())
		return fail("TypeError", "x_of() takes a point");
	ret->type = T_INT;
	ret->v.i = ((point *)args[0].v.p)->x;
	return 0;
}

/* An object with a deleter that crashes. */
FUNCTION(bomb)
{
	static point p = {.head = {.count = 1 | (uint64_t)1 << 32, .deleter = crash}};

	p.head.type = point_type();
	return give(p.head.type, &p, ret);
}

/* Bytes that would be valid text. */
FUNCTION(letters)
{
	const bytes in = {"abcdefghij", 10};

	return TVMFFIBytesFromByteArray(&in, ret);
}

/* Compilers give such names to functions that they make. */
FUNCTION(_underscored)
{
	ret->type = T_INT;
	ret->v.i = 5;
	return 0;
}
