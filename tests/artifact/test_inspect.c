#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact/inspect/inspect.h"
#include "tests/artifact/blob_writer.h"
#include "tests/artifact/elf_writer.h"
#include "tests/artifact/mangle.h"
#include "tests/support/exact.h"

/* The whole file, in a block of its exact size; the caller frees it. */
static struct bw read_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	cr_assert(fd >= 0 && fstat(fd, &st) == 0, "%s", path);
	uint8_t *p = malloc((size_t)st.st_size);
	cr_assert_eq(read(fd, p, (size_t)st.st_size), st.st_size);
	cr_assert_eq(close(fd), 0);
	return (struct bw){p, (size_t)st.st_size, (size_t)st.st_size};
}

/* Text and JSON of a library; both end in NUL, the caller finishes them. */
static void inspect(const char *path, struct msd_buf *text, struct msd_buf *json)
{
	struct bw file = read_file(path);
	struct msd_inspect *in = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(msd_inspect_read(bw_span(&file), MSD_ERA_UNSAID, &in, &d), MSD_OK,
		     "%s", msd_diag_text(&d));
	bw_free(&file); /* the result owns what it holds */
	msd_inspect_text(in, text);
	msd_inspect_json(in, json);
	msd_buf_put_u8(text, '\0');
	msd_buf_put_u8(json, '\0');
	cr_assert(!text->bad && !json->bad);
	msd_inspect_destroy(in);
}

static void expect_in(const char *path, const char *in_text, const char *in_json)
{
	struct msd_buf text = {0};
	struct msd_buf json = {0};

	inspect(path, &text, &json);
	cr_expect(strstr((char *)text.p, in_text) != NULL, "\"%s\" is not in:\n%s",
		  in_text, (char *)text.p);
	cr_expect(strstr((char *)json.p, in_json) != NULL, "\"%s\" is not in:\n%s",
		  in_json, (char *)json.p);
	msd_buf_finish(&text);
	msd_buf_finish(&json);
}

Test(inspect, tells_the_era_by_the_symbols)
{
	expect_in(LIBRARY_CLASSIC, "TVM 0.6-0.20 (classic)", "\"layout\":\"inline\"");
	expect_in(LIBRARY_FFI_021, "TVM 0.21 (first tvm-ffi)", "\"layout\":\"inline\"");
	expect_in(LIBRARY_FFI, "TVM 0.22-0.27 (tvm-ffi)", "\"layout\":\"framed\"");
	expect_in(LIBRARY_NONE, "no TVM library", "\"layout\":\"none\"");
}

Test(inspect, lists_functions_as_callers_name_them)
{
	expect_in(LIBRARY_CLASSIC, "functions  add\n", "\"functions\":[\"add\"]");
	expect_in(LIBRARY_FFI_021, "functions  add\n", "\"functions\":[\"add\"]");
	expect_in(LIBRARY_FFI, "functions  add, main\n",
		  "\"functions\":[\"add\",\"main\"]");
	expect_in(LIBRARY_NONE, "modules\n", "\"functions\":[]");
}

Test(inspect, lists_symbols_that_the_process_must_have)
{
	expect_in(LIBRARY_CLASSIC, "undefined  TVMFuncCall (modserd)",
		  "\"undefined\":[\"TVMFuncCall\"");
	expect_in(LIBRARY_FFI, "undefined  TVMFFIErrorSetRaisedFromCStrParts (modserd)",
		  "\"undefined\":[\"TVMFFIErrorSetRaisedFromCStrParts\"");
}

Test(inspect, draws_the_import_tree)
{
	expect_in(LIBRARY_FFI,
		  "      constants: 6 (24 bytes of tensors)\n"
		  "      instructions: 6\n"
		  "      function: main(x, y)\n"
		  "      function: helper(x)\n"
		  "      function: compiled(x), compiled\n"
		  "    [1] _lib, this library\n"
		  "      [2] cuda, CUDA kernels, ",
		  "{\"kind\":\"_lib\",\"what\":\"this library\",\"bytes\":0,"
		  "\"imports\":[2],\"facts\":[]}");
	expect_in(LIBRARY_CLASSIC, "[4] opencl, see above\n", "\"imports\":[2,3]");
}

