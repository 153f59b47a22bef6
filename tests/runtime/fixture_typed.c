/* A library as C++ code becomes one by tvm-ffi's macros: functions that check their own
 * arguments, beside each a function that gives its types and one that gives a text. */
#include <string.h>

#include "fixture.h"

struct bytes {
	const char *data;
	size_t size;
};

struct info {
	int32_t type;
	int32_t depth;
	struct bytes key;
};

/* An error object, as far as it is read. */
struct error {
	uint64_t counts;
	int32_t type;
	uint32_t pad;
	void (*deleter)(void *self, int flags);
	struct bytes kind, message;
};

int TVMFFIStringFromByteArray(const struct bytes *in, struct any *ret);
void TVMFFIErrorSetRaised(void *error);
const struct info *TVMFFIGetTypeInfo(int32_t type);
const struct bytes *TVMFFIBacktrace(const char *file, int line, const char *function,
				    int crosses);

static int give(const char *text, struct any *ret)
{
	const struct bytes bytes = {text, strlen(text)};

	return TVMFFIStringFromByteArray(&bytes, ret);
}

/* Fails with a message that names the type of its first argument. */
int __tvm_ffi_greet(void *self, const struct any *args, int32_t n, struct any *ret)
{
	static char text[64];
	static struct error e = {
		.counts = 1 | (uint64_t)1 << 32, .type = 67, .kind = {"TypeError", 9}};
	const struct info *info = TVMFFIGetTypeInfo(n > 0 ? args[0].type : T_NONE);

	(void)self;
	(void)ret;
	strcpy(text, "got ");
	strncat(text, info->key.data, info->key.size);
	e.message = (struct bytes){text, strlen(text)};
	if (TVMFFIBacktrace(NULL, 0, NULL, 0)->size == 0)
		TVMFFIErrorSetRaised(&e);
	return -1;
}

#define METADATA(f, schema)                                                            \
	int __tvm_ffi__metadata_##f(void *self, const struct any *args, int32_t n,     \
				    struct any *ret)                                   \
	{                                                                              \
		(void)self, (void)args, (void)n;                                       \
		return give(schema, ret);                                              \
	}

METADATA(greet,
	 "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{"
	 "\\\"return\\\":[{\\\"type\\\":\\\"ffi.String\\\"}],\\\"params\\\":[{"
	 "\\\"type\\\":\\\"ffi.String\\\"},{\\\"type\\\":\\\"Optional\\\","
	 "\\\"args\\\":[{\\\"type\\\":\\\"int\\\"}]},{\\\"type\\\":\\\"DLTensor*"
	 "\\\"}]}}\"}")

int __tvm_ffi__doc_greet(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self, (void)args, (void)n;
	return give("Greets.\nTwice.", ret);
}

int __tvm_ffi_listed(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self, (void)args, (void)n, (void)ret;
	return 0;
}

METADATA(listed, "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"args\\\":[{"
		 "\\\"type\\\":\\\"None\\\"},{\\\"type\\\":\\\"float\\\"}]}\"}")

int __tvm_ffi_strange(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self, (void)args, (void)n, (void)ret;
	return 0;
}

METADATA(strange, "{\"type_schema\": [1, 2")
