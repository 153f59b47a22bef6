#include <criterion/criterion.h>
#include <string.h>

#include "artifact/gpu/code.h"
#include "artifact/json.h"
#include "tests/artifact/gpu_writer.h"
#include "tests/artifact/mangle.h"

static struct msd_gpu_code read_good(struct msd_span code)
{
	struct msd_gpu_code ret = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_gpu_code_read(code, &ret, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	return ret;
}

static void expect_arch(const struct msd_gpu_image *image, const char *expected)
{
	char buf[MSD_GPU_ARCH_MAX];

	cr_expect_str_eq(msd_gpu_arch_format(image, buf), expected);
}

static void expect_error(struct msd_span code, msd_err err, const char *text)
{
	struct msd_gpu_code ret = {0};
	struct msd_diag d = {0};

	cr_expect_eq(msd_gpu_code_read(code, &ret, &d), err);
	cr_expect(strstr(msd_diag_text(&d), text) != NULL, "\"%s\" is not in \"%s\"",
		  text, msd_diag_text(&d));
	cr_expect_null(ret.images);
	msd_diag_finish(&d);
}

Test(gpu_code, ptx_says_version_target_and_kernels)
{
	struct msd_gpu_code code = read_good(msd_span_of(gw_ptx));
	const struct msd_gpu_image *image = code.images;

	cr_assert_eq(code.n_images, 1);
	cr_assert_eq(image->n_kernels, 2);
	cr_expect_eq(image->kind, MSD_GPU_PTX);
	cr_expect_eq(image->isa_major, 7);
	cr_expect_eq(image->isa_minor, 8);
	cr_expect_eq(image->address_bits, 64);
	expect_arch(image, "compute_80");
	const struct msd_gpu_kernel *k = image->kernels;
	cr_expect_str_eq(k->name, "k");
	cr_expect_str_eq(k->params, "u64, b8[16], u32");
	cr_expect_eq(k->n_params, 3);
	cr_expect_eq(k->shared_bytes, 512 + 2 * 8 * 16);
	cr_expect(k->has_dynamic_shared);
	cr_expect_eq(k->local_bytes, 24);
	cr_expect(k->is_exact);
	cr_expect_eq(k->max_threads[0], 32);
	cr_expect_eq(k->max_threads[1], 4);
	cr_expect_eq(k->max_threads[2], 1);
	cr_expect_str_eq(k[1].params, "");
	cr_expect_eq(k[1].shared_bytes, 0);
	cr_expect(!k[1].has_dynamic_shared);
	msd_gpu_code_finish(&code);
}

Test(gpu_code, ptx_that_ends_within_a_kernel_is_damaged)
{
	expect_error(msd_span_of(".version 7.0\n.entry k()\n{ ret;"), MSD_BAD_ARTIFACT,
		     "ends within kernel k");
	expect_error(msd_span_of(".version 7.0\n.entry"), MSD_BAD_ARTIFACT,
		     "without a name");
	expect_error(msd_span_of("int main() {}"), MSD_BAD_ARTIFACT, "no .version");
}

Test(gpu_code, a_cubin_of_each_layout_says_its_architecture)
{
	static const char *const expected[] = {"sm_70", "sm_70a", "sm_90", "sm_90a"};

	for (unsigned i = 0; i < 4; i++) {
		struct bw b = {0};
		gw_cubin(&b, (enum gw_layout)i);
		struct msd_gpu_code code = read_good(bw_span(&b));
		bw_free(&b);
		expect_arch(code.images, expected[i]);
		cr_assert_eq(code.images->n_kernels, 1);
		const struct msd_gpu_kernel *k = code.images->kernels;
		cr_expect_str_eq(k->name, "k");
		cr_expect_eq(k->registers, 24);
		cr_expect_eq(k->shared_bytes, 256, "%s has %lld", expected[i],
			     (long long)k->shared_bytes);
		cr_expect_eq(k->local_bytes, 40);
		cr_expect_eq(k->const_bytes, 368);
		cr_expect_eq(k->param_bytes, 16);
		cr_expect_eq(k->n_params, 2);
		cr_expect_eq(k->param_sizes[0], 8);
		cr_expect_eq(k->param_sizes[1], 8);
		cr_expect_eq(k->param_sizes[2], 0);
		cr_expect_eq(k->max_threads[0], 128);
		cr_expect(!k->is_exact);
		msd_gpu_code_finish(&code);
	}
}

Test(gpu_code, a_fatbin_lists_its_members)
{
	struct bw b = {0};

	gw_fatbin(&b);
	struct msd_gpu_code code = read_good(bw_span(&b));
	bw_free(&b);
	cr_assert_eq(code.n_images, 3);
	expect_arch(&code.images[0], "sm_70");
	expect_arch(&code.images[1], "compute_80");
	expect_arch(&code.images[2], "compute_100a");
	cr_expect_eq(code.images[0].n_kernels, 1);
	cr_expect_eq(code.images[1].n_kernels, 2);
	cr_expect_str_eq(code.images[2].compression, "zstd");
	cr_expect_eq(code.images[2].isa_major, 8);
	msd_gpu_code_finish(&code);
}

Test(gpu_code, devices_take_what_drivers_take)
{
	static const struct {
		struct msd_gpu_image image;
		uint32_t device;
		bool runs;
	} rows[] = {
		{{.kind = MSD_GPU_PTX, .arch = {80, 0}}, 90, true},
		{{.kind = MSD_GPU_PTX, .arch = {90, 0}}, 90, true},
		{{.kind = MSD_GPU_PTX, .arch = {90, 0}}, 89, false},
		{{.kind = MSD_GPU_PTX, .arch = {90, 'a'}}, 90, true},
		{{.kind = MSD_GPU_PTX, .arch = {90, 'a'}}, 100, false},
		{{.kind = MSD_GPU_PTX, .arch = {100, 'f'}}, 103, true},
		{{.kind = MSD_GPU_PTX, .arch = {100, 'f'}}, 120, false},
		{{.kind = MSD_GPU_CUBIN, .arch = {80, 0}}, 86, true},
		{{.kind = MSD_GPU_CUBIN, .arch = {86, 0}}, 80, false},
		{{.kind = MSD_GPU_CUBIN, .arch = {80, 0}}, 90, false},
		{{.kind = MSD_GPU_CUBIN, .arch = {90, 'a'}}, 90, true},
		{{.kind = MSD_GPU_CUBIN, .arch = {0, 0}}, 90, false},
		{{.kind = MSD_GPU_OTHER, .arch = {90, 0}}, 90, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_expect_eq(msd_gpu_image_runs_on(&rows[i].image, rows[i].device),
			     rows[i].runs, "row %zu", i);
	}
}

static bool reads(struct msd_span code, void *ctx)
{
	struct msd_gpu_code ret = {0};
	struct msd_buf text = {0};

	(void)ctx;
	if (msd_gpu_code_read(code, &ret, NULL) != MSD_OK)
		return false;
	msd_gpu_code_text(&ret, 2, &text);
	msd_json_put(&text, msd_gpu_code_json(&ret), JSON_COMPACT);
	msd_buf_finish(&text);
	msd_gpu_code_finish(&ret);
	return true;
}

Test(gpu_code, prefixes_and_flipped_bytes_do_no_harm)
{
	struct bw b[3] = {{0}};

	gw_cubin(&b[0], GW_OLD);
	gw_cubin(&b[1], GW_NEW_A);
	gw_fatbin(&b[2]);
	for (size_t i = 0; i < 3; i++) {
		/* A cubin's table of sections stands last, a fatbin says its size. */
		cr_expect_eq(mangle_prefixes(bw_span(&b[i]), reads, NULL), 0);
		cr_expect(mangle_flips(bw_span(&b[i]), reads, NULL));
		bw_free(&b[i]);
	}
	(void)mangle_prefixes(msd_span_of(gw_ptx), reads, NULL);
	cr_expect(mangle_flips(msd_span_of(gw_ptx), reads, NULL));
}

Test(gpu_code, a_fatbin_has_a_limit_of_members)
{
	struct bw b = {0};

	bw_u32(&b, 0xBA55ED50u);
	bw_u16(&b, 1);
	bw_u16(&b, 16);
	bw_u64(&b, 65 * 64);
	for (int i = 0; i < 65; i++) {
		uint8_t member[64] = {1, 0, 1, 1, 64};
		bw_raw(&b, member, sizeof(member));
	}
	expect_error(bw_span(&b), MSD_UNSUPPORTED, "more than 64 members");
	bw_free(&b);
}

Test(gpu_code, text_and_json_say_the_same)
{
	struct bw b = {0};
	struct msd_buf text = {0};
	struct msd_buf json = {0};

	gw_cubin(&b, GW_NEW_A);
	struct msd_gpu_code code = read_good(bw_span(&b));
	msd_gpu_code_text(&code, 0, &text);
	msd_json_put(&json, msd_gpu_code_json(&code), JSON_COMPACT);
	msd_buf_put_u8(&text, '\0');
	msd_buf_put_u8(&json, '\0');
	cr_expect(strstr((char *)text.p, "cubin for sm_90a, 64-bit, ") != NULL);
	cr_expect(strstr((char *)text.p,
			 "  k: 24 registers, 256 B shared, 40 B local, 368 B constant, "
			 "16 B parameters, at most 128x1x1 threads\n") != NULL,
		  "%s", (char *)text.p);
	cr_expect(strstr((char *)json.p,
			 "{\"name\":\"k\",\"n_params\":2,\"param_bytes\":16,"
			 "\"registers\":24,\"shared_bytes\":256,\"local_bytes\":40,"
			 "\"const_bytes\":368,\"max_threads\":[128,1,1],"
			 "\"exact_threads\":false}") != NULL,
		  "%s", (char *)json.p);
	msd_buf_finish(&text);
	msd_buf_finish(&json);
	msd_gpu_code_finish(&code);
	bw_free(&b);
}
