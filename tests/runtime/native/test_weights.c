/* The file of packed weights that the workers of a module share. Each test is a process
 * of its own; one process fills the file and then uses it as another worker would. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/engine/weights.h"
#include "runtime/plan/ahead.h"
#include "tests/runtime/native/agree.h"

#define ROOM (UINT64_C(4) << 20)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define CHANNELS 16 /* small: by Winograd's method alone a block is shared */
#define KEY "a key"

static int empty_file(void)
{
	const int fd = memfd_create("weights", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, ROOM), 0);
	return fd;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return (uint64_t)st.st_size;
}

static struct msd_span span_of(const char *text)
{
	return (struct msd_span){(const uint8_t *)text, strlen(text)};
}

static struct msd_weights_file file_of(int fd, bool is_filled, const char *key)
{
	return (struct msd_weights_file){fd, is_filled, size_of(fd), span_of(key)};
}

static modser_sg_tensor *convolve(modser_graph *g, modser_sg_tensor *x, float factor,
				  unsigned seed)
{
	const int64_t dims[] = {CHANNELS, CHANNELS, 3, 3};
	const size_t n = (size_t)CHANNELS * CHANNELS * 9;
	float *w = levels_numbers(n, seed);

	for (size_t i = 0; i < n; i++)
		w[i] *= factor;
	modser_sg_tensor *weights = net_constant(g, "float32", 4, dims, w);
	(void)modser_sg_tensor_set_buffer(weights, w, free);
	modser_sg_tensor *y = then(g, "Convolution", x, weights);
	modser_sg_node *conv = modser_graph_node(g, modser_graph_node_count(g) - 1);
	set_int(conv, "kernel_h", 3);
	set_int(conv, "kernel_w", 3);
	return y;
}

/* Two convolutions of the same sizes; the weights of the first are too large for
 * Winograd's method if @factor is. */
static modser_graph *graph(float factor)
{
	const int64_t dims[] = {1, CHANNELS, 9, 9};
	modser_graph *g = modser_graph_create("weights");
	modser_sg_tensor *x = convolve(g, given(g, 4, dims, 51), factor, 52);

	(void)modser_graph_add_output(g, convolve(g, x, 1 / factor, 53));
	return g;
}

static struct msd_plan *plan_of(modser_graph *g)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	msd_pool_configure(1);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	msd_plan_pack(plan);
	return plan;
}

/* Load @g with @file, and return the bytes that are shared then. */
static uint64_t load(modser_graph *g, const struct msd_weights_file *file,
		     struct msd_plan **ret)
{
	msd_weights_begin(file);
	*ret = plan_of(g);
	return msd_weights_end();
}

static void expect_result(struct msd_plan *plan, const float *want, size_t n)
{
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_expect(memcmp(msd_plan_output(plan, 0), want, n * sizeof(*want)) == 0);
}

/* The first worker, the second, and private weights: the same bits. */
static void expect_shared(float factor, size_t n_blocks)
{
	modser_graph *g = graph(factor);
	const int fd = empty_file();
	struct msd_plan *first, *second;
	size_t n;
	float *want = run(g, "native", 1, &n);
	struct msd_weights_file file = file_of(fd, false, KEY);
	const uint64_t filled = load(g, &file, &first);

	cr_expect_geq(filled, n_blocks * CHANNELS * CHANNELS * 16 * sizeof(float));
	cr_expect_eq(fcntl(fd, F_GET_SEALS) & SEALS, SEALS);
	cr_expect_lt(size_of(fd), ROOM);
	file = file_of(fd, true, KEY);
	cr_expect_eq(load(g, &file, &second), 2 * filled,
		     "both plans are in this process");
	expect_result(first, want, n);
	expect_result(second, want, n);
	msd_plan_destroy(first);
	msd_plan_destroy(second);
	cr_expect_eq(msd_weights_sum().bytes, 0);
	cr_expect_eq(msd_weights_sum().shared_bytes, 0);
	free(want);
	modser_graph_destroy(g);
	(void)close(fd);
}

Test(weights, are_filled_once_and_have_the_same_bits)
{
	expect_shared(1, 2);
}

