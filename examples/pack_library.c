/*
 * pack_library OUT.so: build a library of TVM 0.22 and later from a C function and an
 * OpenCL kernel, without TVM. The function `answer` runs anywhere; the kernel `scale`
 * needs OpenCL.
 */
#include <modser_pack.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kernel[] = "// Function: scale\n"
			     "__kernel void scale(__global float *x, float by)\n"
			     "{\n"
			     "\tx[get_global_id(0)] *= by;\n"
			     "}\n";

/* A packed function of TVM: arguments are pairs of type and value. */
static const char host[] =
	"#include <stdint.h>\n"
	"struct any { int32_t type; uint32_t zero; int64_t i; };\n"
	"void *__tvm_ffi__library_ctx;\n"
	"int __tvm_ffi_answer(void *self, const struct any *args, int32_t n,\n"
	"\t\t     struct any *ret)\n"
	"{\n"
	"\t(void)self; (void)args; (void)n;\n"
	"\tret->type = 1;\n"
	"\tret->i = 42;\n"
	"\treturn 0;\n"
	"}\n";

/* The tree: the host code, which imports the kernels. */
static int make_blob(unsigned char **ret, size_t *ret_bytes)
{
	static const char *const types[] = {"handle", "float32"};
	static const char *const tags[] = {"blockIdx.x", "threadIdx.x"};
	static const modser_kernel scale = {"scale", types, 2, tags, 2};
	modser_tree *tree = modser_tree_create(MODSER_TVM_0_22);

	if (tree == NULL)
		return -1;
	long lib = modser_tree_add(tree, "_lib", NULL, 0);
	long kernels = modser_tree_add_kernels(tree, "opencl", "cl", kernel,
					       sizeof(kernel) - 1, &scale, 1);
	int rc = modser_tree_import(tree, lib, kernels);
	if (rc == 0)
		rc = modser_tree_save(tree, ret, ret_bytes);
	if (rc != 0)
		(void)fprintf(stderr, "%s\n", modser_tree_error(tree));
	modser_tree_destroy(tree);
	return rc;
}

/* The host code, and the blob behind its symbol, as one C file. */
static int write_source(FILE *f, const unsigned char *blob, size_t bytes)
{
	(void)fprintf(f, "%sconst unsigned char %s[%zu] = {\n", host,
		      modser_tree_symbol(MODSER_TVM_0_22), bytes);
	for (size_t i = 0; i < bytes; i++)
		(void)fprintf(f, "%u,%s", blob[i], i % 16 == 15 ? "\n" : "");
	(void)fprintf(f, "};\n");
	return ferror(f) != 0 ? -1 : 0;
}

static int link_library(const char *out, const unsigned char *blob, size_t bytes)
{
	int ends[2];
	int status = 0;

	if (pipe(ends) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) { /* the compiler reads the source from the pipe */
		(void)dup2(ends[0], STDIN_FILENO);
		(void)close(ends[0]);
		(void)close(ends[1]);
		(void)execlp("cc", "cc", "-shared", "-fPIC", "-x", "c", "-", "-o", out,
			     (char *)NULL);
		_exit(127);
	}
	(void)close(ends[0]);
	FILE *f = fdopen(ends[1], "w");
	int rc = f != NULL ? write_source(f, blob, bytes) : -1;
	if (f != NULL && fclose(f) != 0)
		rc = -1;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		return -1;
	return rc;
}

int main(int argc, char **argv)
{
	unsigned char *blob = NULL;
	size_t bytes = 0;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: pack_library OUT.so\n");
		return 2;
	}
	int rc = make_blob(&blob, &bytes);
	if (rc == 0)
		rc = link_library(argv[1], blob, bytes);
	free(blob);
	return rc == 0 ? 0 : 1;
}
