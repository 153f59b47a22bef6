#include "runtime/abi/typed.h"

#include <stdio.h>
#include <string.h>

#include "runtime/value/error.h"

#define SMALL_MAX 7u /* capacity of a small value in bytes, including the NUL */
#define KIND_MAX 128u

/* A string object has a byte array after its header; an error object begins with two
 * of them. */
struct error {
	struct msd_obj obj;
	struct msd_typed_bytes kind;
	struct msd_typed_bytes message;
};

static const struct msd_typed_info object = {.type = MSD_T_OBJECT,
					     .key = {"ffi.Object", 10}};
static const struct msd_typed_info *const below_object[] = {&object};

#define NAME(text)                                                                     \
	{                                                                              \
		(text), sizeof(text) - 1                                               \
	}
#define VALUE(index, name)                                                             \
	{                                                                              \
		.type = (index), .key = NAME(name)                                     \
	}
#define OBJECT(index, name)                                                            \
	{                                                                              \
		.type = (index), .depth = 1, .key = NAME(name),                        \
		.ancestors = below_object                                              \
	}

static const struct msd_typed_info infos[] = {
	VALUE(MSD_T_NONE, "None"),
	VALUE(MSD_T_INT, "int"),
	VALUE(MSD_T_BOOL, "bool"),
	VALUE(MSD_T_FLOAT, "float"),
	VALUE(MSD_T_POINTER, "void*"),
	VALUE(MSD_T_DTYPE, "DataType"),
	VALUE(MSD_T_DEVICE, "Device"),
	VALUE(MSD_T_DLTENSOR, "DLTensor*"),
	VALUE(MSD_T_RAW_STR, "const char*"),
	VALUE(MSD_T_BYTE_ARRAY, "TVMFFIByteArray*"),
	VALUE(MSD_T_SMALL_STR, "ffi.SmallStr"),
	VALUE(MSD_T_SMALL_BYTES, "ffi.SmallBytes"),
	OBJECT(MSD_T_STR, "ffi.String"),
	OBJECT(MSD_T_BYTES, "ffi.Bytes"),
	OBJECT(MSD_T_FUNCTION, "ffi.Function"),
	OBJECT(MSD_T_SHAPE, "ffi.Shape"),
	OBJECT(MSD_T_TENSOR, "ffi.Tensor"),
	OBJECT(MSD_T_ARRAY, "ffi.Array"),
	OBJECT(MSD_T_MODULE, "ffi.Module"),
};

int msd_typed_str(const struct msd_typed_bytes *in, bool is_text, struct msd_any *ret)
{
	struct msd_any small = {.type = is_text ? MSD_T_SMALL_STR : MSD_T_SMALL_BYTES,
				.small = (uint32_t)in->size};

	if (in->size <= SMALL_MAX) {
		if (in->size > 0)
			memcpy(small.as.bytes, in->data, in->size);
		*ret = small;
		return 0;
	}
	struct msd_str *s =
		msd_str_new(in->data, in->size, is_text ? MSD_T_STR : MSD_T_BYTES);
	if (s == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(&s->obj);
	return 0;
}

void msd_typed_raise(const void *error)
{
	const struct error *e = error;
	char kind[KIND_MAX];

	(void)snprintf(kind, sizeof(kind), "%.*s",
		       (int)(e->kind.size < KIND_MAX ? e->kind.size : KIND_MAX),
		       e->kind.data);
	(void)msd_abi_raise_bytes(
		kind,
		(struct msd_span){(const uint8_t *)e->message.data, e->message.size});
}

const struct msd_typed_info *msd_typed_info(int32_t type)
{
	static const struct msd_typed_info unknown = VALUE(-1, "?");

	if (type == MSD_T_OBJECT)
		return &object;
	for (size_t i = 0; i < sizeof(infos) / sizeof(*infos); i++) {
		if (infos[i].type == type)
			return &infos[i];
	}
	return &unknown;
}

const struct msd_typed_bytes *msd_typed_backtrace(void)
{
	static const struct msd_typed_bytes nothing = {"", 0};

	return &nothing;
}
