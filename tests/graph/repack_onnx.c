/* repack_onnx FILE...: unpack each ONNX file's message and pack it again; name those
 * that become other bytes. */
#include <onnx.pb-c.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *read_file(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "rbe");
	long n;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0 ||
	    fseek(f, 0, SEEK_SET) != 0)
		abort();
	uint8_t *p = malloc((size_t)n + 1);
	if (p == NULL || fread(p, 1, (size_t)n, f) != (size_t)n)
		abort();
	(void)fclose(f);
	*ret_n = (size_t)n;
	return p;
}

static bool is_same(const char *path)
{
	size_t n;
	uint8_t *bytes = read_file(path, &n);
	Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
	uint8_t *again =
		m != NULL ? malloc(onnx__model_proto__get_packed_size(m) + 1) : NULL;
	const bool is_so = again != NULL && onnx__model_proto__pack(m, again) == n &&
			   memcmp(bytes, again, n) == 0;

	onnx__model_proto__free_unpacked(m, NULL);
	free(again);
	free(bytes);
	return is_so;
}

int main(int argc, char **argv)
{
	int n_others = 0;

	for (int i = 1; i < argc; i++) {
		if (!is_same(argv[i])) {
			printf("%s\n", argv[i]);
			n_others++;
		}
	}
	return n_others > 0;
}
