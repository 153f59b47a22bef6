#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/device/cache.h"

static char directory[64];

static void setup(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/modserd-cache-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(setenv("MODSERD_CACHE", directory, 1), 0);
}

/* Path of the only entry; "" when there is none. */
static const char *entry(void)
{
	static char path[512];
	struct dirent *e;
	DIR *d = opendir(directory);

	path[0] = '\0';
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.') {
			(void)snprintf(path, sizeof(path), "%s/%s", directory,
				       e->d_name);
		}
	}
	if (d != NULL)
		(void)closedir(d);
	return path;
}

static void teardown(void)
{
	if (entry()[0] != '\0')
		(void)unlink(entry());
	(void)rmdir(directory);
}
TestSuite(cache, .init = setup, .fini = teardown);

static struct msd_cache_key key_of(const char *source, const char *driver)
{
	return (struct msd_cache_key){
		.kind = "test",
		.parts = {msd_span_of(source), msd_span_of(driver)},
		.n_parts = 2};
}

static bool holds(const struct msd_cache_key *key, const char *text)
{
	struct msd_buf b = {0};
	bool ok = msd_cache_get(key, &b) &&
		  msd_span_is((struct msd_span){b.p, b.n}, text);

	msd_buf_finish(&b);
	return ok;
}

Test(cache, what_was_put_comes_back)
{
	const struct msd_cache_key key = key_of("source", "driver 1");

	cr_expect_not(holds(&key, "binary"));
	msd_cache_put(&key, msd_span_of("binary"));
	cr_expect(holds(&key, "binary"));
	msd_cache_put(&key, msd_span_of("newer"));
	cr_expect(holds(&key, "newer"));
	msd_cache_drop(&key);
	cr_expect_not(holds(&key, "newer"));
}

Test(cache, every_part_of_the_key_counts)
{
	const struct msd_cache_key key = key_of("source", "driver 1");
	const struct msd_cache_key other = key_of("source", "driver 2");
	const struct msd_cache_key shifted = key_of("sourced", "river 1");

	msd_cache_put(&key, msd_span_of("binary"));
	cr_expect_not(holds(&other, "binary"));
	cr_expect_not(holds(&shifted, "binary"));
}

Test(cache, an_entry_of_another_key_under_its_name_is_not_taken)
{
	const struct msd_cache_key key = key_of("source", "driver 1");
	const struct msd_cache_key other = key_of("source", "driver 2");
	char from[512], to[512];

	msd_cache_put(&key, msd_span_of("binary"));
	(void)snprintf(from, sizeof(from), "%s", entry());
	msd_cache_drop(&key);
	msd_cache_put(&other, msd_span_of("binary"));
	(void)snprintf(to, sizeof(to), "%s", entry());
	cr_assert_eq(rename(to, from), 0);
	cr_expect_not(holds(&key, "binary"));
}

Test(cache, a_cut_or_changed_entry_is_none)
{
	const struct msd_cache_key key = key_of("source", "driver 1");
	char bytes[512];

	msd_cache_put(&key, msd_span_of("binary"));
	FILE *f = fopen(entry(), "r+");
	cr_assert_not_null(f);
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	(void)fclose(f);
	for (size_t cut = 0; cut < n; cut++) {
		cr_assert_eq(truncate(entry(), (off_t)cut), 0);
		cr_expect_not(holds(&key, "binary"));
		f = fopen(entry(), "w");
		bytes[cut] ^= 1;
		cr_assert_eq(fwrite(bytes, 1, n, f), n);
		bytes[cut] ^= 1;
		(void)fclose(f);
		cr_expect_not(holds(&key, "binary"));
	}
}

Test(cache, without_a_place_nothing_is_kept)
{
	const struct msd_cache_key key = key_of("source", "driver 1");

	(void)unsetenv("MODSERD_CACHE");
	(void)unsetenv("XDG_CACHE_HOME");
	(void)unsetenv("HOME");
	msd_cache_put(&key, msd_span_of("binary"));
	cr_expect_not(holds(&key, "binary"));
}

Test(cache, its_directory_is_made_for_the_user_alone)
{
	const struct msd_cache_key key = key_of("source", "driver 1");
	char path[600];
	struct stat st;

	(void)unsetenv("MODSERD_CACHE");
	(void)setenv("XDG_CACHE_HOME", directory, 1);
	msd_cache_put(&key, msd_span_of("binary"));
	cr_expect(holds(&key, "binary"));
	msd_cache_drop(&key);
	(void)snprintf(path, sizeof(path), "%s/modserd", directory);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 077, 0u);
	(void)rmdir(path);
}

/* What a directory has, hidden files as well. */
static size_t files_in(const char *path)
{
	struct dirent *e;
	DIR *d = opendir(path);
	size_t n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d != NULL)
		(void)closedir(d);
	return n;
}

Test(cache, a_full_disk_leaves_nothing_behind)
{
	const struct msd_cache_key key = key_of("source", "driver 1");
	const struct rlimit limit = {.rlim_cur = 40, .rlim_max = RLIM_INFINITY};

	cr_assert_neq(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	msd_cache_put(&key, msd_span_of("binary"));
	cr_expect_eq(files_in(directory), 0u);
	cr_expect_not(holds(&key, "binary"));
}

Test(cache, an_entry_that_another_user_owns_is_not_taken)
{
	const struct msd_cache_key key = key_of("source", "driver 1");

	msd_cache_put(&key, msd_span_of("binary"));
	if (chown(entry(), 12345, (gid_t)-1) != 0)
		return; /* not root: nobody can make such a file either */
	cr_expect_not(holds(&key, "binary"));
	msd_cache_put(&key, msd_span_of("another"));
	cr_expect(holds(&key, "another"));
}

/* Entries of 1 MiB each: three of them are over the limit that is set. */
static void fill(struct msd_cache_key *keys, const char *const *names, size_t n)
{
	static uint8_t bytes[1 << 20];

	cr_assert_eq(setenv("MODSERD_CACHE_LIMIT", "2200K", 1), 0);
	for (size_t i = 0; i < n; i++) {
		keys[i] = key_of(names[i], "driver");
		msd_cache_put(&keys[i], (struct msd_span){bytes, sizeof(bytes)});
	}
}

static bool is_there(const struct msd_cache_key *key)
{
	struct msd_buf b = {0};
	const bool yes = msd_cache_get(key, &b);

	msd_buf_finish(&b);
	return yes;
}

Test(cache, the_least_recently_used_goes_when_the_limit_is_passed)
{
	static const char *const names[] = {"first", "second", "third"};
	struct msd_cache_key keys[3];

	fill(keys, names, 2);
	cr_expect(is_there(&keys[0])); /* used after the second */
	fill(&keys[2], &names[2], 1);
	cr_expect(is_there(&keys[2]));
	cr_expect(is_there(&keys[0]));
	cr_expect_not(is_there(&keys[1]));
	for (size_t i = 0; i < 3; i++)
		msd_cache_drop(&keys[i]);
}
