/*
 * The table of types.
 *
 * Happy path: the first use fills in the types with fixed indices. A library's type
 * gets an index inside the range of its parent, or behind all others. Readers need no
 * lock: an entry is complete before its index is published, and an array that grows
 * is replaced while the old one stays.
 *
 * A library asks for an index without a way to learn of a failure. A request that
 * cannot be served is noted, and the loader refuses the library.
 */
#include "runtime/value/types.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/hash.h"

struct entry {
	struct msd_type_info info;
	int32_t n_slots; /* indices for it and the types below it */
	int32_t n_used;  /* of them */
	bool may_overflow;
	struct msd_type_metadata metadata;
};

struct column {
	struct msd_type_column column; /* first member: libraries keep its address */
	struct column *next;
	char *name;
	size_t n_name;
};

/* Memory that stays until the process ends. */
struct block {
	struct block *next;
	max_align_t bytes[];
};

static struct entry *table[MSD_MAX_TYPES];
static struct block *blocks;
static struct column *columns;
static uint32_t n_columns;
static int32_t n_taken = MSD_T_FIRST_FREE;
static char *fault;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	int32_t type;
	const char *key;
} fixed[] = {
	{MSD_T_OBJECT, "ffi.Object"}, /* first: the parent of the others */
	{MSD_T_NONE, "None"},
	{MSD_T_INT, "int"},
	{MSD_T_BOOL, "bool"},
	{MSD_T_FLOAT, "float"},
	{MSD_T_POINTER, "void*"},
	{MSD_T_DTYPE, "DataType"},
	{MSD_T_DEVICE, "Device"},
	{MSD_T_DLTENSOR, "DLTensor*"},
	{MSD_T_RAW_STR, "const char*"},
	{MSD_T_BYTE_ARRAY, "TVMFFIByteArray*"},
	{MSD_T_RVALUE, "ObjectRValueRef"},
	{MSD_T_SMALL_STR, "ffi.SmallStr"},
	{MSD_T_SMALL_BYTES, "ffi.SmallBytes"},
	{MSD_T_STR, "ffi.String"},
	{MSD_T_BYTES, "ffi.Bytes"},
	{MSD_T_ERROR, "ffi.Error"},
	{MSD_T_FUNCTION, "ffi.Function"},
	{MSD_T_SHAPE, "ffi.Shape"},
	{MSD_T_TENSOR, "ffi.Tensor"},
	{MSD_T_ARRAY, "ffi.Array"},
	{MSD_T_MAP, "ffi.Map"},
	{MSD_T_MODULE, "ffi.Module"},
	{MSD_T_OPAQUE, "ffi.OpaquePyObject"},
	{MSD_T_LIST, "ffi.List"},
	{MSD_T_DICT, "ffi.Dict"},
	{MSD_T_BIG_INT, "ffi.BigInt"},
	{MSD_T_STORAGE, "modserd.Storage"},
	{MSD_T_CLOSURE, "modserd.Closure"},
};
#define N_FIXED (sizeof(fixed) / sizeof(fixed[0]))

static void *keep(size_t n)
{
	struct block *b = calloc(1, sizeof(*b) + n);

	if (b == NULL)
		return NULL;
	b->next = blocks;
	blocks = b;
	return b->bytes;
}

static bool keep_bytes(const struct msd_bytes *from, struct msd_bytes *ret)
{
	char *p;

	*ret = (struct msd_bytes){NULL, 0};
	if (from->size == 0)
		return true;
	p = keep(from->size + 1);
	if (p == NULL)
		return false;
	memcpy(p, from->data, from->size);
	*ret = (struct msd_bytes){p, from->size};
	return true;
}

static struct entry *entry_at(int32_t type)
{
	return type >= 0 && type < MSD_MAX_TYPES
		       ? __atomic_load_n(&table[type], __ATOMIC_ACQUIRE)
		       : NULL;
}

static struct entry *entry_of(const struct msd_bytes *key)
{
	const uint64_t hash = msd_hash_bytes(key->data, key->size);

