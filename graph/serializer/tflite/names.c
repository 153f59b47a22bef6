/* Names of the operators of TensorFlow Lite by their codes. */
#include <stddef.h>
#include <stdint.h>

#include "graph/serializer/tflite/layer.h"

/* Builtin operators without a row, for the texts that refuse them. */
static const struct {
	int32_t code;
	const char *name;
} others[] = {
	{10, "HASHTABLE_LOOKUP"},
	{12, "L2_POOL_2D"},
	{15, "LSH_PROJECTION"},
	{16, "LSTM"},
	{24, "RNN"},
	{27, "SVDF"},
	{29, "CONCAT_EMBEDDINGS"},
	{30, "SKIP_GRAM"},
	{31, "CALL"},
	{33, "EMBEDDING_LOOKUP_SPARSE"},
	{35, "UNIDIRECTIONAL_SEQUENCE_RNN"},
	{44, "UNIDIRECTIONAL_SEQUENCE_LSTM"},
	{46, "BIDIRECTIONAL_SEQUENCE_RNN"},
	{51, "DELEGATE"},
	{52, "BIDIRECTIONAL_SEQUENCE_LSTM"},
	{68, "SPARSE_TO_DENSE"},
	{80, "FAKE_QUANT"},
	{103, "UNIQUE"},
	{113, "MATRIX_DIAG"},
	{115, "MATRIX_SET_DIAG"},
	{118, "IF"},
	{119, "WHILE"},
	{124, "DENSIFY"},
	{129, "CALL_ONCE"},
	{131, "RFFT2D"},
	{133, "IMAG"},
	{134, "REAL"},
	{135, "COMPLEX_ABS"},
	{136, "HASHTABLE"},
	{137, "HASHTABLE_FIND"},
	{138, "HASHTABLE_IMPORT"},
	{139, "HASHTABLE_SIZE"},
	{141, "CONV_3D_TRANSPOSE"},
	{142, "VAR_HANDLE"},
	{143, "READ_VARIABLE"},
	{144, "ASSIGN_VARIABLE"},
	{145, "BROADCAST_ARGS"},
	{146, "RANDOM_STANDARD_NORMAL"},
	{147, "BUCKETIZE"},
	{148, "RANDOM_UNIFORM"},
	{149, "MULTINOMIAL"},
	{151, "DYNAMIC_UPDATE_SLICE"},
	{153, "UNSORTED_SEGMENT_PROD"},
	{154, "UNSORTED_SEGMENT_MAX"},
	{157, "UNSORTED_SEGMENT_MIN"},
	{159, "BITCAST"},
};

const char *tflite_builtin_name(int32_t code)
{
	const struct tflite_row *row;

	for (size_t i = 0; (row = tflite_row_at(i)) != NULL; i++) {
		if (row->code == code)
			return row->name;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].code == code)
			return others[i].name;
	}
	return NULL;
}
