/* Finds the relevant line in the output of a failed compiler, and advice for it. */
#include <string.h>

#include "client/build/compiler.h"

struct msd_span msd_compiler_cause(struct msd_span said)
{
	static const char *const words[] = {"error", "undefined reference",
					    "multiple definition", "cannot find"};
	struct msd_span last = {0};

	for (size_t at = 0; at < said.n;) {
		const uint8_t *end = memchr(said.p + at, '\n', said.n - at);
		size_t n = end != NULL ? (size_t)(end - said.p) - at : said.n - at;
		struct msd_span line = {said.p + at, n};

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (memmem(line.p, line.n, words[i], strlen(words[i])) != NULL)
				return line;
		}
		if (n > 0)
			last = line;
		at += n + 1;
	}
	return last;
}

enum msd_compiler_bound msd_compiler_overrun(int signal, struct msd_span said)
{
	/* Messages of gcc, clang, their assemblers and linkers. */
	static const struct {
		const char *words;
		enum msd_compiler_bound bound;
	} known[] = {{"CPU time limit exceeded", MSD_COMPILER_CPU},
		     {"File size limit exceeded", MSD_COMPILER_FILE},
		     {"File too large", MSD_COMPILER_FILE},
		     {"out of memory", MSD_COMPILER_MEMORY},
		     {"memory exhausted", MSD_COMPILER_MEMORY},
		     {"Cannot allocate memory", MSD_COMPILER_MEMORY},
		     {"std::bad_alloc", MSD_COMPILER_MEMORY}};

	if (signal == SIGXCPU)
		return MSD_COMPILER_CPU;
	if (signal == SIGXFSZ)
		return MSD_COMPILER_FILE;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (memmem(said.p, said.n, known[i].words, strlen(known[i].words)) !=
		    NULL)
			return known[i].bound;
	}
	return MSD_COMPILER_WITHIN;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_of_name(uint8_t c)
{
	return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* "float4", "uint8_t16": OpenCL's vector names, and the same for exact-width types. */
static bool is_vector(struct msd_span name)
{
	static const char *const bases[] = {
		"float",   "double",  "half",     "int8_t",   "int16_t", "int32_t",
		"int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
	size_t n = name.n;

	while (n > 0 && is_digit(name.p[n - 1]))
		n--;
	for (size_t i = 0; n < name.n && i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (msd_span_is((struct msd_span){name.p, n}, bases[i]))
			return true;
	}
	return false;
}

const char *msd_compiler_advice(struct msd_span cause)
{
	size_t n;

	for (size_t at = 0; at < cause.n; at += n + 1) {
		n = 0;
		while (at + n < cause.n && is_of_name(cause.p[at + n]))
			n++;
		if (is_vector((struct msd_span){cause.p + at, n})) {
			return "; that is a vector, for which TVM's C target writes "
			       "what no C compiler knows: compile the model again "
			       "with the pass option tir.disable_vectorize (tvmc: "
			       "--pass-config tir.disable_vectorize=1)";
		}
	}
	return "";
}