static bool reads(struct msd_span file, void *ctx)
{
	struct msd_inspect *in = NULL;
	struct msd_buf text = {0};

	(void)ctx;
	if (msd_inspect_read(file, MSD_ERA_UNSAID, &in, NULL) != MSD_OK)
		return false;
	msd_inspect_text(in, &text);
	msd_inspect_json(in, &text);
	msd_buf_finish(&text);
	msd_inspect_destroy(in);
	return true;
}

Test(inspect, a_flipped_byte_does_no_harm)
{
	struct bw blob = {0};
	struct bw image = {0};
	struct blob_entry e = {.kind = "_lib"};
	struct ew_lib lib = {
		.machine = 62,
		.hash = EW_GNU,
		.syms = {{"__tvm_module_ctx", 'O'}, {"__tvm_dev_mblob", 'B'}},
		.blob = &blob};

	blob_inline(&blob, &e, 1, true);
	ew_write(&image, &lib);
	cr_assert(reads(bw_span(&image), NULL));
	cr_expect(mangle_flips(bw_span(&image), reads, NULL));
	bw_free(&image);
	bw_free(&blob);
}

Test(inspect, the_prefixes_of_a_real_library_are_refused_until_it_is_all_there)
{
	struct bw file = read_file(LIBRARY_FFI);

	for (size_t n = 0; n < file.n; n += 61) { /* section headers are not needed */
		uint8_t *copy = exact_copy(file.p, n);

		(void)reads((struct msd_span){copy, n}, NULL);
		free(copy);
	}
	cr_expect(!reads((struct msd_span){file.p, file.n / 2}, NULL));
	bw_free(&file);
}

Test(inspect, a_blob_larger_than_its_symbol_is_refused)
{
	struct bw blob = {0};
	struct bw image = {0};
	struct msd_inspect *in = NULL;
	struct msd_diag d = {0};
	struct ew_lib lib = {.machine = 62,
			     .syms = {{"__tvm_ffi__library_bin", 'B'}},
			     .blob = &blob};

	bw_u64(&blob, 1); /* one byte that is not there */
	ew_write(&image, &lib);
	bw_raw(&image, "more", 4);
	cr_expect_eq(msd_inspect_read(bw_span(&image), MSD_ERA_UNSAID, &in, &d),
		     MSD_BAD_ARTIFACT);
	cr_expect(strstr(msd_diag_text(&d), "__tvm_ffi__library_bin") != NULL);
	msd_diag_finish(&d);
	bw_free(&image);
	bw_free(&blob);
}

Test(inspect, the_tree_is_drawn)
{
	struct bw file = read_file(LIBRARY_FFI);
	struct msd_inspect *in = NULL;
	struct msd_buf out = {0};

	cr_assert_eq(msd_inspect_read(bw_span(&file), MSD_ERA_UNSAID, &in, NULL),
		     MSD_OK);
	msd_inspect_dot(in, &out);
	msd_buf_put_u8(&out, '\0');
	cr_expect(strstr((char *)out.p, "\tm0 -> m1;\n\tm1 -> m2;\n}\n") != NULL, "%s",
		  (char *)out.p);
	msd_buf_finish(&out);
	msd_inspect_destroy(in);
	bw_free(&file);
}

Test(inspect, programs_are_listed_and_their_absence_is_told)
{
	struct bw with = read_file(LIBRARY_FFI);
	struct bw without = read_file(LIBRARY_CLASSIC);
	struct msd_buf out = {0};

	cr_expect_eq(msd_inspect_programs(bw_span(&with), &out, NULL), MSD_OK);
	cr_expect_gt(out.n, 100);
	cr_expect_eq(msd_inspect_programs(bw_span(&without), &out, NULL),
		     MSD_UNSUPPORTED);
	msd_buf_finish(&out);
	bw_free(&with);
	bw_free(&without);
}

/* Texts as compiled code has them, behind the blob; @text may hold NULs. */
static void expect_signature(enum msd_era era, const char *text, size_t n,
			     const char *expected)
{
	struct bw image = {0};
	struct msd_inspect *in = NULL;
	struct ew_lib lib = {.machine = 62,
			     .syms = {{"__tvm_module_ctx", 'O'}, {"f", 'F'}}};

	if (era == MSD_ERA_FFI) {
		lib.syms[0].name = "__tvm_ffi__library_ctx";
		lib.syms[1].name = "__tvm_ffi_f";
	}
	ew_write(&image, &lib);
	bw_raw(&image, text, n);
	cr_assert_eq(msd_inspect_read(bw_span(&image), MSD_ERA_UNSAID, &in, NULL),
		     MSD_OK);
	cr_assert_eq(in->n_functions, 1);
	if (expected == NULL) {
		cr_expect_null(in->signatures[0], "%s", in->signatures[0]);
	} else {
		cr_expect_str_eq(in->signatures[0], expected);
	}
	msd_inspect_destroy(in);
	bw_free(&image);
}
#define EXPECT_SIGNATURE(era, text, expected)                                          \
	expect_signature(era, "\0" text, sizeof(text) + 1, expected)

