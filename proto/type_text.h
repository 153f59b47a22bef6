#ifndef MSD_PROTO_TYPE_TEXT_H
#define MSD_PROTO_TYPE_TEXT_H
/* Shapes and tensor types as text: "[2, 3]"; "Tensor([n, 4], float32)", where n is an
 * unknown extent. */
#include "proto/base/bytes.h"
#include "proto/dtype.h"

/** Append "[2, 3]", with @between instead of ", ". */
void msd_shape_put(struct msd_buf *out, const int64_t *dim, uint32_t ndim,
		   const char *between);
/**
 * Parse the whole @text, "[2, 3]". Spaces are allowed between numbers; '?' is -1 if
 * @has_open. False: another form, or more than MSD_MAX_NDIM; @shape is undefined.
 */
bool msd_shape_parse(struct msd_span text, bool has_open,
		     int64_t shape[static MSD_MAX_NDIM], uint32_t *ret_ndim);

/**
 * Append "Tensor([n, 4], float32)". An extent below 0 is its entry in @names, or '?'
 * (@names and its entries may be NULL). An @ndim below 0 is "...", no @dtype '?'.
 */
void msd_tensor_type_put(struct msd_buf *out, const int64_t *shape, int32_t ndim,
			 char *const *names, const struct msd_dtype *dtype);

/* A type as its parts, borrowed. */
struct msd_tensor_type {
	struct msd_span extents; /* between the brackets; p is NULL: unknown rank */
	struct msd_span dtype;   /* empty: unknown */
};

/** Split @type, "Tensor" or "Tensor(...)". False: it is not a tensor's. */
bool msd_tensor_type_split(struct msd_span type, struct msd_tensor_type *ret);
/** Take the bytes before the next @stop outside of brackets, or all; without spaces
 * around them. */
struct msd_span msd_type_item(struct msd_span *in, char stop);
/** @s without spaces around it. */
struct msd_span msd_type_trim(struct msd_span s);
/** Number of comma-separated items in @list. */
uint32_t msd_type_items(struct msd_span list);
/** Strip @head and @tail. False, and @s unchanged, if they are missing. */
bool msd_type_unwrap(struct msd_span *s, const char *head, const char *tail);
/** The number in @item; -1: unknown, such as a name. */
int64_t msd_extent_parse(struct msd_span item);

#endif
