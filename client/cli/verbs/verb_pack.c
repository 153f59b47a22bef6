/*
 * pack: builds a library's modules from files.
 *
 * Happy path: the manifest is read with the files that it names. The suffix of -o
 * selects the output: the library next to it is patched, or objects are linked with
 * the modules. Otherwise the modules become an object or a C source, or the bytes are
 * written unchanged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact/mlf/archive.h"
#include "artifact/tree/write.h"
#include "client/build/build.h"
#include "client/cli/model/split.h"
#include "client/cli/values/file.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "pack/elf_patch.h"
#include "pack/manifest.h"

/* Files that a manifest names are in its folder. */
static msd_err read_beside(void *ctx, const char *name, struct msd_buf *ret,
			   struct msd_diag *d)
{
	return msd_file_read_beneath(ctx, name, ret, d);
}

/* State of a pack; finish with job_finish(). */
struct job {
	char dir[MSD_PATH_BYTES]; /* folder of the manifest */
	struct msd_manifest manifest;
	struct msd_split split;
	struct msd_buf blob;
	char **objects; /* owned, including each entry */
	size_t n_objects;
};

static void job_finish(struct job *job)
{
	for (size_t i = 0; i < job->n_objects; i++)
		free(job->objects[i]);
	free(job->objects);
	msd_buf_finish(&job->blob);
	msd_manifest_finish(&job->manifest);
	msd_split_finish(&job->split);
}

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text);
	size_t k = strlen(tail);

	return n >= k && strcmp(text + n - k, tail) == 0;
}

/* Check an object of a manifest: a linker treats other files as scripts, which may
 * name any file. */
static msd_err check_object(const char *dir, const char *name, struct msd_diag *d)
{
	static const char elf[] = {'\x7f', 'E', 'L', 'F'};
	static const char archive[] = "!<arch>\n";
	struct msd_buf bytes = {0};
	msd_err err = msd_file_read_beneath(dir, name, &bytes, d);

	if (err == MSD_OK && !ends_with(name, ".c") &&
	    (bytes.n < sizeof(archive) ||
	     (memcmp(bytes.p, elf, sizeof(elf)) != 0 &&
	      memcmp(bytes.p, archive, sizeof(archive) - 1) != 0)))
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: not an object file", name);
	msd_buf_finish(&bytes);
	return err;
}

/* Checked here, because the compiler's status does not distinguish a wrong name from
 * a wrong file. */
static msd_err check_given(const char *path, struct msd_diag *d)
{
	if (access(path, F_OK) == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_NOT_FOUND, "%s: %s", path, strerror(errno));
}

/* List the manifest's objects, which are in its folder, and those of the command
 * line. */
static msd_err list_objects(struct job *job, const struct msd_cli *cli,
			    struct msd_diag *d)
{
	char path[MSD_PATH_BYTES];

	job->objects = calloc(job->manifest.n_objects + cli->n_words, sizeof(char *));
	if (job->objects == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < job->manifest.n_objects + cli->n_words - 1; i++) {
		bool is_ours = i < job->manifest.n_objects;
		const char *name =
			is_ours ? job->manifest.objects[i]
				: cli->words[1 + i - job->manifest.n_objects];
		msd_err err = is_ours ? check_object(job->dir, name, d)
				      : check_given(name, d);

		if (err == MSD_OK && is_ours)
			err = msd_file_join(job->dir, name, path, d);
		if (err != MSD_OK)
			return err;
		job->objects[i] = strdup(is_ours ? path : name);
		if (job->objects[i] == NULL)
			return msd_diag_no_memory(d);
		job->n_objects++;
	}
	return MSD_OK;
}

/* Read a manifest's text, or report why @path is not one. */
static msd_err read_text(const char *path, struct msd_buf *ret, struct msd_diag *d)
{
	const bool is_there = access(path, F_OK) == 0;

	if (is_there && ends_with(path, ".so")) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s: this is a library: run modser unpack %s -C "
				    "DIR, then pack that folder",
				    path, path);
	}
	if (is_there && (ends_with(path, ".c") || ends_with(path, ".o") ||
			 ends_with(path, ".tar"))) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s: this is code, not a manifest: run modser "
				    "convert %s -o FILE.so to make a library",
				    path, path);
	}
	return msd_file_read(path, ret, d);
}

