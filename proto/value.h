#ifndef MSD_PROTO_VALUE_H
#define MSD_PROTO_VALUE_H
/*
 * Packed-function values on the wire. Plain kinds are native msgpack (nil, bool, int,
 * float, str, bin; a tuple is an array). The other kinds are ext types with
 * fixed-width little-endian fields, so a forwarder can patch one in place without
 * re-encoding the body.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

enum msd_ext {
	MSD_EXT_TENSOR = 1, /* 32 bytes + 8 per dimension, see struct msd_wire_tensor */
	MSD_EXT_FUNCTION = 2,  /* handle, 8 bytes */
	MSD_EXT_MODULE = 3,    /* handle, 8 bytes */
	MSD_EXT_INSTANCE = 4,  /* handle, 8 bytes */
	MSD_EXT_UPLOAD = 5,    /* handle, 8 bytes */
	MSD_EXT_DTYPE = 6,     /* u8 code, u8 bits, u16 lanes */
	MSD_EXT_DEVICE = 7,    /* i32 type, i32 id */
	MSD_EXT_SHAPE = 8,     /* i64 per dimension, at most MSD_MAX_NDIM */
	MSD_EXT_RESULT_OF = 9, /* u64 id, u32 per step of a path: proto/result_of.h */
	MSD_EXT_OBJECT = 10,   /* handle, u8 MSD_OBJECT_*, type key */
	MSD_EXT_MAP = 11       /* no data: the array that begins with it is a map */
};

enum msd_kind {
	MSD_K_NIL,
	MSD_K_BOOL,
	MSD_K_INT,
	MSD_K_FLOAT,
	MSD_K_STR,
	MSD_K_BYTES,
	MSD_K_DTYPE,
	MSD_K_DEVICE,
	MSD_K_SHAPE,
	MSD_K_TENSOR,
	MSD_K_FUNCTION,
	MSD_K_MODULE,
	MSD_K_INSTANCE,
	MSD_K_UPLOAD,
	MSD_K_TUPLE,
	MSD_K_OBJECT,
	MSD_K_MAP,
	MSD_K_COUNT
};

/** "tensor", "int", ...: for error texts. Static. */
const char *msd_kind_name(enum msd_kind kind);

/*
 * Reference to an object of the server: slot and generation. A stale one gives an
 * error and never a wrong object. On the wire: u32 slot, u32 generation. Generation 0
 * is never valid.
 */
struct msd_handle {
	uint32_t slot;
	uint32_t generation;
};

/*
 * Ext data of an object, an opaque value that stays in the worker:
 *   +0 u32 slot  +4 u32 generation  +8 u8 flags  +9 the type key, UTF-8
 */
#define MSD_WIRE_OBJECT_BYTES 9u /* without the key */
#define MSD_OBJECT_IS_FUNCTION 1u

enum msd_where {
	MSD_AT_INLINE = 0,   /* offset: into this frame's payload */
	MSD_AT_SEGMENT = 1,  /* offset: into the shared segment `segment` */
	MSD_AT_RESIDENT = 2, /* handle: a tensor kept in the module's worker */
	/* No data yet: the callee fills a tensor of this dtype and shape, at `offset`
	 * of `segment` unless that is 0. */
	MSD_AT_OUT = 3,
};

/*
 * Ext data of a tensor, row-major and compact, byte for byte:
 *   +0 u8 where  +1 u8 code  +2 u8 bits  +3 u8 ndim  +4 u16 lanes  +6 u16 segment
 *   +8 i32 device_type  +12 i32 device_id  +16 u64 offset (or u32 slot, u32 generation)
 *   +24 u64 bytes  +32 i64 shape[ndim]
 * Offsets are multiples of MSD_TENSOR_ALIGN. device_type 0: the device that the call
 * runs on.
 */
#define MSD_WIRE_TENSOR_BYTES 32u /* without the shape */
struct msd_wire_tensor {
	enum msd_where where;
	struct msd_dtype dtype;
	struct msd_device device;
	uint16_t segment;
	uint64_t offset;          /* inline, segment, out in a segment */
	struct msd_handle handle; /* resident; shares its bytes with the offset */
	uint64_t bytes;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
};

/** Check that @t can be the element type of a tensor. */
MSD_MUST_CHECK msd_err msd_wire_dtype_check(struct msd_dtype t, struct msd_diag *d);

/**
 * Decode and check ext data: known `where`, ndim <= MSD_MAX_NDIM and matching the
 * ext's length, dimensions >= 0, bytes equal to the size by dtype and shape, offset
 * aligned.
 */
MSD_MUST_CHECK msd_err msd_wire_tensor_read(const uint8_t *data, size_t n,
					    struct msd_wire_tensor *ret,
					    struct msd_diag *d);
/** Encode into MSD_WIRE_TENSOR_BYTES + 8 * ndim bytes at @out; returns that number. */
size_t msd_wire_tensor_write(const struct msd_wire_tensor *t, uint8_t *out);
/** Change only the place in encoded ext data, as a forwarder does. */
void msd_wire_tensor_patch(uint8_t *data, enum msd_where where, uint16_t segment,
			   uint64_t offset);
/**
 * Read only the place of encoded ext data, unchecked. False if it is not in a
 * segment.
 */
