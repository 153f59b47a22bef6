/*
 * Values and objects: storages, tensors and views of them, strings, shapes, tuples.
 *
 * The last reference calls the object's own deleter, on any thread. Compiled code
 * sees the same layout (runtime/abi): sizes and order are fixed.
 */
#include "runtime/value/value.h"

#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"

static void plain_delete(void *self, int flags)
{
	if (flags & MSD_WEAK_GONE)
		free(self);
}

struct msd_str *msd_str_new(const char *p, size_t n, enum msd_type type)
{
	struct msd_str *s;
	size_t bytes;

	if (!msd_add_size(sizeof(*s) + 1, n, &bytes))
		return NULL;
	s = malloc(bytes);
	if (s == NULL)
		return NULL;
	char *data = (char *)(s + 1);
	if (n > 0)
		memcpy(data, p, n);
	data[n] = '\0';
	msd_obj_init(&s->obj, type, plain_delete);
	s->data = data;
	s->size = n;
	return s;
}

bool msd_any_text(struct msd_span s, bool is_text, struct msd_any *ret)
{
	struct msd_str *str;

	*ret = msd_none();
	if (s.n < sizeof(ret->as.bytes)) {
		ret->type = is_text ? MSD_T_SMALL_STR : MSD_T_SMALL_BYTES;
		ret->small = (uint32_t)s.n;
		if (s.n > 0)
			memcpy(ret->as.bytes, s.p, s.n);
		return true;
	}
	str = msd_str_new((const char *)s.p, s.n, is_text ? MSD_T_STR : MSD_T_BYTES);
	if (str == NULL)
		return false;
	*ret = msd_of_obj(&str->obj);
	return true;
}

struct msd_shape *msd_shape_new(const int64_t *dim, size_t ndim)
{
	struct msd_shape *s;
	size_t bytes;

	if (!msd_mul_size(ndim, sizeof(*dim), &bytes) ||
	    !msd_add_size(bytes, sizeof(*s), &bytes))
		return NULL;
	s = malloc(bytes);
	if (s == NULL)
		return NULL;
	int64_t *copy = (int64_t *)(s + 1);
	if (ndim > 0)
		memcpy(copy, dim, ndim * sizeof(*dim));
	msd_obj_init(&s->obj, MSD_T_SHAPE, plain_delete);
	s->dim = copy;
	s->ndim = ndim;
	return s;
}

static void array_delete(void *self, int flags)
{
	struct msd_array *a = self;

	if (flags & MSD_STRONG_GONE) {
		for (int64_t i = 0; i < a->size; i++)
			msd_any_drop(&a->items[i]);
	}
	if (flags & MSD_WEAK_GONE)
		free(a);
}

struct msd_array *msd_array_new(size_t n)
{
	struct msd_array *a;
	size_t bytes;

	if (n > INT32_MAX || !msd_mul_size(n, sizeof(struct msd_any), &bytes) ||
	    !msd_add_size(bytes, sizeof(*a), &bytes))
		return NULL;
	a = calloc(1, bytes);
	if (a == NULL)
		return NULL;
	msd_obj_init(&a->obj, MSD_T_ARRAY, array_delete);
	a->items = a->inline_items;
	a->size = (int64_t)n;
	a->capacity = (int64_t)n;
	return a;
}

/* Room for @bytes plus padding, because vector code loads whole lines at the end. */
static bool round_up(size_t bytes, size_t *ret)
{
	if (!msd_add_size(bytes, MSD_TENSOR_ALIGN - 1, &bytes))
		return false;
	bytes &= ~(size_t)(MSD_TENSOR_ALIGN - 1);
	*ret = bytes > 0 ? bytes : MSD_TENSOR_ALIGN;
	return true;
}

static void storage_delete(void *self, int flags)
{
	struct msd_storage *s = self;

	if (flags & MSD_STRONG_GONE)
		free(s->data);
	if (flags & MSD_WEAK_GONE)
		free(s);
}

struct msd_storage *msd_storage_new(size_t bytes)
{
	struct msd_storage *s;
	size_t room;