static msd_err read_job(struct job *job, const struct msd_cli *cli, struct msd_diag *d)
{
	struct msd_piece_source source = {read_beside, job->dir};
	const char *word = cli->words[0];
	struct msd_buf text = {0};
	char path[MSD_PATH_BYTES];
	struct stat st;
	bool is_dir = stat(word, &st) == 0 && S_ISDIR(st.st_mode);
	const char *slash = strrchr(word, '/');
	msd_err err = msd_file_join(is_dir ? word : ".", MSD_MANIFEST_NAME, path, d);

	if (err != MSD_OK)
		return err;
	if (is_dir) {
		(void)snprintf(job->dir, sizeof(job->dir), "%s", word);
	} else if (slash == NULL) {
		(void)snprintf(job->dir, sizeof(job->dir), ".");
	} else {
		(void)snprintf(job->dir, sizeof(job->dir), "%.*s",
			       (int)(slash - word) + 1, word);
	}
	err = read_text(is_dir ? path : word, &text, d);
	if (err == MSD_OK) {
		err = msd_manifest_read((struct msd_span){text.p, text.n}, &source,
					&job->manifest, d);
	}
	if (err == MSD_OK && cli->split != NULL) {
		err = msd_split_to_file(&job->manifest.tree, job->manifest.era,
					cli->split_names, cli->split, &job->split, d);
	}
	if (err == MSD_OK)
		err = msd_tree_write(&job->manifest.tree, &job->blob, d);
	if (err == MSD_OK)
		err = list_objects(job, cli, d);
	msd_buf_finish(&text);
	return err;
}

static msd_err write_library(const char *path, struct msd_span bytes,
			     struct msd_diag *d)
{
	msd_err err = msd_file_replace(path, bytes, d);

	if (err == MSD_OK && chmod(path, 0755) != 0)
		err = msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	return err;
}

/* The symbol of the blob in a library; NULL: out of memory. */
static char *blob_symbol(const struct msd_manifest *m)
{
	char *symbol = NULL;

	return asprintf(&symbol, "%s%s", m->prefix, msd_era_names(m->era)->blob) >= 0
		       ? symbol
		       : NULL;
}

/* Write the manifest's library with the new blob. */
static msd_err patch_library(const struct job *job, const char *out, struct msd_diag *d)
{
	const struct msd_manifest *m = &job->manifest;
	char *symbol = NULL;
	struct msd_buf library = {0};
	struct msd_buf patched = {0};
	char *dir = strdup(job->dir);
	msd_err err = dir != NULL ? read_beside(dir, m->library, &library, d)
				  : msd_diag_no_memory(d);

	free(dir);
	struct msd_span bytes = {library.p, library.n};
	if (err == MSD_OK && m->tree.layout == MSD_BLOB_NONE) {
		err = write_library(out, bytes, d);
	} else if (err == MSD_OK) {
		symbol = blob_symbol(m);
		err = symbol == NULL ? msd_diag_no_memory(d)
				     : msd_elf_patch(bytes, symbol,
						     (struct msd_span){job->blob.p,
								       job->blob.n},
						     &patched, d);
		if (err == MSD_OK) {
			err = write_library(out,
					    (struct msd_span){patched.p, patched.n}, d);
		} else {
			err = msd_diag_wrap(d, err, "%s", m->library);
		}
	}
	free(symbol);
	msd_buf_finish(&library);
	msd_buf_finish(&patched);
	return err;
}

/* True if the unpacked library has code of its own that no given object contains. */
static bool has_lost_code(const struct job *job)
{
	return job->n_objects == 0 && job->manifest.library != NULL;
}

/* Reject options that this kind of output does not support. */
static msd_err check_wishes(const struct job *job, const struct msd_cli *cli,
			    bool is_patch, struct msd_diag *d)
{
	const char *out = cli->outputs[0];
	bool is_built =
		ends_with(out, ".so") || ends_with(out, ".o") || ends_with(out, ".tar");

	if (is_patch && (cli->cc != NULL || cli->prefix != NULL ||
			 cli->system_library || cli->n_libraries > 0)) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%s: --cc, -l, --system-lib and --symbol-prefix are for "
			"linking, and no objects were given",
			out);
	}
	if (cli->n_libraries > 0 && !ends_with(out, ".so")) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: -l works only for a library (.so)", out);
	}
	if (ends_with(out, ".tar") && has_lost_code(job)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: the functions of %s itself would be missing, "
				    "because a linked library cannot be converted to "
				    "objects: add its objects, or use -o FILE.so",
				    out, job->manifest.library);
	}
	if (!ends_with(out, ".so") && job->n_objects == 0 && job->blob.n == 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: the library imports no modules, so there is "
				    "nothing to write",
				    out);
	}
	if (!is_built && job->n_objects > 0) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%s: with objects, the output must be .so, .o or .tar", out);
	}
	return MSD_OK;
}

