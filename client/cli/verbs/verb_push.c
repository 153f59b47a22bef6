/*
 * push: uploads a module to a registry, with a manifest that may be signed.
 *
 * Happy path: the manifest is written, or read and compared with the files that it
 * lists, and signed. Then modserd-fetch, which has network access, uploads
 * everything, and this program waits for it. Failures are reported with its error
 * code.
 */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "client/build/formats.h"
#include "client/cli/model/fetch_program.h"
#include "client/cli/values/file.h"
#include "client/cli/verbs/report.h"
#include "proto/words/params_folder.h"
#include "store/manifest/manifest.h"
#include "store/manifest/signature.h"

#define HEAD_WORDS 7u /* modserd-fetch --push URI AUTH REALM MANIFEST SIGNATURE */

struct push {
	const struct msd_cli *cli;
	char folder[PATH_MAX]; /* folder of the file */
	struct msd_edition_manifest manifest;
	char paths[MSD_EDITION_FILES][PATH_MAX];
	struct msd_buf text, signature;
	bool is_of_manifest; /* the error is in the file of --manifest */
};

static const char *arch(void)
{
	static struct utsname u;

	(void)uname(&u);
	if (strcmp(u.machine, "x86_64") == 0)
		return "amd64";
	return strcmp(u.machine, "aarch64") == 0 ? "arm64" : u.machine;
}

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

/* Take the last part of the repository: oci://HOST/models/digits:1 is digits. */
static msd_err name_module(struct push *p, struct msd_diag *d)
{
	const char *uri = p->cli->words[1];
	const char *slash = strrchr(uri, '/');
	const char *name = slash != NULL ? slash + 1 : uri;
	const size_t n = strcspn(name, ":@");

	if (strncmp(uri, "oci://", 6) != 0 || n == 0 || n > MSD_MAX_NAME_BYTES) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: expected oci://HOST/REPOSITORY:TAG", uri);
	}
	(void)snprintf(p->manifest.name, sizeof(p->manifest.name), "%.*s", (int)n,
		       name);
	return MSD_OK;
}

/* Do not sign a module that no daemon can load. */
static msd_err check_module(const struct push *p, enum msd_role role, const char *path,
			    struct msd_span bytes, struct msd_diag *d)
{
	const struct msd_file_format *format = msd_file_format_of(path, bytes);

	if ((role != MSD_ROLE_LIBRARY && role != MSD_ROLE_MODEL) ||
	    (format->traits & MSD_FORMAT_LINKED) != 0)
		return MSD_OK; /* archives are rejected by name */
	const msd_err err = msd_file_format_check(format, p->cli, bytes, d);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s", path);
}

static msd_err add_file(struct push *p, enum msd_role role, const char *path,
			struct msd_diag *d)
{
	struct msd_edition_manifest *m = &p->manifest;
	struct msd_edition_file *f = &m->files[m->n_files];
	const char *slash = strrchr(path, '/');
	struct msd_buf bytes = {0};
	msd_err err = msd_file_read(path, &bytes, d);

	if (err == MSD_OK)
		err = check_module(p, role, path, span_of(&bytes), d);
	f->role = role;
	f->bytes = bytes.n;
	msd_digest_of(span_of(&bytes), &f->digest);
	msd_buf_finish(&bytes);
	if (err != MSD_OK)
		return err;
	const char *name = slash != NULL ? slash + 1 : path;

	if (strlen(name) >= sizeof(f->name) || strlen(path) >= PATH_MAX) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: its name is too long",
				    path);
	}
	memcpy(f->name, name, strlen(name) + 1);
	memcpy(p->paths[m->n_files++], path, strlen(path) + 1);
	return MSD_OK;
}

/* Pack a folder of parameters behind the files before it, into memory that the child
 * process reads. */
static msd_err add_folder(struct push *p, const char *path, struct msd_diag *d)
{
	struct msd_edition_manifest *m = &p->manifest;
	struct msd_edition_file *f = &m->files[m->n_files];
	struct msd_params_folder folder = {0};
	uint64_t at = 0;

	for (uint32_t i = 0; i < m->n_files; i++)
		at += m->files[i].bytes;
	msd_err err = msd_params_folder_open(path, at, &folder, d);
	if (err != MSD_OK)
		return err;
	const size_t n = (size_t)folder.bytes;
	const int fd = memfd_create("modser-push", 0);
	void *map = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)n) == 0)
		map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = map != MAP_FAILED ? msd_params_folder_read(&folder, 0, map, n, d)
				: msd_diag_set(d, MSD_IO, "memory for %s", path);
	msd_params_folder_finish(&folder);
	if (map == MAP_FAILED)
		return err;
	f->role = MSD_ROLE_PARAMS;
	f->bytes = n;
	msd_digest_of((struct msd_span){map, n}, &f->digest);
	(void)munmap(map, n);
	(void)snprintf(f->name, sizeof(f->name), "params.tar");
	(void)snprintf(p->paths[m->n_files++], PATH_MAX, "/proc/self/fd/%d", fd);
	return err;
}

