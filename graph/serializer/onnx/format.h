#ifndef MSD_ONNX_FORMAT_H
#define MSD_ONNX_FORMAT_H
/* Versions that the onnx serializer reads and writes, and the facts that it keeps of
 * a file. */
#define ONNX_MAX_OPSET 28  /* highest that is read */
#define ONNX_IR_VERSION 8  /* written */
#define ONNX_IR_DEFAULTS 4 /* first IR version with default values of inputs */
#define ONNX_OPSET 17
#define ONNX_ML_OPSET 3 /* of ai.onnx.ml */

/* Attributes of the graph. */
#define ONNX_ATTR_OPSET "onnx.opset"
#define ONNX_ATTR_PRODUCER "onnx.producer"
#define ONNX_ATTR_PRODUCER_VERSION "onnx.producer_version"

/* A property of the model that has the identity's name, where it is not the graph's. */
#define ONNX_PROP_IDENTITY "modser.identity"

#endif
