/*
 * Happy path: the model's bytes are put into a sealed memfd, and the worker is started
 * with the channel and the memfd at the numbers that CHANNEL.md gives. A client of
 * libmodser on the channel takes the place of the supervisor. Failures: the worker
 * rejects the file, or dies over it.
 */
#include "client/cli/model/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/model/program_path.h"
#include "client/cli/verbs/report.h"
#include "proto/base/errno_text.h"
#include "proto/value.h"

enum { CHANNEL_FD = 3, ARTIFACT_FD = 4, FIRST_FREE_FD = 10 };
enum { MOST_KEYS = MSD_RUN_KEYS + 4 };

static msd_err fail(struct msd_diag *d, const char *what)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	return msd_diag_set(d, MSD_IO, "%s: %s", what, msd_errno_text(errno, text));
}

static bool write_all(int fd, struct msd_span bytes)
{
	while (bytes.n > 0) {
		const ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	return true;
}

static msd_err make_artifact(struct msd_span file, int *ret, struct msd_diag *d)
{
	const int fd = memfd_create("model", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return fail(d, "memory for the model");
	*ret = fd;
	if (!write_all(fd, file) ||
	    fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
		return fail(d, "memory for the model");
	return MSD_OK;
}

/* Descriptors that dup2() below cannot overwrite. */
static msd_err move_up(int *fd, struct msd_diag *d)
{
	const int up = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

	if (up < 0)
		return fail(d, "a descriptor");
	(void)close(*fd);
	*fd = up;
	return MSD_OK;
}

static msd_err spawn(const char *program, int channel, int artifact, pid_t *ret,
		     struct msd_diag *d)
{
	char *words[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "--name",
			 (char *)(uintptr_t)MSD_CLI_WORKER_MODULE, NULL};
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return msd_diag_no_memory(d);
	error = posix_spawn_file_actions_adddup2(&actions, channel, CHANNEL_FD);
	if (error == 0) {
		error = posix_spawn_file_actions_adddup2(&actions, artifact,
							 ARTIFACT_FD);
	}
	if (error == 0)
		error = posix_spawn(ret, program, &actions, NULL, words, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	errno = error;
	return error == 0 ? MSD_OK : fail(d, program);
}

msd_err msd_cli_worker_start(struct msd_cli_worker *w, struct msd_span file,
			     struct msd_diag *d)
{
	char program[PATH_MAX];
	int ends[2] = {-1, -1};
	int artifact = -1;

	*w = (struct msd_cli_worker){.pid = -1};
	msd_err err = msd_program_path("modserd-worker", "MODSERD_WORKER", program, d);
	if (err == MSD_OK)
		err = make_artifact(file, &artifact, d);
	if (err == MSD_OK &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		err = fail(d, "a channel");
	if (err == MSD_OK)
		err = move_up(&ends[1], d);
	if (err == MSD_OK)
		err = move_up(&artifact, d);
	if (err == MSD_OK)
		err = spawn(program, ends[1], artifact, &w->pid, d);
	if (err == MSD_OK) {
		err = (msd_err)modser_open_fd(ends[0], &w->client);
		ends[0] = -1; /* the client closed it otherwise */
		if (err != MSD_OK)
			(void)msd_diag_set(d, err, "the channel cannot be used");
	}
	for (size_t i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			(void)close(ends[i]);
	}
	if (artifact >= 0)
		(void)close(artifact);
	return err;
}

/* The parameters of worker.open. */
struct keys {
	modser_value pairs[2 * MOST_KEYS];
	size_t n;
	char *texts[MOST_KEYS]; /* owned */
	size_t n_texts;
	bool is_bad;
};

static void add(struct keys *k, const char *key, modser_value v)
{
	k->pairs[2 * k->n] = modser_str(key);
	k->pairs[2 * k->n + 1] = v;
	k->n++;
}

static const char *keep(struct keys *k, struct msd_span text)
{
	char *copy = strndup((const char *)text.p, text.n);

	k->is_bad |= copy == NULL;
	k->texts[k->n_texts++] = copy;
	return copy != NULL ? copy : "";
}

/* The options of the command line, as the daemon would send them. */
static void add_options(struct keys *k, const struct msd_run_options *run)
{
	struct msd_buf packed = {0};
	struct msd_wire_value key, v;

	msd_run_options_pack(run, MSD_RUN_WORKER, &packed);
	struct msd_cur c = msd_cur_of((struct msd_span){packed.p, packed.n});
	k->is_bad |= packed.bad;
	while (c.left > 0 && k->n < MSD_RUN_KEYS && k->n_texts + 2 <= MOST_KEYS &&
	       msd_value_read(&c, &key, NULL) == MSD_OK &&
	       msd_value_read(&c, &v, NULL) == MSD_OK) {
		const struct msd_run_key *row =
			msd_run_key_of_wire(key.as.str, MSD_RUN_WORKER);

		if (row == NULL)
			continue;
		if (v.kind == MSD_K_STR) {
			add(k, row->wire, modser_str(keep(k, v.as.str)));
		} else if (v.kind == MSD_K_INT) {
			add(k, row->wire, modser_int(v.as.i));
		} else if (v.kind == MSD_K_BOOL) {
			add(k, row->wire, modser_bool(v.as.b));
		}
	}
	msd_buf_finish(&packed);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

enum msd_exit msd_cli_worker_open(const struct msd_cli_worker *w,
				  const struct msd_cli *cli)
{
	const modser_options options = {.deadline_ms = cli->deadline_ms};
	modser_value *plugins = calloc(cli->n_plugins + 1, sizeof(*plugins));
	struct msd_run_options run = cli->run;
	struct keys k = {.is_bad = plugins == NULL};
	modser_result *answer = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	run.sandbox = MSD_SANDBOX_CPU;
	add_options(&k, &run);
	add(&k, "name", modser_str(MSD_CLI_WORKER_MODULE));
	add(&k, "file", modser_str(base_of(cli->words[0])));
	add(&k, "workers", modser_int(1));
	for (size_t i = 0; plugins != NULL && i < cli->n_plugins; i++)
		plugins[i] = modser_str(cli->plugins[i]);
	if (cli->n_plugins > 0) {
		add(&k, "plugins",
		    (modser_value){.kind = MODSER_TUPLE,
				   .as.tuple = {.item = plugins, .n = cli->n_plugins}});
	}
	const modser_value param = {.kind = MODSER_MAP,
				    .as.tuple = {.item = k.pairs, .n = k.n}};
	if (k.is_bad) {
		code = msd_report_no_memory();
	} else if (modser_request(w->client, "worker.open", &param, 1, &options,
				  &answer) != MODSER_OK &&
		   modser_result_error(answer)->code != MODSER_IO) {
		code = msd_report_refusal(w->client, answer);
	} else if (modser_result_error(answer)->code == MODSER_IO) {
		code = MSD_EXIT_CONNECT; /* msd_cli_worker_end() knows why */
	}
	modser_result_free(answer);
	for (size_t i = 0; i < k.n_texts; i++)
		free(k.texts[i]);
	free(plugins);
	return code;
}

void msd_cli_worker_end(struct msd_cli_worker *w, bool *ret_died, struct msd_diag *d)
{
	int status = 0;

	*ret_died = false;
	modser_close(w->client); /* its exit follows */
	w->client = NULL;
	if (w->pid < 0)
		return;
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	w->pid = -1;
	if (!WIFSIGNALED(status))
		return;
	const char *signal = sigabbrev_np(WTERMSIG(status));
	*ret_died = true;
	(void)msd_diag_set(d, MSD_INTERNAL,
			   "modserd-worker died of the file: signal %s",
			   signal != NULL ? signal : "?");
}
