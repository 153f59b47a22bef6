#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "artifact/gpu/device_blob.h"
#include "artifact/kind/kinds.h"
#include "artifact/kind/payload.h"
#include "artifact/params/tensor_blob.h"
#include "tests/artifact/mangle.h"
#include "tests/artifact/payload_writer.h"

/* All facts of a payload as "key: value" lines; @payload is freed. */
static void expect_facts(const char *kind, struct bw *payload, enum msd_era era,
			 const char *expected)
{
	struct msd_payload_info info = {0};
	struct msd_buf text = {0};

	cr_assert_eq(msd_payload_describe(msd_span_of(kind), bw_span(payload), era,
					  &info, NULL),
		     MSD_OK);
	for (size_t i = 0; i < info.n_facts; i++) {
		msd_buf_printf(&text, "%s: %s\n", info.facts[i].key,
			       info.facts[i].value);
	}
	msd_buf_put_u8(&text, '\0');
	cr_expect_str_eq((char *)text.p, expected, "%s gives \"%s\"", kind,
			 (char *)text.p);
	msd_buf_finish(&text);
	msd_payload_info_finish(&info);
	bw_free(payload);
}

/* The first of two rows would hide the second. */
Test(payload, a_kind_has_one_row)
{
#define ROW(kind, title, format, look, params, run) kind,
	static const char *const kinds[] = {MSD_KIND_MAP(ROW)};
#undef ROW

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct msd_payload_kind *row =
			msd_payload_kind_find(msd_span_of(kinds[i]));

		cr_assert_not_null(row, "%s", kinds[i]);
		cr_expect_str_eq(row->kind, kinds[i]);
		for (size_t k = 0; k < i; k++)
			cr_expect_str_neq(kinds[k], kinds[i]);
	}
}

#define KERNEL "kernel: k(handle, int32) over blockIdx.x\n"

Test(payload, device_code_is_described)
{
	struct bw classic = {0};
	struct bw ffi = {0};

	pw_device(&classic, "ptx", ".version 7.0", false);
	expect_facts("cuda", &classic, MSD_ERA_CLASSIC,
		     "format: ptx\ncode: 12 bytes\n" KERNEL);
	pw_device(&ffi, "cubin", "\x50\xed\x55\xba", true);
	expect_facts("cuda", &ffi, MSD_ERA_FFI,
		     "format: cubin\ncode: 4 bytes, a fatbin\n" KERNEL);
}

Test(payload, metal_is_read_in_every_layout)
{
	struct bw old = {0};
	struct bw middle = {0};
	struct bw framed = {0};
	struct bw late = {0};

	pw_device(&old, "metal", "kernel", false);
	expect_facts("metal", &old, MSD_ERA_CLASSIC,
		     "format: metal\n" KERNEL "code: 6 bytes\n");
	pw_metal_013(&middle, false);
	expect_facts("metal", &middle, MSD_ERA_CLASSIC,
		     "version: 0.1.0\nsources: 1\n" KERNEL "format: metal\n");
	pw_metal_013(&framed, true);
	expect_facts("metal", &framed, MSD_ERA_FFI,
		     "version: 0.1.0\nsources: 1\n" KERNEL "format: metal\n");
	pw_metal_024(&late);
	expect_facts("metal", &late, MSD_ERA_FFI,
		     "format: metal\n" KERNEL "sources: 1\n");
}

Test(payload, shaders_are_described)
{
	struct bw vulkan = {0};
	struct bw webgpu = {0};

	pw_vulkan(&vulkan, true);
	expect_facts("vulkan", &vulkan, MSD_ERA_FFI,
		     "format: vulkan\n" KERNEL "shaders: 1\n");
	pw_webgpu(&webgpu, true);
	expect_facts("webgpu", &webgpu, MSD_ERA_FFI, KERNEL "sources: 1\n");
}

Test(payload, executors_are_described)
{
	struct bw graph = {0};
	struct bw aot = {0};
	struct bw consts = {0};

	pw_graph_factory(&graph);
	expect_facts("GraphExecutorFactory", &graph, MSD_ERA_CLASSIC,
		     "graph: 208 bytes\nparameter names: p0\n"
		     "parameters: 1 (24 bytes)\nmodel: default\n");
	pw_aot_factory(&aot);
	expect_facts("AotExecutorFactory", &aot, MSD_ERA_CLASSIC,
		     "parameter names: p0\nparameters: 1 (24 bytes)\nmodel: default\n");
	pw_const_loader(&consts);
	expect_facts("const_loader", &consts, MSD_ERA_FFI,
		     "constant names: p0\nconstants: 1 (24 bytes)\nsymbols: f\n");
}

Test(payload, relay_programs_of_every_layout_are_described)
{
	static const int minors[] = {8, 9, 14};
	static const char *const versions[] = {"0.8.0", "0.9.0", "0.14.0"};

	for (size_t i = 0; i < 3; i++) {
		struct bw vm = {0};
		char expected[128];

		pw_relay_vm(&vm, minors[i]);
		(void)snprintf(
			expected, sizeof(expected),
			"version: %s\nfunctions: main\nconstants: 1%s\nneeds: p0\n",
			versions[i], i == 0 ? " (24 bytes)" : "");
		expect_facts("VMExecutable", &vm, MSD_ERA_CLASSIC, expected);
	}
}