	if (!round_up(bytes, &room))
		return NULL;
	s = malloc(sizeof(*s));
	if (s == NULL)
		return NULL;
	msd_obj_init(&s->obj, MSD_T_STORAGE, storage_delete);
	s->data = aligned_alloc(MSD_TENSOR_ALIGN, room);
	s->bytes = bytes;
	s->device = (struct msd_device){.type = MSD_DEV_CPU};
	if (s->data == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

static void tensor_delete(void *self, int flags)
{
	struct msd_tensor *t = self;

	if (flags & MSD_STRONG_GONE) {
		if (t->release != NULL)
			t->release(t->release_ctx, t->dl.data);
		msd_obj_unref(t->owner);
	}
	if (flags & MSD_WEAK_GONE)
		free(t);
}

static void tensor_init(struct msd_tensor *t, struct msd_dtype dtype,
			const int64_t *shape, size_t ndim)
{
	memset(t, 0, sizeof(*t));
	msd_obj_init(&t->obj, MSD_T_TENSOR, tensor_delete);
	t->dl.device = (struct msd_device){.type = MSD_DEV_CPU};
	t->dl.ndim = (int32_t)ndim;
	t->dl.dtype = dtype;
	t->dl.shape = t->shape;
	if (ndim > 0)
		memcpy(t->shape, shape, ndim * sizeof(*shape));
}

struct msd_tensor *msd_tensor_new(struct msd_dtype dtype, const int64_t *shape,
				  size_t ndim)
{
	const struct msd_dltensor probe = {.ndim = (int32_t)ndim,
					   .dtype = dtype,
					   .shape = (void *)(uintptr_t)shape};
	size_t head = 0;
	size_t bytes;
	uint64_t n;

	if (ndim > MSD_MAX_NDIM || !msd_shape_elements(shape, ndim, &n))
		return NULL;
	bytes = msd_dltensor_bytes(&probe);
	if ((n > 0 && bytes == 0) || !round_up(bytes, &bytes) ||
	    !round_up(sizeof(struct msd_tensor) + ndim * sizeof(*shape), &head) ||
	    !msd_add_size(bytes, head, &bytes))
		return NULL;
	struct msd_tensor *t = aligned_alloc(MSD_TENSOR_ALIGN, bytes);
	if (t == NULL)
		return NULL;
	tensor_init(t, dtype, shape, ndim);
	t->dl.data = (char *)t + head; /* one allocation: freed with the header */
	return t;
}

/* Eight properties of one tensor, most of them plain numbers. */
/* NOLINTNEXTLINE(readability-function-size) */
struct msd_tensor *msd_tensor_view(void *data, struct msd_device device,
				   struct msd_dtype dtype, const int64_t *shape,
				   size_t ndim, struct msd_obj *owner,
				   void (*release)(void *ctx, void *data),
				   void *release_ctx)
{
	struct msd_tensor *t;

	if (ndim > MSD_MAX_NDIM)
		return NULL;
	t = malloc(sizeof(*t) + ndim * sizeof(*shape));
	if (t == NULL)
		return NULL;
	tensor_init(t, dtype, shape, ndim);
	t->dl.data = data;
	t->dl.device = device;
	t->owner = owner;
	t->release = release;
	t->release_ctx = release_ctx;
	if (owner != NULL)
		msd_obj_ref(owner);
	return t;
}

struct msd_tensor *msd_tensor_strided(const struct msd_dltensor *t,
				      struct msd_obj *owner,
				      void (*release)(void *ctx, void *data),
				      void *release_ctx)
{
	const size_t n = t->ndim > 0 && t->ndim <= MSD_MAX_NDIM ? (size_t)t->ndim : 0;
	struct msd_tensor *made;
	int64_t stride = 1;

	if (t->ndim < 0 || t->ndim > MSD_MAX_NDIM)
		return NULL;
	made = malloc(sizeof(*made) + 2 * n * sizeof(*t->shape));
	if (made == NULL)
		return NULL;
	tensor_init(made, t->dtype, t->shape, n);
	made->dl.data = t->data;
	made->dl.device = t->device;
	made->dl.byte_offset = t->byte_offset;
	made->dl.strides = made->shape + n;
	for (size_t i = n; i-- > 0;) {
		made->dl.strides[i] = t->strides != NULL ? t->strides[i] : stride;
		(void)!__builtin_mul_overflow(stride, t->shape[i], &stride);
	}
	made->owner = owner;
	made->release = release;
	made->release_ctx = release_ctx;
	if (owner != NULL)
		msd_obj_ref(owner);
	return made;
}

bool msd_tensor_keep(struct msd_obj *obj, bool is_in_call)
{
	struct msd_tensor *t = (struct msd_tensor *)(void *)obj;
	struct msd_storage *s;

	if (obj->deleter != tensor_delete || t->lent == MSD_LENT_NOT ||
	    (t->lent == MSD_LENT_OUT && is_in_call))
		return true;
	const size_t n = msd_dltensor_bytes(&t->dl);
	s = msd_storage_new(n);
	if (s == NULL)
		return false;
	if (n > 0)
		memcpy(s->data, (const char *)t->dl.data + t->dl.byte_offset, n);
	t->dl.data = s->data;
	t->dl.byte_offset = 0;
	t->lent = MSD_LENT_NOT;
	t->owner = &s->obj;
	return true;
}

struct msd_dltensor *msd_any_dltensor(const struct msd_any *v)
{
	if (v->type == MSD_T_TENSOR)
		return &((struct msd_tensor *)(void *)v->as.obj)->dl;
	return v->type == MSD_T_DLTENSOR ? v->as.dl : NULL;
}

/* The layout of TVMFFIByteArray. */
struct byte_array {
	const char *data;
	size_t size;
};

bool msd_any_str(const struct msd_any *v, struct msd_span *ret)
{
	const struct msd_str *s;
	const struct byte_array *a;
	const char *p;
	size_t n;

	switch (v->type) {
	case MSD_T_RAW_STR:
		p = v->as.str;
		n = strlen(p);
		break;
	case MSD_T_BYTE_ARRAY:
		a = v->as.p;
		p = a->data;
		n = a->size;
		break;
	case MSD_T_SMALL_STR:
	case MSD_T_SMALL_BYTES:
		p = v->as.bytes;
		n = v->small < sizeof(v->as.bytes) ? v->small : sizeof(v->as.bytes) - 1;
		break;
	case MSD_T_STR:
	case MSD_T_BYTES:
		s = v->as.p;
		p = s->data;
		n = s->size;
		break;
	default:
		return false;
	}
	*ret = (struct msd_span){.p = (const uint8_t *)p, .n = n};
	return true;
}

static struct msd_tensor *tensor_clone(const struct msd_dltensor *t)
{
	struct msd_tensor *copy;

	if (t->device.type != MSD_DEV_CPU || t->ndim < 0 || !msd_dltensor_is_compact(t))
		return NULL;
	copy = msd_tensor_new(t->dtype, t->shape, (size_t)t->ndim);
	if (copy != NULL) {
		memcpy(copy->dl.data, (const char *)t->data + t->byte_offset,
		       msd_dltensor_bytes(t));
	}
	return copy;
}

bool msd_any_copy(const struct msd_any *v, struct msd_any *ret)
{
	struct msd_obj *obj = NULL;
	struct msd_span text;

	if (v->type >= MSD_T_OBJECT) {
		msd_obj_ref(v->as.obj);
		*ret = *v;
		return true;
	}
	if (v->type == MSD_T_DLTENSOR) {
		struct msd_tensor *t = tensor_clone(v->as.dl);
		obj = t != NULL ? &t->obj : NULL;
	} else if (v->type == MSD_T_RAW_STR || v->type == MSD_T_BYTE_ARRAY) {
		if (msd_any_str(v, &text)) {
			struct msd_str *s = msd_str_new(
				(const char *)text.p, text.n,
				v->type == MSD_T_RAW_STR ? MSD_T_STR : MSD_T_BYTES);
			obj = s != NULL ? &s->obj : NULL;
		}
	} else if (v->type == MSD_T_RVALUE) { /* the sender keeps its own reference */
		obj = *(struct msd_obj **)v->as.p;
		if (obj != NULL)
			msd_obj_ref(obj);
	} else {
		*ret = *v;
		return true;
	}
	*ret = obj != NULL ? msd_of_obj(obj) : msd_none();
	return obj != NULL;
}

const char *msd_type_name(int32_t type)
{
	static const struct {
		int32_t type;
		const char *name;
	} names[] = {
		{MSD_T_NONE, "none"},       {MSD_T_INT, "int"},
		{MSD_T_BOOL, "bool"},       {MSD_T_FLOAT, "float"},
		{MSD_T_POINTER, "pointer"}, {MSD_T_DTYPE, "dtype"},
		{MSD_T_DEVICE, "device"},   {MSD_T_DLTENSOR, "tensor"},
		{MSD_T_RAW_STR, "str"},     {MSD_T_BYTE_ARRAY, "bytes"},
		{MSD_T_SMALL_STR, "str"},   {MSD_T_SMALL_BYTES, "bytes"},
		{MSD_T_STR, "str"},         {MSD_T_BYTES, "bytes"},
		{MSD_T_ERROR, "error"},     {MSD_T_FUNCTION, "function"},
		{MSD_T_SHAPE, "shape"},     {MSD_T_TENSOR, "tensor"},
		{MSD_T_ARRAY, "tuple"},     {MSD_T_MAP, "map"},
		{MSD_T_MODULE, "module"},   {MSD_T_LIST, "list"},
		{MSD_T_DICT, "dict"},       {MSD_T_STORAGE, "storage"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].type == type)
			return names[i].name;
	}
	return "object";
}