static bool is_library(const char *path)
{
	const size_t n = strlen(path);

	return n > 3 && strcmp(path + n - 3, ".so") == 0;
}

/* Check it with the same rules as a pull. */
static msd_err check_written(const struct push *p, struct msd_diag *d)
{
	struct msd_edition_manifest again;
	const msd_err err = msd_edition_manifest_parse(span_of(&p->text), &again, d);

	msd_edition_manifest_finish(&again);
	return err;
}

static msd_err write_manifest(struct push *p, struct msd_diag *d)
{
	const struct msd_cli *cli = p->cli;
	const bool is_model = !is_library(cli->words[0]);
	msd_err err = name_module(p, d);

	p->manifest.version = p->manifest.created_s = (uint64_t)time(NULL);
	(void)snprintf(p->manifest.arch, sizeof(p->manifest.arch), "%.63s",
		       is_model ? "any" : arch());
	if (err == MSD_OK) {
		err = add_file(p, is_model ? MSD_ROLE_MODEL : MSD_ROLE_LIBRARY,
			       cli->words[0], d);
	}
	if (err == MSD_OK && cli->graph != NULL)
		err = add_file(p, MSD_ROLE_GRAPH, cli->graph, d);
	if (err == MSD_OK && cli->params != NULL) {
		err = msd_params_folder_is(cli->params)
			      ? add_folder(p, cli->params, d)
			      : add_file(p, MSD_ROLE_PARAMS, cli->params, d);
	}
	if (err != MSD_OK)
		return err;
	msd_edition_manifest_write(&p->manifest, &p->text);
	return p->text.bad ? msd_diag_no_memory(d) : check_written(p, d);
}

/* A signature of a wrong file is useless, so check each file. */
static msd_err check_file(struct push *p, uint32_t i, struct msd_diag *d)
{
	const struct msd_edition_file *f = &p->manifest.files[i];
	struct msd_digest is = {0};
	struct msd_buf bytes = {0};
	msd_err err = msd_file_join(p->folder, f->name, p->paths[i], d);

	if (err == MSD_OK)
		err = msd_file_read(p->paths[i], &bytes, d);
	if (err != MSD_OK)
		return err;
	msd_digest_of(span_of(&bytes), &is);
	const bool is_listed = msd_digest_equal(&is, &f->digest);
	if (is_listed)
		err = check_module(p, f->role, p->paths[i], span_of(&bytes), d);
	msd_buf_finish(&bytes);
	if (is_listed)
		return err;
	return msd_diag_set(d, MSD_NOT_VERIFIED,
			    "%s: it is not the file that the manifest lists",
			    p->paths[i]);
}

/* The manifest must list exactly the files to send. */
static msd_err check_listed(const struct push *p, struct msd_diag *d)
{
	const struct msd_edition_manifest *m = &p->manifest;
	const char *path = p->cli->words[0];
	const char *slash = strrchr(path, '/');
	struct msd_buf names = {0};

	for (uint32_t i = 0; i < m->n_files; i++) {
		if (strcmp(m->files[i].name, slash != NULL ? slash + 1 : path) == 0) {
			msd_buf_finish(&names);
			return MSD_OK;
		}
		msd_buf_printf(&names, "%s%s", i > 0 ? ", " : "", m->files[i].name);
	}
	const msd_err err = msd_diag_set(
		d, MSD_BAD_REQUEST,
		"%s: it is not among what %s lists (%.*s): name one of these, or the "
		"manifest that lists it",
		path, p->cli->manifest, (int)names.n, (const char *)names.p);
	msd_buf_finish(&names);
	return err;
}

static msd_err read_manifest(struct push *p, struct msd_diag *d)
{
	char path[PATH_MAX];
	msd_err err = msd_file_read(p->cli->manifest, &p->text, d);

	(void)snprintf(path, sizeof(path), "%s", p->cli->words[0]);
	(void)snprintf(p->folder, sizeof(p->folder), "%s", dirname(path));
	if (err == MSD_OK) {
		err = msd_edition_manifest_parse(span_of(&p->text), &p->manifest, d);
		p->is_of_manifest = err != MSD_OK;
		if (err != MSD_OK)
			(void)msd_diag_wrap(d, err, "%s", p->cli->manifest);
	}
	if (err == MSD_OK)
		err = check_listed(p, d);
	for (uint32_t i = 0; err == MSD_OK && i < p->manifest.n_files; i++)
		err = check_file(p, i, d);
	return err;
}

