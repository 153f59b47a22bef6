/* An NVRTC that compiles nothing: its "cubin" is the options that it was given, a line
 * each, and the source. Built for several releases: STUB_VERSION (12090: 12.9) and
 * STUB_ARCHS, the architectures that it knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define API __attribute__((visibility("default")))

static const int archs[] = {STUB_ARCHS};

struct program {
	char *source;
	char *result;
	size_t n;
};

API int nvrtcVersion(int *major, int *minor)
{
	*major = STUB_VERSION / 1000;
	*minor = STUB_VERSION % 1000 / 10;
	return 0;
}

API int nvrtcGetNumSupportedArchs(int *ret)
{
	*ret = (int)(sizeof(archs) / sizeof(archs[0]));
	return 0;
}

API int nvrtcGetSupportedArchs(int *ret)
{
	memcpy(ret, archs, sizeof(archs));
	return 0;
}

API int nvrtcCreateProgram(struct program **ret, const char *source, const char *name,
			   int n_headers, const char *const *headers,
			   const char *const *names)
{
	(void)name, (void)n_headers, (void)headers, (void)names;
	struct program *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return 1;
	p->source = strdup(source);
	*ret = p;
	return p->source != NULL ? 0 : 1;
}

API int nvrtcDestroyProgram(struct program **p)
{
	free((*p)->source);
	free((*p)->result);
	free(*p);
	*p = NULL;
	return 0;
}

/* What a compiler says that finds no C++ library. */
#define ABSENT "#include <stub/absent>"
static const char absent_log[] =
	"module.cu(3): catastrophic error: cannot open source file "
	"\"cuda/std/cstdint\"\n";

static int is_absent(const struct program *p)
{
	return strstr(p->source, ABSENT) != NULL;
}

API int nvrtcCompileProgram(struct program *p, int n, const char *const *options)
{
	if (is_absent(p))
		return 6;
	FILE *f = open_memstream(&p->result, &p->n);

	if (f == NULL)
		return 1;
	for (int i = 0; i < n; i++)
		(void)fprintf(f, "%s\n", options[i]);
	(void)fputs(p->source, f);
	return fclose(f) == 0 ? 0 : 1;
}

API int nvrtcGetProgramLogSize(struct program *p, size_t *ret)
{
	*ret = is_absent(p) ? sizeof(absent_log) : 1;
	return 0;
}

API int nvrtcGetProgramLog(struct program *p, char *ret)
{
	memcpy(ret, is_absent(p) ? absent_log : "",
	       is_absent(p) ? sizeof(absent_log) : 1);
	return 0;
}

API int nvrtcGetCUBINSize(struct program *p, size_t *ret)
{
	*ret = p->n;
	return 0;
}

API int nvrtcGetCUBIN(struct program *p, char *ret)
{
	memcpy(ret, p->result, p->n);
	return 0;
}

API int nvrtcGetPTXSize(struct program *p, size_t *ret)
{
	return nvrtcGetCUBINSize(p, ret);
}

API int nvrtcGetPTX(struct program *p, char *ret)
{
	return nvrtcGetCUBIN(p, ret);
}

API const char *nvrtcGetErrorString(int code)
{
	return code == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_OF_THE_STUB";
}
