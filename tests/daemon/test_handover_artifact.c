#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/supervisor/module/handover/handover_artifact.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static struct msd_list all = {&all, &all};

static int memory(int seals)
{
	const int fd = memfd_create("artifact", MFD_ALLOW_SEALING);

	cr_assert_eq(write(fd, "bytes", 5), 5);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static bool put(const char *name, int fd)
{
	return msd_handover_artifact_put(&all, msd_span_of(name), fd);
}

static int take(uint64_t bytes)
{
	struct msd_digest digest;

	cr_assert(msd_digest_parse(msd_span_of(KEY), &digest));
	return msd_handover_artifact_find(&all, &digest, bytes);
}

Test(warm_artifact, a_sealed_one_is_taken_by_its_digest_and_once)
{
	cr_assert(put("modserd-artifact." KEY, memory(SEALS)));
	const int fd = take(5);
	cr_assert_geq(fd, 0);
	(void)close(fd);
	cr_expect_eq(take(5), -1);
}

Test(warm_artifact, one_of_another_size_is_not_taken)
{
	cr_assert(put("modserd-artifact." KEY, memory(SEALS)));
	cr_expect_eq(take(6), -1);
	msd_handover_artifacts_clear(&all);
	cr_expect(msd_list_is_empty(&all));
}

Test(warm_artifact, what_could_still_change_is_none)
{
	static const int less[] = {0, F_SEAL_WRITE, F_SEAL_WRITE | F_SEAL_GROW,
				   F_SEAL_SHRINK | F_SEAL_GROW};

	for (size_t i = 0; i < sizeof(less) / sizeof(less[0]); i++)
		cr_expect_not(put("modserd-artifact." KEY, memory(less[i])));
	int ends[2];
	cr_assert_eq(pipe(ends), 0);
	cr_expect_not(put("modserd-artifact." KEY, ends[0]));
}

Test(warm_artifact, a_name_without_a_digest_is_none)
{
	static const char *const wrong[] = {
		"modserd-artifact.", "modserd-artifact.0123",
		"modserd-artifact." KEY "0", "modserd-worker." KEY,
		"modserd-artifact.sha256:" KEY};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_not(put(wrong[i], memory(SEALS)), "%s", wrong[i]);
}