	for (int32_t i = 0; i < n_taken; i++) {
		struct entry *e = table[i];

		if (e != NULL && e->info.key_hash == hash &&
		    e->info.key.size == key->size &&
		    memcmp(e->info.key.data, key->data, key->size) == 0)
			return e;
	}
	return NULL;
}

/* Fill in the entry at @index; false if memory is short. */
static bool add(int32_t index, const struct msd_type_request *r, struct entry *parent)
{
	const int32_t depth = parent != NULL ? parent->info.depth + 1 : 0;
	struct entry *e = keep(sizeof(*e));
	const struct msd_type_info **ancestors = keep((size_t)depth * sizeof(void *));

	if (e == NULL || ancestors == NULL || !keep_bytes(&r->key, &e->info.key))
		return false;
	for (int32_t i = 0; i + 1 < depth; i++)
		ancestors[i] = parent->info.ancestors[i];
	if (depth > 0)
		ancestors[depth - 1] = &parent->info;
	e->info.type = index;
	e->info.depth = depth;
	e->info.ancestors = ancestors;
	e->info.key_hash = msd_hash_bytes(r->key.data, r->key.size);
	e->n_slots = r->n_children + 1;
	e->n_used = 1;
	e->may_overflow = r->may_overflow && (parent == NULL || parent->may_overflow);
	__atomic_store_n(&table[index], e, __ATOMIC_RELEASE);
	return true;
}

/* If memory is short, types are missing, and look-ups fail by name. */
static void fill(void)
{
	for (size_t i = 0; i < N_FIXED; i++) {
		const bool is_below = fixed[i].type > MSD_T_OBJECT;

		(void)add(fixed[i].type,
			  &(struct msd_type_request){
				  .key = {fixed[i].key, strlen(fixed[i].key)},
				  .may_overflow = fixed[i].type == MSD_T_OBJECT},
			  is_below ? table[MSD_T_OBJECT] : NULL);
	}
}

static void note(const struct msd_type_request *r, const char *why)
{
	if (fault == NULL && asprintf(&fault, "type %.*s: %s",
				      (int)(r->key.size < 256 ? r->key.size : 256),
				      r->key.data, why) < 0)
		fault = NULL;
}

/* A free index for @r below @parent, or -1. */
static int32_t choose(const struct msd_type_request *r, struct entry *parent)
{
	const int32_t n = r->n_children + 1;
	int32_t index = r->index;

	if (index >= 0) {
		if (index < MSD_T_DYNAMIC && table[index] == NULL)
			return index;
		note(r, "its fixed index belongs to another type");
	} else if (parent->n_slots - parent->n_used >= n) {
		index = parent->info.type + parent->n_used;
		parent->n_used += n;
		return index;
	}
	if (!parent->may_overflow) {
		note(r, "its parent takes no more types");
	} else if (n > MSD_MAX_TYPES - n_taken) {
		note(r, "too many types");
		return -1;
	}
	if (n > MSD_MAX_TYPES - n_taken)
		return -1;
	index = n_taken;
	n_taken += n;
	return index;
}

static int32_t register_new(const struct msd_type_request *r)
{
	struct msd_type_request bounded = *r;
	struct entry *parent = entry_at(r->parent);

	if (parent == NULL && (r->parent >= 0 || r->index < 0)) {
		note(r, "its parent is unknown");
	} else if (parent != NULL && r->depth != parent->info.depth + 1) {
		note(r, "its depth is not that of its parent and one more");
	}
	if (r->n_children < 0 || r->n_children >= MSD_MAX_TYPES) {
		note(r, "too many types below it");
		bounded.n_children = 0;
	}
	if (parent == NULL)
		parent = table[MSD_T_OBJECT];
	const int32_t index = parent != NULL ? choose(&bounded, parent) : -1;
	if (index >= 0 && add(index, &bounded, parent))
		return index;
	note(r, "no room for it");
	return MSD_T_OBJECT;
}

/* A type that was registered with other ancestors has other fields. */
static bool is_same(const struct entry *e, const struct msd_type_request *r)
{
	if (e->info.depth != r->depth || r->parent < 0)
		return e->info.depth == r->depth;
	return r->depth > 0 && e->info.ancestors[r->depth - 1]->type == r->parent;
}