Test(payload, both_layouts_of_ethos_n_are_told_apart)
{
	struct bw old = {0};
	struct bw late = {0};

	pw_ethos_n(&old, false);
	expect_facts("ethos-n", &old, MSD_ERA_CLASSIC, "networks: 1\n");
	pw_ethos_n(&late, true);
	expect_facts("ethos-n", &late, MSD_ERA_CLASSIC, "networks: 1\n");
}

Test(payload, a_damaged_payload_is_a_fact)
{
	struct bw cut = {0};
	struct bw long_one = {0};

	pw_aot_factory(&cut);
	cut.n--;
	expect_facts("AotExecutorFactory", &cut, MSD_ERA_CLASSIC,
		     "parameter names: p0\nparameters: 1 (24 bytes)\n"
		     "damaged: truncated payload (model)\n");
	pw_json_runtime(&long_one);
	bw_u8(&long_one, 0);
	expect_facts("dnnl_json", &long_one, MSD_ERA_CLASSIC,
		     "symbol: dnnl_0\ngraph: 2 bytes\nconstant names: p0\n"
		     "damaged: 1 bytes are left after the payload\n");
}

Test(payload, an_unknown_kind_has_no_facts)
{
	struct bw any = {0};

	bw_str(&any, "?");
	expect_facts("never_heard_of", &any, MSD_ERA_FFI, "");
}

Test(payload, names_from_the_file_are_made_printable)
{
	struct msd_payload_info info = {0};

	cr_assert(msd_payload_info_add(&info, "k", "a\n%sb\xff\xc3\xa9", "\x1b"));
	cr_expect_str_eq(info.facts[0].value, "a\\x0a\\x1bb\\xff\xc3\xa9");
	msd_payload_info_finish(&info);
}

Test(device_blob, a_kernel_is_known_by_its_key)
{
	struct msd_device_blob blob = {0};
	struct bw b = {0};

	pw_device(&b, "ptx", "//", true);
	struct msd_cur c = msd_cur_of(bw_span(&b));
	cr_assert_eq(msd_device_blob_read(&c, MSD_ERA_FFI, &blob, NULL), MSD_OK);
	cr_assert_eq(blob.n_kernels, 1);
	cr_expect(msd_span_is(blob.kernels[0].name, "k"));
	cr_expect_eq(blob.kernels[0].extra[0], 1);
	cr_expect_eq(blob.kernels[0].extra[1], 0);
	cr_expect(msd_span_is(blob.code, "//"));
	cr_expect(msd_cur_end(&c));
	msd_device_blob_finish(&blob);
	bw_free(&b);
}

Test(device_blob, opencl_without_a_format_is_unsupported)
{
	struct msd_device_blob blob = {0};
	struct bw b = {0};
	struct msd_diag d = {0};

	pw_kernels(&b, false); /* the SPIR-V variant starts with the map */
	struct msd_cur c = msd_cur_of(bw_span(&b));
	cr_expect_eq(msd_device_blob_read(&c, MSD_ERA_CLASSIC, &blob, &d),
		     MSD_UNSUPPORTED);
	cr_expect(strstr(msd_diag_text(&d), "SPIR-V") != NULL);
	msd_diag_finish(&d);
	bw_free(&b);
}

static bool reads_tensor(struct msd_span bytes, void *ctx)
{
	struct msd_cur c = msd_cur_of(bytes);

	return msd_tensor_blob_read(&c, ctx, NULL) == MSD_OK;
}

Test(tensor_blob, every_prefix_is_refused)
{
	struct msd_tensor_blob t;
	struct bw b = {0};

	pw_tensor(&b);
	cr_expect_eq(mangle_prefixes(bw_span(&b), reads_tensor, &t), 0);
	cr_expect(mangle_flips(bw_span(&b), reads_tensor, &t));
	bw_free(&b);
}

Test(tensor_blob, gives_dtype_shape_and_data)
{
	struct msd_tensor_blob t;
	struct bw b = {0};

	pw_tensor(&b);
	cr_assert(reads_tensor(bw_span(&b), &t));
	cr_expect(msd_dtype_eq(t.dtype, (struct msd_dtype){MSD_DT_FLOAT, 32, 1}));
	cr_expect_eq(t.ndim, 2);
	cr_expect_eq(t.shape[1], 3);
	cr_expect_eq(t.data.n, 24);
	bw_free(&b);
}

/* The golden tensor with one 64-bit field replaced. */
static bool reads_with(size_t at, uint64_t value)
{
	struct msd_tensor_blob t;
	struct bw b = {0};

	pw_tensor(&b);
	for (size_t i = 0; i < 8; i++)
		b.p[at + i] = (uint8_t)(value >> (8 * i));
	bool ok = reads_tensor(bw_span(&b), &t);
	bw_free(&b);
	return ok;
}

Test(tensor_blob, a_size_that_does_not_follow_from_the_shape_is_refused)
{
	cr_expect(reads_with(32, 2)); /* as it was */
	cr_expect(!reads_with(32, 3));
	cr_expect(!reads_with(32, (uint64_t)-2));
	cr_expect(!reads_with(32, (uint64_t)1 << 62));
	cr_expect(!reads_with(48, 23));
	cr_expect(!reads_with(48, UINT64_MAX));
}
