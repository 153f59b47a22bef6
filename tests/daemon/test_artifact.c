#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/supervisor/edge/artifact.h"

static char paths[2][64];

/* Two files of the given texts. */
static void write_files(const char *first, const char *second)
{
	const char *const texts[] = {first, second};

	for (int i = 0; i < 2; i++) {
		(void)strcpy(paths[i], "/tmp/modserd-artifact-XXXXXX");
		int fd = mkstemp(paths[i]);
		size_t n = strlen(texts[i]);
		cr_assert(fd >= 0 && write(fd, texts[i], n) == (ssize_t)n);
		close(fd);
	}
}

static void remove_files(void)
{
	for (int i = 0; i < 2; i++) {
		if (paths[i][0] != '\0')
			(void)unlink(paths[i]);
	}
}

Test(artifact, has_all_its_bytes_reserved)
{
	struct stat st;
	int fd = -1;

	cr_assert_eq(msd_artifact_new(1 << 20, 1 << 20, &fd, NULL), MSD_OK);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_eq(st.st_size, 1 << 20);
	cr_expect_geq(st.st_blocks * 512, 1 << 20);
	close(fd);
}

Test(artifact, of_no_bytes_or_over_the_limit_is_refused)
{
	int fd = -1;

	cr_expect_eq(msd_artifact_new(0, 100, &fd, NULL), MSD_BAD_REQUEST);
	cr_expect_eq(msd_artifact_new(101, 100, &fd, NULL), MSD_TOO_LARGE);
	cr_expect_eq(fd, -1);
}

Test(artifact, that_is_sealed_cannot_be_written)
{
	int fd = -1;

	cr_assert_eq(msd_artifact_new(8, 100, &fd, NULL), MSD_OK);
	cr_assert_eq(pwrite(fd, "a", 1, 0), 1);
	cr_assert_eq(msd_artifact_seal(fd, NULL), MSD_OK);
	cr_expect_eq(pwrite(fd, "b", 1, 0), -1);
	cr_expect_eq(ftruncate(fd, 4), -1);
	close(fd);
}

Test(artifact, of_files_has_them_one_behind_the_other, .fini = remove_files)
{
	uint64_t bytes[MSD_ARTIFACT_FILES];
	char text[16] = {0};
	int fd = -1;

	write_files("library", "params");
	const char *const names[] = {paths[0], NULL, paths[1]};
	cr_assert_eq(msd_artifact_of_files(names, 100, &fd, bytes, NULL), MSD_OK);
	cr_expect(bytes[0] == 7 && bytes[1] == 0 && bytes[2] == 6);
	cr_assert_eq(pread(fd, text, sizeof(text), 0), 13);
	cr_expect_str_eq(text, "libraryparams");
	cr_expect_eq(pwrite(fd, "b", 1, 0), -1, "it is sealed");
	close(fd);
}

Test(artifact, of_files_names_the_one_that_cannot_be_read, .fini = remove_files)
{
	uint64_t bytes[MSD_ARTIFACT_FILES];
	struct msd_diag d = {0};
	int fd = -1;

	write_files("library", "");
	const char *names[] = {paths[0], paths[1], NULL};
	cr_expect_eq(msd_artifact_of_files(names, 100, &fd, bytes, &d),
		     MSD_BAD_ARTIFACT);
	cr_expect_not_null(strstr(msd_diag_text(&d), paths[1]));
	names[1] = "/nowhere/to/be/found";
	cr_expect_eq(msd_artifact_of_files(names, 100, &fd, bytes, &d), MSD_IO);
	cr_expect_not_null(strstr(msd_diag_text(&d), "/nowhere/to/be/found"));
	names[1] = "/tmp";
	cr_expect_eq(msd_artifact_of_files(names, 100, &fd, bytes, &d), MSD_IO);
	cr_expect_eq(fd, -1);
	msd_diag_finish(&d);
}
