/*
 * Model files of other programs, recognised by their content: a magic number, the
 * first words of a text, or the members of a zip archive. Each row says how its model
 * can be served, or that the file alone is not enough.
 */
#include "artifact/elf/foreign.h"

#include <string.h>

#define LOOK 65536u /* bytes of a text that are searched */

#define TO_ONNX " in Python, then modser load NAME model.onnx"
#define FROM_MODULE                                                                    \
	"in the program that defines the model: torch.onnx.export(model, inputs, "     \
	"\"model.onnx\"), then modser load NAME model.onnx"
#define OR_FROM_MODULE                                                                 \
	", or torch.onnx.export(model, inputs, \"model.onnx\") in the program that "   \
	"defines it"
#define FROM_PICKLE                                                                    \
	"if it is a model of scikit-learn: onnx.save(skl2onnx.to_onnx("                \
	"joblib.load(FILE), inputs), \"model.onnx\")" TO_ONNX
#define COLUMNS                                                                        \
	"initial_types=[(\"x\", onnxmltools.convert.common.data_types."                \
	"FloatTensorType([None, FEATURES]))]"
#define FOR_LINUX                                                                      \
	"libraries here are those of Linux: export it again for a target such as "     \
	"llvm -mtriple=x86_64-linux-gnu, with a linker for it"

/* Texts of all kinds. */
enum kind {
	MACHO,
	MACHO_32,
	MACHO_BIG,
	MACHO_FAT,
	PE,
	WASM,
	NPY,
	NPZ,
	TORCHSCRIPT,
	TORCH_SAVED,
	TORCH_EXPORTED,
	AOTINDUCTOR,
	KERAS,
	ZIP,
	HDF5,
	GGUF,
	SAFETENSORS,
	OPENVINO,
	TENSORRT,
	NCNN,
	PADDLE,
	XGBOOST,
	LIGHTGBM,
	PICKLE,
	COMPRESSED,
	ORT,
	EXECUTORCH,
	DARKNET,
	DARKNET_WEIGHTS,
	MXNET_PARAMS,
	MLIR,
	COREML,
	KIND_COUNT,
};

