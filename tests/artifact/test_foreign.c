/* Model files of other programs are recognised by their content. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/elf/foreign.h"
#include "tests/artifact/byte_writer.h"
#include "tests/support/exact.h"

static void expect_kind(struct msd_span file, const char *title, const char *advice)
{
	const struct msd_foreign *f = msd_foreign_find(file);

	cr_assert_not_null(f, "%s", title);
	cr_expect(strstr(f->title, title) != NULL, "%s: %s", title, f->title);
	cr_expect(strstr(f->advice, advice) != NULL, "%s: %s", title, f->advice);
}

#define OF(bytes) ((struct msd_span){(const uint8_t *)(bytes), sizeof(bytes) - 1})

Test(foreign, a_file_is_recognised_by_its_first_bytes)
{
	expect_kind(OF("\xcf\xfa\xed\xfe\x0c\0\0\x01"), "a Mach-O file", "-mtriple=");
	expect_kind(OF("\xca\xfe\xba\xbe\0\0\0\x02"), "a universal Mach-O",
		    "-mtriple=");
	expect_kind(OF("MZ\x90\0\3\0\0\0"), "a PE file, of Windows", "-mtriple=");
	expect_kind(OF("\0asm\1\0\0\0"), "a WebAssembly file", "-mtriple=");
	expect_kind(OF("\x93NUMPY\1\0"), "an array of numpy",
		    "modser call NAME:FUNC @FILE");
	expect_kind(OF("\x89HDF\r\n\x1a\n"), "Keras", ".export(\"folder\")");
	expect_kind(OF("\x12\1\0\0\0\0\0\0\0\0\0\0"), "of MXNet", "symbol.json");
	expect_kind(OF("GGUF\3\0\0\0"), "llama.cpp", "llama-server");
	expect_kind(OF("ftrt\0\0\0\0"), "TensorRT", "ONNX");
	expect_kind(OF("7767517\n3 3\n"), "ncnn", "converted from");
	expect_kind(OF("\xdd\x85\x76\x00\3\0\0\0"), "ncnn", "converted from");
	expect_kind(OF("\x47\x6b\x30\x01\0\0"), "ncnn", "torch.onnx.export");
	expect_kind(OF("\x38\x4b\x0d\x00\0\0"), "ncnn", "torch.onnx.export");
	expect_kind(OF("\x20\0\0\0ORTM\0\0"), "ONNX Runtime", "ONNX file");
	expect_kind(OF("\x20\0\0\0ET12\0\0"), "ExecuTorch", "torch.onnx.export");
	expect_kind(OF("ML\xefR\6"), "MLIR", "ONNX");
	expect_kind(OF("{L\0\0\0\0\0\0\0\7learner"), "XGBoost", "convert_xgboost");
	expect_kind(OF("tree\nversion=v4\n"), "LightGBM", "convert_lightgbm");
	expect_kind(OF("\0\0\0\0\2\0\0\0\5\0\0\0\0\0"), "darknet", "yolo export");
	expect_kind(OF("\x80\4\x95\0."), "pickle", "skl2onnx.to_onnx");
	expect_kind(OF("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\x08\5"),
		    "PaddlePaddle", "paddle2onnx");
	expect_kind(OF("\x78\x9c\1"), "zlib", "joblib.load");
}

Test(foreign, a_text_is_recognised_by_its_words)
{
	expect_kind(OF("<?xml version=\"1.0\"?>\n<net name=\"m\">\n<layers>"),
		    "OpenVINO", "converted from");
	expect_kind(OF("{\"learner\":{}}"), "XGBoost", "convert_xgboost");
	expect_kind(OF("{\"base_code\":{\"magic\":\"pir\"}}"), "PaddlePaddle",
		    "paddle2onnx");
	expect_kind(OF("module {\n  func.func @main()"), "MLIR", "ONNX");
	expect_kind(OF("# yolo\n[net]\nbatch=1\n[convolutional]\n"), "darknet",
		    "yolo export");
	expect_kind(OF("\n[net]\nbatch=1\n[convolutional]\n"), "darknet",
		    "yolo export");
}

Test(foreign, safetensors_have_a_header_that_fits)
{
	expect_kind(OF("\2\0\0\0\0\0\0\0{}"), "safetensors", "optimum-cli");
	cr_expect_null(msd_foreign_find(OF("\3\0\0\0\0\0\0\0{}")));
}

static void put_member(struct bw *b, const char *name)
{
	bw_raw(b, "PK\1\2", 4);
	bw_raw(b, (const uint8_t[24]){0}, 24);
	bw_u16(b, (uint16_t)strlen(name));
	bw_raw(b, (const uint8_t[16]){0}, 16);
	bw_raw(b, name, strlen(name));
}

/* A zip archive with a directory only, which is what is read. */
static void write_archive(struct bw *b, const char *first, const char *second)
{
	bw_raw(b, "PK\3\4", 4);
	const uint32_t from = (uint32_t)b->n;

	put_member(b, first);
	put_member(b, second);
	const uint32_t n = (uint32_t)b->n - from;
	bw_raw(b, "PK\5\6\0\0\0\0\2\0\2\0", 12);
	bw_u32(b, n);
	bw_u32(b, from);
	bw_u16(b, 0);
}

Test(foreign, an_archive_is_recognised_by_its_members)
{
	static const struct {
		const char *first, *second, *title, *advice;
	} rows[] = {
		{"m/data.pkl", "m/constants.pkl", "TorchScript", "torch.jit.load"},
		{"m/data.pkl", "m/version", "torch.save", "torch.onnx.export"},
		{"m/archive_format", "m/models/model.json", "torch.export",
		 "torch.export.load"},
		{"serialized_exported_program.json", "version", "torch.export",
		 "torch.export.load"},
		{"m/archive_format", "m/data/aotinductor/model/c.wrapper.so",
		 "AOTInductor", "torch.onnx.export"},
		{"config.json", "model.weights.h5", "Keras", ".export(\"folder\")"},
		{"x.npy", "y.npy", "numpy", "numpy.save"},
		{"readme", "x", "a zip archive", "unpack it"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bw b = {0};

		write_archive(&b, rows[i].first, rows[i].second);
		expect_kind(bw_span(&b), rows[i].title, rows[i].advice);
		/* every prefix is read within its bounds */
		for (size_t n = 0; n < b.n; n++) {
			uint8_t *exact = exact_copy(b.p, n);

			(void)msd_foreign_find((struct msd_span){exact, n});
			free(exact);
		}
		bw_free(&b);
	}
}

Test(foreign, other_files_are_unknown)
{
	cr_expect_null(msd_foreign_find(OF("")));
	cr_expect_null(msd_foreign_find(OF("hello")));
	cr_expect_null(msd_foreign_find(OF("{\"nodes\": []}")));
	cr_expect_null(msd_foreign_find(OF("<html>")));
	cr_expect_null(msd_foreign_find((struct msd_span){(const uint8_t[64]){0}, 64}));
}
