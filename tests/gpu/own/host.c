/* Host functions that launch the kernels of kernels.cu with what TVM's compilers ask
 * for by tags: clusters, cooperative and dependent launches, dynamic shared memory,
 * tensor maps. They follow the ABI of tvm-ffi, as the C that TVM 0.27 generates does.
 */
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#define EXPORT __attribute__((visibility("default")))
#define SIGNATURE_OF(text) "Expected other arguments when calling:\n  `" text "`"
#define TILE 16

EXPORT void *__tvm_ffi__library_ctx;

/* What a function is called with: tensors of float32 on a device first. */
struct call {
	const DLTensor *t[2];
	int64_t n; /* elements of the last tensor */
	int64_t size;
};

static const DLTensor *tensor_of(const TVMFFIAny *v)
{
	if (v->type_index == kTVMFFIDLTensorPtr)
		return v->v_ptr;
	/* The object's header comes first. */
	return v->type_index == kTVMFFITensor
		       ? (const DLTensor *)((const char *)v->v_obj + 24)
		       : NULL;
}

static int call_read(struct call *c, const TVMFFIAny *args, int32_t n, int n_tensors,
		     int n_ints, const char *expected)
{
	int is_right = n == n_tensors + n_ints;

	for (int i = 0; is_right && i < n_tensors; i++) {
		c->t[i] = tensor_of(&args[i]);
		is_right = c->t[i] != NULL && c->t[i]->dtype.code == 2 &&
			   c->t[i]->dtype.bits == 32 && c->t[i]->ndim > 0;
	}
	if (is_right && n_ints > 0) {
		is_right = args[n_tensors].type_index == kTVMFFIInt;
		c->size = args[n_tensors].v_int64;
	}
	if (!is_right) {
		TVMFFIErrorSetRaisedFromCStr("TypeError", expected);
		return -1;
	}
	c->n = 1;
	for (int i = 0; i < c->t[n_tensors - 1]->ndim; i++)
		c->n *= c->t[n_tensors - 1]->shape[i];
	return 0;
}

static TVMFFIAny integer(int64_t v)
{
	return (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = v};
}

static TVMFFIAny pointer(void *p)
{
	return (TVMFFIAny){.type_index = kTVMFFIOpaquePtr, .v_ptr = p};
}

static TVMFFIAny data_of(const DLTensor *t)
{
	return pointer((char *)t->data + t->byte_offset);
}

/* By name, from the code beside this or from the runtime. */
static int ask(const char *name, TVMFFIAny *args, int32_t n)
{
	TVMFFIAny ret = {.type_index = kTVMFFINone};
	void *function = NULL;

	if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, name, &function) != 0)
		return -1;
	return TVMFFIFunctionCall(function, args, n, &ret);
}

/* As generated code begins. */
static int enter(const struct call *c)
{
	TVMFFIAny device[] = {integer(c->t[0]->device.device_type),
			      integer(c->t[0]->device.device_id)};

	return ask("__tvm_set_device", device, 2);
}

#define BEGIN(n_tensors, n_ints, text)                                                 \
	struct call c = {{0}, 0, 0};                                                   \
	(void)self, (void)ret;                                                         \
	if (call_read(&c, args, n, n_tensors, n_ints, SIGNATURE_OF(text)) != 0 ||      \
	    enter(&c) != 0)                                                            \
	return -1
#define FUNCTION(name)                                                                 \
	EXPORT int __tvm_ffi_##name(void *self, const TVMFFIAny *args, int32_t n,      \
				    TVMFFIAny *ret)

/* Each block writes its rank in its cluster, and a hundred times the cluster's size. */
FUNCTION(cluster)
{
	BEGIN(1, 1, "cluster(out: Tensor([n], float32), size: int32)");
	TVMFFIAny given[] = {data_of(c.t[0]), integer(c.n), integer(32),
			     integer(c.size)};

	return ask("own_cluster", given, 4);
}

/* Each block waits until all have come, and writes how many have. */
FUNCTION(barrier)
{
	BEGIN(1, 0, "barrier(out: Tensor([n], float32))");
	TVMFFIAny given[] = {data_of(c.t[0]), integer(c.n), integer(c.n), integer(32)};

	return ask("__tvm_prepare_global_barrier", NULL, 0) != 0
		       ? -1
		       : ask("own_barrier", given, 4);
}

/* (a + 1) * 2, by two kernels, the second of which may begin before the first ends. */
FUNCTION(chain)
{
	BEGIN(2, 0, "chain(a: Tensor([n], float32), out: Tensor([n], float32))");
	const int64_t blocks = (c.n + 127) / 128;
	TVMFFIAny first[] = {data_of(c.t[0]), data_of(c.t[1]), integer(c.n),
			     integer(blocks), integer(128)};
	TVMFFIAny second[] = {data_of(c.t[1]), integer(c.n), integer(blocks),
			      integer(128)};

	return ask("own_first", first, 5) != 0 ? -1 : ask("own_second", second, 4);
}

/* All n floats lie in shared memory once, and come out in reverse. */
FUNCTION(shared)
{
	BEGIN(1, 0, "shared(out: Tensor([n], float32))");
	TVMFFIAny given[] = {data_of(c.t[0]), integer(c.n), integer(1), integer(256),
			     integer(c.n * 4)};

	return ask("own_shared", given, 5);
}

/* A copy, tile by tile through a tensor map. */
FUNCTION(tiles)
{
	BEGIN(2, 0, "tiles(a: Tensor([m, n], float32), out: Tensor([m, n], float32))");
	_Alignas(64) char map[128];
	const int64_t rows = c.t[0]->shape[0];
	const int64_t columns = c.t[0]->ndim == 2 ? c.t[0]->shape[1] : 1;
	TVMFFIAny how[] = {
		pointer(map),     {.type_index = kTVMFFIRawStr, .v_c_str = "float32"},
		integer(2),       data_of(c.t[0]),
		integer(columns), /* the innermost first */
		integer(rows),    integer(columns * 4),
		integer(TILE),    integer(TILE),
		integer(1),       integer(1),
		integer(0),       integer(0),
		integer(0),       integer(0),
	};

	if (ask("runtime.cuTensorMapEncodeTiled", how, 15) != 0)
		return -1;
	TVMFFIAny given[] = {pointer(map),         data_of(c.t[1]),
			     integer(columns),     integer(columns / TILE),
			     integer(rows / TILE), integer(TILE),
			     integer(TILE)};
	return ask("own_tiles", given, 7);
}

static int fault(const char *kernel, const struct call *c)
{
	TVMFFIAny given[] = {data_of(c->t[0]), integer(1), integer(1)};

	return ask(kernel, given, 3);
}

/* assert() on the device. */
FUNCTION(asserts)
{
	BEGIN(1, 0, "asserts(out: Tensor([n], float32))");
	return fault("own_asserts", &c);
}

/* A store far beyond the block's shared memory. */
FUNCTION(outside)
{
	BEGIN(1, 0, "outside(out: Tensor([n], float32))");
	return fault("own_outside", &c);
}
