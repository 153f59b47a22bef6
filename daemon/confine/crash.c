#include "daemon/confine/crash.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MINSIGSTKSZ is no longer a constant, and AVX-512 frames are large. */
#define STACK_BYTES (64u * 1024u)

static const struct {
	int number;
	const char *name;
} fatal[] = {{SIGSEGV, "SIGSEGV"},
	     {SIGBUS, "SIGBUS"},
	     {SIGFPE, "SIGFPE"},
	     {SIGILL, "SIGILL"},
	     {SIGABRT, "SIGABRT"}};
#define N_FATAL (sizeof(fatal) / sizeof(fatal[0]))

/* Read by the handler, on any thread. */
static const char *volatile doing_what;
static const char *volatile doing_name;
static const char *program;

/* A line built without stdio: the process may be in any state. */
struct line {
	char text[256];
	size_t n;
};

static void line_add(struct line *l, const char *text)
{
	size_t n = strlen(text);

	if (n > sizeof(l->text) - 1 - l->n)
		n = sizeof(l->text) - 1 - l->n;
	memcpy(l->text + l->n, text, n);
	l->n += n;
}

static void line_add_hex(struct line *l, uintptr_t v)
{
	char digits[2 * sizeof(v) + 3];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v != 0);
	digits[--at] = 'x';
	digits[--at] = '0';
	line_add(l, digits + at);
}

static void on_fatal(int number, siginfo_t *info, void *context)
{
	struct line l = {.n = 0};
	const char *name = "a fatal signal";
	const char *what = doing_what;

	(void)context;
	for (size_t i = 0; i < N_FATAL; i++) {
		if (fatal[i].number == number)
			name = fatal[i].name;
	}
	line_add(&l, program);
	line_add(&l, ": ");
	line_add(&l, name);
	if (number != SIGABRT && info->si_code > 0) {
		line_add(&l, " at ");
		line_add_hex(&l, (uintptr_t)info->si_addr);
	}
	if (what != NULL) {
		line_add(&l, " in ");
		line_add(&l, what);
		line_add(&l, " ");
		line_add(&l, doing_name);
	}
	l.text[l.n++] = '\n';
	(void)!write(STDERR_FILENO, l.text, l.n);
	/* SA_RESETHAND has restored the default action; it is taken on return. */
	(void)raise(number);
}

void msd_crash_note(const char *what, const char *name)
{
	doing_name = name;
	doing_what = what;
}

void msd_crash_install(const char *name)
{
	static stack_t stack; /* stays reachable: it is never freed */
	struct sigaction action = {
		.sa_sigaction = on_fatal,
		.sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};

	program = name;
	stack.ss_sp = malloc(STACK_BYTES);
	stack.ss_size = STACK_BYTES;
	if (stack.ss_sp != NULL)
		(void)sigaltstack(&stack, NULL);
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_FATAL; i++)
		(void)sigaction(fatal[i].number, &action, NULL);
}

void msd_crash_uninstall(void)
{
	for (size_t i = 0; i < N_FATAL; i++)
		(void)signal(fatal[i].number, SIG_DFL);
}
