#include "tests/artifact/fixture.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

struct bw fixture_read(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct bw b = {0};

	if (f == NULL || fseek(f, 0, SEEK_END) != 0)
		abort();
	b.n = b.cap = (size_t)ftell(f);
	b.p = malloc(b.n > 0 ? b.n : 1);
	rewind(f);
	if (b.p == NULL || fread(b.p, 1, b.n, f) != b.n)
		abort();
	(void)fclose(f);
	return b;
}

size_t fixture_each(const char *dir, const char *suffix, void (*each)(const char *path))
{
	const char *root = getenv("MODSERD_FIXTURES");
	char pattern[4096];
	glob_t found = {0};

	if (root == NULL)
		root = MSD_SOURCE_DIR "/../shared/fixtures";
	(void)snprintf(pattern, sizeof(pattern), "%s/%s/*%s", root, dir, suffix);
	(void)glob(pattern, 0, NULL, &found);
	(void)snprintf(pattern, sizeof(pattern), "%s/%s/*/*%s", root, dir, suffix);
	(void)glob(pattern, GLOB_APPEND, NULL, &found);
	size_t n = found.gl_pathc;
	for (size_t i = 0; i < n; i++)
		each(found.gl_pathv[i]);
	globfree(&found);
	if (n == 0) {
		printf("skipped: no %s files in the fixtures' folder %s\n", suffix,
		       dir);
	}
	return n;
}
