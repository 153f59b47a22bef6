/* pack and unpack: a library's import tree as files, and back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact/json.h"
#include "artifact/mlf/archive.h"
#include "client/cli/build.h"
#include "client/cli/file.h"
#include "client/cli/print.h"
#include "client/cli/report.h"
#include "client/cli/split.h"
#include "pack/elf_patch.h"
#include "pack/manifest.h"

#define LIBRARY_NAME "library.so"
#define PATH_BYTES 4096

static enum msd_exit failed(const struct msd_diag *d)
{
	switch ((int)d->code) {
	case MSD_NOT_FOUND:
		return msd_report_diag(MSD_EXIT_NOT_FOUND, "check the file's name", d);
	case MSD_UNSUPPORTED:
		return msd_report_diag(MSD_EXIT_REFUSED,
				       "docs/pack.md says what can be packed", d);
	case MSD_CALL_FAILED:
		return msd_report_diag(MSD_EXIT_REMOTE,
				       "mend what the compiler names, or choose "
				       "another one with --cc",
				       d);
	case MSD_BAD_ARTIFACT:
		return msd_report_diag(MSD_EXIT_REMOTE,
				       "export the library again, or copy it again", d);
	case MSD_IO:
		return msd_report_diag(MSD_EXIT_USAGE,
				       "check that it is a file in a folder that may "
				       "be written",
				       d);
	default:
		return msd_report_diag(MSD_EXIT_USAGE,
				       "mend what it names; docs/pack.md says how", d);
	}
}

static msd_err join_path(const char *dir, const char *name, char path[PATH_BYTES],
			 struct msd_diag *d)
{
	int n = name[0] == '/' ? snprintf(path, PATH_BYTES, "%s", name)
			       : snprintf(path, PATH_BYTES, "%s/%s", dir, name);

	return n >= 0 && n < PATH_BYTES
		       ? MSD_OK
		       : msd_diag_set(d, MSD_BAD_REQUEST, "%s: its path is too long",
				      name);
}

static msd_err write_pieces(const char *dir, const struct msd_pieces *pieces,
			    struct msd_diag *d)
{
	char path[PATH_BYTES];
	msd_err err = MSD_OK;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return msd_diag_set(d, MSD_IO, "%s: %s", dir, strerror(errno));
	for (size_t i = 0; i < pieces->n && err == MSD_OK; i++) {
		err = join_path(dir, pieces->piece[i].name, path, d);
		if (err == MSD_OK)
			err = msd_file_write(path, &pieces->piece[i].bytes, 1, d);
	}
	return err;
}

static msd_err unpack(const struct msd_cli *cli, struct msd_span file,
		      struct msd_pieces *pieces, struct msd_diag *d)
{
	struct msd_elf elf = {0};
	struct msd_tree tree = {0};
	struct msd_split split = {0};
	enum msd_era era = MSD_ERA_NONE;
	msd_err err = msd_elf_read(file, &elf, d);

	if (err == MSD_OK) {
		era = msd_era_of(&elf);
		err = msd_tree_read_library(&elf, era, &tree, d);
	}
	if (err != MSD_OK)
		err = msd_diag_wrap(d, err, "%s", cli->words[0]);
	if (err == MSD_OK) {
		if (cli->split != NULL)
			err = msd_split_to_file(&tree, era, cli->split, &split, d);
		if (err == MSD_OK) {
			err = msd_manifest_write(&tree, era, LIBRARY_NAME, pieces, d);
			if (err != MSD_OK)
				err = msd_diag_wrap(d, err, "%s", cli->words[0]);
		}
	}
	if (err == MSD_OK)
		err = msd_pieces_add(pieces, "", LIBRARY_NAME, file, d);
	if (err == MSD_OK)
		err = write_pieces(cli->dir, pieces, d);
	msd_tree_finish(&tree);
	msd_split_finish(&split);
	msd_elf_finish(&elf);
	return err;
}

static void put_pieces_json(const struct msd_pieces *pieces, struct msd_buf *out)
{
	json_t *files = json_array();

	for (size_t i = 0; i < pieces->n; i++)
		msd_json_add(&files,
			     json_pack("{s:o,s:I}", "name",
				       msd_json_string(pieces->piece[i].name), "bytes",
				       (json_int_t)pieces->piece[i].bytes.n));
	msd_json_put(out, json_pack("{s:o}", "files", files), 0);
	msd_buf_put_u8(out, '\n');
}

static void print_pieces(const struct msd_cli *cli, const struct msd_pieces *pieces)
{
	struct msd_buf out = {0};

	if (cli->json)
		put_pieces_json(pieces, &out);
	for (size_t i = 0; i < pieces->n && !cli->json; i++)
		msd_buf_printf(&out, "%12zu  %s/%s\n", pieces->piece[i].bytes.n,
			       cli->dir, pieces->piece[i].name);
	msd_print_flush(&out);
}

enum msd_exit msd_verb_unpack(const struct msd_cli *cli)
{
	struct msd_buf file = {0};
	struct msd_pieces pieces = {0};
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if (cli->dir == NULL) {
		return msd_report_usage("modser unpack FILE -d DIR",
					"unpack needs a folder: -d DIR");
	}
	msd_err err = msd_file_read(cli->words[0], &file, &d);
	if (err == MSD_OK) {
		err = msd_archive_check_whole(cli->words[0],
					      (struct msd_span){file.p, file.n}, &d);
	}
	if (err == MSD_OK)
		err = unpack(cli, (struct msd_span){file.p, file.n}, &pieces, &d);
	if (err == MSD_OK) {
		print_pieces(cli, &pieces);
	} else {
		code = failed(&d);
	}
	msd_pieces_finish(&pieces);
	msd_buf_finish(&file);
	msd_diag_finish(&d);
	return code;
}

/* Files that a manifest names lie beside it. */
static msd_err read_beside(void *ctx, const char *name, struct msd_buf *ret,
			   struct msd_diag *d)
{
	char path[PATH_BYTES];
	msd_err err = join_path(ctx, name, path, d);