Test(inspect, signatures_are_read_from_the_codes_texts)
{
	EXPECT_SIGNATURE(MSD_ERA_FFI, "f(A: Tensor([n], float32), k: int32)",
			 "f(A: Tensor([n], float32), k: int32)");
	EXPECT_SIGNATURE(MSD_ERA_FFI, "when calling:\n  `f(x)`", "f(x)");
	EXPECT_SIGNATURE(MSD_ERA_FFI, "f(x) is not all", NULL);
	EXPECT_SIGNATURE(MSD_ERA_FFI, "gf(x)", NULL);
	EXPECT_SIGNATURE(MSD_ERA_CLASSIC, "f(x)", NULL);
	EXPECT_SIGNATURE(MSD_ERA_CLASSIC,
			 "Assert fail: (num_args == 3), f: num_args should be 3\0"
			 "Assert fail: x, f: Expect arg[0] to be pointer\0"
			 "Assert fail: x, f: Expect arg[2] to be int",
			 "f(Tensor, ?, int)");
	EXPECT_SIGNATURE(MSD_ERA_CLASSIC, "f: num_args should be 99", NULL);
}

static const char *knows_expf(void *ctx, const char *symbol)
{
	(void)ctx;
	return strcmp(symbol, "expf") == 0 ? "libm.so.6" : NULL;
}

Test(inspect, who_provides_a_symbol_is_told)
{
	struct bw image = {0};
	struct msd_inspect *in = NULL;
	struct msd_buf text = {0};
	struct ew_lib lib = {.machine = 62,
			     .syms = {{"TVMFuncCall", 'U'},
				      {"expf", 'U'},
				      {"secret", 'U'},
				      {"__TVMUnheardOf", 'O'},
				      {"__TVMFuncCall", 'O'},
				      {"__tvm_module_ctx", 'O'}}};

	ew_write(&image, &lib);
	cr_assert_eq(msd_inspect_read(bw_span(&image), MSD_ERA_UNSAID, &in, NULL),
		     MSD_OK);
	cr_assert_eq(in->n_undefined, 3);
	cr_expect_str_eq(in->providers[0], "modserd");
	cr_expect_null(in->providers[1]);
	cr_assert_eq(in->n_unknown_slots, 1);
	cr_expect_str_eq(in->unknown_slots[0], "__TVMUnheardOf");
	cr_assert_eq(msd_inspect_resolve(in, knows_expf, NULL, NULL), MSD_OK);
	msd_inspect_text(in, &text);
	msd_buf_put_u8(&text, '\0');
	cr_expect(strstr((char *)text.p,
			 "undefined  TVMFuncCall (modserd), expf (libm.so.6), "
			 "secret (missing)\n"
			 "unknown    __TVMUnheardOf (missing)\n") != NULL,
		  "%s", (char *)text.p);
	msd_buf_finish(&text);
	msd_inspect_destroy(in);
	bw_free(&image);
}

Test(inspect, who_has_a_models_functions_is_told)
{
	struct bw file = read_file(LIBRARY_FFI);
	struct msd_inspect *in = NULL;
	char buf[MSD_PROVIDER_MAX];

	cr_assert_eq(msd_inspect_read(bw_span(&file), MSD_ERA_UNSAID, &in, NULL),
		     MSD_OK);
	cr_expect_str_eq(msd_inspect_provider(in, "add", buf), "this library");
	cr_expect_str_eq(msd_inspect_provider(in, "k", buf), "module 2 (cuda)");
	cr_expect_str_eq(msd_inspect_provider(in, "vm.builtin.copy", buf), "modserd");
	cr_expect_null(msd_inspect_provider(in, "vm.builtin.nothing", buf));
	msd_inspect_destroy(in);
	bw_free(&file);
}
