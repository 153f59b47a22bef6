/*
 * Typed readers for msgpack-c's objects: arrays of the right length, maps with known
 * keys only, and errors that name the key and both types. Bodies have been scanned
 * before (scan.c).
 */
#include "proto/unpack.h"

#include <inttypes.h>
#include <msgpack/unpack.h>
#include <string.h>

#define ZONE_BYTES 4096 /* size of the first chunk, which is kept: most trees fit */

void msd_unpack_finish(struct msd_unpack *u)
{
	if (u == NULL || !u->has_zone)
		return;
	msgpack_zone_destroy(&u->zone);
	u->has_zone = false;
}

msd_err msd_unpack(struct msd_unpack *u, struct msd_span object,
		   const msgpack_object **ret, struct msd_diag *d)
{
	size_t used = 0;

	if (!u->has_zone) {
		if (!msgpack_zone_init(&u->zone, ZONE_BYTES))
			return msd_diag_set(d, MSD_NOMEM, "unpack: out of memory");
		u->has_zone = true;
	}
	msgpack_zone_clear(&u->zone);
	switch (msgpack_unpack((const char *)object.p, object.n, &used, &u->zone,
			       &u->root)) {
	case MSGPACK_UNPACK_SUCCESS:
		*ret = &u->root;
		return MSD_OK;
	case MSGPACK_UNPACK_NOMEM_ERROR:
		return msd_diag_set(d, MSD_NOMEM, "unpack: out of memory");
	case MSGPACK_UNPACK_EXTRA_BYTES:
	case MSGPACK_UNPACK_CONTINUE:
	case MSGPACK_UNPACK_PARSE_ERROR:
		break;
	}
	return msd_diag_set(d, MSD_BAD_REQUEST, "unpack: %zu bytes are not one object",
			    object.n);
}

static const char *type_name(const msgpack_object *o)
{
	switch (o->type) {
	case MSGPACK_OBJECT_NIL:
		return "nil";
	case MSGPACK_OBJECT_BOOLEAN:
		return "a bool";
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		return "an int";
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64:
		return "a float";
	case MSGPACK_OBJECT_STR:
		return "a str";
	case MSGPACK_OBJECT_BIN:
		return "bytes";
	case MSGPACK_OBJECT_ARRAY:
		return "an array";
	case MSGPACK_OBJECT_MAP:
		return "a map";
	case MSGPACK_OBJECT_EXT:
		break;
	}
	return "a value of another ext type";
}

static msd_err fail_type(const msgpack_object *o, const char *what,
			 const char *expected, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s: %s expected, not %s", what,
			    expected, type_name(o));
}

msd_err msd_params_check(const msgpack_object *params, const char *method, uint32_t min,
			 uint32_t max, struct msd_diag *d)
{
	if (params->type != MSGPACK_OBJECT_ARRAY)
		return fail_type(params, method, "an array of params", d);
	uint32_t n = params->via.array.size;
	if (n >= min && n <= max)
		return MSD_OK;
	if (min == max) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: %u params expected, not %u", method, min, n);
	}
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s: %u to %u params expected, not %u",
			    method, min, max, n);
}

msd_err msd_object_uint(const msgpack_object *o, const char *what, uint64_t max,
			uint64_t *ret, struct msd_diag *d)
{
	if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: %" PRId64 " is negative",
				    what, o->via.i64);
	}
	if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		return fail_type(o, what, "an int", d);
	if (o->via.u64 > max) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: %" PRIu64 " is over %" PRIu64, what,
				    o->via.u64, max);
	}
	*ret = o->via.u64;
	return MSD_OK;
}

msd_err msd_object_bool(const msgpack_object *o, const char *what, bool *ret,
			struct msd_diag *d)
{
	if (o->type != MSGPACK_OBJECT_BOOLEAN)
		return fail_type(o, what, "a bool", d);
	*ret = o->via.boolean;
	return MSD_OK;
}

msd_err msd_object_str(const msgpack_object *o, const char *what, struct msd_span *ret,
		       struct msd_diag *d)
{
	if (o->type != MSGPACK_OBJECT_STR)
		return fail_type(o, what, "a str", d);
	*ret = (struct msd_span){.p = (const uint8_t *)o->via.str.ptr,
				 .n = o->via.str.size};
	return MSD_OK;
}

