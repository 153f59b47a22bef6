/*
 * Writes artifacts to files:
 *   write_artifact blob NAME FILE    a golden blob, for a library of the tests to embed
 *   write_artifact corpus DIR        the corpora of the fuzz targets, as they are
 * checked in
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "tests/artifact/blob_writer.h"
#include "tests/artifact/elf_writer.h"
#include "tests/artifact/gpu_writer.h"
#include "tests/artifact/mlf_writer.h"
#include "tests/artifact/relax_writer.h"

static int write_file(const char *path, const struct bw *b)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0) {
		perror(path);
		return 1;
	}
	return 0;
}

static int write_blob(const char *name, const char *path)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	int rc = 1;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(g[i].name, name) == 0)
			rc = write_file(path, &g[i].bytes);
	}
	golden_blobs_free(g, n);
	return rc;
}

/* A corpus file: the era that the target reads it as, then the bytes. */
static int write_with_era(const char *path, enum msd_era era, const struct bw *bytes)
{
	struct bw b = {0};

	bw_u8(&b, (uint8_t)era);
	bw_raw(&b, bytes->p, bytes->n);
	int rc = write_file(path, &b);
	bw_free(&b);
	return rc;
}

static int write_blobs(const char *dir)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	char path[512];
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/blob/accept_%s.bin", dir,
			       g[i].name);
		rc |= write_with_era(path, g[i].era, &g[i].bytes);
		/* The size prefix no longer tells the truth. */
		g[i].bytes.n--;
		(void)snprintf(path, sizeof(path), "%s/blob/reject_%s_short.bin", dir,
			       g[i].name);
		rc |= write_with_era(path, g[i].era, &g[i].bytes);
	}
	golden_blobs_free(g, n);
	return rc;
}

static int write_cycle(const char *dir)
{
	struct blob_entry e[] = {{.kind = "_lib", .imports = {1}, .n_imports = 1},
				 {.kind = "_lib", .imports = {0}, .n_imports = 1}};
	struct bw b = {0};
	char path[512];

	blob_inline(&b, e, 2, true);
	(void)snprintf(path, sizeof(path), "%s/blob/reject_cycle.bin", dir);
	int rc = write_with_era(path, MSD_ERA_CLASSIC, &b);
	bw_free(&b);
	return rc;
}

static int write_images(const char *dir)
{
	static const char *const names[] = {"classic", "021", "022"};
	static const enum msd_era eras[] = {MSD_ERA_CLASSIC, MSD_ERA_FFI_021,
					    MSD_ERA_FFI};
	char path[512];
	int rc = 0;

	for (enum rw_tags tags = RW_CLASSIC; tags <= RW_022; tags++) {
		for (int bad = 0; bad < 2; bad++) {
			struct rw_image program = rw_program(tags);
			struct bw image = {0};
			struct bw payload = {0};

			if (bad)
				program.words[13] = -3; /* jumps out of its function */
			rw_write(&image, &program);
			if (tags == RW_022) {
				bw_raw(&payload, image.p, image.n);
			} else {
				bw_str_of(&payload, &image);
			}
			(void)snprintf(path, sizeof(path), "%s/relax_image/%s_%s%s.bin",
				       dir, bad ? "reject" : "accept", names[tags],
				       bad ? "_wild_jump" : "");
			rc |= write_with_era(path, eras[tags], &payload);
			bw_free(&image);
			bw_free(&payload);
		}
	}
	return rc;
}

static int write_elfs(const char *dir)
{
	static const char *const names[] = {"sysv_hash", "gnu_hash", "sections_only"};
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	char path[512];
	int rc = 0;

	for (enum ew_hash hash = EW_SYSV; hash <= EW_SECTIONS_ONLY; hash++) {
		struct ew_lib lib = {
			.machine = EM_X86_64,
			.hash = hash,
			.needed = {"libm.so.6"},
			.syms = {{"TVMFFIErrorSetRaisedFromCStrParts", 'U'},
				 {"__tvm_ffi_add", 'F'},
				 {"__tvm_ffi__library_bin", 'B'}},
			.blob = &g[7].bytes, /* 022_relax */
		};
		struct bw b = {0};

		ew_write(&b, &lib);
		(void)snprintf(path, sizeof(path), "%s/elf/accept_%s.bin", dir,
			       names[hash]);
		rc |= write_file(path, &b);
		b.p[16] = ET_REL;
		(void)snprintf(path, sizeof(path), "%s/elf/reject_%s_object.bin", dir,
			       names[hash]);
		rc |= write_file(path, &b);
		bw_free(&b);
	}
	golden_blobs_free(g, n);
	return rc;
}

static int write_models(const char *dir)
{
	char path[512];
	int rc = 0;

	for (unsigned version = 1; version <= 7; version++) {
		struct bw w = mlf_full_model(version);

		(void)snprintf(path, sizeof(path), "%s/mlf/accept_%u.bin", dir,
			       version);
		rc |= write_file(path, &w);
		w.n -= 2048; /* the end marker, and some */
		(void)snprintf(path, sizeof(path), "%s/mlf/reject_%u_short.bin", dir,
			       version);
		rc |= write_file(path, &w);
		bw_free(&w);
	}
	struct bw w = mlf_operator(5);
	(void)snprintf(path, sizeof(path), "%s/mlf/accept_5_operator.bin", dir);
	rc |= write_file(path, &w);
	bw_free(&w);
	return rc;
}

static int write_gpu_code(const char *dir)
{
	static const char *const names[] = {"cubin_old",   "cubin_old_a", "cubin_new",
					    "cubin_new_a", "fatbin",      "ptx"};
	char path[512];
	int rc = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct bw b = {0};

		if (i < 4) {
			gw_cubin(&b, (enum gw_layout)i);
		} else if (i == 4) {
			gw_fatbin(&b);
		} else {
			bw_raw(&b, gw_ptx, strlen(gw_ptx));
		}
		(void)snprintf(path, sizeof(path), "%s/gpu_code/accept_%s.bin", dir,
			       names[i]);
		rc |= write_file(path, &b);
		b.n -= 2;
		if (i == 5) /* within its last kernel */
			b.n -= 2;
		(void)snprintf(path, sizeof(path), "%s/gpu_code/reject_%s_short.bin",
			       dir, names[i]);
		rc |= write_file(path, &b);
		bw_free(&b);
	}
	return rc;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "blob") == 0)
		return write_blob(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "corpus") == 0) {
		return write_blobs(argv[2]) | write_cycle(argv[2]) |
		       write_images(argv[2]) | write_elfs(argv[2]) |
		       write_models(argv[2]) | write_gpu_code(argv[2]);
	}
	(void)fprintf(stderr, "usage: write_artifact blob NAME FILE | corpus DIR\n");
	return 2;
}
