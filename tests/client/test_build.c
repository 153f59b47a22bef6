/* Blobs in libraries, as the system's compiler and loader see them. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/build/build.h"
#include "client/cli/cli.h"
#include "client/cli/values/file.h"

#define SYMBOL "__tvm_ffi__library_bin"

/* What verbs.c has, and hints choose from. */
const struct msd_verb msd_verbs[] = {{0}};

static const uint8_t blob[100] = {1, 2, 3, [99] = 4};

static void temporary(char path[static 64])
{
	(void)snprintf(path, 64, "/tmp/msd-build-XXXXXX.so");
	int fd = mkstemps(path, 3);

	cr_assert_geq(fd, 0);
	(void)close(fd);
}

/* Whether the library at @path has a section called @name. */
static bool has_section(const char *path, const char *name)
{
	struct msd_buf file = {0};

	cr_assert_eq(msd_file_read(path, &file, NULL), MSD_OK);
	bool found = memmem(file.p, file.n, name, strlen(name) + 1) != NULL;
	msd_buf_finish(&file);
	return found;
}

static void expect_built(size_t large_bytes, bool is_large)
{
	const struct msd_build b = {.era = MSD_ERA_FFI,
				    .prefix = "p_",
				    .blob = {blob, sizeof(blob)},
				    .large_bytes = large_bytes};
	struct msd_diag d = {0};
	char path[64];

	temporary(path);
	cr_assert_eq(msd_build_library(&b, path, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_expect_eq(has_section(path, ".lrodata"), is_large);
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(lib, "%s", dlerror());
	const void *at = dlsym(lib, "p_" SYMBOL);
	cr_assert_not_null(at);
	cr_expect_arr_eq(at, blob, sizeof(blob));
	(void)dlclose(lib);
	(void)unlink(path);
}

Test(build, a_blob_lies_behind_its_symbol)
{
	expect_built(0, false);
}

#ifdef __x86_64__
Test(build, a_large_blob_lies_in_a_large_section)
{
	expect_built(sizeof(blob) - 1, true);
}
#endif

/* The same as C source, which any compiler takes. */
Test(build, large_source_names_the_section)
{
	const struct msd_build b = {.era = MSD_ERA_CLASSIC,
				    .prefix = "",
				    .blob = {blob, sizeof(blob)},
				    .large_bytes = 10};
	struct msd_buf text = {0};

	cr_assert_eq(msd_build_source(&b, &text, NULL), MSD_OK);
	msd_buf_put_u8(&text, 0);
	cr_expect_not_null(strstr((char *)text.p, "section(\".lrodata\")"));
	cr_expect_not_null(strstr((char *)text.p, "__tvm_dev_mblob[100]"));
	msd_buf_finish(&text);
}