	return err == MSD_OK ? msd_file_read(path, ret, d) : err;
}

/* What a pack is about; finish with job_finish(). */
struct job {
	char dir[PATH_BYTES]; /* of the manifest */
	struct msd_manifest manifest;
	struct msd_split split;
	struct msd_buf blob;
	char **objects; /* owned, and each of them */
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

/* The manifest's objects, which lie beside it, and those of the command line. */
static msd_err list_objects(struct job *job, const struct msd_cli *cli,
			    struct msd_diag *d)
{
	char path[PATH_BYTES];

	job->objects = calloc(job->manifest.n_objects + cli->n_words, sizeof(char *));
	if (job->objects == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < job->manifest.n_objects + cli->n_words - 1; i++) {
		bool is_ours = i < job->manifest.n_objects;
		const char *name =
			is_ours ? job->manifest.objects[i]
				: cli->words[1 + i - job->manifest.n_objects];
		msd_err err = is_ours ? join_path(job->dir, name, path, d) : MSD_OK;

		if (err != MSD_OK)
			return err;
		job->objects[i] = strdup(is_ours ? path : name);
		if (job->objects[i] == NULL)
			return msd_diag_no_memory(d);
		job->n_objects++;
	}
	return MSD_OK;
}

static msd_err read_job(struct job *job, const struct msd_cli *cli, struct msd_diag *d)
{
	struct msd_piece_source source = {read_beside, job->dir};
	const char *word = cli->words[0];
	struct msd_buf text = {0};
	char path[PATH_BYTES];
	struct stat st;
	bool is_dir = stat(word, &st) == 0 && S_ISDIR(st.st_mode);
	const char *slash = strrchr(word, '/');
	msd_err err = join_path(is_dir ? word : ".", MSD_MANIFEST_NAME, path, d);

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
	err = msd_file_read(is_dir ? path : word, &text, d);
	if (err == MSD_OK) {
		err = msd_manifest_read((struct msd_span){text.p, text.n}, &source,
					&job->manifest, d);
	}
	if (err == MSD_OK && cli->split != NULL) {
		err = msd_split_to_file(&job->manifest.tree, job->manifest.era,
					cli->split, &job->split, d);
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

/* The symbol behind which a library holds its modules; NULL: out of memory. */
static char *blob_symbol(const struct msd_manifest *m)
{
	char *symbol = NULL;

	return asprintf(&symbol, "%s%s", m->prefix, msd_era_names(m->era)->blob) >= 0
		       ? symbol
		       : NULL;
}

/* The manifest's library with the new blob inside. */
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

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text);
	size_t k = strlen(tail);

	return n >= k && strcmp(text + n - k, tail) == 0;
}

/* What the command line asks for and this kind of output cannot have. */
static msd_err check_wishes(const struct job *job, const struct msd_cli *cli,
			    bool is_patch, struct msd_diag *d)
{
	const char *out = cli->outputs[0];
	bool is_built = ends_with(out, ".so") || ends_with(out, ".o");

	if (is_patch &&
	    (cli->cc != NULL || cli->prefix != NULL || cli->system_library)) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%s: --cc, --system-lib and --symbol-prefix are for "
			"linking, and no objects were given",
			out);
	}
	if (!ends_with(out, ".so") && job->n_objects == 0 && job->blob.n == 0) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%s: a library alone imports no modules, so there is "
			"nothing to write",
			out);
	}
	if (!is_built && job->n_objects > 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: objects go into .so and .o alone", out);
	}
	return MSD_OK;
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
	if (!ends_with(out, ".c"))
		return msd_file_write(out, &blob, 1, d);
	err = msd_build_source(&b, &source, d);
	blob = (struct msd_span){source.p, source.n};
	if (err == MSD_OK)
		err = msd_file_write(out, &blob, 1, d);
	msd_buf_finish(&source);
	return err;
}

enum msd_exit msd_verb_pack(const struct msd_cli *cli)
{
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;
	struct job *job = calloc(1, sizeof(*job));

	if (job == NULL || cli->n_outputs != 1) {
		free(job);
		return msd_report_usage("modser pack DIR -o FILE",
					"pack needs one file to write: -o FILE");
	}
	msd_err err = read_job(job, cli, &d);
	if (err == MSD_OK)
		err = write_output(job, cli, &d);
	if (err != MSD_OK)
		code = failed(&d);
	job_finish(job);
	free(job);
	msd_diag_finish(&d);
	return code;
}