static msd_err sign(struct push *p, struct msd_diag *d)
{
	struct msd_buf secret = {0};
	char comment[128];
	msd_err err = msd_file_read(p->cli->sign, &secret, d);

	if (err != MSD_OK)
		return err;
	(void)snprintf(comment, sizeof(comment), "%s %llu", p->manifest.name,
		       (unsigned long long)p->manifest.version);
	err = msd_signature_make(span_of(&p->text), span_of(&secret), comment,
				 &p->signature, d);
	explicit_bzero(secret.p, secret.n);
	msd_buf_finish(&secret);
	return err != MSD_OK ? msd_diag_wrap(d, err, "%s", p->cli->sign) : err;
}

/* Make @b readable for a child process; @ret is its path there. */
static msd_err lend(const struct msd_buf *b, char ret[static 32], struct msd_diag *d)
{
	const int fd = memfd_create("modser-push", 0);

	if (fd < 0 || write(fd, b->p, b->n) != (ssize_t)b->n)
		return msd_diag_set(d, MSD_IO, "memory for a manifest");
	(void)snprintf(ret, 32, "/proc/self/fd/%d", fd);
	return MSD_OK;
}

static msd_err send(struct push *p, struct msd_diag *d)
{
	char manifest[32], signature[32] = "-";
	char option[] = "--push", none[] = "-";
	char *words[HEAD_WORDS + MSD_EDITION_FILES + 1] = {0};
	msd_err err = lend(&p->text, manifest, d);

	if (err == MSD_OK && p->signature.n > 0)
		err = lend(&p->signature, signature, d);
	if (err != MSD_OK)
		return err;
	words[1] = option;
	words[2] = (char *)(uintptr_t)p->cli->words[1];
	words[3] = p->cli->auth != NULL ? (char *)(uintptr_t)p->cli->auth : none;
	words[4] = p->cli->realm != NULL ? (char *)(uintptr_t)p->cli->realm : none;
	words[5] = manifest;
	words[6] = signature;
	for (uint32_t i = 0; i < p->manifest.n_files; i++)
		words[HEAD_WORDS + i] = p->paths[i];
	return msd_fetch_program_run(words, d);
}

/* Report an error in the files to send, in the manifest or in the signature. */
static enum msd_exit report_made(const struct push *p, const struct msd_diag *d)
{
	if (p->is_of_manifest && d->code == MSD_BAD_ARTIFACT) {
		return msd_report_diag(MSD_EXIT_BAD_FILE,
				       "correct what the text names in the manifest; "
				       "docs/how-to/sign.md shows one",
				       d);
	}
	return d->code == MSD_NOT_VERIFIED
		       ? msd_report_diag(MSD_EXIT_NOT_VERIFIED,
					 "write a new manifest for the current files",
					 d)
		       : msd_report_file(d);
}

static enum msd_exit report_sent(const struct msd_diag *d)
{
	const modser_error e = {
		.code = (modser_err)d->code,
		.name = msd_err_name(d->code),
		.message = msd_diag_text(d),
		.hint = d->code == MSD_UNSUPPORTED
				? "follow the text"
				: "check the URI, and --auth FILE where "
				  "it asks for a name; the registry's "
				  "own log says more"};

	return msd_report_error(&e);
}

enum msd_exit msd_verb_push(const struct msd_cli *cli)
{
	struct push *p = calloc(1, sizeof(*p));
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;
	msd_err err;

	if (p == NULL)
		return msd_report_no_memory();
	if (cli->manifest != NULL && (cli->graph != NULL || cli->params != NULL)) {
		free(p);
		return msd_report_usage(
			"omit it: modser sends the files that the manifest lists",
			"%s beside --manifest",
			cli->graph != NULL ? "--graph" : "--params");
	}
	p->cli = cli;
	err = cli->manifest != NULL ? read_manifest(p, &d) : write_manifest(p, &d);
	if (err == MSD_OK && cli->sign != NULL)
		err = sign(p, &d);
	if (err != MSD_OK) {
		code = report_made(p, &d);
	} else if (send(p, &d) != MSD_OK) {
		code = report_sent(&d);
	}
	msd_edition_manifest_finish(&p->manifest);
	msd_buf_finish(&p->text);
	msd_buf_finish(&p->signature);
	msd_diag_finish(&d);
	free(p);
	return code;
}
