/*
 * Happy path: collect the allowed paths (sandbox_paths.h), drop privileges, restrict
 * files (landlock.h), and last system calls (bulk_reject.h), because the earlier steps
 * need some. Failures: a part that the kernel refuses is skipped; the rest is enforced.
 */
#include "daemon/confine/sandbox.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/confine/refusal.h"
#include "daemon/confine/sandbox_paths.h"
#include "daemon/mark.h"
#include "proto/value.h"

void msd_sandbox_look(struct msd_sandbox_kernel *ret)
{
	ret->landlock_abi = msd_landlock_abi();
	/* Fails if the kernel lacks seccomp, and otherwise has no effect. */
	ret->has_seccomp = prctl(PR_GET_SECCOMP) >= 0;
}

/* Needed mostly for root: a sandbox must also confine root. A process without
 * capabilities loses nothing. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {{0}};

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)syscall(SYS_capset, &head, none);
}

/* Writing too large a file is an error, and does not kill the process. */
static void limit_files(uint64_t most)
{
	const struct rlimit limit = {most, most};

	(void)signal(SIGXFSZ, SIG_IGN);
	(void)setrlimit(RLIMIT_FSIZE, &limit);
}

static bool enter_files(const struct msd_sandbox_plan *plan, unsigned abi)
{
	struct msd_landlock l;

	if (!msd_landlock_begin(&l, abi))
		return false;
	msd_sandbox_paths_allow(plan, &l);
	return msd_landlock_enter(&l);
}

/* NVIDIA's OpenCL and CUDA drivers do not start if they cannot listen on a local
 * socket. */
static enum msd_refused_sockets sockets_of(enum msd_sandbox_word profile)
{
	const bool has_nvidia = access(MSD_PLACE_NVIDIA, F_OK) == 0;

	return profile == MSD_SANDBOX_CPU ||
			       (profile == MSD_SANDBOX_OPENCL && !has_nvidia)
		       ? MSD_REFUSED_ALL_SOCKETS
		       : MSD_REFUSED_NETWORK;
}

void msd_sandbox_enter(const struct msd_sandbox_plan *plan,
		       const struct msd_sandbox_kernel *kernel, struct msd_sandbox *ret)
{
	const unsigned abi = kernel->landlock_abi;

	*ret = (struct msd_sandbox){.profile = plan->profile};
	if (plan->profile == MSD_SANDBOX_TRUSTED || plan->profile == MSD_SANDBOX_UNSAID)
		return;
	drop_capabilities();
	limit_files(plan->max_file_bytes);
	msd_mark_confine();
	ret->has_files = enter_files(plan, abi);
	ret->has_truncate = ret->has_files && abi >= MSD_LANDLOCK_TRUNCATE;
	ret->has_signals = ret->has_files && abi >= MSD_LANDLOCK_SIGNALS;
	const struct msd_refusal refusal = {
		.sockets = sockets_of(plan->profile),
		.loop_fd = plan->loop_fd,
		.channel_fd = plan->channel_fd,
		.last_fd = plan->last_fd,
		.others_signals = !ret->has_signals,
	};
	ret->has_calls = kernel->has_seccomp && msd_refusal_enter(&refusal);
	ret->has_signals = ret->has_signals || ret->has_calls;
}

void msd_sandbox_put(const struct msd_sandbox *s, struct msd_buf *out)
{
	const bool is_none =
		s->profile == MSD_SANDBOX_TRUSTED || s->profile == MSD_SANDBOX_UNSAID;
	const struct {
		const char *name;
		bool holds;
	} parts[] = {{"files", s->has_files},
		     {"truncate", s->has_truncate},
		     {"calls", s->has_calls},
		     {"signals", s->has_signals}};
	const size_t n_parts = sizeof(parts) / sizeof(parts[0]);
	size_t n_lacking = 0;

	for (size_t i = 0; i < n_parts && !is_none; i++)
		n_lacking += !parts[i].holds;
	msd_pack_map(out, 2);
	msd_pack_pair_str(out, "profile",
			  is_none ? "trusted" : msd_sandbox_word_name(s->profile));
	msd_pack_cstr(out, "lacks");
	msd_pack_array(out, n_lacking);
	for (size_t i = 0; i < n_parts && !is_none; i++) {
		if (!parts[i].holds)
			msd_pack_cstr(out, parts[i].name);
	}
}
