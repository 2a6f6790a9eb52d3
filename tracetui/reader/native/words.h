/* Bytes compared and combined eight at a time, and none read beyond their end. */

#ifndef TRACETUI_WORDS_H
#define TRACETUI_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t eight_at(const char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint32_t four_at(const char *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* All of up to 8 bytes in one word. Lists of one length have one word only if they are the same. */
static inline uint64_t word_of(const char *at, size_t length) {
    if (length == 8) return eight_at(at);
    if (length >= 4) return four_at(at) | (uint64_t)four_at(at + length - 4) << 32;
    if (!length) return 0;
    return (uint64_t)(uint8_t)at[0] | (uint64_t)(uint8_t)at[length / 2] << 8 |
           (uint64_t)(uint8_t)at[length - 1] << 16;
}

static inline bool is_same(const char *one, const char *other, size_t length) {
    if (length <= 8) return word_of(one, length) == word_of(other, length);
    for (size_t at = 0; at + 8 < length; at += 8)
        if (eight_at(one + at) != eight_at(other + at)) return false;
    return eight_at(one + length - 8) == eight_at(other + length - 8);
}

#endif
