// Searches that the vector unit does sixteen bytes at a time. Swift 6.3 compiles comparisons of its SIMD types to
// loops over the lanes. Each returns the offset of what it found, or `count`.
#pragma once
#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>

static inline __m128i linux_load(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

/// 0xFF for each byte from `low` to `low + span`, compared as unsigned numbers.
static inline __m128i linux_between(__m128i bytes, char low, char span) {
    __m128i offset = _mm_sub_epi8(bytes, _mm_set1_epi8(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(offset, _mm_set1_epi8(span)), offset);
}
#endif

/// A control character other than tab: 0x00–0x1F and 0x7F.
static inline size_t linux_find_control(const uint8_t *bytes, size_t count) {
    size_t offset = 0;
#ifdef __SSE2__
    for (; offset + 16 <= count; offset += 16) {
        __m128i block = linux_load(bytes + offset);
        __m128i found = _mm_andnot_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('\t')), linux_between(block, 0, 0x1F));
        found = _mm_or_si128(found, _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7F)));
        unsigned mask = (unsigned)_mm_movemask_epi8(found);
        if (mask != 0) return offset + (unsigned)__builtin_ctz(mask);
    }
#endif
    while (offset < count && ((bytes[offset] >= 0x20 && bytes[offset] != 0x7F) || bytes[offset] == '\t')) offset++;
    return offset;
}

/// A byte that a token may not hold.
static inline size_t linux_find_token_end(const uint8_t *bytes, size_t count) {
    size_t offset = 0;
#ifdef __SSE2__
    // Letters and the hyphen, which nearly every field name is made of; the table knows the rest.
    for (; offset + 16 <= count; offset += 16) {
        __m128i block = linux_load(bytes + offset);
        __m128i found = linux_between(_mm_or_si128(block, _mm_set1_epi8(0x20)), 'a', 25);
        found = _mm_or_si128(found, _mm_cmpeq_epi8(block, _mm_set1_epi8('-')));
        unsigned mask = (unsigned)_mm_movemask_epi8(found) ^ 0xFFFF;
        if (mask != 0) {
            offset += (unsigned)__builtin_ctz(mask);
            break;
        }
    }
#endif
    while (offset < count && linux_token_table[bytes[offset]]) offset++;
    return offset;
}

/// A byte that a request target may not hold: anything but visible ASCII, and `#`.
static inline size_t linux_find_outside_target(const uint8_t *bytes, size_t count) {
    size_t offset = 0;
#ifdef __SSE2__
    for (; offset + 16 <= count; offset += 16) {
        __m128i block = linux_load(bytes + offset);
        // Compared as signed numbers, a byte from 0x80 up is below the space.
        __m128i found = _mm_cmplt_epi8(block, _mm_set1_epi8(0x21));
        found = _mm_or_si128(found, _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7F)));
        found = _mm_or_si128(found, _mm_cmpeq_epi8(block, _mm_set1_epi8('#')));
        unsigned mask = (unsigned)_mm_movemask_epi8(found);
        if (mask != 0) return offset + (unsigned)__builtin_ctz(mask);
    }
#endif
    while (offset < count && bytes[offset] > 0x20 && bytes[offset] < 0x7F && bytes[offset] != '#') offset++;
    return offset;
}
