#ifndef MSD_PROTO_UNPACK_H
#define MSD_PROTO_UNPACK_H
/*
 * Scanned msgpack as a tree, built by msgpack-c, with typed access: for params,
 * options and results of methods. The bytes must have passed msd_body_read() or
 * msd_scan_object(). (The arguments of a call are read with msd_value_read(), which
 * needs no tree.)
 */
#include <msgpack/object.h>
#include <msgpack/zone.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/value.h"

/* Memory of a tree, reused by the next one; use one per connection or thread. Zero is
 * empty. */
struct msd_unpack {
	msgpack_zone zone;
	msgpack_object root;
	bool has_zone;
};

void msd_unpack_finish(struct msd_unpack *u); /* NULL is allowed */
/**
 * Build the tree of one scanned object. *@ret is valid until @u is used again or
 * finished; its strings borrow from @object's bytes. Errors: MSD_NOMEM,
 * MSD_BAD_REQUEST if @object is not one object.
 */
MSD_MUST_CHECK msd_err msd_unpack(struct msd_unpack *u, struct msd_span object,
				  const msgpack_object **ret, struct msd_diag *d);

/**
 * Check that @params is an array of @min to @max elements. @method appears in the
 * text. This function and all below fail with MSD_BAD_REQUEST unless documented
 * otherwise.
 */
MSD_MUST_CHECK msd_err msd_params_check(const msgpack_object *params,
					const char *method, uint32_t min, uint32_t max,
					struct msd_diag *d);

/* Typed reading of one object; @what names it in the text. *ret is set on success only.
 */
MSD_MUST_CHECK msd_err msd_object_uint(const msgpack_object *o, const char *what,
				       uint64_t max, uint64_t *ret, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_object_bool(const msgpack_object *o, const char *what,
				       bool *ret, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_object_str(const msgpack_object *o, const char *what,
				      struct msd_span *ret, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_object_bin(const msgpack_object *o, const char *what,
				      struct msd_span *ret, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_object_handle(const msgpack_object *o, const char *what,
					 enum msd_ext type, struct msd_handle *ret,
					 struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_object_tensor(const msgpack_object *o, const char *what,
					 struct msd_wire_tensor *ret,
					 struct msd_diag *d);

/** The value of @key, NULL if @map is not a map or lacks it. */
const msgpack_object *msd_map_find(const msgpack_object *map, const char *key);
/**
 * Check that @map is a map whose keys are all in @known (NULL-terminated). Errors:
 * MSD_UNKNOWN_OPTION, naming the key and the known keys; MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_map_check(const msgpack_object *map, const char *what,
				     const char *const *known, struct msd_diag *d);
/* As msd_object_*, for the value of @key; if the key is absent, *ret is unchanged. */
MSD_MUST_CHECK msd_err msd_map_uint(const msgpack_object *map, const char *key,
				    uint64_t max, uint64_t *ret, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_map_bool(const msgpack_object *map, const char *key,
				    bool *ret, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_map_str(const msgpack_object *map, const char *key,
				   struct msd_span *ret, struct msd_diag *d);

#endif