int32_t msd_type_register(const struct msd_type_request *r)
{
	int32_t index;

	(void)pthread_once(&once, fill);
	(void)pthread_mutex_lock(&lock);
	const struct entry *e = entry_of(&r->key);
	if (e != NULL) {
		index = e->info.type;
		if (r->parent != -2 && !is_same(e, r))
			note(r, "it is already registered, below another type");
	} else {
		index = r->parent == -2 ? -2 : register_new(r);
	}
	(void)pthread_mutex_unlock(&lock);
	return index;
}

char *msd_type_take_fault(void)
{
	char *text;

	(void)pthread_mutex_lock(&lock);
	text = fault;
	fault = NULL;
	(void)pthread_mutex_unlock(&lock);
	return text;
}

int msd_type_find(const struct msd_bytes *key, int32_t *ret)
{
	(void)pthread_once(&once, fill);
	(void)pthread_mutex_lock(&lock);
	const struct entry *e = entry_of(key);
	(void)pthread_mutex_unlock(&lock);
	if (e == NULL) {
		return msd_abi_raise("RuntimeError", "Cannot find type `%.*s`",
				     (int)(key->size < 256 ? key->size : 256),
				     key->data);
	}
	*ret = e->info.type;
	return 0;
}

const struct msd_type_info *msd_type_info(int32_t type)
{
	static const struct msd_type_info unknown = {.type = -1, .key = {"?", 1}};
	const struct entry *e;

	(void)pthread_once(&once, fill);
	e = entry_at(type);
	return e != NULL ? &e->info : &unknown;
}

/* Begin a change of @type with the lock held; NULL with the error raised. */
static struct entry *open_entry(int32_t type)
{
	(void)pthread_once(&once, fill);
	(void)pthread_mutex_lock(&lock);
	struct entry *e = entry_at(type);
	if (e == NULL) {
		(void)pthread_mutex_unlock(&lock);
		(void)msd_abi_raise("RuntimeError",
				    "Cannot find type info for type_index=%d", type);
	}
	return e;
}

static int close_entry(int rc)
{
	(void)pthread_mutex_unlock(&lock);
	return rc;
}

/* A copy of the @n parts at @old with room for one more. */
static void *grown(const void *old, int32_t n, size_t size)
{
	void *p = n < (int32_t)MSD_MAX_TYPE_PARTS ? keep(((size_t)n + 1) * size) : NULL;

	if (p != NULL && n > 0)
		memcpy(p, old, (size_t)n * size);
	return p;
}

int msd_type_add_field(int32_t type, const struct msd_field_info *info)
{
	struct entry *e = open_entry(type);
	struct msd_field_info *fields;

	if (e == NULL)
		return -1;
	for (int32_t i = 0; i < e->info.n_fields; i++) {
		const struct msd_bytes *name = &e->info.fields[i].name;

		if (name->size == info->name.size &&
		    memcmp(name->data, info->name.data, name->size) == 0) {
			(void)msd_abi_raise("RuntimeError",
					    "Duplicate field name \"%.*s\" in type "
					    "\"%.*s\"",
					    (int)name->size, name->data,
					    (int)e->info.key.size, e->info.key.data);
			return close_entry(-1);
		}
	}
	fields = grown(e->info.fields, e->info.n_fields, sizeof(*fields));
	if (fields == NULL)
		return close_entry(msd_abi_no_memory());
	struct msd_field_info *f = &fields[e->info.n_fields];
	*f = *info;
	f->fallback = msd_none();
	enum { HAS_FALLBACK = 1 << 1, SETTER_IS_OBJECT = 1 << 11 };
	if (!keep_bytes(&info->name, &f->name) || !keep_bytes(&info->doc, &f->doc) ||
	    !keep_bytes(&info->metadata, &f->metadata) ||
	    ((info->flags & HAS_FALLBACK) != 0 &&
	     !msd_any_copy(&info->fallback, &f->fallback)))
		return close_entry(msd_abi_no_memory());
	if ((info->flags & SETTER_IS_OBJECT) != 0 && info->setter != NULL)
		msd_obj_ref(info->setter);
	e->info.fields = fields;
	e->info.n_fields++;
	return close_entry(0);
}

