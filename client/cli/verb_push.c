/*
 * push: a module is put into a registry, with a manifest that somebody may have signed.
 *
 * Happy path: the manifest is written, or read and compared with the files that it
 * lists; it is signed; then modserd-fetch, which has the network, is started with all
 * of it and waited for. Failures are told by the code that it names.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/cli/file.h"
#include "client/cli/formats.h"
#include "client/cli/report.h"
#include "store/manifest/manifest.h"
#include "store/manifest/signature.h"

#define HEAD_WORDS 6u /* modserd-fetch --push URI AUTH MANIFEST SIGNATURE */
#define SAID_BYTES 4096u

struct push {
	const struct msd_cli *cli;
	char folder[PATH_MAX]; /* of the file */
	struct msd_edition_manifest manifest;
	char paths[MSD_EDITION_FILES][PATH_MAX];
	struct msd_buf text, signature;
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

/* The end of the repository: oci://HOST/models/digits:1 is digits. */
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

/* What no daemon would load is not vouched for. */
static msd_err check_module(const struct push *p, enum msd_role role, const char *path,
			    struct msd_span bytes, struct msd_diag *d)
{
	const struct msd_file_format *format = msd_file_format_of(path, bytes);

	if ((role != MSD_ROLE_LIBRARY && role != MSD_ROLE_MODEL) ||
	    (format->traits & MSD_FORMAT_LINKED) != 0)
		return MSD_OK; /* archives are refused by their names */
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

static bool is_library(const char *path)
{
	const size_t n = strlen(path);

	return n > 3 && strcmp(path + n - 3, ".so") == 0;
}

/* It is read by the same rules as by who pulls it. */
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
	if (err == MSD_OK && cli->params != NULL)
		err = add_file(p, MSD_ROLE_PARAMS, cli->params, d);
	if (err != MSD_OK)
		return err;
	msd_edition_manifest_write(&p->manifest, &p->text);
	return p->text.bad ? msd_diag_no_memory(d) : check_written(p, d);
}

/* Who signs what is wrong would sign for nobody. */
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

static msd_err read_manifest(struct push *p, struct msd_diag *d)
{
	char path[PATH_MAX];
	msd_err err = msd_file_read(p->cli->manifest, &p->text, d);

	(void)snprintf(path, sizeof(path), "%s", p->cli->words[0]);
	(void)snprintf(p->folder, sizeof(p->folder), "%s", dirname(path));
	if (err == MSD_OK) {
		err = msd_edition_manifest_parse(span_of(&p->text), &p->manifest, d);
		if (err != MSD_OK)
			(void)msd_diag_wrap(d, err, "%s", p->cli->manifest);
	}
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

/* What a process that is started can open: @ret is its path there. */
static msd_err lend(const struct msd_buf *b, char ret[static 32], struct msd_diag *d)
{
	const int fd = memfd_create("modser-push", 0);

	if (fd < 0 || write(fd, b->p, b->n) != (ssize_t)b->n)
		return msd_diag_set(d, MSD_IO, "memory for a manifest");
	(void)snprintf(ret, 32, "/proc/self/fd/%d", fd);
	return MSD_OK;
}

static bool find_fetch(char ret[static PATH_MAX])
{
	static const char *const places[] = {"", "../libexec/modserd/"};
	const char *given = secure_getenv("MODSERD_FETCH");
	char self[PATH_MAX - 64];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (given != NULL) {
		(void)snprintf(ret, PATH_MAX, "%s", given);
		return true;
	}
	if (n <= 0)
		return false;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (unsigned i = 0; i < 2; i++) {
		(void)snprintf(ret, PATH_MAX, "%s/%smodserd-fetch", self, places[i]);
		if (access(ret, X_OK) == 0)
			return true;
	}
	return false;
}

/* "CODE text", as modserd-fetch says it. */
static msd_err read_said(char *said, struct msd_diag *d)
{
	char *space = strchr(said, ' ');

	said[strcspn(said, "\n")] = '\0';
	if (space == NULL)
		return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch died: %s", said);
	*space = '\0';
	return msd_diag_set(d, msd_err_from_name(said), "%s", space + 1);
}

/* What it says on standard error, until its end. */
static void hear(int fd, char said[static SAID_BYTES])
{
	size_t n = 0;
	ssize_t got;

	while (n < SAID_BYTES - 1 &&
	       (got = read(fd, said + n, SAID_BYTES - 1 - n)) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	said[n] = '\0';
}

static msd_err run(char **words, struct msd_diag *d)
{
	posix_spawn_file_actions_t actions;
	char said[SAID_BYTES];
	int ends[2], status = 0;
	pid_t pid;

	if (pipe(ends) != 0 || posix_spawn_file_actions_init(&actions) != 0)
		return msd_diag_set(d, MSD_IO, "a pipe for modserd-fetch");
	(void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	(void)posix_spawn_file_actions_addclose(&actions, ends[0]);
	(void)posix_spawn_file_actions_addclose(&actions, ends[1]);
	const int error = posix_spawn(&pid, words[0], &actions, NULL, words, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	if (error == 0) {
		hear(ends[0], said);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	(void)close(ends[0]);
	if (error != 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", words[0], strerror(error));
	return status == 0 ? MSD_OK : read_said(said, d);
}

static msd_err send(struct push *p, struct msd_diag *d)
{
	char program[PATH_MAX], manifest[32], signature[32] = "-";
	char option[] = "--push", none[] = "-";
	char *words[HEAD_WORDS + MSD_EDITION_FILES + 1] = {0};
	msd_err err = lend(&p->text, manifest, d);

	if (err == MSD_OK && p->signature.n > 0)
		err = lend(&p->signature, signature, d);
	if (err == MSD_OK && !find_fetch(program)) {
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "modserd-fetch is neither beside modser nor in "
				   "../libexec/modserd: set MODSERD_FETCH");
	}
	if (err != MSD_OK)
		return err;
	words[0] = program;
	words[1] = option;
	words[2] = (char *)(uintptr_t)p->cli->words[1];
	words[3] = p->cli->auth != NULL ? (char *)(uintptr_t)p->cli->auth : none;
	words[4] = manifest;
	words[5] = signature;
	for (uint32_t i = 0; i < p->manifest.n_files; i++)
		words[HEAD_WORDS + i] = p->paths[i];
	return run(words, d);
}

/* Of what was to be sent: its files, and what vouches for them. */
static enum msd_exit report_made(const struct msd_diag *d)
{
	return d->code == MSD_NOT_VERIFIED
		       ? msd_report_diag(MSD_EXIT_NOT_VERIFIED,
					 "write the manifest anew, for the files as "
					 "they are",
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
				? "do what the text says"
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
	p->cli = cli;
	err = cli->manifest != NULL ? read_manifest(p, &d) : write_manifest(p, &d);
	if (err == MSD_OK && cli->sign != NULL)
		err = sign(p, &d);
	if (err != MSD_OK) {
		code = report_made(&d);
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
