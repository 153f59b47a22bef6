/*
 * Happy path: the page is created, the words of the command line are written, and the
 * process is started with page and socket. It ends with the client. Failures: without
 * page or process the caller tells the client; a process that runs too long, or dies,
 * is explained by the page.
 */
#include "daemon/supervisor/rpc/rpc_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/limits.h"
#include "daemon/rpc_page.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/process_parts.h"
#include "proto/base/errno_text.h"
#include "proto/tvm_rpc/packet.h"

#define MOST_TEXT_BYTES 1024u /* of an exception */

/* The file cannot shrink: a session must not be able to end the supervisor. */
static msd_err make_page(struct msd_rpc_page **ret, int *ret_fd, struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	void *page = MAP_FAILED;
	const int fd = memfd_create("modserd-rpc", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && ftruncate(fd, sizeof(**ret)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
		page = mmap(NULL, sizeof(**ret), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);
	}
	if (page != MAP_FAILED) {
		*ret = page;
		*ret_fd = fd;
		return MSD_OK;
	}
	const msd_err err = msd_diag_set(d, MSD_IO, "modserd-rpc: its page: %s",
					 msd_errno_text(errno, text));
	if (fd >= 0)
		(void)close(fd);
	return err;
}

static void put_count(struct msd_buf *words, const char *key, uint64_t value)
{
	msd_buf_printf(words, "%s=%llu", key, (unsigned long long)value);
	msd_buf_put(words, "", 1);
}

static void put_text(struct msd_buf *words, const char *key, const char *value)
{
	msd_buf_printf(words, "%s%s", key, value);
	msd_buf_put(words, "", 1);
}

/* Each word ends with NUL. */
static void put_words(struct msd_buf *words, const char *program,
		      const struct msd_module_registry *registry, uint64_t number)
{
	const struct msd_limits *l = registry->limits;
	const char *sandbox = msd_sandbox_word_name(registry->sandbox.word);

	put_text(words, program, "");
	put_text(words, "--name", "");
	msd_buf_printf(words, "rpc-%llu", (unsigned long long)number);
	msd_buf_put(words, "", 1);
	put_count(words, "max-data", l->max_worker_memory);
	put_count(words, "max-open-files", l->max_worker_files);
	put_count(words, "max-core", l->max_worker_core);
	put_count(words, "max-payload", l->max_payload);
	put_count(words, "max-rpc-files", l->max_rpc_files);
	put_count(words, "read-stall", l->read_stall_ms);
	put_count(words, "write-stall", l->write_stall_ms);
	put_count(words, "threads", registry->threads);
	put_count(words, "parent", (uint64_t)getpid());
	put_count(words, "group", registry->groups != NULL);
	if (sandbox != NULL)
		put_text(words, "sandbox=", sandbox);
	for (const char *const *p = registry->sandbox.reads; p != NULL && *p != NULL;
	     p++)
		put_text(words, "may-read=", *p);
	for (const char *const *p = registry->sandbox.writes; p != NULL && *p != NULL;
	     p++)
		put_text(words, "may-write=", *p);
}

/* The addresses of the words, then NULL. Owned by the caller; NULL: no memory. */
static char **point_at(const struct msd_buf *words)
{
	size_t n = 0;

	for (size_t i = 0; i < words->n; i++)
		n += words->p[i] == 0;
	char **ret = calloc(n + 1, sizeof(*ret));
	char *at = (char *)words->p;
	for (size_t i = 0; ret != NULL && i < n; i++) {
		ret[i] = at;
		at += strlen(at) + 1;
	}
	return ret;
}

static msd_err spawn(struct msd_rpc_process *p, char **argv,
		     struct msd_module_registry *registry, int page_fd, int socket_fd,
		     const struct msd_child_ops *ops, void *user, struct msd_diag *d)
{
	struct msd_child_how how = {.argv = argv,
				    .fds = {page_fd, socket_fd},
				    .n_fds = 2,
				    .user = registry->worker_user};
	msd_err err = MSD_OK;

	if (registry->groups != NULL) {
		struct msd_cgroup_limits limits;
		msd_process_group_limits(registry->limits, &limits);
		err = msd_cgroup_create(registry->groups, &limits, &how.group, d);
		if (err != MSD_OK)
			return err;
		how.fds[how.n_fds++] = msd_cgroup_join_fd(how.group);
	}
	err = msd_child_spawn(registry->reaper, &how, ops, user, &p->child, d);
	if (err != MSD_OK)
		msd_cgroup_end(how.group);
	return err;
}

msd_err msd_rpc_process_start(struct msd_rpc_process *p, char *program,
			      struct msd_module_registry *registry, int socket_fd,
			      uint64_t number, const struct msd_child_ops *ops,
			      void *user, struct msd_diag *d)
{
	struct msd_buf words = {0};
	char **argv = NULL;
	int page_fd = -1;
	msd_err err = make_page(&p->page, &page_fd, d);

	if (err != MSD_OK)
		return err;
	put_words(&words, program, registry, number);
	if (!words.bad)
		argv = point_at(&words);
	err = argv == NULL ? msd_diag_no_memory(d)
			   : spawn(p, argv, registry, page_fd, socket_fd, ops, user, d);
	free(argv);
	msd_buf_finish(&words);
	(void)close(page_fd);
	return err;
}

static bool is_over(uint64_t limit_ms, uint64_t ms)
{
	return limit_ms > 0 && ms >= limit_ms;
}

const char *msd_rpc_process_look(struct msd_rpc_process *p,
				 const struct msd_limits *limits, uint64_t now_ms)
{
	const uint32_t state = msd_rpc_page_state_of(p->page);
	const uint64_t packets = __atomic_load_n(&p->page->n_packets, __ATOMIC_RELAXED);

	if (p->seen_ms == 0 || packets != p->seen_packets || state != p->seen_state) {
		p->seen_packets = packets;
		p->seen_state = state;
		p->seen_ms = now_ms;
		return NULL;
	}
	const uint64_t ms = now_ms - p->seen_ms;
	if (state == MSD_RPC_PAGE_IDLE)
		return is_over(limits->idle_ms, ms) ? "no requests for --idle" : NULL;
	/* A session ends writes that stall itself. */
	if (state == MSD_RPC_PAGE_RUNNING && is_over(limits->max_run_ms, ms))
		return "a call ran longer than --max-run";
	return NULL;
}

uint64_t msd_rpc_process_look_ms(const struct msd_limits *limits)
{
	uint64_t least = limits->max_run_ms;

	if (limits->idle_ms > 0 && (least == 0 || limits->idle_ms < least))
		least = limits->idle_ms;
	return least == 0 ? 0 : least / 4 + 1;
}

/* The page and the last words come from a process that ran foreign code. */
static void put_printable(struct msd_buf *text, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && text->n < MOST_TEXT_BYTES; i++) {
		const uint8_t c = p[i];
		const bool is_plain = (c >= ' ' && c <= '~') || c == '\n';

		msd_buf_put(text, is_plain ? &c : (const uint8_t *)"?", 1);
	}
}

