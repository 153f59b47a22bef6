/* CUDA code as text and as JSON: a line for the code, one for each image, one for
 * each kernel with its resources. Both omit numbers that the code does not record. */
#include <inttypes.h>
#include <string.h>

#include "artifact/gpu/code.h"
#include "artifact/json.h"

static const char *kind_name(const struct msd_gpu_image *image)
{
	switch (image->kind) {
	case MSD_GPU_PTX:
		return "PTX";
	case MSD_GPU_CUBIN:
		return "cubin";
	case MSD_GPU_OTHER:
		break;
	}
	return "something else";
}

static void put_number(struct msd_buf *out, int64_t n, const char *what)
{
	if (n >= 0)
		msd_buf_printf(out, ", %" PRId64 " %s", n, what);
}

static void put_kernel(struct msd_buf *out, const struct msd_gpu_kernel *k)
{
	const int64_t *t = k->max_threads;
	size_t start;

	msd_buf_printf(out, "%s:", k->name);
	start = out->n;
	if (k->params != NULL)
		msd_buf_printf(out, ", (%s)", k->params);
	put_number(out, k->registers, "registers");
	put_number(out, k->shared_bytes, "B shared");
	if (k->has_dynamic_shared)
		msd_buf_printf(out, ", dynamic shared");
	put_number(out, k->local_bytes > 0 ? k->local_bytes : -1, "B local");
	put_number(out, k->const_bytes, "B constant");
	put_number(out, k->param_bytes, "B parameters");
	if (t[0] > 0) {
		msd_buf_printf(out, ", %s %" PRId64 "x%" PRId64 "x%" PRId64 " threads",
			       k->is_exact ? "exactly" : "at most", t[0], t[1], t[2]);
	}
	if (!out->bad && out->n > start) /* the first comma */
		memmove(out->p + start, out->p + start + 1, --out->n - start);
	msd_buf_printf(out, "\n");
}

static void put_image(struct msd_buf *out, const struct msd_gpu_image *image,
		      int indent)
{
	char arch[MSD_GPU_ARCH_MAX];

	msd_gpu_arch_format(image, arch);
	msd_buf_printf(out, "%*s%s", indent, "", kind_name(image));
	if (image->isa_major != 0) {
		msd_buf_printf(out, " %" PRIu32 ".%" PRIu32, image->isa_major,
			       image->isa_minor);
	}
	msd_buf_printf(out, " for %s", arch[0] != '\0' ? arch : "an unknown device");
	if (image->address_bits != 0)
		msd_buf_printf(out, ", %" PRIu32 "-bit", image->address_bits);
	msd_buf_printf(out, ", %" PRIu64 " bytes", image->bytes);
	if (image->compression != NULL)
		msd_buf_printf(out, ", compressed (%s)", image->compression);
	msd_buf_printf(out, "\n");
	for (size_t i = 0; i < image->n_kernels; i++) {
		msd_buf_printf(out, "%*s", indent + 2, "");
		put_kernel(out, &image->kernels[i]);
	}
	if (image->n_more > 0) {
		msd_buf_printf(out, "%*s%zu more kernels\n", indent + 2, "",
			       image->n_more);
	}
}

void msd_gpu_code_text(const struct msd_gpu_code *code, int indent, struct msd_buf *out)
{
	for (size_t i = 0; i < code->n_images; i++)
		put_image(out, &code->images[i], indent);
}

static void set_number(json_t **map, const char *key, int64_t n)
{
	if (n >= 0)
		msd_json_set(map, key, json_integer(n));
}

static json_t *kernel_json(const struct msd_gpu_kernel *k)
{
	const int64_t *t = k->max_threads;
	json_t *map = json_pack("{s:o}", "name", msd_json_string(k->name));

	if (k->params != NULL)
		msd_json_set(&map, "params", msd_json_string(k->params));
	set_number(&map, "n_params", k->n_params);
	set_number(&map, "param_bytes", k->param_bytes);
	set_number(&map, "registers", k->registers);
	set_number(&map, "shared_bytes", k->shared_bytes);
	set_number(&map, "local_bytes", k->local_bytes);
	set_number(&map, "const_bytes", k->const_bytes);
	if (t[0] > 0) {
		msd_json_set(&map, "max_threads",
			     json_pack("[I,I,I]", (json_int_t)t[0], (json_int_t)t[1],
				       (json_int_t)t[2]));
		msd_json_set(&map, "exact_threads", json_boolean(k->is_exact));
	}
	if (k->has_dynamic_shared)
		msd_json_set(&map, "dynamic_shared", json_true());
	return map;
}

static json_t *image_json(const struct msd_gpu_image *image)
{
	static const char *const kinds[] = {"ptx", "cubin", "other"};
	char arch[MSD_GPU_ARCH_MAX];
	char version[32];
	json_t *kernels = json_array();
	json_t *map = json_pack("{s:s,s:o,s:I}", "kind", kinds[image->kind], "arch",
				msd_json_string(msd_gpu_arch_format(image, arch)),
				"bytes", (json_int_t)image->bytes);

	(void)snprintf(version, sizeof(version), "%" PRIu32 ".%" PRIu32,
		       image->isa_major, image->isa_minor);
	if (image->isa_major != 0)
		msd_json_set(&map, "ptx_version", json_string(version));
	if (image->address_bits != 0)
		msd_json_set(&map, "address_bits", json_integer(image->address_bits));
	if (image->compression != NULL)
		msd_json_set(&map, "compression", msd_json_string(image->compression));
	for (size_t i = 0; i < image->n_kernels; i++)
		msd_json_add(&kernels, kernel_json(&image->kernels[i]));
	msd_json_set(&map, "kernels", kernels);
	if (image->n_more > 0) {
		msd_json_set(&map, "more_kernels",
			     json_integer((json_int_t)image->n_more));
	}
	return map;
}

json_t *msd_gpu_code_json(const struct msd_gpu_code *code)
{
	json_t *list = json_array();

	for (size_t i = 0; i < code->n_images; i++)
		msd_json_add(&list, image_json(&code->images[i]));
	return list;
}