/* The second convolution's block must not be taken for the first. */
Test(weights, of_a_node_that_tries_two_ways_are_not_mixed_up)
{
	expect_shared(1e30F, 1);
}

/* A file that one load has filled. */
static int filled_file(void)
{
	modser_graph *g = graph(1);
	const int fd = empty_file();
	const struct msd_weights_file file = file_of(fd, false, KEY);
	struct msd_plan *plan;

	cr_assert_gt(load(g, &file, &plan), 0);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	return fd;
}

/* Load with @file, which cannot be used: nothing is shared, and results are right. */
static void expect_private(const struct msd_weights_file *file)
{
	modser_graph *g = graph(1);
	struct msd_plan *plan;
	size_t n;
	float *want = run(g, "native", 1, &n);

	cr_expect_eq(load(g, file, &plan), 0);
	expect_result(plan, want, n);
	msd_plan_destroy(plan);
	free(want);
	modser_graph_destroy(g);
}

Test(weights, with_another_key_are_private)
{
	const int fd = filled_file();
	const struct msd_weights_file file = file_of(fd, true, "b key");

	expect_private(&file);
}

Test(weights, of_another_size_than_announced_are_private)
{
	const int fd = filled_file();
	struct msd_weights_file file = file_of(fd, true, KEY);

	file.bytes--;
	expect_private(&file);
}

/* A copy of the file @fd with its first @n bytes; the others are 0. */
static int copy_of(int fd, size_t n, bool is_sealed)
{
	const size_t size = (size_t)size_of(fd);
	const int copy = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	cr_assert_neq(bytes, MAP_FAILED);
	cr_assert_eq(write(copy, bytes, n), (ssize_t)n);
	cr_assert_eq(ftruncate(copy, (off_t)size), 0);
	if (is_sealed)
		cr_assert_eq(fcntl(copy, F_ADD_SEALS, SEALS), 0);
	(void)munmap(bytes, size);
	return copy;
}

/* The same bytes in a file that a worker could still change. */
Test(weights, without_seals_are_private)
{
	const int fd = filled_file();
	const int open = copy_of(fd, (size_t)size_of(fd), false);
	const struct msd_weights_file file = file_of(open, true, KEY);

	expect_private(&file);
}

/* Nothing, a part of the head, or no index: as if its worker had died there. */
Test(weights, that_are_empty_or_half_written_are_private)
{
	const int fd = filled_file();
	const size_t sizes[] = {0, 8, 24, 24 + strlen(KEY)};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct msd_weights_file file =
			file_of(copy_of(fd, sizes[i], true), true, KEY);

		expect_private(&file);
	}
}

Test(weights, in_a_sealed_copy_are_shared)
{
	const int fd = filled_file();
	const struct msd_weights_file file =
		file_of(copy_of(fd, (size_t)size_of(fd), true), true, KEY);
	modser_graph *g = graph(1);
	struct msd_plan *plan;

	cr_expect_gt(load(g, &file, &plan), 0);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

Test(weights, without_room_are_private)
{
	const int fd = memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_eq(ftruncate(fd, 4096), 0);
	const struct msd_weights_file file = file_of(fd, false, KEY);
	expect_private(&file);
	cr_expect_eq(fcntl(fd, F_GET_SEALS), 0);
}

/* A limit of the file's size ends the writing of the second block. */
Test(weights, that_cannot_be_written_are_private)
{
	const struct rlimit limit = {30 << 10, 30 << 10};
	const int fd = empty_file();
	const struct msd_weights_file file = file_of(fd, false, KEY);
	modser_graph *g = graph(1);
	struct msd_plan *plan;
	size_t n;
	float *want = run(g, "native", 1, &n);

	cr_assert_neq(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	const uint64_t shared = load(g, &file, &plan);
	cr_expect_gt(shared, 0);
	cr_expect_lt(shared, msd_weights_sum().bytes);
	expect_result(plan, want, n);
	msd_plan_destroy(plan);
	free(want);
	modser_graph_destroy(g);
}

/* A convolution of images of any size and number. */
static modser_graph *open_graph(void)
{
	const int64_t dims[] = {-1, CHANNELS, -1, -1};
	modser_graph *g = modser_graph_create("open");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, dims, 4);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_output(g, convolve(g, x, 1, 54));
	return g;
}

static float *call(struct msd_plan *plan, size_t *ret_n)
{
	const int64_t dims[] = {2, CHANNELS, 5, 6};
	float *x = levels_numbers((size_t)2 * CHANNELS * 30, 55);
	const struct msd_plan_input input = {x, dims, 4, {MSD_DT_FLOAT, 32, 1}};
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_call(plan, &(struct msd_plan_args){.inputs = &input}, &d),
		     MSD_OK, "%s", msd_diag_text(&d));
	*ret_n = elements(msd_plan_output_tensor(plan, 0));
	float *y = malloc(*ret_n * sizeof(*y));
	cr_assert_not_null(y);
	memcpy(y, msd_plan_output(plan, 0), *ret_n * sizeof(*y));
	free(x);
	return y;
}