msd_err msd_object_bin(const msgpack_object *o, const char *what, struct msd_span *ret,
		       struct msd_diag *d)
{
	if (o->type != MSGPACK_OBJECT_BIN)
		return fail_type(o, what, "bytes", d);
	*ret = (struct msd_span){.p = (const uint8_t *)o->via.bin.ptr,
				 .n = o->via.bin.size};
	return MSD_OK;
}

msd_err msd_object_handle(const msgpack_object *o, const char *what, enum msd_ext type,
			  struct msd_handle *ret, struct msd_diag *d)
{
	if (o->type != MSGPACK_OBJECT_EXT || o->via.ext.type != (int8_t)type ||
	    o->via.ext.size != 8)
		return fail_type(o, what, "a handle", d);
	*ret = msd_handle_read((const uint8_t *)o->via.ext.ptr);
	return MSD_OK;
}

msd_err msd_object_tensor(const msgpack_object *o, const char *what,
			  struct msd_wire_tensor *ret, struct msd_diag *d)
{
	if (o->type != MSGPACK_OBJECT_EXT || o->via.ext.type != MSD_EXT_TENSOR)
		return fail_type(o, what, "a tensor", d);
	msd_err err = msd_wire_tensor_read((const uint8_t *)o->via.ext.ptr,
					   o->via.ext.size, ret, d);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s", what);
}

static bool str_is(const msgpack_object *o, const char *text)
{
	size_t n = strlen(text);

	return o->type == MSGPACK_OBJECT_STR && o->via.str.size == n &&
	       memcmp(o->via.str.ptr, text, n) == 0;
}

const msgpack_object *msd_map_find(const msgpack_object *map, const char *key)
{
	if (map->type != MSGPACK_OBJECT_MAP)
		return NULL;
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		if (str_is(&map->via.map.ptr[i].key, key))
			return &map->via.map.ptr[i].val;
	}
	return NULL;
}

static msd_err fail_unknown(const msgpack_object *key, const char *what,
			    const char *const *known, struct msd_diag *d)
{
	struct msd_buf list = {0};

	for (size_t i = 0; known[i] != NULL; i++)
		msd_buf_printf(&list, "%s%s", i > 0 ? ", " : "", known[i]);
	/* Keys of a scanned map are UTF-8; long ones are cut in the message. */
	(void)msd_diag_set(d, MSD_UNKNOWN_OPTION,
			   "%s: \"%.*s\" is unknown; known: %.*s", what,
			   key->via.str.size < 64 ? (int)key->via.str.size : 64,
			   key->via.str.ptr, list.bad ? 0 : (int)list.n,
			   list.p != NULL ? (const char *)list.p : "none");
	msd_buf_finish(&list);
	return MSD_UNKNOWN_OPTION;
}

msd_err msd_map_check(const msgpack_object *map, const char *what,
		      const char *const *known, struct msd_diag *d)
{
	if (map->type != MSGPACK_OBJECT_MAP)
		return fail_type(map, what, "a map", d);
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object *key = &map->via.map.ptr[i].key;
		size_t k = 0;

		if (key->type != MSGPACK_OBJECT_STR)
			return fail_type(key, what, "a str as key", d);
		while (known[k] != NULL && !str_is(key, known[k]))
			k++;
		if (known[k] == NULL)
			return fail_unknown(key, what, known, d);
	}
	return MSD_OK;
}

msd_err msd_map_uint(const msgpack_object *map, const char *key, uint64_t max,
		     uint64_t *ret, struct msd_diag *d)
{
	const msgpack_object *o = msd_map_find(map, key);

	return o != NULL ? msd_object_uint(o, key, max, ret, d) : MSD_OK;
}

msd_err msd_map_bool(const msgpack_object *map, const char *key, bool *ret,
		     struct msd_diag *d)
{
	const msgpack_object *o = msd_map_find(map, key);

	return o != NULL ? msd_object_bool(o, key, ret, d) : MSD_OK;
}

msd_err msd_map_str(const msgpack_object *map, const char *key, struct msd_span *ret,
		    struct msd_diag *d)
{
	const msgpack_object *o = msd_map_find(map, key);

	return o != NULL ? msd_object_str(o, key, ret, d) : MSD_OK;
}
