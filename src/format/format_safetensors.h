/* format_safetensors.h - the parsed header of a safetensors file. Private. */
#ifndef TIDE_FORMAT_FORMAT_SAFETENSORS_H
#define TIDE_FORMAT_FORMAT_SAFETENSORS_H

#include "base/base.h"

#define TIDE_TENSORS_HEADER_MAX (128 * 1024)

typedef struct tide_tensor {
    bool present;
    char dtype[8];
    uint64_t shape[2];
    uint32_t dims;
    uint64_t begin, end; /* byte offsets from the end of the header; begin <= end */
} tide_tensor;

typedef struct tide_tensors {
    tide_tensor embeddings, words, counts, scales;
} tide_tensors;

/* Parses the JSON of a header. Returns false if it is malformed or inconsistent. */
bool tide_tensors_parse(const char *text, size_t length, tide_tensors *tensors);

#endif