/* Write an archive as TVM exports it for linking, with a single object. */
static msd_err write_archive(const struct msd_build *b, const char *out,
			     struct msd_diag *d)
{
	struct msd_buf object = {0}, tar = {0};
	msd_err err = msd_build_object(b, out, d);

	if (err == MSD_OK)
		err = msd_file_read(out, &object, d);
	if (err == MSD_OK) {
		const struct msd_archive_entry entry = {"lib0.o", {object.p, object.n}};
		err = msd_archive_write(&entry, 1, 0, &tar, d);
	}
	if (err == MSD_OK)
		err = msd_file_replace(out, (struct msd_span){tar.p, tar.n}, d);
	msd_buf_finish(&object);
	msd_buf_finish(&tar);
	return err;
}

static msd_err write_output(const struct job *job, const struct msd_cli *cli,
			    struct msd_diag *d)
{
	const char *out = cli->outputs[0];
	const char *prefix = cli->prefix != NULL ? cli->prefix : job->manifest.prefix;
	struct msd_span blob = {job->blob.p, job->blob.n};
	struct msd_build b = {
		.cc = cli->cc,
		.era = job->manifest.era,
		.prefix = prefix,
		.is_system_library =
			cli->system_library || job->manifest.is_system_library,
		.blob = blob,
		.objects = job->objects,
		.n_objects = job->n_objects,
		.libraries = cli->libraries,
		.n_libraries = cli->n_libraries,
		.folder = job->manifest.n_objects > 0 ? job->dir : NULL,
	};
	struct msd_buf source = {0};
	bool is_patch = ends_with(out, ".so") && job->n_objects == 0 &&
			job->manifest.library != NULL;
	msd_err err = check_wishes(job, cli, is_patch, d);

	if (err != MSD_OK)
		return err;
	if (is_patch)
		return patch_library(job, out, d);
	if (ends_with(out, ".so"))
		return msd_build_library(&b, out, d);
	if (ends_with(out, ".o"))
		return msd_build_object(&b, out, d);
	if (ends_with(out, ".tar"))
		return write_archive(&b, out, d);
	if (!ends_with(out, ".c"))
		return msd_file_write(out, &blob, 1, d);
	err = msd_build_source(&b, &source, d);
	blob = (struct msd_span){source.p, source.n};
	if (err == MSD_OK)
		err = msd_file_write(out, &blob, 1, d);
	msd_buf_finish(&source);
	return err;
}

/* Warn that an object or source contains only the modules, and must be linked with
 * the rest. */
static void tell_lost_code(const struct job *job, const struct msd_cli *cli)
{
	const char *out = cli->outputs[0];

	if (!has_lost_code(job) || ends_with(out, ".so") || cli->json)
		return;
	struct msd_buf text = {0};
	msd_buf_printf(&text,
		       "modser: %s holds the modules alone, without the functions "
		       "of ",
		       out);
	msd_print_line(&text, job->manifest.library, strlen(job->manifest.library));
	msd_buf_printf(&text, " itself\n");
	msd_print_flush_to(&text, stderr);
}

enum msd_exit msd_verb_pack(const struct msd_cli *cli)
{
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;
	struct job *job = calloc(1, sizeof(*job));

	if (job == NULL || cli->n_outputs != 1) {
		free(job);
		return msd_report_usage("modser pack DIR -o FILE",
					"pack needs one output file: -o FILE");
	}
	msd_err err = read_job(job, cli, &d);
	if (err == MSD_OK)
		err = write_output(job, cli, &d);
	if (err == MSD_OK)
		tell_lost_code(job, cli);
	if (err != MSD_OK)
		code = msd_report_pack(&d);
	job_finish(job);
	free(job);
	msd_diag_finish(&d);
	return code;
}