int msd_type_add_method(int32_t type, const struct msd_method_info *info)
{
	struct entry *e = open_entry(type);
	struct msd_method_info *methods;

	if (e == NULL)
		return -1;
	methods = grown(e->info.methods, e->info.n_methods, sizeof(*methods));
	if (methods == NULL)
		return close_entry(msd_abi_no_memory());
	struct msd_method_info *m = &methods[e->info.n_methods];
	*m = *info;
	if (!keep_bytes(&info->name, &m->name) || !keep_bytes(&info->doc, &m->doc) ||
	    !keep_bytes(&info->metadata, &m->metadata) ||
	    !msd_any_copy(&info->method, &m->method))
		return close_entry(msd_abi_no_memory());
	e->info.methods = methods;
	e->info.n_methods++;
	return close_entry(0);
}

int msd_type_set_metadata(int32_t type, const struct msd_type_metadata *metadata)
{
	struct entry *e = open_entry(type);

	if (e == NULL)
		return -1;
	if (e->info.metadata != NULL) {
		(void)msd_abi_raise("RuntimeError",
				    "Overriding %.*s: its metadata is registered",
				    (int)e->info.key.size, e->info.key.data);
		return close_entry(-1);
	}
	e->metadata = *metadata;
	if (!keep_bytes(&metadata->doc, &e->metadata.doc))
		return close_entry(msd_abi_no_memory());
	e->info.metadata = &e->metadata;
	return close_entry(0);
}

static struct column *find_column(const struct msd_bytes *name)
{
	struct column *c = columns;

	while (c != NULL &&
	       (c->n_name != name->size || memcmp(c->name, name->data, c->n_name) != 0))
		c = c->next;
	return c;
}

static struct column *column_of(const struct msd_bytes *name)
{
	struct column *c = find_column(name);

	if (c != NULL || n_columns >= MSD_MAX_TYPE_PARTS)
		return c;
	c = keep(sizeof(*c) + name->size + 1);
	if (c == NULL)
		return NULL;
	c->name = (char *)(c + 1);
	c->n_name = name->size;
	if (name->size > 0)
		memcpy(c->name, name->data, name->size);
	c->next = columns;
	columns = c;
	n_columns++;
	return c;
}

/* Make room for the value of @type. */
static bool widen(struct msd_type_column *c, int32_t type)
{
	int32_t n = c->n;
	struct msd_any *values;

	if (type < n)
		return true;
	n = type + 1 > 2 * n ? type + 1 : 2 * n;
	n = n > MSD_MAX_TYPES ? MSD_MAX_TYPES : n;
	values = keep((size_t)n * sizeof(*values));
	if (values == NULL)
		return false;
	if (c->n > 0)
		memcpy(values, c->values, (size_t)c->n * sizeof(*values));
	__atomic_store_n(&c->values, values, __ATOMIC_RELEASE);
	__atomic_store_n(&c->n, n, __ATOMIC_RELEASE);
	return true;
}

int msd_type_set_attribute(int32_t type, const struct msd_bytes *name,
			   const struct msd_any *value)
{
	struct entry *e = open_entry(type);
	struct column *c = e != NULL ? column_of(name) : NULL;
	struct msd_any *at;

	if (e == NULL)
		return -1;
	if (c == NULL || (type != MSD_T_NONE && !widen(&c->column, type)))
		return close_entry(msd_abi_no_memory());
	if (type == MSD_T_NONE)
		return close_entry(0);
	at = (struct msd_any *)(uintptr_t)&c->column.values[type];
	if (at->type != MSD_T_NONE) {
		(void)msd_abi_raise("RuntimeError",
				    "TypeAttr `%.*s` is already registered for type "
				    "index %d",
				    (int)c->n_name, c->name, type);
		return close_entry(-1);
	}
	return close_entry(msd_any_copy(value, at) ? 0 : msd_abi_no_memory());
}

const struct msd_type_column *msd_type_column(const struct msd_bytes *name)
{
	(void)pthread_mutex_lock(&lock);
	struct column *c = find_column(name);
	(void)pthread_mutex_unlock(&lock);
	return c != NULL ? &c->column : NULL;
}
