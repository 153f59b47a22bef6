/*
 * replay_... TARGET FOLDER...: run a fuzz target of this program over the files of
 * folders: accept_* must be accepted, reject_* refused, any other name (a crash that a
 * fuzzer found) must only not crash. Each accept_* is also run cut at every byte and
 * with single bits flipped where a sanitizer looks (MSD_SANITIZED). Large ones are
 * sampled: at MODSERD_MUTATIONS places, MUTATIONS unless that says another number.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATIONS 1024u

/* The targets of this program, which cmake/MsdFuzz.cmake lists. */
#define ROW(name) int msd_fuzz_accepts_##name(const uint8_t *data, size_t n);
#include REPLAY_ROWS
#undef ROW

static const struct target {
	const char *name;
	int (*accepts)(const uint8_t *data, size_t n);
} targets[] = {
#define ROW(name) {#name, msd_fuzz_accepts_##name},
#include REPLAY_ROWS
#undef ROW
};

static const struct target *target; /* the one that is run */

struct file {
	uint8_t *p; /* owned, exactly @n bytes */
	size_t n;
};

static int read_file(const char *path, struct file *ret)
{
	FILE *f = fopen(path, "rb");
	long size;

	if (f == NULL)
		return -1;
	*ret = (struct file){0};
	if (fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 ||
	    fseek(f, 0, SEEK_SET) != 0)
		goto fail;
	ret->n = (size_t)size;
	ret->p = malloc(ret->n > 0 ? ret->n : 1);
	if (ret->p == NULL || fread(ret->p, 1, ret->n, f) != ret->n)
		goto fail;
	(void)fclose(f);
	return 0;
fail:
	free(ret->p);
	(void)fclose(f);
	return -1;
}

static void run_copy(const uint8_t *p, size_t n, size_t flip_bit)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, p, n);
	if (flip_bit / 8 < n)
		copy[flip_bit / 8] ^= (uint8_t)(1u << flip_bit % 8);
	(void)target->accepts(copy, n);
	free(copy);
}

static size_t places(void)
{
	const char *text = getenv("MODSERD_MUTATIONS");
	unsigned long n = text != NULL ? strtoul(text, NULL, 10) : MUTATIONS;

	if (n == 0)
		abort();
	return n;
}

static void mutate(const struct file *f)
{
	const size_t n_places = places();
	size_t cut_step = f->n / n_places + 1;
	size_t flip_step = 8 * f->n / n_places + 1;

	for (size_t n = 0; n < f->n; n += cut_step)
		run_copy(f->p, n, SIZE_MAX);
	for (size_t bit = 0; bit < 8 * f->n; bit += flip_step)
		run_copy(f->p, f->n, bit);
}

/* 0 when the file did what its name says. */
static int replay(const char *folder, const char *name)
{
	char path[4096];
	struct file f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >=
		    sizeof(path) ||
	    read_file(path, &f) != 0) {
		(void)fprintf(stderr, "%s/%s: %s\n", folder, name, strerror(errno));
		return 1;
	}
	int accepted = target->accepts(f.p, f.n) != 0;
	int must_accept = strncmp(name, "accept_", 7) == 0;
	int must_reject = strncmp(name, "reject_", 7) == 0;
	int bad = (must_accept && !accepted) || (must_reject && accepted);
	if (bad) {
		(void)fprintf(stderr, "%s: %s\n", path,
			      accepted ? "was accepted" : "was refused");
	}
	if (MSD_SANITIZED && must_accept)
		mutate(&f);
	free(f.p);
	return bad;
}

static int replay_folder(const char *folder, unsigned *n_files)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int bad = 0;

	if (dir == NULL) {
		(void)fprintf(stderr, "%s: %s\n", folder, strerror(errno));
		return 1;
	}
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		bad += replay(folder, e->d_name);
		++*n_files;
	}
	(void)closedir(dir);
	return bad;
}

int main(int argc, char **argv)
{
	unsigned n_files = 0;
	int bad = 0;

	for (size_t i = 0; argc > 1 && i < sizeof(targets) / sizeof(*targets); i++) {
		if (strcmp(argv[1], targets[i].name) == 0)
			target = &targets[i];
	}
	if (target == NULL) {
		(void)fprintf(stderr, "expected the name of a target, then folders\n");
		return 1;
	}
	for (int i = 2; i < argc; i++)
		bad += replay_folder(argv[i], &n_files);
	printf("%u files, %d of them wrong\n", n_files, bad);
	return bad != 0 || n_files == 0; /* an empty corpus proves nothing */
}
