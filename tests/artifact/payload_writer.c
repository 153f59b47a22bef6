#include "tests/artifact/payload_writer.h"

#include <stdio.h>

static const char *const one_name[] = {"p0", NULL};

static void put_dtype(struct bw *b, uint8_t code, uint8_t bits)
{
	bw_u8(b, code);
	bw_u8(b, bits);
	bw_u16(b, 1);
}

void pw_tensor(struct bw *b)
{
	static const float data[] = {0, 1, 2, 3, 4, 5};

	bw_tensor(b, 2, 32, (const uint64_t[]){2, 3}, 2, data, sizeof(data));
}

void pw_kernels(struct bw *b, bool extra)
{
	static const char *const tags[] = {"blockIdx.x", NULL};

	bw_u64(b, 1);
	bw_str(b, "k");
	bw_str(b, ""); /* FunctionInfo.name is empty in classic files */
	bw_u64(b, 2);
	put_dtype(b, 3, 64);
	put_dtype(b, 0, 32);
	bw_strs(b, tags);
	if (extra) {
		bw_u64(b, 2);
		bw_u32(b, 1);
		bw_u32(b, 0);
	}
}

void pw_device(struct bw *b, const char *format, const char *code, bool extra)
{
	bw_str(b, format);
	pw_kernels(b, extra);
	bw_str(b, code);
}

static void put_texts(struct bw *b)
{
	bw_u64(b, 1);
	bw_str(b, "k");
	bw_str(b, "kernel void k() {}");
}

void pw_metal_013(struct bw *b, bool extra)
{
	bw_str(b, "0.1.0");
	put_texts(b);
	pw_kernels(b, extra);
	bw_str(b, "metal");
}

void pw_metal_024(struct bw *b)
{
	bw_str(b, "metal");
	pw_kernels(b, true);
	put_texts(b);
}

void pw_vulkan(struct bw *b, bool extra)
{
	bw_str(b, "vulkan");
	pw_kernels(b, extra);
	bw_u64(b, 1);
	bw_str(b, "k");
	bw_u32(b, 0);
	bw_u64(b, 2); /* words of SPIR-V */
	bw_u32(b, 0x07230203);
	bw_u32(b, 0);
}

void pw_webgpu(struct bw *b, bool extra)
{
	pw_kernels(b, extra);
	put_texts(b);
}

static void put_params(struct bw *b)
{
	bw_u64(b, 1);
	bw_strs(b, one_name);
	pw_tensor(b);
}

void pw_graph_factory(struct bw *b)
{
	bw_str(b, "{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]}],"
		  "\"arg_nodes\":[0],\"heads\":[[0,0,0]],\"node_row_ptr\":[0,1],"
		  "\"attrs\":{\"dltype\":[\"list_str\",[\"float32\"]],"
		  "\"storage_id\":[\"list_int\",[0]],"
		  "\"shape\":[\"list_shape\",[[2,3]]]}}");
	pw_aot_factory(b);
}

void pw_aot_factory(struct bw *b)
{
	put_params(b);
	bw_str(b, "default");
}

void pw_const_loader(struct bw *b)
{
	static const char *const symbols[] = {"f", NULL};

	bw_strs(b, one_name);
	bw_u64(b, 1);
	pw_tensor(b);
	bw_strs(b, symbols);
	bw_u64(b, 1);
	bw_strs(b, one_name);
}

void pw_json_runtime(struct bw *b)
{
	bw_str(b, "dnnl_0");
	bw_str(b, "{}");
	bw_strs(b, one_name);
}

void pw_ethos_n(struct bw *b, bool has_sizes)
{
	bw_u64(b, 1);
	bw_str(b, "net");
	bw_str(b, "compiled");
	for (int side = 0; side < 2; side++) {
		bw_u64(b, 1);
		bw_u32(b, 0);
		if (has_sizes)
			bw_u32(b, 4096);
	}
}

void pw_vitis(struct bw *b)
{
	bw_str(b, "xmodel");
	bw_str(b, "/tmp/export");
	bw_str(b, "vai_0");
	bw_strs(b, one_name);
}

void pw_static_library(struct bw *b)
{
	bw_str(b, "\x7f"
		  "ELF");
	bw_strs(b, one_name);
}

void pw_c_source(struct bw *b)
{
	bw_str(b, "int f;");
	bw_str(b, "c");
	bw_strs(b, one_name);
	bw_u64(b, 0);
}

void pw_symbol_code(struct bw *b, bool has_graph)
{
	bw_str(b, "sub_0");
	if (has_graph)
		bw_str(b, "{}");
	bw_str(b, "code");
}

void pw_relay_vm(struct bw *b, int minor)
{
	static const char *const names[] = {"main", NULL};
	struct bw code = {0};
	char version[16];

	(void)snprintf(version, sizeof(version), "0.%d.0", minor);
	bw_u64(&code, 0xD225DE2F4214151Dull);
	bw_str(&code, version);
	if (minor >= 9) {
		bw_u64(&code, 1); /* devices */
		bw_u32(&code, 1);
		bw_u32(&code, 0);
		if (minor >= 14)
			bw_str(&code, "global");
		bw_u32(&code, 0); /* the host's index */
	}
	bw_strs(&code, names);
	bw_u64(&code, 1); /* constants */
	if (minor >= 9)
		bw_u32(&code, 0);
	pw_tensor(&code);
	bw_u64(&code, 1);
	bw_u64(&code, minor >= 9 ? 0 : 1); /* a device's index, before its type */
	bw_strs(&code, one_name);
	bw_u64(&code, 0); /* attributes */
	bw_u64(&code, 0); /* functions */
	bw_str_of(b, &code);
	bw_free(&code);
}