/* Shapes are known in a call, but weights are packed and shared at the load. */
Test(weights, of_open_extents_are_packed_at_the_load)
{
	const int fd = empty_file();
	struct msd_weights_file file = file_of(fd, false, KEY);
	modser_graph *g = open_graph();
	struct msd_plan *plans[3] = {plan_of(g)};
	float *y[3];
	size_t n;

	cr_expect_gt(load(g, &file, &plans[1]), 0);
	file = file_of(fd, true, KEY);
	cr_expect_gt(load(g, &file, &plans[2]), 0);
	const uint64_t packed = msd_weights_sum().bytes;
	for (size_t i = 0; i < 3; i++)
		y[i] = call(plans[i], &n);
	cr_expect_eq(msd_weights_sum().bytes, packed, "a call packs nothing again");
	cr_expect(memcmp(y[0], y[1], n * sizeof(float)) == 0);
	cr_expect(memcmp(y[0], y[2], n * sizeof(float)) == 0);
	for (size_t i = 0; i < 3; i++) {
		free(y[i]);
		msd_plan_destroy(plans[i]);
	}
	cr_expect_eq(msd_weights_sum().bytes, 0);
	modser_graph_destroy(g);
}

/* A node may have other weights: its block is private, and later ones, too. */
Test(weights, of_an_unknown_node_are_private)
{
	const int fd = filled_file();
	const struct msd_weights_file file = file_of(fd, true, KEY);
	modser_graph *g = graph(1);
	bool is_packed = true;

	msd_weights_begin(&file);
	void *p =
		msd_weights_take(modser_graph_node(g, 0), "no way", 65536, &is_packed);
	cr_expect_not_null(p);
	cr_expect_not(is_packed);
	cr_expect_not(msd_weights_are_shared(p));
	memset(p, 1, 65536);
	msd_weights_give(p, 65536);
	cr_expect_eq(msd_weights_end(), 0);
	modser_graph_destroy(g);
}

Test(weights, refuse_every_prefix_and_every_bad_index)
{
	const int fd = filled_file();
	const size_t n = (size_t)size_of(fd);
	uint8_t *bytes = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	const struct msd_span key = span_of(KEY);
	size_t n_blocks = 0;

	cr_assert_neq(bytes, MAP_FAILED);
	struct msd_weights_block *all =
		msd_weights_read((struct msd_span){bytes, n}, key, &n_blocks);
	cr_assert_not_null(all);
	cr_assert_eq(n_blocks, 2);
	const size_t end = (size_t)(all[1].at + all[1].bytes);
	free(all);
	for (size_t i = 0; i < end; i += i < 4096 ? 1 : 97) {
		cr_expect_null(
			msd_weights_read((struct msd_span){bytes, i}, key, &n_blocks),
			"%zu bytes", i);
	}
	/* The places and sizes of both blocks, and their number. */
	const size_t index = 24 + key.n;
	const size_t fields[] = {16, index + 8, index + 16, index + 32, index + 40};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		uint8_t was[8];

		memcpy(was, bytes + fields[i], 8);
		memset(bytes + fields[i], 0xff, 8);
		cr_expect_null(
			msd_weights_read((struct msd_span){bytes, n}, key, &n_blocks));
		memcpy(bytes + fields[i], was, 8);
	}
}
