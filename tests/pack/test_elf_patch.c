/* Libraries with other bytes behind a symbol, as the system's loader sees them. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact/elf/elf.h"
#include "pack/elf_patch.h"
#include "tests/artifact/fixture.h"

#define SYMBOL "__tvm_dev_mblob"

/* The library calls it, and would have it from whoever loads it. */
int TVMFuncCall(void);
__attribute__((visibility("default"))) int TVMFuncCall(void)
{
	return 42;
}

static struct msd_buf patch(struct msd_span image, size_t n, uint8_t first)
{
	struct msd_buf ret = {0};
	struct msd_diag d = {0};
	uint8_t *bytes = malloc(n);

	cr_assert_not_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(first + i * 7);
	cr_assert_eq(
		msd_elf_patch(image, SYMBOL, (struct msd_span){bytes, n}, &ret, &d),
		MSD_OK, "%s", msd_diag_text(&d));
	free(bytes);
	return ret;
}

/* Load @file: its blob must be those bytes, and its code must still run. */
static void expect_loads(const struct msd_buf *file, size_t n, uint8_t first)
{
	char path[] = "/tmp/msd-patch-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, file->p, file->n), (ssize_t)file->n);
	void *lib = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	cr_assert_not_null(lib, "%s", dlerror());
	const uint8_t *blob = dlsym(lib, SYMBOL);
	cr_assert_not_null(blob);
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(blob[i], (uint8_t)(first + i * 7), "byte %zu", i);
	int (*add)(void);
	*(void **)&add = dlsym(lib, "add");
	cr_expect_eq(add(), 42);
	(void)dlclose(lib);
	(void)close(fd);
	(void)unlink(path);
}

static struct msd_buf patch_big(struct msd_span image, size_t n)
{
	static const uint8_t bytes[1 << 19] = {7, 8, 9};
	struct msd_buf ret = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_elf_patch(image, "big", (struct msd_span){bytes, n}, &ret, &d),
		     MSD_OK, "%s", msd_diag_text(&d));
	return ret;
}

/* The big symbol has its new bytes, and its neighbours their old ones. */
static void expect_neighbours(const struct msd_buf *file)
{
	char path[] = "/tmp/msd-patch-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, file->p, file->n), (ssize_t)file->n);
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(lib, "%s", dlerror());
	const uint8_t *big = dlsym(lib, "big");
	cr_assert_not_null(big);
	cr_expect_eq(big[2], 9);
	cr_expect_str_eq((const char *)dlsym(lib, "before_big"), "before");
	cr_expect_str_eq((const char *)dlsym(lib, "after_big"), "after");
	int (*add)(void);
	*(void **)&add = dlsym(lib, "add");
	cr_expect_eq(add(), 42);
	(void)dlclose(lib);
	(void)close(fd);
	(void)unlink(path);
}

Test(elf_patch, pages_that_nobody_needs_leave_the_file)
{
	struct bw file = fixture_read(LIBRARY_CLASSIC);
	struct msd_buf less = patch_big(bw_span(&file), 100);

	cr_expect_lt(less.n, file.n - 200000);
	expect_neighbours(&less);
	struct msd_buf more = patch_big((struct msd_span){less.p, less.n}, 1 << 19);
	expect_neighbours(&more);
	struct msd_buf again = patch_big((struct msd_span){more.p, more.n}, 100);
	cr_expect_eq(again.n, less.n);
	expect_neighbours(&again);
	struct msd_buf grown = patch_big(bw_span(&file), 1 << 19);
	cr_expect_lt(grown.n, file.n + (1 << 19) - 200000);
	expect_neighbours(&grown);
	msd_buf_finish(&less);
	msd_buf_finish(&more);
	msd_buf_finish(&again);
	msd_buf_finish(&grown);
	bw_free(&file);
}

static uint64_t room(const struct bw *file)
{
	struct msd_elf elf = {0};

	cr_assert_eq(msd_elf_read(bw_span(file), &elf, NULL), MSD_OK);
	uint64_t size = msd_elf_find(&elf, SYMBOL)->size;
	msd_elf_finish(&elf);
	return size;
}

Test(elf_patch, what_fits_is_written_in_place)
{
	struct bw file = fixture_read(LIBRARY_CLASSIC);
	struct msd_buf out = patch(bw_span(&file), room(&file), 1);

	cr_expect_eq(out.n, file.n);
	expect_loads(&out, room(&file), 1);
	msd_buf_finish(&out);
	bw_free(&file);
}

Test(elf_patch, what_does_not_fit_gets_a_segment)
{
	static const size_t more[] = {1, 4096, 1000000};
	struct bw file = fixture_read(LIBRARY_CLASSIC);

	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		size_t n = room(&file) + more[i];
		struct msd_buf out = patch(bw_span(&file), n, 2);

		expect_loads(&out, n, 2);
		msd_buf_finish(&out);
	}
	bw_free(&file);
}

Test(elf_patch, a_second_patch_takes_the_place_of_the_first)
{
	struct bw file = fixture_read(LIBRARY_CLASSIC);
	struct msd_buf once = patch(bw_span(&file), 100000, 3);
	struct msd_buf twice = patch((struct msd_span){once.p, once.n}, 200000, 4);

	cr_expect_eq(twice.n, once.n + 100000);
	expect_loads(&twice, 200000, 4);
	msd_buf_finish(&once);
	msd_buf_finish(&twice);
	bw_free(&file);
}

Test(elf_patch, a_missing_symbol_is_named)
{
	struct bw file = fixture_read(LIBRARY_CLASSIC);
	struct msd_buf out = {0};
	struct msd_diag d = {0};

	cr_expect_eq(
		msd_elf_patch(bw_span(&file), "absent", (struct msd_span){0}, &out, &d),
		MSD_NOT_FOUND);
	cr_expect(strstr(msd_diag_text(&d), "absent") != NULL);
	msd_buf_finish(&out);
	msd_diag_finish(&d);
	bw_free(&file);
}

/* The image may be damaged: then it is patched all the same, or refused with a reason.
 */
static void expect_patched_or_refused(struct msd_span image, const char *symbol)
{
	static const uint8_t bytes[100000];
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	msd_err err = msd_elf_patch(image, symbol,
				    (struct msd_span){bytes, sizeof(bytes)}, &out, &d);

	if (err == MSD_OK) {
		cr_expect_geq(out.n, sizeof(bytes));
	} else {
		cr_expect_gt(d.len, 0, "refused without a reason");
	}
	msd_buf_finish(&out);
	msd_diag_finish(&d);
}

Test(elf_patch, a_damaged_header_is_patched_or_refused_with_a_reason)
{
	struct bw file = fixture_read(LIBRARY_CLASSIC);

	for (size_t i = 0; i < 1024 && i < file.n; i++) {
		for (int value = 0; value < 3; value++) {
			uint8_t old = file.p[i];

			file.p[i] = (uint8_t)(value == 0   ? 0
					      : value == 1 ? 0xff
							   : old ^ 8);
			expect_patched_or_refused(bw_span(&file), SYMBOL);
			expect_patched_or_refused(bw_span(&file), "big");
			file.p[i] = old;
		}
	}
	bw_free(&file);
}
