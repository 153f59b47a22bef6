/*
 * modserd-fetch: downloads models for modserd (protocol: CHANNEL.md). It also pushes
 * them to registries for `modser push`, and checks sources for `modserd
 * --check-config`; those two start it once per call.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/fetch/channel.h"
#include "daemon/fetch/registry/oci_manifest.h"
#include "daemon/fetch/registry/push.h"
#include "daemon/fetch/steps.h"
#include "daemon/fetch/transfer/network_options.h"
#include "daemon/loop/work.h"
#include "daemon/mark.h"
#include "proto/base/inherited.h"

#define CHANNEL_FD 3 /* the supervisor opens it there */
#define ARRIVING_FD 4
#define MORE_THREADS 4095u

static int fail(const char *why)
{
	(void)fprintf(stderr, "modserd-fetch: %s\n", why);
	return 2;
}

/* Report the result to the parent process, which waits for the exit. */
static int tell(msd_err err, struct msd_diag *d)
{
	if (err != MSD_OK)
		(void)fprintf(stderr, "%s %s\n", msd_err_name(err), msd_diag_text(d));
	msd_diag_finish(d);
	return err == MSD_OK ? 0 : 1;
}

static msd_err add_layer(struct msd_push_layer *l, const char *path, const char *type,
			 struct msd_diag *d)
{
	const char *slash = strrchr(path, '/');

	l->type = type;
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (strcmp(type, MSD_OCI_MANIFEST_TYPE) != 0 &&
	    strcmp(type, MSD_OCI_SIGNATURE_TYPE) != 0)
		l->title = slash != NULL ? slash + 1 : path;
	return l->fd >= 0 ? MSD_OK : msd_diag_set(d, MSD_NOT_FOUND, "%s: open", path);
}

static char *said(char *word)
{
	return strcmp(word, "-") != 0 ? word : NULL;
}

/*
 * --push URI AUTH REALM MANIFEST SIGNATURE FILE...; AUTH "-": no credentials, REALM
 * "-": credentials go only to registries, SIGNATURE "-": unsigned. On failure,
 * standard error gets the name of the error code and the reason.
 */
static int push(int n_words, char **words)
{
	struct msd_push_layer layers[MSD_PUSH_LAYERS] = {0};
	struct msd_push_count count;
	struct msd_diag d = {0};
	const struct msd_network_options reach = {.auth = said(words[1]),
						  .realm = said(words[2])};
	unsigned n = 0;
	msd_err err = MSD_OK;

	for (int i = 3; err == MSD_OK && i < n_words && n < MSD_PUSH_LAYERS; i++) {
		const char *type = i == 3   ? MSD_OCI_MANIFEST_TYPE
				   : i == 4 ? MSD_OCI_SIGNATURE_TYPE
					    : "application/octet-stream";

		if (strcmp(words[i], "-") != 0)
			err = add_layer(&layers[n++], words[i], type, &d);
	}
	if (err == MSD_OK)
		err = msd_push(words[0], &reach, layers, n, &count, &d);
	if (err == MSD_OK)
		(void)printf("%u sent, %u there\n", count.n_sent, count.n_there);
	return tell(err, &d);
}

/* --check URI POLICY yes|no: whether plain http is allowed. Reports as --push does. */
static int check(char **words)
{
	enum msd_policy policy = MSD_POLICY_SIGNED;
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	if (!msd_policy_parse(msd_span_of(words[1]), &policy))
		err = msd_diag_set(&d, MSD_BAD_REQUEST, "%s: no policy", words[1]);
	if (err == MSD_OK) {
		err = msd_source_check(words[0], policy, strcmp(words[2], "yes") == 0,
				       &d);
	}
	return tell(err, &d);
}

int main(int argc, char **argv)
{
	static struct msd_fetch_channel desk;
	struct msd_diag d = {0};
	uv_loop_t loop;

	if (!msd_inherited_open_standard())
		return 2;
	msd_mark_set();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("modserd-fetch %s\n", MSD_VERSION);
		return 0;
	}
	if (argc > 7 && strcmp(argv[1], "--push") == 0)
		return push(argc - 2, argv + 2);
	if (argc == 5 && strcmp(argv[1], "--check") == 0)
		return check(argv + 2);
	const bool has_folder = argc == 3 && strcmp(argv[2], "--arriving") == 0;
	if ((argc != 2 && !has_folder) || strcmp(argv[1], "--channel") != 0)
		return fail("only modserd can start this program");
	/* The process also exits when the channel closes. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	const int rc = uv_loop_init(&loop);
	if (rc != 0)
		return fail(uv_strerror(rc));
	/* The supervisor limits the pulls (max-pulls). */
	if (msd_work_open(MSD_WORK_BULK, 1, MORE_THREADS) != 0)
		return fail("a thread cannot be started");
	if (msd_fetch_channel_open(&desk, &loop, CHANNEL_FD,
				   has_folder ? ARRIVING_FD : -1, &d) != MSD_OK)
		return fail(msd_diag_text(&d));
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	return 0;
}