static const struct msd_foreign texts[KIND_COUNT] = {
	[MACHO] = {"a Mach-O file, of macOS or iOS", FOR_LINUX},
	[MACHO_32] = {"a 32-bit Mach-O file, of macOS or iOS", FOR_LINUX},
	[MACHO_BIG] = {"a big-endian Mach-O file, of macOS", FOR_LINUX},
	[MACHO_FAT] = {"a universal Mach-O file, of macOS or iOS", FOR_LINUX},
	[PE] = {"a PE file, of Windows (.dll, .exe)", FOR_LINUX},
	[WASM] = {"a WebAssembly file", FOR_LINUX},
	[NPY] = {"an array of numpy (.npy)",
		 "it is an argument of a call: modser call NAME:FUNC @FILE"},
	[NPZ] = {"arrays of numpy (.npz)",
		 "they are arguments of a call; save each with numpy.save, then modser "
		 "call NAME:FUNC @FILE"},
	[TORCHSCRIPT] = {"a TorchScript model (torch.jit.save)",
			 "torch.onnx.export(torch.jit.load(FILE), inputs, "
			 "\"model.onnx\", dynamo=False)" TO_ONNX},
	[TORCH_SAVED] = {"a file of torch.save: weights, or a pickled object; it has "
			 "no operators",
			 FROM_MODULE},
	[TORCH_EXPORTED] = {"a program of torch.export (.pt2)",
			    "torch.onnx.export(torch.export.load(FILE), (), "
			    "\"model.onnx\")" TO_ONNX},
	[AOTINDUCTOR] = {"a package of AOTInductor; its code needs PyTorch's library",
			 FROM_MODULE},
	[KERAS] = {"a Keras model (.keras)",
		   "keras.saving.load_model(FILE).export(\"folder\") in Python, then "
		   "modser load NAME folder"},
	[ZIP] = {"a zip archive without a model that is known here",
		 "unpack it, and load the model's own file"},
	[HDF5] = {"an HDF5 file, as Keras saves models and weights (.h5)",
		  "if it holds a model: keras.saving.load_model(FILE).export("
		  "\"folder\") in Python, then modser load NAME folder; if it holds "
		  "weights alone, load them into the model first"},
	[GGUF] = {"a GGUF file, weights of a language model for llama.cpp and Ollama",
		  "modserd cannot run it, and it has no operators; llama.cpp's "
		  "llama-server serves it"},
	[SAFETENSORS] = {"a safetensors file: weights without operators",
			 "export the model that they belong to, as optimum-cli export "
			 "onnx --model FOLDER --task TASK OUT does for Hugging Face's "
			 "models, then modser load NAME OUT/model.onnx"},
	[OPENVINO] = {"an OpenVINO model (IR, .xml)",
		      "OpenVINO cannot export it; load the ONNX, TensorFlow or TFLite "
		      "file that it was converted from" OR_FROM_MODULE},
	[TENSORRT] = {"a TensorRT engine, compiled for one type of GPU",
		      "load the ONNX file that it was built from"},
	[NCNN] = {"a model of ncnn",
		  "ncnn cannot export it; load the ONNX or Caffe file that it was "
		  "converted from" OR_FROM_MODULE},
	[PADDLE] = {"a PaddlePaddle model",
		    "paddle2onnx --model_dir FOLDER --model_filename MODEL "
		    "--params_filename PARAMS --save_file model.onnx, then modser load "
		    "NAME model.onnx"},
	[XGBOOST] = {"an XGBoost model",
		     /* the converter takes no names of features */
		     "model = xgboost.Booster(model_file=FILE); model.feature_names = "
		     "None; onnx.save(onnxmltools.convert_xgboost(model, " COLUMNS
		     "), \"model.onnx\")" TO_ONNX},
	[LIGHTGBM] = {"a LightGBM model",
		      "onnx.save(onnxmltools.convert_lightgbm(lightgbm.Booster("
		      "model_file=FILE), " COLUMNS "), \"model.onnx\")" TO_ONNX},
	[PICKLE] = {"a Python pickle, as scikit-learn's models are saved", FROM_PICKLE},
	[COMPRESSED] = {"compressed by zlib, as joblib writes pickles", FROM_PICKLE},
	[ORT] = {"an ONNX Runtime file (.ort)",
		 "load the ONNX file that it was made from"},
	[EXECUTORCH] = {"an ExecuTorch program (.pte)", FROM_MODULE},
	[DARKNET] = {"a configuration of darknet (.cfg)",
		     "darknet has no exporter; for YOLO, Ultralytics writes ONNX: yolo "
		     "export model=yolov3.pt format=onnx, then modser load NAME "
		     "yolov3.onnx"},
	[MXNET_PARAMS] = {"parameters of MXNet (.params) without their symbol",
			  "load both: modser load NAME FILE-symbol.json FILE.params"},
	[DARKNET_WEIGHTS] = {"weights of darknet (.weights)",
			     "darknet has no exporter; for YOLO, Ultralytics writes "
			     "ONNX: yolo export model=yolov3.pt format=onnx, then "
			     "modser load NAME yolov3.onnx"},
	[MLIR] = {"an MLIR module",
		  "load the model that it was made from: ONNX, TensorFlow or TFLite"},
	[COREML] = {"a Core ML model (.mlmodel)",
		    "Core ML cannot export it; load the model that it was converted "
		    "from" OR_FROM_MODULE},
};