static bool has_part_of_answer(const struct msd_rpc_page *p, uint64_t written)
{
	return msd_rpc_page_state_of(p) == MSD_RPC_PAGE_WRITING &&
	       written != p->out_bytes && written != p->out_bytes + p->answer_bytes;
}

void msd_rpc_process_tell(const struct msd_rpc_process *p, struct msd_span why,
			  uint64_t written, struct msd_buf *out)
{
	const struct msd_rpc_packet packet = {.code = MSD_RPC_EXCEPTION};
	enum msd_rpc_era era = MSD_RPC_FFI;
	struct msd_rpc_value v = {.kind = MSD_RPC_TEXT};
	struct msd_buf text = {0};
	char name[MSD_RPC_PAGE_NAME_BYTES];
	size_t n_name = 0;

	if (p->page != NULL) {
		if (has_part_of_answer(p->page, written))
			return;
		era = p->page->is_classic != 0 ? MSD_RPC_CLASSIC : MSD_RPC_FFI;
		memcpy(name, p->page->name, sizeof(name));
		n_name = strnlen(name, sizeof(name));
	}
	put_printable(&text, why.p, why.n);
	if (n_name > 0) {
		msd_buf_printf(&text, "; in ");
		put_printable(&text, (const uint8_t *)name, n_name);
	}
	v.as.bytes = (struct msd_span){text.p, text.n};
	if (!text.bad)
		msd_rpc_packet_write(out, &packet, era, &v, 1);
	msd_buf_finish(&text);
}

void msd_rpc_process_finish(struct msd_rpc_process *p)
{
	if (p->page != NULL)
		(void)munmap(p->page, sizeof(*p->page));
	p->page = NULL;
}