bool msd_wire_tensor_in_segment(const uint8_t *data, uint16_t *ret_segment,
				uint64_t *ret_offset);
/** Copy segment and offset from @from into @data; both are encoded ext data. */
void msd_wire_tensor_move(uint8_t *data, const uint8_t *from);
struct msd_handle msd_handle_read(const uint8_t data[static 8]);
void msd_handle_write(struct msd_handle h, uint8_t out[static 8]);

/* One decoded value. Spans, shape and items borrow from the scanned bytes or from the
 * msgpack zone of the reader. */
struct msd_wire_value {
	enum msd_kind kind;
	union {
		bool b;
		int64_t i;
		double f;
		struct msd_span str; /* STR (UTF-8, no NUL at the end), BYTES */
		struct msd_dtype dtype;
		struct msd_device device;
		struct msd_handle handle;
		struct {
			uint32_t ndim;
			int64_t dim[MSD_MAX_NDIM];
		} shape;
		struct msd_span
			tensor; /* ext data; decode with msd_wire_tensor_read() */
		struct {
			uint32_t n;
			struct msd_span items; /* the elements, one after the other */
		} tuple; /* MAP: 2 n elements, each key before its value */
		struct {
			struct msd_handle handle; /* shares its bytes with as.handle */
			bool is_function;
			struct msd_span key; /* of its type; may be empty */
		} object;
	} as;
};

/**
 * Walk scanned bytes without msgpack-c. Open an array (or a map, with pairs): its
 * elements are returned in @ret, their number in @ret_n. Take the next whole object:
 * false at the end.
 */
MSD_MUST_CHECK bool msd_array_open(struct msd_span array, struct msd_cur *ret,
				   uint32_t *ret_n);
MSD_MUST_CHECK bool msd_map_open(struct msd_span map, struct msd_cur *ret,
				 uint32_t *ret_n);
MSD_MUST_CHECK bool msd_object_parse(struct msd_cur *c, struct msd_span *ret);
/** Read an array of exactly @n ints from 0 to 2^32-1. False: it is something else. */
MSD_MUST_CHECK bool msd_uints_read(struct msd_span array, uint32_t n, uint32_t *ret);
/** The value of @key in @map, empty if absent. */
struct msd_span msd_map_value(struct msd_span map, const char *key);

/**
 * Read the next value of scanned msgpack bytes at @c. No allocation, no recursion: a
 * tuple returns the span of its elements, to be read next. uint beyond int64 is
 * MSD_BAD_ARGUMENT. A map returns its keys and values in the same way.
 */
MSD_MUST_CHECK msd_err msd_value_read(struct msd_cur *c, struct msd_wire_value *ret,
				      struct msd_diag *d);

/* Writers: append one msgpack object to @out (built on msgpack-c's packer). */
void msd_pack_nil(struct msd_buf *out);
void msd_pack_bool(struct msd_buf *out, bool v);
void msd_pack_int(struct msd_buf *out, int64_t v);
void msd_pack_uint(struct msd_buf *out, uint64_t v);
/** Always nine bytes, so the value has the same offset in equal messages. */
void msd_pack_u64(struct msd_buf *out, uint64_t v);
void msd_pack_float(struct msd_buf *out, double v);
void msd_pack_str(struct msd_buf *out, const char *p, size_t n);
void msd_pack_cstr(struct msd_buf *out, const char *text);
/** A map key and its value. */
void msd_pack_pair_str(struct msd_buf *out, const char *key, const char *value);
void msd_pack_pair_uint(struct msd_buf *out, const char *key, uint64_t value);
/**
 * A str from bytes that may not be UTF-8: invalid bytes become '?'. For texts for
 * people.
 */
void msd_pack_text(struct msd_buf *out, const char *p, size_t n);
void msd_pack_bin(struct msd_buf *out, const void *p, size_t n);
void msd_pack_array(struct msd_buf *out, size_t n);
void msd_pack_map(struct msd_buf *out, size_t n);
void msd_pack_ext(struct msd_buf *out, enum msd_ext type, const void *p, size_t n);
void msd_pack_handle(struct msd_buf *out, enum msd_ext type, struct msd_handle h);
/** A key of more than MSD_MAX_TYPE_KEY_BYTES is cut; bytes that are not UTF-8 become
 * '?'. */
void msd_pack_object(struct msd_buf *out, struct msd_handle h, bool is_function,
		     struct msd_span key);
/** The head of a map value; then its @n keys and values, in turn. */
void msd_pack_map_value(struct msd_buf *out, size_t n);
void msd_pack_dtype(struct msd_buf *out, struct msd_dtype t);
void msd_pack_device(struct msd_buf *out, struct msd_device dev);
/* Shapes and tensors with more than MSD_MAX_NDIM dimensions make @out bad. */
void msd_pack_shape(struct msd_buf *out, const int64_t *dim, size_t ndim);
void msd_pack_tensor(struct msd_buf *out, const struct msd_wire_tensor *t);
/** [code, name, message, {}]; bytes of @text that are not UTF-8 become '?'. */
void msd_pack_error(struct msd_buf *out, msd_err err, const char *text);
/** The same from @d, with {retry_after_ms, hint, kind} as far as they are set. */
void msd_pack_diag(struct msd_buf *out, const struct msd_diag *d);

#endif