/* Magic numbers at fixed offsets. */
static const struct magic {
	uint8_t at, n;
	const char *bytes;
	enum kind kind;
} magics[] = {
	{0, 4, "\xcf\xfa\xed\xfe", MACHO},
	{0, 4, "\xce\xfa\xed\xfe", MACHO_32},
	{0, 4, "\xfe\xed\xfa\xcf", MACHO_BIG},
	{0, 4, "\xca\xfe\xba\xbe", MACHO_FAT},
	{0, 4, "\0asm", WASM},
	{0, 4, "\x93NUM", NPY},
	{0, 4, "\x89HDF", HDF5},
	{0, 4, "GGUF", GGUF},
	{0, 4, "ptrt", TENSORRT},
	{0, 12, "\x12\1\0\0\0\0\0\0\0\0\0\0", MXNET_PARAMS},
	{0, 4, "ftrt", TENSORRT},
	{0, 8, "7767517\n", NCNN},
	{0, 4, "\xdd\x85\x76\x00", NCNN}, /* 7767517 */
	{0, 4, "\x47\x6b\x30\x01", NCNN}, /* weights of float16 */
	{0, 4, "\x38\x4b\x0d\x00", NCNN}, /* weights of int8 */
	{4, 4, "ORTM", ORT},
	{4, 2, "ET", EXECUTORCH},
	{0, 4, "ML\xefR", MLIR},
	{0, 14, "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
	 TORCH_SAVED}, /* before PyTorch 1.6 */
	{0, 2, "\x78\x9c", COMPRESSED},
	{0, 2, "\x78\x5e", COMPRESSED},
	{0, 2, "\x78\xda", COMPRESSED},
	{0, 4, "binf", XGBOOST},
	{0, 4, "{L\0\0", XGBOOST}, /* UBJSON; a name follows */
	{0, 9, "tree\nvers", LIGHTGBM},
	{0, 5, "[net]", DARKNET},
	{0, 9, "[network]", DARKNET},
	/* major 0, minor 1 or 2, revision 0 or 5 */
	{0, 12, "\0\0\0\0\1\0\0\0\0\0\0\0", DARKNET_WEIGHTS},
	{0, 12, "\0\0\0\0\2\0\0\0\0\0\0\0", DARKNET_WEIGHTS},
	{0, 12, "\0\0\0\0\2\0\0\0\5\0\0\0", DARKNET_WEIGHTS},
};

static bool has(struct msd_span text, const char *word)
{
	const size_t n = text.n < LOOK ? text.n : LOOK;

	return n > 0 && memmem(text.p, n, word, strlen(word)) != NULL;
}

/* Texts: the first character, and a word that must be in it. */
static const struct words {
	const char *begins, *word;
	enum kind kind;
} words[] = {
	{"<", "<layers>", OPENVINO},       {"{", "\"learner\"", XGBOOST},
	{"{", "\"pir\"", PADDLE},          {"module", "func.func", MLIR},
	{"#", "func.func", MLIR}, /* aliases of attributes or locations first */
	{"#", "[convolutional]", DARKNET}, {"[", "[convolutional]", DARKNET},
};

/* Members of a zip archive; one is enough. The first row that fits counts. */
static const struct member {
	const char *end; /* of the path */
	enum kind kind;
} members[] = {
	{"/constants.pkl", TORCHSCRIPT},
	{".wrapper.so", AOTINDUCTOR},
	{".wrapper.cpp", AOTINDUCTOR},
	{"/archive_format", TORCH_EXPORTED},
	{"serialized_exported_program.json", TORCH_EXPORTED},
	{"/data.pkl", TORCH_SAVED},
	{"model.weights.h5", KERAS},
	{".npy", NPZ},
};

#define END_BYTES 22u /* end of the central directory, without its comment */
#define ENTRY_BYTES 46u
#define COMMENT_MAX 65535u

/* The central directory; empty if there is none. */
static struct msd_span find_directory(struct msd_span file)
{
	if (file.n < END_BYTES)
		return (struct msd_span){0};
	const size_t least =
		file.n > END_BYTES + COMMENT_MAX ? file.n - END_BYTES - COMMENT_MAX : 0;

	for (size_t at = file.n - END_BYTES + 1; at-- > least;) {
		const uint8_t *end = file.p + at;

		if (memcmp(end, "PK\5\6", 4) != 0)
			continue;
		const size_t n = msd_le32(end + 12);
		const size_t from = msd_le32(end + 16);

		if (from <= at && n <= at - from)
			return (struct msd_span){file.p + from, n};
	}
	return (struct msd_span){0};
}

static bool ends_with(struct msd_span name, const char *end)
{
	const size_t n = strlen(end);

	return name.n >= n && memcmp(name.p + name.n - n, end, n) == 0;
}

static enum kind find_archive(struct msd_span file)
{
	enum { N = sizeof(members) / sizeof(*members) };
	struct msd_span left = find_directory(file);
	size_t best = N;

	while (left.n >= ENTRY_BYTES && memcmp(left.p, "PK\1\2", 4) == 0) {
		const size_t n = msd_le16(left.p + 28);
		const size_t bytes = ENTRY_BYTES + n + msd_le16(left.p + 30) +
				     (size_t)msd_le16(left.p + 32);

		if (bytes > left.n)
			break;
		const struct msd_span name = {left.p + ENTRY_BYTES, n};
		for (size_t i = 0; i < best; i++) {
			if (ends_with(name, members[i].end))
				best = i;
		}
		left.p += bytes;
		left.n -= bytes;
	}
	return best < N ? members[best].kind : ZIP;
}

/* Header size, then JSON. */
static bool is_safetensors(struct msd_span file)
{
	return file.n > 9 && msd_le64(file.p) <= file.n - 8 && file.p[8] == '{';
}

/* Protocol 2 or later. */
static bool is_pickle(struct msd_span file)
{
	return file.n > 2 && file.p[0] == 0x80 && file.p[1] >= 2 && file.p[1] <= 5 &&
	       file.p[file.n - 1] == '.';
}

/* A protobuf of blocks (field 1) with operators that feed and fetch. */
static bool is_paddle_program(struct msd_span file)
{
	return file.n > 0 && file.p[0] == 0x0a && has(file, "feed") &&
	       has(file, "fetch") && has(file, "X\x12");
}

/* .pdiparams: versions and levels of detail 0, then the size of a protobuf that begins
 * with its dtype (field 1). */
static bool is_paddle_parameters(struct msd_span file)
{
	static const uint8_t zeros[16];

	return file.n > 21 && memcmp(file.p, zeros, sizeof(zeros)) == 0 &&
	       msd_le32(file.p + 16) > 0 && msd_le32(file.p + 16) <= file.n - 20 &&
	       file.p[20] == 0x08;
}

/* A protobuf: version (field 1, at most 15), then a description (field 2). */
static bool is_coreml(struct msd_span file)
{
	return file.n > 3 && file.p[0] == 0x08 && file.p[1] >= 1 && file.p[1] < 16 &&
	       file.p[2] == 0x12 &&
	       (has(file, "com.github.apple.coremltools") || has(file, "mlProgram") ||
		has(file, "CoreML"));
}

static struct msd_span without_blanks(struct msd_span file)
{
	while (file.n > 0 && strchr(" \t\r\n", file.p[0]) != NULL &&
	       file.p[0] != '\0') {
		file.p++;
		file.n--;
	}
	return file;
}

static enum kind find_kind(struct msd_span file)
{
	if (msd_span_begins(file, "PK\3\4") || msd_span_begins(file, "PK\5\6"))
		return find_archive(file);
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		const struct magic *m = &magics[i];

		if (file.n >= (size_t)m->at + m->n &&
		    memcmp(file.p + m->at, m->bytes, m->n) == 0)
			return m->kind;
	}
	if (msd_span_begins(file, "MZ"))
		return PE;
	const struct msd_span text = without_blanks(file);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (msd_span_begins(text, words[i].begins) && has(text, words[i].word))
			return words[i].kind;
	}
	if (is_safetensors(file))
		return SAFETENSORS;
	if (is_pickle(file))
		return PICKLE;
	if (is_paddle_program(file) || is_paddle_parameters(file))
		return PADDLE;
	return is_coreml(file) ? COREML : KIND_COUNT;
}

const struct msd_foreign *msd_foreign_find(struct msd_span file)
{
	const enum kind kind = find_kind(file);

	return kind == KIND_COUNT ? NULL : &texts[kind];
}
